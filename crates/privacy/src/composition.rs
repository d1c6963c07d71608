//! Compositions of unlike releases: known mechanisms, and releases of which only an `(epsilon, delta)` is known.
//!
//! The worst release that is `(epsilon, delta)`-private reveals its record with probability `delta` and else is the worst
//! `epsilon`-private one (Kairouz, Oh and Viswanath 2015). In a composition the revealing parts can be set aside: with
//! `R = 1 - prod (1 - delta_i)` the curve is `R + (1 - R) H`, `H` that of all the rest, which an [`Accountant`] knows.
//! Proofs: `docs/theorems/given-guarantees.md`.
//!
//! Delta may be 0 here. Then the answer is the largest loss there is, or, where losses have no bound, that there is none.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use crate::event::{Event, Together};
use crate::interval::{Reason, best_bound, smaller};
use crate::mechanism::check_epsilon;
use crate::memo::Memo;
use crate::repeated::Prepared;
use crate::special::{Interval, UNIT};
use crate::{
    Accountant, Adjacency, Bound, Curve, Error, LowerEnd, Mechanism, Mixture, Result, currencies, pure, rdp,
    require,
};

/// The order by which the mean loss is bounded.
const ABOVE_ONE: f64 = 1.0 + 1e-6;

/// One release of a composition.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Release {
    /// A known mechanism.
    Mechanism(Mechanism),
    /// Gaussian noise on a contribution that is drawn.
    Mixture(Mixture),
    /// Something that is known by a bound on its Rényi losses.
    Bound(Bound),
    /// Everything or nothing.
    Plain(Plain),
    /// Anything that is `(epsilon, delta)`-private under the composition's adjacency.
    Given {
        /// Bound on the loss ...
        epsilon: f64,
        /// ... up to this probability.
        delta: f64,
    },
}

/// A release without noise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Plain {
    /// The data are published as they are: whatever else is released, nothing is protected.
    Published,
    /// Nothing about the data is released.
    Nothing,
}

impl Release {
    /// A release of which nothing is known but its guarantee.
    pub fn given(epsilon: f64, delta: f64) -> Result<Self> {
        check_epsilon(epsilon)?;
        if epsilon > 0.0 {
            Mechanism::pure(epsilon)?;
        }
        require((0.0..1.0).contains(&delta), "delta", delta, "give a probability of at least 0 and below 1")?;
        Ok(Self::Given { epsilon, delta })
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mechanism(mechanism) => mechanism.fmt(f),
            Self::Mixture(mixture) => mixture.fmt(f),
            Self::Bound(bound) => bound.fmt(f),
            Self::Plain(Plain::Published) => f.write_str("the data as they are"),
            Self::Plain(Plain::Nothing) => f.write_str("nothing"),
            Self::Given { epsilon, delta } => write!(f, "anything ({epsilon}, {delta:e})-private"),
        }
    }
}

/// An epsilon, or why there is none.
#[derive(Debug, Clone, PartialEq)]
pub enum Epsilon {
    /// It lies inside.
    Within(Interval),
    /// No finite epsilon holds at this delta.
    Infinite {
        /// Why.
        reason: String,
    },
}

impl Epsilon {
    /// The value to promise; infinite where there is none.
    pub fn upper(&self) -> f64 {
        match self {
            Self::Within(interval) => interval.upper,
            Self::Infinite { .. } => f64::INFINITY,
        }
    }
}

/// A composition of releases under one adjacency.
///
/// ```
/// use sottovoce_privacy::{Adjacency, Composition, Mechanism, Release};
/// let mut all = Composition::new(Adjacency::AddRemove);
/// all.add(Release::Mechanism(Mechanism::laplace(2.0)?), 1)?;
/// all.add(Release::given(0.5, 1e-6)?, 3)?;
/// assert!(all.epsilon(1e-5)?.upper() < 2.0);
/// assert!(all.epsilon(2e-6)?.upper().is_infinite());       // three deltas of a millionth each
/// # Ok::<(), sottovoce_privacy::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Composition {
    releases: Vec<(Release, u64)>,
    /// Everything whose laws are known, but what is revealed outright.
    rest: Accountant,
    /// What is known by bounds on its Rényi losses.
    bounds: Vec<Bounded>,
    /// The Rényi losses of all but what is revealed outright.
    total: Memo<rdp::Total>,
}

/// So many releases of a kind that is known by its Rényi losses, ready for evaluation.
#[derive(Clone)]
pub(crate) struct Bounded {
    bound: Bound,
    pub(crate) count: u64,
    pub(crate) prepared: Arc<Prepared>,
}

