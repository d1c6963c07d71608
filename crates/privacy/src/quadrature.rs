//! The moment generating function of a sampled Gaussian's privacy loss, at real and complex arguments.
//!
//! With `x ~ N(0, s²)` and `l±(x) = ln(1 - q + q e^((±2x - 1)/2s²))`, every direction and adjacency has the form
//!
//! ```text
//! M(z) = E[ exp(a l+(x) + b l-(x)) ],   (a, b) = (z + 1, 0)   a record is removed
//!                                                (-z, 0)      a record is added
//!                                                (z + 1, -z)  a record is replaced by its opposite
//! ```
//!
//! The integrand is analytic in a strip around the real line, so the trapezoidal rule converges geometrically, and the
//! size of the integrand on the edge of the strip bounds its error (`docs/theorems/sampled-gaussian.md`). There is no
//! series, so no signs to drop and no orders to leave out.

use realfft::num_complex::Complex64;

use crate::interval::{larger, largest, smaller};
use crate::mechanism::Adjacency;
use crate::pld::{Lattice, bulge, mixed_loss, pairwise};
use crate::special::UNIT;

/// Which of the two neighbouring data sets holds the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Remove,
    Add,
    Opposite,
}

/// A Gaussian release on a Poisson sample (`rate < 1`), or on everyone (`rate = 1`).
#[derive(Debug, Clone, Copy)]
pub(crate) struct SampledGaussian {
    pub(crate) sigma: f64,
    pub(crate) rate: f64,
    pub(crate) side: Side,
}

/// The sides that must be accounted for under an adjacency.
pub(crate) fn sides(adjacency: Adjacency) -> &'static [Side] {
    match adjacency {
        Adjacency::AddRemove | Adjacency::ZeroOut => &[Side::Remove, Side::Add],
        Adjacency::Replace => &[Side::Opposite],
    }
}

/// Nodes and weights: `M(c + it) ≈ Σ weight e^(it loss)`, scaled by `e^-ln_scale`.
pub(crate) struct Nodes {
    pub(crate) losses: Vec<f64>,
    pub(crate) weights: Vec<f64>,
    /// Their sum.
    pub(crate) total: f64,
    pub(crate) ln_scale: f64,
    /// Relative error of the total.
    pub(crate) error: f64,
    /// Error of [`Self::chi_less_one`] at any frequency up to the one asked for, stepping included.
    pub(crate) chi_error: f64,
}

/// More nodes than this are not worth it for a moment, for which there are other bounds (a frequency may have ten times as many).
const MOST_NODES: f64 = 1e5;
/// So many frequencies in a row are reached by rotation before angles are computed anew.
pub(crate) const ANCHOR: usize = 16;
/// Rounding of a term `weight (e^(it loss) - 1)` relative to its size, and of a pairwise sum of them: an angle, rotations of
/// 12 round-offs each, additions; in round-offs.
const TERM: f64 = 12.0 * ANCHOR as f64 + 68.0;

impl Nodes {
    /// Of a law on a lattice; nothing where they would be too many.
    pub(crate) fn of_lattice(lattice: &Lattice, c: f64, frequency: f64) -> Option<Self> {
        if too_many(lattice.masses.len() as f64, MOST_NODES) {
            return None;
        }
        let all = lattice.masses.iter().enumerate().filter(|(_, mass)| **mass > 0.0);
        let (losses, masses): (Vec<f64>, Vec<f64>) =
            all.map(|(i, mass)| (lattice.first + i as f64 * lattice.step, *mass)).unzip();
        // The heaviest is near one of the ends, or where neither is far: any reference will do that keeps exponents in range.
        let top = c * losses.last()?;
        let weights: Vec<f64> =
            losses.iter().zip(&masses).map(|(loss, mass)| mass * (c * loss - top).exp()).collect();
        let total: f64 = weights.chunks(16).map(|chunk| chunk.iter().sum::<f64>()).sum();
        if !(total > 1e-250 && total.is_finite()) {
            return None;
        }
        let (mut error, mut chi_error, mut unrest) = (0.0, 0.0, 0.0);
        for (loss, weight) in losses.iter().zip(&weights) {
            let of_weight = 8.0 + 4.0 * ((c * loss).abs() + top.abs());
            let turned = weight * smaller(frequency * loss.abs(), 2.0);
            error += weight * of_weight;
            chi_error += (of_weight + TERM) * turned + weight * frequency * 4.0 * loss.abs();
            unrest += turned;
        }
        let error = UNIT * (error / total + 16.0 + weights.len() as f64 / 16.0) + f64::MIN_POSITIVE;
        let chi_error = UNIT * chi_error / total + error * unrest / total;
        Some(Self { losses, weights, total, ln_scale: top, error: 1.01 * error, chi_error: 1.01 * chi_error })
    }

