//! What bends between layers: ReLU, leaky ReLU and Mish, with their slopes.
//!
//! Mish is `z tanh(ln(1 + e^z))`. With `e = e^z` and `n = e (e + 2)` it is `z n/(n + 2)`, and its slope `n/(n + 2) + 4 z e (1 + e)/(n + 2)²`:
//! one exponential and one division for both.

use pulp::Simd;

use super::lanes::{Kernel, LANES, Row, go};

/// `e^x` to two units in the last place; 0 far below, the exponential of 88 far above, and what is not a number stays so.
#[inline(always)]
pub(super) fn exp(x: f32) -> f32 {
    // Adding it rounds to a whole number, which then stands in the last bits.
    const SHIFT: f32 = 12_582_912.0;
    // What a comparison lets through is not a number: it goes on.
    let x = if x > 88.0 { 88.0 } else { x };
    let x = if x < -87.0 { -87.0 } else { x };
    let shifted = x.mul_add(std::f32::consts::LOG2_E, SHIFT);
    let whole = shifted - SHIFT;
    let rest = whole.mul_add(-0.693_359_4, x);
    let rest = whole.mul_add(2.121_944_4e-4, rest);
    let mut power = 1.987_569_1e-4_f32;
    for coefficient in [1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 0.166_666_66, 0.5] {
        power = power.mul_add(rest, coefficient);
    }
    let power = (power * rest).mul_add(rest, rest) + 1.0;
    let scale = f32::from_bits((shifted.to_bits() << 23).wrapping_add(127 << 23));
    power * scale
}

/// Mish and its slope.
#[inline(always)]
pub(super) fn mish(z: f32) -> (f32, f32) {
    // From here on the rest is beyond what single precision tells.
    let e = exp(if z > 20.0 { 20.0 } else { z });
    let n = e * (e + 2.0);
    let part = 1.0 / (n + 2.0);
    let share = n * part;
    (z * share, (4.0 * z * e * (1.0 + e) * part).mul_add(part, share))
}

/// Mish of every number, and its slope.
pub(super) fn mish_rows(x: &[Row], out: &mut [Row], slopes: &mut [Row]) {
    go(Mish { x: x.as_flattened(), out: out.as_flattened_mut(), slopes: slopes.as_flattened_mut() });
}

struct Mish<'a> {
    x: &'a [f32],
    out: &'a mut [f32],
    slopes: &'a mut [f32],
}

impl Kernel for Mish<'_> {
    #[inline(always)]
    fn run<S: Simd, const C: usize>(self, _: S) {
        for ((x, out), slope) in self.x.iter().zip(self.out).zip(self.slopes) {
            (*out, *slope) = mish(*x);
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
    fn run<S: Simd, const C: usize>(self, _: S) {
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

    /// Both against double precision, and all the way.
    #[test]
    fn exponentials_and_mish_are_right_to_a_few_units() {
        for step in -200_000..=200_000_i32 {
            let x = step as f32 * 4e-4;
            let (fast, exact) = (f64::from(exp(x)), f64::from(x).exp());
            assert!((fast / exact - 1.0).abs() < 2.5e-7, "exp({x}) = {fast}, not {exact}");
            let (value, slope) = mish(x);
            let (soft, z) = (exact.ln_1p().tanh(), f64::from(x));
            let exact_slope = soft + z * (1.0 - soft * soft) * exact / (1.0 + exact);
            // Far below zero the whole is far below what single precision adds to anything.
            assert!((f64::from(value) - z * soft).abs() < 5e-7 * (z * soft).abs() + 1e-30, "mish({x}) = {value}");
            assert!((f64::from(slope) - exact_slope).abs() < 1e-6, "mish'({x}) = {slope}, not {exact_slope}");
        }
        assert!(exp(f32::NAN).is_nan() && mish(f32::NAN).0.is_nan());
        assert_eq!((mish(1e30), exp(-1e30) < 1e-37), ((1e30, 1.0), true));
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
