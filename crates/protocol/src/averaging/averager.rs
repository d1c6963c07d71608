//! The state machine of averaging in rounds, whatever the plan.

use std::collections::{BTreeMap, VecDeque};

use super::{Local, Once, Plan, Row};
use crate::{Gate, Input, Message, Noise, Output, Peer, Protocol, Refusal, Release, Value};

/// Messages of one neighbour for later rounds that a peer keeps. Where the two wait for each other there is never more than
/// one; a neighbour so far ahead has long given up on us.
const AHEAD: usize = 64;

/// Rows may miss 1 by 1e-12, and sums are rounded: over a hundred thousand rounds honest values leave their range by less than this share.
const SLACK: f64 = 1e-6;

/// Relay noise is cut at so many standard deviations where there is a range: it is never drawn so far out.
const FAR: f64 = 40.0;

/// The noises of an averaging run, and what they protect.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Noising {
    /// How far one person can move a peer's value.
    pub sensitivity: f64,
    /// `sigma`: standard deviation of the noise on the private value.
    pub local: f64,
    /// `tau`: standard deviation of the fresh noise on every message; 0 for none.
    pub relay: f64,
}

/// What a peer does when a neighbour was not heard in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Rounds {
    /// It sends nothing more and says so. Whatever is sent is then what was planned, or nothing, and what was accounted for holds of runs with
    /// faults, and against peers who deviate (`docs/theorems/malicious-peers.md`).
    #[default]
    Strict,
    /// It goes on without: the neighbour's weight goes to its own value, and later messages are other combinations than planned. Such
    /// a run must be traced as it happened, and promises nothing beforehand.
    Lenient,
}

/// One peer of an averaging run, or of a descent that averages after every private step ([`Local`]). Its rounds are
/// [strict](Rounds::Strict) unless it is made [`lenient`](Self::lenient).
///
/// ```
/// use sottovoce_protocol::averaging::{Averager, Butterfly, Noising};
/// use sottovoce_protocol::{Gate, Input, Message, Noise, Output, Protocol};
///
/// struct Silent;
/// impl Noise<Vec<f64>> for Silent {
///     fn draw(&mut self, _: usize, _: f64, like: &Vec<f64>) -> Vec<f64> { vec![0.0; like.len()] }
/// }
/// let noising = Noising { sensitivity: 1.0, local: 1.0, relay: 0.0 };
/// let mut peer = Averager::new(vec![3.0], Butterfly::natural(2, 0), noising, None, Gate::new(2.0));
/// peer.handle(Input::Start, &mut Silent);
/// peer.handle(Input::Message { from: 1, message: Message { round: 0, value: vec![5.0] } }, &mut Silent);
/// let outputs: Vec<_> = std::iter::from_fn(|| peer.poll()).collect();
/// assert_eq!(outputs.last(), Some(&Output::Finished(vec![4.0])));
/// ```
#[derive(Debug)]
pub struct Averager<V, P, L = Once> {
    plan: P,
    local: L,
    noising: Noising,
    /// Chebyshev weight.
    gamma: Option<f64>,
    gate: Gate,
    rounds: Rounds,
    /// Values are kept within it, and others' are refused beyond it.
    range: Option<f64>,
    phase: Phase,
    /// Whether the budget was found spent: from then on the peer mixes and contributes nothing.
    spent: bool,
    round: usize,
    value: V,
    previous: Option<V>,
    /// What was sent in the present round: the value, with relay noise where there is some.
    sent: Option<V>,
    /// Messages of this round and later ones.
    inbox: BTreeMap<usize, BTreeMap<Peer, V>>,
    outputs: VecDeque<Output<V>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Waiting,
    Running,
    Over,
}

impl<V: Value, P: Plan> Averager<V, P> {
    /// A peer that holds a private value. `gamma` is the Chebyshev weight of accelerated gossip (for one fixed matrix).
    pub fn new(private: V, plan: P, noising: Noising, gamma: Option<f64>, gate: Gate) -> Self {
        Self::contributing(private, Once, plan, noising, gamma, gate)
    }
}

impl<V: Value, P: Plan, L: Local<V>> Averager<V, P, L> {
    /// A peer that begins with a value and makes a private step before each of [`Local::iterations`] equal parts of the plan. The
    /// noises are those of one step.
    pub fn contributing(
        start: V,
        local: L,
        plan: P,
        noising: Noising,
        gamma: Option<f64>,
        gate: Gate,
    ) -> Self {
        Self {
            plan,
            local,
            noising,
            gamma,
            gate,
            rounds: Rounds::Strict,
            range: None,
            phase: Phase::Waiting,
            spent: false,
            round: 0,
            value: start,
            previous: None,
            sent: None,
            inbox: BTreeMap::new(),
            outputs: VecDeque::new(),
        }
    }

