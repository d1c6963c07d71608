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

use crate::mechanism::Adjacency;
use crate::pld::mixed_loss;
use crate::special::UNIT;

impl Nodes {
    /// The terms `weight e^(it loss)`.
    pub(crate) fn turn(&self, t: f64, terms: &mut [Complex64]) {
        let nodes = self.losses.iter().zip(&self.weights);
        terms
            .iter_mut()
            .zip(nodes)
            .for_each(|(term, (loss, weight))| *term = Complex64::from_polar(*weight, t * loss));
    }
}

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
        Adjacency::AddRemove => &[Side::Remove, Side::Add],
        Adjacency::Replace => &[Side::Opposite],
    }
}

/// Nodes and weights: `M(c + it) ≈ Σ weight e^(it loss)`, scaled by `e^-ln_scale`.
pub(crate) struct Nodes {
    pub(crate) losses: Vec<f64>,
    pub(crate) weights: Vec<f64>,
    pub(crate) ln_scale: f64,
    /// Absolute error of the scaled sum, at any frequency up to the one asked for.
    pub(crate) error: f64,
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
        let negative = (-a).max(0.0) + (-b).max(0.0);
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
            best = best.max(2.0 * std::f64::consts::PI * angle * variance / exponent);
        }
        // For wide noise the best angle is small: the Gaussian factor alone decides.
        let angle = (2.0 * digits).sqrt() / self.sigma;
        if angle < 1.0 / 16.0 {
            let exponent = 2.0 * digits + turning * angle - negative * angle.cos().ln();
            best = best.max(2.0 * std::f64::consts::PI * angle * variance / exponent);
        }
        best
    }

    /// The interval outside which the integrand of `M(c)` is negligible: the Gaussian of each end's steepest growth.
    fn range(&self, c: f64) -> (f64, f64) {
        const REACH: f64 = 10.5;
        let (a, b) = self.exponents(c);
        let (right, left) = (a.max(0.0) + (-b).max(0.0), (-a).max(0.0) + (-b).max(0.0));
        (-left - REACH * self.sigma, right + REACH * self.sigma)
    }

    /// Nodes for `M(c + it)` with `|t| <= frequency`, accurate to rounding.
    pub(crate) fn nodes(&self, c: f64, frequency: f64) -> Nodes {
        let spacing = self.rule(c, frequency, 44.0);
        let (low, high) = self.range(c);
        let (a, b) = self.exponents(c);
        let variance = self.sigma * self.sigma;
        let (first, last) = ((low / spacing).floor() as i64, (high / spacing).ceil() as i64);
        let mut points: Vec<(f64, f64)> = (first..=last)
            .map(|i| {
                let x = i as f64 * spacing;
                let (plus, minus) = (self.log_ratio(x), if b == 0.0 { 0.0 } else { self.log_ratio(-x) });
                let loss = match self.side {
                    Side::Remove => plus,
                    Side::Add => -plus,
                    Side::Opposite => plus - minus,
                };
                (loss, a * plus + b * minus - 0.5 * x * x / variance)
            })
            .collect();
        let top = points.iter().map(|point| point.1).fold(f64::NEG_INFINITY, f64::max);
        points.retain(|point| point.1 > top - 46.0);
        let factor = spacing / (self.sigma * (2.0 * std::f64::consts::PI).sqrt());
        let weights: Vec<f64> = points.iter().map(|point| factor * (point.1 - top).exp()).collect();
        let total: f64 = weights.iter().sum();
        // Dropped nodes, the rule itself (e^-44 = 8e-20), and the rounding of exponents and of the sum.
        let exponent =
            points.iter().map(|point| point.1.abs()).fold(0.0, f64::max) + frequency * loss_size(&points);
        let error = factor * (last - first) as f64 * (-46.0_f64).exp()
            + total * (2e-19 + UNIT * (16.0 + 4.0 * exponent + (weights.len() as f64)));
        Nodes { losses: points.iter().map(|point| point.0).collect(), weights, ln_scale: top, error }
    }

    /// `ln M(c)` and a bound on its error.
    pub(crate) fn ln_moment(&self, c: f64) -> (f64, f64) {
        let nodes = self.nodes(c, 0.0);
        let total: f64 = nodes.weights.iter().sum();
        (total.ln() + nodes.ln_scale, 1.01 * nodes.error / total + 4.0 * UNIT * nodes.ln_scale.abs())
    }

    /// `M(c) - 1` for `M(c) = E[X^order]` with `E[X] = 1`, without cancellation where the loss is small, and its error.
    /// Only for [`Side::Remove`] (`order = c + 1`) and [`Side::Add`] (`order = -c`).
    pub(crate) fn excess(&self, c: f64) -> (f64, f64) {
        let (order, _) = self.exponents(c);
        let spacing = self.rule(c, 0.0, 60.0).min(self.rule(0.0, 0.0, 60.0));
        let (low, high) = self.range(c);
        let high = high.max(1.0 + 10.5 * self.sigma);
        let factor = spacing / (self.sigma * (2.0 * std::f64::consts::PI).sqrt());
        let (first, last) = ((low / spacing).floor() as i64, (high / spacing).ceil() as i64);
        let (mut sum, mut size) = (0.0, 0.0);
        for i in first..=last {
            let x = i as f64 * spacing;
            let log = self.log_ratio(x);
            let weight = factor * (-0.5 * x * x / (self.sigma * self.sigma)).exp();
            let (power, line) = ((order * log).exp_m1(), order * log.exp_m1());
            sum += weight * (power - line);
            size += weight * (power.abs() + line.abs()) * (1.0 + (order * log).abs());
        }
        (sum, 8.0 * UNIT * size + 1e-24 * (1.0 + sum.abs()))
    }

    /// A bound on the total variation of the density of the loss under the tilt `c` (its mass being 1): `|M(c+it)/M(c)|` is
    /// at most this over `t`.
    ///
    /// For one-sided ratios the density `g` has at most two peaks (`sigma² (ln g)' = -x - 1 + (a+1) r(x)` with a logistic
    /// `r` has at most three zeros), so its variation is at most four times its maximum. For replacement, `|(ln g)'|` is
    /// bounded and integrated.
    pub(crate) fn variation(&self, c: f64) -> f64 {
        let (a, b) = self.exponents(c);
        let variance = self.sigma * self.sigma;
        let (low, high) = self.range(c);
        let low = low.min(-1.0 - 10.5 * self.sigma);
        let steepest = |x: f64| (x.abs() + a.abs() + b.abs() + 2.0) / variance;
        let count = ((high - low) * steepest(high.max(-low)) / 0.8).clamp(64.0, 50_000.0) as usize;
        let spacing = (high - low) / count as f64;
        let (ln_total, _) = self.ln_moment(c);
        let (mut peak, mut area) = (0.0_f64, 0.0);
        for i in 0..=count {
            let x = low + i as f64 * spacing;
            let slope = match self.side {
                Side::Opposite => self.inclusion(x) + self.inclusion(-x),
                _ => self.inclusion(x),
            } / variance;
            let minus = if b == 0.0 { 0.0 } else { self.log_ratio(-x) };
            let ln_density = a * self.log_ratio(x) + b * minus - 0.5 * x * x / variance - ln_total;
            let density = ln_density.exp() / (self.sigma * (2.0 * std::f64::consts::PI).sqrt() * slope);
            // Between grid points the density grows by no more than this factor.
            let between = (0.5 * spacing * steepest(x)).exp();
            peak = peak.max(density * between);
            area += density * between * steepest(x) * spacing;
        }
        if self.side == Side::Opposite { area } else { 4.0 * peak }
    }

    /// A bound on the mean absolute deviation of the loss under the tilt `c`, about the loss at its own mean.
    pub(crate) fn deviation(&self, c: f64) -> f64 {
        let nodes = self.nodes(c, 0.0);
        let total: f64 = nodes.weights.iter().sum();
        let weighted = || nodes.losses.iter().zip(&nodes.weights);
        let mean = weighted().map(|(loss, weight)| loss * weight).sum::<f64>() / total;
        let variance = weighted().map(|(loss, weight)| (loss - mean).powi(2) * weight).sum::<f64>() / total;
        // The root of the variance bounds the mean deviation, and its integrand is analytic like that of M.
        1.001 * variance.sqrt()
    }

    /// The posterior probability that the record was sampled, given outcome `x`.
    fn inclusion(&self, x: f64) -> f64 {
        let odds = ((2.0 * x - 1.0) / (2.0 * self.sigma * self.sigma)).exp() * self.rate / (1.0 - self.rate);
        if odds.is_finite() { odds / (1.0 + odds) } else { 1.0 }
    }
}

