//! What the driver needs for averaging: noise for every peer, gradient steps, and what came of it.

use std::time::Duration;

use sottovoce_protocol::averaging::{Averages, Note, Round, Start};
use sottovoce_protocol::public::Facts;
use sottovoce_protocol::{Noise, Output, Peer, Uncovered};

use crate::bias::{Ledger, Miss};
use crate::driver::{Progress, Simulation, World};
use crate::network::Network;
use crate::outcome::{Outcome, Silence, Traffic};
use crate::record::{Coordinates, Step};
use crate::{Result, require};

/// A peer's gradient steps: `descend(peer, iteration, value)`.
type Gradients<'a, V> = Box<dyn FnMut(Peer, usize, &mut V) + 'a>;

/// The world of an averaging run.
pub struct AveragingWorld<'a, V, N> {
    noises: Vec<N>,
    gradients: Option<Gradients<'a, V>>,
    ledger: Option<Ledger<V>>,
    outcome: Outcome<V>,
}

impl<V, N> AveragingWorld<'_, V, N> {
    fn reach(&mut self, peer: Peer, round: usize) {
        let rounds = &mut self.outcome.rounds[peer];
        *rounds = (*rounds).max(round + 1);
    }

    fn note(&mut self, time: Duration, peer: Peer, note: &Note, value: &V)
    where
        V: Clone,
    {
        let outcome = &mut self.outcome;
        match note {
            Note::Missed { round, from, weight } => {
                outcome.misses.push(Miss { round: *round, peer, from: *from, weight: *weight });
            }
            Note::Silent { round, missing } => {
                outcome.silent.push(Silence { round: *round, peer, missing: missing.clone() });
            }
            Note::Refused { reason, .. } => outcome.traffic.refused.count(*reason),
            Note::Stopped(overspent) => outcome.stopped.push((peer, *overspent)),
            Note::Uncovered(uncovered) => outcome.uncovered.push((peer, *uncovered)),
            Note::Finished => {
                outcome.finals[peer] = Some(value.clone());
                outcome.duration = time;
            }
        }
    }
}

impl<M: Averages, N: Noise<M::Value>> World<M> for AveragingWorld<'_, M::Value, N>
where
    M::Value: Coordinates,
{
    /// Averaging throws no dice.
    fn bits(&mut self, _: Peer) -> u64 {
        0
    }

    fn noise(
        &mut self,
        peer: Peer,
        draw: u64,
        scale: f64,
        like: &M::Value,
    ) -> std::result::Result<M::Value, Uncovered> {
        self.noises[peer].draw(draw, scale, like)
    }

    fn again(&mut self, peer: Peer, draw: u64, value: &M::Value) -> Option<M::Value> {
        self.noises[peer].again(draw, value)
    }

    fn share(
        &mut self,
        peer: Peer,
        draw: u64,
        scale: f64,
        noise: &mut M::Value,
    ) -> std::result::Result<(), Uncovered> {
        self.noises[peer].share(draw, scale, noise)
    }

    fn compute(&mut self, peer: Peer, iteration: usize, _: f64, value: &mut M::Value) {
        if let Some(gradients) = &mut self.gradients {
            gradients(peer, iteration, value);
        }
    }

    fn step(&mut self, step: &Step<'_, M>) {
        if let Some(ledger) = &mut self.ledger {
            ledger.watch(step);
        }
        for output in step.outputs {
            match output {
                Output::Send { message, .. } => self.reach(step.peer, message.round),
                Output::Wait { timer: Round(round), .. } => self.reach(step.peer, *round),
                Output::Note(note) => self.note(step.time, step.peer, note, step.machine.value()),
                _ => {}
            }
        }
    }
}

/// Averaging runs.
///
/// ```
/// use sottovoce_protocol::averaging::Noising;
/// use sottovoce_protocol::public::Scheme;
/// use sottovoce_simulator::averaging::AveragingSetup;
/// use sottovoce_simulator::{driver::Simulation, invariants, network::Network, noise::PeerNoise};
/// let setup = AveragingSetup {
///     values: vec![vec![1.0], vec![2.0], vec![6.0]],
///     scheme: Scheme::Butterfly { positions: vec![0, 1, 2] },
///     noising: Noising { sensitivity: 1.0, local: 1e-9, relay: 0.0 },
///     budget: f64::INFINITY,
/// };
/// let outcome = Simulation::new(setup.numbers()?, PeerNoise::all(7, 3), Network::perfect(), 7)?
///     .budgets(setup.allowances()?)?
///     .averaging(setup.facts()?)
///     .invariants(invariants::of_averaging(&setup)?)
///     .run();
/// assert!(outcome.complete && outcome.violations.is_empty());
/// assert!((outcome.finals[2].as_ref().unwrap()[0] - 3.0).abs() < 1e-8);
/// # Ok::<(), sottovoce_protocol::Error>(())
/// ```
impl<'a, M: Averages, N: Noise<M::Value>> Simulation<'a, M, AveragingWorld<'a, M::Value, N>>
where
    M::Value: Coordinates,
{
    /// Peers who all start at once, the noise of each, and the network between them.
    pub fn new(peers: Vec<M>, noises: Vec<N>, network: Network, seed: u64) -> Result<Self> {
        let remedy = format!("give one for each of the {} peers", peers.len());
        require(noises.len() == peers.len(), "noises", noises.len(), remedy)?;
        let starts = (0..peers.len()).map(|peer| (peer, Start)).collect();
        let outcome = Outcome::new(peers.len());
        let world = AveragingWorld { noises, gradients: None, ledger: None, outcome };
        Self::of(peers, world, network, seed, starts)
    }

    /// Says that this is plain averaging: its bias is measured and bounded.
    pub fn averaging(mut self, facts: Facts) -> Self {
        self.world.ledger = Some(Ledger::new(facts, self.machines.len()));
        self
    }

    /// Makes the gradient steps of peers who descend; without, they stay where they are.
    pub fn descending(mut self, descend: impl FnMut(Peer, usize, &mut M::Value) + 'a) -> Self {
        self.world.gradients = Some(Box::new(descend));
        self
    }

    /// Runs until nothing more can happen, or to the deadline.
    pub fn run(self) -> Outcome<M::Value> {
        self.run_with(|_| {})
    }

    /// As [`Self::run`]; says from time to time how far it is.
    pub fn run_with(self, progress: impl FnMut(Progress)) -> Outcome<M::Value> {
        let ended = self.end(progress);
        let AveragingWorld { ledger, mut outcome, .. } = ended.world;
        outcome.complete = outcome.finals.iter().all(Option::is_some);
        if !outcome.complete {
            outcome.duration = ended.time;
        }
        outcome.traffic = Traffic { refused: outcome.traffic.refused, ..ended.traffic };
        outcome.bias = ledger.and_then(|ledger| ledger.conclude(&outcome.misses, &outcome.finals));
        (outcome.events, outcome.violations) = (ended.events, ended.violations);
        outcome
    }
}
