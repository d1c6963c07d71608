//! What bends between layers: ReLU, leaky ReLU and Mish, with their slopes.
//!
//! Mish is `z tanh(ln(1 + e^z))`. With `e = e^z` and `n = e (e + 2)` it is `z n/(n + 2)`, and its slope `n/(n + 2) + 4 z e (1 + e)/(n + 2)²`:
//! one exponential and one division for both.

use fearless_simd::{f32x16, prelude::*, u32x16};

use super::lanes::{Kernel, LANES, Row, go, load, store};

/// `e^x` to two units in the last place; `e^-87` further below, `e^88` further above, and what is not a number stays so.
#[inline(always)]
pub(super) fn exp<S: Simd>(simd: S, x: f32x16<S>) -> f32x16<S> {
    let splat = |number| simd.splat_f32x16(number);
    // What a comparison lets through is not a number: it goes on.
    let x = x.simd_gt(88.0).select(splat(88.0), x);
    let x = x.simd_lt(-87.0).select(splat(-87.0), x);
    // Adding it rounds to a whole number, which then stands in the last bits.
    let shift = splat(12_582_912.0);
    let shifted = x.mul_add_precise(splat(std::f32::consts::LOG2_E), shift);
    let whole = shifted - shift;
    let rest = whole.mul_add_precise(splat(-0.693_359_4), x);
    let rest = whole.mul_add_precise(splat(2.121_944_4e-4), rest);
    let mut power = splat(1.987_569_1e-4);
    for coefficient in [1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 0.166_666_66, 0.5] {
        power = power.mul_add_precise(rest, splat(coefficient));
    }
    let power = (power * rest).mul_add_precise(rest, rest) + 1.0;
    let scale = (shifted.bitcast::<u32x16<S>>() << 23) + simd.splat_u32x16(127 << 23);
    power * scale.bitcast::<f32x16<S>>()
}

/// Mish and its slope.
#[inline(always)]
pub(super) fn mish<S: Simd>(simd: S, z: f32x16<S>) -> (f32x16<S>, f32x16<S>) {
    // From here on the rest is beyond what single precision tells.
    let most = simd.splat_f32x16(20.0);
    let near = z.simd_gt(most).select(most, z);
    let e = exp(simd, near);
    let n = e * (e + 2.0);
    let part = simd.splat_f32x16(1.0) / (n + 2.0);
    let share = n * part;
    let steep = (near * 4.0) * (e * part);
    (z * share, steep.mul_add_precise((e + 1.0) * part, share))
}

/// Mish of every number, and its slope.
pub(super) fn mish_rows(x: &[Row], out: &mut [Row], slopes: &mut [Row]) {
    go(Mish { x, out, slopes });
}

struct Mish<'a> {
    x: &'a [Row],
    out: &'a mut [Row],
    slopes: &'a mut [Row],
}

impl Kernel for Mish<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        for ((x, out), slopes) in self.x.iter().zip(self.out).zip(self.slopes) {
            let (value, slope) = mish(simd, load(simd, x));
            store(out, value);
            store(slopes, slope);
        }
    }
}

/// `out = a b`, number by number.
pub(super) fn multiply(a: &[Row], b: &[Row], out: &mut [Row]) {
    go(Multiply { a: a.as_flattened(), b: b.as_flattened(), out: out.as_flattened_mut() });
}

struct Multiply<'a> {
    a: &'a [f32],
    b: &'a [f32],
    out: &'a mut [f32],
}

impl Kernel for Multiply<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        for ((a, b), out) in self.a.iter().zip(self.b).zip(self.out) {
            *out = a * b;
        }
    }
}

/// Numbers below zero multiplied by `slope`: ReLU where that is 0. What is not a number stays so.
pub(super) fn leak(slope: f32, x: &[Row], out: &mut [Row]) {
    for (x, out) in x.as_flattened().iter().zip(out.as_flattened_mut()) {
        *out = if *x < 0.0 { slope * x } else { *x };
    }
}

/// The differences before it, from those behind.
pub(super) fn leak_back(slope: f32, x: &[Row], deltas: &[Row], out: &mut [Row]) {
    let deltas = deltas.as_flattened().iter();
    for ((x, delta), out) in x.as_flattened().iter().zip(deltas).zip(out.as_flattened_mut()) {
        *out = if *x > 0.0 { *delta } else { slope * delta };
    }
}

/// Adds rows to others.
pub(super) fn add(rows: &[Row], out: &mut [Row]) {
    for (row, out) in rows.as_flattened().iter().zip(out.as_flattened_mut()) {
        *out += row;
    }
}

/// Multiplies each example's numbers by its factor.
pub(super) fn scale(factors: &Row, rows: &mut [Row]) {
    for row in rows {
        for lane in 0..LANES {
            row[lane] *= factors[lane];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Exp<'a>(&'a mut Row);

    impl Kernel for Exp<'_> {
        #[inline(always)]
        fn run<S: Simd>(self, simd: S) {
            let wide = exp(simd, load(simd, self.0));
            store(self.0, wide);
        }
    }

    fn exps(mut row: Row) -> Row {
        go(Exp(&mut row));
        row
    }

    fn mishes(row: Row) -> [Row; 2] {
        let (mut out, mut slopes) = ([row], [row]);
        mish_rows(&[row], &mut out, &mut slopes);
        [out[0], slopes[0]]
    }

    /// Both against double precision, and all the way.
    #[test]
    fn exponentials_and_mish_are_right_to_a_few_units() {
        for step in -12_000..=12_000_i32 {
            let row: Row = std::array::from_fn(|lane| (step * 16 + lane as i32) as f32 * 4.2e-4);
            let (fast, [values, slopes]) = (exps(row), mishes(row));
            for lane in 0..LANES {
                let (x, z) = (row[lane], f64::from(row[lane]));
                let (fast, exact) = (f64::from(fast[lane]), z.exp());
                assert!((fast / exact - 1.0).abs() < 2.5e-7, "exp({x}) = {fast}, not {exact}");
                let (value, slope) = (f64::from(values[lane]), f64::from(slopes[lane]));
                let soft = exact.ln_1p().tanh();
                let exact_slope = soft + z * (1.0 - soft * soft) * exact / (1.0 + exact);
                assert!((value - z * soft).abs() <= 5e-7 * (z * soft).abs(), "mish({x}) = {value}");
                assert!((slope - exact_slope).abs() < 1e-6, "mish'({x}) = {slope}, not {exact_slope}");
            }
        }
        let mut ends = [0.0; LANES];
        (ends[0], ends[1], ends[2]) = (f32::NAN, 1e30, -1e30);
        let ([values, slopes], exps) = (mishes(ends), exps(ends));
        assert!(values[0].is_nan() && exps[0].is_nan());
        assert_eq!((values[1], slopes[1]), (1e30, 1.0));
        assert!(values[2].abs() < 1e-6 && exps[2] < 1e-37, "{} {}", values[2], exps[2]);
    }

    /// Zero stays zero, and numbers below it become smaller.
    #[test]
    fn what_leaks() {
        let mut x = [0.0; LANES];
        (x[0], x[1], x[2]) = (-2.0, 3.0, f32::NAN);
        let mut out = [[1.0; LANES]];
        leak(0.1, &[x], &mut out);
        assert_eq!(out[0][..2], [-0.2, 3.0]);
        assert!(out[0][2].is_nan());
        leak_back(0.1, &[x], &[[1.0; LANES]], &mut out);
        assert_eq!(out[0][..4], [0.1, 1.0, 0.1, 0.1]);
    }
}
