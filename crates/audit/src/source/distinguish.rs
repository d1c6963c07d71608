//! Tell two sources apart, and what that proves.
//!
//! From one source and from the other, many runs. A test is an event: "what was heard is in this set". The set is *learned* on a
//! quarter of the runs, from several kinds of marks; the best kind is *chosen* on another quarter; the other half is *counted*. So the
//! counted runs are independent of the test, and what they prove about `delta` holds with the stated confidence, whatever the
//! graph, the protocol or the quality of the test.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use serde::Serialize;
use sottovoce_protocol::rumor::Chance;
use sottovoce_simulator::rumor::{Crowd, Dice, Seen, Told};

use super::first::{First, in_pieces};
use super::watch::{Watcher, watch};
use super::{Error, Result, Setting, Sight};
use crate::Attack;
use crate::reconstruct::require;

/// What an attack on two sources proved.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Distinguished {
    /// The two sources.
    pub pair: (usize, usize),
    /// `delta` at this epsilon is at least `delta_lower`.
    pub epsilon: f64,
    /// The proven lower bound.
    pub delta_lower: f64,
    /// What the counts suggest, without any confidence.
    pub delta_estimate: f64,
    /// The probability that the bound is wrong is at most this.
    pub significance: f64,
    /// By what the two were told apart.
    pub by: &'static str,
    /// Runs counted, for each source.
    pub counted: u64,
}

/// What a run looked like to the observers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Mark {
    /// Which of the pair was heard first: 0, 1, or neither.
    order: Option<bool>,
    /// The first heard of all.
    sender: u32,
    /// Who heard it, and the binary order of magnitude of when.
    receiver: u32,
    time: u32,
}

