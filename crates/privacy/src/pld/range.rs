//! Losses within `epsilon` of each other: the exponential mechanism, and all that has a bounded range.
//!
//! If the losses lie in `[t - epsilon, t]`, the worst pair has its mass at the two ends. Taking the worst `t` for every
//! threshold leaves the curve `H(y) = (1 - e^((y-epsilon)/2))² / (1 - e^-epsilon)`, which is that of a pair of laws itself
//! (`docs/theorems/selection.md`): this one.

use super::law::{Masses, NOTHING, everything};
use crate::special::UNIT;

/// The smallest pair of laws that dominates all with losses within `epsilon` of each other.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Range {
    epsilon: f64,
}

impl Range {
    pub(super) fn new(epsilon: f64) -> Self {
        Self { epsilon }
    }

    pub(super) fn range(self) -> (f64, f64) {
        (-self.epsilon, self.epsilon)
    }

    /// `1 - e^-epsilon`.
    fn whole(self) -> f64 {
        -(-self.epsilon).exp_m1()
    }

    pub(super) fn split(self, y: f64) -> (Masses, Masses) {
        if y <= -self.epsilon {
            return (everything(y), NOTHING);
        }
        if y >= self.epsilon {
            return (NOTHING, everything(y));
        }
        // Halfway from the top, and from the bottom.
        let (top, bottom) = (0.5 * (y - self.epsilon), 0.5 * (y + self.epsilon));
        let up = -top.exp_m1() / self.whole();
        let below = -(-bottom).exp_m1() / self.whole();
        let (down, rest) = (top.exp() * below, y.exp() * below);
        (Masses { p: up, q: top.exp() * up }, Masses { p: down, q: rest })
    }

    /// The curve at `y >= 0`, and its error.
    pub(super) fn curve(self, y: f64) -> (f64, f64) {
        if y >= self.epsilon {
            return (0.0, 0.0);
        }
        let value = (0.5 * (y - self.epsilon)).exp_m1().powi(2) / self.whole();
        (value, 32.0 * UNIT * value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interval::largest;

    /// Against the worst of many pairs with two losses, each of which is attained.
    #[test]
    fn the_curve_is_the_worst_of_all_two_point_laws() {
        for epsilon in [1e-6, 0.1, 1.0, 5.0, 40.0_f64] {
            let range = Range::new(epsilon);
            for i in 0..60 {
                let y = epsilon * f64::from(i) / 60.0;
                let two_points = |t: f64| {
                    let likely = (epsilon - t).exp_m1() / ((epsilon - t).exp_m1() - (-t).exp_m1());
                    if t > y { likely * -(y - t).exp_m1() } else { 0.0 }
                };
                let worst = largest(0.0, (0..=4000).map(|k| two_points(epsilon * f64::from(k) / 4000.0)));
                let (value, error) = range.curve(y);
                assert!(value + error >= worst * (1.0 - 1e-10), "{epsilon} at {y}: {value} < {worst}");
                assert!(
                    value <= worst * (1.0 + 1e-3) + 1e-9 * epsilon,
                    "{epsilon} at {y}: {value} > {worst}"
                );
            }
        }
    }
}
