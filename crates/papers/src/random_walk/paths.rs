//! What random paths of the token reveal, by the accountant of paths: convex losses, steps that do not expand.
//!
//! A path's loss needs no formula for all paths, and none of its assumptions. Over paths there are two numbers: the *mean*, which is
//! what the printed sum bounds in its proof, and the loss at order 2 towards someone who is *told* the path,
//! `ln E exp(loss)`, which is at least the mean and bounds the loss towards someone who is not.

use rand::Rng;
use sottovoce_privacy::noise::simulation::{Seed, SimulationRng, Stream};
use sottovoce_protocol::Chance;
use sottovoce_protocol::walk::Transition;
use sottovoce_views::parallel;
use sottovoce_views::walk::{Odometer, Visit};

use super::walk::{ALPHA, Walk};
use crate::Result;

/// Paths are summed in so many pieces, whatever the number of threads.
const PIECES: usize = 16;
/// A mean over paths is surely above what is printed if it is by so many of its standard errors.
const SURE: f64 = 5.0;

/// What some paths reveal to one observer.
pub(super) struct Seen {
    pub(super) observer: usize,
    paths: f64,
    /// The loss of one contribution by local DP.
    unit: f64,
    sums: Vec<Sums>,
}

/// Sums over paths, for one peer.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    losses: f64,
    squares: f64,
    /// Of `exp((alpha - 1) loss) - 1`.
    excess: f64,
}

impl Seen {
    /// The mean loss of a peer.
    pub(super) fn mean(&self, peer: usize) -> f64 {
        self.sums[peer].losses / self.paths
    }

    /// The standard error of that.
    pub(super) fn error(&self, peer: usize) -> f64 {
        let mean = self.mean(peer);
        let variance = (self.sums[peer].squares / self.paths - mean * mean).max(0.0);
        (variance / (self.paths - 1.0).max(1.0)).sqrt()
    }

    /// Whether a peer surely loses more, on average, than is printed.
    pub(super) fn above(&self, peer: usize, printed: f64) -> bool {
        self.mean(peer) - SURE * self.error(peer) > printed
    }

    /// The loss at order 2 towards an observer who is told the path; estimated, and rather too small where paths are few.
    pub(super) fn told(&self, peer: usize) -> f64 {
        (self.sums[peer].excess / self.paths).ln_1p() / ((ALPHA - 1.0) * self.unit)
    }

    /// The means of all peers.
    pub(super) fn means(&self) -> Vec<f64> {
        (0..self.sums.len()).map(|peer| self.mean(peer)).collect()
    }

    fn add(&mut self, losses: &[f64]) {
        self.paths += 1.0;
        let unit = self.unit;
        for (sums, loss) in self.sums.iter_mut().zip(losses).filter(|(_, loss)| **loss > 0.0) {
            sums.losses += loss;
            sums.squares += loss * loss;
            sums.excess += ((ALPHA - 1.0) * unit * loss).exp_m1();
        }
    }

    fn merge(&mut self, other: &Self) {
        self.paths += other.paths;
        for (sums, other) in self.sums.iter_mut().zip(&other.sums) {
            sums.losses += other.losses;
            sums.squares += other.squares;
            sums.excess += other.excess;
        }
    }
}

/// What so many random paths of a walk, each from a random peer, reveal to each of `observers`.
pub(super) fn watch(walk: &Walk, observers: &[usize], paths: usize, seed: u64) -> Result<Vec<Seen>> {
    let (mixing, steps) = (&walk.mixing, walk.steps);
    let transitions: Vec<Transition> = (0..mixing.nodes()).map(|u| Transition::of(mixing, u)).collect();
    let fresh = Odometer::new(mixing.nodes(), &observers.iter().map(|&v| vec![v]).collect::<Vec<_>>())?;
    let piece = |piece: usize| -> Result<Vec<Seen>> {
        let mut seen = nothing(observers, walk);
        for number in (piece..paths).step_by(PIECES) {
            let mut odometer = fresh.clone();
            let holders = path(&transitions, steps, seed, number as u64);
            holders.into_iter().try_for_each(|holder| odometer.visit(holder, Visit::Contributed))?;
            seen.iter_mut().zip(odometer.conclude(false)).for_each(|(seen, losses)| seen.add(&losses.convex));
        }
        Ok(seen)
    };
    let mut all = nothing(observers, walk);
    for piece in parallel::map(PIECES.min(paths), piece, |_| {}) {
        all.iter_mut().zip(&piece?).for_each(|(sum, part)| sum.merge(part));
    }
    Ok(all)
}

fn nothing(observers: &[usize], walk: &Walk) -> Vec<Seen> {
    let sums = vec![Sums::default(); walk.mixing.nodes()];
    let fresh = |&observer: &usize| Seen { observer, paths: 0.0, unit: walk.unit(), sums: sums.clone() };
    observers.iter().map(fresh).collect()
}

/// The holders of a token on a random path.
fn path(transitions: &[Transition], steps: usize, seed: u64, number: u64) -> Vec<usize> {
    let mut chance = Random(Seed(seed).stream(Stream::Paths, number, 0));
    let first = chance.below(transitions.len());
    let next = |holder: &usize| Some(transitions[*holder].draw(&mut chance).unwrap_or(*holder));
    std::iter::successors(Some(first), next).take(steps).collect()
}

struct Random(SimulationRng);

impl Chance for Random {
    fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use sottovoce_topology::family::{Family, generate};
    use sottovoce_topology::mixing::{Mixing, Weights};

    /// Two peers, who pass the token or keep it with equal chance. A run of `k` holders by the other one before it is seen
    /// has a loss of `k`, by its length: `k² / k`.
    #[test]
    fn two_peers_by_hand() {
        let graph = generate(&Family::Complete { n: 2 }, 0, true).unwrap();
        let walk = Walk { steps: 2, ..Walk::by_code(&graph, 1.0).unwrap() };
        // Of two holders the first loses 1 if the other one comes next: a quarter of all paths.
        let seen = watch(&walk, &[1], 40_000, 3).unwrap();
        assert!((seen[0].mean(0) - 0.25).abs() < 0.01, "{}", seen[0].mean(0));
        assert!((seen[0].told(0) - (0.75 + 0.25 * 1f64.exp()).ln()).abs() < 0.01);
        assert!((seen[0].error(0) - (0.25f64 * 0.75 / 40_000.0).sqrt()).abs() < 1e-4);
        assert_eq!(seen[0].mean(1), 0.0);
        assert!(seen[0].above(0, 0.2) && !seen[0].above(0, 0.249));
    }

    #[test]
    fn paths_are_walks_and_depend_on_the_seed_alone() {
        let graph = generate(&Family::Ring { n: 9 }, 0, true).unwrap();
        let mixing = Mixing::new(&graph, Weights::Metropolis);
        let transitions: Vec<Transition> = (0..9).map(|u| Transition::of(&mixing, u)).collect();
        let holders = path(&transitions, 500, 7, 0);
        assert!(holders.len() == 500 && holders.windows(2).all(|pair| graph.has_edge(pair[0], pair[1])));
        assert_eq!(holders, path(&transitions, 500, 7, 0));
        assert_ne!(holders, path(&transitions, 500, 7, 1));
    }
}
