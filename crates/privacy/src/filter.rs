//! Budgets that are checked *before* a release, when each release may depend on all earlier ones.
//!
//! Adding up losses is only sound for fully adaptive choices in some currencies: pure, Gaussian and (at an order fixed in
//! advance) Rényi. A [`Filter`] admits a release if the sum stays within the budget, and changes nothing otherwise. An
//! [`Odometer`] has no budget: it says at any moment what has been spent, at the price of a little delta for each of the
//! levels it might report. Without a limit ([`Budget::Counted`]) a filter admits everything and still counts. All losses given to one filter must be stated under one adjacency. Proofs and citations: `docs/theorems/filters.md`.

use serde::{Deserialize, Serialize};

use crate::interval::{add_up, larger};
use crate::mechanism::check_delta;
use crate::rdp::epsilon_at;
use crate::{Error, Gdp, Loss, Result, require};

/// The currency in which a filter adds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Budget {
    /// Total epsilon of pure releases.
    Pure(f64),
    /// Total Gaussian loss.
    Gdp(Gdp),
    /// Total Rényi loss at one order, fixed before the first release.
    Rdp {
        /// The order, above 1.
        order: f64,
        /// The total.
        loss: f64,
    },
    /// No limit: everything is admitted, and Gaussian losses are added up. What has no Gaussian loss makes the sum infinite.
    Counted,
}

impl Budget {
    /// A budget of squared Gaussian loss: infinite for no limit.
    pub fn gaussian(mu_squared: f64) -> Result<Self> {
        if mu_squared == f64::INFINITY {
            return Ok(Self::Counted);
        }
        let remedy = "give a squared Gaussian loss from 0 to 1e8, or infinity for no limit";
        require((0.0..=1e8).contains(&mu_squared), "budget", mu_squared, remedy)?;
        Ok(Self::Gdp(Gdp::of_square(mu_squared)?))
    }

    /// The Rényi budget at `order` that is worth `(epsilon, delta)`.
    pub fn renyi(order: f64, epsilon: f64, delta: f64) -> Result<Self> {
        check_delta(delta)?;
        require(order > 1.0 && order.is_finite(), "order", order, "give a finite number above 1")?;
        // Everything in the conversion but the loss itself; an epsilon below that cannot be reached at this order.
        let (gain, cost) = ((-1.0 / order).ln_1p(), (delta.ln() + order.ln()) / (order - 1.0));
        let overhead = gain - cost;
        require(epsilon > 0.0 && epsilon.is_finite(), "epsilon", epsilon, "give a positive finite number")?;
        // What rounding may have moved: a few units of everything that was added up.
        let sizes = epsilon + gain.abs() + (delta.ln().abs() + order.ln()) / (order - 1.0);
        let loss = epsilon - overhead - 16.0 * f64::EPSILON * sizes;
        let remedy = format!("at order {order} give more than {overhead}, or choose a higher order");
        require(loss > 0.0, "epsilon", epsilon, remedy)?;
        debug_assert!(epsilon_at(order, loss, delta) <= epsilon, "conversion back");
        Ok(Self::Rdp { order, loss })
    }

    fn limit(&self) -> f64 {
        match self {
            Self::Pure(epsilon) => *epsilon,
            Self::Gdp(gdp) => gdp.mu_squared(),
            Self::Rdp { loss, .. } => *loss,
            Self::Counted => f64::INFINITY,
        }
    }

    /// What a loss costs in this currency.
    fn price(&self, loss: &Loss) -> Result<f64> {
        loss.check()?;
        let price = match (self, loss) {
            (Self::Pure(_), Loss::Pure(epsilon)) => *epsilon,
            (Self::Gdp(_) | Self::Counted, Loss::Gdp(gdp)) => gdp.price(),
            (Self::Gdp(_) | Self::Counted, Loss::Pld(accountant)) => {
                accountant.gdp().ok_or_else(|| self.refusal(loss))?.price()
            }
            (Self::Rdp { order, .. }, loss) => loss.renyi(*order)?,
            _ => return Err(self.refusal(loss)),
        };
        if price >= 0.0 {
            return Ok(price);
        }
        Err(Error::parameter("loss", price, "give a loss of at least 0"))
    }

