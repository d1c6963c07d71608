//! An agent with a model of her own.
//!
//! **What leaves her.** Her model, after each update, to all neighbours. It depends on her rows through gradients that were admitted and covered before, and
//! on nothing else of hers: answers to newcomers and repetitions send the same model again. Private steps are numbered by [`Output::Compute`]'s
//! iteration: 0 is the locally trained model of a warm start, and 1, 2, ... are gradients of the rows' clipped mean loss at the model that is handed out.
//!
//! **Who is there.** A neighbour's last model counts as long as she may still move it, or said that it stays there. Who is silent for too long without
//! that is left out, and taken back when heard again: she kept her own count and her budget. Messages that were overtaken are refused, so a late one
//! never undoes a newer one.

use std::borrow::Cow;
use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::plan::Plan;
use super::update::{Rule, pulled, update};
use super::words::{Command, Input, Label, Message, Note, Output, Tick};
use crate::{Machine, Means, Mismatch, Overspent, Peer, Refusal, Span, Value, Withheld};

/// Models move at most so often: a later one is made up.
const MOST_MOVES: u64 = 1 << 32;

/// An agent's state machine.
///
/// ```
/// use sottovoce_protocol::personal::{Agent, Command, Input, Output, Plan, Rule};
/// use sottovoce_protocol::{Chance, Law, Machine, Means, Overspent, Release, Uncovered};
/// struct Quiet;
/// impl Chance for Quiet { fn bits(&mut self) -> u64 { 1 << 63 } }
/// impl Means<Vec<f64>> for Quiet {
///     fn admit(&mut self, _: &Release) -> Result<(), Overspent> { Ok(()) }
///     fn cover(&mut self, _: u64, _: f64, _: &mut Vec<f64>) -> Result<(), Uncovered> { Ok(()) }
/// }
/// // Without rows: a model halfway between the two neighbours'.
/// let rule = Rule { pull: 0.0, size: 1.0, ridge: 0.0 };
/// let plan = Plan { rule, updates: 1, hidden: None, warm: None, repeats: 0, patience: None };
/// let mut agent = Agent::new(vec![(1, 1.0), (2, 1.0)], vec![0.0], plan);
/// agent.handle(Input::Command(Command::Begin), &mut Quiet);
/// for (from, x) in [(1, 4.0), (2, 8.0)] {
///     agent.handle(Input::heard(from, sottovoce_protocol::personal::Message::Model { count: 1, done: false, model: vec![x] }), &mut Quiet);
/// }
/// agent.handle(Input::Timer(0), &mut Quiet);
/// assert_eq!(agent.model(), [6.0]);
/// ```
#[derive(Debug, Clone)]
pub struct Agent {
    /// Neighbours with their weights, in increasing order.
    row: Vec<(Peer, f64)>,
    plan: Plan,
    at: State,
}

/// All that must survive a crash.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct State {
    model: Vec<f64>,
    /// The released local model, while it is propagated.
    local: Option<Vec<f64>>,
    /// What is known of each neighbour, in the order of the row.
    others: Vec<Other>,
    /// Wake-ups with an update, and private updates among them.
    wakes: usize,
    updates: usize,
    repeats: usize,
    /// How often the model was moved.
    moves: u64,
    /// Noises drawn.
    draws: u64,
    ticks: Tick,
    /// The ticket and the iteration of a private step that is being made.
    computing: Option<(u64, usize)>,
    tickets: u64,
    begun: bool,
    /// Whether she joined those who had begun.
    joins: bool,
    done: bool,
    outputs: VecDeque<Output>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Other {
    model: Vec<f64>,
    count: u64,
    done: bool,
    /// Own wake-ups since she was heard.
    silent: usize,
    here: bool,
}

impl Agent {
    /// An agent with her neighbours and their weights, in increasing order, and the public model at which everybody begins.
    pub fn new(row: Vec<(Peer, f64)>, start: Vec<f64>, plan: Plan) -> Self {
        let other = Other { model: start.clone(), count: 0, done: false, silent: 0, here: true };
        let at = State {
            local: None,
            others: vec![other; row.len()],
            wakes: 0,
            updates: 0,
            repeats: 0,
            moves: 0,
            draws: 0,
            ticks: 0,
            computing: None,
            tickets: 0,
            begun: false,
            joins: false,
            done: false,
            outputs: VecDeque::new(),
            model: start,
        };
        Self { row, plan, at }
    }

    /// The same, with these neighbours not there yet: they count once they are heard.
    pub fn without(mut self, absent: &[Peer]) -> Self {
        for ((peer, _), other) in self.row.iter().zip(&mut self.at.others) {
            other.here &= !absent.contains(peer);
        }
        self
    }

    /// Her model, as everybody may see it.
    pub fn model(&self) -> &[f64] {
        &self.at.model
    }

    /// Private updates so far.
    pub fn updates(&self) -> usize {
        self.at.updates
    }

