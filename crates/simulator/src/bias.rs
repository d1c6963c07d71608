//! How far faults moved the mean, and how far they could have moved it.
//!
//! **What is measured.** Peers enter with noisy values `x^0`; let `N` be the number of those who did. Without faults, the mean of
//! their results would be `mean(x^0)` plus the relay noises' share. The bias is the mean of the results that exist, minus that.
//!
//! **Without acceleration.** Let `m_v^t` be what `v` says in round `t`, and suppose that rows are symmetric and sum to one. If `v`
//! does not hear `u`, it gives `W_vu` to its own message: the sum of all values moves by `W_vu (m_v - m_u)`, which is at most
//! `W_vu R` for `R` the range of everything said and held. If in the same round `u` does not hear `v` either, the two errors
//! cancel: an edge that fails both ways costs nothing. So
//!
//! ```text
//! |moved sum|  <=  R * Σ W_vu    over misses of v from u that u does not return
//! ```
//!
//! **A peer `u` that crashes in round `c`** is thought to live on, hearing nobody: it keeps its last message for ever. From round
//! `c + 1` on nobody hears it, and it hears nobody: all errors cancel. In round `c` its message may have been heard while it
//! heard nobody: its row weighs at most 1, so that costs at most `R`. Its value is missing from the mean of the `N - k`
//! survivors, which differs from the mean of all `N` by `k/N` times (mean of survivors - mean of the crashed), at most
//! `k R / N`. Together `2 R / N` a crash. A peer that never entered costs nothing: whoever would hear it misses it in every round,
//! which is to mix on the graph without it.
//!
//! **With acceleration**, `S^(t+1) = gamma (S^t + d^t) + (1 - gamma) S^(t-1)` for the sums `S` and the error `d^t` of round `t`.
//! The roots of `z² - gamma z + gamma - 1` are `1` and `gamma - 1`: an error grows to
//! `gamma (1 + (gamma-1) + ... + (gamma-1)^(T-t-1)) <= gamma / (2 - gamma) =: A` times itself (in round 0, which is not accelerated, the
//! same without the first factor). A crashed peer that lives on hearing nobody moves on by its momentum and ends within `A R` of
//! any value. So the bound has the factor `A` everywhere.
//!
//! **A butterfly with guests** neither conserves mass nor keeps rows at one. The weight of a host's value in the mean of all
//! results is at most `2/N` in every round, so a miss costs at most `2 W R / N`, and nothing cancels. Where a peer is lost
//! altogether nothing is promised, and the bound is infinite.
//!
//! **With a second value** (accelerated randomised gossip) an error of one value moves the other, too. Nothing is promised of a run in which anything was
//! missed.

use serde::Serialize;
use sottovoce_protocol::averaging::{Averages, Note, Round};
use sottovoce_protocol::public::Facts;
use sottovoce_protocol::{Output, Peer, Value};

use crate::hull::Hull;
use crate::record::{Coordinates, Step};

/// A neighbour that was not heard in time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Miss {
    /// The round.
    pub round: usize,
    /// Who did not hear.
    pub peer: Peer,
    /// Who was not heard.
    pub from: Peer,
    /// The weight that went to the peer's own value.
    pub weight: f64,
}

/// How far faults moved the mean of the results, coordinate by coordinate.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Bias {
    /// What happened, with its sign.
    pub measured: Vec<f64>,
    /// What could have happened at most; infinite where nothing is promised.
    pub bound: Vec<f64>,
}

/// Watches a run and keeps what the bound needs.
#[derive(Debug)]
pub(crate) struct Ledger<V> {
    facts: Facts,
    /// Value with noise; none for those who were not let in.
    entries: Vec<Option<V>>,
    /// The sum of relay noises in each round.
    relays: Vec<Option<V>>,
    /// The round in which each peer waits.
    waiting: Vec<usize>,
    hull: Hull,
}

impl<V: Coordinates> Ledger<V> {
    pub(crate) fn new(facts: Facts, peers: usize) -> Self {
        let relays = vec![None; facts.rounds];
        Self { facts, entries: vec![None; peers], relays, waiting: vec![0; peers], hull: Hull::default() }
    }