    /// The same peer, which goes on without those it misses ([`Rounds::Lenient`]).
    pub fn lenient(self) -> Self {
        Self { rounds: Rounds::Lenient, ..self }
    }

    /// The same peer, with a public range for all values: what it enters with is cut to it, and what is beyond it (and beyond what relay noise may
    /// add) is refused.
    ///
    /// Honest messages then never are: rows must be convex and not accelerated, else `None` comes back. A refusal therefore depends on nothing
    /// but what its sender chose to send, and no sum grows so large that rounding it would tell of its parts
    /// (`docs/theorems/malicious-peers.md`).
    pub fn within(self, range: f64) -> Option<Self> {
        let convex = |row: &Row| {
            let weights = row.from.iter().map(|(_, weight)| *weight);
            row.own >= 0.0 && weights.clone().all(|weight| weight >= 0.0) && {
                row.own + weights.sum::<f64>() <= 1.0 + 1e-11
            }
        };
        let holds = (0..self.plan.rounds()).all(|round| convex(self.plan.row(round)));
        let sound = range > 0.0 && range.is_finite() && self.gamma.is_none();
        (sound && holds).then_some(Self { range: Some(range), ..self })
    }

    /// The round the peer is in.
    pub fn round(&self) -> usize {
        self.round
    }

    /// Rounds of mixing after each private step.
    fn mixing_rounds(&self) -> usize {
        (self.plan.rounds() / self.local.iterations().max(1)).max(1)
    }

    fn start(&mut self, noise: &mut dyn Noise<V>) {
        if self.phase != Phase::Waiting {
            return;
        }
        self.phase = Phase::Running;
        self.contribute(0, noise);
        self.open(noise);
        self.advance(noise);
    }

    /// The private step before a part of the plan: admitted by the gate, then taken, then hidden under noise.
    ///
    /// Without budget for the first step nothing is ever sent. Without budget for a later one the peer goes on mixing what it has,
    /// which was released before.
    fn contribute(&mut self, iteration: usize, noise: &mut dyn Noise<V>) {
        if self.spent {
            return;
        }
        let release = Release { sensitivity: self.noising.sensitivity, noise: self.noising.local };
        if let Err(overspent) = self.gate.admit(release) {
            self.spent = true;
            if iteration == 0 {
                self.phase = Phase::Over;
            }
            return self.outputs.push_back(Output::Stopped(overspent));
        }
        self.outputs.push_back(Output::Release(release));
        self.local.step(iteration, &mut self.value);
        let draw = iteration * (self.mixing_rounds() + 1);
        let eta = noise.draw(draw, self.noising.local, &self.value);
        self.value.add(1.0, &eta);
        if let Some(range) = self.range {
            self.value.clamp(range);
        }
        self.previous = None;
    }

    /// Enters a round: the last one is over, a private step is due, or there is something to say.
    fn open(&mut self, noise: &mut dyn Noise<V>) {
        if self.phase != Phase::Running {
            return;
        }
        if self.round == self.plan.rounds() {
            self.phase = Phase::Over;
            self.inbox.clear();
            return self.outputs.push_back(Output::Finished(self.value.clone()));
        }
        let rounds = self.mixing_rounds();
        if self.round > 0 && self.round.is_multiple_of(rounds) {
            self.contribute(self.round / rounds, noise);
        }
        self.speak(noise);
    }

    /// Everyone the row names is told.
    fn speak(&mut self, noise: &mut dyn Noise<V>) {
        let mut message = self.value.clone();
        let rounds = self.mixing_rounds();
        let row = self.plan.row(self.round);
        if self.noising.relay > 0.0 && !(row.to.is_empty() && row.from.is_empty()) {
            let draw = self.round / rounds * (rounds + 1) + self.round % rounds + 1;
            let mut xi = noise.draw(draw, self.noising.relay, &self.value);
            if self.range.is_some() {
                // The noise, not the message: whoever moved the value could else choose which messages are cut.
                xi.clamp(FAR * self.noising.relay);
            }
            message.add(1.0, &xi);
        }
        for &to in &row.to {
            let message = Message { round: self.round, value: message.clone() };
            self.outputs.push_back(Output::Send { to, message });
        }
        if !row.from.is_empty() {
            self.outputs.push_back(Output::Timer { round: self.round });
        }
        self.sent = Some(message);
    }

