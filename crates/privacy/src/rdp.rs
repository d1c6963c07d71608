//! Rényi differential privacy: the loss at any real order above 1, and its conversion to `(epsilon, delta)`.
//!
//! Orders are not taken from a list: the conversion searches all of them. Each value is an upper bound in floating point.

use crate::gdp::VANISHING;
use crate::interval::{best_bound, larger, largest, probability_above, smaller};
use crate::mechanism::{Adjacency, Mechanism, Noise, Sampling, check_delta};
use crate::pld::{self, descend, minimum};
use crate::quadrature::{SampledGaussian, Side};
use crate::special::{UNIT, ln_add};
use crate::{Result, require};

/// The Rényi loss of a mechanism at one order, rounded up.
///
/// ```
/// use sottovoce_privacy::{Adjacency, Mechanism, rdp};
/// let gaussian = Mechanism::gaussian(2.0)?;
/// let loss = rdp::loss(&gaussian, Adjacency::AddRemove, 8.0)?;
/// assert!((loss - 8.0 / (2.0 * 4.0)).abs() < 1e-12);
/// # Ok::<(), sottovoce_privacy::Error>(())
/// ```
pub fn loss(mechanism: &Mechanism, adjacency: Adjacency, order: f64) -> Result<f64> {
    Curve::new(mechanism, adjacency)?.at(order)
}

/// A mechanism prepared for evaluation at many orders.
pub(crate) enum Curve {
    /// `order * half_mu_squared`.
    Gaussian { half_mu_squared: f64 },
    /// Laplace noise, loss at most `shift`.
    Laplace { shift: f64 },
    /// Poisson-sampled Gaussian, a record added or removed: removing is the worse direction (Mironov et al. 2019).
    Sampled(SampledGaussian),
    /// Anything else: laws that dominate it, cut at some loss; what lies beyond is bounded by the Gaussian whose Rényi loss
    /// is at least as large at every order (`mu²`; none where the loss is bounded and nothing lies beyond).
    Dominated { laws: Vec<pld::Dominating>, mu_squared: Option<f64> },
}

impl Curve {
    pub(crate) fn new(mechanism: &Mechanism, adjacency: Adjacency) -> Result<Self> {
        let doubled = if adjacency == Adjacency::Replace { 2.0 } else { 1.0 };
        Ok(match (mechanism.noise(), mechanism.sampling()) {
            (Noise::Gaussian { noise_multiplier }, Sampling::Everyone) => {
                Self::Gaussian { half_mu_squared: 0.5 * (doubled / noise_multiplier).powi(2) }
            }
            (Noise::Laplace { scale }, Sampling::Everyone) => Self::Laplace { shift: doubled / scale },
            (Noise::Gaussian { noise_multiplier }, Sampling::Poisson { rate }) => {
                let side = if adjacency == Adjacency::Replace { Side::Opposite } else { Side::Remove };
                Self::Sampled(SampledGaussian { sigma: noise_multiplier, rate, side })
            }
            (noise, _) => {
                // Neither sampling nor rounding to a grid makes a Gaussian lose more (convexity; Canonne et al. 2020).
                let mu = match noise {
                    Noise::Gaussian { noise_multiplier } => Some(doubled / noise_multiplier),
                    Noise::DiscreteGaussian { sigma, contribution } => {
                        Some(doubled * f64::from(contribution) / sigma)
                    }
                    _ => None,
                };
                let laws = pld::dominating(mechanism, adjacency)?;
                Self::Dominated { laws, mu_squared: mu.map(|mu| mu * mu) }
            }
        })
    }

    /// The loss at `order > 1`.
    pub(crate) fn at(&self, order: f64) -> Result<f64> {
        require(order > 1.0 && order.is_finite(), "order", order, "give a finite number above 1")?;
        let value = match self {
            Self::Gaussian { half_mu_squared } => order * half_mu_squared,
            Self::Laplace { shift } => laplace(*shift, order),
            Self::Sampled(sampled) => sampled_loss(sampled, order),
            Self::Dominated { laws, mu_squared } => {
                largest(0.0, laws.iter().map(|law| dominated(law, *mu_squared, order)))
            }
        };
        // What could not be formed is a loss without bound, not one of 0.
        Ok(if value.is_nan() { f64::INFINITY } else { value * (1.0 + 8.0 * UNIT) })
    }
}

