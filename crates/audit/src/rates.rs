//! Bounds from independent trials: Clopper-Pearson limits on an attack's error rates, and what they imply.
//!
//! If a mechanism is `(epsilon, delta)`-private, no test can have `1 - delta - FNR > e^epsilon FPR`, nor the same with
//! the rates exchanged. The rates are unknown, but with confidence `1 - significance` both lie below their limits.

use serde::Serialize;
use sottovoce_privacy::{Gdp, normal_quantile};

use crate::binomial::Binomial;
use crate::{Error, Result, UNIT, check_delta, check_part, check_significance, check_total, last_true};

/// The counts of a membership attack: independent trials with the target, and as many or as few without.
///
/// The attack (its threshold included) must be fixed before the counted trials are run.
///
/// ```
/// use sottovoce_audit::Attack;
/// // 10 of 100 members missed, 5 of 100 strangers taken for members.
/// let rates = Attack::new(10, 100, 5, 100)?.error_rates(0.05)?;
/// let epsilon = rates.epsilon_lower(1e-5)?;
/// assert!(epsilon > 1.98796 && epsilon < 1.98797); // at 95 % confidence
/// assert!(rates.mu_lower() > 2.1414);
/// # Ok::<(), sottovoce_audit::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Attack {
    misses: u64,
    members: u64,
    false_alarms: u64,
    strangers: u64,
}

impl Attack {
    /// `misses` among `members` trials with the target, `false_alarms` among `strangers` trials without.
    pub fn new(misses: u64, members: u64, false_alarms: u64, strangers: u64) -> Result<Self> {
        check_total("members", members)?;
        check_total("strangers", strangers)?;
        check_part("misses", misses, "members", members)?;
        check_part("false_alarms", false_alarms, "strangers", strangers)?;
        Ok(Self { misses, members, false_alarms, strangers })
    }

    /// Upper limits on both error rates that hold together with confidence `1 - significance` (each at half of it).
    pub fn error_rates(self, significance: f64) -> Result<ErrorRates> {
        check_significance(significance)?;
        let limit = |errors, trials| upper_limit(errors, trials, 0.5 * significance);
        Ok(ErrorRates {
            false_negative: limit(self.misses, self.members),
            false_positive: limit(self.false_alarms, self.strangers),
            significance,
        })
    }
}

/// Upper limits on an attack's error rates, and the privacy loss they prove.
///
/// Everything derived from one value holds simultaneously, with the confidence of [`Attack::error_rates`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ErrorRates {
    false_negative: f64,
    false_positive: f64,
    significance: f64,
}

impl ErrorRates {
    /// The rate of missed members is at most this.
    pub fn false_negative(self) -> f64 {
        self.false_negative
    }

    /// The rate of false alarms is at most this.
    pub fn false_positive(self) -> f64 {
        self.false_positive
    }

    /// The probability that one of the limits is wrong is at most this.
    pub fn significance(self) -> f64 {
        self.significance
    }

    /// No mechanism with these rates is `(epsilon, delta)`-private with a smaller epsilon than this.
    pub fn epsilon_lower(self, delta: f64) -> Result<f64> {
        check_delta(delta)?;
        let direction = |numerator: f64, denominator: f64| {
            let power = 1.0 - delta - numerator - 4.0 * UNIT;
            if power <= 0.0 {
                return 0.0;
            }
            let epsilon = (power / denominator).ln();
            epsilon - 4.0 * UNIT * (1.0 + epsilon.abs())
        };
        let forward = direction(self.false_negative, self.false_positive);
        Ok(forward.max(direction(self.false_positive, self.false_negative)).max(0.0))
    }

    /// No mechanism with these rates is `(epsilon, delta)`-private with a smaller `delta` than this.
    ///
    /// ```
    /// use sottovoce_audit::Attack;
    /// // A test that is right 3000 times of 4000, and wrong 1000 times of 4000.
    /// let rates = Attack::new(1000, 4000, 1000, 4000)?.error_rates(0.01)?;
    /// assert!((0.45..0.5).contains(&rates.delta_lower(0.0)?));
    /// # Ok::<(), sottovoce_audit::Error>(())
    /// ```
    pub fn delta_lower(self, epsilon: f64) -> Result<f64> {
        if !(epsilon.is_finite() && epsilon >= 0.0) {
            return Err(Error::parameter("epsilon", epsilon, "give a finite number of at least 0"));
        }
        let direction = |miss: f64, alarm: f64| 1.0 - miss - epsilon.exp() * alarm;
        let forward = direction(self.false_negative, self.false_positive);
        let delta = forward.max(direction(self.false_positive, self.false_negative));
        Ok((delta - 8.0 * UNIT * (2.0 + epsilon.exp())).max(0.0))
    }

