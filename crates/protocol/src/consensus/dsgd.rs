//! DP-DSGD (P3, Algorithm 1): `theta_i <- sum_j w_ij theta_j - eta_k G_i`.
//!
//! The gradient is taken at the own model, as printed, or at the mixed one. Privacy: one draw an iteration.

use serde::{Deserialize, Serialize};

use super::learner::mixed;
use super::plan::{At, Plan};
use super::{Moments, Said};
use crate::Shared;

/// Where an agent stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Dsgd {
    pub(super) model: Shared,
    /// `sum_j w_ij theta_j`, while a gradient is awaited.
    pub(super) mixed: Shared,
    pub(super) moments: Moments,
}

impl Dsgd {
    pub(super) fn hear(&mut self, plan: &Plan, heard: &[(f64, &Said)]) {
        plan.optimiser.begin(&mut self.moments);
        self.mixed = mixed(&self.model, heard.iter().map(|(weight, said)| (*weight, &said.model)));
    }

    pub(super) fn point(&self, at: At) -> &Shared {
        match at {
            At::Own => &self.model,
            At::Mixed => &self.mixed,
        }
    }

    pub(super) fn step(&mut self, plan: &Plan, at: At, k: usize, mut gradient: Shared) {
        plan.optimiser.decayed(self.point(at), gradient.to_mut());
        self.model = std::mem::take(&mut self.mixed);
        plan.optimiser.step(&mut self.moments, plan.rate(k), &gradient, self.model.to_mut());
    }
}
