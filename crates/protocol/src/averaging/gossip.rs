//! Synchronous gossip over a fixed graph: `x^(t+1) = W x^t` (Muffliato, Algorithm 1; acceleration belongs to
//! [`Averager`](super::Averager)).

use sottovoce_topology::mixing::Mixing;

use super::{Plan, Row};
use crate::Peer;

/// The same row in every round.
#[derive(Debug, Clone, PartialEq)]
pub struct Gossip {
    row: Row,
    rounds: usize,
}

impl Gossip {
    /// The part of `peer`, who knows its own row of the mixing matrix and no other.
    pub fn new(mixing: &Mixing, peer: Peer, rounds: usize) -> Self {
        Self { row: Row::mutual(mixing.diagonal()[peer], mixing.row(peer)), rounds }
    }
}

impl Plan for Gossip {
    fn rounds(&self) -> usize {
        self.rounds
    }

    fn row(&self, _: usize) -> &Row {
        &self.row
    }
}
