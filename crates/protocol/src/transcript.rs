//! What happened in a run, without values: who released what, who heard what from whom, and what peers noted.
//!
//! It stands between running and judging: every driver writes one, and the accountant and the attacks read it.

use serde::{Deserialize, Serialize};

use crate::{Peer, Release};

/// A message that was delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heard<L> {
    /// Its sender.
    pub from: Peer,
    /// Its receiver.
    pub to: Peer,
    /// What it is called.
    pub label: L,
}

/// What happened in a run, each list in the order of time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Transcript<L, N> {
    /// Who released what.
    pub releases: Vec<(Peer, Release)>,
    /// Messages that reached their receivers, used or not. Copies that the network made are left out.
    pub messages: Vec<Heard<L>>,
    /// What peers noted.
    pub notes: Vec<(Peer, N)>,
}

impl<L, N> Default for Transcript<L, N> {
    fn default() -> Self {
        Self { releases: Vec::new(), messages: Vec::new(), notes: Vec::new() }
    }
}
