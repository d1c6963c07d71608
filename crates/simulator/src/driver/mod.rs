//! Driver 1: machines in virtual time, with faults. One loop for every protocol.
//!
//! ```text
//! queue ──(time, event)──► machine.handle ──► outputs ──► queue      send: a delay or a drop from the network; wait: its span as time
//!                               │   ▲            │
//!                               │   └─ computed ◄┘                   compute: answered at once by the world
//!                               └──► world, invariants, recorder
//! ```
//!
//! Events are ordered by time, and where times are equal by when they were planned. Time, noise and dice reach machines as arguments only;
//! a message's fate is a function of the seed, its sender and its number. A run is therefore a function of its
//! arguments, bit for bit. What differs between protocols is in a [`World`]; nothing is released but what a peer's [`Allowance`] admits.

mod run;
mod world;

use std::time::Duration;

use sottovoce_protocol::{Machine, Peer};

use crate::budget::Allowance;
use crate::invariants::Invariant;
use crate::network::{Faults, Network, nanoseconds};
use crate::presence::Presence;
use crate::record::Recorder;
use crate::{Error, Result, require};

pub use run::{Ended, Progress, Running, Underway};
pub use world::World;

/// A run that has not begun.
pub struct Simulation<'a, M: Machine, W> {
    pub(crate) machines: Vec<M>,
    pub(crate) world: W,
    pub(crate) network: Network,
    pub(crate) seed: u64,
    slowness: Vec<f64>,
    presence: Vec<Presence>,
    deadline: u64,
    period: Duration,
    allowances: Vec<Allowance>,
    commands: Vec<(Peer, M::Command)>,
    invariants: Vec<Box<dyn Invariant<M> + 'a>>,
    recorders: Vec<&'a mut dyn Recorder<M>>,
    between: Option<Between<'a, M>>,
}

/// What is done to a machine after each of its steps.
type Between<'a, M> = Box<dyn FnMut(Peer, &mut M) + 'a>;

impl<'a, M: Machine, W: World<M>> Simulation<'a, M, W> {
    /// Machines, the world around them, the network between them, and what they are asked to do at the start, in order.
    ///
    /// Nobody's budget is limited, until [`Self::budgets`] says so.
    pub fn of(
        machines: Vec<M>,
        world: W,
        network: Network,
        seed: u64,
        commands: Vec<(Peer, M::Command)>,
    ) -> Result<Self> {
        network.check()?;
        let peers = machines.len();
        if let Some((stranger, _)) = commands.iter().find(|(peer, _)| *peer >= peers) {
            return Err(Error::parameter("commands", stranger, format!("there are {peers} peers, from 0")));
        }
        Ok(Self {
            slowness: vec![1.0; peers],
            presence: vec![Presence::default(); peers],
            allowances: vec![Allowance::gaussian(f64::INFINITY)?; peers],
            machines,
            world,
            network,
            seed,
            deadline: u64::MAX,
            period: Duration::from_secs(1),
            commands,
            invariants: Vec::new(),
            recorders: Vec::new(),
            between: None,
        })
    }

    /// With faults.
    pub fn faults(mut self, faults: &Faults) -> Result<Self> {
        faults.check(self.machines.len())?;
        for &(peer, factor) in &faults.stragglers {
            self.slowness[peer] *= factor;
        }
        self.presence = Presence::of(faults, self.machines.len());
        Ok(self)
    }

    /// Every peer's budget.
    pub fn budgets(mut self, allowances: Vec<Allowance>) -> Result<Self> {
        let remedy = format!("give one for each of the {} peers", self.machines.len());
        require(allowances.len() == self.machines.len(), "budgets", allowances.len(), remedy)?;
        self.allowances = allowances;
        Ok(self)
    }

    /// Ends at this virtual time at the latest.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = nanoseconds(deadline);
        self
    }

    /// The length of a period: a round, or the mean time between two events of a clock.
    pub fn period(mut self, period: Duration) -> Self {
        self.period = period;
        self
    }

    /// Checks these at every step.
    pub fn invariants(mut self, invariants: Vec<Box<dyn Invariant<M> + 'a>>) -> Self {
        self.invariants.extend(invariants);
        self
    }

    /// Shows every message and every step to a recorder.
    pub fn recorder(mut self, recorder: &'a mut dyn Recorder<M>) -> Self {
        self.recorders.push(recorder);
        self
    }

    /// Hands over every machine after each of its steps: to store it, and to go on from what was stored.
    pub fn between(mut self, between: impl FnMut(Peer, &mut M) + 'a) -> Self {
        self.between = Some(Box::new(between));
        self
    }

    /// The machines as they are before the run.
    pub fn machines(&self) -> &[M] {
        &self.machines
    }

    /// Runs until nothing more can happen, the world says so, or to the deadline; says from time to time how far it is.
    pub fn end(self, progress: impl FnMut(Progress)) -> Ended<M, W> {
        self.begin().finish(progress)
    }

    /// The same, event by event.
    pub fn begin(self) -> Running<'a, M, W> {
        Running::new(self)
    }
}
