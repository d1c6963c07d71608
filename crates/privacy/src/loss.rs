//! The currencies of privacy loss, and what each is worth in the others.
//!
//! Conversions go only in the safe direction: what comes out is implied by what went in.

use serde::{Deserialize, Serialize};

use crate::interval::{Reason, add_up, best_bound, within};
use crate::kov;
use crate::mechanism::{check_delta, check_epsilon};
use crate::pld::minimum;
use crate::rdp::epsilon_at;
use crate::special::{Interval, UNIT};
use crate::{Accountant, Error, Gdp, Moved, Result, Shares, require};

/// A privacy loss in one of the currencies.
///
/// ```
/// use sottovoce_privacy::Loss;
/// let pure = Loss::pure(0.5)?.and(&Loss::pure(0.25)?)?;
/// assert_eq!(pure, Loss::pure(0.75)?);
/// assert!(pure.epsilon(1e-5)?.upper < 0.75);      // a little delta buys a little epsilon
/// # Ok::<(), sottovoce_privacy::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Loss {
    /// `epsilon`-DP.
    Pure(f64),
    /// `(epsilon, delta)`-DP.
    Approximate {
        /// Bound on the loss ...
        epsilon: f64,
        /// ... up to this probability.
        delta: f64,
    },
    /// Gaussian DP.
    Gdp(Gdp),
    /// `rho`-zCDP: Rényi loss `rho * order` at every order.
    Zcdp(f64),
    /// Rényi losses at chosen orders (all above 1).
    Rdp(Vec<(f64, f64)>),
    /// The full distribution of the loss, as a composition of known mechanisms.
    Pld(Accountant),
    /// Of sums under discrete Gaussian noise in shares, each sum under fresh noise.
    Shared {
        /// The noise of a sum.
        shares: Shares,
        /// How far one person moves it.
        moved: Moved,
        /// How many sums there are.
        releases: u64,
    },
}

impl Loss {
    /// `epsilon`-DP.
    pub fn pure(epsilon: f64) -> Result<Self> {
        check_epsilon(epsilon)?;
        Ok(Self::Pure(epsilon))
    }

    /// `(epsilon, delta)`-DP.
    pub fn approximate(epsilon: f64, delta: f64) -> Result<Self> {
        check_epsilon(epsilon)?;
        check_delta(delta)?;
        Ok(Self::Approximate { epsilon, delta })
    }

    /// `rho`-zCDP.
    pub fn zcdp(rho: f64) -> Result<Self> {
        if rho >= 0.0 && rho.is_finite() {
            return Ok(Self::Zcdp(rho));
        }
        Err(Error::parameter("rho", rho, "give a finite number of at least 0"))
    }

    /// Rényi losses at the given `(order, loss)` pairs.
    pub fn rdp(points: Vec<(f64, f64)>) -> Result<Self> {
        check_points(&points)?;
        Ok(Self::Rdp(points))
    }

    /// Refuses what is not a loss. The variants are open, so every use asks first: a loss below 0, or one that is not a
    /// number, must not pass a budget for free.
    pub fn check(&self) -> Result<()> {
        match self {
            Self::Pure(epsilon) => check_epsilon(*epsilon),
            Self::Approximate { epsilon, delta } => check_epsilon(*epsilon).and(check_delta(*delta)),
            Self::Zcdp(rho) => Self::zcdp(*rho).map(drop),
            Self::Rdp(points) => check_points(points),
            Self::Shared { shares, moved, releases } => shares.check(*moved, *releases),
            Self::Gdp(_) | Self::Pld(_) => Ok(()),
        }
    }

    /// Epsilon at `delta`. The interval's lower end is 0 where the currency only bounds the loss from above.
    pub fn epsilon(&self, delta: f64) -> Result<Interval> {
        check_delta(delta)?;
        self.check()?;
        let upper = match self {
            Self::Gdp(gdp) => return gdp.epsilon(delta),
            Self::Pld(accountant) => return accountant.epsilon(delta),
            Self::Pure(epsilon) => kov::composed_epsilon(*epsilon, 0.0, 1, delta)?.upper,
            Self::Approximate { epsilon, delta: slack } => {
                kov::composed_epsilon(*epsilon, *slack, 1, delta)?.upper
            }
            Self::Shared { shares, moved, releases } => shares.epsilon(*moved, *releases, delta)?,
            Self::Zcdp(rho) => {
                let at = |ln_c: f64| epsilon_at(1.0 + ln_c.exp(), rho * (1.0 + ln_c.exp()), delta);
                at(minimum(-12.0, 25.0, 48, at)) * (1.0 + 16.0 * UNIT)
            }
            Self::Rdp(points) => {
                let each = points.iter().map(|&(order, loss)| epsilon_at(order, loss, delta));
                best_bound(each) * (1.0 + 16.0 * UNIT)
            }
        };
        if upper == f64::INFINITY {
            return Interval::at_least(0.0, Reason::OneSided);
        }
        Interval::new(0.0, upper)
    }