    pub(crate) fn watch<M: Averages<Value = V>>(&mut self, step: &Step<'_, M>) {
        if let Some(entry) = step.entry() {
            self.hull.include(&entry);
            self.entries[step.peer] = Some(entry);
        }
        for drawn in step.drawn.iter().filter(|drawn| drawn.draw > 0) {
            if let Some(sum) = self.relays.get_mut(drawn.draw as usize - 1) {
                accumulate(sum, 1.0, &drawn.noise);
            }
        }
        for output in step.outputs {
            match output {
                Output::Send { message, .. } => self.said(step, message.round, &message.value),
                Output::Wait { timer: Round(round), .. } => self.waiting[step.peer] = *round,
                Output::Note(Note::Finished) => self.hull.include(step.machine.value()),
                _ => {}
            }
        }
    }

    /// A message counts, and so does the value beneath its noise.
    fn said<M: Averages<Value = V>>(&mut self, step: &Step<'_, M>, round: usize, message: &V) {
        self.hull.include(message);
        if let Some(xi) = step.relay(round) {
            let mut beneath = message.clone();
            beneath.add(-1.0, xi);
            self.hull.include(&beneath);
        }
    }

    /// The bias of the results; none if there are none, or if their noise is not known.
    pub(crate) fn conclude(&self, misses: &[Miss], finals: &[Option<V>]) -> Option<Bias> {
        if self.facts.relay && !self.facts.conserves_mass {
            return None;
        }
        let entered = self.entries.iter().flatten().count() as f64;
        let mut expected = None;
        self.entries.iter().flatten().for_each(|entry| accumulate(&mut expected, 1.0 / entered, entry));
        for (round, sum) in self.relays.iter().enumerate() {
            let response = self.response(round);
            sum.iter().for_each(|sum| accumulate(&mut expected, response / entered, sum));
        }
        let survivors = finals.iter().flatten().count() as f64;
        let mut mean = None;
        finals.iter().flatten().for_each(|last| accumulate(&mut mean, 1.0 / survivors, last));
        let mut measured: V = mean?;
        measured.add(-1.0, &expected?);
        let charge = self.charge(misses, finals) / entered;
        // Nothing times nothing is nothing, even if it was without bound.
        let bound = |width: f64| if width == 0.0 { 0.0 } else { charge * width };
        Some(Bias {
            measured: measured.coordinates().to_vec(),
            bound: self.hull.widths().into_iter().map(bound).collect(),
        })
    }

    /// How much of an error in the sum of a round's messages is in the last sum.
    fn response(&self, round: usize) -> f64 {
        let Some(gamma) = self.facts.gamma else { return 1.0 };
        let left = (self.facts.rounds - round) as i32;
        let series = (1.0 - (gamma - 1.0).powi(left)) / (2.0 - gamma);
        if round == 0 { series } else { gamma * series }
    }

    /// What is in front of `R / N` in the module's header.
    fn charge(&self, misses: &[Miss], finals: &[Option<V>]) -> f64 {
        let lost: Vec<bool> =
            self.entries.iter().zip(finals).map(|(entry, last)| entry.is_some() && last.is_none()).collect();
        let crashed = lost.iter().filter(|&&lost| lost).count() as f64;
        let absent = self.entries.iter().any(Option::is_none);
        if self.facts.coupled {
            return if crashed > 0.0 || absent || !misses.is_empty() { f64::INFINITY } else { 0.0 };
        }
        if !self.facts.conserves_mass {
            let weights: f64 = misses.iter().map(|miss| miss.weight).sum();
            return if crashed > 0.0 || absent { f64::INFINITY } else { 2.0 * weights };
        }
        let growth = self.facts.gamma.map_or(1.0, |gamma| gamma / (2.0 - gamma));
        let mut pairs: Vec<(usize, Peer, Peer)> =
            misses.iter().map(|miss| (miss.round, miss.peer, miss.from)).collect();
        pairs.sort_unstable();
        let returned = |miss: &Miss| pairs.binary_search(&(miss.round, miss.from, miss.peer)).is_ok();
        let gone = |miss: &Miss| {
            self.entries[miss.from].is_none() || (lost[miss.from] && miss.round >= self.waiting[miss.from])
        };
        let charged = misses.iter().filter(|miss| !returned(miss) && !gone(miss));
        growth * (charged.map(|miss| miss.weight).sum::<f64>() + 2.0 * crashed)
    }
}

/// `sum += weight * value`, from nothing.
pub(crate) fn accumulate<V: Value>(sum: &mut Option<V>, weight: f64, value: &V) {
    match sum {
        Some(sum) => sum.add(weight, value),
        None => {
            let mut first = value.clone();
            first.scale(weight);
            *sum = Some(first);
        }
    }
}
