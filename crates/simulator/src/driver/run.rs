//! A run under way.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use sottovoce_protocol::{
    Chance, Input, InputOf, Law, Machine, Means, Output, OutputOf, Overspent, Peer, Release, Span, Uncovered,
    Value,
};

use super::{Simulation, World};
use crate::budget::Allowance;
use crate::invariants::{MOST_VIOLATIONS, Violation};
use crate::network::nanoseconds;
use crate::outcome::Traffic;
use crate::queue::Queue;
use crate::record::{Drawn, Envelope, Step};

/// Events between two calls of the progress callback.
const PROGRESS: u64 = 1 << 16;

/// How far a run has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Virtual time.
    pub time: Duration,
    /// Inputs handled.
    pub events: u64,
}

/// How a run ended.
#[derive(Debug)]
pub struct Ended<M: Machine, W> {
    /// The machines as they are now.
    pub machines: Vec<M>,
    /// The world, with what it gathered.
    pub world: W,
    /// What each peer may still release.
    pub allowances: Vec<Allowance>,
    /// Messages; refusals are the world's to count.
    pub traffic: Traffic,
    /// When the last event happened.
    pub last: Duration,
    /// The end: that, or the deadline if it was reached.
    pub time: Duration,
    /// Inputs handled.
    pub events: u64,
    /// Broken invariants: the first of them.
    pub violations: Vec<Violation>,
    /// Messages that had not arrived, to those who were still there.
    pub underway: Vec<Underway<M::Message>>,
    /// Who had not crashed.
    pub alive: Vec<bool>,
}

/// A message that had not arrived.
#[derive(Debug, Clone, PartialEq)]
pub struct Underway<M> {
    /// Its receiver.
    pub to: Peer,
    /// The message.
    pub message: Arc<M>,
}

enum Event<M: Machine> {
    Command(Peer, M::Command),
    /// Copies that the network made have a number in common.
    Deliver {
        from: Peer,
        to: Peer,
        message: Arc<M::Message>,
        twin: Option<u64>,
    },
    Timer(Peer, M::Timer),
}

impl<M: Machine> Event<M> {
    fn peer(&self) -> Peer {
        match self {
            Self::Command(peer, _) | Self::Deliver { to: peer, .. } | Self::Timer(peer, _) => *peer,
        }
    }

    fn is_message(&self) -> bool {
        matches!(self, Self::Deliver { .. })
    }
}

/// A run under way, event by event.
pub struct Running<'a, M: Machine, W> {
    given: Simulation<'a, M, W>,
    queue: Queue<Event<M>>,
    now: u64,
    /// Messages each peer has sent.
    sent: Vec<u64>,
    /// Numbers of twins of which one was delivered.
    delivered: BTreeSet<u64>,
    traffic: Traffic,
    events: u64,
    violations: Vec<Violation>,
    /// The deadline, once it is reached.
    end: Option<u64>,
}

impl<'a, M: Machine, W: World<M>> Running<'a, M, W> {
    pub(super) fn new(mut given: Simulation<'a, M, W>) -> Self {
        let mut queue = Queue::new();
        let commands = std::mem::take(&mut given.commands);
        commands.into_iter().for_each(|(peer, command)| queue.push(0, Event::Command(peer, command)));
        Self {
            queue,
            now: 0,
            sent: vec![0; given.machines.len()],
            delivered: BTreeSet::new(),
            traffic: Traffic::default(),
            events: 0,
            violations: Vec::new(),
            end: None,
            given,
        }
    }

    /// One event; `false` once nothing more can happen, the world says so, or the deadline is reached.
    pub fn advance(&mut self) -> bool {
        sottovoce_fault::stop::look();
        if self.end.is_some() || self.given.world.is_over() {
            return false;
        }
        let Some((time, event)) = self.queue.pop() else { return false };
        if time > self.given.deadline {
            self.queue.push(time, event);
            self.end = Some(self.given.deadline);
            return false;
        }
        self.now = time;
        self.meet(event);
        true
    }

    /// The world as it is now.
    pub fn world(&self) -> &W {
        &self.given.world
    }

    /// What each peer may still release.
    pub fn allowances(&self) -> &[Allowance] {
        &self.given.allowances
    }

    /// Messages so far.
    pub fn traffic(&self) -> &Traffic {
        &self.traffic
    }

    /// Broken invariants so far: the first of them.
    pub fn violations(&self) -> &[Violation] {
        &self.violations
    }

