//! Holds what was measured against what was claimed, with a stated confidence.
//!
//! Informed errors are Gaussian with variance `v >= sigma² / f`, so that the sum of their squares over `v` is chi-square. An interval
//! for `v` that lies *below* `sigma² / claim` proves a larger loss than claimed; so does a game won too often, whatever the law of
//! the errors. One that misses the variance of the attack's own algebra says that attack and accountant speak of different
//! things. All of that holds together, for all peers, with confidence `1 - SIGNIFICANCE`.

use serde::Serialize;
use sottovoce_protocol::Peer;
use sottovoce_views::exact::Leakage;

use super::attack::Attackers;
use super::finding::{Errors, Game, Target, is_exposed};
use super::measure::Tally;
use super::solve::Projector;
use super::{Claim, Question, Result};
use crate::Attack;
use crate::chi_square::VarianceLimits;

/// Probability that a true claim fails.
pub(super) const SIGNIFICANCE: f64 = 1e-3;
/// The same for what is reported of one peer alone: its interval, and the loss proven.
const INTERVAL: f64 = 1e-3;
const PROVEN: f64 = 0.05;
/// A noisy value is solved for if the error is below this share of the noise.
const SOLVED: f64 = 1e-3;

/// What the attack says about a claim, from best to worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Judgement {
    /// The measurement is what the claim says it is.
    Agrees,
    /// The loss only shows beyond double precision: nothing was measured that could speak against the claim, or for it.
    NotTested,
    /// It is not, and the error is larger than it should be.
    Disagrees,
    /// The attack's own algebra sees more than claimed, by too little to be measured.
    Inconsistent,
    /// The measurement proves a larger loss than claimed.
    Understated,
}

/// What is known of a peer before anything is measured.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sight {
    claimed: f64,
    exact: f64,
    visible: f64,
    sees: bool,
    /// Leverage of the uninformed attacker.
    leverage: f64,
}

/// Limits for one number of runs and peers.
pub(super) struct Judge<'a> {
    question: &'a Question,
    /// How far apart the two values of a game are.
    gap: f64,
    local_mu: f64,
    /// The claim is that of an exact accountant, in which nothing is in doubt: it must not be above the truth either.
    strict: bool,
    exact: bool,
    rounding: f64,
    alone: VarianceLimits,
    proven: VarianceLimits,
    together: VarianceLimits,
    game: f64,
}

