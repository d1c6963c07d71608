//! How wake-ups share a budget, up to a common factor.

use serde::{Deserialize, Serialize};

use super::{Law, Method, Request};
use crate::interval::{larger, smallest};

/// How an agent's wake-ups share its budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Allocation {
    /// Alike.
    Uniform,
    /// As printed: less and less, which is time reversed.
    Published,
    /// More and more, as late noise counts most: the least error that the corrected bound promises.
    Optimal,
}

/// Most kinds of noise where privacy-loss distributions are composed, each of which takes a transform.
const LEVELS: usize = 16;

/// The least share beside the largest, times the number of wake-ups: all that are raised to it take 1 % of a sum, at most.
const NEGLIGIBLE: f64 = 0.01;

/// The rates at which shares may grow: where several are in question, the one that is best by a closed form is taken.
pub(super) fn rates(request: &Request) -> &'static [f64] {
    match (request.allocation, request.law, request.method) {
        _ if request.factor == 1.0 || request.updates == 1 => &[0.0],
        (Allocation::Uniform, _, _) => &[0.0],
        (Allocation::Published, _, _) => &[-1.0 / 3.0],
        (Allocation::Optimal, _, Method::Sum) => &[1.0 / 3.0],
        (Allocation::Optimal, Law::Gaussian, _) => &[0.25],
        // Which of the two counts, sums or squares, depends on how large the epsilons are; none is worse than uniform.
        (Allocation::Optimal, _, _) => &[0.25, 1.0 / 3.0, 0.0],
    }
}

/// `factor^(-rate k)`, the largest 1, none negligible.
pub(super) fn of(request: &Request, rate: f64) -> Vec<f64> {
    let last = request.updates - 1;
    let decay = rate.abs() * -request.factor.ln();
    let least = NEGLIGIBLE / request.updates as f64;
    let exact: Vec<f64> = (0..=last)
        .map(|k| if rate >= 0.0 { last - k } else { k })
        .map(|away| larger((-decay * away as f64).exp(), least))
        .collect();
    if request.composes() && request.updates > LEVELS && decay > 0.0 { levelled(&exact) } else { exact }
}

/// Shares rounded down (towards more noise) to so many levels, equally far apart in logarithms.
fn levelled(shares: &[f64]) -> Vec<f64> {
    let range = -smallest(1.0, shares.iter().copied()).ln();
    let width = range / LEVELS as f64;
    let down = |share: &f64| (-width * (-share.ln() / width).ceil()).exp();
    shares.iter().map(down).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_few_below_and_near() {
        let exact: Vec<f64> = (0..10_000).map(|k| (-1e-3 * f64::from(k)).exp()).collect();
        let levelled = levelled(&exact);
        let levels = levelled.chunk_by(|a, b| a == b).count();
        assert!(levels <= LEVELS + 1, "{levels}");
        for (exact, level) in exact.iter().zip(&levelled) {
            assert!(*level <= exact * (1.0 + 1e-12) && *level >= exact * 0.53, "{exact} {level}");
        }
    }
}
