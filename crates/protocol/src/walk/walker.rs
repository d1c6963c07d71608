//! A peer who holds tokens for a moment and passes them on.
//!
//! **Lost tokens.** A token is acknowledged. Until then, or until a newer copy comes by, its sender keeps the copy it sent, and sends *the same copy* to the same peer again; after
//! [`Patience::attempts`] of these it takes that peer for gone and sends the same copy to another neighbour. Nothing is computed anew,
//! so nothing more is released to a wire-tapper. If the first peer had received the token after all, and only its answers were lost, there are now two
//! copies: the later one has the higher [`Epoch`], and whoever has seen that swallows the older. Every detour is reported
//! ([`Note::Rerouted`]), since the accountant must count what both copies may show.
//!
//! **What others can do.** Tokens come from neighbours, are among those that were agreed on, and make steps of the course; anything else is refused.
//! So a peer keeps at most one copy of each token in each of its books, and a token waits for one answer at a time.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::words::{Epoch, Input, Label, Launch, Message, Note, Output, Patience, Sent, Timer, Token};
use super::{Course, Gradient, Host, Tally, Visit};
use crate::{Machine, Means, Mismatch, Peer, Refusal, Span, Value};

/// Detours of a token beyond which somebody makes them up: the counter never overflows.
const MOST_DETOURS: usize = u32::MAX as usize;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Unanswered<V> {
    token: Token<V>,
    to: Peer,
    attempts: usize,
    silent: Vec<Peer>,
    timer: u64,
}

/// All that must survive a crash.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct State<V> {
    tally: Tally,
    /// The last copy seen of each token.
    seen: BTreeMap<usize, (Epoch, usize)>,
    /// Tokens whose gradient step is being made, by the ticket's number.
    computing: BTreeMap<usize, (u64, Token<V>)>,
    tickets: u64,
    unanswered: BTreeMap<usize, Unanswered<V>>,
    timers: u64,
    finished: BTreeMap<usize, Token<V>>,
    outputs: VecDeque<Output<V>>,
}

/// A peer's state machine.
#[derive(Debug, Clone)]
pub struct Walker<V> {
    host: Host,
    /// A model of the right shape.
    like: V,
    course: Course,
    patience: Patience,
    tokens: usize,
    at: State<V>,
}

impl<V: Value> Walker<V> {
    /// A peer; there are so many tokens, numbered from 0, and their models are shaped `like` this one.
    pub fn new(host: Host, like: V, course: Course, patience: Patience, tokens: usize) -> Self {
        let at = State {
            tally: host.tally(),
            seen: BTreeMap::new(),
            computing: BTreeMap::new(),
            tickets: 0,
            unanswered: BTreeMap::new(),
            timers: 0,
            finished: BTreeMap::new(),
            outputs: VecDeque::new(),
        };
        Self { host, like, course, patience, tokens, at }
    }

    /// Contributions so far.
    pub fn contributions(&self) -> usize {
        self.host.tally().contributions
    }

    /// A token that made its last step here.
    pub fn finished(&self, id: usize) -> Option<&Token<V>> {
        self.at.finished.get(&id)
    }

    fn note(&mut self, note: Note) {
        self.at.outputs.push_back(Output::Note(note));
    }

    fn launch(&mut self, Launch { id, value }: Launch<V>, means: &mut dyn Means<V>) {
        let token = Token { id, epoch: (0, 0), step: 0, value };
        let reason = match self.check(&token) {
            Err(reason) => reason,
            Ok(()) if self.at.seen.contains_key(&id) => Refusal::Late,
            Ok(()) => return self.hold(token, means),
        };
        self.note(Note::Refused { from: self.host.peer, reason });
    }

    /// Whether there can be such a token.
    fn check(&self, token: &Token<V>) -> Result<(), Refusal> {
        match () {
            () if !token.value.same_shape(&self.like) => Err(Refusal::Shape),
            () if !token.value.is_finite() => Err(Refusal::NotFinite),
            () if !self.is_possible(token) => Err(Refusal::Impossible),
            () => Ok(()),
        }
    }

    fn is_possible(&self, token: &Token<V>) -> bool {
        token.id < self.tokens && token.step < self.course.steps && token.epoch.0 < MOST_DETOURS
    }

