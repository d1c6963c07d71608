//! Losses by distance, one after the other: the pairs of several graphs are too many to keep.

use crate::statistics::Summary;

/// Distances that fewer than one pair in so many has decide nothing.
const RARE: usize = 10_000;

/// Losses at each distance.
#[derive(Debug, Clone, Default)]
pub(super) struct Tally(Vec<Option<Summary>>);

impl Tally {
    pub(super) fn add(&mut self, hops: u32, loss: f64) {
        let place = hops as usize;
        if place >= self.0.len() {
            self.0.resize(place + 1, None);
        }
        let one = Summary { count: 1, mean: loss, low: loss, high: loss };
        let slot = &mut self.0[place];
        // Sums are divided once, at the end.
        *slot = Some(slot.map_or(one, |old| Summary {
            count: old.count + 1,
            mean: old.mean + loss,
            low: old.low.min(loss),
            high: old.high.max(loss),
        }));
    }

    /// At one distance; none where nobody is that far.
    pub(super) fn at(&self, hops: u32) -> Option<Summary> {
        let sum = self.0.get(hops as usize).copied().flatten()?;
        Some(Summary { mean: sum.mean / sum.count as f64, ..sum })
    }

    /// The mean at one distance, 0 where nobody is that far.
    pub(super) fn mean(&self, hops: u32) -> f64 {
        self.at(hops).map_or(0.0, |summary| summary.mean)
    }

    /// The largest distance that is not rare.
    pub(super) fn farthest(&self) -> u32 {
        self.common().last().map_or(0, |(hops, _)| *hops)
    }

    /// At every distance that at least one pair in [`RARE`] has, from 1 on.
    pub(super) fn common(&self) -> Vec<(u32, Summary)> {
        let rows = self.rows();
        let all: usize = rows.iter().map(|(_, row)| row.count).sum();
        rows.into_iter().filter(|(_, row)| row.count.saturating_mul(RARE) >= all).collect()
    }

    /// At every distance that occurs, from 1 on.
    pub(super) fn rows(&self) -> Vec<(u32, Summary)> {
        (1..self.0.len() as u32).filter_map(|hops| Some((hops, self.at(hops)?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_and_ranges_by_distance() {
        let mut tally = Tally::default();
        [(1, 2.0), (3, 5.0), (1, 4.0)].into_iter().for_each(|(hops, loss)| tally.add(hops, loss));
        assert_eq!(tally.at(1), Some(Summary { count: 2, mean: 3.0, low: 2.0, high: 4.0 }));
        assert_eq!((tally.farthest(), tally.at(2), tally.mean(3)), (3, None, 5.0));
        assert_eq!((tally.rows().len(), tally.common().len()), (2, 2));
        (0..3 * RARE).for_each(|_| tally.add(1, 3.0));
        assert_eq!((tally.rows().len(), tally.common().len(), tally.farthest()), (2, 1, 1));
    }
}
