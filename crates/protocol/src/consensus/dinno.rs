//! DP-DiNNO (P3, Algorithm 3), consensus ADMM with inexact primal steps:
//!
//! ```text
//! y_i  <- y_i + rho_k S_i,    S_i = sum_(j != i) (theta_i - theta_j)
//! psi = theta_i;  T times:  psi <- psi - step( G(psi) + y_i + 2 rho_k sum_(j != i) (psi - (theta_i + theta_j)/2) )
//! theta_i <- psi
//! ```
//!
//! The paper steps uphill (its line 15) and counts `i` among its own neighbours; with more than one primal step that would pull to the old model. The sum over
//! neighbours is `d (psi - theta_i) + S_i/2`: differences only, which single precision can take. Privacy: every primal step is a draw.

use serde::{Deserialize, Serialize};

use super::plan::Plan;
use super::{Moments, Said};
use crate::Shared;

/// Where an agent stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Dinno {
    pub(super) model: Shared,
    /// `y_i`.
    pub(super) dual: Shared,
    /// `psi`, while gradients are awaited.
    pub(super) psi: Shared,
    /// `y_i + rho S_i`, meanwhile.
    pub(super) pull: Shared,
    /// `2 rho d`, meanwhile.
    pub(super) spring: f32,
    /// Primal steps made in this iteration.
    pub(super) made: usize,
    pub(super) moments: Moments,
}

impl Dinno {
    pub(super) fn new(model: Shared) -> Self {
        let zero = Shared::zeros(model.len());
        let (psi, pull) = (Shared::default(), Shared::default());
        Self { model, dual: zero, psi, pull, spring: 0.0, made: 0, moments: Moments::default() }
    }

    pub(super) fn hear(&mut self, plan: &Plan, rho: f64, heard: &[(f64, &Said)]) {
        plan.optimiser.begin(&mut self.moments);
        let mut apart = vec![0.0f32; self.model.len()];
        for (_, said) in heard {
            let pairs = self.model.iter().zip(said.model.iter());
            apart.iter_mut().zip(pairs).for_each(|(sum, (own, other))| *sum += own - other);
        }
        let once = rho as f32;
        self.dual.to_mut().iter_mut().zip(&apart).for_each(|(y, apart)| *y += once * apart);
        apart.iter_mut().zip(self.dual.iter()).for_each(|(apart, y)| *apart = y + once * *apart);
        self.pull = apart.into();
        self.spring = (2.0 * rho * heard.len() as f64) as f32;
        self.psi = self.model.clone();
        self.made = 0;
    }

    /// Whether it was the last primal step of the iteration.
    pub(super) fn step(&mut self, plan: &Plan, primal: usize, k: usize, mut gradient: Shared) -> bool {
        plan.optimiser.decayed(&self.psi, gradient.to_mut());
        let pulls = self.pull.iter().zip(self.psi.iter().zip(self.model.iter()));
        let direction = gradient.to_mut();
        for (g, (pull, (psi, own))) in direction.iter_mut().zip(pulls) {
            *g += pull + self.spring * (psi - own);
        }
        plan.optimiser.step(&mut self.moments, plan.rate(k), direction, self.psi.to_mut());
        self.made += 1;
        if self.made < primal {
            return false;
        }
        (self.model, self.pull) = (std::mem::take(&mut self.psi), Shared::default());
        true
    }
}
