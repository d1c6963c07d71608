//! All that is known about the source of some rumours, as one value: the published numbers first, ours beside them.

use serde::Serialize;
use sottovoce_privacy::{Adjacency, Interval, Standing, Unit};

use super::{Method, Rumor, Sharp, Spread, attack_success};
use crate::Result;

/// What none of the numbers covers.
pub const NOT_COVERED: [&str; 6] = [
    "a clock: then only epsilon = 0 holds, and no prediction uncertainty",
    "lost messages: then the closed form holds (in rounds, three times it), and only at epsilon = 0",
    "curious peers who do not follow the protocol",
    "an end of the run that shows, as when peers stop once everybody knows",
    "messages that say how far they have come or how often their sender has told",
    "graphs that are not complete",
];

/// Losses of a source by formulas of ours.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Better {
    /// Delta at the epsilon asked for.
    pub delta: f64,
    /// Where the delta of one rumour at `epsilon = 0` is known to lie.
    pub at_zero: Interval,
    /// How it was found.
    pub method: Method,
    /// No attack names the source with a larger probability (uniform prior).
    pub attack_success_at_most: f64,
}

/// What `rumors` rumours of one source reveal about it.
///
/// ```
/// use sottovoce_views::rumor::Rumor;
/// let account = Rumor::new(100, 10, 0.1)?.account(0.0, 1)?;
/// assert!((account.prediction_uncertainty - 0.801).abs() < 1e-12);                        // Theorem 8
/// assert!(account.improved_uncertainty > 4.0);                                            // ours
/// assert!(account.improved.attack_success_at_most < 0.12 && account.posterior_at_most > 0.55);
/// # Ok::<(), sottovoce_views::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Account {
    /// All peers.
    pub nodes: usize,
    /// Those who log.
    pub curious: usize,
    /// The muting parameter.
    pub muting: f64,
    /// Rumours of the one source.
    pub rumors: u32,
    /// The epsilon that was asked for.
    pub epsilon: f64,
    /// The delta at it by the published theorems, of asynchronous tellings.
    pub delta: f64,
    /// Theorem 5's or 8's `c`, over all rumours.
    pub prediction_uncertainty: f64,
    /// `1 / (1 + c)`: whatever was seen, nobody is the source with a larger probability (uniform prior), so no attack is right more
    /// often.
    pub posterior_at_most: f64,
    /// Table 1's value of one rumour at `epsilon = 0`.
    pub table1_delta: f64,
    /// Closed forms of ours, of asynchronous tellings.
    pub improved: Better,
    /// The same in rounds.
    pub rounds: Better,
    /// The `c` of ours.
    pub improved_uncertainty: f64,
    /// `1 / (1 + c)` with it.
    pub improved_posterior_at_most: f64,
    /// The epsilon of one rumour at which delta is 0; none of push.
    pub pure_epsilon: Option<f64>,
    /// The loss of asynchronous tellings from both sides; none where one peer is honest.
    pub sharp: Option<Better>,
    /// Why there is no sharp loss, or how it was found.
    pub sharp_reason: &'static str,
    /// How long it takes; none where that takes too long to tell.
    pub spreading: Option<Spread>,
    /// Who attacks.
    pub adversary: String,
    /// What is protected.
    pub unit: Unit,
    /// Any two honest peers as sources.
    pub adjacency: Adjacency,
    /// By what right.
    pub standing: Standing,
    /// What is not promised.
    pub not_covered: [&'static str; 6],
}

impl Rumor {
    /// Accounts for `rumors` rumours of one source at `epsilon`.
    pub fn account(&self, epsilon: f64, rumors: u32) -> Result<Account> {
        let delta = self.delta(epsilon, rumors)?;
        let c = self.prediction_uncertainty(rumors);
        let improved_uncertainty = self.improved_uncertainty(rumors).max(c);
        let sharp = self.sharp();
        let better = |sharp: Sharp| self.better(sharp.at_zero, sharp.method, epsilon, rumors);
        let closed = |upper: f64| {
            let at_zero = Interval::of_probability(self.curious as f64 / self.peers as f64, upper);
            self.better(at_zero, Method::ClosedForm, epsilon, rumors)
        };
        Ok(Account {
            nodes: self.peers,
            curious: self.curious,
            muting: self.muting,
            rumors,
            epsilon,
            delta,
            prediction_uncertainty: c,
            posterior_at_most: 1.0 / (1.0 + c),
            table1_delta: self.table1(),
            improved: closed(self.improved_delta()),
            rounds: closed(self.rounds_delta()),
            improved_uncertainty,
            improved_posterior_at_most: 1.0 / (1.0 + improved_uncertainty),
            pure_epsilon: Some(self.pure_epsilon()).filter(|epsilon| epsilon.is_finite()),
            sharp: sharp.map(better),
            sharp_reason: reason(sharp.map(|sharp| sharp.method)),
            spreading: self.spread(),
            adversary: self.adversary(),
            unit: Unit::Source,
            adjacency: Adjacency::Replace,
            standing: Standing::Proven,
            not_covered: NOT_COVERED,
        })
    }

    /// Who attacks, in words.
    pub fn adversary(&self) -> String {
        match self.curious {
            0 => "nobody, as no peer is curious".into(),
            1 => "the one curious peer, who logs who tells it and whom it tells, in order, without a clock"
                .into(),
            many => format!(
                "the coalition of {many} curious peers, who log who tells them and whom they tell, in order, without a clock"
            ),
        }
    }

    fn better(&self, at_zero: Interval, method: Method, epsilon: f64, rumors: u32) -> Better {
        let law = self.losses(at_zero.upper);
        let posterior = 1.0 / (1.0 + self.improved_uncertainty(rumors));
        Better {
            delta: law.delta(epsilon, rumors),
            at_zero,
            method,
            attack_success_at_most: attack_success(self.honest(), law.delta(0.0, rumors)).min(posterior),
        }
    }
}

fn reason(method: Option<Method>) -> &'static str {
    match method {
        None => "only one peer is honest: there is nobody to hide among",
        Some(Method::States) => "all states of the chain were eliminated, from both sides",
        Some(Method::Totals) => {
            "too many states: the closed form, and from below the numbers of active peers"
        }
        Some(Method::ClosedForm) => "too many peers: the closed form",
    }
}