    /// The Rényi loss at `order`.
    pub fn renyi(&self, order: f64) -> Result<f64> {
        require(order > 1.0 && order.is_finite(), "order", order, "give a finite number above 1")?;
        self.check()?;
        match self {
            Self::Pure(epsilon) => Ok(pure_renyi(*epsilon, order)),
            Self::Gdp(gdp) => Ok(gdp.rdp(order)),
            Self::Zcdp(rho) => Ok(rho * order * (1.0 + 2.0 * UNIT)),
            // A Rényi divergence grows with its order, so the next higher one bounds it.
            Self::Rdp(points) => {
                let higher = points.iter().filter(|point| point.0 >= order).map(|point| point.1);
                Ok(best_bound(higher))
            }
            Self::Pld(accountant) => accountant.rdp(order),
            Self::Approximate { .. } | Self::Shared { .. } => Err(self.incompatible("a Rényi loss")),
        }
    }

    /// Both losses together, where the two currencies can be added; adaptive choice of the second is allowed. Sums are
    /// rounded up.
    pub fn and(&self, other: &Self) -> Result<Self> {
        self.check()?;
        other.check()?;
        let both = match (self, other) {
            (Self::Pure(a), Self::Pure(b)) => Self::Pure(add_up(*a, *b)),
            (
                Self::Pure(a) | Self::Approximate { epsilon: a, .. },
                Self::Pure(b) | Self::Approximate { epsilon: b, .. },
            ) => Self::Approximate { epsilon: add_up(*a, *b), delta: add_up(self.slack(), other.slack()) },
            (Self::Gdp(a), Self::Gdp(b)) => Self::Gdp(a.and(*b)),
            (Self::Zcdp(a), Self::Zcdp(b)) => Self::Zcdp(add_up(*a, *b)),
            (Self::Zcdp(rho), Self::Gdp(gdp)) | (Self::Gdp(gdp), Self::Zcdp(rho)) => {
                Self::Zcdp(add_up(*rho, 0.5 * gdp.price()))
            }
            (Self::Rdp(points), any) | (any, Self::Rdp(points)) => Self::Rdp(
                points
                    .iter()
                    .map(|&(order, loss)| Ok((order, add_up(loss, any.renyi(order)?))))
                    .collect::<Result<_>>()?,
            ),
            (Self::Pld(a), Self::Pld(b)) if a.adjacency() == b.adjacency() => {
                let mut both = a.clone();
                b.events().iter().try_for_each(|(event, count)| both.compose(event.clone(), *count))?;
                Self::Pld(both)
            }
            _ => return Err(self.incompatible("a loss of another currency or adjacency")),
        };
        both.check().map(|()| both)
    }

    fn slack(&self) -> f64 {
        if let Self::Approximate { delta, .. } = self { *delta } else { 0.0 }
    }

    fn incompatible(&self, with: &str) -> Error {
        Error::Unsupported {
            event: format!("{with} for {self:?}"),
            accountant: "the ledger of losses",
            remedy: "state both in one currency (`Rdp` accepts every other that has Rényi losses)".into(),
        }
    }
}

fn check_points(points: &[(f64, f64)]) -> Result<()> {
    for &(order, loss) in points {
        let remedy = "give orders above 1 with losses of at least 0";
        let value = format_args!("({order}, {loss})");
        require(order > 1.0 && order.is_finite() && loss >= 0.0, "rdp", value, remedy)?;
    }
    Ok(())
}

