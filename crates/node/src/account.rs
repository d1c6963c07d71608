//! What a peer's data may cost, towards each observer, over all runs.
//!
//! A budget is `(epsilon, delta)`, kept as a Rényi filter at an order that is fixed when the budget is declared (`docs/theorems/filters.md`), and beside it a
//! sum of deltas for what is bounded by total variation alone: rumours. Together they are `(epsilon, delta + that sum)`-DP. A sum of 1 says that nothing is hidden
//! from that observer; it is never a default. All prices of a ledger are stated under one adjacency, and those of a data set of one thing: all of it, or one row.

use std::fmt;

use serde::{Deserialize, Serialize};
use sottovoce_fault::decimal::up;
use sottovoce_privacy::{Adjacency, Budget, Filter, Loss, Unit};
use sottovoce_protocol::Release;

use crate::ledger::Before;
use crate::{Error, Name, Result};

/// From whom something is hidden.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Observer {
    /// One peer, who knows what it hears.
    Peer(Name),
    /// Peers who pool what they hear, sorted.
    Coalition(Vec<Name>),
    /// Someone who sees every message.
    WireTapper,
}

impl Observer {
    /// These peers, in whichever order they are named.
    pub fn coalition(mut members: Vec<Name>) -> Self {
        members.sort_unstable();
        members.dedup();
        match members[..] {
            [alone] => Self::Peer(alone),
            _ => Self::Coalition(members),
        }
    }

    /// The keys of its peers, as text; none is someone who sees every message.
    pub fn keys(&self) -> Vec<String> {
        match self {
            Self::Peer(key) => vec![key.to_string()],
            Self::Coalition(keys) => keys.iter().map(Name::to_string).collect(),
            Self::WireTapper => Vec::new(),
        }
    }

    /// The observer with these keys.
    pub fn of_keys(keys: &[String]) -> Result<Self> {
        let keys = keys.iter().map(|key| key.parse()).collect::<Result<Vec<Name>>>()?;
        Ok(if keys.is_empty() { Self::WireTapper } else { Self::coalition(keys) })
    }

    /// What people call it: peers by these names, in the order of the roster.
    pub fn called(&self, roster: &[Name], names: &[String]) -> String {
        let name = |key: &Name| {
            let known = roster.iter().position(|other| other == key).and_then(|place| names.get(place));
            known.cloned().unwrap_or_else(|| format!("{key:?}"))
        };
        match self {
            Self::Peer(key) => name(key),
            Self::Coalition(keys) => keys.iter().map(name).collect::<Vec<_>>().join(" and "),
            Self::WireTapper => "who sees every message".to_owned(),
        }
    }
}

impl fmt::Display for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Peer(name) => write!(f, "peer {name:?}"),
            Self::Coalition(names) => {
                let names: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
                write!(f, "the coalition of {}", names.join(", "))
            }
            Self::WireTapper => write!(f, "the wire-tapper"),
        }
    }
}

/// What one observer can learn at the most.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Price {
    /// In a currency that has Rényi losses; none if it learns nothing but by an event of probability `delta`.
    pub loss: Option<Loss>,
    /// Added to the sum of deltas.
    pub delta: f64,
}

impl Price {
    /// `rho`-concentrated DP.
    pub fn concentrated(rho: f64) -> Result<Self> {
        Ok(Self { loss: Some(Loss::zcdp(rho)?), delta: 0.0 })
    }

    /// `(0, delta)`-DP: a rumour's source.
    pub fn chance(delta: f64) -> Self {
        Self { loss: None, delta }
    }
}

/// What is paid for at once: so many of these releases, for these prices.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// Between which data prices are stated: one for all that a ledger pays.
    pub adjacency: Adjacency,
    /// What is exchanged between them: all that the node holds (`User`), which bounds every part of it, or one row (`Record`).
    pub unit: Unit,
    /// Releases, and how often each. Nothing else will be admitted.
    pub releases: Vec<(Release, u64)>,
    /// What they cost, all together, towards each observer.
    pub prices: Vec<(Observer, Price)>,
}

