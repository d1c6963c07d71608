//! What an attacker can do: how well it can tell whether a record was used, from everything that was released.
//!
//! All of it follows from the pairs `(epsilon, delta)` that hold. Each puts two lines below the trade-off curve of the two errors of a test
//! ([`TradeOff`]), so whatever pairs are looked at, no risk is understated; those that matter are searched for, so that the risk is that of the whole
//! curve. Proof: `docs/theorems/given-guarantees.md`.

use serde::Serialize;

use crate::interval::smaller;
use crate::special::UNIT;
use crate::trade_off::Epsilons;
use crate::{Loss, Result, TradeOff};

/// Where the rate of true positives is looked at.
const FALSE_POSITIVES: [f64; 2] = [0.01, 0.001];

/// Bounds on what an attacker can do who knows everything but whether a record was used.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Risk {
    /// The parameter of Gaussian differential privacy, where the loss has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mu: Option<f64>,
    /// The share of members that it finds at most, if one in a hundred of the others may be called members.
    pub true_positives_at_1_percent: f64,
    /// The same if one in a thousand may be.
    pub true_positives_at_0_1_percent: f64,
    /// True-positive rate less false-positive rate, at best.
    pub advantage: f64,
    /// How often it is right at most, if members and others are equally likely.
    pub accuracy: f64,
}

impl Risk {
    /// Of a loss whose epsilons from above at several deltas are these; the probability with which epsilon 0 fails is `at_zero` at most.
    ///
    /// ```
    /// use sottovoce_privacy::{Gdp, Risk};
    /// let gdp = Gdp::new(1.0)?;
    /// let epsilons = |deltas: &[f64]| deltas.iter().map(|&delta| Ok(gdp.epsilon(delta)?.upper)).collect();
    /// let risk = Risk::new(&epsilons, gdp.delta(0.0)?.upper, Some(1.0))?;
    /// // Phi(Phi^-1(0.01) + 1), and Phi(1/2) - Phi(-1/2).
    /// assert!((risk.true_positives_at_1_percent - 0.092_361).abs() < 1e-6);
    /// assert!((risk.advantage - 0.382_925).abs() < 1e-6);
    /// # Ok::<(), sottovoce_privacy::Error>(())
    /// ```
    pub fn new(epsilons: &Epsilons, at_zero: f64, mu: Option<f64>) -> Result<Self> {
        Ok(Self::of(&TradeOff::near(&FALSE_POSITIVES, epsilons)?, at_zero, mu))
    }

    /// Of all that is known where one pair is.
    pub fn of_pair(epsilon: f64, delta: f64) -> Self {
        Self::of(&TradeOff::new(vec![(epsilon, delta)]), 1.0, None)
    }

    fn of(curve: &TradeOff, at_zero: f64, mu: Option<f64>) -> Self {
        let [low, lower] = FALSE_POSITIVES;
        let advantage = smaller(curve.advantage(), at_zero);
        // Half of all are members; what is added is the rounding of the sum.
        let accuracy = smaller(0.5 + 0.5 * advantage * (1.0 + 4.0 * UNIT) + 2.0 * UNIT, 1.0);
        Self {
            mu,
            true_positives_at_1_percent: curve.true_positives(low),
            true_positives_at_0_1_percent: curve.true_positives(lower),
            advantage,
            accuracy,
        }
    }
}

impl Loss {
    /// What an attacker can do with it.
    pub fn risk(&self) -> Result<Risk> {
        let epsilons = |deltas: &[f64]| match self {
            Self::Pld(accountant) => {
                Ok(accountant.epsilons(deltas)?.into_iter().map(|one| one.upper).collect())
            }
            _ => deltas.iter().map(|&delta| Ok(self.epsilon(delta)?.upper)).collect(),
        };
        let (at_zero, mu) = match self {
            Self::Gdp(gdp) => (gdp.delta(0.0)?.upper, Some(gdp.mu())),
            Self::Pld(accountant) => (accountant.delta(0.0)?.upper, accountant.gdp().map(crate::Gdp::mu)),
            _ => (1.0, None),
        };
        Risk::new(&epsilons, at_zero, mu)
    }
}
