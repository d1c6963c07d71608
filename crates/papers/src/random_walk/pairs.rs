//! One graph, all pairs: what is printed, and what random paths reveal.

use sottovoce_topology::Graph;

use super::paths::{Seen, watch};
use super::walk::Walk;
use super::words::{many, number};
use crate::Result;
use crate::muffliato::words::{loss, percent};

/// Steps of all random paths together, counted once for each observer.
const WORK: usize = 300_000_000;
/// Fewer observers count as so many: paths take time, too.
const FEW: usize = 32;
/// Paths, at least and at most.
const PATHS: (usize, usize) = (16, 1000);

/// A pair that loses more than is printed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Worst {
    pub(super) peer: usize,
    pub(super) observer: usize,
    pub(super) printed: f64,
    pub(super) path: f64,
}

/// Losses of everyone to everyone, or to some observers.
pub(super) struct Pairs {
    pub(super) name: String,
    pub(super) graph: Graph,
    pub(super) walk: Walk,
    pub(super) paths: usize,
    /// By observer, then by peer.
    printed: Vec<Vec<f64>>,
    seen: Vec<Seen>,
}

impl Pairs {
    /// Everyone watches.
    pub(super) fn all(name: &str, graph: Graph, sigma: f64, seed: u64, quick: bool) -> Result<Self> {
        let everyone = (0..graph.nodes()).collect::<Vec<_>>();
        Self::to(name, Walk::new(&graph, sigma)?, graph, &everyone, (seed, quick))
    }

    /// Some watch.
    pub(super) fn to(
        name: &str,
        walk: Walk,
        graph: Graph,
        observers: &[usize],
        (seed, quick): (u64, bool),
    ) -> Result<Self> {
        let work = if quick { WORK / 20 } else { WORK };
        let paths = (work / (walk.steps * observers.len().max(FEW))).clamp(PATHS.0, PATHS.1);
        let printed = walk.printed()?;
        let printed = observers.iter().map(|&v| printed.contribution(v)).collect::<Result<_, _>>()?;
        let seen = watch(&walk, observers, paths, seed)?;
        Ok(Self { name: name.into(), graph, walk, paths, printed, seen })
    }

    /// By number of the observer: the printed losses of all peers.
    pub(super) fn printed(&self, observer: usize) -> &[f64] {
        &self.printed[observer]
    }

    /// By number of the observer: what paths reveal of all peers.
    pub(super) fn seen(&self, observer: usize) -> &Seen {
        &self.seen[observer]
    }

    /// Peers and numbers of observers, without those who watch themselves.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let others = move |i: usize| (0..self.graph.nodes()).filter(move |&u| u != self.seen[i].observer);
        (0..self.seen.len()).flat_map(move |i| others(i).map(move |u| (u, i)))
    }

    /// Those whose mean over paths is surely above what is printed: their share, and the largest ratio.
    pub(super) fn above(&self) -> (f64, Option<Worst>) {
        let surely = |&(u, i): &(usize, usize)| self.seen[i].above(u, self.printed[i][u]);
        let worst = |(u, i): (usize, usize)| Worst {
            peer: u,
            observer: self.seen[i].observer,
            printed: self.printed[i][u],
            path: self.seen[i].mean(u),
        };
        let above: Vec<Worst> = self.pairs().filter(surely).map(worst).collect();
        let ratio = |worst: &Worst| worst.path / worst.printed;
        let share = above.len() as f64 / self.pairs().count().max(1) as f64;
        (share, above.into_iter().max_by(|a, b| ratio(a).total_cmp(&ratio(b))))
    }

    /// The mean over pairs of what paths reveal, relative to that of what is printed.
    pub(super) fn part(&self) -> f64 {
        let path: f64 = self.pairs().map(|(u, i)| self.seen[i].mean(u)).sum();
        path / self.pairs().map(|(u, i)| self.printed[i][u]).sum::<f64>()
    }

    /// What paths say of the printed losses, in words.
    pub(super) fn exactly(&self) -> String {
        let (share, worst) = self.above();
        let worst = worst.map_or("no pair surely loses more than printed".into(), |worst| {
            format!(
                "{} of pairs surely lose more than printed on average, at worst {} instead of {} (peer {} with {}, to {} with {})",
                percent(share),
                loss(worst.path),
                number(worst.printed),
                self.graph.label(worst.peer),
                many(self.graph.degree(worst.peer), "neighbour"),
                self.graph.label(worst.observer),
                self.graph.degree(worst.observer)
            )
        });
        format!(
            "over {} random paths the mean loss is {} of what is printed; {worst}",
            self.paths,
            number(self.part())
        )
    }

    /// One line for each pair; some more columns at the end.
    pub(super) fn lines(&self, more: impl Fn(usize, usize) -> String) -> Vec<String> {
        let line = |(u, i): (usize, usize)| {
            let observer = self.seen[i].observer;
            let labels = format!("{},{},{}", self.name, self.graph.label(u), self.graph.label(observer));
            format!("{labels},{:.6e},{:.6e}{}", self.printed[i][u], self.seen[i].mean(u), more(u, observer))
        };
        self.pairs().map(line).collect()
    }
}

/// The header of [`Pairs::lines`] without further columns.
pub(super) const HEADER: &str = "graph,peer,observer,published,mean_over_paths";

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::walk::SIGMA;
    use super::*;
    use sottovoce_topology::family::{Family, generate};

    /// A leaf keeps the token for long, and the centre sees all of it at once: it loses about 1 for each contribution, and is printed to lose
    /// about `2 (1 + 1/2 + ... + 1/T)/n`, which is 0.43 here.
    #[test]
    fn leaves_of_a_star_lose_more_than_printed_to_its_centre() {
        let star = generate(&Family::Star { n: 40 }, 0, true).unwrap();
        let pairs = Pairs::all("star", star, SIGMA, 1, true).unwrap();
        let (share, worst) = pairs.above();
        let worst = worst.unwrap();
        assert!(share > 0.0 && worst.observer == 0 && worst.path > 1.5 * worst.printed, "{worst:?}");
        assert!(pairs.exactly().contains("surely lose more"));
    }

    #[test]
    fn on_a_ring_the_printed_losses_are_larger() {
        let ring = generate(&Family::Ring { n: 9 }, 0, true).unwrap();
        let walk = Walk::new(&ring, SIGMA).unwrap();
        let pairs = Pairs::to("ring", walk, ring, &[4], (1, true)).unwrap();
        assert!(pairs.above() == (0.0, None) && pairs.part() < 1.0);
        assert_eq!((pairs.pairs().count(), pairs.lines(|_, _| String::new()).len()), (8, 8));
    }
}
