//! What an attacker can do: how well it can tell whether a record was used, from everything that was released.
//!
//! All of it follows from the pairs `(epsilon, delta)` that hold. Each puts two lines below the trade-off curve of the two errors of a test
//! ([`TradeOff`]), so whatever pairs are looked at, no risk is understated; those that matter are searched for, so that the risk is that of the whole
//! curve. Proof: `docs/theorems/given-guarantees.md`.

use std::fmt;

use serde::{Deserialize, Serialize};
use sottovoce_fault::decimal::up;

use crate::interval::smaller;
use crate::special::UNIT;
use crate::trade_off::Curve;
use crate::{Gdp, Loss, Result, TradeOff};

/// Where the rate of true positives is looked at.
const FALSE_POSITIVES: [f64; 2] = [0.01, 0.001];
/// What a standard normal number exceeds as rarely.
const QUANTILES: [f64; 2] = [2.326_347_874_040_841, 3.090_232_306_167_813_5];

/// Bounds on what an attacker can do who knows everything but whether a record was used.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Risk {
    /// The parameter of Gaussian differential privacy, where the loss has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
    /// Of a loss whose deltas are these at most.
    ///
    /// ```
    /// use sottovoce_privacy::{Gdp, Risk};
    /// let gdp = Gdp::new(1.0)?;
    /// let risk = Risk::new(&(Box::new(|epsilon| Ok(gdp.delta(epsilon)?.upper)) as _), Some(1.0))?;
    /// // Phi(Phi^-1(0.01) + 1), and Phi(1/2) - Phi(-1/2).
    /// assert!((risk.true_positives_at_1_percent - 0.092_362).abs() < 1e-6);
    /// assert!((risk.advantage - 0.382_925).abs() < 1e-6);
    /// # Ok::<(), sottovoce_privacy::Error>(())
    /// ```
    pub fn new(curve: &Curve, mu: Option<f64>) -> Result<Self> {
        Ok(Self::of(&TradeOff::of_curve(&FALSE_POSITIVES, curve)?, mu))
    }

    /// Of all that is known where one pair is.
    pub fn of_pair(epsilon: f64, delta: f64) -> Self {
        Self::of(&TradeOff::new(vec![(epsilon, delta)]), None)
    }

    /// Of a loss whose epsilon at a delta is this at most.
    pub(crate) fn of_epsilons(epsilon: &dyn Fn(f64) -> Result<f64>) -> Result<Self> {
        Ok(Self::of(&TradeOff::of_epsilons(&FALSE_POSITIVES, epsilon)?, None))
    }

    fn of(curve: &TradeOff, mu: Option<f64>) -> Self {
        let [low, lower] = FALSE_POSITIVES;
        let advantage = curve.advantage();
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

/// In a sentence, rounded up.
impl fmt::Display for Risk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [found, right] =
            [self.true_positives_at_1_percent, self.accuracy].map(|share| up(100.0 * share, 3));
        write!(
            f,
            "at most {found} % true positives at 1 % false positives; right at most {right} % of the time at even odds"
        )
    }
}

impl Loss {
    /// What an attacker can do with it.
    pub fn risk(&self) -> Result<Risk> {
        match self {
            Self::Gdp(gdp) => gdp.risk(),
            Self::Pld(accountant) => Risk::new(&accountant.curve()?, accountant.gdp().map(Gdp::mu)),
            Self::Shared { shares, moved, releases } => shares.risk(*moved, *releases),
            _ => Risk::of_epsilons(&|delta| Ok(self.epsilon(delta)?.upper)),
        }
    }
}

impl Gdp {
    /// What an attacker can do with it.
    pub fn risk(self) -> Result<Risk> {
        // The slope of the trade-off curve at a type I error is known, and with it the pair that touches there.
        let touching = |quantile: f64| {
            let epsilon = (quantile * self.mu() - 0.5 * self.mu_squared()).abs();
            Ok((epsilon, self.delta(epsilon)?.upper))
        };
        let mut pairs = QUANTILES.map(touching).into_iter().collect::<Result<Vec<_>>>()?;
        pairs.push((0.0, self.delta(0.0)?.upper));
        Ok(Risk::of(&TradeOff::new(pairs), Some(self.mu())))
    }
}
