//! Random integers and exact Bernoulli variables of probability `exp(-n/d) a/b`, from raw random bits.
//!
//! A Bernoulli compares a uniform real, revealed digit by digit in base `2^B`, with its probability: the first digit that differs decides. The probability is known to about
//! forty bits from floats, whose errors are bounded; with `B = 64` these decide all but one draw in `2^35` (with 32 one in `2^31`). Where they do not, integers of as many digits as it takes do: bounds
//! of the exponential from its series. So the law is exact, whatever `B` and however the floats round. The base is a parameter so that tests can take short digits and see the
//! integers all the time.

use num_bigint::BigUint;
use rand::CryptoRng;

/// Digits used by every sampler: whole random words.
pub(super) const WORD: u32 = 64;

/// How far a probability may be off that floats have computed, at most; and what the comparison itself rounds, many times over.
pub(super) const SLACK: f64 = 1.0 / (1u64 << 36) as f64;

/// Digits beyond those asked for that bounds are computed with.
const GUARD: u32 = 64;

/// `exp(-1)`.
const UNIT: f64 = 0.367_879_441_171_442_33;

/// One random digit in base `2^B`, for `B` from 1 to 64.
fn digit<const B: u32, R: CryptoRng + ?Sized>(rng: &mut R) -> u64 {
    rng.next_u64() >> (64 - B)
}

/// A fair coin.
pub(super) fn coin<R: CryptoRng + ?Sized>(rng: &mut R) -> bool {
    digit::<1, R>(rng) == 1
}

/// A uniform integer in `0..bound`, by rejection from just enough random bits; `bound` must not be 0.
pub(super) fn below<R: CryptoRng + ?Sized>(rng: &mut R, bound: u64) -> u64 {
    let unused = (bound - 1).leading_zeros();
    if unused == 64 {
        return 0;
    }
    loop {
        let candidate = rng.next_u64() >> unused;
        if candidate < bound {
            return candidate;
        }
    }
}

/// A probability `2^k exp(-n/d) a/b`, at most 1.
pub(super) struct Probability {
    /// `n` and `d`.
    pub(super) exponent: (BigUint, BigUint),
    /// `a` and `b`.
    pub(super) factor: (u64, u64),
    /// So many times doubled.
    pub(super) doubled: u64,
}

impl Probability {
    fn exp_minus(n: impl Into<BigUint>, d: impl Into<BigUint>) -> Self {
        Self { exponent: (n.into(), d.into()), factor: (1, 1), doubled: 0 }
    }
}

/// True with a probability of which `near` is within [`SLACK`]; `exact` is that probability, and is hardly ever asked. (Where `near` is no number it always is.)
#[inline]
pub(super) fn bernoulli<const B: u32, R: CryptoRng + ?Sized>(
    rng: &mut R,
    near: f64,
    exact: impl FnOnce() -> Probability,
) -> bool {
    let word = digit::<B, R>(rng);
    at_least::<B, R>(rng, word, f64::NEG_INFINITY, || near, exact)
}

/// The same with a first digit that was drawn before, where the probability is at least `sure`, which is within [`SLACK`], too: mostly that is enough to know.
#[inline]
pub(super) fn at_least<const B: u32, R: CryptoRng + ?Sized>(
    rng: &mut R,
    word: u64,
    sure: f64,
    near: impl FnOnce() -> f64,
    exact: impl FnOnce() -> Probability,
) -> bool {
    // Both roundings are below 2^-52, and those of the sums, too.
    let unit = 1.0 / (1u128 << B) as f64;
    let at = word as f64 * unit;
    if at + unit < sure - 2.0 * SLACK {
        return true;
    }
    let near = near();
    if at + unit < near - 2.0 * SLACK {
        return true;
    }
    if at > near + 2.0 * SLACK {
        return false;
    }
    resolved::<B, R>(rng, word, &exact())
}

