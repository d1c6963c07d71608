//! From a target to the noise: the same accountants that judge a run.

use serde::{Deserialize, Serialize};

use sottovoce_privacy::calibrate::headroom;
pub use sottovoce_views::descent::Currency;
use sottovoce_views::descent::with_room;

use super::Settings;
use super::losses::Question;
use crate::{Error, Result, require};

/// Whose loss is bounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Against {
    /// Of every peer, towards someone who sees every message.
    WireTapper,
    /// Of every peer, towards every other.
    WorstPeer,
    /// The mean over all pairs: a summary, and a guarantee for nobody.
    MeanPeer,
}

/// How much may be lost.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Target {
    /// A Rényi loss at an order.
    Renyi {
        /// The order.
        order: f64,
        /// The loss.
        epsilon: f64,
    },
    /// `(epsilon, delta)`.
    Approximate {
        /// Epsilon.
        epsilon: f64,
        /// Delta.
        delta: f64,
    },
}

/// How much may be lost, and to whom.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Promise {
    /// How much.
    pub target: Target,
    /// To whom.
    pub against: Against,
}

impl Promise {
    /// The noise under which a whole run keeps the promise.
    pub fn sigma(&self, run: &Question) -> Result<f64> {
        // No peer learns more than a wire-tapper, whose loss is exactly Gaussian.
        let all = self.target.sigma(run.iterations as f64 * run.share(), Currency::Gaussian)?;
        if self.against == Against::WireTapper {
            return Ok(all);
        }
        let units = run.revealed()?;
        match self.against {
            Against::MeanPeer => self.target.sigma(units.pairs.mean, units.currency),
            _ => Ok(all.min(self.target.sigma(units.pairs.worst, units.currency)?)),
        }
    }

    /// Where a run with this noise must end: lowers its iterations, sets its budget, or returns its last step.
    pub fn limit(&self, run: &Question, settings: &mut Settings) -> Result<Option<usize>> {
        let sigma = settings.sigma;
        let remedy = "without noise nothing is private; leave out the target, or the 0";
        require(sigma != 0.0, "sigma", sigma, remedy)?;
        if self.against == Against::WireTapper {
            settings.budget = Some(self.target.mu_squared()? / run.share());
            return Ok(None);
        }
        let remedy = "a mean cannot end a run; leave out --sigma";
        require(self.against == Against::WorstPeer, "against", "mean-peer", remedy)?;
        let fits = |iterations: usize| Ok::<_, Error>(sigma >= self.sigma(&Question { iterations, ..*run })?);
        if fits(settings.iterations)? {
            return Ok(None);
        }
        // Where messages take their time, tokens are ahead of each other: no step ends them all.
        let remedy = "on a network a target cannot end a walk; give at least as much as the target alone asks for, or leave out sigma, the target or the network";
        require(run.network.is_none(), "sigma", sigma, remedy)?;
        let room = with_room(0.0, settings.iterations, Currency::Concentrated);
        let most = || Ok((sigma / self.target.sigma(1.0, Currency::Concentrated)?).powi(2) - room);
        if let Some(last) = run.method.way().last_step(run, &most)? {
            return Ok(Some(last));
        }
        // Losses grow with the iterations: the most that fit are found by halving.
        let (mut fit, mut much) = (0, settings.iterations);
        while much - fit > 1 {
            let middle = fit.midpoint(much);
            if fits(middle)? { fit = middle } else { much = middle }
        }
        settings.iterations = fit;
        let remedy = "the budget is spent by the first step; raise the noise or the budget";
        require(settings.iterations > 0, "sigma", sigma, remedy)?;
        Ok(None)
    }
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Renyi { order, epsilon } => write!(f, "a Rényi loss of {epsilon} at order {order}"),
            Self::Approximate { epsilon, delta } => write!(f, "epsilon {epsilon} at delta {delta:e}"),
        }
    }
}