    /// Whether her model stays where it is.
    pub fn is_done(&self) -> bool {
        self.at.done
    }

    fn note(&mut self, note: Note) {
        self.at.outputs.push_back(Output::Note(note));
    }

    fn refuse(&mut self, from: Peer, reason: Refusal) {
        self.note(Note::Refused { from, reason });
    }

    fn begin(&mut self, joins: bool, means: &mut dyn Means<Vec<f64>>) {
        if self.at.begun {
            return;
        }
        self.at.begun = true;
        if joins {
            self.at.joins = true;
            self.at.others.iter_mut().for_each(|other| other.here = other.count > 0);
            self.ask();
        }
        let release = self.plan.warm.and_then(|warm| warm.release);
        match release {
            Some(_) => self.compute(0),
            None => self.at.local = self.plan.warm.map(|_| self.at.model.clone()),
        }
        self.finish_if_due();
        self.sleep(means);
    }

    /// A newcomer asks her neighbours where they are.
    fn ask(&mut self) {
        let to = self.row.iter().map(|(peer, _)| *peer).collect();
        self.at.outputs.push_back(Output::Send { to, message: Message::Hello });
    }

    fn sleep(&mut self, means: &mut dyn Means<Vec<f64>>) {
        let span = Span::Periods(-means.unit().ln());
        self.at.outputs.push_back(Output::Wait { timer: self.at.ticks, span });
    }

    fn compute(&mut self, iteration: usize) {
        let (ticket, value) = (self.at.tickets, self.at.model.clone());
        self.at.tickets += 1;
        self.at.computing = Some((ticket, iteration));
        self.at.outputs.push_back(Output::Compute { ticket, iteration, size: 1.0, value });
    }

    fn wake(&mut self, tick: Tick, means: &mut dyn Means<Vec<f64>>) {
        if tick != self.at.ticks || !self.at.begun {
            return;
        }
        self.at.ticks += 1;
        self.miss();
        match () {
            // The last step is still being made, elsewhere.
            () if self.at.computing.is_some() => {}
            () if self.at.done => self.repeat(),
            () if !self.at.others.iter().any(|other| other.here) => self.ask(),
            () => self.step(),
        }
        if !self.at.done || self.at.repeats < self.plan.repeats {
            self.sleep(means);
        }
    }

    fn repeat(&mut self) {
        if self.at.repeats < self.plan.repeats {
            self.at.repeats += 1;
            self.tell();
        }
    }

    /// Leaves out whoever was silent too long.
    fn miss(&mut self) {
        let Some(patience) = self.plan.patience else { return };
        for ((peer, _), other) in self.row.iter().zip(&mut self.at.others) {
            if !other.here || other.done {
                continue;
            }
            other.silent += 1;
            if other.silent > patience {
                other.here = false;
                self.at.outputs.push_back(Output::Note(Note::Left(*peer)));
            }
        }
    }

    fn step(&mut self) {
        let propagates = self.plan.warm.is_some_and(|warm| self.at.wakes < warm.wakes);
        match (&self.at.local, propagates) {
            (Some(local), true) => {
                let apart: Vec<f64> = self.at.model.iter().zip(local).map(|(x, y)| x - y).collect();
                self.move_by(Rule::propagation(self.plan.rule.pull), &apart);
            }
            _ if self.plan.hidden.is_some() => self.compute(self.at.updates + 1),
            // Without rows there is no gradient, and nothing to hide.
            _ => {
                self.at.updates += 1;
                self.move_by(self.plan.rule, &vec![0.0; self.at.model.len()]);
            }
        }
    }

    fn computed(&mut self, ticket: u64, mut value: Vec<f64>, means: &mut dyn Means<Vec<f64>>) {
        let Some((_, iteration)) = self.at.computing.take_if(|(asked, _)| *asked == ticket) else { return };
        let release = match iteration.checked_sub(1) {
            None => self.plan.warm.and_then(|warm| warm.release),
            Some(update) => self.plan.release(update),
        };
        let (Some(release), true) = (release, value.is_finite() && value.same_shape(&self.at.model)) else {
            self.note(Note::Unhidden);
            return self.end(None);
        };
        let draw = self.at.draws;
        match means.release(&release, draw, release.scale, &mut value) {
            Ok(()) => {}
            Err(Withheld::Overspent(overspent)) => return self.end(Some(overspent)),
            Err(Withheld::Uncovered(_)) => {
                self.note(Note::Unhidden);
                return self.end(None);
            }
        }
        self.at.draws += 1;
        self.at.outputs.push_back(Output::Release(release));
        if iteration == 0 {
            self.at.model.clone_from(&value);
            self.at.local = Some(value);
            self.at.moves += 1;
            self.note(Note::Moved(self.at.moves));
            return self.tell();
        }
        self.at.updates += 1;
        self.move_by(self.plan.rule, &value);
    }