    fn refusal(&self, loss: &Loss) -> Error {
        Error::Unsupported {
            event: format!("{loss:?}"),
            accountant: "this budget's currency",
            remedy: "use a Rényi budget, which accepts every loss that has one".into(),
        }
    }
}

/// Admits releases while a budget lasts.
///
/// ```
/// use sottovoce_privacy::{Budget, Filter, Gdp, Loss};
/// let mut filter = Filter::new(Budget::Gdp(Gdp::new(1.0)?))?;
/// let step = Loss::Gdp(Gdp::new(0.5)?);
/// for _ in 0..4 {
///     filter.spend(&step)?;                       // 4 * 0.5² = 1
/// }
/// assert!(filter.spend(&step).is_err());          // nothing was spent by this
/// assert_eq!(filter.remaining(), 0.0);
/// # Ok::<(), sottovoce_privacy::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Stored")]
pub struct Filter {
    budget: Budget,
    /// The sum in two doubles, of which the second is what rounding took from the first: a million equal releases that fit a budget exactly
    /// must not fail for the rounding of their sum.
    spent: f64,
    rest: f64,
}

/// As it is read: not yet checked.
#[derive(Deserialize)]
struct Stored {
    budget: Budget,
    spent: f64,
    rest: f64,
}

impl TryFrom<Stored> for Filter {
    type Error = Error;

    fn try_from(Stored { budget, spent, rest }: Stored) -> Result<Self> {
        let remedy = "it was never stored by a filter; begin anew";
        require(spent >= 0.0 && spent + rest == spent, "spent", spent, remedy)?;
        Ok(Self { spent, rest, ..Self::new(budget)? })
    }
}

impl Filter {
    /// A filter with nothing spent.
    pub fn new(budget: Budget) -> Result<Self> {
        let limit = budget.limit();
        let limited = limit >= 0.0 && limit.is_finite();
        require(limited || budget == Budget::Counted, "budget", limit, "give a finite number of at least 0")?;
        if let Budget::Rdp { order, .. } = budget
            && !(order > 1.0 && order.is_finite())
        {
            return Err(Error::parameter("order", order, "give a finite number above 1"));
        }
        Ok(Self { budget, spent: 0.0, rest: 0.0 })
    }

    /// Spends the loss of a release, or refuses it and spends nothing.
    pub fn spend(&mut self, loss: &Loss) -> Result<()> {
        match self.budget.price(loss) {
            Ok(price) => self.charge(price),
            Err(_) if self.budget == Budget::Counted => self.charge(f64::INFINITY),
            Err(error) => Err(error),
        }
    }

    /// Spends a release of which no loss is known: only a budget without limit has it, and its sum is infinite from then on.
    pub fn spend_unknown(&mut self) -> Result<()> {
        self.charge(f64::INFINITY)
    }

    fn charge(&mut self, price: f64) -> Result<()> {
        let (spent, rest) = add_exactly((self.spent, self.rest), price);
        // A budget meant to be used up exactly must not fail for the rounding of its own price.
        let total = upper((spent, rest));
        if total.is_nan() || total > self.budget.limit() * (1.0 + 1e-12) {
            return Err(Error::Budget {
                would_be: format!("{total}"),
                budget: format!("{}", self.budget.limit()),
                remedy: "stop here, or release with more noise".into(),
            });
        }
        (self.spent, self.rest) = (spent, rest);
        Ok(())
    }

    /// What a loss would cost, in the budget's own unit; infinite where it has no price in it.
    pub fn price(&self, loss: &Loss) -> f64 {
        self.budget.price(loss).unwrap_or(f64::INFINITY)
    }