impl PartialEq for Bounded {
    /// What is prepared follows from the bound and the adjacency.
    fn eq(&self, other: &Self) -> bool {
        (&self.bound, self.count) == (&other.bound, other.count)
    }
}

impl fmt::Debug for Bounded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (&self.bound, self.count).fmt(f)
    }
}

impl Composition {
    /// A composition of nothing.
    pub fn new(adjacency: Adjacency) -> Self {
        Self {
            releases: Vec::new(),
            rest: Accountant::new(adjacency),
            bounds: Vec::new(),
            total: Memo::default(),
        }
    }

    /// Adds `steps` releases. Refuses what cannot be accounted for, and then remains as it was.
    pub fn add(&mut self, release: Release, steps: u64) -> Result<()> {
        // Even where nothing is lost but delta, the number of steps is checked.
        let nothing = Mechanism::pure(1.0)?.on_nobody();
        match &release {
            Release::Mechanism(mechanism) => self.rest.compose(*mechanism, steps)?,
            Release::Mixture(mixture) => self.rest.compose(mixture.clone(), steps)?,
            Release::Given { epsilon, delta } => {
                Release::given(*epsilon, *delta)?;
                self.rest
                    .compose(if *epsilon > 0.0 { Mechanism::pure(*epsilon)? } else { nothing }, steps)?;
            }
            Release::Plain(_) => self.rest.compose(nothing, steps)?,
            Release::Bound(bound) => {
                let prepared = Arc::new(bound.prepared(self.adjacency())?);
                self.rest.compose(nothing, steps)?;
                self.bounds.push(Bounded { bound: bound.clone(), count: steps, prepared });
            }
        }
        self.total = Memo::default();
        self.releases.push((release, steps));
        Ok(())
    }

    /// Adds a sample as several records lose by it; it is none of the [`Self::releases`].
    pub(crate) fn add_group(&mut self, group: Together, steps: u64) -> Result<()> {
        self.total = Memo::default();
        self.rest.compose(Event::Group(group), steps)
    }

    /// The adjacency.
    pub fn adjacency(&self) -> Adjacency {
        self.rest.adjacency()
    }

    /// What was added, in that order.
    pub fn releases(&self) -> &[(Release, u64)] {
        &self.releases
    }

    /// The accountant of everything that is not revealed outright.
    pub fn accountant(&self) -> &Accountant {
        &self.rest
    }