    fn receive(&mut self, from: Peer, token: Token<V>, means: &mut dyn Means<V>) {
        let stranger = from == self.host.peer || !self.host.transition().has(from);
        let reason = match self.check(&token) {
            _ if stranger => Err(Refusal::Stranger),
            // The first step is made by whoever launched it.
            Ok(()) if token.step == 0 => Err(Refusal::Impossible),
            checked => checked,
        };
        if let Err(reason) = reason {
            return self.note(Note::Refused { from, reason });
        }
        // Copies that are too late are answered too: else their senders would send them elsewhere.
        let message = Message::Received(token.sent());
        self.at.outputs.push_back(Output::Send { to: vec![from], message });
        let newest = self.at.seen.get(&token.id).is_none_or(|seen| *seen < (token.epoch, token.step));
        if newest {
            self.hold(token, means);
        } else {
            self.note(Note::Refused { from, reason: Refusal::Late });
        }
    }

    /// Visits, as long as the token stays here; then passes it on. A gradient step that is due is asked for first.
    fn hold(&mut self, mut token: Token<V>, means: &mut dyn Means<V>) {
        loop {
            self.at.seen.insert(token.id, (token.epoch, token.step));
            // An older copy of the same token is as good as swallowed, also one that waits for its answer: sent another way it would pass for newer than this one.
            self.at.computing.remove(&token.id);
            self.at.unanswered.remove(&token.id);
            if let Some(gradient) = self.host.due(token.step, self.at.computing.len(), &self.course) {
                return self.ask(gradient, token);
            }
            match self.visit(token, None, means) {
                Some(stays) => token = stays,
                None => return,
            }
        }
    }

    fn ask(&mut self, Gradient { contribution, size }: Gradient, token: Token<V>) {
        let (ticket, value) = (self.at.tickets, token.value.clone());
        self.at.tickets += 1;
        self.at.outputs.push_back(Output::Compute { ticket, iteration: contribution, size, value });
        self.at.computing.insert(token.id, (ticket, token));
    }

    fn computed(&mut self, ticket: u64, value: V, means: &mut dyn Means<V>) {
        let asked = self.at.computing.iter().find(|(_, (known, _))| *known == ticket).map(|(id, _)| *id);
        let Some((_, token)) = asked.and_then(|id| self.at.computing.remove(&id)) else { return };
        let stepped = value.same_shape(&self.like).then_some(value);
        if let Some(stays) = self.visit(token, stepped, means) {
            self.hold(stays, means);
        }
    }

    /// Ends a visit and passes the token on; hands it back if it stays here.
    fn visit(
        &mut self,
        mut token: Token<V>,
        mut stepped: Option<V>,
        means: &mut dyn Means<V>,
    ) -> Option<Token<V>> {
        let came = token.sent();
        let done = self.host.visit(&mut token.value, stepped.as_mut(), came.step, &self.course, means);
        let (visit, refused) = match done {
            Ok(done) => done,
            Err(uncovered) => {
                self.note(Note::Uncovered(uncovered));
                return None;
            }
        };
        if visit == Visit::Contributed {
            self.at.outputs.push_back(Output::Release(self.course.release()));
        }
        if let Some(overspent) = refused {
            self.note(Note::Stopped(overspent));
        }
        self.note(Note::Visited { token: came, visit });
        token.step += 1;
        if token.step == self.course.steps {
            self.finish(token);
            return None;
        }
        let to = self.host.next(means);
        if to == self.host.peer {
            return Some(token);
        }
        self.send(token, to, 1, Vec::new());
        None
    }

    fn finish(&mut self, token: Token<V>) {
        self.note(Note::Finished(token.sent()));
        if self.at.finished.get(&token.id).is_none_or(|known| known.epoch < token.epoch) {
            self.at.finished.insert(token.id, token);
        }
    }

    fn send(&mut self, token: Token<V>, to: Peer, attempts: usize, silent: Vec<Peer>) {
        let (id, timer) = (token.id, self.at.timers);
        self.at.timers += 1;
        self.at.outputs.push_back(Output::Send { to: vec![to], message: Message::Token(token.clone()) });
        self.at.outputs.push_back(Output::Wait { timer: Timer { id, number: timer }, span: Span::Answer });
        self.at.unanswered.insert(id, Unanswered { token, to, attempts, silent, timer });
    }

