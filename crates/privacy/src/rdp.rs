//! Rényi differential privacy: the loss at any real order above 1, and its conversion to `(epsilon, delta)`.
//!
//! Orders are not taken from a list: the conversion searches all of them. Each value is an upper bound in floating point.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::composition::Bounded;
use crate::event::Event;
use crate::gdp::VANISHING;
use crate::interval::{best_bound, larger, largest, probability_above, smallest};
use crate::mechanism::{Adjacency, Mechanism, Noise, Sampling, check_delta};
use crate::pld::{self, descend, minimum};
use crate::quadrature::{SampledGaussian, Side};
use crate::repeated::Prepared;
use crate::special::{UNIT, ln_add};
use crate::{Result, currencies, pure, require};

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
    loss_of(&Event::from(*mechanism), adjacency, order)
}

/// The same of any release.
pub(crate) fn loss_of(event: &Event, adjacency: Adjacency, order: f64) -> Result<f64> {
    Curve::new(event, adjacency)?.at(order)
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
    /// Losses within `epsilon` of each other.
    Range { epsilon: f64 },
    /// Known by a bound on its Rényi losses alone.
    Bound(Arc<Prepared>),
}

impl Curve {
    pub(crate) fn new(event: &Event, adjacency: Adjacency) -> Result<Self> {
        let event = event.clone().known(adjacency)?;
        let distance = adjacency.distance();
        // Neither sampling nor mixing makes a Gaussian lose more than where it is moved farthest.
        if let (Event::Group(_), Some(mu)) = (&event, event.shift(adjacency)) {
            return Ok(Self::Gaussian { half_mu_squared: 0.5 * mu * mu });
        }
        Ok(match (event.noise(), event.sampling()) {
            (Some(Noise::Gaussian { noise_multiplier }), Some(Sampling::Everyone)) => {
                Self::Gaussian { half_mu_squared: 0.5 * (distance / noise_multiplier).powi(2) }
            }
            (Some(Noise::Laplace { scale }), Some(Sampling::Everyone)) => {
                Self::Laplace { shift: distance / scale }
            }
            (Some(Noise::PermuteAndFlip { epsilon }), Some(Sampling::Everyone)) => {
                Self::Laplace { shift: epsilon }
            }
            (Some(Noise::Exponential { epsilon }), Some(Sampling::Everyone)) => Self::Range { epsilon },
            (Some(Noise::Gaussian { noise_multiplier }), Some(Sampling::Poisson { rate })) => {
                let side = if adjacency == Adjacency::Replace { Side::Opposite } else { Side::Remove };
                Self::Sampled(SampledGaussian { sigma: noise_multiplier, rate, side })
            }
            _ => {
                // Neither sampling nor mixing nor rounding to a grid makes a Gaussian lose more than where it is moved
                // farthest (convexity; Canonne et al. 2020).
                let mu_squared = event.shift(adjacency).map(|mu| mu * mu);
                Self::Dominated { laws: pld::dominating(&event, adjacency)?, mu_squared }
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
            Self::Range { epsilon } => range(*epsilon, order),
            Self::Bound(bound) => bound.at(order),
        };
        // What could not be formed is a loss without bound, not one of 0.
        Ok(if value.is_nan() { f64::INFINITY } else { value * (1.0 + 8.0 * UNIT) })
    }
}

/// The Rényi loss of a law below a lattice law, a coarse continuation of it, and a rest. The rest has the largest loss, where
/// losses are bounded; else it is at most `k^order e^(-s y) M(c + s)` for every `s >= 0`, with the loss `y` before sampling, the
/// moments `M` of the unsampled Gaussian, and the share `k` of its likelihood ratios that sampling leaves. The loss is never more than the largest one, or than that of the
/// unsampled Gaussian.
fn dominated(law: &pld::Dominating, mu_squared: Option<f64>, order: f64) -> f64 {
    let c = order - 1.0;
    let ln_rest = match (law.rest == 0.0, law.largest, mu_squared) {
        (true, ..) => f64::NEG_INFINITY,
        (false, Some(largest), _) => law.rest.ln() + c * largest,
        (false, None, Some(mu_squared)) => {
            let s = larger(law.base / mu_squared - 0.5 - c, 0.0);
            // Of the unsampled moment, as much as sampling leaves of its likelihood ratios.
            0.5 * mu_squared * (c + s) * (c + s + 1.0) - s * law.base + order * law.ln_share
        }
        (false, None, None) => f64::INFINITY,
    };
    let beyond = law.beyond.iter().filter(|(_, mass)| *mass != 0.0);
    let ln_beyond = beyond.map(|(loss, mass)| mass.ln() + c * loss).fold(ln_rest, ln_add);
    // Near 1 the moment is known by its excess, far from it by its logarithm.
    let excess = law.lattice.excess(c) + ln_beyond.exp();
    let ln = if excess < 1e6 { excess.ln_1p() } else { ln_add(law.lattice.ln_moment(c), ln_beyond) };
    let cap = mu_squared.map_or(f64::INFINITY, |mu_squared| 0.5 * order * mu_squared);
    best_bound([larger(ln, 0.0) / c, cap, law.largest.unwrap_or(f64::INFINITY)])
}

fn laplace(shift: f64, order: f64) -> f64 {
    // ln( a/(2a-1) e^((a-1) s) + (a-1)/(2a-1) e^(-a s) ) / (a-1)
    let (c, weight) = (order - 1.0, 2.0 * order - 1.0);
    // At orders near 1 and small shifts the logarithm is of a number near 1: take the excess over 1 instead. What is of the
    // first order in the shift cancels; it is left out on both sides.
    let excess = (order * beyond_line(c * shift) + c * beyond_line(-order * shift)) / weight;
    let ln = if excess < 0.5 {
        excess.ln_1p()
    } else {
        ln_add((order / weight).ln() + c * shift, (c / weight).ln() - order * shift)
    };
    best_bound([ln / c * (1.0 + 64.0 * UNIT), shift])
}

/// `e^x - 1 - x`, with its relative accuracy.
fn beyond_line(x: f64) -> f64 {
    if x.abs() > 0.5 {
        return x.exp_m1() - x;
    }
    // x²/2 (1 + x/3 (1 + x/4 (...))).
    0.5 * x * x * (3..=17).rev().fold(1.0, |series, n| 1.0 + x / f64::from(n) * series)
}

/// The worst of all pairs of two losses that are `epsilon` apart (the loss is convex in the likelihood ratio, so the worst
/// has its mass at both ends): with `r = e^-epsilon` and the larger likelihood ratio `x`, the moment is
/// `(x^(a-1) (1 - r^a) - x^a (r - r^a)) / (1 - r)`, largest at `x = (a-1)(1 - r^a) / (a (r - r^a))`.
fn range(epsilon: f64, order: f64) -> f64 {
    let c = order - 1.0;
    // `1 - r`, `1 - r^a` and `(r - r^a)/r`.
    let (whole, upper, inner) =
        (-(-epsilon).exp_m1(), -(-order * epsilon).exp_m1(), -(-c * epsilon).exp_m1());
    let ln_x = epsilon + c.ln() - order.ln() + upper.ln() - inner.ln();
    // `1 - x (r - r^a)/(1 - r^a)` is `1/a` at the best x.
    let ln = c * ln_x + upper.ln() - whole.ln() - order.ln();
    // Near order 1 the moment is near 1 and its logarithm rounds: bounded there by the concentrated loss of a range.
    let logarithms = c.ln().abs() + order.ln() + upper.ln().abs() + inner.ln().abs() + whole.ln().abs();
    let rounding = 32.0 * UNIT * (1.0 + c) * (1.0 + epsilon + logarithms);
    let concentrated = order * epsilon * epsilon / 8.0 * (1.0 + 8.0 * UNIT);
    best_bound([larger(ln + rounding, 0.0) / c, concentrated, epsilon])
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

/// Several releases, prepared for evaluation at many orders.
pub(crate) struct Total {
    all: Vec<Known>,
    /// Losses at the orders `1 + e^(i / GRID)` that were asked for, by `i`: selections in each other ask for the same ones.
    known: Mutex<HashMap<u64, f64>>,
}

/// What is known of so many releases of a kind.
struct Known {
    curve: Curve,
    count: f64,
    /// The Rényi loss is at most this times the order ...
    rho: f64,
    /// ... and at most this.
    largest: f64,
}

impl Known {
    fn at(&self, order: f64) -> f64 {
        let own = self.curve.at(order).unwrap_or(f64::INFINITY);
        best_bound([own, order * self.rho * (1.0 + 4.0 * UNIT), self.largest])
    }
}

/// Searches for delta look at whole multiples of this share of the logarithm of an order less 1.
const GRID: f64 = 256.0;

impl Total {
    /// Releases whose laws are known, and those that are known by a bound.
    pub(crate) fn new(events: &[(Event, u64)], bounds: &[Bounded], adjacency: Adjacency) -> Result<Self> {
        let mut all = Vec::new();
        for (event, count) in events {
            all.push(Known {
                curve: Curve::new(event, adjacency)?,
                count: *count as f64,
                rho: currencies::rho(event, adjacency),
                largest: pure::upper(event, adjacency).unwrap_or(f64::INFINITY),
            });
        }
        for Bounded { count, prepared, .. } in bounds {
            all.push(Known {
                curve: Curve::Bound(Arc::clone(prepared)),
                count: *count as f64,
                rho: f64::INFINITY,
                largest: prepared.largest().unwrap_or(f64::INFINITY),
            });
        }
        Ok(Self { all, known: Mutex::default() })
    }

    /// The Rényi loss of all at an order above 1, so that nothing can be refused.
    pub(crate) fn at(&self, order: f64) -> f64 {
        let each = self.all.iter().map(|known| known.count * known.at(order));
        each.sum::<f64>() * (1.0 + (2.0 + self.all.len() as f64) * UNIT)
    }

    /// The same at the order `1 + e^(i / GRID)`, computed once.
    fn at_grid(&self, i: f64) -> f64 {
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(loss) = known().get(&i.to_bits()) {
            return *loss;
        }
        let loss = self.at(1.0 + (i / GRID).exp());
        known().insert(i.to_bits(), loss);
        loss
    }

    /// Delta at `epsilon`, by its best order (the same conversion, solved for delta), rounded up.
    pub(crate) fn delta(&self, epsilon: f64) -> f64 {
        let at = |i: f64| self.ln_delta(i, epsilon);
        let best = walked(at);
        let refined = minimum(best - 0.5 * GRID, best + 0.5 * GRID, 16, at);
        probability_above(best_bound([at(best), at(refined)]).exp() + VANISHING)
    }

    /// The same by the best order of the grid, whose losses are known from other questions.
    pub(crate) fn quick_delta(&self, epsilon: f64) -> f64 {
        let at = |i: f64| self.ln_delta(i, epsilon);
        let step = |from, step| descend(from, step, -13.0 * GRID, 13.0 * GRID, at);
        let best = step(step(step(walked(at), 64.0), 8.0), 1.0);
        probability_above(at(best).exp() + VANISHING)
    }

    /// `ln delta = c (rdp - epsilon) + c ln(1 - 1/order) - ln(order)` at the order `1 + c`, rounded up.
    fn ln_delta(&self, i: f64, epsilon: f64) -> f64 {
        let (c, rdp) = ((i / GRID).exp(), self.at_grid(i));
        let rounding = 16.0 * UNIT * (1.0 + c * (rdp + epsilon) + c.ln_1p());
        c * (rdp - epsilon) + pld::ln_peak(c) + rounding
    }

    /// Epsilon at `delta`, by its best order: `(epsilon, order)`.
    pub(crate) fn epsilon(&self, delta: f64) -> (f64, f64) {
        self.epsilons(&[(delta, f64::INFINITY)])[0]
    }

    /// Epsilon at each delta, by its best order. That order is refined only where epsilon may fall below the second number
    /// beside delta; any order gives a bound.
    pub(crate) fn epsilons(&self, questions: &[(f64, f64)]) -> Vec<(f64, f64)> {
        questions.iter().map(|&(delta, enough)| self.best_order(delta, enough)).collect()
    }

    /// Epsilon at `delta` by its best order.
    fn best_order(&self, delta: f64, enough: f64) -> (f64, f64) {
        let at = |i: f64| epsilon_at(1.0 + (i / GRID).exp(), self.at_grid(i), delta);
        // The conversion is close to unimodal: walk down its valley. Near order 1 it may drop to 0 a second time, where the
        // divergence itself is small enough.
        let near_one = -7.0 * GRID;
        let found = walked(at);
        let found = if at(near_one) < at(found) { near_one } else { found };
        let loss = |ln_c: f64| self.at_grid(ln_c * GRID);
        let answer = |i: f64| (at(i), 1.0 + (i / GRID).exp());
        let walked = answer(found);
        if enough.is_finite() && least_around(found / GRID, loss, delta) > 1.001 * enough {
            return walked;
        }
        let refined = answer(minimum(found - 0.5 * GRID, found + 0.5 * GRID, 16, at));
        if refined.0 <= walked.0 { refined } else { walked }
    }
}

/// The lowest point of a function of the grid's orders, by large steps.
fn walked(at: impl Fn(f64) -> f64) -> f64 {
    descend(1.5 * GRID, 0.5 * GRID, -12.0 * GRID, 12.0 * GRID, at)
}

/// About the least epsilon that orders within a step of a walk could give: `c loss(1 + c)` is convex in `c`, and so lies above
/// the lines through two neighbours on either side.
fn least_around(ln_c: f64, loss: impl Fn(f64) -> f64, delta: f64) -> f64 {
    let points = [-1.0, -0.5, 0.0, 0.5, 1.0].map(|step| ((ln_c + step).exp(), loss(ln_c + step)));
    let line = |i: usize, c: f64| {
        let ((a, at_a), (b, at_b)) = (points[i], points[i + 1]);
        (a * at_a * (b - c) + b * at_b * (c - a)) / (b - a)
    };
    let least = |k: usize, share: f64| {
        let c = points[k].0 + share * (points[k + 1].0 - points[k].0);
        (larger(line(k - 1, c), line(k + 1, c)) - delta.ln() + pld::ln_peak(c)) / c
    };
    let inner = [1, 2].into_iter().flat_map(|k| (0..=16).map(move |i| (k, f64::from(i) / 16.0)));
    smallest(f64::INFINITY, inner.map(|(k, share)| least(k, share)))
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
    let events: Vec<(Event, u64)> =
        events.iter().map(|(mechanism, count)| ((*mechanism).into(), *count)).collect();
    Ok(Total::new(&events, &[], adjacency)?.epsilon(delta))
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

    /// Where most of the mass has losses beyond the range of exponents, the loss is no less than what one part of the mixture alone gives.
    #[test]
    fn losses_beyond_the_range_of_exponents_count() {
        let at = |mechanism: Mechanism, adjacency, order| loss(&mechanism, adjacency, order).unwrap();
        let (add_remove, replace) = (Adjacency::AddRemove, Adjacency::Replace);
        // E_Q[(1-q+qL)^a] >= q^a E_Q[L^a].
        for (scale, rate) in [(0.001, 0.9999), (0.001, 0.6), (0.0014, 0.9), (0.0012, 0.501)] {
            for order in [1.01, 1.5, 2.0, 8.0, 100.0_f64] {
                let least = laplace(1.0 / scale, order) + order * f64::ln(rate) / (order - 1.0);
                let noise = Mechanism::laplace(scale).unwrap();
                let found = at(noise.poisson(rate).unwrap(), add_remove, order);
                assert!(found >= least - 1e-9 * least.abs(), "{scale} {rate} {order}: {found} {least}");
                let steps = (1.0 / scale).round() as u32;
                let discrete = Mechanism::discrete_laplace(1.0, steps).unwrap();
                let unsampled = at(discrete, add_remove, order);
                let least = unsampled + order * f64::ln(rate) / (order - 1.0);
                let found = at(discrete.poisson(rate).unwrap(), add_remove, order);
                assert!(found >= least - 1e-9 * least.abs(), "{steps} {rate} {order}: {found} {least}");
            }
        }
        // Shifts by whole steps are equally likely: at whole orders the discrete Gaussian has the loss of the continuous one, however much of it underflows.
        for (sigma, contribution) in [(0.02, 1), (0.0508, 4), (0.07204, 7), (0.08, 2), (0.1, 1), (0.3, 3)] {
            let noise = Mechanism::discrete_gaussian(sigma, contribution).unwrap();
            for order in [2.0, 3.0, 10.0] {
                let truth = 0.5 * order * (f64::from(contribution) / sigma).powi(2);
                let found = at(noise, add_remove, order);
                assert!(
                    (found / truth - 1.0).abs() < 1e-9,
                    "{sigma} {contribution} {order}: {found} {truth}"
                );
            }
        }
        let noise = Mechanism::discrete_gaussian(0.02, 1).unwrap();
        assert!(at(noise, add_remove, 1.5) >= 1251.386 && at(noise, add_remove, 2.5) >= 2917.128);
        assert!(at(Mechanism::discrete_gaussian(0.0508, 4).unwrap(), replace, 1.3) >= 15999.6);
        // By integration in many digits: where `P` underflows, `Q` does not.
        let noise = Mechanism::gaussian(0.0236).unwrap().poisson(0.9).unwrap();
        for (order, truth) in
            [(1.000_001, 809.971), (1.000_01, 810.306), (1.000_1, 813.574), (1.001, 839.612)]
        {
            let found = at(noise, replace, order);
            assert!(found >= truth && found < truth + 0.01, "{order}: {found} {truth}");
        }
        // By tests of two outcomes, computed elsewhere.
        let noise = Mechanism::laplace(0.001_129_442_099_223_945_5).unwrap();
        assert!(at(noise.poisson(0.999_198_904_437_698_8).unwrap(), replace, 2.0) >= 891.9);
        let lots = Mechanism::gaussian(0.03).unwrap().truncated_poisson(0.999, 1000, 900).unwrap();
        assert!(at(lots, add_remove, 1.001) >= 2118.9 && at(lots, add_remove, 1.01) >= 2233.8);
        let noise = Mechanism::discrete_laplace(0.108_923_464_633_731_23, 1347).unwrap();
        assert!(at(noise.fixed_batch(14, 17).unwrap(), add_remove, 2.0) >= 24732.0);
    }

    /// Against sixty digits: what lies beyond a law on a lattice is sampled, too.
    #[test]
    fn sampled_whole_numbers_are_amplified_at_high_orders() {
        let noise = Mechanism::discrete_gaussian(5.02, 5).unwrap().poisson(1.02e-5).unwrap();
        for (order, truth) in [(3.7, 3.2660e-10), (16.0, 1.41278e-9)] {
            let found = loss(&noise, Adjacency::AddRemove, order).unwrap();
            assert!(found >= truth && found < 5.0 * truth, "{order}: {found:e}");
        }
        // And once more where sampling is no rarity: 62.5 was said.
        let noise = Mechanism::discrete_gaussian(4.0, 1).unwrap().poisson(0.01).unwrap();
        let found = 1000.0 * loss(&noise, Adjacency::AddRemove, 2.0).unwrap();
        assert!((found - 0.006_449_4).abs() < 1e-6, "{found}");
    }

    /// Against the series in the shift: the first order of both exponentials cancels, and would leave only its rounding.
    #[test]
    fn small_shifts_keep_their_digits() {
        for shift in [1e-9, 3e-9, 1e-7, 1e-5, 1e-3] {
            for order in [1.0 + 1e-9, 1.0 + 1e-6, 1.5, 2.0, 10.0, 1e3] {
                // ln E = a c s²/2 - a² c² ... : a/2 s² of the loss, less at most (a s)³.
                let (value, first) = (laplace(shift, order), 0.5 * order * shift * shift);
                let next = first * order * shift;
                assert!(value <= first * (1.0 + 1e-14) && value >= first - next, "{shift} {order}: {value}");
                assert!(order * shift > 1e-7 || value >= first * (1.0 - 1e-6), "{shift} {order}: {value}");
            }
        }
        for x in [-0.5, -0.3, -1e-3, 1e-9, 0.1, 0.5_f64] {
            let (near, far) = (beyond_line(x), x.exp_m1() - x);
            assert!((near - far).abs() <= 4.0 * UNIT * x.abs(), "{x}: {near} {far}");
        }
    }

    #[test]
    fn orders_must_be_above_one() {
        for order in [1.0, 0.5, f64::NAN, f64::INFINITY] {
            assert!(loss(&Mechanism::gaussian(1.0).unwrap(), Adjacency::AddRemove, order).is_err());
        }
    }
}