/// The largest Rényi loss of any `epsilon`-DP mechanism: that of randomised response.
fn pure_renyi(epsilon: f64, order: f64) -> f64 {
    // ln( (e^(a e) + e^((1-a) e)) / (1 + e^e) ) / (a - 1): small losses from what the fraction has above 1, a product of positive
    // numbers; large ones with e^(a e) factored out, where nothing cancels.
    let ln = if order * epsilon < 30.0 {
        let above = (order * epsilon).exp_m1() * -((1.0 - order) * epsilon).exp_m1() / (1.0 + epsilon.exp());
        above.ln_1p()
    } else {
        (order - 1.0) * epsilon + ((1.0 - 2.0 * order) * epsilon).exp().ln_1p() - (-epsilon).exp().ln_1p()
    };
    // What rounding may have taken: exponentials carry that of their exponents.
    within(ln / (order - 1.0) * (1.0 + 64.0 * UNIT), 0.0, epsilon)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn zcdp_is_worth_no_less_than_the_gaussian_that_has_it() {
        // mu-GDP is mu²/2-zCDP, so the zCDP bound must lie above the exact GDP epsilon.
        for mu in [0.1, 1.0, 3.0] {
            let (zcdp, gdp) = (Loss::zcdp(0.5 * mu * mu).unwrap(), Gdp::new(mu).unwrap());
            for delta in [1e-3, 1e-6, 1e-12] {
                let (bound, exact) = (zcdp.epsilon(delta).unwrap().upper, gdp.epsilon(delta).unwrap().upper);
                assert!(bound >= exact && bound < 1.2 * exact + 0.1, "{mu} {delta}: {bound} {exact}");
            }
        }
    }

    #[test]
    fn currencies_that_do_not_add_are_refused() {
        let approximate = Loss::approximate(1.0, 1e-6).unwrap();
        assert!(approximate.and(&Loss::zcdp(1.0).unwrap()).is_err());
        assert!(approximate.epsilon(1e-7).is_err(), "a delta below the slack cannot be promised");
        assert!(
            Loss::pure(f64::NAN).is_err()
                && Loss::zcdp(-1.0).is_err()
                && Loss::rdp(vec![(1.0, 0.1)]).is_err()
        );
    }

    /// The variants are open: what was not checked when it was made is checked when it is used.
    #[test]
    fn what_is_no_loss_is_refused_at_every_use() {
        for loss in [
            Loss::Pure(f64::NAN),
            Loss::Pure(-5.0),
            Loss::Pure(f64::INFINITY),
            Loss::Zcdp(-1.0),
            Loss::Zcdp(f64::NAN),
            Loss::Approximate { epsilon: 1.0, delta: -0.5 },
            Loss::Rdp(vec![(2.0, f64::NAN)]),
            Loss::Rdp(vec![(0.5, 1.0)]),
        ] {
            let pure = Loss::pure(1.0).unwrap();
            assert!(loss.epsilon(1e-5).is_err() && loss.renyi(2.0).is_err(), "{loss:?}");
            assert!(loss.and(&pure).is_err() && pure.and(&loss).is_err(), "{loss:?}");
        }
        assert!(Loss::Pure(1e308).and(&Loss::Pure(1e308)).is_err(), "an infinite sum");
    }

    /// Against sixty digits: small losses once cancelled, down to none.
    #[test]
    fn renyi_losses_of_pure_ones_never_say_less() {
        for (epsilon, order, truth) in [
            (1e-7, 1.001, 5.004_999_999_999_995e-15),
            (1e-3, 2.0, 9.999_995_833_335_862e-7),
            (0.5, 1.0001, 0.122_471_081_291_532_64),
            (20.0, 1.5, 19.999_999_995_877_693),
            (1e-9, 64.0, 3.199_999_999_999_998e-17),
        ] {
            let found = Loss::Pure(epsilon).renyi(order).unwrap();
            assert!(
                found >= truth && found <= truth * (1.0 + 1e-13),
                "{epsilon} {order}: {found:e} {truth:e}"
            );
        }
    }

    proptest! {
        #[test]
        fn pure_loss_bounds_its_renyi_loss(epsilon in 0.0f64..5.0, a in 1.01f64..50.0, b in 1.01f64..50.0) {
            let loss = Loss::pure(epsilon).unwrap();
            let (a, b) = if a <= b { (a, b) } else { (b, a) };
            let (low, high) = (loss.renyi(a).unwrap(), loss.renyi(b).unwrap());
            prop_assert!(low <= high + 1e-12 && high <= epsilon * (1.0 + 1e-14));
            prop_assert!(low <= 0.5 * a * epsilon * epsilon + 1e-12, "Bun and Steinke: epsilon²/2-zCDP");
        }

        #[test]
        fn composition_commutes_and_never_loses(a in 0.0f64..3.0, b in 0.0f64..3.0, delta in 1e-9f64..1e-2) {
            for (one, other) in [
                (Loss::pure(a).unwrap(), Loss::pure(b).unwrap()),
                (Loss::zcdp(a).unwrap(), Loss::zcdp(b).unwrap()),
                (Loss::Gdp(Gdp::new(a).unwrap()), Loss::zcdp(b).unwrap()),
            ] {
                let (both, reverse) = (one.and(&other).unwrap(), other.and(&one).unwrap());
                prop_assert_eq!(&both, &reverse);
                prop_assert!(both.epsilon(delta).unwrap().upper >= one.epsilon(delta).unwrap().upper - 1e-9);
            }
        }
    }
}
