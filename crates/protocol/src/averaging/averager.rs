//! The state machine of averaging in rounds, whatever the plan.

use std::borrow::Cow;
use std::sync::Arc;

use super::state::{Phase, Sent, State};
use super::{Coupling, Input, Message, Noising, Note, Output, Plan, Round, Rounds, Row, Start};
use crate::{FAR, Machine, Means, Mismatch, Peer, Refusal, Release, Span, Value, Withheld};

/// Messages of one neighbour for later rounds that a peer keeps. Where the two wait for each other there is never more than
/// one; a neighbour so far ahead has long given up on us.
const AHEAD: usize = 64;

/// Rows may miss 1 by 1e-12, and sums are rounded: over a hundred thousand rounds honest values leave their range by less than this share.
const SLACK: f64 = 1e-6;

/// One peer of an averaging run, or of a descent that averages after every private step ([`Self::descending`]). Its rounds are
/// [strict](Rounds::Strict) unless it is made [`lenient`](Self::lenient).
///
/// ```
/// use sottovoce_protocol::averaging::{Averager, Butterfly, Message, Note, Noising, Start};
/// use sottovoce_protocol::{Chance, Input, Machine, Means, Output, Overspent, Release, Uncovered};
///
/// /// No budget, and no noise.
/// struct Still;
/// impl Chance for Still {
///     fn bits(&mut self) -> u64 { 0 }
/// }
/// impl Means<Vec<f64>> for Still {
///     fn admit(&mut self, _: &Release) -> Result<(), Overspent> { Ok(()) }
///     fn cover(&mut self, _: u64, _: f64, _: &mut Vec<f64>) -> Result<(), Uncovered> { Ok(()) }
/// }
/// let noising = Noising { sensitivity: 1.0, local: 1.0, relay: 0.0 };
/// let mut peer = Averager::new(vec![3.0], Butterfly::natural(2, 0), noising, None);
/// peer.handle(Input::Command(Start), &mut Still);
/// peer.handle(Input::heard(1, Message { round: 0, value: vec![5.0] }), &mut Still);
/// let outputs: Vec<_> = std::iter::from_fn(|| peer.poll()).collect();
/// assert_eq!(outputs.last(), Some(&Output::Note(Note::Finished)));
/// assert_eq!(peer.value(), &[4.0]);
/// ```
#[derive(Debug, Clone)]
pub struct Averager<V, P> {
    plan: P,
    /// Private gradient steps, each before an equal part of the plan; none where the value itself is what is private.
    descent: Option<usize>,
    noising: Noising,
    /// Chebyshev weights: of each iteration in turn; none where gossip is plain.
    gammas: Vec<f64>,
    /// Accelerated randomised gossip: a second value, which the state has as the one before.
    coupling: Option<Coupling>,
    rounds: Rounds,
    /// Values are kept within it, and others' are refused beyond it.
    range: Option<f64>,
    at: State<V>,
}

impl<V: Value, P: Plan> Averager<V, P> {
    /// A peer that holds a private value. `gamma` is the Chebyshev weight of accelerated gossip (for one fixed matrix).
    pub fn new(private: V, plan: P, noising: Noising, gamma: Option<f64>) -> Self {
        Self {
            plan,
            descent: None,
            noising,
            gammas: gamma.into_iter().collect(),
            coupling: None,
            rounds: Rounds::Strict,
            range: None,
            at: State::new(private),
        }
    }

    /// A peer that begins with a value and asks for a private step before each of `iterations` equal parts of the plan. The
    /// noises are those of one step, and `gammas` the Chebyshev weights of the parts, in turn (none: plain gossip).
    pub fn descending(start: V, iterations: usize, plan: P, noising: Noising, gammas: Vec<f64>) -> Self {
        Self { descent: Some(iterations), gammas, ..Self::new(start, plan, noising, None) }
    }