/// True with probability `exp(-n/d)`, both machine words; `d` must not be 0.
pub(super) fn exp_minus_ratio<R: CryptoRng + ?Sized>(rng: &mut R, n: u64, d: u64) -> bool {
    // Of the exponent relatively 2^-51 is lost, so of the probability 2^-51/e and what the function rounds.
    bernoulli::<WORD, R>(rng, libm::exp(-(n as f64 / d as f64)), || Probability::exp_minus(n, d))
}

/// True with probability `exp(-1)`.
pub(super) fn exp_minus_one<R: CryptoRng + ?Sized>(rng: &mut R) -> bool {
    bernoulli::<WORD, R>(rng, UNIT, || Probability::exp_minus(1u32, 1u32))
}

/// Whether a uniform real with this first digit is below a probability.
#[cold]
fn resolved<const B: u32, R: CryptoRng + ?Sized>(rng: &mut R, word: u64, probability: &Probability) -> bool {
    let Probability { exponent: (n, d), factor: (a, b), doubled } = probability;
    let (mut seen, mut bits) = (BigUint::from(word), B);
    if *n == BigUint::ZERO && a >= b {
        // Certainty has no digit that differs.
        return true;
    }
    loop {
        let (low, high) = bounds(n, d, bits);
        if (&seen + 1u32) * *b <= (low << *doubled) * *a {
            return true;
        }
        if &seen * *b >= (high << *doubled) * *a {
            return false;
        }
        seen = (seen << B) + digit::<B, R>(rng);
        bits += B;
    }
}

/// Whether a probability is none above 1.
#[cfg(test)]
pub(super) fn at_most_one(Probability { exponent: (n, d), factor: (a, b), doubled }: &Probability) -> bool {
    (bounds(n, d, 300).1 << *doubled) * *a <= BigUint::from(*b) << 300
}

/// Whole numbers below and above `2^bits exp(-n/d)`.
fn bounds(n: &BigUint, d: &BigUint, bits: u32) -> (BigUint, BigUint) {
    let places = bits + GUARD;
    let exponent = (n << places) / d;
    let whole = &exponent >> places;
    let (mut low, mut high) = series(&(exponent - (&whole << places)), places);
    let (one_low, one_high) = series(&(BigUint::from(1u32) << places), places);
    let mut left = whole;
    while left != BigUint::ZERO && high > BigUint::from(1u32) {
        low = (low * &one_low) >> places;
        high = ((high * &one_high) >> places) + 1u32;
        left -= 1u32;
    }
    if left != BigUint::ZERO {
        // Less than one in the last place, and every further factor makes it less.
        low = BigUint::ZERO;
    }
    (low >> GUARD, (high >> GUARD) + 1u32)
}