fn loss_size(points: &[(f64, f64)]) -> f64 {
    points.iter().map(|point| point.0.abs()).fold(0.0, f64::max)
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
                    let (ln, error) = law.ln_moment(c);
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
        for side in [Side::Remove, Side::Add] {
            let law = SampledGaussian { sigma: 1.3, rate: 0.05, side };
            for c in [0.3, 2.0, 9.0] {
                let (excess, (ln, _)) = (law.excess(c).0, law.ln_moment(c));
                assert!((excess - ln.exp_m1()).abs() < 1e-12 * (1.0 + excess), "{side:?} {c}");
            }
        }
    }

    /// `|M(c+it)| <= variation / t` and `| |M(c+it)| - |M(c+is)| | <= deviation |t - s|`, where both can be computed.
    #[test]
    fn decay_bounds_hold() {
        for side in [Side::Remove, Side::Add, Side::Opposite] {
            let law = SampledGaussian { sigma: 0.9, rate: 0.1, side };
            let c = 2.5;
            let (variation, deviation) = (law.variation(c), law.deviation(c));
            let size = |t: f64| {
                let nodes = law.nodes(c, t);
                let mut terms = vec![Complex64::ZERO; nodes.losses.len()];
                nodes.turn(t, &mut terms);
                terms.iter().sum::<Complex64>().norm() / nodes.weights.iter().sum::<f64>()
            };
            let mut last = 1.0;
            for i in 1..200 {
                let t = 0.25 * f64::from(i);
                assert!(size(t) <= variation / t + 1e-12, "{side:?} {t}");
                assert!((size(t) - last).abs() <= 0.25 * deviation + 1e-12, "{side:?} {t}");
                last = size(t);
            }
        }
    }
}
