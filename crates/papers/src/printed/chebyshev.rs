//! Sums over paths as sums of Chebyshev's polynomials, with a proof that the spectrum is where they hold.
//!
//! On an interval with centre `c` and radius `R`, `f(x) = x + x²/2 + x³/3 + ...`, up to any power, is `Σ c_k T_k(y)` for `y = (x - c) / R`. If
//! `c` is 0 or more, all `c_k` of a power of `c + R y` are, too, so that those of the whole series, `-ln(1 - x)`, are the largest: `2 ρ^-k / k` for
//! `ρ + 1/ρ = 2 (1 - c) / R`. If `c` is negative, they are at most those of the interval's mirror image. `T_k` of the matrix takes one product with it
//! for each degree.
//!
//! The ends of the spectrum are estimates: an eigenvalue may have been missed. So the last polynomial of the matrix, `T_K`, is looked at. Every
//! column of it must be no longer than 1. Then its Frobenius norm is at most `F = √n`, and at every eigenvalue `|T_K(y)| ≤ F`: were one outside the interval,
//! then `|T_k(y)| ≤ cosh(k θ) ≤ F exp((k - K) θ)` for `cosh(K θ) = F`. The bound on the terms that are left out allows for it.

use std::f64::consts::PI;

use sottovoce_dense::Mat;
use sottovoce_topology::mixing::Mixing;
use sottovoce_views::parallel;

use super::each_iterate;

/// What is left out moves no entry by more than this.
const LEFT_OUT: f64 = 1e-13;

/// So many times larger rounding's constant part may grow.
const GROWTH: f64 = 1e3;

/// Room for rounding of a column's length, which is off by far less.
const ROUNDING: f64 = 1e-3;

/// The polynomial's interval and coefficients.
pub(super) struct Expansion {
    centre: f64,
    radius: f64,
    coefficients: Vec<f64>,
}

impl Expansion {
    /// Of the logarithm's series up to some power, between these ends, where all eigenvalues of so many but that of the constant vector seem to be;
    /// none where that takes more than `most` terms.
    pub(super) fn new(
        (from, to): (f64, f64),
        nodes: usize,
        most: usize,
        f: impl Fn(f64) -> f64,
    ) -> Option<Self> {
        let centre = 0.5 * (from + to);
        // An interval must have some length.
        let radius = (0.5 * (to - from)).max((1.0 - centre.abs()) / 64.0);
        let ratio = root(Some((1.0 - centre.abs()) / radius).filter(|axis| *axis > 1.0)?);
        let norm = (nodes as f64).sqrt() * (1.0 + ROUNDING);
        // Twice the terms that are left out: once for themselves, and once for what interpolation adds to the others in their place.
        let left_out = |degree: usize| {
            let (k, each) = (degree as f64, root(norm).powf(1.0 / degree as f64) / ratio);
            let rest = if each < 1.0 { each / (1.0 - each) } else { f64::INFINITY };
            4.0 * norm / (k + 1.0) * ratio.powf(-k) * rest
        };
        let degree = (1..most).find(|&degree| left_out(degree) <= LEFT_OUT)?;
        Some(Self { centre, radius, coefficients: interpolate(degree + 1, |y| f(centre + radius * y)) })
    }

    /// The polynomial of the matrix, row after row, with `constant` on the constant vector; none if an eigenvalue is outside the interval.
    pub(super) fn apply(&self, mixing: &Mixing, constant: f64) -> Option<Vec<f64>> {
        let n = mixing.nodes();
        // Its columns are its rows.
        let column = |w: usize| {
            let mut sum = self.column(mixing, w)?;
            shift(&mut sum, constant / n as f64);
            Some(sum.into_numbers())
        };
        let all: Option<Vec<_>> = parallel::map(n, column, |_| ()).into_iter().collect();
        Some(all?.concat())
    }

    /// A column, without its constant part; none if it shows that an eigenvalue may be outside the interval.
    fn column(&self, mixing: &Mixing, w: usize) -> Option<Mat> {
        let (mut inside, last) = (false, self.coefficients.len() - 1);
        let mut sum = Mat::zeros(mixing.nodes(), 1);
        // The constant vector is outside. Of its part rounding leaves a little, which grows from step to step: it is taken out in time, of two
        // polynomials in a row, from which all others follow.
        let one = (1.0 - self.centre) / self.radius;
        let every = (GROWTH.ln() / root(one).ln()).max(1.0) as usize;
        each_iterate(mixing, Some((self.centre, self.radius)), w, last + 1, |t, now| {
            if t % every < 2 {
                shift(now, 0.0);
            }
            sum.add_scaled(self.coefficients[t], now);
            if t == last {
                inside = now.as_slice().iter().map(|x| x * x).sum::<f64>() <= 1.0 + ROUNDING;
            }
        });
        inside.then_some(sum)
    }
}

/// `ρ` for `ρ + 1/ρ = 2 x`: what `T_k(x)` grows by from one `k` to the next.
fn root(x: f64) -> f64 {
    x + (x * x - 1.0).sqrt()
}

/// Gives a column this mean.
fn shift(column: &mut Mat, mean: f64) {
    let more = mean - column.as_slice().iter().sum::<f64>() / column.nrows() as f64;
    column.as_mut_slice().iter_mut().for_each(|x| *x += more);
}

/// The first coefficients of the interpolant at twice as many of Chebyshev's points.
fn interpolate(terms: usize, f: impl Fn(f64) -> f64) -> Vec<f64> {
    let points = 2 * terms;
    // The angles repeat after 4 times the points: a table in whole numbers loses no digits.
    let period = 4 * points;
    let cosines: Vec<f64> = (0..period).map(|i| (2.0 * PI * i as f64 / period as f64).cos()).collect();
    let values: Vec<f64> = (0..points).map(|j| f(cosines[2 * j + 1])).collect();
    let coefficient = |k: usize| {
        let cosine = |j: usize| cosines[(k * (2 * j + 1)) % period];
        let sum: f64 = values.iter().enumerate().map(|(j, value)| value * cosine(j)).sum();
        sum * if k == 0 { 1.0 } else { 2.0 } / points as f64
    };
    (0..terms).map(coefficient).collect()
}