/// The Rényi loss of a law below a lattice law, a coarse continuation of it, and a rest. The rest has the largest loss, where
/// losses are bounded; else it is at most `e^(-s y) M(c + s)` for every `s >= 0`, with the loss `y` before sampling and the
/// moments `M` of the unsampled Gaussian, which are larger. The loss is never more than the largest one, or than that of the
/// unsampled Gaussian.
fn dominated(law: &pld::Dominating, mu_squared: Option<f64>, order: f64) -> f64 {
    let c = order - 1.0;
    let ln_rest = match (law.rest > 0.0, law.largest, mu_squared) {
        (false, ..) => f64::NEG_INFINITY,
        (true, Some(largest), _) => law.rest.ln() + c * largest,
        (true, None, Some(mu_squared)) => {
            let s = larger(law.base / mu_squared - 0.5 - c, 0.0);
            0.5 * mu_squared * (c + s) * (c + s + 1.0) - s * law.base
        }
        (true, None, None) => f64::INFINITY,
    };
    let beyond = law.beyond.iter().filter(|(_, mass)| *mass > 0.0);
    let ln_beyond = beyond.map(|(loss, mass)| mass.ln() + c * loss).fold(ln_rest, ln_add);
    // Near 1 the moment is known by its excess, far from it by its logarithm.
    let excess = law.lattice.excess(c) + ln_beyond.exp();
    let ln = if excess < 1e6 { excess.ln_1p() } else { ln_add(law.lattice.ln_moment(c), ln_beyond) };
    let cap = mu_squared.map_or(f64::INFINITY, |mu_squared| 0.5 * order * mu_squared);
    best_bound([larger(ln, 0.0) / c, cap, law.largest.unwrap_or(f64::INFINITY)])
}

fn laplace(shift: f64, order: f64) -> f64 {
    // ln( a/(2a-1) e^((a-1) s) + (a-1)/(2a-1) e^(-a s) ) / (a-1)
    let weight = 2.0 * order - 1.0;
    let (up, down) =
        ((order / weight).ln() + (order - 1.0) * shift, ((order - 1.0) / weight).ln() - order * shift);
    // At orders near 1 and small shifts the logarithm is of a number near 1: take the excess over 1 instead.
    let excess =
        (order * ((order - 1.0) * shift).exp_m1() + (order - 1.0) * (-order * shift).exp_m1()) / weight;
    let ln = if excess < 0.5 { excess.ln_1p() } else { ln_add(up, down) };
    smaller(ln / (order - 1.0), shift)
}

fn sampled_loss(sampled: &SampledGaussian, order: f64) -> f64 {
    let c = order - 1.0;
    // Sampling never adds to a loss: that of the unsampled Gaussian bounds it.
    let distance = if sampled.side == Side::Opposite { 2.0 } else { 1.0 };
    let unsampled = 0.5 * order * (distance / sampled.sigma).powi(2);
    let by_excess = sampled.excess(c).map(|(excess, error)| excess + error).filter(|excess| *excess < 1e6);
    let loss = match by_excess {
        Some(excess) => Some(excess.ln_1p() / c),
        None => sampled.ln_moment(c).map(|(ln, error)| larger(ln + error, 0.0) / c),
    };
    best_bound([unsampled, loss.unwrap_or(f64::INFINITY)])
}

/// The epsilon that `rdp` at `order` promises at `delta` (Balle et al. 2020, Canonne et al. 2020), rounded up.
pub fn epsilon_at(order: f64, rdp: f64, delta: f64) -> f64 {
    // KL is at most the Rényi divergence of any higher order; Bretagnolle-Huber then bounds delta at epsilon 0.
    if delta * delta * (1.0 - 8.0 * UNIT) > -(-rdp).exp_m1() * (1.0 + 8.0 * UNIT) {
        return 0.0;
    }
    let (gain, cost) = ((-1.0 / order).ln_1p(), (delta.ln() + order.ln()) / (order - 1.0));
    let rounding = 16.0 * UNIT * (rdp + gain.abs() + (delta.ln().abs() + order.ln()) / (order - 1.0));
    larger(rdp + gain - cost + rounding, 0.0)
}

