//! Composing `(epsilon, delta)` guarantees of which nothing else is known (Kairouz, Oh, Viswanath 2015).
//!
//! The worst `(epsilon, delta)`-DP mechanism reveals everything with probability `delta` and is randomised response
//! otherwise, so the optimal composition of `k` equal guarantees is a binomial sum, taken here from its dominant term in
//! logarithms. For unequal ones the exact answer is hard (#P-complete); [`heterogeneous`] gives the closed bounds.

use crate::gdp::VANISHING;
use crate::interval::{larger, probability_above, probability_below, smaller, smallest, within};
use crate::mechanism::{check_delta, check_epsilon};
use crate::special::{Interval, UNIT, crossing};
use crate::{Error, Result, require};

/// Most releases.
const MOST: u64 = 1_000_000_000;

/// The exact delta at `total_epsilon` of `count` releases that are each `(epsilon, delta)`-DP.
pub fn composed_delta(epsilon: f64, delta: f64, count: u64, total_epsilon: f64) -> Result<Interval> {
    check(epsilon, delta, count)?;
    check_epsilon(total_epsilon)?;
    let (lower, upper) = delta_at(epsilon, delta, count, total_epsilon);
    Interval::new(lower, upper)
}

/// The exact epsilon at `total_delta` of `count` releases that are each `(epsilon, delta)`-DP.
///
/// ```
/// use sottovoce_privacy::kov;
/// let total = kov::composed_epsilon(0.1, 0.0, 1_000_000, 1e-6)?;
/// assert!((total.upper - 5469.5718).abs() < 1e-3);          // not 100,000
/// # Ok::<(), sottovoce_privacy::Error>(())
/// ```
pub fn composed_epsilon(epsilon: f64, delta: f64, count: u64, total_delta: f64) -> Result<Interval> {
    check(epsilon, delta, count)?;
    check_delta(total_delta)?;
    // Rounded up: beyond it nothing is left but the releases' own deltas.
    let top = epsilon * count as f64 * (1.0 + 4.0 * UNIT);
    require(top.is_finite(), "epsilon", epsilon, "give one whose multiples are finite")?;
    let curve = |total: f64| delta_at(epsilon, delta, count, total);
    let least = curve(top).1;
    if least > total_delta {
        let remedy = format!("give more than {least:e}, what the releases' own deltas add up to");
        return Err(Error::parameter("total-delta", total_delta, remedy));
    }
    if curve(0.0).1 <= total_delta {
        return Ok(Interval::ZERO);
    }
    let upper = crossing((0.0, top), total_delta, 1e-13, |total| curve(total).1).1;
    let lower = if curve(0.0).0 <= total_delta {
        0.0
    } else {
        crossing((0.0, top), total_delta, 1e-13, |total| curve(total).0).0
    };
    Interval::of_rounded(lower, upper)
}

fn check(epsilon: f64, delta: f64, count: u64) -> Result<()> {
    check_epsilon(epsilon)?;
    require((0.0..1.0).contains(&delta), "delta", delta, "give a probability of at least 0 and below 1")?;
    require(count != 0 && count <= MOST, "steps", count, format!("give a number from 1 to {MOST}"))
}

/// `1 - (1-delta)^k (1 - delta')` with `delta'` that of `k` randomised responses.
fn delta_at(epsilon: f64, delta: f64, count: u64, total: f64) -> (f64, f64) {
    let exponent = count as f64 * (-delta).ln_1p();
    let (kept, revealed) = (exponent.exp(), -exponent.exp_m1());
    let (lower, upper) = responses_at(epsilon, count, total);
    let error = (8.0 - 2.0 * exponent) * UNIT * (revealed + kept * upper);
    (probability_below(revealed + kept * lower - error), probability_above(revealed + kept * upper + error))
}