    /// `ln M(c)` and a bound on its error.
    pub(crate) fn ln_moment(&self) -> (f64, f64) {
        (self.total.ln() + self.ln_scale, self.error + 4.0 * UNIT * self.ln_scale.abs())
    }

    /// The terms `weight (e^(it loss) - 1)`: small, and accurate relative to their size, where losses are small.
    pub(crate) fn turn(&self, t: f64, terms: &mut [Complex64]) {
        for (term, (loss, weight)) in terms.iter_mut().zip(self.losses.iter().zip(&self.weights)) {
            *term = less_one(t * loss) * weight;
        }
    }

    /// `M(c + it) / M(c) - 1` from the terms at `t`.
    pub(crate) fn chi_less_one(&self, terms: &[Complex64]) -> Complex64 {
        pairwise(terms) / self.total
    }
}

/// Whether a count exceeds what is worth it. What is not a number does.
fn too_many(count: f64, most: f64) -> bool {
    count.is_nan() || count > most
}

/// `e^(i angle) - 1 = 2i sin(angle/2) e^(i angle/2)`, accurate also where it is small.
pub(crate) fn less_one(angle: f64) -> Complex64 {
    let (sin, cos) = (0.5 * angle).sin_cos();
    Complex64::new(-2.0 * sin * sin, 2.0 * sin * cos)
}

impl SampledGaussian {
    fn exponents(&self, z: f64) -> (f64, f64) {
        match self.side {
            Side::Remove => (z + 1.0, 0.0),
            Side::Add => (-z, 0.0),
            Side::Opposite => (z + 1.0, -z),
        }
    }

    /// `l±(x)`.
    fn log_ratio(&self, x: f64) -> f64 {
        mixed_loss((2.0 * x - 1.0) / (2.0 * self.sigma * self.sigma), self.rate)
    }

    /// Spacing and error factor of the trapezoidal rule for `M(c + it)`, `|t| <= frequency`: with the strip `|Im x| < d`,
    /// `d = angle * sigma²`, the error is at most `2 K M(c) / (e^(2 pi d / spacing) - 1)`, where `K` bounds the growth.
    fn rule(&self, c: f64, frequency: f64, digits: f64) -> f64 {
        let (a, b) = self.exponents(c);
        let negative = larger(-a, 0.0) + larger(-b, 0.0);
        let turning = if self.side == Side::Opposite { 2.0 * frequency } else { frequency };
        let variance = self.sigma * self.sigma;
        let mut best: f64 = 0.0;
        for i in 1..=48 {
            let angle = f64::from(i) / 16.0;
            // Where a power is negative the integrand must be kept away from its poles.
            let growth = if negative > 0.0 {
                if angle > 1.5 {
                    continue;
                }
                -negative * angle.cos().ln()
            } else {
                0.0
            };
            let exponent = digits + 0.5 * angle * angle * variance + turning * angle + growth;
            best = larger(best, 2.0 * std::f64::consts::PI * angle * variance / exponent);
        }
        // For wide noise the best angle is small: the Gaussian factor alone decides.
        let angle = (2.0 * digits).sqrt() / self.sigma;
        if angle < 1.0 / 16.0 {
            let exponent = 2.0 * digits + turning * angle - negative * angle.cos().ln();
            best = larger(best, 2.0 * std::f64::consts::PI * angle * variance / exponent);
        }
        best
    }

    /// The interval outside which the integrand of `M(c)` is negligible: the Gaussian of each end's steepest growth.
    pub(crate) fn range(&self, c: f64) -> (f64, f64) {
        const REACH: f64 = 10.5;
        let (a, b) = self.exponents(c);
        let (right, left) = (larger(a, 0.0) + larger(-b, 0.0), larger(-a, 0.0) + larger(-b, 0.0));
        (-left - REACH * self.sigma, right + REACH * self.sigma)
    }

    /// Below minus this the integrand of `M(c)` is less than `e^-47` of that at 0: left of 0 no power of a likelihood ratio
    /// exceeds `(1 - rate)^-c`, and at 0 none is below `(1 - rate)^(c + 1)`, so the Gaussian factor decides.
    fn farthest(&self, c: f64) -> f64 {
        self.sigma * (2.0 * (47.0 - (2.0 * c + 1.0) * (-self.rate).ln_1p())).sqrt()
    }

