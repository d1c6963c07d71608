//! Driver 1: peers in virtual time, with faults.
//!
//! ```text
//! queue ──(time, event)──► peer.handle ──► outputs ──► queue      send: a delay or a loss from the network; timer: the timeout
//!                              │
//!                              └──► invariants, ledger, recorder
//! ```
//!
//! Events are ordered by time, and where times are equal by when they were planned. Time and noise reach peers as arguments only;
//! a message's fate is a function of the seed, its sender and its number. A run is therefore a function of its
//! arguments, bit for bit.

use std::time::Duration;

use sottovoce_protocol::{Input, Message, Noise, Output, Peer, Protocol};

use crate::averaging::Facts;
use crate::bias::{Ledger, Miss};
use crate::invariants::{Invariant, Violation};
use crate::network::{Faults, Network, nanoseconds};
use crate::outcome::{Outcome, Silence, Traffic};
use crate::presence::Presence;
use crate::queue::Queue;
use crate::record::{Coordinates, Drawn, Envelope, Recorder, Step};
use crate::{Error, Result};

/// Events between two calls of the progress callback.
const PROGRESS: u64 = 1 << 16;

/// A run that has not begun.
///
/// ```
/// use sottovoce_protocol::averaging::Noising;
/// use sottovoce_simulator::averaging::{AveragingSetup, Scheme};
/// use sottovoce_simulator::{events::Simulation, invariants, network::Network, noise::PeerNoise};
/// let setup = AveragingSetup {
///     values: vec![vec![1.0], vec![2.0], vec![6.0]],
///     scheme: Scheme::Butterfly { positions: vec![0, 1, 2] },
///     noising: Noising { sensitivity: 1.0, local: 1e-9, relay: 0.0 },
///     budget: f64::INFINITY,
/// };
/// let outcome = Simulation::new(setup.numbers()?, PeerNoise::all(7, 3), Network::perfect(), 7)?
///     .averaging(setup.facts()?)
///     .invariants(invariants::of_averaging(&setup)?)
///     .run();
/// assert!(outcome.complete && outcome.violations.is_empty());
/// assert!((outcome.finals[2].as_ref().unwrap()[0] - 3.0).abs() < 1e-8);
/// # Ok::<(), sottovoce_simulator::Error>(())
/// ```
pub struct Simulation<'a, V, P, N> {
    peers: Vec<P>,
    noises: Vec<N>,
    network: Network,
    seed: u64,
    slowness: Vec<f64>,
    presence: Vec<Presence>,
    deadline: u64,
    ledger: Option<Ledger<V>>,
    invariants: Vec<Box<dyn Invariant<V> + 'a>>,
    recorder: Option<&'a mut dyn Recorder<V>>,
}

/// How far a run has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Virtual time.
    pub time: Duration,
    /// Inputs handled.
    pub events: u64,
    /// Peers that have their result.
    pub finished: usize,
}

impl<'a, V: Coordinates, P: Protocol<V>, N: Noise<V>> Simulation<'a, V, P, N> {
    /// Peers, the noise of each, and the network between them.
    pub fn new(peers: Vec<P>, noises: Vec<N>, network: Network, seed: u64) -> Result<Self> {
        network.check()?;
        if noises.len() != peers.len() {
            let remedy = format!("give one for each of the {} peers", peers.len());
            return Err(Error::parameter("noises", noises.len(), remedy));
        }
        Ok(Self {
            slowness: vec![1.0; peers.len()],
            presence: vec![Presence::default(); peers.len()],
            peers,
            noises,
            network,
            seed,
            deadline: u64::MAX,
            ledger: None,
            invariants: Vec::new(),
            recorder: None,
        })
    }

    /// With faults.
    pub fn faults(mut self, faults: &Faults) -> Result<Self> {
        faults.check(self.peers.len())?;
        for &(peer, factor) in &faults.stragglers {
            self.slowness[peer] *= factor;
        }
        self.presence = Presence::of(faults, self.peers.len());
        Ok(self)
    }