/// Delta of `k` randomised responses: the sum over `j` lies of `C(k,j) p^(k-j) q^j (1 - e^(total - (k-2j) epsilon))+`.
fn responses_at(epsilon: f64, count: u64, total: f64) -> (f64, f64) {
    let k = count as f64;
    if total >= k * epsilon * (1.0 + 2.0 * UNIT) {
        return (0.0, 0.0);
    }
    let (ln_p, ln_q) = (-(-epsilon).exp().ln_1p(), -epsilon - (-epsilon).exp().ln_1p());
    // The most lies for which the loss still exceeds the total.
    let most = within(((k - total / epsilon) / 2.0).ceil() - 1.0, 0.0, k);
    let anchor = smaller(most, (k * ln_q.exp()).floor());
    let ln_term = |j: f64| ln_choose(k, j) + (k - j) * ln_p + j * ln_q;
    let payoff = |j: f64| -smaller(total - (k - 2.0 * j) * epsilon, 0.0).exp_m1();
    // From the heaviest admissible term, both ways, until terms no longer count.
    let ratio = epsilon.exp();
    let (mut sum, mut weights, mut weight, mut j) = (0.0, 0.0, 1.0, anchor);
    while j >= 0.0 && weight > 1e-23 * sum {
        sum += weight * payoff(j);
        weights += weight;
        weight *= ratio * j / (k - j + 1.0);
        j -= 1.0;
    }
    (weight, j) = (1.0, anchor);
    while j < most && weight > 1e-23 * sum {
        weight *= (k - j) / ((j + 1.0) * ratio);
        j += 1.0;
        sum += weight * payoff(j);
        weights += weight;
    }
    let scale = ln_term(anchor);
    // Logarithms of factorials are large numbers; their rounding is what limits the accuracy at large k.
    let error = UNIT * (64.0 + 6.0 * libm::lgamma(k + 1.0) + 4.0 * k * epsilon + 40.0 * k.sqrt());
    // A payoff is a difference of losses, off by their rounding whatever its own size; so may be the last one admitted.
    let of_payoffs = 8.0 * UNIT * (total + k * epsilon) * weights;
    let value = |sum: f64| if sum > 0.0 { (scale + sum.ln()).exp() } else { 0.0 };
    (
        probability_below(value(larger(sum - of_payoffs, 0.0)) * (1.0 - error)),
        probability_above(value(sum + of_payoffs) * (1.0 + error + 1e-15) + VANISHING),
    )
}

fn ln_choose(n: f64, k: f64) -> f64 {
    libm::lgamma(n + 1.0) - libm::lgamma(k + 1.0) - libm::lgamma(n - k + 1.0)
}

/// The three bounds on a composition of unequal pure guarantees, and the best of them (P2, Theorem 1).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Heterogeneous {
    /// The plain sum.
    pub naive: f64,
    /// The form with `ln(e + sqrt(Σ epsilon²)/delta)`.
    pub moderate: f64,
    /// The form with `ln(1/delta)`.
    pub small_delta: f64,
}

impl Heterogeneous {
    /// The smallest of the three.
    pub fn total(&self) -> f64 {
        smallest(self.naive, [self.moderate, self.small_delta])
    }
}

/// Bounds the total epsilon, at `total_delta`, of releases with the given epsilons (each pure). At delta 0 only the sum does.
///
/// ```
/// use sottovoce_privacy::kov::heterogeneous;
/// let bounds = heterogeneous(&[0.0690171500641; 17], (-5.0f64).exp())?;
/// assert!((bounds.total() - 0.8255402545389874).abs() < 1e-10);
/// # Ok::<(), sottovoce_privacy::Error>(())
/// ```
pub fn heterogeneous(epsilons: &[f64], total_delta: f64) -> Result<Heterogeneous> {
    if total_delta != 0.0 {
        check_delta(total_delta)?;
    }
    epsilons.iter().try_for_each(|&epsilon| check_epsilon(epsilon))?;
    // Rounded up, as every bound here.
    let up = 1.0 + (16.0 + epsilons.len() as f64) * UNIT;
    let naive = epsilons.iter().sum::<f64>() * up;
    if total_delta == 0.0 {
        return Ok(Heterogeneous { naive, moderate: f64::INFINITY, small_delta: f64::INFINITY });
    }
    let drift: f64 = epsilons.iter().map(|epsilon| epsilon * (epsilon / 2.0).tanh()).sum();
    let squares: f64 = epsilons.iter().map(|epsilon| epsilon * epsilon).sum();
    let spread = |ln: f64| (drift + (2.0 * squares * ln).sqrt()) * up;
    Ok(Heterogeneous {
        naive,
        moderate: spread((std::f64::consts::E + squares.sqrt() / total_delta).ln()),
        small_delta: spread(-total_delta.ln()),
    })
}