    /// Nodes for `M(c + it)` with `|t| <= frequency`, accurate to rounding; nothing where they would be too many.
    pub(crate) fn nodes(&self, c: f64, frequency: f64) -> Option<Nodes> {
        let spacing = self.rule(c, frequency, 44.0);
        let (low, high) = self.range(c);
        let most = if frequency > 0.0 { 10.0 * MOST_NODES } else { MOST_NODES };
        if too_many((high - low) / spacing, most) {
            return None;
        }
        let (first, last) = ((low / spacing).floor() as i64, (high / spacing).ceil() as i64);
        let outcome = |i: i64| i as f64 * spacing;
        let lowest = (larger(low, -self.farthest(c)) / spacing).floor() as i64;
        let mut points: Vec<(f64, f64, f64)> = (lowest..=last)
            .map(|i| {
                let (loss, exponent) = self.loss_and_exponent(c, outcome(i));
                (outcome(i), loss, exponent)
            })
            .collect();
        let top = largest(f64::NEG_INFINITY, points.iter().map(|point| point.2));
        points.retain(|point| point.2 > top - 46.0);
        let factor = spacing / (self.sigma * (2.0 * std::f64::consts::PI).sqrt());
        let weights: Vec<f64> = points.iter().map(|point| factor * (point.2 - top).exp()).collect();
        let total: f64 = weights.chunks(16).map(|chunk| chunk.iter().sum::<f64>()).sum();
        // Dropped nodes, and the rule itself (e^-44 = 8e-20).
        let cut = factor * (last - first) as f64 * (-46.0_f64).exp() / total + 2e-19;
        let sums = 16.0 + (weights.len() as f64 / 16.0);
        let ((a, b), variance) = (self.exponents(c), self.sigma * self.sigma);
        let (mut error, mut chi_error) = (0.0, 0.0);
        for ((x, loss, exponent), weight) in points.iter().zip(&weights) {
            // Absolute errors of the loss and of the exponent, in round-offs. The exponent's parts may cancel, so each is
            // charged; the slope of a log-ratio `l` is at most `rate + |l|`, and at most 1.
            let of = |l: f64| {
                4.0 * (l.abs() + 2.0 * smaller(self.rate + l.abs(), 1.0) * (x.abs() + 1.0) / variance)
            };
            let (plus, minus) = match self.side {
                Side::Opposite => (self.log_ratio(*x), self.log_ratio(-x)),
                Side::Remove | Side::Add => (*loss, 0.0),
            };
            let parts = (a * plus).abs() + (b * minus).abs() + 0.5 * x * x / variance;
            let of_weight = 8.0
                + 4.0 * (exponent.abs() + top.abs() + parts)
                + a.abs() * of(plus)
                + if b == 0.0 { 0.0 } else { b.abs() * of(minus) };
            let of_loss = of(*loss) + if self.side == Side::Opposite { of(plus) + of(minus) } else { 0.0 };
            error += weight * of_weight;
            chi_error +=
                weight * ((of_weight + TERM) * smaller(frequency * loss.abs(), 2.0) + frequency * of_loss);
        }
        let error = cut + UNIT * (error / total + sums);
        // The total's own error scales `chi - 1`, which is at most 2.
        let unrest = weights
            .iter()
            .zip(&points)
            .map(|(weight, point)| weight * smaller(frequency * point.1.abs(), 2.0));
        let chi_error = 2.0 * cut + UNIT * chi_error / total + error * unrest.sum::<f64>() / total;
        let losses = points.iter().map(|point| point.1).collect();
        Some(Nodes {
            losses,
            weights,
            total,
            ln_scale: top,
            error: 1.01 * error,
            chi_error: 1.01 * chi_error,
        })
    }

    /// `ln M(c)` and a bound on its error; nothing where it would take too many nodes.
    pub(crate) fn ln_moment(&self, c: f64) -> Option<(f64, f64)> {
        Some(self.nodes(c, 0.0)?.ln_moment())
    }

    /// `M(c) - 1` without cancellation where the loss is small, and its error: `E[P (e^(c l) - 1 - c (1 - e^-l))]`, for `P` and
    /// `Q = P e^-l` that have mean 1, is a sum of positive terms. Nothing where it would take too many nodes.
    pub(crate) fn excess(&self, c: f64) -> Option<(f64, f64)> {
        let spacing = smaller(self.rule(c, 0.0, 60.0), self.rule(0.0, 0.0, 60.0));
        let (low, high) = self.range(c);
        // The square of a small loss lives about 2 (and -2), whatever the order.
        let (low, high) = (smaller(low, -2.0 - 10.5 * self.sigma), larger(high, 2.0 + 10.5 * self.sigma));
        if too_many((high - low) / spacing, MOST_NODES) {
            return None;
        }
        let factor = spacing / (self.sigma * (2.0 * std::f64::consts::PI).sqrt());
        let (first, last) = ((low / spacing).floor() as i64, (high / spacing).ceil() as i64);
        let (mut sum, mut size) = (0.0, 0.0);
        for i in first..=last {
            let x = i as f64 * spacing;
            let (loss, ln_density) = self.loss_and_exponent(0.0, x);
            let term = ln_density.exp() * bulge(c, loss);
            // Where nothing is left of `P`, there may be something of `Q`: both positive terms, in logarithms.
            let term = if ln_density > -600.0 && term.is_finite() {
                factor * term
            } else {
                factor * ((ln_density + c * loss).exp() + c * (ln_density - loss).exp())
            };
            sum += term;
            size += term * (4.0 + (c * loss).abs() + ln_density.abs());
        }
        // The rule itself errs by e^-60 of each of the parts.
        Some((sum, 8.0 * UNIT * size + 1e-10 * sum + 1e-24 * (1.0 + c)))
    }

