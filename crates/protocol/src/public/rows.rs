//! What each peer is told of the graph: its own rows, and no other. Machines know no more.

use std::collections::BTreeMap;

use sottovoce_topology::mixing::Mixing;
use sottovoce_topology::schedule::{Schedule, Step};

use crate::Peer;
use crate::averaging::{Row, Varying};
use crate::walk::Transition;

impl Row {
    /// A peer's row of a mixing matrix.
    pub fn of(mixing: &Mixing, peer: Peer) -> Self {
        Self::mutual(mixing.diagonal()[peer], mixing.row(peer))
    }
}

impl Varying {
    /// The parts of all peers in the first `rounds` steps of a schedule (fewer if it ends).
    pub fn all(schedule: &Schedule, rounds: usize) -> Vec<Self> {
        let rounds = schedule.steps().map_or(rounds, |steps| steps.min(rounds));
        let mut rows = vec![BTreeMap::new(); schedule.nodes()];
        for round in 0..rounds {
            match schedule.step(round) {
                Some(Step::Pair(u, v)) => {
                    rows[u].insert(round, Row::mutual(0.5, [(v, 0.5)]));
                    rows[v].insert(round, Row::mutual(0.5, [(u, 0.5)]));
                }
                Some(Step::Mixing(matrix)) => {
                    for (peer, rows) in rows.iter_mut().enumerate() {
                        rows.insert(round, Row::of(matrix, peer));
                    }
                }
                Some(Step::Idle) | None => {}
            }
        }
        rows.into_iter().map(|rows| Self::new(rows, rounds)).collect()
    }
}

impl Transition {
    /// A peer's row of a mixing matrix to draw from, itself first if it may keep the token.
    pub fn of(mixing: &Mixing, peer: Peer) -> Self {
        let own = (mixing.diagonal()[peer] > 0.0).then_some((peer, mixing.diagonal()[peer]));
        Self::new(own.into_iter().chain(mixing.row(peer)))
    }
}
