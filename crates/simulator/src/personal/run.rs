//! What the driver needs for agents: their clocks, their noise, their rows.

use std::time::Duration;

use sottovoce_protocol::personal::{Agent, Command, Label, Note};
use sottovoce_protocol::{Law, Peer, Transcript, Uncovered};

use super::{Clock, PERIOD, PersonalSetup, Rows};
use crate::driver::{Ended, Simulation, World};
use crate::invariants::{Invariant, OnlyNeighboursTalk, Violation};
use crate::network::{Faults, Network};
use crate::noise::PeerNoise;
use crate::record::{Envelope, Recorder, Step};
use crate::{Allowance, Result};

/// A run that has not begun.
#[derive(Debug, Clone)]
pub struct PersonalRun<'a> {
    /// Who learns with whom, and how.
    pub setup: PersonalSetup<'a>,
    /// The network.
    pub network: Network,
    /// What happens to agents. An hour is the mean time between two wake-ups.
    pub faults: Faults,
    /// Who joins those who have begun, once her absence from the start is over.
    pub newcomers: Vec<Peer>,
    /// When it ends at the latest.
    pub deadline: Duration,
}

/// The transcript of such a run.
pub type PersonalTranscript = Transcript<Label, Note>;

/// How a run ended.
#[derive(Debug, Clone, PartialEq)]
pub struct PersonalOutcome {
    /// Each agent's model, as all neighbours have it.
    pub models: Vec<Vec<f64>>,
    /// Private updates of each.
    pub updates: Vec<usize>,
    /// What each may still release, and has spent.
    pub allowances: Vec<Allowance>,
    /// What happened, without values.
    pub transcript: PersonalTranscript,
    /// Models sent: one for each receiver.
    pub sent: u64,
    /// Of these, lost on the way or at an agent who was not there.
    pub lost: u64,
    /// Virtual time.
    pub duration: Duration,
    /// Broken invariants: none, or the run is void.
    pub violations: Vec<Violation>,
}

impl PersonalRun<'_> {
    /// Runs until everybody is done, or to the deadline.
    pub fn run(&self, rows: &impl Rows) -> Result<PersonalOutcome> {
        Ok(PersonalOutcome::of(self.simulation(rows)?.end(|_| {})))
    }

    /// The same before it begins, to be watched.
    pub fn simulation<'r, R: Rows>(
        &'r self,
        rows: &'r R,
    ) -> Result<Simulation<'r, Agent, PersonalWorld<'r, R>>> {
        let setup = &self.setup;
        setup.check()?;
        let agent = |peer: Peer| {
            let row = setup.similarity.row(peer).collect();
            Agent::new(row, setup.start.clone(), setup.plans[peer].clone()).without(&self.newcomers)
        };
        let agents = setup.similarity.agents();
        let command =
            |peer| (peer, if self.newcomers.contains(&peer) { Command::Join } else { Command::Begin });
        let world = PersonalWorld {
            seed: setup.seed,
            rows,
            clocks: (0..agents).map(|peer| Clock::new(setup.seed, peer)).collect(),
            transcript: PersonalTranscript::default(),
        };
        let graph = setup.similarity.graph();
        let talk = move |_: &Label, from: Peer, to: Peer| graph.has_edge(from, to);
        let checks: Vec<Box<dyn Invariant<Agent> + '_>> = vec![Box::new(OnlyNeighboursTalk::new(talk))];
        let (machines, commands) = ((0..agents).map(agent).collect(), (0..agents).map(command).collect());
        Ok(Simulation::of(machines, world, self.network, setup.seed, commands)?
            .faults(&self.faults)?
            .budgets(setup.allowances.clone())?
            .period(Duration::from_nanos(PERIOD))
            .deadline(self.deadline)
            .invariants(checks))
    }
}

impl PersonalOutcome {
    /// What came of a run.
    pub fn of<R>(ended: Ended<Agent, PersonalWorld<'_, R>>) -> Self {
        Self {
            models: ended.machines.iter().map(|agent| agent.model().to_vec()).collect(),
            updates: ended.machines.iter().map(Agent::updates).collect(),
            allowances: ended.allowances,
            transcript: ended.world.transcript,
            sent: ended.traffic.sent,
            lost: ended.traffic.lost,
            duration: ended.last,
            violations: ended.violations,
        }
    }
}

/// The world of personalised models.
pub struct PersonalWorld<'r, R> {
    seed: u64,
    rows: &'r R,
    clocks: Vec<Clock>,
    transcript: PersonalTranscript,
}

impl<R: Rows> World<Agent> for PersonalWorld<'_, R> {
    fn bits(&mut self, peer: Peer) -> u64 {
        sottovoce_protocol::Chance::bits(&mut self.clocks[peer])
    }

    fn noise(
        &mut self,
        peer: Peer,
        draw: u64,
        scale: f64,
        like: &Vec<f64>,
    ) -> std::result::Result<Vec<f64>, Uncovered> {
        self.noise_by(Law::Gaussian, peer, draw, scale, like)
    }

    fn noise_by(
        &mut self,
        law: Law,
        peer: Peer,
        draw: u64,
        scale: f64,
        like: &Vec<f64>,
    ) -> std::result::Result<Vec<f64>, Uncovered> {
        let mut noise = vec![0.0; like.len()];
        PeerNoise::new(self.seed, peer).add_by(law, draw, scale, &mut noise)?;
        Ok(noise)
    }

    fn compute(&mut self, peer: Peer, iteration: usize, _: f64, value: &mut Vec<f64>) {
        let model = value.clone();
        match iteration.checked_sub(1) {
            None => self.rows.local(peer, value),
            Some(update) => self.rows.gradient(peer, update, &model, value),
        }
    }

    fn heard(&mut self, envelope: &Envelope<'_, Agent>) {
        self.transcript.delivered(envelope);
    }

    fn step(&mut self, step: &Step<'_, Agent>) {
        self.transcript.step(step);
    }
}