    fn answered(&mut self, from: Peer, answer: Sent) {
        let this = |sent: &Unanswered<V>| sent.to == from && sent.token.sent() == answer;
        if self.at.unanswered.get(&answer.id).is_some_and(this) {
            self.at.unanswered.remove(&answer.id);
        }
    }

    /// No answer came in time: sends the same copy again, to the same peer or, in the end, to another.
    fn time_out(&mut self, Timer { id, number }: Timer, means: &mut dyn Means<V>) {
        if self.at.unanswered.get(&id).is_none_or(|sent| sent.timer != number) {
            return;
        }
        let Some(sent) = self.at.unanswered.remove(&id) else { return };
        let Unanswered { mut token, to, attempts, mut silent, .. } = sent;
        // An older copy than was seen here is as good as swallowed.
        if self.at.seen.get(&id).is_some_and(|seen| *seen > (token.epoch, token.step)) {
            return;
        }
        if attempts < self.patience.attempts {
            return self.send(token, to, attempts + 1, silent);
        }
        silent.push(to);
        match self.host.transition().draw_except(self.host.peer, &silent, means) {
            Some(other) => {
                let detour = (token.epoch.0 + 1, self.host.peer);
                self.note(Note::Rerouted { token: token.sent(), detour, silent: to });
                token.epoch = detour;
                self.at.seen.insert(id, (token.epoch, token.step));
                self.send(token, other, 1, silent);
            }
            None => {
                // They may come back: from the first again.
                self.note(Note::Stranded { id });
                self.send(token, to, 1, Vec::new());
            }
        }
    }

    fn fits(&self, state: &State<V>) -> Result<(), Mismatch> {
        let unanswered = state.unanswered.iter().map(|(id, sent)| (id, &sent.token));
        let computing = state.computing.iter().map(|(id, (_, token))| (id, token));
        for (id, token) in unanswered.chain(computing) {
            let shaped = token.value.same_shape(&self.like);
            if *id != token.id || !shaped || !self.is_possible(token) {
                return Err(Mismatch::new("token", format!("{id} at step {}", token.step)));
            }
        }
        if let Some(id) = state.seen.keys().chain(state.finished.keys()).find(|id| **id >= self.tokens) {
            return Err(Mismatch::new("token", format!("{id} of {}", self.tokens)));
        }
        if let Some(sent) = state.unanswered.values().find(|sent| !self.host.transition().has(sent.to)) {
            return Err(Mismatch::new("neighbour", sent.to));
        }
        if state.tally.contributions > self.course.cap {
            return Err(Mismatch::new("contributions", state.tally.contributions));
        }
        Ok(())
    }
}

impl<V: Value> Machine for Walker<V> {
    type Value = V;
    type Command = Launch<V>;
    type Message = Message<V>;
    type Timer = Timer;
    type Label = Label;
    type Note = Note;
    type State = State<V>;

    fn handle(&mut self, input: Input<V>, means: &mut dyn Means<V>) {
        match input {
            Input::Command(launch) => self.launch(launch, means),
            Input::Message { from, message } => match Arc::unwrap_or_clone(message) {
                Message::Token(token) => self.receive(from, token, means),
                Message::Received(answer) => self.answered(from, answer),
            },
            Input::Timer(timer) => self.time_out(timer, means),
            Input::Computed { ticket, value } => self.computed(ticket, value, means),
        }
    }

    fn poll(&mut self) -> Option<Output<V>> {
        self.at.outputs.pop_front()
    }

    fn label(message: &Message<V>) -> Label {
        match message {
            Message::Token(token) => Label::Token(token.sent()),
            Message::Received(answer) => Label::Received(*answer),
        }
    }

    fn state(&self) -> State<V> {
        State { tally: self.host.tally(), ..self.at.clone() }
    }

    fn resume(&mut self, state: State<V>) -> Result<(), Mismatch> {
        self.fits(&state)?;
        self.host.resume(state.tally);
        self.at = state;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
