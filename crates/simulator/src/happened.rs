//! A run as it happened: who mixed what, and which messages arrived.
//!
//! The accountant of a run with faults needs both, and a transcript has both: rows are read from the plan and from what peers say they missed. A
//! message that came too late to be used was still read: it counts.
//!
//! In strict rounds nobody misses anything and goes on: the rows are those of the plan, and what arrived is part of what was planned.

use std::collections::{BTreeMap, BTreeSet};

use sottovoce_protocol::averaging::{Note, Plan, Round, Row};
use sottovoce_protocol::{Peer, Transcript};

use crate::Result;
use crate::averaging::Scheme;

/// The transcript of an averaging run.
pub type AveragingTranscript = Transcript<Round, Note>;

/// Every message that reached its receiver, each once: (round, sender, receiver).
pub fn arrivals(transcript: &AveragingTranscript) -> BTreeSet<(usize, Peer, Peer)> {
    transcript.messages.iter().map(|heard| (heard.label.0, heard.from, heard.to)).collect()
}

/// Whether nobody went on without somebody: then what was said is a part of what was planned.
pub fn nobody_was_missed(transcript: &AveragingTranscript) -> bool {
    !transcript.notes.iter().any(|(_, note)| matches!(note, Note::Missed { .. }))
}

/// Who has a result.
pub fn finished(transcript: &AveragingTranscript) -> BTreeSet<Peer> {
    let done = transcript.notes.iter().filter(|(_, note)| *note == Note::Finished);
    done.map(|(peer, _)| *peer).collect()
}

/// One round as it happened.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Happened {
    /// What each peer did. (Of those who stopped in this round or before, the plan: nobody hears of it.)
    pub rows: Vec<Row>,
    /// Messages of this round that arrived, whenever that was: (sender, receiver).
    pub heard: Vec<(Peer, Peer)>,
}

/// The rounds of a run of `scheme`, as its transcript tells.
pub fn happened(scheme: &Scheme, transcript: &AveragingTranscript) -> Result<Vec<Happened>> {
    let (parts, arrived) = (scheme.parts()?, arrivals(transcript));
    let mut missed: BTreeMap<(usize, Peer), BTreeSet<Peer>> = BTreeMap::new();
    for (peer, note) in &transcript.notes {
        if let Note::Missed { round, from, .. } = note {
            missed.entry((*round, *peer)).or_default().insert(*from);
        }
    }
    let round = |t: usize| {
        let row = |(u, part): (Peer, &_)| without(Plan::row(part, t), missed.get(&(t, u)));
        let heard = arrived.range((t, 0, 0)..(t + 1, 0, 0)).map(|&(_, from, to)| (from, to)).collect();
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