    /// The same peer with a second value that runs ahead (not together with a Chebyshev weight).
    pub fn coupled(self, coupling: Coupling) -> Self {
        Self { coupling: Some(coupling), gammas: Vec::new(), ..self }
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
        let sound = range > 0.0 && range.is_finite() && self.gammas.is_empty() && self.coupling.is_none();
        (sound && holds).then_some(Self { range: Some(range), ..self })
    }

    /// The round the peer is in.
    pub fn round(&self) -> usize {
        self.at.round
    }

    /// How many there are.
    pub fn rounds(&self) -> usize {
        self.plan.rounds()
    }

    /// Whether it says nothing more: it has finished, if this is after the last round, and else it was stopped.
    pub fn is_over(&self) -> bool {
        self.at.phase == Phase::Over
    }

    /// The peer's present value: its result, once it has finished.
    pub fn value(&self) -> &V {
        &self.at.value
    }

    /// Rounds of mixing after each private step.
    fn mixing_rounds(&self) -> usize {
        (self.plan.rounds() / self.descent.unwrap_or(1).max(1)).max(1)
    }

    fn note(&mut self, note: Note) {
        self.at.outputs.push_back(Output::Note(note));
    }

    fn start(&mut self, means: &mut dyn Means<V>) {
        if self.at.phase == Phase::Waiting {
            self.at.phase = Phase::Running;
            self.prepare(means);
            self.advance(means);
        }
    }

    /// A part of the plan begins: a private step is due. It is asked for, or the private value itself is what enters.
    fn prepare(&mut self, means: &mut dyn Means<V>) {
        let iteration = self.at.round / self.mixing_rounds();
        if self.at.spent {
            return self.enter(means);
        }
        let value = self.at.value.clone();
        if self.descent.is_none() {
            self.contribute(iteration, value, means);
            return self.enter(means);
        }
        self.at.phase = Phase::Computing;
        self.at.outputs.push_back(Output::Compute { ticket: iteration as u64, iteration, size: 1.0, value });
    }

    /// The step that was asked for has been made.
    fn computed(&mut self, ticket: u64, value: V, means: &mut dyn Means<V>) {
        let iteration = self.at.round / self.mixing_rounds();
        let expected = self.at.phase == Phase::Computing && ticket == iteration as u64;
        if expected && value.same_shape(&self.at.value) {
            self.at.phase = Phase::Running;
            self.contribute(iteration, value, means);
            self.enter(means);
            self.advance(means);
        }
    }

    /// What a private step made of the value is admitted, hidden under noise, and takes the value's place.
    ///
    /// Without budget for the first step nothing is ever sent. Without budget for a later one the peer goes on mixing what it has,
    /// which was released before.
    fn contribute(&mut self, iteration: usize, mut value: V, means: &mut dyn Means<V>) {
        let release = Release::gaussian(self.noising.sensitivity, self.noising.local);
        let draw = iteration * (self.mixing_rounds() + 1);
        match means.release(&release, draw as u64, self.noising.local, &mut value) {
            Ok(()) => {
                self.at.outputs.push_back(Output::Release(release));
                if let Some(range) = self.range {
                    value.clamp(range);
                }
                (self.at.value, self.at.previous) = (value, None);
            }
            Err(Withheld::Overspent(overspent)) => {
                self.at.spent = true;
                if iteration == 0 {
                    self.at.phase = Phase::Over;
                }
                self.note(Note::Stopped(overspent));
            }
            Err(Withheld::Uncovered(uncovered)) => self.fall_silent(Note::Uncovered(uncovered)),
        }
    }

    /// Says nothing more.
    fn fall_silent(&mut self, why: Note) {
        self.at.phase = Phase::Over;
        self.at.inbox.clear();
        self.at.sent = None;
        self.note(why);
    }

    /// Enters a round: the last one is over, a private step is due, or there is something to say.
    fn open(&mut self, means: &mut dyn Means<V>) {
        let due = self.at.round < self.plan.rounds() && self.at.round.is_multiple_of(self.mixing_rounds());
        if due { self.prepare(means) } else { self.enter(means) }
    }