impl Target {
    /// Refuses targets that nothing meets.
    pub fn check(&self) -> Result<()> {
        let epsilon = match *self {
            Self::Renyi { order, epsilon } => {
                require(order > 1.0 && order.is_finite(), "order", order, "give a finite number above 1")?;
                epsilon
            }
            Self::Approximate { epsilon, delta } => {
                require(delta > 0.0 && delta < 1.0, "delta", delta, "give a number between 0 and 1")?;
                epsilon
            }
        };
        require(epsilon > 0.0 && epsilon.is_finite(), "epsilon", epsilon, "give a positive, finite number")
    }

    /// The largest squared Gaussian loss that meets it.
    pub fn mu_squared(&self) -> Result<f64> {
        self.largest(Currency::Gaussian)
    }

    /// The least noise, in sensitivities, under which `units` meet the target.
    pub fn sigma(&self, units: f64, currency: Currency) -> Result<f64> {
        if !(units > 0.0 && units.is_finite()) {
            return Err(Error::refused(format!(
                "`target` is for what other peers learn, and they learn nothing ({units} units), whatever the noise: give sigma, or a target against the wire-tapper"
            )));
        };
        Ok((units / self.largest(currency)?).sqrt() * self.headroom())
    }

    /// By which factor noise is raised.
    fn headroom(&self) -> f64 {
        match *self {
            Self::Renyi { epsilon, .. } => headroom(epsilon, 0.0),
            Self::Approximate { epsilon, delta } => headroom(epsilon, delta),
        }
    }

    /// The largest `m / sigma²` that meets it.
    fn largest(&self, currency: Currency) -> Result<f64> {
        self.check()?;
        match *self {
            Self::Renyi { order, epsilon } => Ok(2.0 * epsilon / order),
            Self::Approximate { epsilon, delta } => {
                let fits = |ratio: f64| -> Result<bool> {
                    // A loss too large to be stated does not fit.
                    Ok(currency
                        .loss(ratio, 1.0)
                        .is_ok_and(|loss| loss.epsilon(delta).is_ok_and(|e| e.upper <= epsilon)))
                };
                let (mut low, mut high) = (-60.0_f64, 16.0_f64);
                let remedy = format!("no noise gives so little at delta {delta}; raise one of them");
                require(fits(low.exp())?, "epsilon", epsilon, remedy)?;
                while high - low > 1e-13 * low.abs().max(1.0) {
                    let middle = 0.5 * (low + high);
                    if fits(middle.exp())? { low = middle } else { high = middle }
                }
                Ok(low.exp())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_calibrated_meets_its_target_and_hardly_more() {
        for currency in [Currency::Gaussian, Currency::Concentrated] {
            for (epsilon, delta) in [(0.1, 1e-6), (1.0, 1e-5), (8.0, 1e-9)] {
                let target = Target::Approximate { epsilon, delta };
                let sigma = target.sigma(7.0, currency).unwrap();
                let loss = |sigma| currency.loss(7.0, sigma).unwrap().epsilon(delta).unwrap().upper;
                assert!(
                    loss(sigma) <= epsilon && loss(sigma * 0.999) > epsilon,
                    "{currency:?} {epsilon} {delta}"
                );
            }
        }
    }

    #[test]
    fn renyi_targets_have_a_closed_form() {
        let sigma = Target::Renyi { order: 2.0, epsilon: 0.5 }.sigma(10.0, Currency::Gaussian).unwrap();
        assert!((sigma * sigma - 20.0).abs() < 1e-9);
    }

    #[test]
    fn impossible_targets_are_refused() {
        for target in [
            Target::Renyi { order: 1.0, epsilon: 1.0 },
            Target::Renyi { order: 2.0, epsilon: 0.0 },
            Target::Approximate { epsilon: -1.0, delta: 1e-5 },
            Target::Approximate { epsilon: 1.0, delta: 0.0 },
        ] {
            assert!(target.sigma(1.0, Currency::Gaussian).is_err(), "{target:?}");
        }
        assert!(Target::Renyi { order: 2.0, epsilon: 1.0 }.sigma(0.0, Currency::Gaussian).is_err());
    }
}
