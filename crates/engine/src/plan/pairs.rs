//! The whole distribution of losses over pairs of peers: quantiles, who is fully exposed, and which protocol is below which everywhere.
//!
//! A mean or a worst case says little of what most pairs lose. Two protocols, each with the noise that the target asks of it, are compared by their sorted losses: one is
//! *below* the other if at every rank it loses no more, which is first-order stochastic dominance of a pair that is drawn at random.

use serde::Serialize;
use sottovoce_views::exact::Leakage;

use super::losses::outward;
use super::{Row, row};
use crate::Result;

/// A loss above this counts as that of local DP.
const EXPOSED: f64 = 1.0 - 1e-6;

/// What each of some observers learns of every peer, in units of local DP, never too small.
#[derive(Debug, Clone, PartialEq)]
pub struct PairLosses {
    observers: Vec<usize>,
    losses: Vec<Vec<f64>>,
}

impl PairLosses {
    /// Of observers' views, each on its own; of several runs the largest loss of each pair.
    pub(super) fn new(observers: &[usize], runs: &[Vec<Leakage>]) -> Self {
        let of =
            |view: &Leakage| view.losses.iter().map(|loss| outward(loss + view.rounding)).collect::<Vec<_>>();
        let mut losses: Vec<Vec<f64>> =
            runs.first().map(|views| views.iter().map(of).collect()).unwrap_or_default();
        for views in runs.iter().skip(1) {
            for (known, found) in losses.iter_mut().flatten().zip(views.iter().flat_map(of)) {
                *known = if found > *known { found } else { *known };
            }
        }
        Self { observers: observers.to_vec(), losses }
    }

    /// All ordered pairs of different peers: who observes, whom, and the loss.
    pub fn pairs(&self) -> impl Iterator<Item = ((usize, usize), f64)> {
        let of = |(v, losses): (&usize, &Vec<f64>)| {
            let v = *v;
            let others = losses.iter().copied().enumerate().filter(move |(u, _)| *u != v);
            others.map(move |(u, loss)| ((v, u), loss)).collect::<Vec<_>>()
        };
        self.observers.iter().zip(&self.losses).flat_map(of)
    }
}

/// What so many of the pairs lose at most.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Quantiles<T> {
    /// The pair that loses least.
    pub min: T,
    /// A tenth.
    pub p10: T,
    /// Half.
    pub p50: T,
    /// Nine in ten.
    pub p90: T,
    /// 99 in 100.
    pub p99: T,
    /// All.
    pub max: T,
}

impl<T: Copy> Quantiles<T> {
    /// From the least on.
    pub fn all(&self) -> [T; 6] {
        [self.min, self.p10, self.p50, self.p90, self.p99, self.max]
    }
}

/// The losses of all pairs of a row.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Spread {
    /// Number of ordered pairs.
    pub pairs: usize,
    /// Share of them that lose what local DP loses: the observer can compute the other's noisy value.
    pub at_local: f64,
    /// Losses as `mu²`.
    pub mu_squared: Quantiles<f64>,
    /// The same as epsilons; none where nothing is protected.
    pub epsilon: Quantiles<Option<f64>>,
    /// All of them as `mu²`, the least first.
    #[serde(skip)]
    sorted: Vec<f64>,
}

impl Spread {
    /// Of losses in units of local DP at the noise of a row; `unit` is `mu²` of local DP there.
    pub(super) fn new(losses: &PairLosses, unit: f64, delta: f64) -> Result<Option<Self>> {
        let all: Vec<f64> = losses.pairs().map(|(_, loss)| loss).collect();
        let exposed = all.iter().filter(|loss| **loss > EXPOSED).count();
        let at_local = exposed as f64 / all.len().max(1) as f64; // whole numbers
        Self::of(all.into_iter().map(|loss| loss * unit).collect(), at_local, delta)
    }

    /// The same loss for all pairs, as a baseline has it.
    pub(super) fn equal(pairs: usize, mu_squared: f64, at_local: f64, delta: f64) -> Result<Option<Self>> {
        Self::of(vec![mu_squared; pairs], at_local, delta)
    }

