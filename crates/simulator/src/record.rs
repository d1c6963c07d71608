//! What drivers show to those who watch: every step of a peer, and every message on the wire.

use sottovoce_protocol::{Coefficients, Message, Output, Peer, Value};
use std::time::Duration;

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

/// A noise that a peer drew.
#[derive(Debug, Clone, PartialEq)]
pub struct Drawn<V> {
    /// Its number among the peer's draws.
    pub draw: usize,
    /// The noise.
    pub noise: V,
}

/// One input to one peer, and all that came of it.
#[derive(Debug, Clone, Copy)]
pub struct Step<'a, V> {
    /// Virtual time.
    pub time: Duration,
    /// Who.
    pub peer: Peer,
    /// If this was the start: the value before it.
    pub private: Option<&'a V>,
    /// What was drawn, in order.
    pub drawn: &'a [Drawn<V>],
    /// What came out, in order.
    pub outputs: &'a [Output<V>],
    /// The value after it.
    pub value: &'a V,
}

impl<V: Value> Step<'_, V> {
    /// The value a peer entered the run with, noise included: at its start, and if it was let in.
    pub fn entry(&self) -> Option<V> {
        let eta = &self.drawn.iter().find(|drawn| drawn.draw == 0)?.noise;
        let mut value = self.private?.clone();
        value.add(1.0, eta);
        Some(value)
    }

    /// The noise drawn for the messages of a round, if any.
    pub fn relay(&self, round: usize) -> Option<&V> {
        self.drawn.iter().find(|drawn| drawn.draw == round + 1).map(|drawn| &drawn.noise)
    }
}

/// A message on the wire.
#[derive(Debug, Clone, Copy)]
pub struct Envelope<'a, V> {
    /// When it was sent, or delivered.
    pub time: Duration,
    /// Its sender.
    pub from: Peer,
    /// Its receiver.
    pub to: Peer,
    /// The message.
    pub message: &'a Message<V>,
}

/// Writes down who told whom what: the accountant's source.
pub trait Recorder<V> {
    /// A peer sent a message; it may be lost.
    fn sent(&mut self, _: Envelope<'_, V>) {}

    /// A message reached its receiver, who may still refuse it; repeated messages are delivered repeatedly.
    fn delivered(&mut self, _: Envelope<'_, V>) {}
}

/// Records nothing.
impl<V> Recorder<V> for () {}

/// A message as it was written down.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry<V> {
    /// When it was delivered.
    pub time: Duration,
    /// Its sender.
    pub from: Peer,
    /// Its receiver.
    pub to: Peer,
    /// The message.
    pub message: Message<V>,
}

/// Keeps every delivered message, in order of delivery.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Transcript<V>(pub Vec<Entry<V>>);

impl<V: Clone> Recorder<V> for Transcript<V> {
    fn delivered(&mut self, envelope: Envelope<'_, V>) {
        let Envelope { time, from, to, message } = envelope;
        self.0.push(Entry { time, from, to, message: message.clone() });
    }
}
