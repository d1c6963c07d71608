//! The walk of the figures on one graph: transitions, number of steps, printed losses.
//!
//! Losses are in units of what local DP loses by one contribution, `alpha/(2 sigma²)`: they depend on the noise only through the number of steps.

use sottovoce_topology::Graph;
use sottovoce_topology::mixing::{Mixing, Weights};
use sottovoce_topology::spectrum::Spectrum;

use crate::Result;
use crate::printed::walk::PublishedWalk;

/// The order of Rényi losses.
pub(super) const ALPHA: f64 = 2.0;
/// Deviation of the noise in figures 1, 4 and 5, in units of the sensitivity: outside the theorem's condition.
pub(super) const SIGMA: f64 = 1.0;
/// The same in figures 3 and 6, as the authors' code has it: inside.
pub(super) const LARGE_SIGMA: f64 = 10.0;
/// Mean squared distance of the private values from their mean, as for gossip.
const SPREAD: f64 = 0.25;
/// Steps for each relaxation time, as the authors' code has it.
const PATIENCE: f64 = 20.0;

/// A walk and how long it goes on.
pub(super) struct Walk {
    pub(super) mixing: Mixing,
    /// Whether the text's weights `1/max(d_u, d_v)` would never mix here, so that `1/(max(d_u, d_v) + 1)` took their place.
    pub(super) replaced: bool,
    pub(super) steps: usize,
    pub(super) sigma: f64,
}

impl Walk {
    /// The walk on a connected graph.
    pub(super) fn new(graph: &Graph, sigma: f64) -> Result<Self> {
        let mixing = Mixing::new(graph, Weights::Metropolis);
        match Spectrum::of(&mixing)?.gap.value {
            // A token that is at some peers at even steps only.
            0.0 => Self::by_code(graph, sigma),
            gap => Ok(Self { steps: steps(gap, graph.nodes(), sigma), mixing, replaced: false, sigma }),
        }
    }

    /// The same with the weights of the authors' code, which always mix.
    pub(super) fn by_code(graph: &Graph, sigma: f64) -> Result<Self> {
        let mixing = Mixing::new(graph, Weights::MetropolisPlusOne);
        let gap = Spectrum::of(&mixing)?.gap.value;
        Ok(Self { steps: steps(gap, graph.nodes(), sigma), mixing, replaced: true, sigma })
    }

    /// How often everyone contributes, on average.
    pub(super) fn contributions(&self) -> f64 {
        self.steps as f64 / self.mixing.nodes() as f64
    }

    /// The loss of one contribution by local DP, at the order of the figures.
    pub(super) fn unit(&self) -> f64 {
        ALPHA / (2.0 * self.sigma * self.sigma)
    }

    /// The printed losses of all contributions: `2 (T/n) Σ_(i=1..T) (W^i)_uv / i`.
    ///
    /// All eigenvalues but the one of the constant vector are so far from ±1 that their `T`-th powers are below `n^-20`.
    pub(super) fn printed(&self) -> Result<PublishedWalk<'_>> {
        PublishedWalk::mixed(&self.mixing, self.steps)?.with_contributions(self.contributions())
    }
}

fn steps(gap: f64, nodes: usize, sigma: f64) -> usize {
    let relaxed = ((nodes as f64).ln() / gap.min(1.0)).ceil();
    (PATIENCE * relaxed * (SPREAD + sigma * sigma) / (sigma * sigma)).ceil() as usize
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use sottovoce_topology::family::{Family, generate};

    fn graph(family: &Family) -> Graph {
        generate(family, 0, true).unwrap()
    }

    /// The authors' numbers of steps are those of their weights.
    #[test]
    fn the_authors_walks_have_the_authors_lengths() {
        let cube = graph(&Family::Hypercube { dimension: 11 });
        assert_eq!(Walk::by_code(&cube, SIGMA).unwrap().steps, 1150);
        let grid = graph(&Family::Grid { rows: 45, cols: 45 });
        assert_eq!(Walk::by_code(&grid, SIGMA).unwrap().steps, 193_225);
    }

    #[test]
    fn weights_that_never_mix_are_replaced() {
        let cube = Walk::new(&graph(&Family::Hypercube { dimension: 5 }), SIGMA).unwrap();
        assert!(cube.replaced && (cube.mixing.weight(0, 1) - 1.0 / 6.0).abs() < 1e-15);
        let grid = Walk::new(&graph(&Family::Grid { rows: 5, cols: 5 }), SIGMA).unwrap();
        assert!(!grid.replaced && (grid.mixing.weight(12, 13) - 0.25).abs() < 1e-15);
    }

    /// Against the powers themselves, one after the other.
    #[test]
    fn printed_losses_are_the_sum() {
        for family in [Family::Hypercube { dimension: 4 }, Family::Davis, Family::Grid { rows: 4, cols: 5 }] {
            let graph = graph(&family);
            let walk = Walk::new(&graph, SIGMA).unwrap();
            let (mut now, mut next) = (vec![0.0; graph.nodes()], vec![0.0; graph.nodes()]);
            let mut sum = now.clone();
            now[2] = 1.0;
            for i in 1..=walk.steps {
                walk.mixing.apply(&now, &mut next);
                std::mem::swap(&mut now, &mut next);
                sum.iter_mut()
                    .zip(&now)
                    .for_each(|(sum, x)| *sum += 2.0 * walk.contributions() * x / i as f64);
            }
            let printed = walk.printed().unwrap();
            sum[2] = 0.0;
            let printed = printed.contribution(2).unwrap();
            let apart = sum.iter().zip(&printed).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(apart < 1e-9 * walk.contributions(), "{family}: {apart}");
        }
    }
}
