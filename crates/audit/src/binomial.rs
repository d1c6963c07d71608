//! Binomial tails with a certified error, in the saddle-point form of Loader (2000).
//!
//! Logarithms of factorials would lose as many digits as `ln n!` has before the point; the deviance form keeps the
//! error near a few units of round-off times the distance to the mean, and says how large it is.

use sottovoce_privacy::Interval;

use crate::UNIT;

/// The law of the number of successes in `trials` independent trials.
///
/// Both probabilities are kept, each to full relative precision, since either may be tiny.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Binomial {
    trials: u64,
    success: f64,
    failure: f64,
}

/// A positive number, and a bound on its relative error (or on the absolute error of its logarithm).
pub(crate) type Approximate = (f64, f64);

impl Binomial {
    /// Success with probability `1 - failure`, `failure` in (0, 1).
    pub(crate) fn of_failure(trials: u64, failure: f64) -> Self {
        Self { trials, success: 1.0 - failure, failure }
    }

    /// Success with odds `e^epsilon`, for `epsilon` up to 700.
    pub(crate) fn of_log_odds(trials: u64, epsilon: f64) -> Self {
        Self { trials, success: 1.0 / (1.0 + (-epsilon).exp()), failure: 1.0 / (1.0 + epsilon.exp()) }
    }

    /// The law of the number of failures.
    pub(crate) fn reflected(self) -> Self {
        Self { trials: self.trials, success: self.failure, failure: self.success }
    }

    pub(crate) fn mean(self) -> f64 {
        self.trials as f64 * self.success
    }

    pub(crate) fn odds(self) -> f64 {
        self.success / self.failure
    }

    /// `ln P[W = k]` for `k <= trials`, with its absolute error.
    pub(crate) fn ln_mass(self, k: u64) -> Approximate {
        if k == self.trials && k > 0 {
            return self.reflected().ln_mass(0);
        }
        let n = self.trials as f64;
        if k == 0 {
            let ln_failure = if self.success < 0.5 { (-self.success).ln_1p() } else { self.failure.ln() };
            return (n * ln_failure, 16.0 * UNIT * (n * ln_failure).abs());
        }
        let (hits, misses) = (k as f64, (self.trials - k) as f64);
        let (first, first_error) = deviance(hits, n * self.success);
        let (second, second_error) = deviance(misses, n * self.failure);
        let correction = stirling(self.trials) - stirling(k) - stirling(self.trials - k);
        let width = 0.5 * (n / (2.0 * std::f64::consts::PI * hits * misses)).ln();
        let error = 16.0 + 4.0 * (first + second + width.abs());
        (correction + width - first - second, first_error + second_error + error * UNIT)
    }

    /// `P[W >= k] / P[W = k]` for `k` not below the mean, with its relative error.
    pub(crate) fn hazard_sum(self, k: u64) -> Approximate {
        let odds = self.odds();
        let (mut term, mut sum, mut at) = (1.0, 1.0, k);
        let ratio = |at: u64| (self.trials - at) as f64 / (at + 1) as f64 * odds;
        while at < self.trials && term > 0.25 * UNIT * sum {
            term *= ratio(at);
            sum += term;
            at += 1;
        }
        // Ratios fall as `at` grows, and above the mean they are below one: a geometric series bounds the rest.
        let next = ratio(at);
        let rest = if next < 1.0 { term * next / (1.0 - next) / sum } else { 0.0 };
        (sum, rest + 16.0 * UNIT * (at - k + 1) as f64)
    }

    /// `P[W >= k]`, certified.
    pub(crate) fn at_least(self, k: u64) -> Interval {
        if k == 0 {
            return Interval::of_probability(1.0, 1.0);
        }
        if k > self.trials {
            return Interval::ZERO;
        }
        if k as f64 >= self.mean() {
            return self.far_tail(k);
        }
        let below = self.reflected().far_tail(self.trials - k + 1);
        Interval::of_probability(1.0 - below.upper - UNIT, 1.0 - below.lower + UNIT)
    }

    /// `P[W >= k]` for `k` not below the mean, where no digits cancel.
    fn far_tail(self, k: u64) -> Interval {
        let ((ln_mass, ln_error), (sum, sum_error)) = (self.ln_mass(k), self.hazard_sum(k));
        let (tail, error) = (ln_mass.exp() * sum, 1.01 * (ln_error + sum_error) + 8.0 * UNIT);
        // The absolute allowance is for results that underflow.
        let (lower, upper) = (tail * (1.0 - error) - 1e-300, tail * (1.0 + error) + 1e-300);
        Interval::of_probability(lower, upper)
    }
}