    /// Ends at this virtual time at the latest.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = nanoseconds(deadline);
        self
    }

    /// Says that this is an averaging run: its bias is measured and bounded.
    pub fn averaging(mut self, facts: Facts) -> Self {
        self.ledger = Some(Ledger::new(facts, self.peers.len()));
        self
    }

    /// Checks these at every step.
    pub fn invariants(mut self, invariants: Vec<Box<dyn Invariant<V> + 'a>>) -> Self {
        self.invariants.extend(invariants);
        self
    }

    /// Shows every message to a recorder.
    pub fn recorder(mut self, recorder: &'a mut dyn Recorder<V>) -> Self {
        self.recorder = Some(recorder);
        self
    }

    /// Runs until nothing more can happen, or to the deadline.
    pub fn run(self) -> Outcome<V> {
        self.run_with(|_| {})
    }

    /// As [`Self::run`]; says from time to time how far it is.
    pub fn run_with(self, progress: impl FnMut(Progress)) -> Outcome<V> {
        Run::new(self).finish(progress)
    }
}

enum Event<V> {
    Start(Peer),
    Deliver { from: Peer, to: Peer, message: Message<V> },
    Timeout { peer: Peer, round: usize },
}

impl<V> Event<V> {
    fn peer(&self) -> Peer {
        match self {
            Self::Start(peer) | Self::Deliver { to: peer, .. } | Self::Timeout { peer, .. } => *peer,
        }
    }

    fn is_message(&self) -> bool {
        matches!(self, Self::Deliver { .. })
    }
}

/// A run under way.
struct Run<'a, V, P, N> {
    given: Simulation<'a, V, P, N>,
    queue: Queue<Event<V>>,
    now: u64,
    /// Messages each peer has sent.
    sent: Vec<u64>,
    outcome: Outcome<V>,
}

impl<'a, V: Coordinates, P: Protocol<V>, N: Noise<V>> Run<'a, V, P, N> {
    fn new(given: Simulation<'a, V, P, N>) -> Self {
        let peers = given.peers.len();
        let outcome = Outcome {
            finals: vec![None; peers],
            rounds: vec![0; peers],
            traffic: Traffic::default(),
            misses: Vec::new(),
            silent: Vec::new(),
            stopped: Vec::new(),
            bias: None,
            duration: Duration::ZERO,
            events: 0,
            complete: false,
            violations: Vec::new(),
        };
        let mut queue = Queue::new();
        (0..peers).for_each(|peer| queue.push(0, Event::Start(peer)));
        Self { given, queue, now: 0, sent: vec![0; peers], outcome }
    }

    fn finish(mut self, mut progress: impl FnMut(Progress)) -> Outcome<V> {
        while let Some((time, event)) = self.queue.pop() {
            if time > self.given.deadline {
                self.queue.push(time, event);
                self.now = self.given.deadline;
                break;
            }
            self.now = time;
            self.meet(event);
            if self.outcome.events % PROGRESS == PROGRESS - 1 {
                let finished = self.outcome.finals.iter().flatten().count();
                progress(Progress { time: self.time(), events: self.outcome.events, finished });
            }
        }
        self.conclude()
    }

    fn conclude(mut self) -> Outcome<V> {
        self.outcome.complete = self.outcome.finals.iter().all(Option::is_some);
        if !self.outcome.complete {
            self.outcome.duration = self.time();
        }
        self.outcome.traffic.underway = self.queue.rest().filter(Event::is_message).count() as u64;
        let ledger = self.given.ledger.as_ref();
        self.outcome.bias =
            ledger.and_then(|ledger| ledger.conclude(&self.outcome.misses, &self.outcome.finals));
        self.outcome
    }

    fn time(&self) -> Duration {
        Duration::from_nanos(self.now)
    }

    /// An event finds its peer there, away, asleep or dead.
    fn meet(&mut self, event: Event<V>) {
        let presence = &self.given.presence[event.peer()];
        if presence.is_dead(self.now) || (event.is_message() && presence.is_away(self.now)) {
            self.outcome.traffic.lost += u64::from(event.is_message());
            return;
        }
        match presence.back(self.now) {
            Some(later) => self.queue.push(later, event),
            None => self.handle(event),
        }
    }

    fn handle(&mut self, event: Event<V>) {
        let peer = event.peer();
        let private = matches!(event, Event::Start(_)).then(|| self.given.peers[peer].value().clone());
        let input = match event {
            Event::Start(_) => Input::Start,
            Event::Timeout { round, .. } => Input::Timeout { round },
            Event::Deliver { from, message, .. } => {
                self.outcome.traffic.delivered += 1;
                self.record(from, peer, &message, |recorder, envelope| recorder.delivered(envelope));
                Input::Message { from, message }
            }
        };
        let mut noise = Watched { noise: &mut self.given.noises[peer], drawn: Vec::new() };
        self.given.peers[peer].handle(input, &mut noise);
        let drawn = noise.drawn;
        let outputs: Vec<Output<V>> = std::iter::from_fn(|| self.given.peers[peer].poll()).collect();
        self.outcome.events += 1;
        self.watch(peer, private.as_ref(), &drawn, &outputs);
        outputs.into_iter().for_each(|output| self.obey(peer, output));
    }

