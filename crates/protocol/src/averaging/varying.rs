//! Gossip over a schedule: another graph in every round, or one pair at a time (randomised Muffliato, Algorithm 2), in which
//! both take the half-sum.

use std::collections::BTreeMap;

use super::{Plan, Row};

/// A row for each round in which the peer does something.
#[derive(Debug, Clone, PartialEq)]
pub struct Varying {
    rows: BTreeMap<usize, Row>,
    idle: Row,
    rounds: usize,
}

impl Varying {
    /// A peer knows its own rows; in rounds without one it keeps its value and says nothing.
    pub fn new(rows: BTreeMap<usize, Row>, rounds: usize) -> Self {
        Self { rows, idle: Row::idle(), rounds }
    }
}

impl Plan for Varying {
    fn rounds(&self) -> usize {
        self.rounds
    }

    fn row(&self, round: usize) -> &Row {
        self.rows.get(&round).unwrap_or(&self.idle)
    }
}
