//! How an agent's gradients are hidden, draw by draw: admitted by the budget, covered by noise, and counted. Drivers without messages use it as the machine
//! does.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::Hidden;
use crate::{Means, Release, Shared, Value, Withheld};

/// What an agent has drawn.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Draws {
    made: usize,
    spent: bool,
    /// The last noises, the latest first, where noises depend on each other.
    past: VecDeque<Shared>,
}

impl Draws {
    /// Private draws so far.
    pub fn made(&self) -> usize {
        self.made
    }

    /// Whether the budget was found spent: then there is no further draw.
    pub fn is_spent(&self) -> bool {
        self.spent
    }

    /// Hides a gradient. With a band one release is made for all draws of a cycle, before the first of them, and returned there.
    pub fn hide(
        &mut self,
        hidden: &Hidden,
        gradient: &mut Shared,
        means: &mut dyn Means<Shared>,
    ) -> Result<Option<Release>, Withheld> {
        let (release, draw) = (hidden.release(), self.made as u64);
        let due = self.made.is_multiple_of(hidden.band.cycle());
        if due && let Err(overspent) = means.admit(&release) {
            self.spent = true;
            return Err(overspent.into());
        }
        if hidden.band.cycle() == 1 {
            means.hide(release.law, draw, release.scale, gradient)?;
        } else {
            let mut noise = Shared::zeros(gradient.len());
            means.hide(release.law, draw, release.scale, &mut noise)?;
            hidden.band.correlate(&mut self.past, &mut noise);
            gradient.add(1.0, &noise);
        }
        self.made += 1;
        Ok(due.then_some(release))
    }

    /// Whether an agent with so many draws in her plan, and models of so many numbers, can be here.
    pub fn fits(&self, hidden: Option<&Hidden>, most: usize, width: usize) -> bool {
        let Some(hidden) = hidden else { return self.made == 0 && self.past.is_empty() };
        let kept = self.made.min(hidden.band.cycle() - 1); // whole numbers
        self.made <= most && self.past.len() == kept && self.past.iter().all(|noise| noise.len() == width)
    }
}
