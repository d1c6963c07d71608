//! Accelerated randomised gossip (Muffliato, footnote 2; after Even, Berthier, Bach, Flammarion, Gaillard, Hendrikx, Massoulié and Taylor 2021): one pair at a time, and everyone keeps
//! a second value that runs ahead of the first.
//!
//! ```text
//! x = z = the noisy value
//! round:   x, z  <-  x + a (z - x), z + a (x - z)      everyone, without a word
//!          the pair of the round tell each other x
//!          d     =   x - (half-sum of the two)         the pair
//!          x, z  <-  x - d, z - s d                    the pair
//! ```
//!
//! Pairs are drawn beforehand, edge `e` with probability `p_e`. With `mu` the least eigenvalue beside 0 of `H = Σ p_e A_e`, where `A_e` takes
//! what the half-sum takes off, and `kappa` the largest effective resistance of an edge, the distance from the mean falls by `1 - sqrt(mu/kappa)` in
//! a round, where half-sums alone give `1 - mu` (`docs/theorems/accelerated-randomised.md`). The sum of all `x` stays what it was.

use serde::{Deserialize, Serialize};

use crate::Value;

/// How a peer's two values lean on each other, and how far the second runs ahead.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Coupling {
    /// `a`: how far each value goes towards the other in a round, at most half of the way.
    pub lean: f64,
    /// `s`: how often the second value takes the step that the first one takes.
    pub stride: f64,
}

impl Coupling {
    /// For a least eigenvalue `mu` and a largest resistance `kappa`, both positive; any smaller `mu` and larger `kappa` will do.
    ///
    /// ```
    /// use sottovoce_protocol::averaging::Coupling;
    /// let coupling = Coupling::new(0.01, 4.0); // half-sums alone: 0.99 a round
    /// assert!((coupling.contraction() - 0.95).abs() < 1e-12);
    /// ```
    pub fn new(mu: f64, kappa: f64) -> Self {
        let theta = (mu / kappa).sqrt();
        Self { lean: theta / (1.0 + theta), stride: 1.0 / (mu * kappa).sqrt() }
    }

    /// Whether these are numbers that two values can be coupled by.
    pub fn is_sound(&self) -> bool {
        self.lean > 0.0 && self.lean <= 0.5 && self.stride > 0.0 && self.stride.is_finite()
    }

    /// `1 - sqrt(mu/kappa)`: what a round leaves of the expected squared distance from the mean, but for a factor of 2 at the beginning.
    pub fn contraction(&self) -> f64 {
        (1.0 - 2.0 * self.lean) / (1.0 - self.lean)
    }

    /// What everyone does before a round: the two values lean on each other.
    pub fn approach<V: Value>(&self, x: &mut V, z: &mut V) {
        let behind = x.clone();
        x.scale(1.0 - self.lean);
        x.add(self.lean, z);
        z.scale(1.0 - self.lean);
        z.add(self.lean, &behind);
    }

    /// What the second value does when the first went from `said` to `mixed`.
    pub fn follow<V: Value>(&self, said: V, mixed: &V, z: &mut V) {
        let mut step = said;
        step.add(-1.0, mixed);
        z.add(-self.stride, &step);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_lean_on_each_other_and_keep_their_sum() {
        let coupling = Coupling { lean: 0.25, stride: 3.0 };
        let (mut x, mut z) = (vec![4.0], vec![8.0]);
        coupling.approach(&mut x, &mut z);
        assert_eq!((x[0], z[0]), (5.0, 7.0));
        coupling.follow(x, &vec![4.5], &mut z);
        assert_eq!(z[0], 5.5);
    }

    #[test]
    fn the_two_numbers_are_one_rate() {
        for (mu, kappa) in [(0.5, 2.0), (1e-6, 31.0), (0.3, 0.3)] {
            let coupling = Coupling::new(mu, kappa);
            assert!(coupling.is_sound());
            assert!((coupling.contraction() - (1.0 - (mu / kappa).sqrt())).abs() < 1e-12);
            assert!((coupling.stride * coupling.stride * mu * kappa - 1.0).abs() < 1e-12);
        }
        let unsound = [(0.0, 1.0), (0.6, 1.0), (f64::NAN, 1.0), (0.1, 0.0), (0.1, f64::INFINITY)];
        assert!(unsound.iter().all(|&(lean, stride)| !Coupling { lean, stride }.is_sound()));
    }
}
