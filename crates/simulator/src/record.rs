//! What drivers show to those who watch: every step of a machine, and every message on the wire.

use std::time::Duration;

use sottovoce_protocol::{Coefficients, Heard, Machine, Output, OutputOf, Peer, Transcript, Value};

/// A value whose coordinates can be looked at; those beyond the end are 0.
pub trait Coordinates: Value {
    /// The coordinates.
    fn coordinates(&self) -> &[f64];
}

impl Coordinates for Vec<f64> {
    fn coordinates(&self) -> &[f64] {
        self
    }
}

impl Coordinates for Coefficients {
    fn coordinates(&self) -> &[f64] {
        &self.0
    }
}

/// A noise that a peer drew, and what it covered.
#[derive(Debug, Clone, PartialEq)]
pub struct Drawn<V> {
    /// Its number among the peer's draws.
    pub draw: u64,
    /// The value before it.
    pub before: V,
    /// The noise.
    pub noise: V,
}

/// One input to one machine, and all that came of it.
pub struct Step<'a, M: Machine> {
    /// Virtual time.
    pub time: Duration,
    /// Who.
    pub peer: Peer,
    /// Whether its user had asked for something.
    pub command: bool,
    /// What was drawn, in order.
    pub drawn: &'a [Drawn<M::Value>],
    /// What came out, in order.
    pub outputs: &'a [OutputOf<M>],
    /// The machine after it.
    pub machine: &'a M,
}

impl<M: Machine> Step<'_, M> {
    /// What was noted, in order.
    pub fn notes(&self) -> impl Iterator<Item = &M::Note> {
        self.outputs
            .iter()
            .filter_map(|output| if let Output::Note(note) = output { Some(note) } else { None })
    }

    /// Messages and their receivers, in order.
    pub fn sends(&self) -> impl Iterator<Item = (&[Peer], &M::Message)> {
        self.outputs.iter().filter_map(|output| match output {
            Output::Send { to, message } => Some((&to[..], message)),
            _ => None,
        })
    }

    /// The value a peer entered the run with, noise included: what its first draw covered, if it was let in now.
    pub fn entry(&self) -> Option<M::Value> {
        let first = self.drawn.iter().find(|drawn| drawn.draw == 0)?;
        let mut value = first.before.clone();
        value.add(1.0, &first.noise);
        Some(value)
    }

    /// The noise drawn for the messages of an averaging round, if any.
    pub fn relay(&self, round: usize) -> Option<&M::Value> {
        self.drawn.iter().find(|drawn| drawn.draw == round as u64 + 1).map(|drawn| &drawn.noise)
    }
}

/// A message on the wire.
pub struct Envelope<'a, M: Machine> {
    /// When it was sent, or delivered.
    pub time: Duration,
    /// Its sender.
    pub from: Peer,
    /// Its receiver.
    pub to: Peer,
    /// The message.
    pub message: &'a M::Message,
    /// Whether it is a copy that the network made of one that was delivered before.
    pub repeated: bool,
}

/// Writes down what happens.
pub trait Recorder<M: Machine> {
    /// A machine made a step.
    fn step(&mut self, _: &Step<'_, M>) {}

    /// A peer sent a message; it may be dropped.
    fn sent(&mut self, _: &Envelope<'_, M>) {}

    /// A message reached its receiver, who may still refuse it; repeated messages are delivered repeatedly.
    fn delivered(&mut self, _: &Envelope<'_, M>) {}
}

/// The accountant's source.
impl<M: Machine> Recorder<M> for Transcript<M::Label, M::Note> {
    fn step(&mut self, step: &Step<'_, M>) {
        for output in step.outputs {
            match output {
                Output::Release(release) => self.releases.push((step.peer, *release)),
                Output::Note(note) => self.notes.push((step.peer, note.clone())),
                _ => {}
            }
        }
    }

    fn delivered(&mut self, envelope: &Envelope<'_, M>) {
        if !envelope.repeated {
            let label = M::label(envelope.message);
            self.messages.push(Heard { from: envelope.from, to: envelope.to, label });
        }
    }
}

/// A message as it was written down.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry<T> {
    /// When it was delivered.
    pub time: Duration,
    /// Its sender.
    pub from: Peer,
    /// Its receiver.
    pub to: Peer,
    /// The message.
    pub message: T,
}

/// Keeps every delivered message with its values, in order of delivery.
#[derive(Debug, Clone, PartialEq)]
pub struct Mail<T>(pub Vec<Entry<T>>);

impl<T> Default for Mail<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<M: Machine> Recorder<M> for Mail<M::Message> {
    fn delivered(&mut self, envelope: &Envelope<'_, M>) {
        let Envelope { time, from, to, message, .. } = *envelope;
        self.0.push(Entry { time, from, to, message: message.clone() });
    }
}
