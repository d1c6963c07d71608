//! Bounds from one training run: many examples flipped in or out at once, a guess about some of them.
//!
//! `m` examples are included independently with probability one half; an attacker who sees the output guesses about at
//! most `r` of them, a number fixed beforehand, and `v` guesses are right. With `W` binomial of `r` trials and odds
//! `e^epsilon`, no `(epsilon, delta)`-private mechanism is guessed right `v` times with more than the p-value's
//! probability. Two p-values are offered: the published one, and the smallest that is true ([`Rule`]).

use serde::Serialize;

use crate::binomial::{Approximate, Binomial};
use crate::{Error, Result, UNIT, check_delta, check_part, check_significance, check_total, last_true};

/// Beyond this epsilon every p-value is 1 to the last digit, whatever the counts.
const EPSILON_TOP: f64 = 64.0;

/// How `delta` enters the p-value. Without `delta` both rules are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Rule {
    /// `P[W >= v] + 2 m delta max_i P[v - i <= W < v] / i` (Steinke, Nasr and Jagielski 2023): comparable with others.
    ///
    /// Where `P[W >= v]` is above one half the formula may fail to be a bound; there the larger p-value of the two rules
    /// is given.
    Published,
    /// `P[W >= v] + m delta P[W >= v] P[W < v] / (v P[W = v])`: some mechanism attains it, so no rule proves more.
    Sharp,
}

/// The counts of a one-run audit.
///
/// ```
/// use sottovoce_audit::{OneRun, Rule};
/// let audit = OneRun::new(5000, 100, 100)?; // 5000 examples, 100 guesses, all of them right
/// let published = audit.epsilon_lower(1e-5, 0.05, Rule::Published)?;
/// let sharp = audit.epsilon_lower(1e-5, 0.05, Rule::Sharp)?;
/// assert!(published > 3.3524 && published < 3.3525);
/// assert!(sharp > 3.48 && sharp < 3.4930); // 3.49296... is what delta = 0 would give
/// # Ok::<(), sottovoce_audit::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct OneRun {
    examples: u64,
    guesses: u64,
    correct: u64,
}

impl OneRun {
    /// `correct` among `guesses` guesses about `examples` examples; no guesses at all prove nothing, but are allowed.
    pub fn new(examples: u64, guesses: u64, correct: u64) -> Result<Self> {
        check_total("examples", examples)?;
        check_part("guesses", guesses, "examples", examples)?;
        check_part("correct", correct, "guesses", guesses)?;
        Ok(Self { examples, guesses, correct })
    }

    /// A number, never too small, that bounds the probability of as many correct guesses about any
    /// `(epsilon, delta)`-private mechanism.
    pub fn p_value(self, epsilon: f64, delta: f64, rule: Rule) -> Result<f64> {
        check_delta(delta)?;
        if !(epsilon >= 0.0 && epsilon.is_finite()) {
            return Err(Error::parameter("epsilon", epsilon, "give a finite number of at least 0"));
        }
        Ok(self.p_value_at(epsilon, delta, rule))
    }

    /// With confidence `1 - significance`, the mechanism is not `(epsilon, delta)`-private below this epsilon.
    pub fn epsilon_lower(self, delta: f64, significance: f64, rule: Rule) -> Result<f64> {
        check_delta(delta)?;
        check_significance(significance)?;
        let rejected = |epsilon: f64| self.p_value_at(epsilon, delta, rule) <= significance;
        Ok(if rejected(0.0) { last_true(0.0, EPSILON_TOP, rejected) } else { 0.0 })
    }

    fn p_value_at(self, epsilon: f64, delta: f64, rule: Rule) -> f64 {
        if self.correct == 0 || epsilon >= EPSILON_TOP {
            return 1.0;
        }
        let law = Binomial::of_log_odds(self.guesses, epsilon);
        let tail = law.at_least(self.correct);
        if delta == 0.0 {
            return tail.upper;
        }
        let up = |(value, error): Approximate| value * (1.0 + 1.01 * error + 8.0 * UNIT);
        let leak = self.examples as f64 * delta;
        let slope = match rule {
            Rule::Sharp => up(self.sharp_slope(law)),
            Rule::Published if tail.upper <= 0.5 => 2.0 * up(self.best_window(law)),
            Rule::Published => up(self.sharp_slope(law)).max(2.0 * up(self.best_window(law))),
        };
        ((tail.upper + leak * slope) * (1.0 + 8.0 * UNIT)).min(1.0)
    }

    /// `P[W >= v] P[W < v] / (v P[W = v])`, written without the mass, which may underflow.
    fn sharp_slope(self, law: Binomial) -> Approximate {
        let (v, tail) = (self.correct, law.at_least(self.correct));
        if v as f64 >= law.mean() {
            let (sum, error) = law.hazard_sum(v);
            return ((1.0 - tail.lower) * sum / v as f64, error);
        }
        // v P[W = v] = (r - v + 1) e^epsilon P[W = v - 1], and P[W < v] / P[W = v - 1] is the sum seen from below.
        let above = self.guesses - v + 1;
        let (sum, error) = law.reflected().hazard_sum(above);
        (tail.upper * sum / (above as f64 * law.odds()), error)
    }

