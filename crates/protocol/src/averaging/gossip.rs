//! Synchronous gossip over a fixed graph: `x^(t+1) = W x^t` (Muffliato, Algorithm 1; acceleration belongs to
//! [`Averager`](super::Averager)).

use super::{Plan, Row};

/// The same row in every round.
#[derive(Debug, Clone, PartialEq)]
pub struct Gossip {
    row: Row,
    rounds: usize,
}

impl Gossip {
    /// A peer knows its own row of the mixing matrix and no other.
    pub fn new(row: Row, rounds: usize) -> Self {
        Self { row, rounds }
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