    /// What was spent, rounded up, in the budget's own unit (epsilon, `mu²`, or Rényi loss).
    pub fn spent(&self) -> f64 {
        upper((self.spent, self.rest))
    }

    /// What is left, in the budget's own unit.
    pub fn remaining(&self) -> f64 {
        let left = self.budget.limit() - self.spent();
        if left <= 1e-12 * self.budget.limit() && left.is_finite() { 0.0 } else { left }
    }
}

/// A sum in two doubles and one more: what rounding takes from the first goes to the second (Knuth), which is rounded up.
fn add_exactly((sum, rest): (f64, f64), more: f64) -> (f64, f64) {
    let next = sum + more;
    if !next.is_finite() {
        return (next, 0.0);
    }
    let part = next - sum;
    let lost = (sum - (next - part)) + (more - part);
    let rest = add_up(rest, lost);
    let both = next + rest;
    (both, rest - (both - next))
}

fn upper((sum, rest): (f64, f64)) -> f64 {
    if rest > 0.0 { sum.next_up() } else { sum }
}

/// Reports, at any time, a valid `(epsilon, delta)` for what was spent so far, in Rényi currency at a fixed order.
///
/// Level `j` promises a total Rényi loss of `2^j * unit` with its share `6 delta / (pi² (j+1)²)` of delta; the report is
/// the first level not yet exceeded.
#[derive(Debug, Clone, PartialEq)]
pub struct Odometer {
    order: f64,
    unit: f64,
    delta: f64,
    spent: f64,
}

impl Odometer {
    /// An odometer at Rényi `order`, exact to within a factor of two from the loss `unit` on, for total `delta`.
    pub fn new(order: f64, unit: f64, delta: f64) -> Result<Self> {
        check_delta(delta)?;
        require(order > 1.0 && order.is_finite(), "order", order, "give a finite number above 1")?;
        require(unit > 0.0 && unit.is_finite(), "unit", unit, "give a positive finite loss")?;
        Ok(Self { order, unit, delta, spent: 0.0 })
    }

    /// Notes a release; any release with a Rényi loss is accepted.
    pub fn note(&mut self, loss: &Loss) -> Result<()> {
        let price = loss.renyi(self.order)?;
        let remedy = "its Rényi loss at this odometer's order is infinite; choose a lower order";
        require(price.is_finite(), "loss", format_args!("{loss:?}"), remedy)?;
        self.spent = (self.spent + price).next_up();
        Ok(())
    }

    /// The epsilon spent so far (at the odometer's delta).
    pub fn epsilon(&self) -> f64 {
        if self.spent == 0.0 {
            return 0.0;
        }
        let level = larger((self.spent / self.unit).log2().ceil(), 0.0);
        // Guard the logarithm's rounding: the level must really hold what was spent.
        let level = if level.exp2() * self.unit < self.spent { level + 1.0 } else { level };
        let share = 6.0 / (std::f64::consts::PI * (level + 1.0)).powi(2);
        epsilon_at(self.order, level.exp2() * self.unit, share * self.delta)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Accountant, Adjacency, Mechanism};

    #[test]
    fn a_refused_release_changes_nothing() {
        let mut filter = Filter::new(Budget::Pure(1.0)).unwrap();
        filter.spend(&Loss::pure(0.7).unwrap()).unwrap();
        let before = filter.clone();
        assert!(filter.spend(&Loss::pure(0.4).unwrap()).is_err());
        assert!(filter.spend(&Loss::zcdp(0.0).unwrap()).is_err(), "another currency is not zero");
        assert_eq!(filter, before);
        filter.spend(&Loss::pure(0.3).unwrap()).unwrap();
        assert_eq!(filter.remaining(), 0.0);
    }

