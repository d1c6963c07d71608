//! An agent of consensus learning, whatever the algorithm.
//!
//! **Rounds.** She says where she is, hears all neighbours of the same round, and makes an iteration. A neighbour who is not heard in time is left out of that
//! round: what an agent loses does not depend on what she hears, so nothing has to stop for it.
//!
//! **What leaves her** is computed from gradients that were admitted and covered before ([`Learner::said`]). Draws are numbered by [`Output::Compute`]'s
//! iteration. When the budget is spent she is as one without rows: her gradient is 0, and she releases nothing.

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::words::{Input, Message, Note, Output};
use super::{Draws, Hidden, Learner, Plan, Said};
use crate::averaging::{Round, Start};
use crate::{Machine, Means, Mismatch, Peer, Refusal, Shared, Span, Value, Withheld};

/// Rounds ahead of hers of which a neighbour's messages are kept. Where nobody gives up waiting a neighbour is ahead by one at most.
const AHEAD: usize = 4;

/// An agent's state machine.
///
/// ```
/// use sottovoce_protocol::averaging::Start;
/// use sottovoce_protocol::consensus::{Agent, At, Input, Message, Method, Optimiser, Plan, Rates, Rule, Said};
/// use sottovoce_protocol::{Chance, Machine, Means, Overspent, Release, Shared, Uncovered};
/// struct Still;
/// impl Chance for Still { fn bits(&mut self) -> u64 { 0 } }
/// impl Means<Shared> for Still {
///     fn admit(&mut self, _: &Release) -> Result<(), Overspent> { Ok(()) }
///     fn cover(&mut self, _: u64, _: f64, _: &mut Shared) -> Result<(), Uncovered> { Ok(()) }
/// }
/// let method = Method::Dsgd { at: At::Own };
/// let plan = Plan { method, iterations: 1, rates: Rates::constant(0.1), optimiser: Optimiser::new(Rule::Sgd) };
/// // Without rows: a model halfway to her neighbour's.
/// let mut agent = Agent::new(vec![(1, 0.5)], Shared::from(vec![0.0]), plan, None);
/// agent.handle(Input::Command(Start), &mut Still);
/// let said = Said { model: Shared::from(vec![4.0]), tracker: None };
/// agent.handle(Input::heard(1, Message { round: 0, said }), &mut Still);
/// assert_eq!(agent.model().to_vec(), [2.0]);
/// ```
#[derive(Debug, Clone)]
pub struct Agent {
    /// Neighbours with their weights, in increasing order.
    row: Vec<(Peer, f64)>,
    plan: Plan,
    hidden: Option<Hidden>,
    /// Whether there is one more exchange after the last iteration.
    settles: bool,
    width: usize,
    at: State,
}

/// All that must survive a crash.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct State {
    phase: Phase,
    round: usize,
    learner: Learner,
    draws: Draws,
    /// Messages of this round and later ones.
    inbox: BTreeMap<usize, BTreeMap<Peer, Arc<Message>>>,
    outputs: VecDeque<Output>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum Phase {
    Waiting,
    /// Neighbours are listened to.
    Hearing,
    /// A gradient is due.
    Stepping,
    /// A gradient is being computed.
    Computing,
    Over,
}

impl Agent {
    /// An agent with her neighbours and their weights, in increasing order, the public model at which everybody begins, and the noise on her gradients: none
    /// for an agent without rows, who has nothing to hide and nothing to compute.
    pub fn new(row: Vec<(Peer, f64)>, start: Shared, plan: Plan, hidden: Option<Hidden>) -> Self {
        let width = start.len();
        let at = State {
            phase: Phase::Waiting,
            round: 0,
            learner: Learner::new(plan.method, start),
            draws: Draws::default(),
            inbox: BTreeMap::new(),
            outputs: VecDeque::new(),
        };
        Self { row, plan, hidden, settles: false, width, at }
    }

    /// The same, with one more exchange after the last iteration, to which nobody adds anything.
    pub fn settling(self) -> Self {
        Self { settles: true, ..self }
    }

    /// The round she is in.
    pub fn round(&self) -> usize {
        self.at.round
    }

