//! What must be true at every step of every run, each under a name of its own.
//!
//! Invariants watch what a driver sees: inputs, outputs, noises drawn, values. They trust no peer's word, and one that is broken is
//! an error of the run ([`Outcome::violations`](crate::outcome::Outcome)), not a panic: a simulation of broken peers is
//! worth finishing.
//!
//! | name | holds for |
//! | --- | --- |
//! | `mass-conserved` | plans that conserve mass and in which the silent keep their value, in every round before which nothing was missed |
//! | `only-neighbours-talk` | every protocol |
//! | `budget-respected` | every protocol |
//! | `release-before-send` | averaging |
//! | `within-range` | averaging, where rows sum to one, without acceleration and relay noise |
//! | `all-finite` | averaging |

use std::fmt;
use std::time::Duration;

use serde::Serialize;
use sottovoce_protocol::averaging::{Averages, Round};
use sottovoce_protocol::public::Scheme;
use sottovoce_protocol::{Law, Machine, Output, Peer, Release};

use crate::Result;
use crate::averaging::AveragingSetup;
use crate::hull::Hull;
use crate::mass::MassConserved;
use crate::record::{Coordinates, Step};

/// Values may leave their range by this share of its largest number: rows may miss 1 by 1e-12, and sums are rounded.
const RANGE_SLACK: f64 = 1e-9;

/// Sums of many costs are rounded.
const BUDGET_SLACK: f64 = 1e-12;

/// Violations kept: a broken peer breaks the same one at every step.
pub const MOST_VIOLATIONS: usize = 100;

/// Something that must be true at every step.
pub trait Invariant<M: Machine> {
    /// Its name, as reports give it.
    fn name(&self) -> &'static str;

    /// Looks at a step; the error says what is wrong: the peer, the round and the value.
    fn check(&mut self, step: &Step<'_, M>) -> std::result::Result<(), String>;
}

/// An invariant was broken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Violation {
    /// Which.
    pub invariant: &'static str,
    /// When, in virtual time.
    pub time: Duration,
    /// By whom.
    pub peer: Peer,
    /// How.
    pub message: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {:?}: {}", self.invariant, self.time, self.message)
    }
}

/// All invariants that hold for a run.
pub fn of_averaging<'a, M: Averages>(setup: &'a AveragingSetup) -> Result<Vec<Box<dyn Invariant<M> + 'a>>>
where
    M::Value: Coordinates + 'a,
{
    let (facts, peers) = (setup.facts()?, setup.scheme.peers());
    let mut all = of_sums(&setup.scheme, setup.budget);
    if facts.conserves_mass {
        all.push(Box::new(MassConserved::new(facts, peers)));
    }
    if facts.conserves_mass && facts.gamma.is_none() && !facts.relay {
        all.push(Box::new(WithinRange::default()));
    }
    Ok(all)
}

/// Those that hold whatever peers compute with, and whether they average or add up.
pub fn of_sums<'a, M: Averages>(scheme: &'a Scheme, budget: f64) -> Vec<Box<dyn Invariant<M> + 'a>>
where
    M::Value: Coordinates + 'a,
{
    let peers = scheme.peers();
    vec![
        Box::new(AllFinite),
        Box::new(ReleaseBeforeSend::new(peers)),
        Box::new(BudgetRespected::new(vec![budget; peers])),
        Box::new(OnlyNeighboursTalk::new(move |round: &Round, from, to| scheme.may_speak(round.0, from, to))),
    ]
}

/// Nothing that a peer holds or says is infinite or not a number.
#[derive(Debug, Clone, Copy, Default)]
pub struct AllFinite;

impl<M: Averages> Invariant<M> for AllFinite
where
    M::Value: Coordinates,
{
    fn name(&self) -> &'static str {
        "all-finite"
    }

    fn check(&mut self, step: &Step<'_, M>) -> std::result::Result<(), String> {
        let peer = step.peer;
        for (to, message) in step.sends() {
            if let Some((i, x)) = not_finite(&message.value) {
                let (to, round) = (to.first().copied().unwrap_or(peer), message.round);
                return Err(format!(
                    "peer {peer} tells peer {to} in round {round} that coordinate {i} is {x}"
                ));
            }
        }
        match not_finite(step.machine.value()) {
            Some((i, x)) => Err(format!("coordinate {i} of peer {peer} is {x}")),
            None => Ok(()),
        }
    }
}

fn not_finite(value: &impl Coordinates) -> Option<(usize, f64)> {
    value.coordinates().iter().copied().enumerate().find(|(_, x)| !x.is_finite())
}