    fn of(mut sorted: Vec<f64>, at_local: f64, delta: f64) -> Result<Option<Self>> {
        sorted.sort_unstable_by(f64::total_cmp);
        let Some(&min) = sorted.first() else { return Ok(None) };
        // The smallest loss that so many do not exceed.
        let at = |percent: usize| sorted[(sorted.len() * percent).div_ceil(100).max(1) - 1]; // whole numbers
        let mu_squared = Quantiles { min, p10: at(10), p50: at(50), p90: at(90), p99: at(99), max: at(100) };
        let [min, p10, p50, p90, p99, max] = mu_squared.all().map(|one| row::epsilon(one, delta));
        let epsilon = Quantiles { min: min?, p10: p10?, p50: p50?, p90: p90?, p99: p99?, max: max? };
        Ok(Some(Self { pairs: sorted.len(), at_local, mu_squared, epsilon, sorted }))
    }

    /// Share of the pairs that lose at most so much, as points of a rising curve: `(mu², share)`.
    pub fn curve(&self, points: usize) -> Vec<(f64, f64)> {
        let n = self.sorted.len();
        let mut ranks: Vec<usize> = (0..=points).map(|i| (n - 1) * i / points.max(1)).collect(); // whole numbers
        ranks.dedup();
        ranks.into_iter().map(|rank| (self.sorted[rank], (rank + 1) as f64 / n as f64)).collect()
    }

    /// Whether at every rank this loses no more than the other, and somewhere less.
    pub fn is_below(&self, other: &Self) -> bool {
        let ranks = || self.sorted.iter().zip(&other.sorted);
        self.pairs == other.pairs
            && ranks().all(|(own, other)| own <= other)
            && ranks().any(|(own, other)| own < other)
    }
}

/// One row whose pairs lose less than another's, at every rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Below {
    /// The row that loses less.
    pub row: usize,
    /// The row that loses more.
    pub than: usize,
}

/// All such pairs of rows; baselines are no protocols, and left out.
pub(super) fn dominance(rows: &[Row]) -> Vec<Below> {
    let spread = |i: usize| rows[i].pairs.as_ref().filter(|_| !rows[i].protocol.is_baseline());
    let both = (0..rows.len()).flat_map(|row| (0..rows.len()).map(move |than| Below { row, than }));
    both.filter(|one| spread(one.row).zip(spread(one.than)).is_some_and(|(own, other)| own.is_below(other)))
        .collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn spread(losses: &[f64]) -> Spread {
        Spread::of(losses.to_vec(), 0.0, 1e-5).unwrap().unwrap()
    }

    #[test]
    fn quantiles_are_losses_that_so_many_do_not_exceed() {
        let all: Vec<f64> = (1..=200).rev().map(f64::from).collect();
        let found = spread(&all).mu_squared;
        assert_eq!(found.all(), [1.0, 20.0, 100.0, 180.0, 198.0, 200.0]);
        assert_eq!(spread(&[3.0]).mu_squared.all(), [3.0; 6]);
        assert_eq!(spread(&[1.0, 2.0]).mu_squared.all(), [1.0, 1.0, 1.0, 2.0, 2.0, 2.0]);
        assert!(Spread::of(Vec::new(), 0.0, 1e-5).unwrap().is_none());
        assert_eq!(spread(&[2.0, 1.0]).curve(100), [(1.0, 0.5), (2.0, 1.0)]);
    }

    #[test]
    fn below_is_at_every_rank() {
        let (low, high, crossing) =
            (spread(&[1.0, 2.0, 3.0]), spread(&[3.0, 2.0, 2.0]), spread(&[0.5, 1.0, 9.0]));
        assert!(low.is_below(&high) && !high.is_below(&low) && !low.is_below(&low));
        assert!(!low.is_below(&crossing) && !crossing.is_below(&low));
        assert!(!low.is_below(&spread(&[4.0, 5.0])));
    }
}
