//! A run as it happened: who mixed what, and which messages arrived.
//!
//! The accountant of a run with faults needs both. Rows are read from the plan and from what peers say they missed; arrivals are written down by
//! [`Arrivals`], a recorder. A message that came too late to be used was still read: it counts.
//!
//! ```text
//! events::Simulation ──► Outcome::misses  ┐
//!                   └──► Arrivals         ┴──► happened ──► a row for each peer in each round, and who heard whom
//! ```
//!
//! In strict rounds nobody misses anything and goes on: the rows are those of the plan, and what arrived is part of what was planned.

use std::collections::{BTreeMap, BTreeSet};

use sottovoce_protocol::Peer;
use sottovoce_protocol::averaging::{Plan, Row};

use crate::Result;
use crate::averaging::Scheme;
use crate::outcome::Outcome;
use crate::record::{Envelope, Recorder};

/// Every message that reached its receiver, used or not, each once: (round, sender, receiver).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Arrivals(pub BTreeSet<(usize, Peer, Peer)>);

impl<V> Recorder<V> for Arrivals {
    fn delivered(&mut self, envelope: Envelope<'_, V>) {
        self.0.insert((envelope.message.round, envelope.from, envelope.to));
    }
}

/// One round as it happened.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Happened {
    /// What each peer did. (Of those who stopped in this round or before, the plan: nobody hears of it.)
    pub rows: Vec<Row>,
    /// Messages of this round that arrived, whenever that was: (sender, receiver).
    pub heard: Vec<(Peer, Peer)>,
}

/// The rounds of a run of `scheme`, as its outcome and what arrived tell.
pub fn happened<V>(scheme: &Scheme, outcome: &Outcome<V>, arrivals: &Arrivals) -> Result<Vec<Happened>> {
    let parts = scheme.parts()?;
    let mut missed: BTreeMap<(usize, Peer), BTreeSet<Peer>> = BTreeMap::new();
    for miss in &outcome.misses {
        missed.entry((miss.round, miss.peer)).or_default().insert(miss.from);
    }
    let round = |t: usize| {
        let row = |(u, part): (Peer, &_)| without(Plan::row(part, t), missed.get(&(t, u)));
        let heard = arrivals.0.range((t, 0, 0)..(t + 1, 0, 0)).map(|&(_, from, to)| (from, to)).collect();
        Happened { rows: parts.iter().enumerate().map(row).collect(), heard }
    };
    Ok((0..scheme.rounds()).map(round).collect())
}

/// A row whose missed neighbours gave their weight to the peer itself, summed as the peer sums it.
fn without(row: &Row, missed: Option<&BTreeSet<Peer>>) -> Row {
    let Some(missed) = missed else { return row.clone() };
    let lost = row.from.iter().filter(|(from, _)| missed.contains(from));
    let own = lost.fold(row.own, |own, (_, weight)| own + weight);
    let from = row.from.iter().copied().filter(|(from, _)| !missed.contains(from)).collect();
    Row { own, from, to: row.to.clone() }
}
