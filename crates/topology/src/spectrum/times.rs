//! From a spectral gap to numbers of steps: mixing times, Chebyshev acceleration and the stopping rules of the Muffliato paper.
//!
//! The stopping rules are the published ones (private averaging, "Muffliato"), so that runs can be compared with the
//! paper. One correction: with edges drawn with probabilities `p`, the expected squared distance to the mean
//! contracts by `1 - lambda_2(L_p) / 2` per step, since one half-sum removes half of `(x_v - x_w)²`; the paper's
//! `lambda(p)` must therefore be *half* the Fiedler value of the graph weighted by `p`. [`pairwise_rate`] gives that
//! number.

use super::{Spectrum, below_one, dense::DENSE_LIMIT};
use crate::{Error, Result, mixing::Mixing, require};
use serde::Serialize;

/// A quantity known between two bounds; both are infinite where nothing mixes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Interval {
    /// The truth is not smaller.
    pub lower: f64,
    /// The truth is not larger.
    pub upper: f64,
}

/// Bounds on the number of steps after which a walk is within total variation `eps` of uniform, from any start.
///
/// The standard ones for a reversible chain (Levin and Peres, *Markov Chains and Mixing Times*, Theorems 12.4 and
/// 12.5), here with a uniform stationary law: `(1/gap - 1) ln(1/(2 eps)) <= t_mix <= ln(n/eps) / gap`. A symmetric
/// matrix is reversible, so every [`Spectrum`] qualifies. The end of the gap's interval that makes the bound true is
/// used on each side.
pub fn mixing_time(spectrum: &Spectrum, nodes: usize, eps: f64) -> Result<Interval> {
    let remedy = "give a total-variation distance between 0 and 0.5, such as 0.25";
    require(eps > 0.0 && eps < 0.5, "eps", eps, remedy)?;
    let (low, high) = (spectrum.gap.lower().max(0.0), spectrum.gap.upper().min(1.0));
    if spectrum.gap.value == 0.0 {
        return Ok(Interval { lower: f64::INFINITY, upper: f64::INFINITY });
    }
    let lower = ((1.0 / high - 1.0) * (0.5 / eps).ln()).max(0.0);
    Ok(Interval { lower, upper: (nodes as f64 / eps).ln() / low })
}

/// The weight `gamma` of accelerated averaging, `x(t+1) = gamma W x(t) + (1 - gamma) x(t-1)`, for a spectral gap.
///
/// ```
/// use sottovoce_topology::spectrum::chebyshev_weight;
/// assert!((chebyshev_weight(1e-12)? - 2.0).abs() < 1e-5); // slow graphs lean on momentum ...
/// assert!((chebyshev_weight(1.0)? - 1.0718).abs() < 1e-4); // ... fast ones hardly
/// # Ok::<(), sottovoce_topology::Error>(())
/// ```
pub fn chebyshev_weight(gap: f64) -> Result<f64> {
    require_gap("gap", gap)?;
    Ok(2.0 * (1.0 - (gap * (1.0 - gap / 4.0)).sqrt()) / (1.0 - gap / 2.0).powi(2))
}

/// Steps of accelerated averaging (Muffliato, Thm. 2): `ceil(gap^(-1/2) ln(n max(1, spread / noise)))`.
///
/// `noise` is the variance added by each node and `spread` the mean squared distance of the true values to their
/// mean. The published error after them is `3 noise / n`.
pub fn accelerated_steps(gap: f64, nodes: usize, noise: f64, spread: f64) -> Result<u64> {
    require_gap("gap", gap)?;
    steps(gap.sqrt(), log_ratio(nodes, noise, spread)?)
}

/// Steps of randomised pairwise averaging (Muffliato, Thm. 3): `ceil(ln(n max(1, spread / noise)) / rate)`.
///
/// `rate` is the contraction of the expected squared distance per step, see [`pairwise_rate`]. The published error is
/// `2 noise / n`.
pub fn randomised_steps(rate: f64, nodes: usize, noise: f64, spread: f64) -> Result<u64> {
    require_gap("rate", rate)?;
    steps(rate, log_ratio(nodes, noise, spread)?)
}

/// Averaging steps `K` per gradient step (Muffliato, Alg. 3): `ceil(gap^(-1/2) ln max(n, zeta² / (noise + rho²)))`.
///
/// `heterogeneity` is `zeta²`, the spread of the local gradients at the optimum, and `variance` is `rho²`, that of
/// their estimates.
pub fn optimisation_rounds(
    gap: f64,
    nodes: usize,
    heterogeneity: f64,
    noise: f64,
    variance: f64,
) -> Result<u64> {
    require_gap("gap", gap)?;
    require_nodes(nodes)?;
    require_finite("heterogeneity", heterogeneity, heterogeneity >= 0.0)?;
    require_finite("noise", noise, noise >= 0.0)?;
    require_finite("variance", variance, variance >= 0.0 && noise + variance > 0.0)?;
    steps(gap.sqrt(), (nodes as f64).max(heterogeneity / (noise + variance)).ln())
}

/// `(1 - lambda_2) / n`: the contraction rate when edge `{v, w}` is drawn with probability `2 W_vw / n`.
///
/// Only `lambda_2` counts: a half-sum is a projection and has no negative eigenvalues.
pub fn pairwise_rate(mixing: &Mixing) -> Result<f64> {
    Ok(below_one(mixing, mixing.nodes() <= DENSE_LIMIT)?.value / mixing.nodes() as f64)
}