    /// Whether she says nothing more: she has finished, if this is after the last round, and else could not go on.
    pub fn is_over(&self) -> bool {
        self.at.phase == Phase::Over
    }

    /// Exchanges in all.
    pub fn rounds(&self) -> usize {
        self.plan.iterations + usize::from(self.settles)
    }

    /// Her model.
    pub fn model(&self) -> &Shared {
        self.at.learner.model()
    }

    /// Private draws so far.
    pub fn draws(&self) -> usize {
        self.at.draws.made()
    }

    fn note(&mut self, note: Note) {
        self.at.outputs.push_back(Output::Note(note));
    }

    /// Says nothing more.
    fn fall_silent(&mut self, why: Note) {
        self.at.phase = Phase::Over;
        self.at.inbox.clear();
        self.note(why);
    }

    /// Enters a round: the last one is over, or there is something to say.
    fn open(&mut self) {
        let round = self.at.round;
        if round == self.rounds() {
            return self.fall_silent(Note::Finished);
        }
        self.at.phase = Phase::Hearing;
        if !self.row.is_empty() {
            let to = self.row.iter().map(|(peer, _)| *peer).collect();
            let message = Message { round, said: self.at.learner.said() };
            self.at.outputs.push_back(Output::Send { to, message });
            self.at.outputs.push_back(Output::Wait { timer: Round(round), span: Span::Round(round) });
        }
    }

    /// Goes on as long as nothing is missing.
    fn advance(&mut self) {
        loop {
            match self.at.phase {
                Phase::Hearing if self.missing().next().is_none() => self.hear(),
                Phase::Stepping if self.hidden.is_none() || self.at.draws.is_spent() => {
                    self.step(Shared::zeros(self.width));
                }
                Phase::Stepping => return self.ask(),
                _ => return,
            }
        }
    }

    /// Who was not heard in this round.
    fn missing(&self) -> impl Iterator<Item = Peer> + '_ {
        let heard = self.at.inbox.get(&self.at.round);
        let silent = move |peer: &Peer| !heard.is_some_and(|heard| heard.contains_key(peer));
        self.row.iter().map(|(peer, _)| *peer).filter(silent)
    }

    fn hear(&mut self) {
        let messages = self.at.inbox.remove(&self.at.round).unwrap_or_default();
        let said = |(peer, weight): &(Peer, f64)| Some((*weight, &messages.get(peer)?.said));
        let heard: Vec<(f64, &Said)> = self.row.iter().filter_map(said).collect();
        if self.at.round < self.plan.iterations {
            self.at.learner.hear(&self.plan, self.at.round, &heard);
            self.at.phase = Phase::Stepping;
        } else {
            self.at.learner.settle(&heard);
            self.end();
        }
    }

    fn ask(&mut self) {
        self.at.phase = Phase::Computing;
        let (draw, value) = (self.at.draws.made(), self.at.learner.point().clone());
        let compute = Output::Compute { ticket: draw as u64, iteration: draw, size: 1.0, value };
        self.at.outputs.push_back(compute);
    }

    /// The gradient that was asked for: admitted, covered, used.
    fn computed(&mut self, ticket: u64, mut gradient: Shared, means: &mut dyn Means<Shared>) {
        let (Some(hidden), Phase::Computing) = (self.hidden, self.at.phase) else { return };
        if ticket != self.at.draws.made() as u64 {
            return;
        }
        if gradient.len() != self.width || !gradient.is_finite() {
            return self.fall_silent(Note::Unhidden);
        }
        self.at.phase = Phase::Stepping;
        match self.at.draws.hide(&hidden, &mut gradient, means) {
            Ok(release) => {
                self.at.outputs.extend(release.map(Output::Release));
                self.step(gradient);
            }
            Err(Withheld::Overspent(overspent)) => self.note(Note::Stopped(overspent)),
            Err(Withheld::Uncovered(_)) => return self.fall_silent(Note::Unhidden),
        }
        self.advance();
    }

    fn step(&mut self, gradient: Shared) {
        if !self.at.learner.step(&self.plan, self.at.round, gradient) {
            return;
        }
        self.end();
    }

    /// Ends a round.
    fn end(&mut self) {
        if !self.at.learner.is_finite() {
            return self.fall_silent(Note::Diverged { round: self.at.round });
        }
        self.at.round += 1;
        self.open();
    }

    /// The time of a round is up.
    fn give_up(&mut self) {
        let round = self.at.round;
        let missing: Vec<Peer> = self.missing().collect();
        missing.into_iter().for_each(|from| self.note(Note::Missed { round, from }));
        self.hear();
    }

    fn receive(&mut self, from: Peer, message: Arc<Message>) {
        match self.check(from, &message) {
            Ok(()) => drop(self.at.inbox.entry(message.round).or_default().insert(from, message)),
            Err(reason) => self.note(Note::Refused { from, reason }),
        }
    }

    fn check(&self, from: Peer, message: &Message) -> Result<(), Refusal> {
        let (round, at) = (message.round, &self.at);
        if self.row.binary_search_by_key(&from, |(peer, _)| *peer).is_err() {
            return Err(Refusal::Stranger);
        }
        if round >= self.rounds() {
            return Err(Refusal::Impossible);
        }
        let closed = round < at.round || (round == at.round && at.phase > Phase::Hearing);
        let repeated = at.inbox.get(&round).is_some_and(|heard| heard.contains_key(&from));
        if closed || repeated || at.phase == Phase::Over {
            return Err(Refusal::Late);
        }
        if round > at.round + AHEAD {
            return Err(Refusal::Flood);
        }
        self.check_said(&message.said)
    }

    fn check_said(&self, Said { model, tracker }: &Said) -> Result<(), Refusal> {
        let shaped = [Some(model), tracker.as_ref()].into_iter().flatten().all(|x| x.len() == self.width);
        if !shaped || 1 + usize::from(tracker.is_some()) != self.plan.vectors() {
            return Err(Refusal::Shape);
        }
        let finite = model.is_finite() && tracker.as_ref().is_none_or(Shared::is_finite);
        if finite { Ok(()) } else { Err(Refusal::NotFinite) }
    }
}