    #[test]
    fn a_renyi_budget_admits_sampled_gaussians_and_holds() {
        let mut accountant = Accountant::new(Adjacency::AddRemove);
        accountant.compose(Mechanism::gaussian(1.0).unwrap().poisson(0.01).unwrap(), 1).unwrap();
        let step = Loss::Pld(accountant.clone());
        let mut filter = Filter::new(Budget::renyi(8.0, 2.0, 1e-5).unwrap()).unwrap();
        let admitted = (0..100_000).take_while(|_| filter.spend(&step).is_ok()).count();
        let total = admitted as f64 * step.renyi(8.0).unwrap();
        assert!(
            epsilon_at(8.0, total, 1e-5) <= 2.0
                && epsilon_at(8.0, total + step.renyi(8.0).unwrap(), 1e-5) > 2.0
        );
    }

    /// Many tiny releases were once admitted for nothing.
    #[test]
    fn tiny_releases_are_charged() {
        let mut filter = Filter::new(Budget::Rdp { order: 1.001, loss: 1e-12 }).unwrap();
        let tiny = Loss::pure(1e-7).unwrap();
        let admitted = (0..1000).take_while(|_| filter.spend(&tiny).is_ok()).count();
        assert_eq!(admitted, 199, "1e-12 over 5.005e-15");
        for epsilon in [-1.0, 0.0, f64::NAN, f64::INFINITY] {
            assert!(Budget::renyi(8.0, epsilon, 1e-5).is_err(), "{epsilon}");
        }
        for (order, epsilon, delta) in [(8.0, 2.0, 1e-5), (1.5, 40.0, 1e-6), (200.0, 0.3, 1e-9)] {
            let Budget::Rdp { order, loss } = Budget::renyi(order, epsilon, delta).unwrap() else { panic!() };
            assert!(epsilon_at(order, loss, delta) <= epsilon, "{order} {epsilon}");
        }
    }

    #[test]
    fn the_odometer_is_monotone_and_above_the_loss_at_its_order() {
        let mut odometer = Odometer::new(6.0, 0.01, 1e-6).unwrap();
        let (mut last, mut spent) = (0.0, 0.0);
        for _ in 0..500 {
            odometer.note(&Loss::zcdp(0.003).unwrap()).unwrap();
            spent += 0.003 * 6.0;
            assert!(odometer.epsilon() >= last && odometer.epsilon() >= epsilon_at(6.0, spent, 1e-6));
            last = odometer.epsilon();
        }
        assert!(odometer.note(&Loss::approximate(1.0, 1e-9).unwrap()).is_err());
    }

    /// The variants of a loss are open; a filter lets none of them pass unchecked.
    #[test]
    fn what_is_no_loss_is_refused() {
        for budget in [Budget::Pure(1.0), Budget::Rdp { order: 2.0, loss: 1.0 }] {
            let mut filter = Filter::new(budget).unwrap();
            for loss in [Loss::Pure(f64::NAN), Loss::Pure(-5.0), Loss::Zcdp(-1.0), Loss::Zcdp(f64::NAN)] {
                assert!(filter.spend(&loss).is_err(), "{budget:?} {loss:?}");
            }
            assert_eq!(filter, Filter::new(budget).unwrap());
        }
        let mut odometer = Odometer::new(2.0, 0.1, 1e-5).unwrap();
        assert!(odometer.note(&Loss::Zcdp(-1.0)).is_err() && odometer.note(&Loss::Pure(f64::NAN)).is_err());
        assert_eq!(odometer.epsilon(), 0.0);
    }

    #[test]
    fn an_empty_budget_admits_nothing_that_costs_anything() {
        let mut filter = Filter::new(Budget::gaussian(0.0).unwrap()).unwrap();
        assert!(filter.spend(&Loss::Gdp(Gdp::new(1e-9).unwrap())).is_err());
        filter.spend(&Loss::Gdp(Gdp::new(0.0).unwrap())).unwrap();
        assert_eq!((filter.spent(), filter.remaining()), (0.0, 0.0));
    }

