//! What the simulations are held against: the mean dynamics of spreading, and bounds on what any attack can achieve
//! (`docs/theorems/rumor-source.md`).

use sottovoce_privacy::Interval;
use sottovoce_views::parallel;
use sottovoce_views::rumor::{Rumor, Sharp, attack_success};

use super::work::{Attack, Size};
use crate::Result;

/// All intervals of one figure hold together with this confidence.
pub(super) const CONFIDENCE: f64 = 0.999;

/// What bounds an attack.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bounds {
    /// From the delta of Theorem 5 or 7, composed over rumours.
    pub(super) published: f64,
    /// From the exact delta against the paper's adversary, who does not use whom it told.
    pub(super) sharp: f64,
    /// From prediction uncertainty, which asks for every honest peer to be suspected: as published, and ours.
    pub(super) uncertainty: Option<(f64, f64)>,
}

/// What is known of one muting parameter.
#[derive(Debug, Clone, Copy)]
pub(super) struct Theory {
    size: Size,
    pub(super) rumor: Rumor,
    /// Theorem 5 or 7.
    pub(super) published: f64,
    sharp: Option<Sharp>,
}

impl Theory {
    pub(super) fn new(size: Size, muting: f64) -> Result<Self> {
        let rumor = Rumor::new(size.peers, size.curious, muting)?;
        Ok(Self { size, rumor, published: rumor.delta(0.0, 1)?, sharp: rumor.heard() })
    }

    /// Several at once: the exact delta takes a while.
    pub(super) fn all(size: Size, mutings: &[f64]) -> Result<Vec<Self>> {
        parallel::map(mutings.len(), |i| Self::new(size, mutings[i]), |_| ()).into_iter().collect()
    }

    /// Where the delta of one rumour lies.
    pub(super) fn exact(&self) -> Interval {
        self.sharp.map_or(Interval::of_probability(0.0, self.published), |sharp| sharp.at_zero)
    }

    /// What bounds an attack on so many suspects and rumours of one source.
    pub(super) fn bounds(&self, suspects: usize, rumors: u32) -> Result<Bounds> {
        let success = |delta: f64| attack_success(suspects, delta);
        let published = self.rumor.delta(0.0, rumors)?;
        let sharp = self.sharp.map_or(published, |sharp| sharp.delta(0.0, rumors));
        let posterior = |c: f64| 1.0 / (1.0 + c);
        let (printed, ours) =
            (self.rumor.prediction_uncertainty(rumors), self.rumor.improved_uncertainty(rumors));
        Ok(Bounds {
            published: success(published),
            sharp: success(sharp),
            uncertainty: (suspects == self.size.honest()).then(|| (posterior(printed), posterior(ours))),
        })
    }

    /// Rounds until everyone knows; endless where that takes too long to predict.
    pub(super) fn rounds(&self) -> f64 {
        self.rumor.spread().map_or(f64::INFINITY, |spread| spread.rounds)
    }
}

impl Bounds {
    /// The smallest of all that is published.
    pub(super) fn least_published(&self) -> f64 {
        self.uncertainty.map_or(self.published, |(printed, _)| printed.min(self.published))
    }

    /// The smallest of all.
    pub(super) fn least(&self) -> f64 {
        self.uncertainty.map_or(self.sharp, |(_, ours)| ours.min(self.sharp))
    }
}

/// An attack, its interval and its bounds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Held {
    pub(super) attack: Attack,
    pub(super) estimate: f64,
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) bounds: Bounds,
}

impl Held {
    /// `together` is how many intervals shall hold at once.
    pub(super) fn new(attack: Attack, together: usize, bounds: Bounds) -> Self {
        let confidence = 1.0 - (1.0 - CONFIDENCE) / together.max(1) as f64;
        let (low, high) = attack.found.interval(confidence);
        Self { attack, estimate: attack.found.estimate(), low, high, bounds }
    }

    /// One line of data.
    pub(super) fn csv(&self) -> String {
        let Attack { muting, number, found } = self.attack;
        let (published, exact) = (self.bounds.least_published(), self.bounds.least());
        format!(
            "{muting},{number},{},{},{},{},{published},{exact}",
            found.hits, found.runs, self.low, self.high
        )
    }

