//! Any linear protocol without relay noise, round by round as it was executed: lost messages, asymmetric weights, published results.
//!
//! In round `t` peer `u` tells whom it tells its value, and takes `own * x_u + Σ weight * x_from`. Where a message is missed, the row
//! that was really used stands here, so that a run is accounted for as what it was. A message that came too late to be used was still read: it counts.
//!
//! In strict rounds nobody misses anything and goes on: the rows are those of the plan, and what arrived is part of what was planned.

use std::collections::{BTreeMap, BTreeSet};

use sottovoce_protocol::Peer;
use sottovoce_protocol::averaging::{AveragingTranscript, Note, Plan, Row};
use sottovoce_protocol::public::Scheme;

use super::Leakage;
use crate::error::{check_observers, check_published};
use crate::span::{Rounds, Space};
use crate::{Error, Result};

/// The largest weight there can be.
const LARGEST: f64 = 1e6;

/// One round as it was executed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ExecutedRound {
    /// What each peer did. (Of those who stopped in this round or before, the plan: nobody hears of it.)
    pub rows: Vec<Row>,
    /// Messages of this round that arrived, whenever that was: (sender, receiver). Each carries the sender's value at the beginning of the round.
    pub heard: Vec<(Peer, Peer)>,
}

/// The rounds of a run of `scheme`, as its transcript tells: rows are read from the plan and from what peers say they missed.
pub fn replay(scheme: &Scheme, transcript: &AveragingTranscript) -> Result<Vec<ExecutedRound>> {
    // Each message once.
    let arrived: BTreeSet<_> =
        transcript.messages.iter().map(|heard| (heard.label.0, heard.from, heard.to)).collect();
    let mut missed: BTreeMap<(usize, Peer), BTreeSet<Peer>> = BTreeMap::new();
    for (peer, note) in &transcript.notes {
        if let Note::Missed { round, from, .. } = note {
            missed.entry((*round, *peer)).or_default().insert(*from);
        }
    }
    let parts = scheme.parts()?;
    let round = |t: usize| {
        let row = |(u, part): (Peer, &_)| without(Plan::row(part, t), missed.get(&(t, u)));
        let heard = arrived.range((t, 0, 0)..(t + 1, 0, 0)).map(|&(_, from, to)| (from, to)).collect();
        ExecutedRound { rows: parts.iter().enumerate().map(row).collect(), heard }
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

/// What `observers` learn about each of `nodes` peers in these rounds, and from the last values of the peers who `published` them.
pub fn executed(
    nodes: usize,
    rounds: &[ExecutedRound],
    observers: &[usize],
    published: &[usize],
) -> Result<Leakage> {
    let observers = check_observers(observers, nodes)?;
    let published = check_published(published, nodes)?;
    rounds.iter().enumerate().try_for_each(|(t, round)| check(t, round, nodes))?;
    let space = Space::of(&Rounds::executed(nodes, rounds, &observers, &published));
    Ok(Leakage::of(space.as_ref(), observers, nodes))
}

fn check(t: usize, round: &ExecutedRound, nodes: usize) -> Result<()> {
    let named = round.heard.iter().flat_map(|&(from, to)| [from, to]);
    let used = round.rows.iter().flat_map(|row| row.from.iter().map(|&(from, _)| from));
    let stranger = named.chain(used).find(|&peer| peer >= nodes);
    let weights =
        round.rows.iter().flat_map(|row| row.from.iter().map(|&(_, weight)| weight).chain([row.own]));
    if let Some(weight) = weights.into_iter().find(|weight| weight.is_nan() || weight.abs() > LARGEST) {
        let value = format!("a weight of {weight} in round {t}");
        return Err(Error::parameter("rounds", value, format!("give numbers from -{LARGEST} to {LARGEST}")));
    }
    match (round.rows.len() == nodes, stranger) {
        (true, None) => Ok(()),
        (false, _) => {
            let value = format!("{} rows in round {t}", round.rows.len());
            Err(Error::parameter("rounds", value, format!("give one for each of the {nodes} peers")))
        }
        (_, Some(peer)) => {
            let value = format!("peer {peer} in round {t}");
            Err(Error::parameter("rounds", value, format!("there are {nodes} peers, from 0")))
        }
    }
}