/// Delta of a composition at `epsilon`, by its best order (the same conversion, solved for delta), rounded up.
pub(crate) fn delta(events: &[(Mechanism, u64)], adjacency: Adjacency, epsilon: f64) -> Result<f64> {
    let curves = curves(events, adjacency)?;
    let at = |ln_c: f64| {
        let c = ln_c.exp();
        let rdp = total(&curves, 1.0 + c);
        // ln delta = c (rdp - epsilon) + c ln(1 - 1/order) - ln(order).
        let rounding = 16.0 * UNIT * (1.0 + c * (rdp + epsilon) + c.ln_1p());
        c * (rdp - epsilon) + pld::ln_peak(c) + rounding
    };
    let best = descend(1.5, 0.5, -12.0, 12.0, at);
    let ln_c = minimum(best - 0.5, best + 0.5, 16, at);
    Ok(probability_above(best_bound([at(best), at(ln_c)]).exp() + VANISHING))
}

fn curves(events: &[(Mechanism, u64)], adjacency: Adjacency) -> Result<Vec<(Curve, f64)>> {
    events.iter().map(|(mechanism, count)| Ok((Curve::new(mechanism, adjacency)?, *count as f64))).collect()
}

/// The Rényi loss of all at an order above 1, so that nothing can be refused.
fn total(curves: &[(Curve, f64)], order: f64) -> f64 {
    let each = curves.iter().map(|(curve, count)| count * curve.at(order).unwrap_or(f64::INFINITY));
    each.sum::<f64>() * (1.0 + (2.0 + curves.len() as f64) * UNIT)
}

/// Epsilon of a composition at `delta`, by its best order: `(epsilon, order)`.
///
/// ```
/// use sottovoce_privacy::{Adjacency, Mechanism, rdp};
/// let step = Mechanism::gaussian(1.1)?.poisson(0.01)?;
/// let (epsilon, order) = rdp::epsilon(&[(step, 1000)], Adjacency::AddRemove, 1e-5)?;
/// assert!(epsilon < 1.80 && order > 5.0);
/// # Ok::<(), sottovoce_privacy::Error>(())
/// ```
pub fn epsilon(events: &[(Mechanism, u64)], adjacency: Adjacency, delta: f64) -> Result<(f64, f64)> {
    check_delta(delta)?;
    let curves = curves(events, adjacency)?;
    let at = |ln_c: f64| {
        let order = 1.0 + ln_c.exp();
        epsilon_at(order, total(&curves, order), delta)
    };
    // The conversion is close to unimodal: walk down its valley, then a golden section finds the bottom. Near order 1
    // it may drop to 0 a second time, where the divergence itself is small enough.
    let best = descend(1.5, 0.5, -12.0, 12.0, at);
    let best = if at(-7.0) < at(best) { (-7.0, at(-7.0)) } else { (best, at(best)) };
    let ln_c = minimum(best.0 - 0.5, best.0 + 0.5, 16, at);
    let refined = at(ln_c);
    Ok(if refined <= best.1 { (refined, 1.0 + ln_c.exp()) } else { (best.1, 1.0 + best.0.exp()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rényi losses of everything Gaussian stay below those of the Gaussian itself, and reach them where they must.
    #[test]
    fn cut_laws_lose_nothing_at_high_orders() {
        // (1, 1) contributions: the discrete Gaussian's loss at integer orders is exactly order/2 sigma² (its shifts by
        // whole steps are equally likely).
        let discrete = Mechanism::discrete_gaussian(1.0, 1).unwrap();
        for order in [2.0, 16.0, 64.0, 500.0] {
            let value = loss(&discrete, Adjacency::AddRemove, order).unwrap();
            assert!((value / (0.5 * order) - 1.0).abs() < 1e-9, "{order}: {value}");
        }
        // One of two records in a batch: neighbours {1, -1} and {-1, -1} release N(±1, 1) mixtures whose divergence is
        // that of a sampled Gaussian at distance 2.
        let batch = Mechanism::gaussian(1.0).unwrap().fixed_batch(1, 2).unwrap();
        let attained = SampledGaussian { sigma: 0.5, rate: 0.5, side: Side::Remove };
        for order in [2.0, 8.0, 32.0] {
            let value = loss(&batch, Adjacency::Replace, order).unwrap();
            let truth = sampled_loss(&attained, order);
            assert!(
                value >= truth * (1.0 - 1e-12) && value <= 2.0 * order * (1.0 + 1e-12),
                "{order}: {value} {truth}"
            );
            assert!(order > 8.0 || value <= truth + 5e-2, "{order}: {value} {truth}");
        }
    }

    #[test]
    fn orders_must_be_above_one() {
        for order in [1.0, 0.5, f64::NAN, f64::INFINITY] {
            assert!(loss(&Mechanism::gaussian(1.0).unwrap(), Adjacency::AddRemove, order).is_err());
        }
    }
}
