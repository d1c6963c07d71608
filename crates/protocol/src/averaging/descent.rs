//! Muffliato-GD and Muffliato-SGD (Cyffers, Even, Bellet and Massoulié 2022, Algorithm 3): averaging, with a private gradient step
//! before each.
//!
//! ```text
//! repeat T times:   theta <- theta - nu g(theta)            g: clipped, so that one user moves it by at most the sensitivity
//!                   theta <- theta + N(0, nu² sigma²)       admitted by the budget
//!                   K rounds of any averaging plan
//! ```
//!
//! The peer is an [`Averager`](super::Averager) that asks its driver for the gradient step.
//!
//! **Privacy.** Every step is one release of `nu g` under noise. Towards someone who sees everything, the `T` releases compose (proven,
//! whatever the plan). Towards a peer they compose with the leverages of one averaging where every averaging ends in exact consensus
//! ([`Butterfly`](super::Butterfly)): its state then holds nothing that the peer does not know (`docs/theorems/descent.md`).

use super::{Plan, Row};

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
