//! One integer under discrete Gaussian noise: its epsilon in closed form (`docs/theorems/ring.md`, Theorem 2).
//!
//! The ratio of the two laws grows with what is seen, so the best tests are thresholds: with `c = sigma² epsilon/k + k/2`
//!
//! ```text
//! delta(epsilon) = P[X >= ceil(c) - k] - e^epsilon P[X >= ceil(c)]
//! ```
//!
//! Both probabilities are sums of positive terms, so that doubles know them to twelve digits; these are added on the safe side. Lists as long as those that the
//! accountant convolves are added up once here, which makes calibrations short.

use crate::special::UNIT;
use crate::{Error, Loss, Result};

/// By how much a sum of masses may be off, relatively: terms by `2 UNIT` and `4 UNIT` for each unit of their exponents (up to 745), sums by `4 UNIT`.
const OFF: f64 = 4000.0 * UNIT;

/// An upper bound on epsilon at `delta` of one release of an integer that one person moves by `steps` at most.
pub(crate) fn epsilon(sigma: f64, steps: u32, delta: f64) -> Result<f64> {
    let tails = Tails::new(sigma, f64::from(steps));
    let ratio = f64::from(steps) / sigma;
    let bound = Loss::zcdp(0.5 * ratio * ratio * (1.0 + 1e-14))?.epsilon(delta)?.upper;
    if tails.delta(bound).is_none_or(|found| found > delta) {
        // The bound by moments holds whatever was rounded here.
        return if bound.is_finite() { Ok(bound) } else { Err(unknown(sigma)) };
    }
    let (mut low, mut high) = (0.0, bound);
    if tails.delta(0.0).is_some_and(|found| found <= delta) {
        return Ok(0.0);
    }
    while high - low > 1e-13 * high {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        match tails.delta(middle) {
            Some(found) if found <= delta => high = middle,
            _ => low = middle,
        }
    }
    Ok(high)
}

fn unknown(sigma: f64) -> Error {
    Error::parameter("sigma", sigma, "too little for what one person moves; take more noise")
}

/// Masses of a discrete Gaussian, added up from above.
pub(crate) struct Tails {
    sigma: f64,
    steps: f64,
    /// Entry `x` is the sum of all weights from `x` on.
    sums: Vec<f64>,
    total: f64,
}

impl Tails {
    pub(crate) fn new(sigma: f64, steps: f64) -> Self {
        // Beyond, weights are no doubles any more.
        let last = (39.0 * sigma) as usize + 2;
        let (mut sums, mut sum, mut carried) = (vec![0.0; last + 1], 0.0_f64, 0.0_f64);
        for x in (0..=last).rev() {
            let scaled = x as f64 / sigma;
            let weight = libm::exp(-0.5 * scaled * scaled);
            // Compensated: what the sum cannot hold is carried along.
            let grown = sum + weight;
            carried += if sum > weight { (sum - grown) + weight } else { (weight - grown) + sum };
            sum = grown;
            sums[x] = sum + carried;
        }
        let total = sums[0] + sums[1];
        Self { sigma, steps, sums, total }
    }

    /// The weight of everything from `x` on, a whole number.
    fn from(&self, x: f64) -> f64 {
        let at = |x: f64| self.sums.get(x as usize).copied().unwrap_or(0.0);
        if x > 0.0 { at(x) } else { self.total - at(1.0 - x) }
    }

    /// `delta` at `epsilon`, from above; none where it is no number.
    pub(crate) fn delta(&self, epsilon: f64) -> Option<f64> {
        let first = (self.sigma * self.sigma * epsilon / self.steps + 0.5 * self.steps).ceil();
        let (moved, own) = (self.from(first - self.steps), self.from(first));
        let own = if own > 0.0 { libm::exp(epsilon) * own } else { 0.0 };
        // The threshold itself is rounded: what is won or lost there is next to nothing, and counted.
        let off = OFF + 8.0 * UNIT * (epsilon + (self.steps / self.sigma).powi(2));
        let found = (moved * (1.0 + off) - own * (1.0 - off)) / (self.total * (1.0 - off));
        found.is_finite().then_some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Accountant, Adjacency, Mechanism};

    #[test]
    fn it_is_what_the_accountant_says() {
        for (sigma, steps) in
            [(0.3, 1), (0.7, 1), (1.0, 3), (4.0, 2), (17.3, 40), (300.0, 100), (900.0, 4000)]
        {
            let mut accountant = Accountant::new(Adjacency::AddRemove);
            accountant.compose(Mechanism::discrete_gaussian(sigma, steps).unwrap(), 1).unwrap();
            for delta in [0.1, 1e-2, 1e-5, 1e-9, 1e-12] {
                let (found, known) =
                    (epsilon(sigma, steps, delta).unwrap(), accountant.epsilon(delta).unwrap());
                assert!(
                    found >= known.lower * (1.0 - 1e-12),
                    "{sigma} {steps} {delta}: {found} below {known:?}"
                );
                assert!(
                    found <= known.upper * (1.0 + 1e-6) + 1e-9,
                    "{sigma} {steps} {delta}: {found} above {known:?}"
                );
            }
        }
    }

    #[test]
    fn nothing_is_lost_where_delta_pays_for_all() {
        assert_eq!(epsilon(1.0, 1, 0.9).unwrap(), 0.0);
        assert!(epsilon(1e5, 1, 1e-5).unwrap() < 1e-4);
        // Further apart than doubles reach: moments tell.
        assert!(epsilon(1.0, 1000, 1e-5).unwrap() > 5e5);
    }
}
