//! The gaps between an observer's visits, and what is seen at the end of one.
//!
//! All observers share one [`Record`] of the contributions so far. Whoever holds the token is an observer whose gap ends there: the
//! contributions since its last visit are gone through once, so that over a run every observer goes through the path once.

use std::sync::Arc;

use sottovoce_protocol::walk::Visit;

use super::average::{Average, Faded};
use super::trajectory::Trajectory;

/// One contribution.
#[derive(Debug, Clone, Copy)]
struct Entry {
    peer: usize,
    /// How many noises were added before it.
    place: u64,
    /// Which of the peer's contributions it is, from 0.
    rank: usize,
    /// How many entries there were after the peer's contribution before this one; 0 if there was none.
    previous: usize,
}

/// All contributions so far, in order.
#[derive(Debug, Clone)]
pub(super) struct Record {
    /// How often noise was added.
    noises: u64,
    entries: Vec<Entry>,
    /// By peer, how many noises were added before each of its contributions.
    places: Vec<Vec<u64>>,
    /// By peer, how many entries there were after its last contribution.
    last: Vec<usize>,
    /// If the token is an average: by which steps, and what became of each noise.
    average: Option<(Arc<Average>, Vec<Faded>)>,
    /// How often noise was added before this record began.
    before: u64,
}

/// Where a gap begins.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Mark {
    noises: u64,
    entries: usize,
}

impl Record {
    pub(super) fn new(nodes: usize) -> Self {
        Self {
            noises: 0,
            entries: Vec::new(),
            places: vec![Vec::new(); nodes],
            last: vec![0; nodes],
            average: None,
            before: 0,
        }
    }

    /// The same for a token that is an average.
    pub(super) fn averaging(nodes: usize, average: Arc<Average>) -> Self {
        Self { average: Some((average, Vec::new())), ..Self::new(nodes) }
    }

    /// The record of a copy that leaves this one now.
    pub(super) fn branch(&self) -> Self {
        let average = self.average.as_ref().map(|(average, _)| (Arc::clone(average), Vec::new()));
        Self { average, before: self.before + self.noises, ..Self::new(self.nodes()) }
    }

    /// Noise was added so often before this record began.
    pub(super) fn begin_after(&mut self, noises: u64) {
        self.before = noises;
    }

    pub(super) fn nodes(&self) -> usize {
        self.last.len()
    }

    /// How often a peer has contributed.
    pub(super) fn contributions(&self, peer: usize) -> usize {
        self.places[peer].len()
    }

    /// A gap that begins now.
    pub(super) fn mark(&self) -> Mark {
        Mark { noises: self.noises, entries: self.entries.len() }
    }

    pub(super) fn add(&mut self, peer: usize, visit: Visit) {
        if visit == Visit::Contributed {
            let (rank, previous) = (self.places[peer].len(), self.last[peer]);
            self.entries.push(Entry { peer, place: self.noises, rank, previous });
            self.places[peer].push(self.noises);
            self.last[peer] = self.entries.len();
        }
        if let Some((average, faded)) = &mut self.average
            && visit != Visit::Relayed
        {
            faded.push(average.visit(self.before + self.noises, peer, visit));
        }
        self.noises += u64::from(visit != Visit::Relayed);
    }

    /// Adds what the gap from `start` to now reveals.
    pub(super) fn close(&self, start: Mark, losses: &mut Trajectory) {
        if let Some((_, faded)) = &self.average {
            return super::average::close(&faded[start.noises as usize..], losses);
        }
        let length = (self.noises - start.noises) as f64;
        let mut hull = Vec::new();
        for (entries, entry) in (start.entries + 1..).zip(&self.entries[start.entries..]) {
            if entry.previous > start.entries {
                // Counted with the peer's first contribution in the gap.
                continue;
            }
            let peer = entry.peer;
            if self.last[peer] == entries {
                // The only one, as most are.
                losses.linear[peer] += 1.0 / length;
                losses.convex[peer] += 1.0 / (self.noises - entry.place) as f64;
                continue;
            }
            let places = &self.places[peer][entry.rank..];
            let count = places.len() as f64;
            losses.linear[peer] += count * count / length;
            losses.convex[peer] +=
                minorant(places.iter().map(|place| place - start.noises), length, &mut hull);
        }
    }
}

/// The sum of squared slopes, over all places, of the greatest convex function below the curve that rises by one at each of `places`.
fn minorant(places: impl Iterator<Item = u64>, length: f64, hull: &mut Vec<(f64, f64)>) -> f64 {
    hull.clear();
    hull.push((0.0, 0.0));
    // The curve's lower corners: before each rise, and the end.
    let mut rises = 0.0;
    for place in places {
        extend(hull, place as f64, rises);
        rises += 1.0;
    }
    extend(hull, length, rises);
    let pieces = hull.windows(2).filter(|pair| pair[1].0 > pair[0].0);
    pieces.map(|pair| (pair[1].1 - pair[0].1).powi(2) / (pair[1].0 - pair[0].0)).sum()
}

/// Adds a corner to the right of a lower hull.
fn extend(hull: &mut Vec<(f64, f64)>, x: f64, y: f64) {
    while let [.., (x0, y0), (x1, y1)] = hull[..]
        && (y1 - y0) * (x - x0) >= (y - y0) * (x1 - x0)
    {
        hull.pop();
    }
    hull.push((x, y));
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn loss(places: &[u64], length: u64) -> f64 {
        minorant(places.iter().copied(), length as f64, &mut Vec::new())
    }

    /// Among shifts on a grid none that are allowed do better (short gaps, tried one after the other).
    #[test]
    fn no_other_shifts_do_better() {
        let steps = 12;
        for places in [vec![0], vec![2], vec![0, 1], vec![1, 2], vec![0, 3], vec![0, 1, 3]] {
            let best = loss(&places, 4);
            let total = places.len() * steps;
            let rises = |k: u64| places.iter().filter(|&&place| place <= k).count() * steps;
            let mut least = f64::INFINITY;
            // Cumulative shifts after the first, second and third holder.
            for a in 0..=rises(0) {
                for b in a..=rises(1) {
                    for c in b..=rises(2) {
                        let shifts = [a, b - a, c - b, total - c];
                        let sum = shifts.iter().map(|x| (*x as f64 / steps as f64).powi(2)).sum::<f64>();
                        least = least.min(sum);
                    }
                }
            }
            assert!(best <= least + 1e-12 && least < best + 0.02, "{places:?}: {best} {least}");
        }
    }

    /// `max_(i<=k) min_(j>=k)` of the mean over `i..=j`: the slopes written out.
    fn slope(shifts: &[f64], k: usize) -> f64 {
        let mean = |i: usize, j: usize| shifts[i..=j].iter().sum::<f64>() / (j + 1 - i) as f64;
        let least = |i: usize| (k..shifts.len()).map(|j| mean(i, j)).fold(f64::INFINITY, f64::min);
        (0..=k).map(least).fold(0.0, f64::max)
    }

    proptest! {
        #[test]
        fn the_hull_has_the_slopes_of_the_formula(contributes in prop::collection::vec(any::<bool>(), 1..40)) {
            let shifts: Vec<f64> = contributes.iter().map(|&s| f64::from(u8::from(s))).collect();
            let places: Vec<u64> = (0..).zip(&contributes).filter(|(_, s)| **s).map(|(k, _)| k).collect();
            let written_out: f64 = (0..shifts.len()).map(|k| slope(&shifts, k).powi(2)).sum();
            prop_assert!((loss(&places, shifts.len() as u64) - written_out).abs() < 1e-9);
        }
    }
}
