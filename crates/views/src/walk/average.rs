//! A token that is an average: what it reveals, exactly.
//!
//! Averaging is the special case of gradients `x - y`. The holder at step `t` does `x <- (1 - gamma_t) x + gamma_t r (y + noise)`, where `r` is what its
//! contributions are worth; one whose contributions are used up adds `gamma_t r noise` alone. At the end of a gap a contribution and its own noise have
//! one weight `w`, the product of its `gamma_t r` and all that later steps kept. So what is new is `Σ w s` in noise of variance `Σ w²`: a loss of
//! `(Σ w s)² / Σ w²`, for all data that move as far as they may. With `gamma_t = 1/(t+1)`, equal worths and no cap, all `w` are equal: the loss
//! of linear losses. With a cap it is not, and no bound for constant steps holds (`docs/theorems/random-walks.md`, Theorem 5).

use sottovoce_protocol::walk::{Steps, Visit};

use super::trajectory::Trajectory;
use crate::error::Error;
use crate::{Result, require};

/// How a token averages.
#[derive(Debug, Clone, PartialEq)]
pub struct Average {
    /// Step sizes.
    pub sizes: Steps,
    /// What each peer's contributions are worth, and its noise; empty where all are alike.
    pub worth: Vec<f64>,
}

/// A noise that was added, and what became of what was there.
#[derive(Debug, Clone, Copy)]
pub(super) struct Faded {
    /// Its weight at that moment.
    scale: f64,
    /// What was kept of the token.
    kept: f64,
    /// Whose contribution came with it.
    contributor: Option<usize>,
}

impl Average {
    /// Refuses steps that are none, and worths of others.
    pub(super) fn check(&self, nodes: usize) -> Result<()> {
        if let Steps::Constant(gamma) = self.sizes
            && !(gamma > 0.0 && gamma <= 1.0)
        {
            return Err(Error::parameter("step", gamma, "an average takes a step from 0 (excluded) to 1"));
        }
        let remedy = format!("give one for each of the {nodes} peers");
        require(self.worth.is_empty() || self.worth.len() == nodes, "worth", self.worth.len(), remedy)
    }

    /// What the contributions of a path weigh together in its last value, each by what it is worth: what that value is divided by. It depends on the
    /// path alone, and is public.
    pub fn mass(&self, path: impl IntoIterator<Item = (usize, Visit)>) -> f64 {
        let visits = path.into_iter().filter(|(_, visit)| *visit != Visit::Relayed);
        visits.zip(0..).fold(0.0, |mass, ((holder, visit), step)| {
            let Faded { scale, kept, contributor } = self.visit(step, holder, visit);
            kept * mass + if contributor.is_some() { scale } else { 0.0 }
        })
    }

    /// What a visit does to the token.
    pub(super) fn visit(&self, step: u64, holder: usize, visit: Visit) -> Faded {
        let size = self.sizes.at(step as usize);
        let scale = size * self.worth.get(holder).copied().unwrap_or(1.0);
        match visit {
            Visit::Contributed => Faded { scale, kept: 1.0 - size, contributor: Some(holder) },
            _ => Faded { scale, kept: 1.0, contributor: None },
        }
    }
}

/// Adds what a gap with these noises reveals.
pub(super) fn close(gap: &[Faded], losses: &mut Trajectory) {
    let (mut left, mut square) = (1.0, 0.0);
    let mut sums: Vec<(usize, f64)> = Vec::new();
    for &Faded { scale, kept, contributor } in gap.iter().rev() {
        let weight = left * scale;
        square += weight * weight;
        sums.extend(contributor.map(|peer| (peer, weight)));
        left *= kept;
    }
    // Peers together, each with its own contributions in order.
    sums.sort_by_key(|(peer, _)| *peer);
    for own in sums.chunk_by(|a, b| a.0 == b.0) {
        let sum: f64 = own.iter().map(|(_, weight)| weight).sum();
        let loss = if square > 0.0 { sum * sum / square } else { own.len() as f64 };
        // No more than its own noises let through.
        let loss = if loss < own.len() as f64 { loss } else { own.len() as f64 };
        losses.linear[own[0].0] += loss;
        losses.convex[own[0].0] += loss;
    }
}
