//! A peer who holds tokens for a moment and passes them on.
//!
//! **Lost tokens.** A token is acknowledged. Until then its sender keeps the copy it sent, and sends *the same copy* to the same peer again; after
//! [`Patience::attempts`] of these it takes that peer for gone and sends the same copy to another neighbour. Nothing is computed anew,
//! so nothing more is released to a wire-tapper. If the first peer had received the token after all, and only its answers were lost, there are now two
//! copies: the later one has the higher [`Token::epoch`], and whoever has seen that swallows the older. Every detour is reported
//! ([`Output::Rerouted`]), since the accountant must count what both copies may show.

use std::collections::{BTreeMap, VecDeque};

use super::{Course, Host, Visit};
use crate::{Chance, Noise, Overspent, Peer, Refusal, Release, Value};

/// How long a sender waits for an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// How often a token is sent to one peer.
    pub attempts: usize,
}

/// A token under way.
#[derive(Debug, Clone, PartialEq)]
pub struct Token<V> {
    /// Which one.
    pub id: usize,
    /// How often it was rerouted, and by whom the last time: of two copies the greater is the valid one.
    pub epoch: (usize, Peer),
    /// Holders so far.
    pub step: usize,
    /// The model.
    pub value: V,
}

/// What peers send each other.
#[derive(Debug, Clone, PartialEq)]
pub enum Message<V> {
    /// A token.
    Token(Token<V>),
    /// It has arrived.
    Received {
        /// Which one.
        id: usize,
        /// Its epoch.
        epoch: (usize, Peer),
        /// Its step.
        step: usize,
    },
}

/// What a driver hands to a peer.
#[derive(Debug, Clone, PartialEq)]
pub enum Input<V> {
    /// Be the first holder of a token.
    Launch {
        /// Which one.
        id: usize,
        /// The model to start from.
        value: V,
    },
    /// A message has arrived.
    Message {
        /// Its sender, as the network vouches for it.
        from: Peer,
        /// The message.
        message: Message<V>,
    },
    /// The timer for this token has run out.
    Timeout {
        /// The token.
        id: usize,
        /// The number of the timer.
        timer: u64,
    },
}

/// What a peer asks of its driver.
#[derive(Debug, Clone, PartialEq)]
pub enum Output<V> {
    /// A gradient was released under noise.
    Release(Release),
    /// What was done to a token.
    Visited {
        /// The token.
        id: usize,
        /// Which copy of it.
        epoch: (usize, Peer),
        /// The step.
        step: usize,
        /// What was done.
        visit: Visit,
    },
    /// Send a message.
    Send {
        /// To whom.
        to: Peer,
        /// What.
        message: Message<V>,
    },
    /// Say when the time to wait for an answer is over. A driver whose messages all arrive may ignore it.
    Timer {
        /// The token.
        id: usize,
        /// The number of the timer.
        timer: u64,
    },
    /// A peer did not answer, and the token went another way: there may be two copies from here on.
    Rerouted {
        /// The token.
        id: usize,
        /// The step that both copies make next.
        step: usize,
        /// The copy that was not answered for.
        epoch: (usize, Peer),
        /// The copy that takes the detour.
        detour: (usize, Peer),
        /// Who did not answer.
        silent: Peer,
    },
    /// Nobody answers: the token stays here, and will be offered again.
    Stranded {
        /// The token.
        id: usize,
    },
    /// The budget forbids further contributions; from now on there is noise only.
    Stopped(Overspent),
    /// A message was refused, and nothing of it was used.
    Refused {
        /// The sender.
        from: Peer,
        /// Why.
        reason: Refusal,
    },
    /// A token has made its last step.
    Finished(Token<V>),
}

#[derive(Debug, Clone)]
struct Unanswered<V> {
    token: Token<V>,
    to: Peer,
    attempts: usize,
    silent: Vec<Peer>,
    timer: u64,
}

/// A peer's state machine.
#[derive(Debug, Clone)]
pub struct Walker<V, G> {
    host: Host<G>,
    /// A model of the right shape.
    like: V,
    course: Course,
    patience: Patience,
    stopped: bool,
    /// The last copy seen of each token.
    seen: BTreeMap<usize, ((usize, Peer), usize)>,
    unanswered: BTreeMap<usize, Unanswered<V>>,
    timers: u64,
    outputs: VecDeque<Output<V>>,
}

impl<V: Value, G: FnMut(usize, f64, &mut V)> Walker<V, G> {
    /// A peer; tokens must be shaped `like` this model.
    pub fn new(host: Host<G>, like: V, course: Course, patience: Patience) -> Self {
        Self {
            host,
            like,
            course,
            patience,
            stopped: false,
            seen: BTreeMap::new(),
            unanswered: BTreeMap::new(),
            timers: 0,
            outputs: VecDeque::new(),
        }
    }

