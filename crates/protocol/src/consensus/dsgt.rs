//! DP-DSGT (P3, Algorithm 2), gradient tracking:
//!
//! ```text
//! theta_i^(k+1) = sum_j w_ij (theta_j^k - eta_k y_j^k)
//! y_i^(k+1)     = G_i^(k+1) + sum_j w_ij y_j^k - G_i^k           y^0 = G^0 = 0, so that sums of y are sums of G
//! ```
//!
//! Where columns of `w` sum to one too, `y` tracks the mean of everybody's gradients; else a weighted one (`docs/theorems/consensus-descent.md`, section 5).
//! Privacy: one draw an iteration, at the new model; both vectors of a message are computed from the draws so far.

use serde::{Deserialize, Serialize};

use super::Said;
use super::learner::mixed;
use super::plan::Plan;
use crate::Shared;

/// Where an agent stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Dsgt {
    pub(super) model: Shared,
    /// `y_i`; while a gradient is awaited, what is to be added to it.
    pub(super) tracker: Shared,
    /// `G_i^k`.
    pub(super) last: Shared,
}

impl Dsgt {
    pub(super) fn hear<'s>(&mut self, plan: &Plan, k: usize, heard: &[(f64, &'s Said)]) {
        let tracker = |(weight, said): &(f64, &'s Said)| Some((*weight, said.tracker.as_ref()?));
        let mut towards = mixed(&self.tracker, heard.iter().filter_map(tracker));
        let mut model = mixed(&self.model, heard.iter().map(|(weight, said)| (*weight, &said.model)));
        let rate = plan.rate(k) as f32;
        model.to_mut().iter_mut().zip(towards.iter()).for_each(|(x, y)| *x -= rate * y);
        towards.to_mut().iter_mut().zip(self.last.iter()).for_each(|(y, g)| *y -= g);
        (self.model, self.tracker) = (model, towards);
    }

    pub(super) fn step(&mut self, plan: &Plan, mut gradient: Shared) {
        plan.optimiser.decayed(&self.model, gradient.to_mut());
        self.tracker.to_mut().iter_mut().zip(gradient.iter()).for_each(|(y, g)| *y += g);
        self.last = gradient;
    }
}