/// A budget towards one observer.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Allowed {
    /// Epsilon ...
    pub epsilon: f64,
    /// ... at this delta.
    pub delta: f64,
    /// For the sum of deltas of what is bounded by them alone; 1 where nothing needs to be hidden. Nothing, unless it is said.
    #[serde(default)]
    pub chances: f64,
}

impl Allowed {
    /// The fields in which two budgets differ, as the one has them and as the other.
    pub(crate) fn against(&self, other: &Self) -> (String, String) {
        let fields = |one: &Self| [("epsilon", one.epsilon), ("delta", one.delta), ("chances", one.chances)];
        let both = fields(self).into_iter().zip(fields(other)).filter(|(a, b)| a.1 != b.1);
        let told =
            |(name, value): (&str, f64)| format!("{name} {}", sottovoce_fault::brief(value.to_string()));
        let (here, there): (Vec<_>, Vec<_>) = both.map(|(a, b)| (told(a), told(b))).unzip();
        (here.join(", "), there.join(", "))
    }

    /// The order at which most concentrated loss is affordable.
    fn budget(&self) -> Result<Budget> {
        let orders = (0..=400).map(|place| 1.0 + 10f64.powf(f64::from(place) / 50.0 - 3.0));
        let worth = |budget: &Budget| match budget {
            Budget::Rdp { order, loss } => loss / order,
            _ => 0.0,
        };
        let possible = orders.filter_map(|order| Budget::renyi(order, self.epsilon, self.delta).ok());
        let best = possible.max_by(|a, b| worth(a).total_cmp(&worth(b)));
        let remedy = "give a positive epsilon and a delta between 0 and 1";
        best.ok_or_else(|| {
            Error::parameter("budget", format!("epsilon {} at delta {}", self.epsilon, self.delta), remedy)
        })
    }
}

/// What was spent of a budget.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Account {
    pub(crate) allowed: Allowed,
    filter: Filter,
    chances: f64,
    /// All losses together, in the currency that they have in common; none where they have none.
    together: Option<Loss>,
    /// The same at many orders.
    orders: Vec<(f64, f64)>,
}

/// Orders at which losses are added up, besides that of the filter.
fn orders() -> impl Iterator<Item = f64> {
    (0..=60).map(|place| 1.0 + 10f64.powf(f64::from(place) / 12.0 - 2.0))
}

impl Account {
    pub(crate) fn new(allowed: Allowed) -> Result<Self> {
        let remedy = "give a probability; 1 says that nothing is hidden";
        crate::error::require((0.0..=1.0).contains(&allowed.chances), "chances", allowed.chances, remedy)?;
        Ok(Self {
            filter: Filter::new(allowed.budget()?)?,
            allowed,
            chances: 0.0,
            together: Some(Loss::pure(0.0)?),
            orders: orders().map(|order| (order, 0.0)).collect(),
        })
    }

    /// A budget of which something was spent before: never less than is said.
    pub(crate) fn begun(allowed: Allowed, spent: Before) -> Result<Self> {
        let mut account = Self::new(allowed)?;
        let Budget::Rdp { order, loss: all } = allowed.budget()? else {
            return Err(Error::parameter("budget", allowed.epsilon, "it is kept in another currency"));
        };
        let (loss, chances) = match spent {
            Before::Part { loss, chances } => (loss, chances),
            Before::All => (all, allowed.chances),
        };
        let remedy = "give what was spent, from 0 to the budget";
        let possible = loss >= 0.0 && (0.0..=allowed.chances).contains(&chances);
        crate::error::require(possible, "spent", format_args!("{loss} and {chances}"), remedy)?;
        // A budget that was used up to the last digit is used up.
        let loss = if loss > all && loss <= all * (1.0 + 1e-11) { all } else { loss };
        if loss > 0.0 {
            let loss = Loss::rdp(vec![(order, loss)])?;
            account.filter.spend(&loss)?;
            account.add(&loss);
        }
        account.chances = chances;
        Ok(account)
    }

