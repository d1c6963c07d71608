//! The law of a Gaussian whose centre is drawn, against that at 0.
//!
//! The loss at the outcome `x` is `ln(p_0 + sum p_i e^(c_i x - c_i²/2))`, in units of the noise; it grows with `x`, so its
//! tails are those of Gaussians beyond one outcome. That outcome is found by Newton's method on the logarithm of the sum
//! without `p_0`: a convex function whose slope lies between the least and the largest `c_i`, so that from wherever it
//! starts it comes down to the root after one step (`docs/theorems/mixtures.md`).

use super::law::Chances;
use crate::Mixture;
use crate::interval::largest;
use crate::special::{UNIT, ln_normal_above, normal_above, tail_error};

/// Entries of the table from which a search starts.
const TABLE: usize = 2048;
/// Most steps of a search; three or four are usual.
const STEPS: usize = 200;

/// Gaussians around several centres (in units of the noise), and around 0.
#[derive(Debug, Clone)]
pub(crate) struct Bells {
    /// The probability of 0.
    zero: f64,
    /// Its complement, added up from the others.
    present: f64,
    parts: Vec<Part>,
    /// Logarithms of sums at evenly spaced outcomes, for a first guess.
    table: Vec<f64>,
    first: f64,
    step: f64,
}

#[derive(Debug, Clone, Copy)]
struct Part {
    centre: f64,
    probability: f64,
    /// `ln p - c²/2`.
    ln_weight: f64,
}

impl Bells {
    pub(super) fn new(mixture: &Mixture) -> Self {
        let part = |&(amount, probability): &(f64, f64)| {
            let centre = amount / mixture.sigma();
            Part { centre, probability, ln_weight: probability.ln() - 0.5 * centre * centre }
        };
        let parts: Vec<Part> = mixture.parts().iter().filter(|(amount, _)| *amount > 0.0).map(part).collect();
        let zero = mixture.parts().iter().filter(|(amount, _)| *amount == 0.0).map(|part| part.1).sum();
        let largest = mixture.largest();
        let (first, last) = (-12.0, largest + 12.0);
        let mut bells = Self {
            zero,
            present: parts.iter().map(|part| part.probability).sum(),
            parts,
            table: Vec::new(),
            first,
            step: (last - first) / TABLE as f64,
        };
        bells.table = (0..=TABLE).map(|i| bells.ln_sum(first + i as f64 * bells.step).0).collect();
        bells
    }

    /// The probability that the contribution is not 0.
    pub(super) fn present(&self) -> f64 {
        if self.present < 1.0 { self.present } else { 1.0 }
    }

    /// The smallest loss.
    pub(super) fn lowest(&self) -> f64 {
        self.zero.ln()
    }

    /// The largest centre.
    fn last(&self) -> f64 {
        self.parts.last().map_or(0.0, |part| part.centre)
    }

    /// `ln sum p_i e^(c_i x - c_i²/2)` over the centres that are not 0, and its slope.
    fn ln_sum(&self, x: f64) -> (f64, f64) {
        let exponent = |part: &Part| part.ln_weight + part.centre * x;
        let top = largest(f64::NEG_INFINITY, self.parts.iter().map(exponent));
        let (mut sum, mut slope) = (0.0, 0.0);
        for part in &self.parts {
            let weight = (exponent(part) - top).exp();
            sum += weight;
            slope += weight * part.centre;
        }
        (top + sum.ln(), slope / sum)
    }

    /// `ln(e^y - p_0)`: what the others must add up to; minus infinity where every loss exceeds `y`.
    fn ln_needed(&self, y: f64) -> f64 {
        if y > 30.0 {
            return y + (-self.zero * (-y).exp()).ln_1p();
        }
        let needed = if y < -0.7 { y.exp() - self.zero } else { y.exp_m1() + self.present };
        if needed <= 0.0 { f64::NEG_INFINITY } else { needed.ln() }
    }

    /// The outcome at which the others add up to `e^target`.
    fn outcome(&self, target: f64) -> f64 {
        let index = self.table.partition_point(|value| *value < target);
        let mut x = match (index.checked_sub(1), self.table.get(index)) {
            (Some(before), Some(&high)) => {
                let low = self.table[before];
                self.first + (before as f64 + (target - low) / (high - low)) * self.step
            }
            _ => self.first + index as f64 * self.step,
        };
        // After the first step x only falls; once it no longer does, rounding has been reached.
        for step in 0..STEPS {
            let (value, slope) = self.ln_sum(x);
            let next = x - (value - target) / slope;
            if !next.is_finite() || (step > 0 && next >= x) || (next - x).abs() <= 2.0 * UNIT * x.abs() {
                break;
            }
            x = next;
        }
        x
    }

