//! Tokens in virtual time: every peer a state machine, on a network that delays, loses and repeats, among peers who crash and leave.
//!
//! ```text
//! queue ──(time, event)──► walker.handle ──► outputs ──► queue      send: a fate from the network; timer: the patience of senders
//!                               │
//!                               └──► the path of each token, detours included
//! ```

use std::time::Duration;

use sottovoce_protocol::walk::{Input, Message, Output, Patience, Token, Visit, Walker};
use sottovoce_protocol::{Peer, Refusal};

use super::{Turn, WalkSetup};
use crate::network::{Faults, Network, nanoseconds};
use crate::noise::PeerNoise;
use crate::presence::Presence;
use crate::queue::Queue;
use crate::{Error, Result};

/// A run that has not begun.
#[derive(Debug, Clone)]
pub struct WalkRun<'a> {
    /// The walk.
    pub setup: WalkSetup<'a>,
    /// The network; its timeout is how long a sender waits for an answer.
    pub network: Network,
    /// What happens to peers.
    pub faults: Faults,
    /// How often a token is offered to a silent peer.
    pub patience: Patience,
    /// When it ends at the latest.
    pub deadline: Duration,
    /// The seed.
    pub seed: u64,
}

/// What happened to a token, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Passage {
    /// A peer held it.
    Held {
        /// The token.
        token: usize,
        /// Which copy of it.
        epoch: (usize, Peer),
        /// The holder.
        peer: Peer,
        /// At which step.
        step: usize,
        /// What it did.
        visit: Visit,
    },
    /// A peer did not answer and the token went another way: there may be two copies.
    Rerouted {
        /// The token.
        token: usize,
        /// The copy that was not answered for.
        epoch: (usize, Peer),
        /// The copy that takes the detour.
        detour: (usize, Peer),
        /// The step that both make next.
        step: usize,
    },
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq)]
pub struct WalkOutcome {
    /// Each token's model, once it has made all its steps; of two copies the valid one.
    pub finals: Vec<Option<Token<Vec<f64>>>>,
    /// All visits and detours, in the order of time.
    pub passages: Vec<Passage>,
    /// Messages sent, answers included.
    pub sent: u64,
    /// Of these, lost on the way or at a peer who was not there.
    pub lost: u64,
    /// Copies that were swallowed as repeated or too old.
    pub swallowed: u64,
    /// How often a token found nobody.
    pub stranded: u64,
    /// Virtual time.
    pub duration: Duration,
}

impl WalkOutcome {
    /// Who held a token, in order, and what was done. Where there were detours, the path of all copies together.
    pub fn path(&self, token: usize) -> Vec<(Peer, Visit)> {
        let held = |passage: &Passage| match *passage {
            Passage::Held { token: id, peer, visit, .. } if id == token => Some((peer, visit)),
            _ => None,
        };
        self.passages.iter().filter_map(held).collect()
    }

    /// Detours taken.
    pub fn reroutings(&self) -> usize {
        self.passages.iter().filter(|passage| matches!(passage, Passage::Rerouted { .. })).count()
    }
}

enum Event {
    Launch { peer: Peer, token: usize },
    Deliver { from: Peer, to: Peer, message: Message<Vec<f64>> },
    Timeout { peer: Peer, token: usize, timer: u64 },
}

impl Event {
    fn peer(&self) -> Peer {
        match self {
            Self::Launch { peer, .. } | Self::Deliver { to: peer, .. } | Self::Timeout { peer, .. } => *peer,
        }
    }

    fn is_message(&self) -> bool {
        matches!(self, Self::Deliver { .. })
    }

    /// The token and the step whose dice the receiver throws.
    fn turn(&self) -> (usize, usize) {
        match self {
            Self::Launch { token, .. } => (*token, 0),
            Self::Deliver { message: Message::Token(token), .. } => (token.id, token.step),
            Self::Deliver { message: Message::Received { id, step, .. }, .. } => (*id, *step),
            Self::Timeout { token, timer, .. } => (*token, usize::MAX - *timer as usize),
        }
    }
}

impl WalkRun<'_> {
    /// Runs until every token has arrived, or to the deadline.
    pub fn run<G>(&self, descend: impl Fn(Peer) -> G) -> Result<WalkOutcome>
    where
        G: FnMut(usize, f64, &mut Vec<f64>),
    {
        self.setup.check()?;
        self.network.check()?;
        self.faults.check(self.setup.mixing.nodes())?;
        if self.network.timeout.is_none() && !(self.network.loss == 0.0 && self.faults == Faults::default()) {
            return Err(Error::parameter(
                "timeout",
                "none",
                "tokens get lost on this network: give a time to wait for answers",
            ));
        }
        let mut run = Run::new(self, descend);
        run.go();
        Ok(run.outcome)
    }
}

struct Run<'r, 'a, G> {
    given: &'r WalkRun<'a>,
    walkers: Vec<Walker<Vec<f64>, G>>,
    presence: Vec<Presence>,
    slowness: Vec<f64>,
    sent: Vec<u64>,
    queue: Queue<Event>,
    now: u64,
    outcome: WalkOutcome,
}