    /// The same when no private step is due, or it was made.
    fn enter(&mut self, means: &mut dyn Means<V>) {
        if self.at.phase != Phase::Running {
            return;
        }
        if self.at.round == self.plan.rounds() {
            return self.fall_silent(Note::Finished);
        }
        self.approach();
        self.speak(means);
    }

    /// The two values lean on each other; at first they are the same.
    fn approach(&mut self) {
        let Some(coupling) = self.coupling else { return };
        let at = &mut self.at;
        let ahead = at.previous.get_or_insert_with(|| at.value.clone());
        coupling.approach(&mut at.value, ahead);
    }

    /// Whether mixing takes more than what was said: the value before, or a second one.
    fn is_accelerated(&self) -> bool {
        !self.gammas.is_empty() || self.coupling.is_some()
    }

    /// Everyone the row names is told.
    fn speak(&mut self, means: &mut dyn Means<V>) {
        let (round, rounds) = (self.at.round, self.mixing_rounds());
        let accelerated = self.is_accelerated();
        let row = self.plan.row(round);
        let noised = self.noising.relay > 0.0 && !(row.to.is_empty() && row.from.is_empty());
        let mut sent = Sent::Value;
        if noised {
            let mut value = self.at.value.clone();
            let draw = round / rounds * (rounds + 1) + round % rounds + 1;
            if let Err(uncovered) = means.cover(draw as u64, self.noising.relay, &mut value) {
                return self.fall_silent(Note::Uncovered(uncovered));
            }
            // Nothing but what was said is mixed: it takes the value's place where that is not needed for anything else, and large vectors are stored once.
            match accelerated {
                true => sent = Sent::Noised(value),
                false => self.at.value = value,
            }
        }
        let outputs = &mut self.at.outputs;
        if !row.to.is_empty() {
            let value = match &sent {
                Sent::Noised(value) => value.clone(),
                Sent::Value => self.at.value.clone(),
            };
            outputs.push_back(Output::Send { to: row.to.clone(), message: Message { round, value } });
        }
        if !row.from.is_empty() {
            outputs.push_back(Output::Wait { timer: Round(round), span: Span::Round(round) });
        }
        self.at.sent = Some(sent);
    }

    /// Closes rounds as long as everyone expected was heard.
    fn advance(&mut self, means: &mut dyn Means<V>) {
        while self.at.phase == Phase::Running && self.missing().next().is_none() {
            self.mix();
            self.open(means);
        }
    }

