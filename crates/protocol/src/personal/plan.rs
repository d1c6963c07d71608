//! What an agent has agreed to do. Everything in it is public: it depends on how many rows she has, never on what they say.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Rule;
use crate::{Law, Release};

/// An agent's part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// How updates weigh their parts.
    pub rule: Rule,
    /// Private updates.
    pub updates: usize,
    /// The noise on them; none for an agent without rows, who has nothing to hide and nothing to compute.
    pub hidden: Option<Hidden>,
    /// A model of her own rows, released at the beginning and smoothed over the graph before the private updates; none where all begin alike.
    pub warm: Option<Warm>,
    /// After the last update its result is sent so many times more, in case it was lost.
    pub repeats: usize,
    /// Neighbours who were silent for so many of the agent's own wake-ups, and had not said that they are done, are taken for gone.
    pub patience: Option<usize>,
}

/// The noise on private gradients.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hidden {
    /// Its law.
    pub law: Law,
    /// How far one row, replaced, can move the mean of clipped gradients, in the law's norm.
    pub sensitivity: f64,
    /// The scale of each update's noise, as a multiple of the sensitivity; 0 hides nothing, and counts as an infinite loss.
    pub multipliers: Arc<[f64]>,
}

/// A locally trained model, released once.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Warm {
    /// Its release; none for an agent without rows, who begins where everybody else would.
    pub release: Option<Release>,
    /// Wake-ups of model propagation, which reveal nothing more.
    pub wakes: usize,
}

impl Plan {
    /// The release of a private update, counted from 0; none where there is nothing to hide.
    pub fn release(&self, update: usize) -> Option<Release> {
        let Hidden { law, sensitivity, multipliers } = self.hidden.as_ref()?;
        // Beyond its plan an agent has no noise, and a release without noise is refused by every budget.
        let multiplier = multipliers.get(update).copied().unwrap_or(0.0);
        Some(Release { law: *law, sensitivity: *sensitivity, scale: multiplier * sensitivity, rate: None })
    }

    /// Wake-ups with an update, private or not.
    pub fn wakes(&self) -> usize {
        self.warm.map_or(0, |warm| warm.wakes).saturating_add(self.updates)
    }

    /// Everything that is released about her rows, in order.
    pub fn releases(&self) -> impl Iterator<Item = Release> + '_ {
        self.released(self.updates)
    }

    /// The same after so many private updates.
    pub fn released(&self, updates: usize) -> impl Iterator<Item = Release> + '_ {
        let warm = self.warm.and_then(|warm| warm.release);
        warm.into_iter().chain((0..updates).filter_map(|update| self.release(update)))
    }
}
