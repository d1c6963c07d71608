//! What the driver needs for agents of consensus learning: their lots and their noise.

use std::time::Duration;

use sottovoce_protocol::averaging::{Round, Start};
use sottovoce_protocol::consensus::{Agent, Hidden, Note};
use sottovoce_protocol::{Peer, Shared, Transcript, Uncovered};

use super::{ConsensusSetup, Lot, Trainer};
use crate::driver::{Ended, Simulation, World};
use crate::invariants::{Invariant, OnlyNeighboursTalk, Violation};
use crate::network::{Faults, Network};
use crate::paired::Paired;
use crate::record::{Envelope, Recorder, Step};
use crate::{Allowance, Result};

/// A run that has not begun.
#[derive(Debug, Clone)]
pub struct ConsensusRun<'a> {
    /// Who learns with whom, and how.
    pub setup: ConsensusSetup<'a>,
    /// The network. Without a timeout agents wait for their neighbours for ever.
    pub network: Network,
    /// What happens to agents.
    pub faults: Faults,
    /// When it ends at the latest.
    pub deadline: Duration,
}

/// The transcript of such a run.
pub type ConsensusTranscript = Transcript<Round, Note>;

/// How a run ended.
#[derive(Debug, Clone, PartialEq)]
pub struct ConsensusOutcome {
    /// Each agent's model.
    pub models: Vec<Shared>,
    /// Private draws of each.
    pub draws: Vec<usize>,
    /// What each may still release, and has spent.
    pub allowances: Vec<Allowance>,
    /// What happened, without values.
    pub transcript: ConsensusTranscript,
    /// Messages sent: one for each receiver.
    pub sent: u64,
    /// Of these, lost on the way or at an agent who was not there.
    pub lost: u64,
    /// Virtual time.
    pub duration: Duration,
    /// Broken invariants: none, or the run is void.
    pub violations: Vec<Violation>,
}

impl ConsensusRun<'_> {
    /// Runs until everybody is done, or to the deadline.
    pub fn run(&self, trainer: &impl Trainer) -> Result<ConsensusOutcome> {
        Ok(ConsensusOutcome::of(self.simulation(trainer)?.end(|_| {})))
    }

    /// The same before it begins, to be watched.
    pub fn simulation<'r, T: Trainer>(
        &'r self,
        trainer: &'r T,
    ) -> Result<Simulation<'r, Agent, ConsensusWorld<'r, T>>> {
        let setup = &self.setup;
        setup.check()?;
        let agents = setup.mixing.nodes();
        let agent = |peer: Peer| {
            let agent = Agent::new(setup.row(peer), setup.start.clone(), setup.plan, setup.hidden[peer]);
            if setup.settles() { agent.settling() } else { agent }
        };
        let world = ConsensusWorld {
            lot: Lot { trainer, seed: setup.seed },
            hidden: setup.hidden,
            noises: setup.noises(),
            loud: setup.loud(),
            picked: Vec::new(),
            transcript: ConsensusTranscript::default(),
        };
        let graph = setup.mixing.graph();
        let talk = move |_: &Round, from: Peer, to: Peer| graph.has_edge(from, to);
        let checks: Vec<Box<dyn Invariant<Agent> + '_>> = vec![Box::new(OnlyNeighboursTalk::new(talk))];
        let (machines, commands) =
            ((0..agents).map(agent).collect(), (0..agents).map(|peer| (peer, Start)).collect());
        Ok(Simulation::of(machines, world, self.network, setup.seed, commands)?
            .faults(&self.faults)?
            .budgets(setup.allowances.clone())?
            .deadline(self.deadline)
            .invariants(checks))
    }
}

impl ConsensusOutcome {
    /// What came of a run.
    pub fn of<T>(ended: Ended<Agent, ConsensusWorld<'_, T>>) -> Self {
        Self {
            models: ended.machines.iter().map(|agent| agent.model().clone()).collect(),
            draws: ended.machines.iter().map(Agent::draws).collect(),
            allowances: ended.allowances,
            transcript: ended.world.transcript,
            sent: ended.traffic.sent,
            lost: ended.traffic.lost,
            duration: ended.last,
            violations: ended.violations,
        }
    }
}

/// The world of consensus learning.
pub struct ConsensusWorld<'r, T> {
    lot: Lot<'r, T>,
    hidden: &'r [Option<Hidden>],
    noises: Vec<Paired>,
    /// What the noise of pairs is measured by.
    loud: f64,
    picked: Vec<u32>,
    transcript: ConsensusTranscript,
}

impl<T: Trainer> World<Agent> for ConsensusWorld<'_, T> {
    /// Agents throw no dice: their lots are drawn with their gradients.
    fn bits(&mut self, _: Peer) -> u64 {
        0
    }

    fn noise(
        &mut self,
        peer: Peer,
        draw: u64,
        scale: f64,
        like: &Shared,
    ) -> std::result::Result<Shared, Uncovered> {
        let mut noise = Shared::zeros(like.len());
        self.noises[peer].own().add_single(draw, scale, noise.to_mut())?;
        Ok(noise)
    }

    fn share(
        &mut self,
        peer: Peer,
        draw: u64,
        _: f64,
        noise: &mut Shared,
    ) -> std::result::Result<(), Uncovered> {
        self.noises[peer].add_single(draw, self.loud, noise.to_mut())
    }

    fn compute(&mut self, peer: Peer, draw: usize, _: f64, value: &mut Shared) {
        // Nobody without rows asks.
        if let Some(hidden) = &self.hidden[peer] {
            *value = self.lot.gradient(hidden, (peer, draw as u64), value, &mut self.picked);
        }
    }

    fn heard(&mut self, envelope: &Envelope<'_, Agent>) {
        self.transcript.delivered(envelope);
    }

    fn step(&mut self, step: &Step<'_, Agent>) {
        self.transcript.step(step);
    }
}