    pub(super) fn finish(mut self, mut progress: impl FnMut(Progress)) -> Ended<M, W> {
        while self.advance() {
            if self.events % PROGRESS == PROGRESS - 1 {
                progress(Progress { time: self.time(), events: self.events });
            }
        }
        self.conclude()
    }

    fn conclude(mut self) -> Ended<M, W> {
        let last = self.time();
        let time = self.end.map_or(last, Duration::from_nanos);
        let alive: Vec<bool> =
            self.given.presence.iter().map(|presence| !presence.is_dead(self.now)).collect();
        let messages = self.queue.rest().filter_map(|event| match event {
            Event::Deliver { to, message, .. } => Some(Underway { to, message }),
            _ => None,
        });
        let underway: Vec<_> = messages.collect();
        self.traffic.underway = underway.len() as u64;
        let Simulation { machines, world, allowances, .. } = self.given;
        let (traffic, events, violations) = (self.traffic, self.events, self.violations);
        Ended { machines, world, allowances, traffic, last, time, events, violations, underway, alive }
    }

    /// Virtual time.
    pub fn time(&self) -> Duration {
        Duration::from_nanos(self.now)
    }

    /// An event finds its peer there, away, asleep or dead.
    fn meet(&mut self, event: Event<M>) {
        let presence = &self.given.presence[event.peer()];
        if presence.is_dead(self.now) || (event.is_message() && presence.is_away(self.now)) {
            self.traffic.lost += u64::from(event.is_message());
            return;
        }
        match presence.back(self.now) {
            Some(later) => self.queue.push(later, event),
            None => self.handle(event),
        }
    }

    fn handle(&mut self, event: Event<M>) {
        let peer = event.peer();
        let first = match event {
            Event::Command(_, command) => Input::Command(command),
            Event::Timer(_, timer) => Input::Timer(timer),
            Event::Deliver { from, message, twin, .. } => {
                self.deliver(from, peer, &message, twin);
                Input::Message { from, message }
            }
        };
        self.given.world.turn(peer, &first);
        // Private steps are answered at once, by the same throw of the dice.
        let mut inputs = VecDeque::from([first]);
        while let Some(input) = inputs.pop_front() {
            let outputs = self.step(peer, input);
            outputs.into_iter().for_each(|output| self.obey(peer, output, &mut inputs));
        }
    }

    fn deliver(&mut self, from: Peer, to: Peer, message: &M::Message, twin: Option<u64>) {
        self.traffic.delivered += 1;
        let repeated = twin.is_some_and(|twin| !self.delivered.insert(twin));
        let envelope = Envelope { time: self.time(), from, to, message, repeated };
        self.given.world.heard(&envelope);
        self.given.recorders.iter_mut().for_each(|recorder| recorder.delivered(&envelope));
    }

    /// Hands one input to a machine, and shows what came of it to everyone who watches.
    fn step(&mut self, peer: Peer, input: InputOf<M>) -> Vec<OutputOf<M>> {
        let given = &mut self.given;
        let command = matches!(input, Input::Command(_));
        let allowance = &mut given.allowances[peer];
        let mut means: Lent<'_, M, W> = Lent { peer, world: &mut given.world, allowance, drawn: Vec::new() };
        given.machines[peer].handle(input, &mut means);
        let drawn = means.drawn;
        let outputs: Vec<OutputOf<M>> = std::iter::from_fn(|| given.machines[peer].poll()).collect();
        self.events += 1;
        let time = Duration::from_nanos(self.now);
        let step =
            Step { time, peer, command, drawn: &drawn, outputs: &outputs, machine: &given.machines[peer] };
        given.world.step(&step);
        given.recorders.iter_mut().for_each(|recorder| recorder.step(&step));
        for invariant in &mut given.invariants {
            if let Err(message) = invariant.check(&step)
                && self.violations.len() < MOST_VIOLATIONS
            {
                self.violations.push(Violation { invariant: invariant.name(), time, peer, message });
            }
        }
        if let Some(between) = &mut given.between {
            between(peer, &mut given.machines[peer]);
        }
        outputs
    }

