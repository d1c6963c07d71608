//! Gossip over a schedule: another graph in every round, or one pair at a time (randomised Muffliato, Algorithm 2), in which
//! both take the half-sum.

use std::collections::BTreeMap;

use sottovoce_topology::schedule::{Schedule, Step};

use super::{Plan, Row};
use crate::Peer;

/// A row for each round in which the peer does something.
#[derive(Debug, Clone, PartialEq)]
pub struct Varying {
    rows: BTreeMap<usize, Row>,
    idle: Row,
    rounds: usize,
}

impl Varying {
    /// The parts of all peers in the first `rounds` steps of a schedule (fewer if it ends). Each knows its own rows only.
    pub fn parts(schedule: &Schedule, rounds: usize) -> Vec<Self> {
        let rounds = schedule.steps().map_or(rounds, |steps| steps.min(rounds));
        let mut parts = vec![Self { rows: BTreeMap::new(), idle: Row::idle(), rounds }; schedule.nodes()];
        for round in 0..rounds {
            match schedule.step(round) {
                Some(Step::Pair(u, v)) => {
                    parts[u].rows.insert(round, Row::mutual(0.5, [(v, 0.5)]));
                    parts[v].rows.insert(round, Row::mutual(0.5, [(u, 0.5)]));
                }
                Some(Step::Mixing(mixing)) => {
                    for (peer, part) in parts.iter_mut().enumerate() {
                        part.rows.insert(round, Row::mutual(mixing.diagonal()[peer], mixing.row(peer)));
                    }
                }
                Some(Step::Idle) | None => {}
            }
        }
        parts
    }

    /// The part of one peer.
    pub fn new(schedule: &Schedule, peer: Peer, rounds: usize) -> Self {
        Self::parts(schedule, rounds).swap_remove(peer)
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