    /// Everything counts as spent.
    pub(crate) fn exhaust(&mut self) -> Result<()> {
        *self = Self::begun(self.allowed, Before::All)?;
        Ok(())
    }

    /// The epsilon, at the budget's delta, of all that was spent: the least of what is known. It holds for runs whose terms were not chosen by looking at the results
    /// of others; the budget holds for those, too.
    pub(crate) fn epsilon(&self) -> f64 {
        if self.filter.spent() == 0.0 {
            return 0.0;
        }
        let Ok(Budget::Rdp { order, .. }) = self.allowed.budget() else { return f64::INFINITY };
        let at = |loss: Loss| loss.epsilon(self.allowed.delta).map_or(f64::INFINITY, |epsilon| epsilon.upper);
        let by_orders = |points: Vec<(f64, f64)>| Loss::rdp(points).map_or(f64::INFINITY, at);
        let finite = self.orders.iter().copied().filter(|(_, loss)| loss.is_finite());
        let points = finite.chain([(order, self.filter.spent())]).collect();
        let together = self.together.clone().map_or(f64::INFINITY, at);
        f64::min(by_orders(points), together) // each is a number, or infinite
    }

    /// The share of the budget that is used up: of the filter, or of the sum of deltas.
    pub(crate) fn used(&self) -> f64 {
        let share = |spent: f64, all: f64| if spent == 0.0 { 0.0 } else { (spent / all).clamp(0.0, 1.0) };
        let capacity = self.filter.spent() + self.filter.remaining();
        let (loss, chances) =
            (share(self.filter.spent(), capacity), share(self.chances, self.allowed.chances));
        if chances > loss { chances } else { loss }
    }

    /// Adds a loss to those before.
    fn add(&mut self, loss: &Loss) {
        self.together = match self.together.take() {
            Some(Loss::Pure(0.0)) => Some(loss.clone()),
            Some(before) => before.and(loss).ok(),
            None => None,
        };
        for (order, sum) in &mut self.orders {
            *sum = loss.renyi(*order).map_or(f64::INFINITY, |loss| (*sum + loss).next_up());
        }
    }

    /// What was spent: in the filter's currency, and of deltas.
    pub(crate) fn spent(&self) -> (f64, f64) {
        (self.filter.spent(), self.chances)
    }

    /// Spends, or says what is asked and what is left and changes nothing.
    pub(crate) fn spend(&mut self, price: &Price) -> std::result::Result<(), (String, String)> {
        let chances = self.chances(price.delta)?;
        let mut then = self.clone();
        if let Some(loss) = &price.loss {
            let spent = then.filter.spend(loss);
            then.add(loss);
            if spent.is_err() {
                let percent = |share: f64| up(100.0 * share, 2);
                let capacity = self.filter.spent() + self.filter.remaining();
                let left = percent((self.filter.remaining() / capacity).clamp(0.0, 1.0));
                let Allowed { epsilon, delta, .. } = self.allowed;
                let asked = loss.epsilon(delta).map_or(f64::INFINITY, |asked| asked.upper);
                let share = percent(self.filter.price(loss) / capacity);
                return Err((
                    format!("epsilon {}, which is {share} % of the budget", up(asked, 4)),
                    format!(
                        "{left} % of it (epsilon {} was spent of {epsilon}, at delta {delta:e})",
                        up(self.epsilon(), 4)
                    ),
                ));
            }
        }
        then.chances = chances;
        *self = then;
        Ok(())
    }

