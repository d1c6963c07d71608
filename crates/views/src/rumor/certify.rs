//! Turns a computed solution into a proof, whatever rounding did to it.
//!
//! `I - P` has an inverse without negative entries: if `(I - P) y >= 1/2` for some `y > 0`, then `(I - P)^-1 1 <= 2 y`. With `r` the
//! residual of a computed solution `v`, the true one is `v + (I - P)^-1 r`, hence at most `v + 2 y max(r, 0)` and at least
//! `v - 2 y max(-r, 0)`, entry by entry. For totals the inequalities are checked for both extreme splits; they are linear in between.

use sottovoce_privacy::Interval;

use super::chain::{Chain, Split};
use super::eliminate::{Layout, Solved};

/// More than the rounding of one row, of some twenty operations on numbers below the largest entry.
const ROUNDING: f64 = 32.0 * f64::EPSILON;

/// What the rows of a system say about a solution.
struct Rows<'a> {
    solved: &'a Solved,
    /// Largest residual of the value, and of its negative.
    over: f64,
    under: f64,
    /// Smallest entry of `(I - P) y`.
    least: f64,
}

impl<'a> Rows<'a> {
    fn new(solved: &'a Solved) -> Self {
        Self { solved, over: 0.0, under: 0.0, least: f64::INFINITY }
    }

    /// Adds the row of a state: its reward, and its image under `P` of value and tellings.
    fn add(&mut self, state: usize, reward: f64, images: (f64, f64)) {
        let residual = reward + images.0 - self.solved.value[state];
        self.over = self.over.max(residual);
        self.under = self.under.max(-residual);
        self.least = self.least.min(self.solved.tellings[state] - images.1);
    }

    /// The margins by which the true value of the first state may lie above and below; none if nothing is proven.
    fn margins(&self) -> Option<(f64, f64)> {
        let longest = self.solved.tellings.iter().fold(0.0, |most: f64, time| most.max(*time));
        let largest = self.solved.value.iter().fold(1.0, |most: f64, value| most.max(value.abs()));
        let sound = self.solved.tellings.iter().all(|time| *time > 0.0 && time.is_finite())
            && self.solved.value.iter().all(|value| value.is_finite());
        let proven = sound && self.least - ROUNDING * longest >= 0.5;
        let slack = |residual: f64| 2.0 * self.solved.tellings[0] * (residual + ROUNDING * largest);
        proven.then(|| (slack(self.over), slack(self.under)))
    }
}

/// The value of the first state, from the equations of all states.
pub(super) fn states(chain: &Chain, layout: &Layout, solved: &Solved) -> Option<Interval> {
    let mut rows = Rows::new(solved);
    for state in 0..solved.value.len() {
        let (k, c) = layout.state(state);
        let mut images = (0.0, 0.0);
        chain.each(k, c, |k, c, p| {
            let to = layout.index(k, c);
            images = (images.0 + p * solved.value[to], images.1 + p * solved.tellings[to]);
        });
        rows.add(state, chain.reward(k, c), images);
    }
    let (over, under) = rows.margins()?;
    Interval::new(solved.value[0] - under, solved.value[0] + over).ok()
}

/// Bounds on the value of the first state, from the equations of totals with the most honest and with the most curious peers.
pub(super) fn totals(chain: &Chain, above: &Solved, below: &Solved) -> Option<Interval> {
    let (over, _) = both_splits(chain, above).margins()?;
    let (_, under) = both_splits(chain, below).margins()?;
    Interval::new(below.value[0] - under, above.value[0] + over).ok()
}

fn both_splits<'a>(chain: &Chain, solved: &'a Solved) -> Rows<'a> {
    let mut rows = Rows::new(solved);
    for a in 0..solved.value.len() {
        for split in [Split::Honest, Split::Curious] {
            let steps = chain.total(a, split);
            let image = |of: &[f64]| {
                let at = |a: Option<usize>| a.and_then(|a| of.get(a)).copied().unwrap_or(0.0);
                steps[0] * at(a.checked_sub(1)) + steps[1] * of[a] + steps[2] * at(Some(a + 1))
            };
            rows.add(a, chain.reward(a, 0), (image(&solved.value), image(&solved.tellings)));
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rumor::Rumor;
    use crate::rumor::chain::Memory;
    use crate::rumor::eliminate;
    use sottovoce_privacy::Ends;

    fn solved(memory: Memory) -> (Chain, Layout, Solved) {
        let chain = Chain::new(&Rumor::new(40, 4, 0.7).unwrap(), memory).unwrap();
        let layout = Layout::of(&chain);
        let solved = eliminate::states(&chain, &layout);
        (chain, layout, solved)
    }

    #[test]
    fn a_spoiled_solution_has_a_wide_interval_that_still_holds() {
        for memory in [Memory::Heard, Memory::Told] {
            let (chain, layout, mut solved) = solved(memory);
            let truth = solved.value[0];
            for (i, error) in [(0, 1e-4), (17, -1e-3), (60, 1e-5), (3, -2e-6)] {
                solved.value[i] += error;
                let Ends { lower, upper } = *states(&chain, &layout, &solved).unwrap();
                assert!(lower <= truth && truth <= upper && upper - lower > error.abs(), "{lower} {upper}");
            }
        }
    }

    #[test]
    fn what_is_not_proven_is_not_said() {
        let (chain, layout, solved) = solved(Memory::Told);
        let spoiled = |change: fn(&mut Solved)| {
            let mut solved = solved.clone();
            change(&mut solved);
            states(&chain, &layout, &solved)
        };
        assert!(spoiled(|solved| solved.value[7] = f64::NAN).is_none());
        assert!(spoiled(|solved| solved.tellings[7] = f64::NAN).is_none());
        assert!(spoiled(|solved| solved.tellings[7] = -1.0).is_none());
        assert!(spoiled(|solved| solved.tellings.iter_mut().for_each(|time| *time *= 0.4)).is_none());
        assert!(spoiled(|_| ()).is_some());
    }
}
