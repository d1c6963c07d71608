//! Bets of an attacker who scores: a threshold chosen on a first part of the trials, errors counted on the rest.

use sottovoce_audit::{Attack, ErrorRates};

use crate::Result;

/// The share of trials that the threshold is chosen on.
const FIRST: usize = 5;

/// Scores of independent trials: the higher, the more likely the target is a member.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Trials {
    /// With the target.
    pub members: Vec<f64>,
    /// Without it.
    pub strangers: Vec<f64>,
}

/// What was counted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Counted {
    /// From this score on the target is taken for a member.
    pub threshold: f64,
    /// Members that were not.
    pub misses: u64,
    /// Of so many.
    pub members: u64,
    /// Strangers that were.
    pub false_alarms: u64,
    /// Of so many.
    pub strangers: u64,
    /// Limits on both rates.
    pub rates: ErrorRates,
}

impl Trials {
    /// Chooses the threshold that is worth most on the first fifth, and counts errors on the rest: the attack is fixed before the counted trials are seen.
    pub(super) fn counted(
        &self,
        significance: f64,
        worth: impl Fn(ErrorRates) -> Result<f64>,
    ) -> Result<Counted> {
        let (first, rest) = (self.part(true), self.part(false));
        let mut best: Option<(f64, f64)> = None;
        for &threshold in first.members.iter().chain(&first.strangers) {
            let worth = worth(first.at(threshold, significance)?.rates)?;
            if best.is_none_or(|(most, _)| worth > most) {
                best = Some((worth, threshold));
            }
        }
        // Nobody is taken for a member where nothing is known.
        rest.at(best.map_or(f64::INFINITY, |(_, threshold)| threshold), significance)
    }

    fn part(&self, first: bool) -> Self {
        let cut = |scores: &[f64]| {
            let (chosen, counted) = scores.split_at(scores.len() / FIRST);
            if first { chosen.to_vec() } else { counted.to_vec() }
        };
        Self { members: cut(&self.members), strangers: cut(&self.strangers) }
    }

    fn at(&self, threshold: f64, significance: f64) -> Result<Counted> {
        let taken = |scores: &[f64]| scores.iter().filter(|score| **score >= threshold).count() as u64;
        let (members, strangers) = (self.members.len() as u64, self.strangers.len() as u64);
        let (misses, false_alarms) = (members - taken(&self.members), taken(&self.strangers));
        let rates = Attack::new(misses, members, false_alarms, strangers)?.error_rates(significance)?;
        Ok(Counted { threshold, misses, members, false_alarms, strangers, rates })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The threshold comes from the first fifth alone: scores of the rest, whatever they are, do not move it.
    #[test]
    fn the_threshold_is_fixed_before_errors_are_counted() {
        let scores = |from: f64| (0..50).map(|i| from + f64::from(i % 10)).collect::<Vec<f64>>();
        let mut trials = Trials { members: scores(6.0), strangers: scores(0.0) };
        let worth = |rates: ErrorRates| Ok(rates.delta_lower(0.0)? + 1e-9);
        let counted = trials.counted(0.05, worth).unwrap();
        assert_eq!((counted.members, counted.strangers), (40, 40));
        trials.members[10..].fill(-100.0);
        let worse = trials.counted(0.05, worth).unwrap();
        assert_eq!((worse.threshold, worse.misses), (counted.threshold, 40));
        assert!(Trials::default().counted(0.05, worth).is_err());
    }
}