    /// `max_i P[v - i <= W < v] / i`: the best average over masses that end just below `v`.
    ///
    /// The masses are unimodal, so the average rises to one peak: the first fall ends the search.
    fn best_window(self, law: Binomial) -> Approximate {
        let mut at = first_visible(law, self.correct - 1);
        let (ln_mass, ln_error) = law.ln_mass(at);
        let (mut term, mut steps) = (ln_mass.exp(), (self.correct - at) as f64);
        let (mut sum, mut best, odds) = (term, term / steps, law.odds());
        while at > 0 {
            term *= at as f64 / ((self.guesses - at + 1) as f64 * odds);
            at -= 1;
            sum += term;
            steps += 1.0;
            if sum < best * steps {
                break;
            }
            best = sum / steps;
        }
        (best, ln_error + 16.0 * UNIT * steps)
    }
}

/// The largest value up to `from` whose mass does not underflow, where `from` is far above the mean; else `from`.
/// The masses passed over are below `e^-650` each: nothing against the round-off allowed for the largest average.
fn first_visible(law: Binomial, from: u64) -> u64 {
    let visible = |k: u64| law.ln_mass(k).0 >= -650.0;
    let (mut low, mut high) = (law.mean() as u64, from);
    if from <= low || visible(from) {
        return from;
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if visible(middle) { low = middle } else { high = middle }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const RULES: [Rule; 2] = [Rule::Published, Rule::Sharp];

    #[test]
    fn poor_guesses_prove_nothing() {
        for (guesses, correct) in [(0, 0), (100, 0), (100, 50), (1, 1)] {
            let audit = OneRun::new(1000, guesses, correct).unwrap();
            for rule in RULES {
                assert_eq!(audit.epsilon_lower(1e-6, 0.05, rule).unwrap(), 0.0, "{guesses} {correct}");
            }
        }
        assert_eq!(OneRun::new(9, 0, 0).unwrap().p_value(1.0, 0.0, Rule::Sharp).unwrap(), 1.0);
    }

    #[test]
    fn perfect_guesses_have_a_closed_form() {
        for guesses in [5_u64, 100, 1_000_000] {
            let accuracy = 0.05_f64.powf(1.0 / guesses as f64);
            let want = (accuracy / (1.0 - accuracy)).ln();
            let audit = OneRun::new(guesses, guesses, guesses).unwrap();
            let epsilon = audit.epsilon_lower(0.0, 0.05, Rule::Sharp).unwrap();
            assert!((epsilon - want).abs() < 1e-9, "{guesses}: {epsilon} {want}");
        }
    }

    #[test]
    fn bad_questions_are_refused() {
        for (examples, guesses, correct) in [(0, 0, 0), (10, 11, 1), (10, 5, 6), (u64::MAX, 1, 1)] {
            assert!(OneRun::new(examples, guesses, correct).is_err(), "{examples} {guesses} {correct}");
        }
        let audit = OneRun::new(10, 10, 10).unwrap();
        for rule in RULES {
            for delta in [-1e-9, 1.0, f64::NAN] {
                assert!(
                    audit.p_value(1.0, delta, rule).is_err()
                        && audit.epsilon_lower(delta, 0.05, rule).is_err()
                );
            }
            for significance in [0.0, 0.5, f64::NAN] {
                assert!(audit.epsilon_lower(0.0, significance, rule).is_err());
            }
            assert!(audit.p_value(f64::NAN, 0.0, rule).is_err() && audit.p_value(-0.1, 0.0, rule).is_err());
            assert_eq!(audit.p_value(1e300, 0.1, rule).unwrap(), 1.0);
        }
    }

    #[test]
    fn masses_that_underflow_do_not_hide_the_window() {
        // The best window reaches from 100000 down past the mean, 50000, and holds nearly all of the mass.
        let audit = OneRun::new(100_000, 100_000, 100_000).unwrap();
        let p = audit.p_value(0.0, 1e-6, Rule::Published).unwrap();
        assert!(p > 3.9e-6 && p < 4.0e-6, "{p}");
        let p = audit.p_value(0.0, 1e-6, Rule::Sharp).unwrap();
        assert!((p - 1e-6).abs() < 1e-15, "{p}");
    }

    proptest! {
        #[test]
        fn better_guesses_or_less_confidence_prove_more(
            guesses in 1u64..400, idle in 0u64..400, share in 0.4f64..1.0,
            significance in 1e-6f64..0.49, ln_delta in -30.0f64..-2.0,
        ) {
            let correct = (share * (guesses - 1) as f64) as u64;
            for (rule, delta) in [(Rule::Sharp, ln_delta.exp()), (Rule::Published, ln_delta.exp()), (Rule::Sharp, 0.0)] {
                let bound = |correct, significance, delta| {
                    let audit = OneRun::new(guesses + idle, guesses, correct).unwrap();
                    audit.epsilon_lower(delta, significance, rule).unwrap()
                };
                let base = bound(correct, significance, delta);
                prop_assert!(bound(correct + 1, significance, delta) >= base);
                prop_assert!(bound(correct, 0.9 * significance, delta) <= base);
                prop_assert!(bound(correct, significance, 1.1 * delta) <= base);
            }
        }

        #[test]
        fn the_sharp_rule_never_proves_less(
            guesses in 1u64..300, idle in 0u64..300, share in 0.0f64..1.0, epsilon in 0.0f64..6.0, ln_delta in -30.0f64..-1.0,
        ) {
            let audit = OneRun::new(guesses + idle, guesses, (share * (guesses + 1) as f64) as u64).unwrap();
            let p = |rule, epsilon| audit.p_value(epsilon, ln_delta.exp(), rule).unwrap();
            prop_assert!(p(Rule::Sharp, epsilon) <= p(Rule::Published, epsilon) * (1.0 + 1e-12));
            prop_assert!(p(Rule::Sharp, epsilon) <= p(Rule::Sharp, epsilon + 0.01) * (1.0 + 1e-12));
        }
    }
}
