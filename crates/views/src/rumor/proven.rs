//! Which theorem covers a rumour as it was run: one telling at a time or rounds, with a clock or without, with losses or without.

use serde::Serialize;
use sottovoce_privacy::{Adjacency, Standing, Unit};

use super::Rumor;
use crate::Result;

/// How a rumour was run, and what its observers know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Course {
    /// All active peers tell at once.
    pub rounds: bool,
    /// Observers know when they were told, and which of them.
    pub timed: bool,
    /// Tellings may be lost.
    pub lossy: bool,
}

/// What is proven about it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Proven {
    /// Delta at the epsilon asked for.
    pub delta: f64,
    /// Delta at `epsilon = 0`, which bounds what attacks achieve.
    #[serde(skip)]
    pub at_zero: f64,
    /// Whatever was heard, with a uniform prior over everyone who is not curious: nobody is the source with a larger probability. None
    /// where that is not proven.
    pub posterior: Option<f64>,
    /// By which theorem.
    pub by: &'static str,
    /// What is protected.
    pub unit: Unit,
    /// Any two honest peers as sources.
    pub adjacency: Adjacency,
    /// By what right.
    pub standing: Standing,
}

impl Rumor {
    /// The least delta that is proven at `epsilon` for one rumour that was run so.
    ///
    /// ```
    /// use sottovoce_views::rumor::{Course, Rumor};
    /// let rumor = Rumor::new(40, 4, 0.7)?;
    /// let delta = |course| rumor.proven(0.0, course).map(|proven| proven.delta);
    /// let (steps, rounds) = (Course::default(), Course { rounds: true, ..Course::default() });
    /// assert!(delta(steps)? < 0.242 && delta(rounds)? > 0.258);
    /// # Ok::<(), sottovoce_views::Error>(())
    /// ```
    pub fn proven(&self, epsilon: f64, course: Course) -> Result<Proven> {
        let account = self.account(epsilon, 1)?;
        let (steps, rounds) = (self.improved_delta(), self.rounds_delta());
        // Losses change the numbers of tellings, and clocks say more: what holds at epsilon 0 holds for larger ones.
        let (delta, at_zero, by) = match (course.rounds, course.lossy, course.timed, account.sharp) {
            (true, true, _, _) => {
                let delta = self.lossy_rounds_delta();
                (delta, delta, "the improved Theorem 7 for rounds with losses, at epsilon 0")
            }
            (true, _, true, _) => (
                rounds,
                rounds,
                "the improved Theorem 7 for rounds, which holds against clocks, at epsilon 0",
            ),
            (true, ..) => (account.rounds.delta, rounds, "the improved Theorem 7 for rounds"),
            (_, true, ..) => {
                (steps, steps, "the improved Theorem 7, which losses cannot weaken, at epsilon 0")
            }
            (_, _, true, _) => {
                (steps, steps, "the improved Theorem 7, which holds against clocks, at epsilon 0")
            }
            (.., Some(sharp)) => {
                let delta = sharp.delta.min(account.improved.delta).min(account.delta);
                (delta, sharp.at_zero.upper, "the chain of all who are active")
            }
            (.., None) => (account.improved.delta.min(account.delta), steps, "the improved Theorem 7"),
        };
        let posterior = (!course.timed && !course.lossy).then_some(account.improved_posterior_at_most);
        let (unit, adjacency, standing) = (account.unit, account.adjacency, account.standing);
        Ok(Proven { delta, at_zero, posterior, by, unit, adjacency, standing })
    }
}

/// No attack names a source that is one of so many suspects, all equally likely, with a larger probability than this, where two
/// sources differ by `delta` at `epsilon = 0`: `1/m + (1 - 1/m) delta`.
pub fn attack_success(suspects: usize, delta: f64) -> f64 {
    let guess = 1.0 / suspects as f64;
    (guess + (1.0 - guess) * delta).min(1.0)
}
