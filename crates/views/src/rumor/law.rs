//! A privacy loss of three values, `+l`, `0` and `-l`, and its composition.
//!
//! A rumour that is `(0, delta)`- and `l`-private, whichever two peers are compared, loses no more than this law: with probabilities
//! `p`, `1 - p - m` and `m`, where `p = e^l m` and `p - m = delta`. Its curve is the chord from `delta` at `epsilon = 0` to 0 at `l`. Of a
//! walk the law is exact: `l = ln(f+1)`, `p = (f+1)/n`, `m = 1/n`. Sums of several such losses lie on the multiples of `l`.

/// Smaller than the error of any one operation on numbers up to one.
const UNIT: f64 = f64::EPSILON;

/// The law.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ThreePoints {
    delta: f64,
    loss: f64,
}

impl ThreePoints {
    /// From the delta at 0 and the largest loss (which may be infinite). What is pure is also `(0, tanh(loss/2))`-private.
    pub(super) fn new(delta: f64, loss: f64) -> Self {
        Self { delta: delta.min((loss / 2.0).tanh() * (1.0 + 4.0 * UNIT)), loss }
    }

    /// The delta at `epsilon` of so many independent losses, never too small.
    pub(super) fn delta(&self, epsilon: f64, count: u32) -> f64 {
        if self.delta == 0.0 || self.payoff(epsilon, f64::from(count)) == 0.0 {
            return 0.0;
        }
        let sums = self.sums(count);
        let beyond = sums.iter().skip(count as usize + 1).zip(1..);
        let delta: f64 = beyond.map(|(mass, steps)| mass * self.payoff(epsilon, f64::from(steps))).sum();
        // Each convolution rounds four times, each term of the sum twice; the last term is for masses too small for a double.
        (delta * (1.0 + UNIT * (8.0 * f64::from(count) + 32.0)) + f64::MIN_POSITIVE).min(1.0)
    }

    /// `1 - e^(epsilon - steps loss)` where that is positive, with the rounding of the exponent added.
    fn payoff(&self, epsilon: f64, steps: f64) -> f64 {
        if self.loss.is_infinite() {
            return 1.0;
        }
        let loss = steps * self.loss;
        let rounding = 4.0 * UNIT * (epsilon + loss);
        if epsilon >= loss + rounding { 0.0 } else { -(epsilon - loss - rounding).exp_m1() }
    }

    /// Probabilities of the sums `-count..=count`, in units of the loss.
    fn sums(&self, count: u32) -> Vec<f64> {
        let minus = self.delta / self.loss.exp_m1();
        let plus = self.delta + minus;
        let zero = (1.0 - plus - minus).max(0.0);
        let mut sums = vec![0.0; 2 * count as usize + 1];
        let middle = count as usize;
        sums[middle] = 1.0;
        for step in 0..middle {
            let (mut before, mut here) = (0.0, 0.0);
            for i in middle - step - 1..=middle + step + 1 {
                let after = if i == middle + step + 1 { 0.0 } else { sums[i + 1] };
                let next = before * plus + here * zero + after * minus;
                (before, here) = (here, after);
                sums[i] = next;
            }
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walk(n: f64, f: f64) -> ThreePoints {
        ThreePoints::new(f / n, f.ln_1p())
    }

    #[test]
    fn one_loss_has_the_chord_for_its_curve() {
        for epsilon in [0.0, 0.3, 1.0, 2.0, 2.39, 2.4, 5.0] {
            let chord = (11.0 - f64::exp(epsilon)).max(0.0) / 100.0;
            let found = walk(100.0, 10.0).delta(epsilon, 1);
            assert!(found >= chord && found - chord < 1e-15, "{epsilon}: {found} {chord}");
        }
    }

    /// Straight from the definition, all triples of losses.
    fn enumerated(n: f64, f: f64, epsilon: f64, count: u32) -> f64 {
        let points = [((f + 1.0) / n, 1), ((n - f - 2.0) / n, 0), (1.0 / n, -1)];
        (0..3_usize.pow(count))
            .map(|code| {
                let (mut mass, mut sum, mut code) = (1.0, 0, code);
                for _ in 0..count {
                    mass *= points[code % 3].0;
                    sum += points[code % 3].1;
                    code /= 3;
                }
                mass * (1.0 - (epsilon - f64::from(sum) * (f + 1.0).ln()).exp()).max(0.0)
            })
            .sum()
    }

    #[test]
    fn several_losses_are_enumerated_exactly() {
        for count in [2, 3, 6] {
            for (n, f) in [(100.0, 10.0), (12.0, 3.0), (1000.0, 1.0), (5.0, 3.0)] {
                for epsilon in [0.0, 0.5, 1.5, 3.0] {
                    let (found, direct) =
                        (walk(n, f).delta(epsilon, count), enumerated(n, f, epsilon, count));
                    assert!(found >= direct - 1e-16 && found - direct < 1e-13, "{count} {n} {epsilon}");
                }
            }
        }
    }

    #[test]
    fn an_infinite_loss_composes_like_a_catastrophe() {
        let law = ThreePoints::new(0.2, f64::INFINITY);
        for count in [1, 2, 10, 1000] {
            let all = 1.0 - 0.8_f64.powi(count);
            assert!((law.delta(3.0, count as u32) - all).abs() < 1e-12, "{count}");
        }
    }

    #[test]
    fn ten_thousand_losses_are_no_trouble_and_no_probability_gets_lost() {
        let law = walk(1e6, 10.0);
        let sums = law.sums(10_000);
        assert!((sums.iter().sum::<f64>() - 1.0).abs() < 1e-10);
        // Some 0.11 contacts are expected: between one and the union of all.
        let delta = law.delta(0.0, 10_000);
        assert!(delta > 0.09 && delta < 1.0 - (1.0 - 1e-5_f64).powi(10_000), "{delta}");
    }

    #[test]
    fn a_delta_above_what_the_largest_loss_allows_is_cut() {
        let (law, l) = (ThreePoints::new(0.9, 1.0), 1.0_f64);
        assert!((law.delta(0.0, 1) - (l / 2.0).tanh()).abs() < 1e-14);
    }
}