    /// Takes an input. Outputs wait to be drained by [`Self::poll`].
    pub fn handle(&mut self, input: Input<V>, noise: &mut dyn Noise<V>, chance: &mut dyn Chance) {
        match input {
            Input::Launch { id, value } => {
                self.hold(Token { id, epoch: (0, 0), step: 0, value }, noise, chance);
            }
            Input::Message { from, message: Message::Token(token) } => {
                self.receive(from, token, noise, chance);
            }
            Input::Message { from, message: Message::Received { id, epoch, step } } => {
                let answered = |sent: &Unanswered<V>| {
                    sent.to == from && sent.token.epoch == epoch && sent.token.step == step
                };
                if self.unanswered.get(&id).is_some_and(answered) {
                    self.unanswered.remove(&id);
                }
            }
            Input::Timeout { id, timer } => self.lose_patience(id, timer, chance),
        }
    }

    /// The next output, in the order they arose.
    pub fn poll(&mut self) -> Option<Output<V>> {
        self.outputs.pop_front()
    }

    /// Contributions so far.
    pub fn contributions(&self) -> usize {
        self.host.contributions()
    }

    fn receive(&mut self, from: Peer, token: Token<V>, noise: &mut dyn Noise<V>, chance: &mut dyn Chance) {
        let reason = match () {
            () if !token.value.same_shape(&self.like) => Some(Refusal::Shape),
            () if !token.value.is_finite() => Some(Refusal::NotFinite),
            () if token.step >= self.course.steps => Some(Refusal::Late),
            () => None,
        };
        if let Some(reason) = reason {
            return self.outputs.push_back(Output::Refused { from, reason });
        }
        // Copies that are too late are answered too: else their senders would send them elsewhere.
        let message = Message::Received { id: token.id, epoch: token.epoch, step: token.step };
        self.outputs.push_back(Output::Send { to: from, message });
        let newest = self.seen.get(&token.id).is_none_or(|seen| *seen < (token.epoch, token.step));
        if newest {
            self.hold(token, noise, chance);
        } else {
            self.outputs.push_back(Output::Refused { from, reason: Refusal::Late });
        }
    }

    /// Visits, as long as the token stays here; then passes it on.
    fn hold(&mut self, mut token: Token<V>, noise: &mut dyn Noise<V>, chance: &mut dyn Chance) {
        loop {
            self.seen.insert(token.id, (token.epoch, token.step));
            self.visit(&mut token, noise);
            token.step += 1;
            if token.step == self.course.steps {
                return self.outputs.push_back(Output::Finished(token));
            }
            let to = self.host.next(chance);
            if to != self.host.peer {
                return self.send(token, to, 1, Vec::new());
            }
        }
    }

    fn visit(&mut self, token: &mut Token<V>, noise: &mut dyn Noise<V>) {
        let (id, step) = (token.id, token.step);
        let (visit, refused) = self.host.visit(&mut token.value, step, &self.course, noise);
        if visit == Visit::Contributed {
            let release = Release { sensitivity: self.course.sensitivity, noise: self.course.noise };
            self.outputs.push_back(Output::Release(release));
        }
        if let Some(overspent) = refused.filter(|_| !self.stopped) {
            self.stopped = true;
            self.outputs.push_back(Output::Stopped(overspent));
        }
        self.outputs.push_back(Output::Visited { id, epoch: token.epoch, step, visit });
    }

    fn send(&mut self, token: Token<V>, to: Peer, attempts: usize, silent: Vec<Peer>) {
        let (id, timer) = (token.id, self.timers);
        self.timers += 1;
        self.outputs.push_back(Output::Send { to, message: Message::Token(token.clone()) });
        self.outputs.push_back(Output::Timer { id, timer });
        self.unanswered.insert(id, Unanswered { token, to, attempts, silent, timer });
    }

    /// Sends the same copy again, to the same peer or, in the end, to another.
    fn lose_patience(&mut self, id: usize, timer: u64, chance: &mut dyn Chance) {
        if self.unanswered.get(&id).is_none_or(|sent| sent.timer != timer) {
            return;
        }
        let Some(Unanswered { mut token, to, attempts, mut silent, .. }) = self.unanswered.remove(&id) else {
            return;
        };
        if attempts < self.patience.attempts {
            return self.send(token, to, attempts + 1, silent);
        }
        silent.push(to);
        match self.host.transition().draw_except(self.host.peer, &silent, chance) {
            Some(other) => {
                let (epoch, detour) = (token.epoch, (token.epoch.0 + 1, self.host.peer));
                self.outputs.push_back(Output::Rerouted { id, step: token.step, epoch, detour, silent: to });
                token.epoch = detour;
                self.seen.insert(id, (token.epoch, token.step));
                self.send(token, other, 1, silent);
            }
            None => {
                // They may come back: from the first again.
                self.outputs.push_back(Output::Stranded { id });
                self.send(token, to, 1, Vec::new());
            }
        }
    }
}

#[cfg(test)]
mod tests;