    /// No mechanism with these rates is `mu`-GDP with a smaller `mu` than this.
    pub fn mu_lower(self) -> f64 {
        // Phi^-1(1 - x) = -Phi^-1(x): no digits are lost when a rate is tiny.
        let (alarm, miss) = (normal_quantile(self.false_positive), normal_quantile(self.false_negative));
        let rounding = 1e-14 * (2.0 + alarm.abs() + miss.abs());
        (-alarm - miss - rounding).max(0.0)
    }

    /// The epsilon at `delta` (above 0) of a Gaussian mechanism with [`Self::mu_lower`].
    ///
    /// This bounds the loss of mechanisms known to be Gaussian (`mu`-GDP for some `mu`, and no better); for any other
    /// mechanism only [`Self::epsilon_lower`] is a bound.
    pub fn gaussian_epsilon_lower(self, delta: f64) -> Result<f64> {
        Ok(Gdp::new(self.mu_lower())?.epsilon(delta)?.lower)
    }
}

/// The Clopper-Pearson limit: a rate above it would give `errors` or fewer with probability at most `tail`.
pub(crate) fn upper_limit(errors: u64, trials: u64, tail: f64) -> f64 {
    if errors == trials {
        return 1.0;
    }
    let excluded = |rate: f64| Binomial::of_failure(trials, rate).at_least(trials - errors).upper <= tail;
    last_true(1.0, errors as f64 / trials as f64, excluded)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn without_errors_the_limit_has_a_closed_form() {
        for trials in [1, 10, 1000, 1_000_000] {
            let want = -((0.025_f64).ln() / trials as f64).exp_m1();
            let limit = upper_limit(0, trials, 0.025);
            assert!(limit >= want * (1.0 - 4.0 * UNIT) && limit < want * (1.0 + 1e-13), "{trials}: {limit}");
        }
    }

    #[test]
    fn a_useless_attack_proves_nothing() {
        for attack in
            [Attack::new(100, 100, 100, 100), Attack::new(50, 100, 50, 100), Attack::new(1, 1, 0, 1)]
        {
            let rates = attack.unwrap().error_rates(0.05).unwrap();
            assert_eq!(rates.epsilon_lower(0.0).unwrap(), 0.0);
            assert_eq!((rates.mu_lower(), rates.gaussian_epsilon_lower(1e-5).unwrap()), (0.0, 0.0));
        }
    }

    #[test]
    fn bad_questions_are_refused() {
        for (misses, members, alarms, strangers) in
            [(0, 0, 0, 1), (0, 1, 0, 0), (2, 1, 0, 1), (0, 1, 2, 1), (0, u64::MAX, 0, 1)]
        {
            assert!(Attack::new(misses, members, alarms, strangers).is_err());
        }
        let attack = Attack::new(0, 10, 0, 10).unwrap();
        for significance in [0.0, -0.1, 0.5, 1.0, f64::NAN, f64::INFINITY] {
            assert!(attack.error_rates(significance).is_err(), "{significance}");
        }
        let rates = attack.error_rates(0.05).unwrap();
        for delta in [-0.1, 1.0, 2.0, f64::NAN] {
            assert!(
                rates.epsilon_lower(delta).is_err() && rates.gaussian_epsilon_lower(delta).is_err(),
                "{delta}"
            );
        }
        let message = Attack::new(2, 1, 0, 1).unwrap_err().to_string();
        assert_eq!(message, "`misses` is 2: it cannot exceed the number of members, 1");
    }

    #[test]
    fn the_reverse_attack_proves_as_much_epsilon() {
        // Exchanging members and strangers exchanges the two directions.
        let rates = Attack::new(500, 1000, 0, 900).unwrap().error_rates(0.05).unwrap();
        let reversed = Attack::new(0, 900, 500, 1000).unwrap().error_rates(0.05).unwrap();
        assert_eq!(rates.epsilon_lower(1e-6), reversed.epsilon_lower(1e-6));
    }

    proptest! {
        #[test]
        fn a_better_attack_or_less_confidence_proves_more(
            members in 2u64..2000, strangers in 2u64..2000, miss in 0.0f64..1.0, alarm in 0.0f64..1.0,
            significance in 1e-6f64..0.49, delta in 0.0f64..0.2,
        ) {
            let part = |share: f64, total: u64| (share * (total - 1) as f64) as u64;
            let (misses, alarms) = (part(miss, members), part(alarm, strangers));
            let bounds = |misses, alarms, significance| {
                let rates = Attack::new(misses, members, alarms, strangers).unwrap().error_rates(significance).unwrap();
                (rates.epsilon_lower(delta).unwrap(), rates.mu_lower())
            };
            let base = bounds(misses, alarms, significance);
            for worse in [
                bounds(misses + 1, alarms, significance),
                bounds(misses, alarms + 1, significance),
                bounds(misses, alarms, 0.9 * significance),
            ] {
                prop_assert!(worse.0 <= base.0 && worse.1 <= base.1, "{worse:?} {base:?}");
            }
        }
    }
}
