//! What a ledger looks up in its chain: which records are in it, which messages were heard, which draws of noise were used.
//!
//! All of it is in the records, so none of it is stored a second time: it is read off the chain when the ledger is opened, and then kept up.

use std::collections::{BTreeMap, BTreeSet};

use sottovoce_protocol::Peer;

use crate::{Hash, Link, Record};

#[derive(Debug, Default)]
pub(super) struct Index {
    records: BTreeSet<Hash>,
    /// By run, sender and number.
    heard: BTreeMap<(Hash, Peer, u64), Hash>,
    draws: BTreeSet<(Hash, u64)>,
}

impl Index {
    /// One record more, and what it says of a step.
    pub(super) fn add(&mut self, link: &Link, record: Option<&Record>) {
        self.records.insert(link.head().hash);
        let Some(record) = record else { return };
        self.heard.extend(record.heard.iter().map(|one| ((record.run, one.peer, one.number), one.hash)));
        self.draws.extend(record.covered.iter().map(|(draw, _)| (record.run, *draw)));
    }

    /// Whether a record with this hash is in the chain.
    pub(super) fn holds(&self, hash: Hash) -> bool {
        self.records.contains(&hash)
    }

    /// The hash of a message that was heard.
    pub(super) fn heard(&self, run: Hash, from: Peer, number: u64) -> Option<Hash> {
        self.heard.get(&(run, from, number)).copied()
    }

    /// The first of these draws that was used before, or comes twice.
    pub(super) fn used(&self, run: Hash, covered: &[(u64, Hash)]) -> Option<u64> {
        let mut new = BTreeSet::new();
        let mut draws = covered.iter().map(|(draw, _)| *draw);
        draws.find(|&draw| self.draws.contains(&(run, draw)) || !new.insert(draw))
    }
}
