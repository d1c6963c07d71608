//! The invariant that rounds conserve the sum of all values, in whatever order peers go through them.
//!
//! Peers are in different rounds at any moment, and sums across rounds mean nothing. So the sum of round `t` is taken over the
//! values with which peers *open* round `t`, each at its own time, and looked at when the last of them has. A peer that says
//! nothing in a round keeps its value in it, so what it opens round `t` with is what it says first in round `t` or later
//! (less the relay noise on it), or its result.
//!
//! ```text
//! S^0     = sum of the values with which peers entered
//! S^(t+1) = S^t + (relay noises of round t)                                    without acceleration, and for t = 0
//! S^(t+1) = gamma (S^t + relay noises of round t) + (1 - gamma) S^(t-1)        with it
//! ```
//!
//! Where a message was missed in round `t`, the sums from `t + 1` on are not looked at: [`bias`](crate::bias) bounds those.

use sottovoce_protocol::Output;
use sottovoce_protocol::averaging::{Averages, Note};
use sottovoce_protocol::public::Facts;

use crate::bias::accumulate;
use crate::invariants::Invariant;
use crate::record::{Coordinates, Step};

/// Sums may be off by this share of the sum of sizes, for each round: rows may miss 1 by 1e-12, and sums are rounded.
const SLACK: f64 = 1e-10;

/// Rounds conserve the sum of all values.
#[derive(Debug, Clone)]
pub struct MassConserved<V> {
    facts: Facts,
    peers: usize,
    /// The first round that each peer has not opened.
    unopened: Vec<usize>,
    rounds: Vec<Round<V>>,
    entered: Option<V>,
    /// The first round whose sum was not looked at, and the sums expected there and before.
    checked: usize,
    expected: Option<V>,
    before: Option<V>,
    /// Sums from here on are moved by misses.
    missed: usize,
}

#[derive(Debug, Clone)]
struct Round<V> {
    opened: usize,
    sum: Option<V>,
    relay: Option<V>,
    size: f64,
}

impl<V: Coordinates> MassConserved<V> {
    /// For so many peers of a scheme.
    pub fn new(facts: Facts, peers: usize) -> Self {
        let round = Round { opened: 0, sum: None, relay: None, size: 0.0 };
        Self {
            facts,
            peers,
            unopened: vec![0; peers],
            rounds: vec![round; facts.rounds + 1],
            entered: None,
            checked: 0,
            expected: None,
            before: None,
            missed: usize::MAX,
        }
    }

    /// `peer` opens every round up to this one with `value`.
    fn open(&mut self, peer: usize, round: usize, value: &V) {
        let size = value.coordinates().iter().fold(0.0f64, |size, x| size.max(x.abs()));
        let last = (round + 1).min(self.rounds.len());
        for round in self.unopened[peer].min(last)..last {
            let round = &mut self.rounds[round];
            round.opened += 1;
            round.size += size;
            accumulate(&mut round.sum, 1.0, value);
        }
        self.unopened[peer] = self.unopened[peer].max(last);
    }

    fn watch<M: Averages<Value = V>>(&mut self, step: &Step<'_, M>) {
        if let Some(entry) = step.entry() {
            accumulate(&mut self.entered, 1.0, &entry);
        }
        for drawn in step.drawn.iter().filter(|drawn| drawn.draw > 0) {
            if let Some(round) = self.rounds.get_mut(drawn.draw as usize - 1) {
                accumulate(&mut round.relay, 1.0, &drawn.noise);
            }
        }
        for output in step.outputs {
            match output {
                Output::Note(Note::Missed { round, .. }) => self.missed = self.missed.min(round + 1),
                Output::Note(Note::Finished) => self.open(step.peer, self.facts.rounds, step.machine.value()),
                Output::Send { message, .. } if message.round >= self.unopened[step.peer] => {
                    let mut value = message.value.clone();
                    if let Some(xi) = step.relay(message.round) {
                        value.add(-1.0, xi);
                    }
                    self.open(step.peer, message.round, &value);
                }
                _ => {}
            }
        }
    }

    /// The sum expected in the round that is looked at next.
    fn expect(&self) -> Option<V> {
        let Some(last) = self.checked.checked_sub(1) else { return self.entered.clone() };
        let mut next = self.expected.clone()?;
        if let Some(relay) = &self.rounds[last].relay {
            next.add(1.0, relay);
        }
        if let (Some(gamma), Some(before)) = (self.facts.gamma, &self.before) {
            next.scale(gamma);
            next.add(1.0 - gamma, before);
        }
        Some(next)
    }

    /// Looks at the round after the last one looked at; false if not all have opened it, or misses moved it.
    fn settle(&mut self) -> std::result::Result<bool, String> {
        let round = self.checked;
        if round > self.facts.rounds || round >= self.missed || self.rounds[round].opened < self.peers {
            return Ok(false);
        }
        let Some(expected) = self.expect() else { return Ok(false) };
        self.checked += 1;
        self.before = self.expected.replace(expected.clone());
        let Round { sum: Some(sum), size, .. } = &self.rounds[round] else { return Ok(true) };
        let mut error = sum.clone();
        error.add(-1.0, &expected);
        let slack = SLACK * (round + 1) as f64 * (size + self.rounds[0].size);
        match error.coordinates().iter().enumerate().find(|(_, error)| !(-slack..=slack).contains(*error)) {
            None => Ok(true),
            Some((i, error)) => {
                let sum = sum.coordinates().get(i).copied().unwrap_or(0.0);
                Err(format!("round {round} opens with the sum {sum} at coordinate {i}, off by {error}"))
            }
        }
    }
}

impl<M: Averages> Invariant<M> for MassConserved<M::Value>
where
    M::Value: Coordinates,
{
    fn name(&self) -> &'static str {
        "mass-conserved"
    }

    fn check(&mut self, step: &Step<'_, M>) -> std::result::Result<(), String> {
        self.watch(step);
        loop {
            match self.settle() {
                Ok(true) => {}
                Ok(false) => return Ok(()),
                Err(problem) => return Err(format!("{problem}; peer {} was the last to open it", step.peer)),
            }
        }
    }
}