    pub(super) fn split(&self, y: f64) -> (Chances, Chances) {
        let target = self.ln_needed(y);
        if target == f64::NEG_INFINITY {
            return (Chances::all(y), Chances::NONE);
        }
        let x = self.outcome(target);
        let sum = |tail: &dyn Fn(f64) -> f64| {
            self.parts.iter().map(|part| part.probability * tail(part.centre)).sum::<f64>()
        };
        let up = self.zero * normal_above(x) + sum(&|centre| normal_above(x - centre));
        let down = self.zero * normal_above(-x) + sum(&|centre| normal_above(centre - x));
        let chances = |p: f64, x: f64| Chances { p, q: normal_above(x), lifted: lifted(y, x) };
        (chances(up, x), chances(down, -x))
    }

    /// The curve at `y >= 0` when the record is removed, and its error: `sum p_i P[N > x - c_i] - (e^y - p_0) P[N > x]`.
    pub(super) fn removed(&self, y: f64) -> (f64, f64) {
        let target = self.ln_needed(y);
        let x = self.outcome(target);
        let gain: f64 = self.parts.iter().map(|part| part.probability * normal_above(x - part.centre)).sum();
        let cost = lifted(target, x);
        let error = self.sums() + 2.0 * tail_error(x);
        (gain - cost, error * (gain + cost * (1.0 + y + target.abs())))
    }

    /// The same when it is added: `(1 - e^y p_0) P[N < x] - e^y sum p_i P[N < x - c_i]`.
    pub(super) fn added(&self, y: f64) -> (f64, f64) {
        let target = self.ln_needed(-y);
        if target == f64::NEG_INFINITY {
            return (0.0, (16.0 * UNIT + self.sums()) * self.present);
        }
        let x = self.outcome(target);
        let gain = lifted(y + target, -x);
        let each = |part: &Part| lifted(y + part.probability.ln(), part.centre - x);
        let cost: f64 = self.parts.iter().map(each).sum();
        let error = self.sums() + 2.0 * tail_error(self.last() - x);
        // Near the largest loss `1 - e^y p_0` itself is a small difference.
        let room = (16.0 * UNIT + self.sums()) * self.present;
        (gain - cost, room + error * (gain + cost) * (1.0 + y + target.abs()))
    }

    /// How far rounding may move a threshold.
    pub(super) fn slip(&self, y: f64) -> f64 {
        let weights = self.parts.iter().map(|part| part.ln_weight.abs());
        let heaviest = largest(self.last().powi(2), weights);
        64.0 * UNIT * (2.0 * y + heaviest) + self.sums()
    }

    /// Relative error of a sum over all parts.
    fn sums(&self) -> f64 {
        (64.0 + 2.0 * self.parts.len() as f64) * UNIT
    }
}

/// `e^y P[N > x]`, in logarithms where either factor leaves the range of doubles.
fn lifted(y: f64, x: f64) -> f64 {
    let tail = normal_above(x);
    if y < 300.0 && tail > 1e-250 { y.exp() * tail } else { (y + ln_normal_above(x)).exp() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The outcome found has the loss asked for, over many orders of magnitude.
    #[test]
    fn outcomes_have_the_loss_they_were_found_for() {
        for sigma in [0.05, 0.3, 1.0, 20.0, 1e4] {
            for probabilities in
                [[0.2, 0.6, 0.2], [0.0, 0.5, 0.5], [1.0 - 2e-7, 1e-7, 1e-7], [0.5, 0.5 - 1e-9, 1e-9]]
            {
                let mixture = Mixture::new(sigma, &[0.0, 0.5, 2.0], &probabilities).unwrap();
                let bells = Bells::new(&mixture);
                for i in -200..=200 {
                    let y = f64::from(i).powi(3) * 1e-5;
                    let target = bells.ln_needed(y);
                    if target == f64::NEG_INFINITY {
                        continue;
                    }
                    let found = bells.ln_sum(bells.outcome(target)).0;
                    let scale = 1.0 + target.abs() + bells.last().powi(2);
                    assert!(
                        (found - target).abs() <= 1e-13 * scale,
                        "{sigma} {probabilities:?} {y}: {found} {target}"
                    );
                }
            }
        }
    }

    #[test]
    fn both_curves_are_differences_of_tails() {
        let mixture = Mixture::new(1.0, &[0.0, 1.0, 2.0], &[0.2, 0.6, 0.2]).unwrap();
        let bells = Bells::new(&mixture);
        // By another accountant, and by numerical search: 0.15768284088654105 removed, 0.036691263832032806 added.
        let (removed, added) = (bells.removed(1.0), bells.added(1.0));
        assert!((removed.0 - 0.157_682_840_886_541_05).abs() < 1e-13 && removed.1 < 1e-12, "{removed:?}");
        assert!((added.0 - 0.036_691_263_832_032_806).abs() < 1e-13 && added.1 < 1e-12, "{added:?}");
    }
}