/// Below and above `2^places exp(-x)` for every `x` from `rest/2^places`, at most 1, to one place more.
///
/// A term of the series is the last one times `x/k`, rounded down: it is off by at most `e_k <= e_(k-1)/k + 1 <= 2`. Terms alternate and shrink, so what is left out is less
/// than the first term that is 0, which is off by 2 as well; and one place more of `x` moves the exponential by one place at most.
fn series(rest: &BigUint, places: u32) -> (BigUint, BigUint) {
    let mut term = BigUint::from(1u32) << places;
    let (mut even, mut odd, mut k) = (term.clone(), BigUint::ZERO, 0u32);
    while term != BigUint::ZERO {
        k += 1;
        term = ((term * rest) >> places) / k;
        if k % 2 == 0 { even += &term } else { odd += &term }
    }
    let (sum, off) = (even - odd, BigUint::from(2 * k + 4));
    (if sum > off { &sum - &off } else { BigUint::ZERO }, sum + off)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use proptest::prelude::*;
    use rand::{SeedableRng, TryCryptoRng, TryRng};
    use rand_chacha::ChaCha20Rng;

    use super::*;

    /// Plays back the bits of `script`, highest first, one per word (for `B = 1`), then zeros.
    struct Scripted(u64);

    impl TryRng for Scripted {
        type Error = Infallible;
        fn try_next_u32(&mut self) -> Result<u32, Infallible> {
            self.try_next_u64().map(|word| (word >> 32) as u32)
        }
        fn try_next_u64(&mut self) -> Result<u64, Infallible> {
            let word = self.0 & (1 << 63);
            self.0 <<= 1;
            Ok(word)
        }
        fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
            bytes.fill(0);
            Ok(())
        }
    }

    impl TryCryptoRng for Scripted {}

    fn big(n: u64) -> BigUint {
        BigUint::from(n)
    }

    fn exp<const B: u32, R: CryptoRng + ?Sized>(rng: &mut R, n: u64, d: u64) -> bool {
        bernoulli::<B, R>(rng, libm::exp(-(n as f64 / d as f64)), || Probability::exp_minus(n, d))
    }

    #[test]
    fn every_string_of_digits_is_judged_rightly() {
        // Not statistics: over all strings of ten bits, a Bernoulli of probability p is true for 1024 p of them, to the last one; with floats, and without any.
        for (n, d) in
            [(0, 5), (1, 3), (1, 2), (3, 4), (1, 1), (13, 7), (5, 1), (99, 100), (1, 1000), (700, 1)]
        {
            let p = libm::exp(-(n as f64) / d as f64);
            let (low, high) = ((1024.0 * p).floor() as usize, (1024.0 * p).ceil() as usize);
            let with = |s: &u64| exp::<1, _>(&mut Scripted(s << 54), n, d);
            let without = |s: &u64| {
                bernoulli::<1, _>(&mut Scripted(s << 54), f64::NAN, || Probability::exp_minus(n, d))
            };
            let yes = [(0..1024).filter(with).count(), (0..1024).filter(without).count()];
            assert!(yes[0] == yes[1] && (low..=high).contains(&yes[0]), "exp(-{n}/{d}): {yes:?} of 1024");
            // With a factor, too.
            let share = Probability { factor: (3, 7), ..Probability::exp_minus(n, d) };
            let exact = |s: &u64| resolved::<1, _>(&mut Scripted(s << 55), s >> 9, &share);
            let (low, high) =
                ((1024.0 * p * 3.0 / 7.0).floor() as usize, (1024.0 * p * 3.0 / 7.0).ceil() as usize);
            assert!((low..=high).contains(&(0..1024u64).filter(exact).count()), "exp(-{n}/{d}) 3/7");
        }
    }

    /// Whether `exp(-n/d)` is within five standard errors (p < 6e-7) of its frequency, for digits of `B` bits.
    fn frequency_fits<const B: u32>(n: u64, d: u64, claimed: f64) -> bool {
        let (trials, mut rng) = (200_000, ChaCha20Rng::seed_from_u64(n * 1000 + d + u64::from(B)));
        let yes = (0..trials).filter(|_| exp::<B, _>(&mut rng, n, d)).count();
        let (mean, spread) =
            (f64::from(trials) * claimed, (f64::from(trials) * claimed * (1.0 - claimed)).sqrt());
        (yes as f64 - mean).abs() <= 5.0 * spread
    }

    fn frequencies(cases: &[(u64, u64, f64)]) {
        for &(n, d, wrong) in cases {
            let p = libm::exp(-(n as f64) / d as f64);
            assert!(frequency_fits::<64>(n, d, p), "{n}/{d}");
            // One- and three-bit digits need integers often, so this is the path that words take once in 2^35.
            assert!(frequency_fits::<1>(n, d, p) && frequency_fits::<3>(n, d, p), "{n}/{d} in short digits");
            assert!(!frequency_fits::<64>(n, d, p * wrong), "{n}/{d} off by {wrong} was not seen");
        }
    }

    #[test]
    fn exponentials_have_their_frequencies() {
        frequencies(&[(1, 3, 0.95), (7, 2, 0.9), (0, 1, 0.999)]);
    }

    #[test]
    #[ignore = "second tier: many cases"]
    fn more_exponentials_have_their_frequencies() {
        frequencies(&[(1, 2, 0.95), (7, 8, 0.95), (1, 1, 0.95), (5, 4, 0.95), (3, 1, 0.9)]);
        frequencies(&[(1, 1000, 0.999), (6, 1, 0.6)]);
    }

    /// A word that floats cannot judge is judged by integers: the first word on either side of the true probability, to the last bit.
    #[test]
    fn words_at_the_edge_are_judged_by_integers() {
        struct Words(Vec<u64>);
        impl TryRng for Words {
            type Error = Infallible;
            fn try_next_u32(&mut self) -> Result<u32, Infallible> {
                Ok(0)
            }
            fn try_next_u64(&mut self) -> Result<u64, Infallible> {
                Ok(self.0.pop().unwrap_or(0))
            }
            fn try_fill_bytes(&mut self, _: &mut [u8]) -> Result<(), Infallible> {
                Ok(())
            }
        }
        impl TryCryptoRng for Words {}
        // floor(2^64 exp(-1)), and the next 64 bits of it.
        let (head, next) = (0x5E2D_58D8_B3BC_DF1A_u64, 0xBADE_C782_9054_F90D_u64);
        let judged = |words: Vec<u64>| exp_minus_one(&mut Words(words));
        assert!(judged(vec![head - 1]) && !judged(vec![head + 1]));
        assert!(judged(vec![next - 1, head]) && !judged(vec![next + 1, head]));
    }

    #[test]
    fn uniform_integers_are_uniform() {
        let mut rng = ChaCha20Rng::seed_from_u64(3);
        for bound in [1u64, 2, 3, 5, 8, 17] {
            let mut bins = vec![(0u64, 60_000.0 / bound as f64); bound as usize];
            (0..60_000).for_each(|_| bins[below(&mut rng, bound) as usize].0 += 1);
            assert!(bound == 1 || crate::noise::statistics::chi_square(&bins) > 1e-6, "{bound}: {bins:?}");
        }
        assert!((0..100).all(|_| below(&mut rng, u64::MAX) < u64::MAX));
    }

    proptest! {
        /// More digits never contradict fewer, and floats agree with both.
        #[test]
        fn bounds_close_in(n in 0u64..1 << 50, d in 1u64..1 << 44, bits in 1u32..90) {
            let (n, d) = (n % (d * 60).max(1), d); // whole numbers
            let (low, high) = bounds(&big(n), &big(d), bits);
            let (lower, higher) = bounds(&big(n), &big(d), bits + 50);
            prop_assert!(low <= (&lower >> 50) + 1u32 && (&higher >> 50) <= high);
            prop_assert!(lower < higher && (&higher - &lower) <= big(3));
            prop_assert!(&high - &low <= big(3));
            let float = libm::exp(-(n as f64) / d as f64) * 2f64.powi(40);
            let (low, high) = bounds(&big(n), &big(d), 40);
            let (low, high) = (u64::try_from(low).unwrap() as f64, u64::try_from(high).unwrap() as f64);
            prop_assert!(low <= float * (1.0 + 1e-14) && float * (1.0 - 1e-14) <= high, "{low} {float} {high}");
        }

        /// `exp(-a) exp(-b) = exp(-(a + b))`, far beyond floats.
        #[test]
        fn exponentials_multiply(a in 0u64..1 << 40, b in 0u64..1 << 40, d in 1u64 << 36..1 << 40) {
            let bits = 200;
            let ((a_low, a_high), (b_low, b_high)) = (bounds(&big(a), &big(d), bits), bounds(&big(b), &big(d), bits));
            let (low, high) = bounds(&big(a + b), &big(d), bits);
            prop_assert!((a_low * b_low) >> bits <= high && low <= ((a_high * b_high) >> bits) + 1u32);
        }
    }
}