    /// The sum of deltas with one more.
    fn chances(&self, delta: f64) -> std::result::Result<f64, (String, String)> {
        let all = self.allowed.chances;
        let sum = (self.chances + delta).next_up();
        match () {
            () if delta == 0.0 => Ok(self.chances),
            // All is given away: there is nothing more to lose.
            () if all == 1.0 && delta > 0.0 && delta <= 1.0 => Ok(if sum < 1.0 { sum } else { 1.0 }),
            () if delta > 0.0 && sum <= all => Ok(sum),
            () => {
                let left = (all - self.chances).next_down();
                let left = if left > 0.0 { left } else { 0.0 };
                let advice = match (all == 0.0, delta == 1.0) {
                    (_, true) => {
                        " (nothing is hidden from who is asked about here: declare `chances = 1.0` in node.toml if that may be)"
                    }
                    (true, false) => {
                        " (no `chances` were declared in node.toml, and without a word of them there are none)"
                    }
                    _ => "",
                };
                Err((format!("a delta of {delta}"), format!("{left}{advice}")))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account(epsilon: f64) -> Account {
        Account::new(Allowed { epsilon, delta: 1e-6, chances: 0.1 }).unwrap()
    }

    #[test]
    fn what_a_budget_admits_is_worth_its_epsilon() {
        for epsilon in [0.1, 1.0, 8.0, 100.0] {
            let mut account = account(epsilon);
            let price = Price::concentrated(epsilon * epsilon / 4e4).unwrap();
            let times = (0..).take_while(|_| account.spend(&price).is_ok()).count();
            let all =
                Loss::zcdp(times as f64 * epsilon * epsilon / 4e4).unwrap().epsilon(1e-6).unwrap().upper;
            assert!(all <= epsilon, "{all} of {epsilon}");
            assert!(all > 0.97 * epsilon, "{all} of {epsilon}: the order is a bad one");
        }
    }

    /// One small run of a large budget: what is said is what it is worth, and the share is that of the filter.
    #[test]
    fn what_was_spent_is_said_in_epsilon_and_as_a_share() {
        use sottovoce_privacy::Gdp;
        let one = Loss::Gdp(Gdp::new(0.1).unwrap());
        let worth = one.epsilon(1e-6).unwrap().upper;
        let mut account = account(4.0);
        assert_eq!((account.epsilon(), account.used()), (0.0, 0.0));
        account.spend(&Price { loss: Some(one.clone()), delta: 0.0 }).unwrap();
        assert!(
            account.epsilon() >= worth && account.epsilon() <= worth * (1.0 + 1e-9),
            "{}",
            account.epsilon()
        );
        assert!(account.used() > 0.0 && account.used() < 0.05, "{}", account.used());
        for _ in 0..7 {
            account.spend(&Price { loss: Some(one.clone()), delta: 0.0 }).unwrap();
        }
        let eight = Gdp::new(0.1).unwrap().times(8).epsilon(1e-6).unwrap().upper;
        assert!((account.epsilon() / eight - 1.0).abs() < 1e-9, "{} {eight}", account.epsilon());
        // In another currency: by orders, and never less than is true.
        account.spend(&Price { loss: Some(Loss::pure(0.2).unwrap()), delta: 0.0 }).unwrap();
        let mixed = account.epsilon();
        assert!(mixed > eight && mixed < 4.0, "{mixed}");
        let large = Price { loss: Some(Loss::Gdp(Gdp::new(2.0).unwrap())), delta: 0.0 };
        let (asked, left) = account.spend(&large).unwrap_err();
        let worth = Gdp::new(2.0).unwrap().times(1).epsilon(1e-6).unwrap().upper;
        let (worth, spent) = (up(worth, 4), up(mixed, 4));
        assert!(asked.starts_with(&format!("epsilon {worth}, ")), "{asked} {worth}");
        assert!(left.contains(&format!("epsilon {spent} was spent of 4, at delta 1e-6")), "{left} {spent}");
        assert_eq!(account.epsilon(), mixed, "nothing was spent");
    }

    #[test]
    fn chances_add_up_and_stop() {
        let mut account = account(1.0);
        for _ in 0..3 {
            account.spend(&Price::chance(0.03)).unwrap();
        }
        let (asked, left) = account.spend(&Price::chance(0.03)).unwrap_err();
        assert!(
            asked.contains("0.03") && left.starts_with("0.009") || left.starts_with("0.01"),
            "{asked} {left}"
        );
        assert!((account.spent().1 - 0.09).abs() < 1e-9);
    }

    #[test]
    fn what_was_spent_before_is_never_less() {
        let allowed = Allowed { epsilon: 3.0, delta: 1e-6, chances: 0.1 };
        let mut old = Account::new(allowed).unwrap();
        for _ in 0..7 {
            old.spend(&Price::concentrated(0.013).unwrap()).unwrap();
        }
        old.spend(&Price::chance(0.03)).unwrap();
        let (loss, chances) = old.spent();
        let new = Account::begun(allowed, Before::Part { loss, chances }).unwrap();
        assert!(new.spent().0 >= loss && new.epsilon() >= old.epsilon(), "{:?} {:?}", new, old);
        assert!((new.used() - old.used()).abs() < 1e-9 && new.spent().1 == chances);
        let mut all = Account::begun(allowed, Before::All).unwrap();
        assert!(all.epsilon() >= 3.0 * (1.0 - 1e-9), "{}", all.epsilon());
        assert!(all.spend(&Price::concentrated(1e-6).unwrap()).is_err());
        assert!(all.spend(&Price::chance(1e-6)).is_err());
        for (loss, chances) in
            [(-1.0, 0.0), (f64::NAN, 0.0), (1e9, 0.0), (0.0, 0.2), (0.0, f64::NAN), (0.0, -0.1)]
        {
            assert!(Account::begun(allowed, Before::Part { loss, chances }).is_err(), "{loss} {chances}");
        }
    }

    #[test]
    fn all_is_given_away_only_where_that_is_said() {
        let of = |chances: f64| Account::new(Allowed { epsilon: 1.0, delta: 1e-6, chances }).unwrap();
        let mut open = of(1.0);
        for delta in [0.3, 1.0, 1.0] {
            open.spend(&Price::chance(delta)).unwrap();
        }
        assert_eq!(open.spent().1, 1.0);
        assert!([1.5, f64::NAN, -1.0].iter().all(|delta| open.spend(&Price::chance(*delta)).is_err()));
        for (chances, delta, expected) in [
            (0.0, 1.0, "`chances = 1.0`"),
            (0.9, 1.0, "`chances = 1.0`"),
            (0.0, 0.1, "no `chances` were declared"),
        ] {
            let (_, left) = of(chances).spend(&Price::chance(delta)).unwrap_err();
            assert!(left.contains(expected), "{left}");
        }
        assert!(Account::new(Allowed { epsilon: 1.0, delta: 1e-6, chances: 1.0f64.next_up() }).is_err());
    }

    #[test]
    fn what_is_no_price_is_never_free() {
        let mut account = account(1.0);
        for delta in [-1.0, f64::NAN, f64::INFINITY, 2.0] {
            assert!(account.spend(&Price::chance(delta)).is_err(), "{delta}");
        }
        for loss in [Loss::Zcdp(-1.0), Loss::Zcdp(f64::NAN), Loss::Zcdp(f64::INFINITY), Loss::Pure(-0.1)] {
            assert!(account.spend(&Price { loss: Some(loss.clone()), delta: 0.0 }).is_err(), "{loss:?}");
        }
        let approximate = Loss::approximate(0.1, 1e-7).unwrap();
        assert!(
            account.spend(&Price { loss: Some(approximate), delta: 0.0 }).is_err(),
            "it has no Rényi loss"
        );
        assert_eq!(account.spent(), (0.0, 0.0));
        for wrong in [
            (0.0, 1e-6, 0.0),
            (f64::NAN, 1e-6, 0.0),
            (1.0, 0.0, 0.0),
            (1.0, 1e-6, -0.1),
            (1.0, 1e-6, f64::NAN),
        ] {
            let (epsilon, delta, chances) = wrong;
            assert!(Account::new(Allowed { epsilon, delta, chances }).is_err(), "{wrong:?}");
        }
    }
}