/// Nobody says anything before something was released.
#[derive(Debug, Clone)]
pub struct ReleaseBeforeSend {
    released: Vec<bool>,
}

impl ReleaseBeforeSend {
    /// For so many peers.
    pub fn new(peers: usize) -> Self {
        Self { released: vec![false; peers] }
    }
}

impl<M: Averages> Invariant<M> for ReleaseBeforeSend {
    fn name(&self) -> &'static str {
        "release-before-send"
    }

    fn check(&mut self, step: &Step<'_, M>) -> std::result::Result<(), String> {
        for output in step.outputs {
            match output {
                Output::Release(_) => self.released[step.peer] = true,
                Output::Send { to, message } if !self.released[step.peer] => {
                    let (peer, round) = (step.peer, message.round);
                    let to = to.first().copied().unwrap_or(peer);
                    return Err(format!(
                        "peer {peer} tells peer {to} something in round {round} without a release"
                    ));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// What was released costs no more than the budget of squared Gaussian loss: counted apart from what admitted it.
#[derive(Debug, Clone)]
pub struct BudgetRespected {
    budgets: Vec<f64>,
    spent: Vec<f64>,
}

impl BudgetRespected {
    /// The budget of each peer.
    pub fn new(budgets: Vec<f64>) -> Self {
        Self { spent: vec![0.0; budgets.len()], budgets }
    }
}

/// The squared Gaussian loss of a release, as if everyone's data had entered; infinite where it has none.
fn cost(release: &Release) -> f64 {
    let ratio = release.sensitivity / release.scale;
    if release.law == Law::Gaussian && !ratio.is_nan() { ratio * ratio } else { f64::INFINITY }
}

impl<M: Machine> Invariant<M> for BudgetRespected {
    fn name(&self) -> &'static str {
        "budget-respected"
    }

    fn check(&mut self, step: &Step<'_, M>) -> std::result::Result<(), String> {
        let (spent, budget) = (&mut self.spent[step.peer], self.budgets[step.peer]);
        for output in step.outputs {
            if let Output::Release(release) = output {
                *spent += cost(release);
            }
        }
        if *spent <= budget * (1.0 + BUDGET_SLACK) {
            return Ok(());
        }
        Err(format!("peer {} has spent {spent} of a budget of {budget}", step.peer))
    }
}

/// Peers speak along edges, in the rounds in which these are there.
#[derive(Debug, Clone)]
pub struct OnlyNeighboursTalk<F> {
    may_speak: F,
}

impl<F> OnlyNeighboursTalk<F> {
    /// Where `may_speak(label, from, to)` says who may.
    pub fn new(may_speak: F) -> Self {
        Self { may_speak }
    }
}

impl<M: Machine, F: Fn(&M::Label, Peer, Peer) -> bool> Invariant<M> for OnlyNeighboursTalk<F> {
    fn name(&self) -> &'static str {
        "only-neighbours-talk"
    }

    fn check(&mut self, step: &Step<'_, M>) -> std::result::Result<(), String> {
        let peer = step.peer;
        for (to, message) in step.sends() {
            let label = M::label(message);
            if let Some(to) = to.iter().find(|to| !(self.may_speak)(&label, peer, **to)) {
                return Err(format!("peer {peer} speaks in {label} to peer {to}, who is no neighbour then"));
            }
        }
        Ok(())
    }
}

/// Values stay within the range of those that peers entered with.
///
/// Later entrants widen the range, but nothing can depend on them before: the range *so far* is the right one.
#[derive(Debug, Clone, Default)]
pub struct WithinRange {
    hull: Hull,
}

impl<M: Averages> Invariant<M> for WithinRange
where
    M::Value: Coordinates,
{
    fn name(&self) -> &'static str {
        "within-range"
    }

    fn check(&mut self, step: &Step<'_, M>) -> std::result::Result<(), String> {
        if let Some(entry) = step.entry() {
            self.hull.include(&entry);
        } else if step.command {
            return Ok(()); // It was not let in, and holds its private value.
        }
        let outside = |value: &M::Value, saying: &str| match self.hull.outside(value, RANGE_SLACK) {
            None => Ok(()),
            Some((i, x)) => {
                let (low, high) = self.hull.bounds(i);
                Err(format!("peer {} {saying} {x} at coordinate {i}, outside {low} to {high}", step.peer))
            }
        };
        for (_, message) in step.sends() {
            outside(&message.value, &format!("says in round {}", message.round))?;
        }
        outside(step.machine.value(), "holds")
    }
}