    /// Who was not heard in this round.
    fn missing(&self) -> impl Iterator<Item = Peer> + '_ {
        let heard = self.at.inbox.get(&self.at.round);
        let silent = move |peer: &Peer| !heard.is_some_and(|heard| heard.contains_key(peer));
        self.plan.row(self.at.round).from.iter().map(|(peer, _)| *peer).filter(silent)
    }

    /// The time of a round is up.
    fn give_up(&mut self, means: &mut dyn Means<V>) {
        if self.rounds == Rounds::Lenient {
            self.mix();
            self.open(means);
            return self.advance(means);
        }
        let missing = self.missing().collect();
        self.fall_silent(Note::Silent { round: self.at.round, missing });
    }

    /// The Chebyshev weight of the part of the plan that the peer is in.
    fn gamma(&self) -> Option<f64> {
        let part = self.plan.rounds() / self.descent.unwrap_or(1).max(1); // whole numbers
        let kinds = self.gammas.len().max(1); // whole numbers
        self.gammas.get(self.at.round.checked_div(part)? % kinds).copied()
    }

    /// `x^(t+1)` from what was heard; the weight of the silent goes to one's own value.
    fn mix(&mut self) {
        let gamma = self.gamma();
        let at = &mut self.at;
        let heard = at.inbox.remove(&at.round).unwrap_or_default();
        let row = self.plan.row(at.round);
        let mut own = row.own;
        for &(from, weight) in &row.from {
            if !heard.contains_key(&from) {
                own += weight;
                at.outputs.push_back(Output::Note(Note::Missed { round: at.round, from, weight }));
            }
        }
        let before = match at.sent.take() {
            Some(Sent::Noised(value)) => Some(std::mem::replace(&mut at.value, value)),
            Some(Sent::Value) => (!self.gammas.is_empty()).then(|| at.value.clone()),
            None => return,
        };
        let next = &mut at.value;
        let said = self.coupling.filter(|_| !row.from.is_empty()).map(|_| next.clone());
        next.scale(own);
        for (from, weight) in &row.from {
            if let Some(message) = heard.get(from) {
                next.add(*weight, &message.value);
            }
        }
        if let (Some(gamma), Some(before)) = (gamma, &at.previous) {
            next.scale(gamma);
            next.add(1.0 - gamma, before);
        }
        at.round += 1;
        match (self.coupling, &mut at.previous) {
            (Some(coupling), Some(ahead)) => {
                said.into_iter().for_each(|said| coupling.follow(said, next, ahead));
            }
            _ => at.previous = before.filter(|_| !self.gammas.is_empty()),
        }
    }

    fn receive(&mut self, from: Peer, message: Arc<Message<V>>) {
        match self.check(from, &message) {
            Ok(()) => {
                self.at.inbox.entry(message.round).or_default().insert(from, message);
            }
            Err(reason) => self.note(Note::Refused { from, reason }),
        }
    }

    /// The range of what honest peers say in a round: relay noise widens it, and rounding.
    fn widened(&self, range: f64, round: usize) -> f64 {
        (range + FAR * self.noising.relay * (round + 1) as f64) * (1.0 + SLACK)
    }

    fn check(&self, from: Peer, message: &Message<V>) -> Result<(), Refusal> {
        let round = message.round;
        if self.at.phase == Phase::Over || round < self.at.round {
            return Err(Refusal::Late);
        }
        if round >= self.plan.rounds() || !self.plan.row(round).from.iter().any(|(peer, _)| *peer == from) {
            return Err(Refusal::Stranger);
        }
        if !message.value.same_shape(&self.at.value) {
            return Err(Refusal::Shape);
        }
        if !message.value.is_finite() {
            return Err(Refusal::NotFinite);
        }
        if self.range.is_some_and(|range| !message.value.is_within(self.widened(range, round))) {
            return Err(Refusal::Range);
        }
        let inbox = &self.at.inbox;
        let repeated = inbox.get(&round).is_some_and(|heard| heard.contains_key(&from));
        let waiting = inbox.values().filter(|heard| heard.contains_key(&from)).count();
        match (repeated, waiting >= AHEAD) {
            (true, _) => Err(Refusal::Late),
            (_, true) => Err(Refusal::Flood),
            _ => Ok(()),
        }
    }
}

impl<V: Value, P: Plan> Machine for Averager<V, P> {
    type Value = V;
    type Command = Start;
    type Message = Message<V>;
    type Timer = Round;
    type Label = Round;
    type Note = Note;
    type State = State<V>;

    fn handle(&mut self, input: Input<V>, means: &mut dyn Means<V>) {
        match input {
            Input::Command(Start) => self.start(means),
            Input::Message { from, message } => {
                self.receive(from, message);
                self.advance(means);
            }
            Input::Timer(Round(round)) => {
                if self.at.phase == Phase::Running && round == self.at.round {
                    self.give_up(means);
                }
            }
            Input::Computed { ticket, value } => self.computed(ticket, value, means),
        }
    }

    fn poll(&mut self) -> Option<Output<V>> {
        self.at.outputs.pop_front()
    }

    fn label(message: &Message<V>) -> Round {
        Round(message.round)
    }

    fn state(&self) -> State<V> {
        self.at.clone()
    }

    fn stands(&self) -> Cow<'_, State<V>> {
        Cow::Borrowed(&self.at)
    }

    fn resume(&mut self, state: State<V>) -> Result<(), Mismatch> {
        state.check(&self.plan, &self.at.value)?;
        self.at = state;
        Ok(())
    }
}