impl Machine for Agent {
    type Value = Shared;
    type Command = Start;
    type Message = Message;
    type Timer = Round;
    type Label = Round;
    type Note = Note;
    type State = State;

    fn handle(&mut self, input: Input, means: &mut dyn Means<Shared>) {
        match input {
            Input::Command(Start) => {
                if self.at.phase == Phase::Waiting {
                    self.open();
                }
                self.advance();
            }
            Input::Message { from, message } => {
                self.receive(from, message);
                self.advance();
            }
            Input::Timer(Round(round)) => {
                if self.at.phase == Phase::Hearing && round == self.at.round {
                    self.give_up();
                    self.advance();
                }
            }
            Input::Computed { ticket, value } => self.computed(ticket, value, means),
        }
    }

    fn poll(&mut self) -> Option<Output> {
        self.at.outputs.pop_front()
    }

    fn label(message: &Message) -> Round {
        Round(message.round)
    }

    fn state(&self) -> State {
        self.at.clone()
    }

    fn stands(&self) -> Cow<'_, State> {
        Cow::Borrowed(&self.at)
    }

    fn resume(&mut self, state: State) -> Result<(), Mismatch> {
        if state.round > self.rounds() {
            return Err(Mismatch::new("round", format!("{} of {}", state.round, self.rounds())));
        }
        let begun = matches!(state.phase, Phase::Stepping | Phase::Computing);
        if !state.learner.fits(self.plan.method, self.width, begun) {
            return Err(Mismatch::new("learner", "of another method or length"));
        }
        if !state.draws.fits(self.hidden.as_ref(), self.plan.draws(), self.width) {
            return Err(Mismatch::new("draws", state.draws.made()));
        }
        let known = |from: &Peer| self.row.binary_search_by_key(from, |(peer, _)| *peer).is_ok();
        let rounds = state.round..=state.round + AHEAD;
        if !state.inbox.iter().all(|(round, heard)| rounds.contains(round) && heard.keys().all(known)) {
            return Err(Mismatch::new("inbox", "mail of strangers"));
        }
        let mail = state.inbox.values().flat_map(BTreeMap::values);
        if let Some(refusal) = mail.filter_map(|message| self.check_said(&message.said).err()).next() {
            return Err(Mismatch::new("inbox", refusal));
        }
        self.at = state;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
