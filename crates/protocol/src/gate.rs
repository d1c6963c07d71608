//! The gate through which everything leaves a peer: it knows the budget, and admits a release before the first message that
//! depends on it.

use serde::Serialize;

/// One private value made public under Gaussian noise. Whatever is computed from it afterwards is covered by it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Release {
    /// How far one person can move the value (in the 2-norm).
    pub sensitivity: f64,
    /// Standard deviation of the noise in each coordinate.
    pub noise: f64,
}

impl Release {
    /// The squared Gaussian loss towards someone who sees every message: `(sensitivity / noise)²`.
    pub fn mu_squared(&self) -> f64 {
        let ratio = self.sensitivity / self.noise;
        if ratio.is_nan() { f64::INFINITY } else { ratio * ratio }
    }
}

/// A release was refused; nothing was spent.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, thiserror::Error)]
#[error(
    "the release costs {asked} (squared Gaussian loss) and {left} is left: raise the budget or the noise"
)]
pub struct Overspent {
    /// What the release would cost.
    pub asked: f64,
    /// What is left.
    pub left: f64,
}

/// A peer's budget of squared Gaussian loss towards the wire-tapper, and what was spent of it.
///
/// ```
/// use sottovoce_protocol::{Gate, Release};
/// let mut gate = Gate::new(0.3);
/// assert!(gate.admit(Release { sensitivity: 1.0, noise: 2.0 }).is_ok());
/// let refused = gate.admit(Release { sensitivity: 1.0, noise: 2.0 }).unwrap_err();
/// assert!((refused.left - 0.05).abs() < 1e-12);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gate {
    budget: f64,
    spent: f64,
}

impl Gate {
    /// A gate with this budget of `mu²` (infinite: everything is admitted, and still counted).
    pub fn new(mu_squared: f64) -> Self {
        Self { budget: mu_squared, spent: 0.0 }
    }

    /// Admits a release and counts it, or refuses it and changes nothing.
    pub fn admit(&mut self, release: Release) -> Result<(), Overspent> {
        let (asked, left) = (release.mu_squared(), self.budget - self.spent);
        // A NaN fits nowhere.
        let fits = asked <= left || self.budget == f64::INFINITY;
        if !fits {
            return Err(Overspent { asked, left });
        }
        self.spent += asked;
        Ok(())
    }

    /// What was spent.
    pub fn spent(&self) -> f64 {
        self.spent
    }
}
