//! What a run may still release, and what its driver still owes: kept beside the machine's state.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sottovoce_privacy::Loss;
use sottovoce_protocol::{Overspent, Peer, Release, Span};

use crate::Hash;

/// A private step that is being made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Asked<V> {
    pub(crate) ticket: u64,
    pub(crate) iteration: usize,
    pub(crate) size: f64,
    pub(crate) value: V,
}

/// The driver's part of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Book<T, V> {
    /// The data set.
    pub(crate) label: String,
    /// Its file.
    pub(crate) data: Hash,
    /// Whether anything was paid for.
    pub(crate) begun: bool,
    /// Releases that are paid for and were not made yet.
    pub(crate) paid: Vec<(Release, u64)>,
    /// How many messages each peer was sent, and heard from each.
    pub(crate) said: BTreeMap<Peer, u64>,
    pub(crate) heard: BTreeMap<Peer, u64>,
    /// How many messages there are, each counted once however many receive it.
    pub(crate) messages: u64,
    pub(crate) waits: Vec<(T, Span)>,
    pub(crate) asked: Vec<Asked<V>>,
}

impl<T: PartialEq, V> Book<T, V> {
    pub(crate) fn new(label: String, data: Hash) -> Self {
        let (said, heard) = (BTreeMap::new(), BTreeMap::new());
        Self {
            label,
            data,
            begun: false,
            paid: Vec::new(),
            said,
            heard,
            messages: 0,
            waits: Vec::new(),
            asked: Vec::new(),
        }
    }

    /// More releases are paid for.
    pub(crate) fn pay(&mut self, releases: &[(Release, u64)]) {
        for &(release, times) in releases {
            match self.paid.iter_mut().find(|(known, _)| *known == release) {
                Some((_, left)) => *left = left.saturating_add(times),
                None => self.paid.push((release, times)),
            }
        }
    }

    /// One of the releases that are paid for.
    pub(crate) fn admit(&mut self, release: &Release) -> Result<(), Overspent> {
        match self.paid.iter_mut().find(|(known, left)| known == release && *left > 0) {
            Some((_, left)) => {
                *left -= 1;
                Ok(())
            }
            None => {
                let asked = match release.loss() {
                    Ok(Loss::Gdp(gdp)) => gdp.mu_squared(),
                    _ => f64::INFINITY,
                };
                Err(Overspent { asked, left: 0.0 })
            }
        }
    }

    /// A timer has gone off: it is owed no longer.
    pub(crate) fn rang(&mut self, timer: &T) {
        if let Some(place) = self.waits.iter().position(|(known, _)| known == timer) {
            self.waits.remove(place);
        }
    }
}