    /// Moves the model and says where it is.
    fn move_by(&mut self, rule: Rule, gradient: &[f64]) {
        let mut sum = vec![0.0; self.at.model.len()];
        let others = self.row.iter().zip(&self.at.others).filter(|(_, other)| other.here);
        let total = pulled(others.map(|((_, weight), other)| (*weight, &other.model[..])), &mut sum);
        if total > 0.0 {
            update(rule, total, &sum, gradient, &mut self.at.model);
        }
        self.at.wakes += 1;
        self.at.moves += 1;
        self.note(Note::Moved(self.at.moves));
        self.at.done = self.at.wakes >= self.plan.wakes();
        self.tell();
        if self.at.done {
            self.note(Note::Done { overspent: None });
        }
    }

    /// The model stays where it is; that is said under a number of its own.
    fn end(&mut self, overspent: Option<Overspent>) {
        self.at.done = true;
        self.at.moves += 1;
        self.tell();
        self.note(Note::Done { overspent });
    }

    fn finish_if_due(&mut self) {
        if self.plan.wakes() == 0 && self.at.computing.is_none() {
            self.end(None);
        }
    }

    fn said(&self) -> Message {
        Message::Model { count: self.at.moves, done: self.at.done, model: self.at.model.clone() }
    }

    fn tell(&mut self) {
        let to = self.row.iter().map(|(peer, _)| *peer).collect();
        let message = self.said();
        self.at.outputs.push_back(Output::Send { to, message });
    }

    fn hear(&mut self, from: Peer, message: &Message) {
        let Ok(place) = self.row.binary_search_by_key(&from, |(peer, _)| *peer) else {
            return self.refuse(from, Refusal::Stranger);
        };
        match message {
            Message::Hello if self.at.begun => {
                let message = self.said();
                self.at.outputs.push_back(Output::Send { to: vec![from], message });
            }
            Message::Hello => {}
            Message::Model { count, done, model } => self.learn(place, *count, *done, model),
        }
    }

    fn learn(&mut self, place: usize, count: u64, done: bool, model: &Vec<f64>) {
        let (peer, _) = self.row[place];
        let other = &self.at.others[place];
        let refused = match () {
            () if !model.same_shape(&self.at.model) => Some(Refusal::Shape),
            () if !model.is_finite() => Some(Refusal::NotFinite),
            () if count > MOST_MOVES => Some(Refusal::Impossible),
            // The same one again: she is there. Who is not there yet may say where everybody begins.
            () if count < other.count || other.done => Some(Refusal::Late),
            () => None,
        };
        if let Some(reason) = refused {
            return self.refuse(peer, reason);
        }
        let came = !other.here;
        self.at.others[place] = Other { model: model.clone(), count, done, silent: 0, here: true };
        if came {
            self.note(Note::Came(peer));
            self.start_among_neighbours();
        }
    }

    /// A newcomer who has not moved yet begins in the midst of those she has heard.
    fn start_among_neighbours(&mut self) {
        if !self.at.joins || self.at.moves > 0 || self.at.computing.is_some() {
            return;
        }
        let mut sum = vec![0.0; self.at.model.len()];
        let others = self.row.iter().zip(&self.at.others).filter(|(_, other)| other.here);
        let total = pulled(others.map(|((_, weight), other)| (*weight, &other.model[..])), &mut sum);
        if total > 0.0 {
            self.at.model = sum.into_iter().map(|x| x / total).collect();
        }
    }
}

impl Machine for Agent {
    type Value = Vec<f64>;
    type Command = Command;
    type Message = Message;
    type Timer = Tick;
    type Label = Label;
    type Note = Note;
    type State = State;

    fn handle(&mut self, input: Input, means: &mut dyn Means<Vec<f64>>) {
        match input {
            Input::Command(command) => self.begin(command == Command::Join, means),
            Input::Message { from, message } => self.hear(from, &message),
            Input::Timer(tick) => self.wake(tick, means),
            Input::Computed { ticket, value } => self.computed(ticket, value, means),
        }
    }

    fn poll(&mut self) -> Option<Output> {
        self.at.outputs.pop_front()
    }

    fn label(message: &Message) -> Label {
        match message {
            Message::Model { count, .. } => Label::Model(*count),
            Message::Hello => Label::Hello,
        }
    }

    fn state(&self) -> State {
        self.at.clone()
    }

    fn stands(&self) -> Cow<'_, State> {
        Cow::Borrowed(&self.at)
    }

    fn resume(&mut self, state: State) -> Result<(), Mismatch> {
        if !state.model.same_shape(&self.at.model) {
            return Err(Mismatch::new("model", format!("of {} numbers", state.model.len())));
        }
        let fits = |other: &Other| other.model.same_shape(&state.model) && other.model.is_finite();
        if state.others.len() != self.row.len() || !state.others.iter().all(fits) {
            return Err(Mismatch::new("others", state.others.len()));
        }
        if state.wakes > self.plan.wakes() || state.updates > self.plan.updates {
            return Err(Mismatch::new("wakes", state.wakes));
        }
        self.at = state;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