    /// Closes rounds as long as everyone expected was heard.
    fn advance(&mut self, noise: &mut dyn Noise<V>) {
        while self.phase == Phase::Running {
            let heard = self.inbox.get(&self.round);
            let complete = (self.plan.row(self.round).from.iter())
                .all(|(peer, _)| heard.is_some_and(|heard| heard.contains_key(peer)));
            if !complete {
                return;
            }
            self.mix();
            self.open(noise);
        }
    }

    /// The time of a round is up.
    fn give_up(&mut self, noise: &mut dyn Noise<V>) {
        if self.rounds == Rounds::Lenient {
            self.mix();
            self.open(noise);
            return self.advance(noise);
        }
        let heard = self.inbox.get(&self.round);
        let silent = |peer: &Peer| !heard.is_some_and(|heard| heard.contains_key(peer));
        let missing = self.plan.row(self.round).from.iter().map(|(peer, _)| *peer).filter(silent).collect();
        self.outputs.push_back(Output::Silent { round: self.round, missing });
        self.phase = Phase::Over;
        self.inbox.clear();
    }

    /// `x^(t+1)` from what was heard; the weight of the silent goes to one's own value.
    fn mix(&mut self) {
        let heard = self.inbox.remove(&self.round).unwrap_or_default();
        let row = self.plan.row(self.round);
        let mut own = row.own;
        for &(from, weight) in &row.from {
            if !heard.contains_key(&from) {
                own += weight;
                self.outputs.push_back(Output::Missed { round: self.round, from, weight });
            }
        }
        let Some(mut next) = self.sent.take() else { return };
        next.scale(own);
        for (from, weight) in &row.from {
            if let Some(value) = heard.get(from) {
                next.add(*weight, value);
            }
        }
        if let (Some(gamma), Some(before)) = (self.gamma, &self.previous) {
            next.scale(gamma);
            next.add(1.0 - gamma, before);
        }
        self.previous = Some(std::mem::replace(&mut self.value, next));
        self.round += 1;
    }

    fn receive(&mut self, from: Peer, message: Message<V>) {
        match self.check(from, &message) {
            Ok(()) => {
                self.inbox.entry(message.round).or_default().insert(from, message.value);
            }
            Err(reason) => self.outputs.push_back(Output::Refused { from, reason }),
        }
    }

    /// The range of what honest peers say in a round: relay noise widens it, and rounding.
    fn widened(&self, range: f64, round: usize) -> f64 {
        (range + FAR * self.noising.relay * (round + 1) as f64) * (1.0 + SLACK)
    }

    fn check(&self, from: Peer, message: &Message<V>) -> Result<(), Refusal> {
        let round = message.round;
        if self.phase == Phase::Over || round < self.round {
            return Err(Refusal::Late);
        }
        if round >= self.plan.rounds() || !self.plan.row(round).from.iter().any(|(peer, _)| *peer == from) {
            return Err(Refusal::Stranger);
        }
        if !message.value.same_shape(&self.value) {
            return Err(Refusal::Shape);
        }
        if !message.value.is_finite() {
            return Err(Refusal::NotFinite);
        }
        if self.range.is_some_and(|range| !message.value.is_within(self.widened(range, round))) {
            return Err(Refusal::Range);
        }
        let repeated = self.inbox.get(&round).is_some_and(|heard| heard.contains_key(&from));
        let waiting = self.inbox.values().filter(|heard| heard.contains_key(&from)).count();
        match (repeated, waiting >= AHEAD) {
            (true, _) => Err(Refusal::Late),
            (_, true) => Err(Refusal::Flood),
            _ => Ok(()),
        }
    }
}

impl<V: Value, P: Plan, L: Local<V>> Protocol<V> for Averager<V, P, L> {
    fn handle(&mut self, input: Input<V>, noise: &mut dyn Noise<V>) {
        match input {
            Input::Start => self.start(noise),
            Input::Message { from, message } => {
                self.receive(from, message);
                self.advance(noise);
            }
            Input::Timeout { round } => {
                if self.phase == Phase::Running && round == self.round {
                    self.give_up(noise);
                }
            }
        }
    }

    fn poll(&mut self) -> Option<Output<V>> {
        self.outputs.pop_front()
    }

    fn value(&self) -> &V {
        &self.value
    }
}