impl<'a> Judge<'a> {
    pub(super) fn new(
        (question, gap): (&'a Question, f64),
        claim: &Claim,
        leakage: &Leakage,
        informed: &Projector,
        targets: usize,
    ) -> Result<Self> {
        let limits = |tail| VarianceLimits::new(question.runs, tail);
        // A bound that is not sharp is tested from one side only.
        let exact = *claim == Claim::Exact && leakage.certified;
        // Half of the error probability for the two sides of the interval, half for the game.
        let share = SIGNIFICANCE / targets as f64;
        Ok(Self {
            question,
            gap,
            local_mu: question.local_mu()?,
            strict: exact && leakage.certified && leakage.rank == Some(informed.rank),
            exact,
            rounding: 4.0 * informed.rounding,
            alone: limits(0.5 * INTERVAL),
            proven: limits(0.5 * PROVEN),
            together: limits(0.25 * share),
            game: 0.5 * share,
        })
    }

    pub(super) fn sight(&self, claimed: f64, exact: f64, attackers: &Attackers, i: usize) -> Sight {
        let sees = attackers.informed.sees(i);
        let visible = if sees { attackers.informed.leverages[i] } else { 0.0 };
        Sight { claimed, exact, visible, sees, leverage: attackers.uninformed[i] }
    }

    pub(super) fn target(
        &self,
        peer: Peer,
        distance: Option<u32>,
        sight: Sight,
        tally: &Tally,
    ) -> Result<Target> {
        let (unit, runs) = (self.question.sigma.powi(2), self.question.runs as f64);
        let measured = unit * tally.informed / runs;
        let game = sight.sees.then_some(Game {
            misses: tally.misses,
            high: tally.high,
            false_alarms: tally.false_alarms,
            low: tally.low,
        });
        let proven_loss = if sight.sees {
            (unit / self.proven.of(measured).upper).max(self.won(game, 0.5 * PROVEN)?)
        } else {
            0.0
        };
        let noisy = Errors {
            predicted: unit * self.noisy_error(sight.leverage),
            measured: unit * tally.noisy / runs,
        };
        Ok(Target {
            peer,
            distance,
            claimed: sight.claimed,
            loss: sight.exact,
            visible: sight.visible,
            more_digits_see_more: self.beyond(sight.exact, sight.visible),
            exposed: is_exposed(sight.exact),
            solved: noisy.measured.sqrt() < SOLVED * self.question.sigma,
            informed: sight.sees.then_some(Errors { predicted: unit / sight.visible, measured }),
            interval: sight.sees.then(|| self.alone.of(measured)),
            uninformed: Errors {
                predicted: unit * self.uninformed_error(sight.leverage),
                measured: unit * tally.uninformed / runs,
            },
            noisy,
            proven_loss,
            proven_mu: proven_loss.sqrt() * self.local_mu,
            judgement: self.judge(sight, measured, game)?,
            game,
        })
    }

    fn judge(&self, sight: Sight, measured: f64, game: Option<Game>) -> Result<Judgement> {
        let unit = self.question.sigma.powi(2);
        let slack = 1e-7 + self.rounding;
        if sight.sees {
            let interval = self.together.of(measured);
            let won = self.won(game, self.game)?;
            if interval.upper * sight.claimed < unit || won > sight.claimed {
                return Ok(Judgement::Understated);
            }
            if sight.visible > sight.claimed + slack {
                return Ok(Judgement::Inconsistent);
            }
            // An exact claim is the prediction, unless doubles see less than it counts.
            let below = self.beyond(sight.claimed, sight.visible);
            let predicted = if self.exact && !below { sight.claimed } else { sight.visible };
            if !interval.contains(unit / predicted) {
                return Ok(Judgement::Disagrees);
            }
        }
        Ok(match self.exact && self.beyond(sight.claimed, sight.visible) {
            true if self.strict => Judgement::Disagrees,
            true => Judgement::NotTested,
            false => Judgement::Agrees,
        })
    }

    /// Whether a loss is above the visible one by more than rounding.
    fn beyond(&self, loss: f64, visible: f64) -> bool {
        loss > visible * (1.0 + 1e-3) + 1e-6 + self.rounding
    }

    /// The loss that the game proves; nothing if one of the two values never came up.
    fn won(&self, game: Option<Game>, significance: f64) -> Result<f64> {
        let Some(Game { misses, high, false_alarms, low }) = game else { return Ok(0.0) };
        if high == 0 || low == 0 {
            return Ok(0.0);
        }
        let mu = Attack::new(misses, high, false_alarms, low)?.error_rates(significance)?.mu_lower();
        // Values that are rounded to one cannot be told apart.
        Ok(if self.gap > 0.0 { (mu * self.question.sigma / self.gap).powi(2) } else { 0.0 })
    }

    /// Squared error of the noisy value's estimate, in units of the local noise.
    fn noisy_error(&self, leverage: f64) -> f64 {
        (1.0 + self.spread()) * (1.0 - leverage)
    }

    /// Squared error of the uninformed estimate, in units of the local noise.
    fn uninformed_error(&self, leverage: f64) -> f64 {
        let spread = self.spread();
        spread * (1.0 - spread / (1.0 + spread) * leverage)
    }

    /// The prior variance in units of the local noise.
    fn spread(&self) -> f64 {
        (self.question.prior.deviation / self.question.sigma).powi(2)
    }
}