    /// Does what a machine asks.
    fn obey(&mut self, peer: Peer, output: OutputOf<M>, inputs: &mut VecDeque<InputOf<M>>) {
        match output {
            Output::Send { to, message } => {
                let message = Arc::new(message);
                to.into_iter().for_each(|to| self.send(peer, to, &message));
            }
            Output::Wait { timer, span } => {
                if let Some(time) = self.due(span) {
                    self.queue.push(time, Event::Timer(peer, timer));
                }
            }
            Output::Compute { ticket, iteration, size, mut value } => {
                self.given.world.compute(peer, iteration, size, &mut value);
                inputs.push_back(Input::Computed { ticket, value });
            }
            Output::Release(_) | Output::Note(_) => {}
        }
    }

    /// When a span that begins now is over; never without a timeout.
    fn due(&self, span: Span) -> Option<u64> {
        if let Span::Periods(periods) = span {
            let nanoseconds = (periods * self.given.period.as_nanos() as f64).round() as u64;
            return Some(self.now.saturating_add(nanoseconds));
        }
        let timeout = nanoseconds(self.given.network.timeout?);
        let answer = self.now.saturating_add(timeout);
        match span {
            // Round by round from the start of the run: who waited for a silent neighbour in this round would else
            // be late for its other neighbours in the next, and one crash would make everyone miss everyone.
            Span::Round(round) => Some(timeout.saturating_mul(round as u64 + 1).max(answer)),
            _ => Some(answer),
        }
    }

    fn send(&mut self, from: Peer, to: Peer, message: &Arc<M::Message>) {
        self.traffic.sent += 1;
        let envelope = Envelope { time: self.time(), from, to, message: &**message, repeated: false };
        self.given.recorders.iter_mut().for_each(|recorder| recorder.sent(&envelope));
        let number = self.sent[from];
        self.sent[from] += 1;
        let fate = self.given.network.fate(self.given.seed, from, number, self.given.slowness[from]);
        let ([Some(first), second], true) = (fate, to < self.given.machines.len()) else {
            self.traffic.lost += 1;
            return;
        };
        let twin = second.map(|_| {
            self.traffic.repeated += 1;
            self.traffic.repeated
        });
        for delay in [Some(first), second].into_iter().flatten() {
            let event = Event::Deliver { from, to, message: Arc::clone(message), twin };
            self.queue.push(self.now.saturating_add(delay), event);
        }
    }
}

/// What a machine is lent while it handles an input. Noises are kept for those who watch.
struct Lent<'r, M: Machine, W> {
    peer: Peer,
    world: &'r mut W,
    allowance: &'r mut Allowance,
    drawn: Vec<Drawn<M::Value>>,
}

impl<M: Machine, W: World<M>> Lent<'_, M, W> {
    /// Puts what is known of an earlier run in a value's place; whether anything is. What does not fit hides nothing.
    fn again(&mut self, draw: u64, scale: f64, value: &mut M::Value) -> Result<bool, Uncovered> {
        let Some(known) = self.world.again(self.peer, draw, value) else { return Ok(false) };
        if !known.same_shape(value) {
            return Err(Uncovered { draw, scale });
        }
        *value = known;
        Ok(true)
    }

    fn add(&mut self, draw: u64, noise: M::Value, value: &mut M::Value) {
        let before = value.clone();
        value.add(1.0, &noise);
        self.drawn.push(Drawn { draw, before, noise });
    }
}

impl<M: Machine, W: World<M>> Chance for Lent<'_, M, W> {
    fn bits(&mut self) -> u64 {
        self.world.bits(self.peer)
    }
}

impl<M: Machine, W: World<M>> Means<M::Value> for Lent<'_, M, W> {
    fn admit(&mut self, release: &Release) -> Result<(), Overspent> {
        self.allowance.admit(release)
    }

    fn cover(&mut self, draw: u64, scale: f64, value: &mut M::Value) -> Result<(), Uncovered> {
        self.cover_by(Law::Gaussian, draw, scale, value)
    }

    fn cover_by(&mut self, law: Law, draw: u64, scale: f64, value: &mut M::Value) -> Result<(), Uncovered> {
        if self.again(draw, scale, value)? {
            return Ok(());
        }
        let noise = self.world.noise_by(law, self.peer, draw, scale, value)?;
        self.add(draw, noise, value);
        Ok(())
    }

    fn hide(&mut self, law: Law, draw: u64, scale: f64, value: &mut M::Value) -> Result<(), Uncovered> {
        if self.again(draw, scale, value)? {
            return Ok(());
        }
        let mut noise = self.world.noise_by(law, self.peer, draw, scale, value)?;
        self.world.share(self.peer, draw, scale, &mut noise)?;
        self.add(draw, noise, value);
        Ok(())
    }
}