    /// Shows a step to everyone who watches.
    fn watch(&mut self, peer: Peer, private: Option<&V>, drawn: &[Drawn<V>], outputs: &[Output<V>]) {
        let time = Duration::from_nanos(self.now);
        let value = self.given.peers[peer].value();
        let step = Step { time, peer, private, drawn, outputs, value };
        if let Some(ledger) = &mut self.given.ledger {
            ledger.watch(&step);
        }
        for invariant in &mut self.given.invariants {
            if let Err(message) = invariant.check(&step)
                && self.outcome.violations.len() < Outcome::<V>::MOST_VIOLATIONS
            {
                let violation = Violation { invariant: invariant.name(), time, peer, message };
                self.outcome.violations.push(violation);
            }
        }
    }

    /// Does what a peer asks.
    fn obey(&mut self, peer: Peer, output: Output<V>) {
        match output {
            Output::Send { to, message } => self.send(peer, to, message),
            Output::Timer { round } => {
                self.reach(peer, round);
                if let Some(timeout) = self.given.network.timeout {
                    // Round by round from the start of the run: who waited for a silent neighbour in this round would else
                    // be late for its other neighbours in the next, and one crash would make everyone miss everyone.
                    let timeout = nanoseconds(timeout);
                    let planned = timeout.saturating_mul(round as u64 + 1);
                    let time = planned.max(self.now.saturating_add(timeout));
                    self.queue.push(time, Event::Timeout { peer, round });
                }
            }
            Output::Missed { round, from, weight } => {
                self.outcome.misses.push(Miss { round, peer, from, weight });
            }
            Output::Silent { round, missing } => {
                self.outcome.silent.push(Silence { round, peer, missing });
            }
            Output::Refused { reason, .. } => self.outcome.traffic.refused.count(reason),
            Output::Stopped(overspent) => self.outcome.stopped.push((peer, overspent)),
            Output::Finished(value) => {
                self.outcome.finals[peer] = Some(value);
                self.outcome.duration = self.time();
            }
            Output::Release(_) => {}
        }
    }

    fn send(&mut self, from: Peer, to: Peer, message: Message<V>) {
        self.reach(from, message.round);
        self.outcome.traffic.sent += 1;
        self.record(from, to, &message, |recorder, envelope| recorder.sent(envelope));
        let number = self.sent[from];
        self.sent[from] += 1;
        let [first, second] =
            self.given.network.fate(self.given.seed, from, number, self.given.slowness[from]);
        let (Some(first), true) = (first, to < self.given.peers.len()) else {
            self.outcome.traffic.lost += 1;
            return;
        };
        if let Some(second) = second {
            self.outcome.traffic.repeated += 1;
            let event = Event::Deliver { from, to, message: message.clone() };
            self.queue.push(self.now.saturating_add(second), event);
        }
        self.queue.push(self.now.saturating_add(first), Event::Deliver { from, to, message });
    }

    fn reach(&mut self, peer: Peer, round: usize) {
        let rounds = &mut self.outcome.rounds[peer];
        *rounds = (*rounds).max(round + 1);
    }

    fn record(
        &mut self,
        from: Peer,
        to: Peer,
        message: &Message<V>,
        write: impl FnOnce(&mut dyn Recorder<V>, Envelope<'_, V>),
    ) {
        let time = self.time();
        if let Some(recorder) = &mut self.given.recorder {
            write(&mut **recorder, Envelope { time, from, to, message });
        }
    }
}

/// Hands noise through and keeps a copy.
struct Watched<'n, V, N> {
    noise: &'n mut N,
    drawn: Vec<Drawn<V>>,
}

impl<V: Clone, N: Noise<V>> Noise<V> for Watched<'_, V, N> {
    fn draw(&mut self, draw: usize, scale: f64, like: &V) -> V {
        let noise = self.noise.draw(draw, scale, like);
        self.drawn.push(Drawn { draw, noise: noise.clone() });
        noise
    }
}
