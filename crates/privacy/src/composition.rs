//! Compositions of unlike releases: known mechanisms, and releases of which only an `(epsilon, delta)` is known.
//!
//! The worst release that is `(epsilon, delta)`-private reveals its record with probability `delta` and else is the worst
//! `epsilon`-private one (Kairouz, Oh and Viswanath 2015). In a composition the revealing parts can be set aside: with
//! `R = 1 - prod (1 - delta_i)` the curve is `R + (1 - R) H`, `H` that of all the rest, which an [`Accountant`] knows.
//! Proofs: `docs/theorems/given-guarantees.md`.
//!
//! Delta may be 0 here. Then the answer is the largest loss there is, or, where losses have no bound, that there is none.

use std::fmt;

use serde::Serialize;

use crate::mechanism::check_epsilon;
use crate::special::{Interval, UNIT};
use crate::{Accountant, Adjacency, Error, LowerEnd, Mechanism, Result, currencies, pure, require};

/// One release of a composition.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Release {
    /// A known mechanism.
    Mechanism(Mechanism),
    /// Anything that is `(epsilon, delta)`-private under the composition's adjacency.
    Given {
        /// Bound on the loss ...
        epsilon: f64,
        /// ... up to this probability.
        delta: f64,
    },
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
    /// Everything but what is revealed outright.
    rest: Accountant,
}

impl Composition {
    /// A composition of nothing.
    pub fn new(adjacency: Adjacency) -> Self {
        Self { releases: Vec::new(), rest: Accountant::new(adjacency) }
    }

    /// Adds `steps` releases. Refuses what cannot be accounted for, and then remains as it was.
    pub fn add(&mut self, release: Release, steps: u64) -> Result<()> {
        match release {
            Release::Mechanism(mechanism) => self.rest.compose(mechanism, steps)?,
            Release::Given { epsilon, delta } => {
                Release::given(epsilon, delta)?;
                // Even where nothing is lost but delta, the number of steps is checked.
                let pure =
                    if epsilon > 0.0 { Mechanism::pure(epsilon)? } else { Mechanism::pure(1.0)?.on_nobody() };
                self.rest.compose(pure, steps)?;
            }
        }
        self.releases.push((release, steps));
        Ok(())
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
            _ => None,
        })
    }

    /// The probability that some given release reveals its record outright.
    pub fn revealed(&self) -> Result<Interval> {
        let all: Vec<(f64, u64)> = self.deltas().collect();
        match all[..] {
            [] => Interval::new(0.0, 0.0),
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
        let upper = self.rest.epsilon(least)?;
        if most == least {
            return Ok(Epsilon::Within(upper));
        }
        let lower = self.rest.epsilon(most)?.lower;
        Ok(Epsilon::Within(Interval::new(lower, upper.upper)?))
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
        if let Some(largest) = pure::composed(self.rest.events(), self.adjacency()) {
            return Epsilon::Within(largest);
        }
        let unbounded = |mechanism: &&Mechanism| pure::upper(mechanism, self.adjacency()).is_none();
        let name = self.rest.events().iter().map(|(mechanism, _)| mechanism).find(unbounded);
        let name = name.map_or_else(String::new, ToString::to_string);
        Epsilon::Infinite { reason: format!("the losses of {name} have no bound, only small probabilities") }
    }

    /// Delta at `epsilon`.
    pub fn delta(&self, epsilon: f64) -> Result<Interval> {
        let (revealed, rest) = (self.revealed()?, self.rest.delta(epsilon)?);
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

    /// Epsilon at `delta` by Rényi divergences, with the order that gives it; nothing at delta 0, or at no more than what
    /// is revealed outright.
    pub fn rdp_epsilon(&self, delta: f64) -> Result<Option<(f64, f64)>> {
        let revealed = self.revealed()?.upper;
        let left = if revealed < delta { remaining(delta, revealed, -4.0) } else { 0.0 };
        if left > 0.0 { self.rest.rdp_epsilon(left).map(Some) } else { Ok(None) }
    }

    /// The Rényi loss at `order`; nothing where something is revealed outright.
    pub fn renyi(&self, order: f64) -> Result<Option<f64>> {
        if self.deltas().next().is_some() {
            return Ok(None);
        }
        let mut total = 0.0;
        for (mechanism, count) in self.rest.events() {
            total += *count as f64 * currencies::renyi(mechanism, self.adjacency(), order)?;
        }
        Ok(Some(total * (1.0 + (2.0 + 2.0 * self.rest.events().len() as f64) * UNIT)))
    }

    /// The concentrated loss `rho` (Rényi loss at most `rho * order` at every order), rounded up; nothing where something is
    /// revealed outright.
    pub fn zcdp(&self) -> Option<f64> {
        let concentrated = self.deltas().next().is_none();
        concentrated.then(|| currencies::zcdp(self.rest.events(), self.adjacency()))
    }

    /// A Gaussian that loses at least as much at every epsilon, or why none is known.
    pub fn gaussian(&self) -> std::result::Result<currencies::GaussianBound, String> {
        if self.deltas().next().is_some() {
            return Err("a given delta is beyond every Gaussian".into());
        }
        currencies::gaussian(self.rest.events(), self.adjacency())
    }

    /// What the lower end of an interval bounds.
    pub fn lower_end(&self) -> LowerEnd {
        self.rest.lower_end()
    }
}

fn check_delta_or_zero(delta: f64) -> Result<()> {
    if (0.0..1.0).contains(&delta) {
        return Ok(());
    }
    let remedy = "give a probability of at least 0 and strictly below 1, such as 1e-5";
    Err(Error::parameter("delta", delta, remedy))
}

/// What is left of `delta` when `revealed` of it is spent: `(delta - revealed) / (1 - revealed)`, moved by so many roundings.
fn remaining(delta: f64, revealed: f64, roundings: f64) -> f64 {
    if revealed == 0.0 { delta } else { (delta - revealed) / (1.0 - revealed) * (1.0 + roundings * UNIT) }
}
