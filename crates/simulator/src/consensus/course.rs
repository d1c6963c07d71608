//! One of many runs that are learned side by side from the same rows: what it is a function of.

use sottovoce_protocol::consensus::{Hidden, Plan};
use sottovoce_protocol::{Peer, Shared};
use sottovoce_topology::mixing::Mixing;

use super::ConsensusSetup;
use crate::{Error, Result};

/// One of the runs.
#[derive(Debug, Clone)]
pub struct Course {
    /// Who hears whom. A single agent with all rows is the centre.
    pub mixing: Mixing,
    /// What everybody does.
    pub plan: Plan,
    /// Which of all rows each agent has.
    pub rows: Vec<Vec<usize>>,
    /// An agent's row (by its place among hers) that contributes nothing, though it has its place: rates and divisors are as with it.
    pub absent: Option<(Peer, usize)>,
    /// How each agent's gradients are hidden; none for those without rows.
    pub hidden: Vec<Option<Hidden>>,
    /// How many draws each may make; then she goes on without a gradient.
    pub draws: Vec<usize>,
    /// The seed of the start.
    pub start: u64,
    /// The seed of lots and of noise.
    pub seed: u64,
}

impl Course {
    /// Refuses what a run of its own would refuse, and rows that are not among so many.
    pub fn check(&self, rows: usize) -> Result<()> {
        ConsensusSetup::new(&self.mixing, Shared::zeros(1), self.plan, &self.hidden, self.seed)?;
        let agents = self.mixing.nodes();
        for (field, given) in [("rows", self.rows.len()), ("draws", self.draws.len())] {
            if given != agents {
                let remedy = format!("give one for each of the {agents} agents");
                return Err(Error::parameter(field, given, remedy));
            }
        }
        if let Some(row) = self.rows.iter().flatten().find(|row| **row >= rows) {
            return Err(Error::parameter("row", row, format!("there are {rows}, counted from 0")));
        }
        for (rows, hidden) in self.rows.iter().zip(&self.hidden) {
            let drawn = hidden.map_or(rows.len(), |hidden| hidden.lots.rows());
            if drawn != rows.len() {
                let remedy = format!("she has {} rows; draw lots from as many", rows.len());
                return Err(Error::parameter("lots", drawn, remedy));
            }
        }
        Ok(())
    }
}