/// Kinds of marks that a test may look at.
type Kind = (&'static str, fn(Mark) -> Mark);

const ORDER: Kind =
    ("which of the two was heard first", |mark| Mark { sender: 0, receiver: 0, time: 0, ..mark });
const SENDER: Kind = ("who was heard first", |mark| Mark { order: None, receiver: 0, time: 0, ..mark });
const BOTH: Kind =
    ("who was heard first, and which of the two", |mark| Mark { receiver: 0, time: 0, ..mark });
const RECEIVER: Kind = ("who was heard first, and by whom", |mark| Mark { order: None, time: 0, ..mark });
const TIME: Kind =
    ("when someone was heard first, and which of the two", |mark| Mark { sender: 0, receiver: 0, ..mark });

/// Tells the two sources of `pair` apart in `runs` runs of each, and bounds `delta(epsilon)` from below.
pub fn distinguish(
    setting: &Setting<'_>,
    pair: (usize, usize),
    epsilon: f64,
    runs: u64,
    significance: f64,
    seed: u64,
    done: impl Fn(u64) + Sync,
) -> Result<Distinguished> {
    setting.check()?;
    check_pair(setting, pair)?;
    require(runs >= 8, "runs", runs, "give 8 at least: a quarter learns, a quarter chooses, half count")?;
    // Refuse what the counts could not answer before they are made.
    Attack::new(0, 1, 0, 1)?.error_rates(significance)?.delta_lower(epsilon)?;
    let first = marks(setting, pair, false, runs, seed, |n| done(n / 2))?;
    let second = marks(setting, pair, true, runs, seed, |n| done((runs + n) / 2))?;
    let (quarter, half) = (first.len() / 4, first.len() / 2);
    let kinds: &[Kind] = match setting.sight {
        Sight::Senders => &[ORDER, SENDER, BOTH],
        Sight::Everything => &[ORDER, SENDER, BOTH, RECEIVER, TIME],
    };
    let tests = kinds.iter().map(|kind| Test::learn(*kind, &first[..quarter], &second[..quarter], epsilon));
    let advantage = |test: &Test| test.advantage(&first[quarter..half], &second[quarter..half], epsilon);
    let best = tests.max_by(|a, b| advantage(a).total_cmp(&advantage(b)));
    let Some(test) = best else {
        return Err(Error::parameter("sight", "nothing", "observers must see something"));
    };
    let (members, strangers) = (&first[half..], &second[half..]);
    let hits = test.count(members);
    let attack = Attack::new(
        members.len() as u64 - hits,
        members.len() as u64,
        test.count(strangers),
        strangers.len() as u64,
    )?;
    Ok(Distinguished {
        pair,
        epsilon,
        delta_lower: attack.error_rates(significance)?.delta_lower(epsilon)?,
        delta_estimate: test.advantage(members, strangers, epsilon).max(0.0),
        significance,
        by: test.kind.0,
        counted: members.len() as u64,
    })
}

/// Of some pairs of possible sources, drawn at random, the one that a short attack tells apart best. (Attack it again with another
/// seed: the best of many short attacks is partly luck.)
pub fn worst_pair(
    setting: &Setting<'_>,
    pairs: usize,
    epsilon: f64,
    runs: u64,
    seed: u64,
    done: impl Fn(u64) + Sync,
) -> Result<(usize, usize)> {
    setting.check()?;
    let honest = setting.curious.honest();
    require(honest.len() >= 2, "curious", setting.curious.count(), "leave two peers at least who are not")?;
    let mut dice = Dice::new(seed, u64::MAX, 0);
    let mut best = ((honest[0], honest[1]), f64::NEG_INFINITY);
    for i in 0..pairs.max(1) {
        let first = dice.below(honest.len());
        let second = (first + 1 + dice.below(honest.len() - 1)) % honest.len();
        let pair = (honest[first], honest[second]);
        let found = distinguish(setting, pair, epsilon, runs, 0.05, seed, |_| ())?;
        if found.delta_estimate > best.1 {
            best = (pair, found.delta_estimate);
        }
        done(i as u64 + 1);
    }
    Ok(best.0)
}

fn check_pair(setting: &Setting<'_>, (first, second): (usize, usize)) -> Result<()> {
    setting.curious.check_source(first)?;
    setting.curious.check_source(second)?;
    require(first != second, "pair", format_args!("{first},{second}"), "name two different peers")
}

fn marks(
    setting: &Setting<'_>,
    pair: (usize, usize),
    second: bool,
    runs: u64,
    seed: u64,
    done: impl Fn(u64) + Sync,
) -> Result<Vec<Mark>> {
    let source = if second { pair.1 } else { pair.0 };
    let pieces = in_pieces(runs, done, |from, to| {
        let mut crowd = setting.crowd(source, Dice::new(seed, 0, 0))?;
        let mut marker = Marker::new(setting, pair);
        let mut marks = Vec::new();
        for run in from..to {
            sottovoce_fault::stop::look();
            crowd.again(source, Dice::new(seed, run, 2 + u64::from(second)))?;
            marker.begin(&crowd);
            watch(setting, &mut crowd, &mut marker);
            marks.push(marker.mark(pair, &mut crowd));
        }
        Ok(marks)
    })?;
    Ok(pieces.concat())
}

/// Waits for the first of the pair and for the first of all.
struct Marker {
    pair: First,
    first: Option<Seen>,
    /// Silent, and alike: who will be heard first of the two is an even chance.
    even: bool,
}

impl Marker {
    fn new(setting: &Setting<'_>, pair: (usize, usize)) -> Self {
        Self { pair: First::new(setting, &[pair.0, pair.1]), first: None, even: false }
    }

    fn begin(&mut self, crowd: &Crowd<'_>) {
        self.pair.begin(crowd);
        (self.first, self.even) = (None, false);
    }

    fn mark(&self, pair: (usize, usize), crowd: &mut Crowd<'_>) -> Mark {
        let order = match self.pair.named {
            Some(named) => Some(named == pair.1),
            None => self.even.then(|| crowd.below(2) == 1),
        };
        let nothing = Seen { sender: u32::MAX, receiver: u32::MAX, time: 0 };
        let Seen { sender, receiver, time } = self.first.unwrap_or(nothing);
        Mark { order, sender, receiver, time: (time + 1).ilog2() }
    }
}

impl Watcher for Marker {
    fn see(&mut self, seen: Seen) -> ControlFlow<()> {
        self.first.get_or_insert(seen);
        if self.even || self.pair.see(seen).is_break() {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    fn foretold(&mut self, crowd: &Crowd<'_>, told: Option<Told>) -> bool {
        self.even |= self.pair.foretold(crowd, told);
        self.even && self.first.is_some()
    }
}

/// "The mark is one of these."
struct Test {
    kind: Kind,
    typical: BTreeMap<Mark, bool>,
}

impl Test {
    /// Marks that are more than `e^epsilon` times as frequent with the first source as with the second.
    fn learn(kind: Kind, first: &[Mark], second: &[Mark], epsilon: f64) -> Self {
        let mut counts: BTreeMap<Mark, (f64, f64)> = BTreeMap::new();
        first.iter().for_each(|mark| counts.entry(kind.1(*mark)).or_default().0 += 1.0);
        second.iter().for_each(|mark| counts.entry(kind.1(*mark)).or_default().1 += 1.0);
        let typical = counts.into_iter().map(|(mark, (a, b))| (mark, a > epsilon.exp() * b)).collect();
        Self { kind, typical }
    }

    fn count(&self, marks: &[Mark]) -> u64 {
        let hit = |mark: &&Mark| self.typical.get(&self.kind.1(**mark)) == Some(&true);
        marks.iter().filter(hit).count() as u64
    }

    fn advantage(&self, first: &[Mark], second: &[Mark], epsilon: f64) -> f64 {
        let share = |marks: &[Mark]| self.count(marks) as f64 / marks.len().max(1) as f64;
        share(first) - epsilon.exp() * share(second)
    }
}