/// `x ln(x / mean) + mean - x >= 0` for positive arguments, with its absolute error; `mean` may itself be wrong by eight
/// round-offs, which moves the deviance by as many times the distance `|x - mean|`.
pub(crate) fn deviance(x: f64, mean: f64) -> Approximate {
    let distance = x - mean;
    if distance.abs() >= 0.1 * (x + mean) {
        let ln_term = x * (x / mean).ln();
        return (ln_term - distance, 16.0 * UNIT * (ln_term.abs() + x + mean));
    }
    // With t = (x - mean) / (x + mean): ln(x / mean) = 2 (t + t³/3 + t⁵/5 + ...), and the leading part cancels exactly.
    let t = distance / (x + mean);
    let (mut sum, mut term) = (distance * t, 2.0 * x * t);
    for j in 1..=10 {
        term *= t * t;
        sum += term / f64::from(2 * j + 1);
    }
    (sum, UNIT * (12.0 * distance.abs() + 24.0 * sum))
}

/// `ln n! - ln(sqrt(2 pi n) (n/e)^n)`, to less than a round-off of one (0 for n = 0, by the convention of the masses).
fn stirling(n: u64) -> f64 {
    if let Some(&known) = usize::try_from(n).ok().and_then(|n| STIRLING.get(n)) {
        return known;
    }
    let x = n as f64;
    let y = 1.0 / (x * x);
    (1.0 / 12.0 - y * (1.0 / 360.0 - y * (1.0 / 1260.0 - y * (1.0 / 1680.0 - y / 1188.0)))) / x
}

/// Values of [`stirling`] where its series is not yet accurate enough.
const STIRLING: [f64; 16] = [
    0.0,
    0.081_061_466_795_327_26,
    0.041_340_695_955_409_3,
    0.027_677_925_684_998_34,
    0.020_790_672_103_765_093,
    0.016_644_691_189_821_193,
    0.013_876_128_823_070_748,
    0.011_896_709_945_891_77,
    0.010_411_265_261_972_096,
    0.009_255_462_182_712_733,
    0.008_330_563_433_362_87,
    0.007_573_675_487_951_84,
    0.006_942_840_107_209_53,
    0.006_408_994_188_004_207,
    0.005_951_370_112_758_848,
    0.005_554_733_551_962_801,
];

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn tails_contain_reference_digits() {
        // Computed with 40 digits; the probabilities are exact in binary.
        for (n, k, success, want) in [
            (10, 3, 0.5, 0.945_312_5),
            (100, 99, 0.75, 1.101_139_416_980_983e-11),
            (1000, 600, 0.5, 1.364_232_078_033_009_2e-10),
            (1000, 3, 0.001_953_125, 0.310_625_761_570_567_65),
            (5000, 100, 0.031_25, 0.999_999_570_014_961_2),
            (2000, 900, 0.5, 0.999_996_571_916_42),
        ] {
            let tail = Binomial::of_failure(n, 1.0 - success).at_least(k);
            assert!(tail.contains(want) && tail.width() < 1e-11 * want, "{n} {k} {success}: {tail:?}");
        }
    }

    #[test]
    fn underflow_stays_on_the_safe_side() {
        let tail = Binomial::of_failure(5000, 0.5).at_least(4999);
        assert!(tail.lower == 0.0 && tail.upper > 0.0 && tail.upper < 1e-299);
    }

    proptest! {
        #[test]
        fn tails_contain_plain_sums(n in 1u64..60, k in 0u64..60, success in 0.01f64..0.99) {
            // Pascal's triangle is a sum of positive terms: its error is a few round-offs for each row.
            let mut law = vec![1.0];
            for _ in 0..n {
                let mut next = vec![0.0; law.len() + 1];
                for (i, mass) in law.iter().enumerate() {
                    next[i] += mass * (1.0 - success);
                    next[i + 1] += mass * success;
                }
                law = next;
            }
            let want: f64 = law.iter().skip(k as usize).sum();
            let tail = Binomial::of_failure(n, 1.0 - success).at_least(k);
            let allowance = 1e-13 * want;
            prop_assert!(tail.lower <= want + allowance && want - allowance <= tail.upper, "{tail:?} {want}");
            prop_assert!(tail.width() <= 1e-12);
        }
    }
}
