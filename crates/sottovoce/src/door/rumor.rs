//! Rumours, for programs.

use std::sync::Arc;

use sottovoce_topology::Graph;

use super::{Account, Adversary, Attack, Protocol, Run, Who, setters};
use crate::experiment::{self, Experiment};
use crate::rumor::{self, Found, Survived};
use crate::spine::Outcome;
use crate::transcript::File;
use crate::{Error, Result};

/// A rumour spreads, and nobody can tell who began.
#[derive(Debug, Clone)]
pub struct Rumor {
    spec: experiment::Rumor,
}

/// What came of a rumour.
#[derive(Debug)]
pub enum Spread {
    /// Among peers who can all reach each other.
    Everyone(Arc<Found>),
    /// By messages on a graph.
    Network(Arc<Survived>),
}

impl Rumor {
    /// Among so many peers who can all reach each other.
    pub fn among(peers: usize) -> Self {
        Self { spec: experiment::Rumor { peers, ..experiment::Rumor::default() } }
    }

    /// Among the peers of a graph.
    pub fn new(graph: &Graph) -> Self {
        let mut spec = experiment::Rumor::default();
        spec.memory.put(&mut spec.graph, graph.clone(), graph.nodes());
        Self { spec }
    }

    setters! { spec:
        /// How many peers are curious, and pool what they hear (default: one in sixteen).
        curious(peers: usize) { spec.curious = Some(peers) }

        /// Views of two sources may differ by this.
        delta(delta: f64) { spec.delta = Some(delta) }

        /// Probability of staying active after a push, instead: 0 is the most private, 1 the fastest.
        muting(muting: f64) { spec.muting = Some(muting) }

        /// Runs with so many seeds, on a graph.
        seeds(seeds: usize) { spec.seeds = Some(seeds) }
    }

    /// Runs it with this seed.
    ///
    /// # Errors
    ///
    /// Names the field that cannot be as it is, and what to do.
    pub fn run(self, seed: u64) -> Result<Run<Self>> {
        let spec = Experiment::Rumor(self.spec.clone());
        Run::new(self, &spec, seed)
    }
}

impl Protocol for Rumor {
    type Found = Spread;

    fn found(outcome: &Outcome) -> Option<Spread> {
        outcome.found().map(Spread::Everyone).or_else(|| outcome.found().map(Spread::Network))
    }

    fn account(run: &Run<Self>, adversary: &Adversary) -> Result<Account> {
        let names = match &adversary.who {
            Who::Peers(names) if adversary.colluders == 0 => &names[..],
            _ => return Err(adversary.refused(
                "the source is hidden from peers; name those who are curious, or none for those of the run",
            )),
        };
        let found = match &run.outcome.transcript()? {
            File::Messages(file) => rumor::reveal_messages(file, names)?,
            File::Rumor(file) => {
                let number = |name: &String| experiment::graph::peer("adversary", name, None, file.peers);
                rumor::reveal(file, &names.iter().map(number).collect::<Result<Vec<_>>>()?)?
            }
            _ => return Err(Error::refused("no rumour")),
        };
        Ok(Account { guarantees: found.guarantees, pairs: Vec::new() })
    }

    fn attack(run: &Run<Self>, runs: usize) -> Result<Attack> {
        let found = match &run.outcome.transcript()? {
            File::Messages(file) => rumor::audit_messages(file, &[], (runs as u64, run.seed), || ())?,
            File::Rumor(file) => rumor::audit(file, &[], runs as u64, run.seed)?,
            _ => return Err(Error::refused("no rumour")),
        };
        Ok(Attack { headline: found.headline, refuted: !found.within_bounds })
    }
}

impl Run<Rumor> {
    /// Rounds until everyone knew, on average over runs; none where that never happened.
    pub fn rounds(&self) -> Option<f64> {
        match &self.found {
            Spread::Everyone(found) => Some(found.mean_rounds.0),
            Spread::Network(found) => found.mean_rounds,
        }
    }
}