    /// The loss at outcome `x`, and the logarithm of the integrand of `M(c)` there, but for its constant.
    pub(crate) fn loss_and_exponent(&self, c: f64, x: f64) -> (f64, f64) {
        let (a, b) = self.exponents(c);
        let plus = self.log_ratio(x);
        let minus = if self.side == Side::Opposite { self.log_ratio(-x) } else { 0.0 };
        let loss = match self.side {
            Side::Remove => plus,
            Side::Add => -plus,
            Side::Opposite => plus - minus,
        };
        (loss, a * plus + b * minus - 0.5 * x * x / (self.sigma * self.sigma))
    }

    /// A bound on `|(ln f)'|` and `|(ln g)'|` at all outcomes up to `x` in size: `f` the density of outcomes under the tilt
    /// `c`, `g` that of losses.
    pub(crate) fn steepest_slope(&self, c: f64, x: f64) -> f64 {
        let (a, b) = self.exponents(c);
        (x.abs() + a.abs() + b.abs() + 2.0) / (self.sigma * self.sigma)
    }

    /// `sigma²` times the slope of the loss at `x` (in size), and bounds on `|(ln f)'|` and on `|(ln g)'|` within `reach`.
    pub(crate) fn slopes(&self, c: f64, x: f64, reach: f64) -> (f64, f64, f64) {
        let steepest = self.steepest_slope(c, x.abs() + reach);
        let r = self.inclusion(x);
        if self.side == Side::Opposite {
            return (r + self.inclusion(-x), steepest, steepest);
        }
        let variance = self.sigma * self.sigma;
        let (a, _) = self.exponents(c);
        // `r' <= 1/4 sigma²`.
        let near = |slope: f64, factor: f64| {
            smaller((slope.abs() + reach * (1.0 + factor.abs() / (4.0 * variance))) / variance, steepest)
        };
        (r, near(a * r - x, a), near((a + 1.0) * r - x - 1.0, a + 1.0))
    }

    /// The posterior probability that the record was sampled, given outcome `x`.
    fn inclusion(&self, x: f64) -> f64 {
        let odds = ((2.0 * x - 1.0) / (2.0 * self.sigma * self.sigma)).exp() * self.rate / (1.0 - self.rate);
        if odds.is_finite() { odds / (1.0 + odds) } else { 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A record that is always sampled is no sampling: the moments of two Gaussians at distance 1 (2 for an opposite).
    #[test]
    fn certain_sampling_has_the_gaussian_moments_at_every_order() {
        for (side, distance) in [(Side::Remove, 1.0), (Side::Add, 1.0), (Side::Opposite, 2.0)] {
            for sigma in [0.5, 1.0, 10.0, 100.0] {
                for c in [0.01, 1.0, 20.0, 300.0, 3000.0] {
                    // Where outcomes matter at which even a certain record would be doubted, sampling shows.
                    if (2.0 * c + 1.0) / (sigma * sigma) > 20.0 && side != Side::Remove {
                        continue;
                    }
                    let law = SampledGaussian { sigma, rate: 1.0 - 1e-15, side };
                    let exact = 0.5 * c * (c + 1.0) * distance * distance / (sigma * sigma);
                    let (ln, error) = law.ln_moment(c).unwrap();
                    assert!(
                        (ln - exact).abs() <= error + 1e-9 * exact,
                        "{side:?} {sigma} {c}: {ln} {exact} {error:e}"
                    );
                    assert!(error < 1e-7 * (1.0 + exact), "{side:?} {sigma} {c}: {error:e}");
                }
            }
        }
    }

    #[test]
    fn the_excess_is_the_moment_less_one() {
        for side in [Side::Remove, Side::Add, Side::Opposite] {
            for rate in [0.05, 0.7, 1e-3] {
                let law = SampledGaussian { sigma: 1.3, rate, side };
                for c in [0.3, 2.0, 9.0] {
                    let (excess, error) = law.excess(c).unwrap();
                    let (ln, _) = law.ln_moment(c).unwrap();
                    let off = (excess - ln.exp_m1()).abs();
                    assert!(off < 1e-12 * (1.0 + excess) + error, "{side:?} {c}: {excess} {}", ln.exp_m1());
                }
            }
        }
    }
}
