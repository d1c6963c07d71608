//! The attackers: linear estimates of every peer's value from the observers' messages.
//!
//! In units of the local noise, messages are `y = A z` with `z_u = x_u + N(0, 1)` for peers and `N(0, 1)` for relay noises.
//!
//! * **Informed** (the adversary of differential privacy): knows all private values but `x_u`. The best unbiased estimate is
//!   `w_u (y - Σ_(j != u) A_j x_j)` with `w_u = A_u' (A A')^+ / f(u)`; its variance is `1 / f(u)`.
//! * **Uninformed**: knows of each value only a mean and a deviation `s`. With `D` the variances `1 + s²` (peers) and 1 (relay
//!   noises), the best linear estimate of `z_u` is its projection onto the messages in the geometry of `D`, with the error
//!   `(1 + s²)(1 - g(u))` where `g` is the leverage of `A D^(1/2)`; that of `x_u` shrinks it by `share = s² / (1 + s²)` and has
//!   the error `s² (1 - share g(u))`. Without relay noise `g = f`.
//!
//! Proofs: `docs/theorems/reconstruction.md`.

use sottovoce_dense::Mat;

use super::Result;
use super::solve::Projector;
use super::view::View;

/// Estimators of both attackers for all targets.
pub(super) struct Attackers {
    /// Loss that the informed one can see in doubles.
    pub(super) informed: Projector,
    /// Leverage that the uninformed one can see.
    pub(super) uninformed: Vec<f64>,
    /// How much of a noisy value's deviation from the mean is the private value's.
    pub(super) share: f64,
    informed_weights: Mat,
    /// What the other peers' known values contribute to each informed estimate; 0 for one's own.
    others: Mat,
    noisy_weights: Mat,
    /// What a unit of common mean contributes to each noisy estimate.
    common: Vec<f64>,
}

impl Attackers {
    /// `deviation` is that of the prior, in units of the local noise.
    pub(super) fn new(view: &View, deviation: f64) -> Result<Self> {
        let (targets, columns) = (view.targets.len(), view.hidden.ncols());
        let informed = Projector::new(view.hidden.as_ref(), targets)?;
        let coefficients = view.hidden.as_ref().subcols(0, targets);
        let informed_weights = Mat::from_fn(targets, view.hidden.nrows(), |u, row| {
            if informed.sees(u) { informed.weights[(u, row)] / informed.leverages[u] } else { 0.0 }
        });
        let gains = &informed_weights * coefficients;
        let others = Mat::from_fn(targets, targets, |u, j| if u == j { 0.0 } else { gains[(u, j)] });
        let width = (1.0 + deviation * deviation).sqrt();
        let uninformed = if columns == targets {
            // No relay noise: all variances are the same, and nothing changes but the unit.
            Projector { weights: informed.weights.clone(), leverages: informed.leverages.clone(), ..informed }
        } else {
            let scaled = Mat::from_fn(view.hidden.nrows(), columns, |row, column| {
                view.hidden[(row, column)] * if column < targets { width } else { 1.0 }
            });
            let mut projector = Projector::new(scaled.as_ref(), targets)?;
            projector.weights *= width;
            projector
        };
        let totals = &uninformed.weights * coefficients;
        let common = (0..targets).map(|u| totals.row(u).sum()).collect();
        Ok(Self {
            uninformed: uninformed.leverages,
            noisy_weights: uninformed.weights,
            share: deviation * deviation / (1.0 + deviation * deviation),
            informed,
            informed_weights,
            others,
            common,
        })
    }

    /// The informed estimates; column by column, `private` are the values the attacker knows (never the one it estimates).
    pub(super) fn informed(&self, messages: &Mat, private: &Mat) -> Mat {
        &self.informed_weights * messages - &(&self.others * private)
    }

    /// The estimates of noisy values by someone who knows only the mean of all values.
    pub(super) fn noisy(&self, messages: &Mat, mean: f64) -> Mat {
        let mut guess = &self.noisy_weights * messages;
        for (u, common) in self.common.iter().enumerate() {
            (0..guess.ncols()).for_each(|run| guess[(u, run)] += mean * (1.0 - common));
        }
        guess
    }
}
