//! Functions of a mixing matrix as sums of Chebyshev polynomials: no eigenvectors, only products with a sparse matrix.
//!
//! On an interval that holds the spectrum, `f(x) = Σ c_k T_k(x)`, and `T_k(W)` applied to some columns needs one product per degree. A
//! function that is analytic around the interval needs as many terms as digits; the closer its singularity, the more.

use std::f64::consts::PI;

/// The polynomial's interval and coefficients.
#[derive(Debug, Clone)]
pub(super) struct Expansion {
    pub(super) centre: f64,
    pub(super) radius: f64,
    pub(super) coefficients: Vec<f64>,
}

/// Terms below this in sum, for a function of size 1, are left out.
const NEGLIGIBLE: f64 = 3e-13;

impl Expansion {
    /// Interpolates on `[from, to]` to about twelve digits; `None` where that takes more than `most` terms.
    pub(super) fn new(from: f64, to: f64, most: usize, f: impl Fn(f64) -> f64) -> Option<Self> {
        let (centre, radius) = (0.5 * (from + to), 0.5 * (to - from));
        let mut points = 32;
        while points <= 4 * most.next_power_of_two() {
            let coefficients = interpolate(points, |x| f(centre + radius * x));
            let size: f64 = coefficients.iter().map(|c| c.abs()).fold(1.0, f64::max);
            let terms = needed(&coefficients, NEGLIGIBLE * size);
            // Half of the coefficients below the threshold: those that are missing are too.
            if terms <= points / 2 {
                let coefficients = coefficients[..terms].to_vec();
                return (terms <= most).then_some(Self { centre, radius, coefficients });
            }
            points *= 2;
        }
        None
    }
}

/// How many terms to keep, that the rest be negligible.
fn needed(coefficients: &[f64], negligible: f64) -> usize {
    let mut rest = 0.0;
    let left_out = coefficients.iter().rev().take_while(|c| {
        rest += c.abs();
        rest <= negligible
    });
    (coefficients.len() - left_out.count()).max(1)
}

/// Coefficients of the interpolant at Chebyshev's points.
fn interpolate(points: usize, f: impl Fn(f64) -> f64) -> Vec<f64> {
    let angle = |j: usize| PI * (j as f64 + 0.5) / points as f64;
    let values: Vec<f64> = (0..points).map(|j| f(angle(j).cos())).collect();
    // The angles repeat after 4 times the points: a table in whole numbers loses no digits.
    let period = 4 * points;
    let cosines: Vec<f64> = (0..period).map(|i| (2.0 * PI * i as f64 / period as f64).cos()).collect();
    let coefficient = |k: usize| {
        let cosine = |j: usize| cosines[(k * (2 * j + 1)) % period];
        let sum: f64 = values.iter().enumerate().map(|(j, value)| value * cosine(j)).sum();
        sum * if k == 0 { 1.0 } else { 2.0 } / points as f64
    };
    (0..points).map(coefficient).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(expansion: &Expansion, x: f64) -> f64 {
        let y = (x - expansion.centre) / expansion.radius;
        let (mut sum, mut last, mut now) = (expansion.coefficients[0], 1.0, y);
        for c in &expansion.coefficients[1..] {
            sum += c * now;
            (last, now) = (now, 2.0 * y * now - last);
        }
        sum
    }

    #[test]
    fn a_logarithm_is_met_to_twelve_digits() {
        let expansion = Expansion::new(-0.9, 0.95, 500, |x| -(1.0 - x).ln()).unwrap();
        for x in [-0.9, -0.3, 0.0, 0.5, 0.94, 0.95] {
            assert!((value(&expansion, x) + (1.0 - x).ln()).abs() < 1e-12, "{x}");
        }
        assert!(Expansion::new(-1.0, 1.0 - 1e-8, 500, |x| -(1.0 - x).ln()).is_none());
    }
}
