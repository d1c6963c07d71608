//! What came of a simulated run.

use std::time::Duration;

use serde::Serialize;
use sottovoce_protocol::{Overspent, Peer, Refusal, Uncovered};

use crate::bias::{Bias, Miss};
use crate::invariants::{MOST_VIOLATIONS, Violation};

/// What came of a simulated run.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome<V> {
    /// Each peer's result; none for those who crashed, fell silent, were stopped by their budget, or were not done by the deadline.
    pub finals: Vec<Option<V>>,
    /// For each peer, how many rounds it opened, counted to the last one in which it spoke or waited.
    pub rounds: Vec<usize>,
    /// Messages.
    pub traffic: Traffic,
    /// Who was not heard in time in lenient rounds, in the order it was noticed.
    pub misses: Vec<Miss>,
    /// Who missed somebody in strict rounds and said nothing from then on, in the order it was noticed.
    pub silent: Vec<Silence>,
    /// Whom the budget stopped.
    pub stopped: Vec<(Peer, Overspent)>,
    /// Who had no noise for what it was to say, and said nothing.
    pub uncovered: Vec<(Peer, Uncovered)>,
    /// How far faults moved the mean of the results. None if nobody has a result, or the run was not said to be an averaging one.
    pub bias: Option<Bias>,
    /// Virtual time until the last peer had its result; until the end where some have none.
    pub duration: Duration,
    /// Inputs handled.
    pub events: u64,
    /// Whether every peer has a result.
    pub complete: bool,
    /// Broken invariants: the first [`MOST_VIOLATIONS`](Self::MOST_VIOLATIONS) of them.
    pub violations: Vec<Violation>,
}

impl<V> Outcome<V> {
    /// Violations kept: a broken peer breaks the same one at every step.
    pub const MOST_VIOLATIONS: usize = MOST_VIOLATIONS;

    /// The same with results as `read` reads them.
    pub fn read<W>(self, read: impl Fn(V) -> W) -> Outcome<W> {
        Outcome {
            finals: self.finals.into_iter().map(|last| last.map(&read)).collect(),
            rounds: self.rounds,
            traffic: self.traffic,
            misses: self.misses,
            silent: self.silent,
            stopped: self.stopped,
            uncovered: self.uncovered,
            bias: self.bias,
            duration: self.duration,
            events: self.events,
            complete: self.complete,
            violations: self.violations,
        }
    }

    /// Nothing has happened yet.
    pub(crate) fn new(peers: usize) -> Self {
        Self {
            finals: (0..peers).map(|_| None).collect(),
            rounds: vec![0; peers],
            traffic: Traffic::default(),
            misses: Vec::new(),
            silent: Vec::new(),
            stopped: Vec::new(),
            uncovered: Vec::new(),
            bias: None,
            duration: Duration::ZERO,
            events: 0,
            complete: false,
            violations: Vec::new(),
        }
    }
}

/// A peer that missed somebody in a strict round, and fell silent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Silence {
    /// The round.
    pub round: usize,
    /// Who fell silent.
    pub peer: Peer,
    /// Whom it had not heard.
    pub missing: Vec<Peer>,
}

/// Messages: `sent + repeated = delivered + lost + underway`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Traffic {
    /// By peers.
    pub sent: u64,
    /// Copies made by the network.
    pub repeated: u64,
    /// Handed to a peer.
    pub delivered: u64,
    /// By the network, or because nobody was there.
    pub lost: u64,
    /// Not delivered by the end.
    pub underway: u64,
    /// Delivered but not used.
    pub refused: Refusals,
}

/// Refused messages, by reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Refusals {
    /// Infinite or not a number.
    pub not_finite: u64,
    /// Beyond the range that was agreed on.
    pub range: u64,
    /// Of another length.
    pub shape: u64,
    /// From someone who is no neighbour.
    pub stranger: u64,
    /// Repeated or late.
    pub late: u64,
    /// Too many.
    pub flood: u64,
    /// Steps that nobody makes.
    pub impossible: u64,
}

impl Refusals {
    /// All of them.
    pub fn total(&self) -> u64 {
        self.not_finite + self.range + self.shape + self.stranger + self.late + self.flood + self.impossible
    }

    pub(crate) fn count(&mut self, reason: Refusal) {
        *match reason {
            Refusal::NotFinite => &mut self.not_finite,
            Refusal::Range => &mut self.range,
            Refusal::Shape => &mut self.shape,
            Refusal::Stranger => &mut self.stranger,
            Refusal::Late => &mut self.late,
            Refusal::Flood => &mut self.flood,
            Refusal::Impossible => &mut self.impossible,
        } += 1;
    }
}
