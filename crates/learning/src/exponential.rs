//! `exp` of several numbers side by side, with the same bits on every processor.
//!
//! `x = (k/128) ln 2 + r` with `|r| <= ln 2 / 256`, and `exp(x) = 2^(k/128) (1 + tail + r + r²/2 + ...)`: the algorithm, the constants and the order of operations are those of
//! Arm's optimized routines, which glibc has too, with every product that is added rounded once. So where glibc finds a processor that can do so, its bits are these.
//! Errors are below 0.52 units in the last place. No step depends on the number, so that vector instructions take as many as they hold.

/// `128/ln 2`.
const INVERSE: f64 = f64::from_bits(0x4067_1547_652b_82fe);
/// `-ln 2/128`: few digits, so that its product with a whole number is exact, and the rest.
const HIGH: f64 = f64::from_bits(0xbf76_2e42_fefa_0000);
const LOW: f64 = f64::from_bits(0xbd0c_f79a_bc9e_3b3a);
/// Added to a number and taken away again, rounds it to a whole one, which stands in the last bits meanwhile.
const SHIFT: f64 = 6_755_399_441_055_744.0;
/// Almost `1/2`, `1/6`, `1/24` and `1/120`.
const C: [f64; 4] = [
    f64::from_bits(0x3fdf_ffff_ffff_fdbd),
    f64::from_bits(0x3fc5_5555_5555_543c),
    f64::from_bits(0x3fa5_5555_cf17_2b91),
    f64::from_bits(0x3f81_1111_67a4_d017),
];
/// Below this size neither results nor what is on the way to them overflow or vanish.
const MOST: f64 = 512.0;

/// How many parts a doubling has.
const PARTS: usize = 128;
/// `2^(1/128)`, and what it lacks.
const ROOT: (f64, f64) = (f64::from_bits(0x3ff0_163d_a9fb_3335), f64::from_bits(0x3c9b_6129_9ab8_cdb7));
/// For each part `k`: what `2^(k/128)` lacks, as a share of it, and its bits, less those of `k`.
const TABLE: [(f64, u64); PARTS] = table();

const fn table() -> [(f64, u64); PARTS] {
    let (mut all, mut power, mut k) = ([(0.0, 0); PARTS], (1.0, 0.0), 0);
    while k < PARTS {
        all[k] = (power.1 / power.0, f64::to_bits(power.0) - ((k as u64) << 45));
        let (product, lost) = product(power.0, ROOT.0);
        let lost = lost + (power.0 * ROOT.1 + power.1 * ROOT.0);
        power.0 = product + lost;
        power.1 = lost - (power.0 - product);
        k += 1;
    }
    all
}

/// A product, and what rounding took from it (Dekker).
const fn product(a: f64, b: f64) -> (f64, f64) {
    let (a_high, b_high) = (high(a), high(b));
    let (a_low, b_low) = (a - a_high, b - b_high);
    let product = a * b;
    (product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low)
}

/// The first half of the digits.
const fn high(x: f64) -> f64 {
    let far = 134_217_729.0 * x;
    far - (far - x)
}

/// Whether a number is not too large; what is no number is not.
#[inline(always)]
fn is_near(x: &f64) -> bool {
    x.abs() < MOST
}

/// Replaces each number by its exponential.
#[inline(always)]
pub(crate) fn exp<const N: usize>(numbers: &mut [f64; N]) {
    let given = *numbers;
    let (mut small, mut powers, mut rests) = ([0.0; N], [0.0; N], [0.0; N]);
    for i in 0..N {
        let shifted = given[i].mul_add(INVERSE, SHIFT);
        let (k, whole) = (shifted.to_bits(), shifted - SHIFT);
        let r = whole.mul_add(LOW, whole.mul_add(HIGH, given[i]));
        let (tail, bits) = TABLE[k as usize % PARTS];
        powers[i] = f64::from_bits(bits.wrapping_add(k << 45));
        (small[i], rests[i]) = (r, tail + r);
    }
    for i in 0..N {
        let (r, square) = (small[i], small[i] * small[i]);
        let rest = C[1].mul_add(r, C[0]).mul_add(square, rests[i]);
        let rest = (square * square).mul_add(r.mul_add(C[3], C[2]), rest);
        numbers[i] = powers[i].mul_add(rest, powers[i]);
    }
    if !given.iter().all(is_near) {
        far(&given, numbers);
    }
}

/// Numbers whose exponentials overflow or vanish, or that are none.
#[cold]
fn far(given: &[f64], out: &mut [f64]) {
    for (out, x) in out.iter_mut().zip(given).filter(|(_, x)| !is_near(x)) {
        *out = x.exp();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(x: f64) -> f64 {
        let mut numbers = [0.5, x, -1e300];
        exp(&mut numbers);
        assert!(numbers[0] == of_pinned() && numbers[2] == 0.0, "neighbours are left alone");
        numbers[1]
    }

    /// `exp(1/2)`, correctly rounded.
    fn of_pinned() -> f64 {
        f64::from_bits(0x3ffa_6129_8e1e_069c)
    }

    proptest! {
        #[test]
        fn it_is_the_exponential(x in -800.0..800.0f64, y in -2.0..2.0f64) {
            for x in [x, y, y * 1e-9] {
                let (ours, theirs) = (of(x), x.exp());
                // Two roundings of one number are neighbours, at most.
                prop_assert!(ours.to_bits().abs_diff(theirs.to_bits()) <= 1, "{x}: {ours} {theirs}");
            }
        }
    }

    /// Computed with eighty digits, and rounded.
    #[test]
    fn some_are_known() {
        for (x, bits) in [
            (1.0, 0x4005_bf0a_8b14_5769),
            (-1.0, 0x3fd7_8b56_362c_ef38),
            (0.0, 0x3ff0_0000_0000_0000),
            (-0.0, 0x3ff0_0000_0000_0000),
            (0.1, 0x3ff1_aec7_b35a_00d4),
            (-37.5, 0x3c8d_d5c5_6630_1ec8_u64),
            (511.5, 0x6e0e_aa32_cf54_d288),
        ] {
            assert_eq!(of(x).to_bits(), bits, "{x}");
        }
        for (x, y) in
            [(f64::INFINITY, f64::INFINITY), (f64::NEG_INFINITY, 0.0), (1e4, f64::INFINITY), (-1e4, 0.0)]
        {
            assert_eq!(of(x), y);
        }
        assert!(of(f64::NAN).is_nan());
    }
}