impl<'r, 'a, G: FnMut(usize, f64, &mut Vec<f64>)> Run<'r, 'a, G> {
    fn new(given: &'r WalkRun<'a>, descend: impl Fn(Peer) -> G) -> Self {
        let setup = &given.setup;
        let peers = setup.mixing.nodes();
        let walker = |host| Walker::new(host, setup.start.clone(), setup.course, given.patience);
        let mut slowness = vec![1.0; peers];
        given.faults.stragglers.iter().for_each(|&(peer, factor)| slowness[peer] *= factor);
        let mut queue = Queue::new();
        setup
            .launch
            .iter()
            .enumerate()
            .for_each(|(token, &peer)| queue.push(0, Event::Launch { peer, token }));
        Self {
            walkers: setup.hosts(descend).into_iter().map(walker).collect(),
            presence: Presence::of(&given.faults, peers),
            slowness,
            sent: vec![0; peers],
            queue,
            now: 0,
            outcome: WalkOutcome {
                finals: vec![None; setup.launch.len()],
                passages: Vec::new(),
                sent: 0,
                lost: 0,
                swallowed: 0,
                stranded: 0,
                duration: Duration::ZERO,
            },
            given,
        }
    }

    fn go(&mut self) {
        let deadline = nanoseconds(self.given.deadline);
        while self.outcome.finals.iter().any(Option::is_none)
            && let Some((time, event)) = self.queue.pop()
            && time <= deadline
        {
            self.now = time;
            let presence = &self.presence[event.peer()];
            if presence.is_dead(time) || event.is_message() && presence.is_away(time) {
                self.outcome.lost += u64::from(event.is_message());
                continue;
            }
            match presence.back(time) {
                Some(later) => self.queue.push(later, event),
                None => self.handle(event),
            }
        }
        self.outcome.duration = Duration::from_nanos(self.now);
    }

    fn handle(&mut self, event: Event) {
        let (peer, (token, step)) = (event.peer(), event.turn());
        let mut chance = Turns::new(self.given.seed, token, step);
        let input = match event {
            Event::Launch { token: id, .. } => Input::Launch { id, value: self.given.setup.start.clone() },
            Event::Deliver { from, message, .. } => Input::Message { from, message },
            Event::Timeout { token: id, timer, .. } => Input::Timeout { id, timer },
        };
        let mut noise = super::stroll::Quiet(PeerNoise::new(self.given.seed, peer));
        self.walkers[peer].handle(input, &mut noise, &mut chance);
        while let Some(output) = self.walkers[peer].poll() {
            self.obey(peer, output);
        }
    }

    fn obey(&mut self, peer: Peer, output: Output<Vec<f64>>) {
        match output {
            Output::Send { to, message } => self.send(peer, to, &message),
            Output::Timer { id, timer } => {
                if let Some(timeout) = self.given.network.timeout {
                    let time = self.now.saturating_add(nanoseconds(timeout));
                    self.queue.push(time, Event::Timeout { peer, token: id, timer });
                }
            }
            Output::Visited { id, epoch, step, visit } => {
                self.outcome.passages.push(Passage::Held { token: id, epoch, peer, step, visit });
            }
            Output::Rerouted { id, step, epoch, detour, .. } => {
                self.outcome.passages.push(Passage::Rerouted { token: id, epoch, detour, step });
            }
            Output::Stranded { .. } => self.outcome.stranded += 1,
            Output::Refused { reason, .. } => self.outcome.swallowed += u64::from(reason == Refusal::Late),
            Output::Finished(token) => {
                let slot = &mut self.outcome.finals[token.id];
                if slot.as_ref().is_none_or(|known| known.epoch < token.epoch) {
                    *slot = Some(token);
                }
            }
            Output::Release(_) | Output::Stopped(_) => {}
        }
    }

    fn send(&mut self, from: Peer, to: Peer, message: &Message<Vec<f64>>) {
        let number = self.sent[from];
        self.sent[from] += 1;
        self.outcome.sent += 1;
        let fate = self.given.network.fate(self.given.seed, from, number, self.slowness[from]);
        self.outcome.lost += u64::from(fate[0].is_none());
        for delay in fate.into_iter().flatten() {
            let event = Event::Deliver { from, to, message: message.clone() };
            self.queue.push(self.now.saturating_add(delay), event);
        }
    }
}

/// Dice that are thrown anew for every step, as long as a token stays where it is.
struct Turns {
    seed: u64,
    token: usize,
    step: usize,
}

impl Turns {
    fn new(seed: u64, token: usize, step: usize) -> Self {
        Self { seed, token, step }
    }
}

impl sottovoce_protocol::Chance for Turns {
    fn bits(&mut self) -> u64 {
        let bits = Turn::new(self.seed, self.token, self.step).bits();
        self.step = self.step.wrapping_add(1);
        bits
    }
}