    /// How far the attack is beyond guessing: 0 is guessing, 1 is always right; at most delta.
    pub(super) fn beyond_guessing(&self, suspects: usize) -> f64 {
        beyond(self.estimate, suspects)
    }

    /// Whether it surely found the source more often than the published bounds allow.
    pub(super) fn refutes(&self) -> bool {
        self.low > self.bounds.least_published()
    }

    /// Whether it surely found the source more often than any bound allows, ours included.
    pub(super) fn refutes_ours(&self) -> bool {
        self.low > self.bounds.least()
    }
}

/// The header of [`Held::csv`]; `number` is of suspects or of rumours.
pub(super) const HEADER: &str = "muting,number,hits,runs,low,high,bound_published,bound_exact";

/// A share of successes with the guesses taken out.
pub(super) fn beyond(share: f64, suspects: usize) -> f64 {
    let guess = 1.0 / suspects as f64;
    (share - guess) / (1.0 - guess)
}

/// Rounds that one more unit of `ln n` costs: growth by `1 + s` at first, then the last ones are missed with `e^-a` at the plateau.
pub(super) fn rounds_per_log(muting: f64) -> f64 {
    1.0 / muting.ln_1p() + 1.0 / plateau(muting)
}

/// The share active in the end, of a crowd without end: the fixed point of the mean dynamics, about `2 s` of a small `s`.
pub(super) fn plateau(muting: f64) -> f64 {
    let after = |active: f64| muting * active * (-active).exp() - (-active).exp_m1();
    let from_above = std::iter::successors(Some(1.0), |&active| Some(after(active)));
    let pairs = from_above.clone().zip(from_above.skip(1)).take(100_000);
    pairs.skip_while(|(before, after)| before - after > 1e-15).map(|(_, after)| after).next().unwrap_or(0.0)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_plateau_is_where_the_dynamics_end() {
        for s in [0.05, 0.1, 0.5, 0.9, 1.0] {
            let level = plateau(s);
            assert!((level - (1.0 - (1.0 - s * level) * (-level).exp())).abs() < 1e-12, "{s}");
            let late = sottovoce_views::rumor::mean_dynamics(1 << 16, s).nth(2000).map(|(_, active)| active);
            assert!((late.unwrap_or(0.0) - level).abs() < 1e-9, "{s}");
        }
        assert!(plateau(0.0) < 1e-4);
        assert!((plateau(1.0) - 1.0).abs() < 1e-12 && (plateau(0.001) / 0.002 - 1.0).abs() < 0.01);
    }
    use sottovoce_audit::source::Share;

    fn theory(muting: f64) -> Theory {
        Theory::new(Size { peers: 100, curious: 10, runs: 1, timed: 1, attacks: 1, votes: 1 }, muting)
            .unwrap()
    }

    #[test]
    fn bounds_are_those_of_the_theorems() {
        let pair = theory(0.0).bounds(2, 1).unwrap();
        assert!((pair.published - 0.55).abs() < 1e-12 && pair.uncertainty.is_none());
        let all = theory(0.0).bounds(90, 1).unwrap();
        // Theorem 5: c = n/(f + 1) - 1, so (f + 1)/n; and 1/90 + 89/90 · 1/10 is the same.
        assert!((all.uncertainty.unwrap().0 - 0.11).abs() < 1e-12 && (all.published - 0.11).abs() < 1e-12);
        let push = theory(1.0).bounds(90, 1).unwrap();
        assert!(push.published == 1.0 && push.sharp < 1.0 && push.least() <= push.least_published());
    }

    #[test]
    fn only_a_sure_excess_refutes() {
        let held = |hits: u64| {
            let found = Share { hits, runs: 1000 };
            Held::new(Attack { muting: 0.0, number: 2, found }, 10, theory(0.0).bounds(2, 1).unwrap())
        };
        assert!(!held(560).refutes() && !held(560).refutes_ours() && held(700).refutes());
        assert!((held(550).beyond_guessing(2) - 0.1).abs() < 1e-12);
    }

    #[test]
    fn the_cost_of_a_logarithm_at_push_is_that_of_doubling_and_of_the_last_ones() {
        assert!((rounds_per_log(1.0) - (1.0 / 2f64.ln() + 1.0)).abs() < 1e-9);
    }
}