    /// The deltas of given releases, with their numbers.
    fn deltas(&self) -> impl Iterator<Item = (f64, u64)> + '_ {
        self.releases.iter().filter_map(|(release, steps)| match release {
            Release::Given { delta, .. } if *delta > 0.0 => Some((*delta, *steps)),
            Release::Plain(Plain::Published) => Some((1.0, *steps)),
            _ => None,
        })
    }

    /// Whether some release may reveal its record outright.
    pub(crate) fn reveals(&self) -> bool {
        self.deltas().next().is_some()
    }

    /// The Rényi losses of all but what is revealed outright.
    pub(crate) fn total(&self) -> Result<Arc<rdp::Total>> {
        if self.bounds.is_empty() {
            return self.rest.total();
        }
        self.total.get(|| rdp::Total::new(self.rest.events(), &self.bounds, self.adjacency()))
    }

    /// The largest loss of all but what is revealed outright, rounded up, where there is one.
    pub(crate) fn largest(&self) -> Option<f64> {
        let mut total = pure::composed(self.rest.events(), self.adjacency())?.upper;
        for Bounded { count, prepared, .. } in &self.bounds {
            total += *count as f64 * prepared.largest()?;
        }
        Some(total * (1.0 + (2.0 + self.bounds.len() as f64) * UNIT))
    }

    /// Delta at `epsilon` from above, by what is computed at once; nothing is revealed outright. `total` are its Rényi losses.
    pub(crate) fn quick_delta(&self, total: &rdp::Total, epsilon: f64) -> Result<f64> {
        let closed = if self.bounds.is_empty() { self.rest.closed_delta(epsilon)? } else { None };
        Ok(closed.unwrap_or_else(|| total.quick_delta(epsilon)))
    }

    /// The probability that some given release reveals its record outright.
    pub fn revealed(&self) -> Result<Interval> {
        let all: Vec<(f64, u64)> = self.deltas().collect();
        match all[..] {
            [] => Interval::new(0.0, 0.0),
            _ if all.iter().any(|(delta, _)| *delta >= 1.0) => Interval::new(1.0, 1.0),
            [(delta, 1)] => Interval::new(delta, delta),
            _ => {
                let ln: f64 = all.iter().map(|(delta, steps)| *steps as f64 * (-delta).ln_1p()).sum();
                let (value, error) = (-ln.exp_m1(), (16.0 + 2.0 * all.len() as f64) * UNIT);
                let upper = value * (1.0 + error);
                Interval::new(value * (1.0 - error), if upper < 1.0 { upper } else { 1.0 })
            }
        }
    }

    /// Epsilon at `delta`, which may be 0.
    pub fn epsilon(&self, delta: f64) -> Result<Epsilon> {
        check_delta_or_zero(delta)?;
        let revealed = self.revealed()?;
        if revealed.lower >= 1.0 {
            return Ok(Epsilon::Infinite { reason: "the data are published as they are".into() });
        }
        if revealed.upper > delta {
            return Ok(Epsilon::Infinite {
                reason: format!(
                    "the deltas of the given releases come to {:e} together, above {delta:e}",
                    revealed.upper
                ),
            });
        }
        let (least, most) = (remaining(delta, revealed.upper, -4.0), remaining(delta, revealed.lower, 4.0));
        if least <= 0.0 {
            return Ok(self.pure());
        }
        if !self.bounds.is_empty() {
            return self.bounded(least, most);
        }
        let upper = self.rest.epsilon(least)?;
        if most == least {
            return Ok(Epsilon::Within(upper));
        }
        let lower = self.rest.epsilon(most)?.lower;
        Ok(Epsilon::Within(Interval::new(lower, upper.upper)?))
    }

    /// Epsilon where something is known by its Rényi losses alone: those of all from above; from below what is lost without it.
    fn bounded(&self, least: f64, most: f64) -> Result<Epsilon> {
        let upper = best_bound([self.total()?.epsilon(least).0, self.largest().unwrap_or(f64::INFINITY)]);
        let lower = self.rest.epsilon(most)?.lower;
        if upper.is_finite() {
            return Ok(Epsilon::Within(Interval::of_rounded(lower, upper)?.because(Reason::OneSided)));
        }
        Ok(Epsilon::Infinite { reason: "the Rényi losses are infinite at every order".into() })
    }

    /// Values to promise at several deltas, infinite where there is none, for little more than the cost of one.
    pub fn upper_epsilons(&self, deltas: &[f64]) -> Result<Vec<f64>> {
        deltas.iter().try_for_each(|&delta| check_delta_or_zero(delta))?;
        let revealed = self.revealed()?.upper;
        let left = deltas
            .iter()
            .map(|&delta| if revealed > delta { -1.0 } else { remaining(delta, revealed, -4.0) });
        let left: Vec<f64> = left.collect();
        let positive: Vec<f64> = left.iter().copied().filter(|left| *left > 0.0).collect();
        if !self.bounds.is_empty() {
            let one = |&left: &f64| match left {
                left if left > 0.0 => Ok(self.bounded(left, left)?.upper()),
                0.0 => Ok(self.pure().upper()),
                _ => Ok(f64::INFINITY),
            };
            return left.iter().map(one).collect();
        }
        let mut found = self.rest.epsilons(&positive)?.into_iter();
        let each = left.iter().map(|&left| match left {
            left if left > 0.0 => found.next().map_or(f64::INFINITY, |interval| interval.upper),
            0.0 => self.pure().upper(),
            _ => f64::INFINITY,
        });
        Ok(each.collect())
    }

    /// The largest loss there is: epsilon at delta 0 (and at exactly what is revealed outright).
    fn pure(&self) -> Epsilon {
        if let Some(Bounded { bound, .. }) = self.bounds.first() {
            let within = self.largest().and_then(|largest| Interval::new(0.0, largest).ok());
            return within.map_or_else(
                || Epsilon::Infinite { reason: format!("no bound is known on the losses of {bound}") },
                |interval| Epsilon::Within(interval.because(Reason::OneSided)),
            );
        }
        if let Some(largest) = pure::composed(self.rest.events(), self.adjacency()) {
            return Epsilon::Within(largest);
        }
        let unbounded = |event: &&Event| pure::upper(event, self.adjacency()).is_none();
        let name = self.rest.events().iter().map(|(event, _)| event).find(unbounded);
        let name = name.map_or_else(String::new, ToString::to_string);
        Epsilon::Infinite { reason: format!("the losses of {name} have no bound, only small probabilities") }
    }

    /// Delta at `epsilon`.
    pub fn delta(&self, epsilon: f64) -> Result<Interval> {
        let revealed = self.revealed()?;
        let mut rest = self.rest.delta(epsilon)?;
        if !self.bounds.is_empty() {
            let certain = self.largest().is_some_and(|largest| epsilon >= largest);
            let upper = if certain { 0.0 } else { self.total()?.delta(epsilon) };
            rest = Interval::of_rounded(smaller(rest.lower, upper), upper)?.because(Reason::OneSided);
        }
        if revealed.upper == 0.0 {
            return Ok(rest);
        }
        let both = |revealed: f64, rest: f64| revealed + (1.0 - revealed) * rest;
        let upper = both(revealed.upper, rest.upper) * (1.0 + 4.0 * UNIT);
        Interval::new(
            both(revealed.lower, rest.lower) * (1.0 - 4.0 * UNIT),
            if upper < 1.0 { upper } else { 1.0 },
        )
    }

    /// Deltas from above at whatever epsilons, for what a few cost.
    pub fn curve(&self) -> Result<Curve<'_>> {
        let revealed = self.revealed()?.upper;
        let (rest, largest) = (self.rest.curve()?, self.largest());
        let total = if self.bounds.is_empty() { None } else { Some(self.total()?) };
        Ok(Box::new(move |epsilon| {
            let rest = match &total {
                None => rest(epsilon)?,
                Some(_) if largest.is_some_and(|largest| epsilon >= largest) => 0.0,
                Some(total) => total.delta(epsilon),
            };
            Ok(smaller((revealed + (1.0 - revealed) * rest) * (1.0 + 4.0 * UNIT), 1.0))
        }))
    }

    /// Epsilon at `delta` by Rényi divergences, with the order that gives it; nothing at delta 0, or at no more than what
    /// is revealed outright.
    pub fn rdp_epsilon(&self, delta: f64) -> Result<Option<(f64, f64)>> {
        let revealed = self.revealed()?.upper;
        let left = if revealed < delta { remaining(delta, revealed, -4.0) } else { 0.0 };
        if self.bounds.is_empty() {
            return if left > 0.0 { self.rest.rdp_epsilon(left).map(Some) } else { Ok(None) };
        }
        Ok(if left > 0.0 { Some(self.total()?.epsilon(left)) } else { None })
    }

    /// The Rényi loss at `order`; nothing where something is revealed outright. Order 1 is the mean loss, which is at most
    /// the Rényi loss of any order above it: that of an order a millionth above it is given.
    pub fn renyi(&self, order: f64) -> Result<Option<f64>> {
        if self.reveals() {
            return Ok(None);
        }
        let order = if order == 1.0 { ABOVE_ONE } else { order };
        require(order > 1.0 && order.is_finite(), "order", order, "give a finite number of at least 1")?;
        Ok(Some(self.total()?.at(order)))
    }

    /// The concentrated loss `rho` (Rényi loss at most `rho * order` at every order), rounded up; nothing where something is
    /// revealed outright.
    pub fn zcdp(&self) -> Option<f64> {
        let concentrated = !self.reveals() && self.bounds.is_empty();
        concentrated.then(|| currencies::zcdp(self.rest.events(), self.adjacency()))
    }

    /// A Gaussian that loses at least as much at every epsilon, or why none is known.
    pub fn gaussian(&self) -> std::result::Result<currencies::GaussianBound, String> {
        if self.reveals() {
            return Err("a given delta is beyond every Gaussian".into());
        }
        if let Some(Bounded { bound, .. }) = self.bounds.first() {
            return Err(format!("no Gaussian is known that loses as much as {bound} at every epsilon"));
        }
        currencies::gaussian(self.rest.events(), self.adjacency())
    }

    /// What the lower end of an interval bounds.
    pub fn lower_end(&self) -> LowerEnd {
        self.rest.lower_end()
    }
}

fn check_delta_or_zero(delta: f64) -> Result<()> {
    if delta == 0.0 || (f64::MIN_POSITIVE..1.0).contains(&delta) {
        return Ok(());
    }
    if delta > 0.0 && delta < 1.0 {
        return Err(Error::parameter("delta", delta, "give 0, or at least 2.3e-308"));
    }
    let remedy = "give a probability of at least 0 and strictly below 1, such as 1e-5";
    Err(Error::parameter("delta", delta, remedy))
}

/// What is left of `delta` when `revealed` of it is spent: `(delta - revealed) / (1 - revealed)`, moved by so many roundings.
fn remaining(delta: f64, revealed: f64, roundings: f64) -> f64 {
    if revealed == 0.0 { delta } else { (delta - revealed) / (1.0 - revealed) * (1.0 + roundings * UNIT) }
}
