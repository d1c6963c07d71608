//! What differs between protocols when they are driven: dice, noise, private steps, and what becomes of notes.

use sottovoce_protocol::{InputOf, Law, Machine, Peer, Uncovered};

use crate::record::{Envelope, Step};

/// What a driver needs besides machines and a network: one small adapter for each protocol.
pub trait World<M: Machine> {
    /// An input is about to be handled.
    fn turn(&mut self, _peer: Peer, _input: &InputOf<M>) {}

    /// 64 random bits for the input that is being handled.
    fn bits(&mut self, peer: Peer) -> u64;

    /// Fresh Gaussian noise of this scale for a value like this one.
    fn noise(&mut self, peer: Peer, draw: u64, scale: f64, like: &M::Value) -> Result<M::Value, Uncovered>;

    /// The same under another law; who has no such noise says so.
    fn noise_by(
        &mut self,
        law: Law,
        peer: Peer,
        draw: u64,
        scale: f64,
        like: &M::Value,
    ) -> Result<M::Value, Uncovered> {
        match law {
            Law::Gaussian => self.noise(peer, draw, scale, like),
            Law::Laplace | Law::Radial => Err(Uncovered { draw, scale }),
        }
    }

    /// What noise made of a peer's value in an earlier run, where this one is that run again: it takes the value's place, and nothing is drawn.
    fn again(&mut self, _peer: Peer, _draw: u64, _value: &M::Value) -> Option<M::Value> {
        None
    }

    /// Adds what a peer shares with others to the noise of a private value; most share nothing.
    fn share(
        &mut self,
        _peer: Peer,
        _draw: u64,
        _scale: f64,
        _noise: &mut M::Value,
    ) -> Result<(), Uncovered> {
        Ok(())
    }

    /// Makes a peer's private step of this size; a world without private data leaves the value as it is.
    fn compute(&mut self, _peer: Peer, _iteration: usize, _size: f64, _value: &mut M::Value) {}

    /// A message is about to be handed over.
    fn heard(&mut self, _envelope: &Envelope<'_, M>) {}

    /// A step was made: here notes are read.
    fn step(&mut self, _step: &Step<'_, M>) {}

    /// Whether the run is over.
    fn is_over(&self) -> bool {
        false
    }
}

/// A world of public protocols: no dice, no noise, nothing to compute.
impl<M: Machine> World<M> for () {
    fn bits(&mut self, _: Peer) -> u64 {
        0
    }

    fn noise(&mut self, _: Peer, draw: u64, scale: f64, _: &M::Value) -> Result<M::Value, Uncovered> {
        Err(Uncovered { draw, scale })
    }
}