/// `ln((n / noise) max(noise, spread))`.
fn log_ratio(nodes: usize, noise: f64, spread: f64) -> Result<f64> {
    require_nodes(nodes)?;
    require_finite("noise", noise, noise > 0.0)?;
    require_finite("spread", spread, spread >= 0.0)?;
    Ok((nodes as f64).ln() + (spread / noise).max(1.0).ln())
}

fn steps(rate: f64, log_ratio: f64) -> Result<u64> {
    let steps = (log_ratio / rate).ceil();
    if steps < 2f64.powi(63) {
        return Ok(steps as u64);
    }
    Err(Error::parameter("gap", rate, "the graph mixes too slowly for any run; add edges"))
}

pub(super) fn require_gap(field: &'static str, value: f64) -> Result<()> {
    let remedy = "it must be above 0 and at most 1; a gap of 0 means that the graph is in pieces, or bipartite without laziness";
    require(value > 0.0 && value <= 1.0, field, value, remedy)
}

fn require_nodes(nodes: usize) -> Result<()> {
    require(nodes > 0, "nodes", nodes, "give at least 1")
}

fn require_finite(field: &'static str, value: f64, holds: bool) -> Result<()> {
    let remedy = "give a finite number that is not negative (and positive where it divides)";
    require(holds && value.is_finite(), field, value, remedy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Graph, mixing::Weights};

    #[test]
    fn published_formulas() {
        // gap 1/4: 2 (1 - sqrt(15/64)) / (7/8)² = 1.347597...; Python decimal, 30 digits.
        assert!((chebyshev_weight(0.25).unwrap() - 1.347_597_274_707_782_2).abs() < 1e-14);
        // 2 ln(100 * 4) = 11.98 and 4 ln(100 * 4) = 23.97; without spread, 2 ln 100 = 9.2.
        assert_eq!(accelerated_steps(0.25, 100, 0.5, 2.0).unwrap(), 12);
        assert_eq!(randomised_steps(0.25, 100, 0.5, 2.0).unwrap(), 24);
        assert_eq!(accelerated_steps(0.25, 100, 0.5, 0.1).unwrap(), 10);
        // 2 ln max(100, 900 / 3) = 11.4 and 2 ln 100 = 9.2.
        assert_eq!(optimisation_rounds(0.25, 100, 900.0, 1.0, 2.0).unwrap(), 12);
        assert_eq!(optimisation_rounds(0.25, 100, 90.0, 1.0, 2.0).unwrap(), 10);
    }

    #[test]
    fn inputs_outside_their_domain_are_refused() {
        for error in [
            chebyshev_weight(0.0).map(|_| 0),
            accelerated_steps(1.1, 10, 1.0, 1.0),
            accelerated_steps(f64::NAN, 10, 1.0, 1.0),
        ] {
            assert!(error.unwrap_err().to_string().contains("above 0 and at most 1"));
        }
        for (error, field) in [
            (randomised_steps(0.5, 0, 1.0, 1.0), "nodes"),
            (randomised_steps(0.5, 10, 0.0, 1.0), "noise"),
            (randomised_steps(0.5, 10, 1.0, f64::INFINITY), "spread"),
            (optimisation_rounds(0.5, 10, 1.0, 0.0, 0.0), "variance"),
            (randomised_steps(1e-19, 10, 1.0, 1.0), "gap"),
        ] {
            assert!(error.unwrap_err().to_string().starts_with(&format!("`{field}` is ")));
        }
    }

    #[test]
    fn mixing_times_enclose_the_truth() {
        // Lazy complete graph on 4 nodes: W^t = uniform + g^t (I - uniform), g = 1/3, so TV is (3/4) 3^-t.
        let complete = Graph::from_edges(4, (0..4).flat_map(|u| (0..u).map(move |v| (u, v)))).unwrap();
        let spectrum = Spectrum::of(&Mixing::new(&complete, Weights::Metropolis).lazy(0.5).unwrap()).unwrap();
        for eps in [0.25, 0.01, 1e-6] {
            let truth = (0.75f64 / eps).ln() / 3f64.ln();
            let bound = mixing_time(&spectrum, 4, eps).unwrap();
            assert!(bound.lower <= truth && truth <= bound.upper, "{bound:?} {truth}");
            assert!(bound.upper < 6.0 * (truth + 1.0));
        }
        let error = mixing_time(&spectrum, 4, 0.5).unwrap_err().to_string();
        assert!(error.starts_with("`eps` is 0.5: give a total-variation distance between 0 and 0.5"));
        let still = Graph::from_edges(4, [(0, 1), (2, 3)]).unwrap();
        let still = Spectrum::of(&Mixing::new(&still, Weights::MetropolisPlusOne)).unwrap();
        assert_eq!(mixing_time(&still, 4, 0.1).unwrap().lower, f64::INFINITY);
    }

    #[test]
    fn the_pairwise_rate_is_the_expected_contraction() {
        // E[x' M x] over half-sums drawn with p = 2W/n, for the slowest x, compared with 1 - rate.
        let (n, pi) = (6usize, std::f64::consts::PI);
        let ring = Graph::from_edges(n, (0..n).map(|u| (u, (u + 1) % n))).unwrap();
        let mixing = Mixing::new(&ring, Weights::MetropolisPlusOne);
        let x: Vec<f64> = (0..n).map(|u| (2.0 * pi * u as f64 / n as f64).cos()).collect();
        let lost = |u: usize, v: usize| 2.0 * mixing.weight(u, v) / n as f64 * (x[u] - x[v]).powi(2) / 2.0;
        let expected =
            1.0 - ring.edges().map(|(u, v)| lost(u, v)).sum::<f64>() / x.iter().map(|x| x * x).sum::<f64>();
        assert!((expected - (1.0 - pairwise_rate(&mixing).unwrap())).abs() < 1e-12);
    }
}
