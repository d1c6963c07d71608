//! Muffliato-GD and Muffliato-SGD (Cyffers, Even, Bellet and Massoulié 2022, Algorithm 3): averaging, with a private gradient step
//! before each.
//!
//! ```text
//! repeat T times:   theta <- theta - nu g(theta)            g: clipped, so that one user moves it by at most the sensitivity
//!                   theta <- theta + N(0, nu² sigma²)       admitted by the gate
//!                   K rounds of any averaging plan
//! ```
//!
//! **Privacy.** Every step is one release of `nu g` under noise. Towards someone who sees everything, the `T` releases compose (proven,
//! whatever the plan). Towards a peer they compose with the leverages of one averaging where every averaging ends in exact consensus
//! ([`Butterfly`](super::Butterfly)): its state then holds nothing that the peer does not know (`docs/theorems/descent.md`).

use super::{Plan, Row};

/// What a peer puts into each part of an averaging plan.
pub trait Local<V> {
    /// In how many equal parts the plan falls.
    fn iterations(&self) -> usize;

    /// Moves the peer's value by its private step; noise is added afterwards, by the peer.
    fn step(&mut self, iteration: usize, value: &mut V);
}

/// The private value itself, once: plain averaging.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Once;

impl<V> Local<V> for Once {
    fn iterations(&self) -> usize {
        1
    }

    fn step(&mut self, _: usize, _: &mut V) {}
}

/// Gradient steps `theta - nu g(theta)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Descent<G> {
    /// Number of steps.
    pub iterations: usize,
    /// Subtracts `nu g` from the value: `descend(iteration, value)`.
    pub descend: G,
}

impl<V, G: FnMut(usize, &mut V)> Local<V> for Descent<G> {
    fn iterations(&self) -> usize {
        self.iterations
    }

    fn step(&mut self, iteration: usize, value: &mut V) {
        (self.descend)(iteration, value);
    }
}

/// Equally long plans one after the other, and again from the first: fresh graphs or fresh positions for every iteration.
#[derive(Debug, Clone, PartialEq)]
pub struct InTurn<P> {
    parts: Vec<P>,
    iterations: usize,
}

impl<P: Plan> InTurn<P> {
    /// `None` without plans, or where their lengths differ.
    pub fn new(parts: Vec<P>, iterations: usize) -> Option<Self> {
        let rounds = parts.first()?.rounds();
        parts.iter().all(|part| part.rounds() == rounds).then_some(Self { parts, iterations })
    }
}

impl<P: Plan> Plan for InTurn<P> {
    fn rounds(&self) -> usize {
        self.parts[0].rounds() * self.iterations
    }

    fn row(&self, round: usize) -> &Row {
        let rounds = self.parts[0].rounds().max(1);
        self.parts[round / rounds % self.parts.len()].row(round % rounds)
    }

    fn conserves_mass(&self) -> bool {
        self.parts.iter().all(Plan::conserves_mass)
    }
}
