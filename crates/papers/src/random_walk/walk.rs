//! The walk of the figures on one graph: transitions, number of steps, printed losses.

use sottovoce_topology::Graph;
use sottovoce_topology::mixing::{Mixing, Weights};
use sottovoce_topology::spectrum::Spectrum;
use sottovoce_views::walk::negative_log;

use crate::Result;

/// The order of Rényi losses.
pub(super) const ALPHA: f64 = 2.0;
/// Deviation of the noise, in units of the sensitivity.
pub(super) const SIGMA: f64 = 1.0;
/// The loss of one contribution by local DP: all losses are in units of it.
pub(super) const UNIT: f64 = ALPHA / (2.0 * SIGMA * SIGMA);
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
}

impl Walk {
    /// The walk on a connected graph.
    pub(super) fn new(graph: &Graph) -> Result<Self> {
        let mixing = Mixing::new(graph, Weights::Metropolis);
        match Spectrum::of(&mixing)?.gap.value {
            // A token that is at some peers at even steps only.
            0.0 => Self::by_code(graph),
            gap => Ok(Self { steps: steps(gap, graph.nodes()), mixing, replaced: false }),
        }
    }

    /// The same with the weights of the authors' code, which always mix.
    pub(super) fn by_code(graph: &Graph) -> Result<Self> {
        let mixing = Mixing::new(graph, Weights::MetropolisPlusOne);
        let gap = Spectrum::of(&mixing)?.gap.value;
        Ok(Self { steps: steps(gap, graph.nodes()), mixing, replaced: true })
    }

    /// How often everyone contributes, on average.
    pub(super) fn contributions(&self) -> f64 {
        self.steps as f64 / self.mixing.nodes() as f64
    }

    /// The printed losses of all contributions: `2 (T/n) Σ_(i=1..T) (W^i)_uv / i`.
    ///
    /// All eigenvalues but the one of the constant vector are so far from ±1 that their `T`-th powers are below `n^-25`: beside the constant
    /// vector the sum is the logarithm.
    pub(super) fn printed(&self) -> Result<Printed> {
        let n = self.mixing.nodes() as f64;
        let constant = (1..=self.steps).rev().map(|i| 1.0 / i as f64).sum::<f64>() / n;
        let scale = 2.0 * self.contributions();
        let losses = negative_log(&self.mixing)?.into_iter().map(|log| scale * (constant + log)).collect();
        Ok(Printed { losses, nodes: self.mixing.nodes() })
    }
}

fn steps(gap: f64, nodes: usize) -> usize {
    let relaxed = ((nodes as f64).ln() / gap.min(1.0)).ceil();
    (PATIENCE * relaxed * (SPREAD + SIGMA * SIGMA) / (SIGMA * SIGMA)).ceil() as usize
}

/// Printed losses of all pairs; they are symmetric.
pub(super) struct Printed {
    losses: Vec<f64>,
    nodes: usize,
}

impl Printed {
    /// Everyone's loss to an observer. Its own entry is what returns to it.
    pub(super) fn to(&self, observer: usize) -> &[f64] {
        &self.losses[observer * self.nodes..][..self.nodes]
    }

    /// Everyone's loss to an observer who knows who sent it the token (Appendix B.1): the largest to one of its neighbours.
    pub(super) fn sender_known(&self, graph: &Graph, observer: usize) -> Vec<f64> {
        let mut most = vec![0.0; self.nodes];
        for &sender in graph.neighbors(observer) {
            most.iter_mut().zip(self.to(sender as usize)).for_each(|(most, loss)| *most = loss.max(*most));
        }
        most
    }
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
        assert_eq!(Walk::by_code(&cube).unwrap().steps, 1150);
        let grid = graph(&Family::Grid { rows: 45, cols: 45 });
        assert_eq!(Walk::by_code(&grid).unwrap().steps, 193_225);
    }

    #[test]
    fn weights_that_never_mix_are_replaced() {
        let cube = Walk::new(&graph(&Family::Hypercube { dimension: 5 })).unwrap();
        assert!(cube.replaced && (cube.mixing.weight(0, 1) - 1.0 / 6.0).abs() < 1e-15);
        let grid = Walk::new(&graph(&Family::Grid { rows: 5, cols: 5 })).unwrap();
        assert!(!grid.replaced && (grid.mixing.weight(12, 13) - 0.25).abs() < 1e-15);
    }

    /// Against the powers themselves, one after the other.
    #[test]
    fn printed_losses_are_the_sum() {
        for family in [Family::Hypercube { dimension: 4 }, Family::Davis, Family::Grid { rows: 4, cols: 5 }] {
            let graph = graph(&family);
            let walk = Walk::new(&graph).unwrap();
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
            let apart = sum.iter().zip(printed.to(2)).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(apart < 1e-9 * walk.contributions(), "{family}: {apart}");
        }
    }

    #[test]
    fn the_sender_is_the_worst_neighbour() {
        let ring = graph(&Family::Ring { n: 7 });
        let printed = Walk::new(&ring).unwrap().printed().unwrap();
        let known = printed.sender_known(&ring, 0);
        assert_eq!(
            (known[3], known[1]),
            (printed.to(1)[3].max(printed.to(6)[3]), printed.to(1)[1].max(printed.to(6)[1]))
        );
    }
}