/// The total delta of releases that are each private up to a delta of their own, at the epsilon that [`heterogeneous`] has with `slack` for the
/// epsilons alone: `1 - (1 - slack) prod (1 - delta_k)`, rounded up (P2, Remark 4).
///
/// ```
/// use sottovoce_privacy::kov::total_delta;
/// assert!((total_delta(&[0.01, 0.01], 0.1)? - (1.0 - 0.9 * 0.99 * 0.99)).abs() < 1e-15);
/// # Ok::<(), sottovoce_privacy::Error>(())
/// ```
pub fn total_delta(deltas: &[f64], slack: f64) -> Result<f64> {
    let mut ln = 0.0;
    for &delta in deltas.iter().chain(std::iter::once(&slack)) {
        require((0.0..1.0).contains(&delta), "delta", delta, "give a probability of at least 0 and below 1")?;
        ln += (-delta).ln_1p();
    }
    Ok(probability_above(-ln.exp_m1() * (1.0 + (16.0 + 2.0 * deltas.len() as f64) * UNIT)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The sum itself, term by term, for small `k`.
    fn plain(epsilon: f64, count: u64, total: f64) -> f64 {
        let (p, q) = (epsilon.exp() / (1.0 + epsilon.exp()), 1.0 / (1.0 + epsilon.exp()));
        (0..=count)
            .map(|j| {
                let loss = (count as f64 - 2.0 * j as f64) * epsilon;
                let choose: f64 = (0..j).map(|i| (count - i) as f64 / (i + 1) as f64).product();
                choose
                    * p.powi((count - j) as i32)
                    * q.powi(j as i32)
                    * larger(1.0 - (total - loss).exp(), 0.0)
            })
            .sum()
    }

    proptest! {
        #[test]
        fn the_sum_from_its_heaviest_term_is_the_sum(epsilon in 0.01f64..3.0, count in 1u64..60, share in 0.0f64..1.0) {
            let total = share * epsilon * count as f64;
            let ((lower, upper), truth) = (responses_at(epsilon, count, total), plain(epsilon, count, total));
            prop_assert!(lower <= truth * (1.0 + 1e-11) && truth * (1.0 - 1e-11) <= upper, "{lower} {upper} {truth}");
            prop_assert!(upper - lower <= 1e-10 * truth + 1e-300 || truth < 1e-13 * upper, "{lower} {upper} {truth}");
        }

        #[test]
        fn more_releases_lose_more(epsilon in 0.001f64..1.0, count in 1u64..100_000, ln_delta in -30.0f64..-2.0) {
            let one = composed_epsilon(epsilon, 0.0, count, ln_delta.exp()).unwrap();
            let two = composed_epsilon(epsilon, 0.0, count + 1, ln_delta.exp()).unwrap();
            prop_assert!(one.lower <= two.upper && two.upper <= epsilon * (count + 1) as f64 * (1.0 + 1e-12));
        }
    }

    #[test]
    fn a_million_releases_are_no_trouble() {
        // The full sum of a million terms, by scipy's binomial logarithms (themselves good to some 1e-9).
        for (epsilon, delta, truth) in [(0.1, 1e-6, 5469.571839798018), (0.001, 1e-5, 4.377171092397433)] {
            let total = composed_epsilon(epsilon, 0.0, 1_000_000, delta).unwrap();
            assert!(
                (total.upper / truth - 1.0).abs() < 1e-8 && total.width() < 1e-8 * truth,
                "{total:?} {truth}"
            );
        }
    }

    /// Just below the largest total the payoff is the difference of two nearly equal losses.
    #[test]
    fn the_rounding_of_losses_is_charged_where_they_nearly_cancel() {
        for (epsilon, count) in [(0.1, 3), (0.7, 10), (1.0 / 3.0, 30)] {
            let top = epsilon * count as f64;
            for gap in [1e-15, 1e-13, 1e-11] {
                let (lower, upper) = responses_at(epsilon, count, top * (1.0 - gap));
                let mass = (-(count as f64) * (-epsilon).exp().ln_1p()).exp();
                let truth = mass * top * gap;
                let doubt = mass * top * 4.0 * UNIT;
                assert!(
                    lower <= truth + doubt && truth - doubt <= upper,
                    "{epsilon} {count} {gap}: {lower} {upper} {truth}"
                );
                assert!(upper > 0.0);
            }
        }
    }

    #[test]
    fn deltas_of_the_parts_are_a_floor() {
        assert!(composed_epsilon(0.1, 1e-6, 100, 1e-5).is_err());
        assert!(composed_epsilon(0.1, 1e-6, 100, 2e-4).is_ok());
        assert!(composed_epsilon(0.1, 0.0, 0, 1e-5).is_err());
        assert!(composed_delta(-0.1, 0.0, 1, 0.0).is_err());
        assert!(heterogeneous(&[0.1, f64::NAN], 1e-5).is_err());
        assert!(heterogeneous(&[0.1], -1e-5).is_err() && total_delta(&[0.1, f64::NAN], 0.0).is_err());
        // At delta 0 nothing but the sum is left, also of nothing.
        let sum = heterogeneous(&[0.25, 0.5], 0.0).unwrap().total();
        assert!((0.75..0.75 + 1e-14).contains(&sum));
        assert_eq!(heterogeneous(&[], 0.0).unwrap().total(), 0.0);
    }
}