    #[test]
    fn without_a_limit_everything_is_counted() {
        let mut filter = Filter::new(Budget::gaussian(f64::INFINITY).unwrap()).unwrap();
        let step = Loss::Gdp(Gdp::new(0.5).unwrap());
        (0..1000).for_each(|_| filter.spend(&step).unwrap());
        assert!(filter.spent() >= 250.0 && filter.spent() < 250.0 * (1.0 + 1e-14), "{}", filter.spent());
        assert_eq!(filter.remaining(), f64::INFINITY);
        // What has no Gaussian loss does not count as nothing.
        filter.spend(&Loss::pure(0.1).unwrap()).unwrap();
        assert_eq!(filter.spent(), f64::INFINITY);
        filter.spend(&step).unwrap();
        let mut limited = Filter::new(Budget::gaussian(4.0).unwrap()).unwrap();
        assert!(limited.spend_unknown().is_err() && limited.spent() == 0.0);
    }

    #[test]
    fn a_filter_that_was_stored_goes_on() {
        let mut filter = Filter::new(Budget::gaussian(1.0).unwrap()).unwrap();
        let step = Loss::Gdp(Gdp::new(0.3).unwrap());
        (0..5).for_each(|_| filter.spend(&step).unwrap());
        let text = serde_json::to_string(&filter).unwrap();
        assert_eq!(serde_json::from_str::<Filter>(&text).unwrap(), filter);
        for (spent, rest) in [("-1.0", "0.0"), ("0.5", "-0.4"), ("0.5", "0.1")] {
            let bad = format!(r#"{{"budget":"counted","spent":{spent},"rest":{rest}}}"#);
            assert!(serde_json::from_str::<Filter>(&bad).is_err(), "{bad}");
        }
    }

    /// Equal parts of a budget fit it, however many: the sum is not off by the rounding of its terms.
    #[test]
    fn a_budget_for_a_million_equal_steps_admits_a_million() {
        for (parts, mu) in [(3, 0.7), (10_000, 0.037), (1_000_000, 0.1)] {
            let step = Gdp::new(mu).unwrap();
            let mut filter = Filter::new(Budget::gaussian(f64::from(parts) * mu * mu).unwrap()).unwrap();
            (0..parts).for_each(|_| filter.spend(&Loss::Gdp(step)).unwrap());
            assert!(filter.spend(&Loss::Gdp(step)).is_err());
            assert!(filter.spent() >= step.times(parts as u64).mu_squared());
        }
    }

    /// The sum in two doubles is never below the true one: held against whole numbers, which are exact.
    #[test]
    fn sums_are_rounded_up_and_by_next_to_nothing() {
        let unit = 2f64.powi(-60);
        let (mut sum, mut exact) = ((0.0, 0.0), 0_u128);
        for i in 0..100_000_u64 {
            // Terms of very different sizes, all multiples of the unit.
            let term = (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 12) >> (i % 40);
            sum = add_exactly(sum, term as f64 * unit);
            exact += u128::from(term);
        }
        let total = upper(sum) / unit;
        assert!(total as u128 >= exact && total as u128 - exact <= exact >> 52, "{total} {exact}");
    }

    #[test]
    fn impossible_budgets_are_refused() {
        assert!(Budget::renyi(2.0, 0.1, 1e-5).is_err());
        assert!(Budget::renyi(1.0, 1.0, 1e-5).is_err());
        assert!(Filter::new(Budget::Pure(-1.0)).is_err() && Filter::new(Budget::Pure(f64::NAN)).is_err());
        assert!(Filter::new(Budget::Pure(f64::INFINITY)).is_err());
        assert!(Budget::gaussian(-1.0).is_err() && Budget::gaussian(f64::NAN).is_err());
        assert!(Filter::new(Budget::Rdp { order: f64::NAN, loss: 1.0 }).is_err());
        assert!(Odometer::new(2.0, f64::NAN, 1e-5).is_err());
    }
}
