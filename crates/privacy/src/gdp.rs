//! Gaussian differential privacy: the exact currency of unsampled Gaussian noise.
//!
//! A release with squared signal-to-noise `mu²` is `mu`-GDP; independent releases add their `mu²`; and
//! `delta(epsilon) = Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu)` is exact (Balle and Wang 2018).

use serde::{Deserialize, Serialize};

use crate::interval::{larger, probability_above, probability_below};
use crate::mechanism::{check_delta, check_epsilon};
use crate::special::{Interval, UNIT, bisect, crossing, ln_normal_above, normal_above, tail_error};
use crate::{Error, Result, require};

/// Added to a delta from above, beyond the rounding of numbers that are not normal: a few of the smallest ones.
pub(crate) const VANISHING: f64 = 2e-323;

/// The least squared parameter that is not 0: what is less counts as this, so that no loss vanishes by rounding.
const LEAST: f64 = f64::MIN_POSITIVE;

/// A `mu`-GDP loss.
///
/// ```
/// use sottovoce_privacy::Gdp;
/// let one = Gdp::of_noise(5.0)?;            // sigma = 5 sensitivities
/// let hundred = one.times(100);             // a hundred releases: mu = 2
/// let epsilon = hundred.epsilon(1e-5)?;
/// assert!(epsilon.contains(9.9972561464343) && epsilon.width() < 1e-11);
/// # Ok::<(), sottovoce_privacy::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "Stored")]
pub struct Gdp {
    mu_squared: f64,
    /// How many roundings `mu_squared` may have suffered; both ends of an interval are charged for them.
    roundings: f64,
}

/// As it is read: not yet checked.
#[derive(Deserialize)]
struct Stored {
    mu_squared: f64,
    roundings: f64,
}

impl TryFrom<Stored> for Gdp {
    type Error = Error;

    fn try_from(stored: Stored) -> Result<Self> {
        let gdp = Self::of_square(stored.mu_squared)?;
        require(
            stored.roundings >= gdp.roundings && stored.roundings.is_finite(),
            "roundings",
            stored.roundings,
            "give a finite number of at least 1",
        )?;
        Ok(Self { roundings: stored.roundings, ..gdp })
    }
}

impl Gdp {
    /// The loss with parameter `mu >= 0`.
    pub fn new(mu: f64) -> Result<Self> {
        require(mu >= 0.0 && mu.is_finite() && mu <= 1e4, "mu", mu, "give a number from 0 to 10000")?;
        Ok(Self { mu_squared: if mu > 0.0 { larger(mu * mu, LEAST) } else { 0.0 }, roundings: 2.0 })
    }

    /// The loss with squared parameter `mu² >= 0` (what linear views compute).
    pub fn of_square(mu_squared: f64) -> Result<Self> {
        let squared = if mu_squared > 0.0 { larger(mu_squared, LEAST) } else { mu_squared };
        Self::new(mu_squared.sqrt()).map(|_| Self { mu_squared: squared, roundings: 1.0 })
    }

    /// The loss of Gaussian noise of `sigma` sensitivities.
    pub fn of_noise(sigma: f64) -> Result<Self> {
        crate::mechanism::positive("sigma", sigma)?;
        Self::new(1.0 / sigma).map(|gdp| Self { roundings: 4.0, ..gdp })
    }

    /// The loss of Gaussian noise of standard deviation `scale` on what one person moves by `sensitivity` at most.
    pub fn of_release(sensitivity: f64, scale: f64) -> Result<Self> {
        let remedy = "give a positive sensitivity and a positive scale of noise";
        let value = format_args!("{sensitivity} under {scale}");
        require(sensitivity > 0.0 && scale > 0.0, "release", value, remedy)?;
        // The quotient is rounded, and then its square.
        Self::new(sensitivity / scale).map(|gdp| Self { roundings: 4.0, ..gdp })
    }

    /// The parameter.
    pub fn mu(self) -> f64 {
        self.mu_squared.sqrt()
    }

    /// The squared parameter.
    pub fn mu_squared(self) -> f64 {
        self.mu_squared
    }

    /// `mu²`, rounded up: what a budget is charged.
    pub(crate) fn price(self) -> f64 {
        self.mu_squared * (1.0 + (self.roundings + 1.0) * UNIT)
    }

    /// Both releases together.
    pub fn and(self, other: Self) -> Self {
        let roundings = 1.0 + larger(self.roundings, other.roundings);
        Self { mu_squared: self.mu_squared + other.mu_squared, roundings }
    }

    /// `count` releases.
    pub fn times(self, count: u64) -> Self {
        Self { mu_squared: self.mu_squared * count as f64, roundings: self.roundings + 1.0 }
    }

    /// The Rényi loss at `order`: `order mu²/2`, rounded up.
    pub fn rdp(self, order: f64) -> f64 {
        0.5 * order * self.mu_squared * (1.0 + (self.roundings + 2.0) * UNIT)
    }

    /// Delta at `epsilon`, certified.
    pub fn delta(self, epsilon: f64) -> Result<Interval> {
        check_epsilon(epsilon)?;
        let (lower, upper) = self.delta_at(epsilon);
        Interval::new(lower, upper)
    }

    /// Bounds on delta. Nothing that is positive is rounded to 0, however small.
    fn delta_at(self, epsilon: f64) -> (f64, f64) {
        let mu = self.mu();
        if mu == 0.0 {
            return (0.0, 0.0);
        }
        let (a, b) = (epsilon / mu - mu / 2.0, epsilon / mu + mu / 2.0);
        let first = normal_above(a);
        let (second, exponent) = if b < 30.0 && epsilon < 600.0 {
            (epsilon.exp() * normal_above(b), epsilon)
        } else {
            ((epsilon + ln_normal_above(b)).exp(), 2.0 * epsilon + b * b)
        };
        // The quotient epsilon/mu is rounded too, and mu was before; near the peak of the density that is all there is.
        let charge = |mass: f64, error: f64| if mass == 0.0 { 0.0 } else { mass * error };
        let error = charge(first, tail_error(a) + 4.0 * UNIT)
            + charge(second, tail_error(b) + (4.0 + 2.0 * exponent) * UNIT)
            + charge((-0.5 * a * a).exp(), (4.0 + self.roundings) * UNIT * b.abs());
        let difference = first - second;
        (probability_below(difference - error), probability_above(difference + error + VANISHING))
    }

    /// Epsilon at `delta`, certified.
    pub fn epsilon(self, delta: f64) -> Result<Interval> {
        check_delta(delta)?;
        if self.delta_at(0.0).1 <= delta {
            return Ok(Interval::ZERO);
        }
        // Chernoff: at epsilon = mu²/2 + mu sqrt(2 ln(1/delta)) delta is already reached; rounding may ask for a little more.
        let mut top = 0.51 * self.mu_squared + 1.01 * self.mu() * (-2.0 * delta.ln()).sqrt() + 1e-300;
        while self.delta_at(top).1 > delta {
            top *= 2.0;
            require(top.is_finite(), "delta", delta, "give a larger one, or ask about fewer releases")?;
        }
        let upper = crossing((0.0, top), delta, 1e-15, |epsilon| self.delta_at(epsilon).1).1;
        let lower = if self.delta_at(0.0).0 <= delta {
            0.0
        } else {
            crossing((0.0, top), delta, 1e-15, |epsilon| self.delta_at(epsilon).0).0
        };
        Interval::of_rounded(lower, upper)
    }

    /// The smallest noise, in sensitivities, that is `(epsilon, delta)`-private; never too small.
    pub fn calibrate(epsilon: f64, delta: f64) -> Result<f64> {
        check_epsilon(epsilon)?;
        check_delta(delta)?;
        let of = |sigma: f64| Self { mu_squared: (1.0 / sigma) * (1.0 / sigma), roundings: 4.0 };
        let enough = |sigma: f64| of(sigma).delta_at(epsilon).1 <= delta;
        let mut high = 1.0;
        while !enough(high) {
            high *= 2.0;
            if high > 1e12 {
                let remedy = "give a larger epsilon or delta";
                return Err(Error::parameter("epsilon", epsilon, remedy));
            }
        }
        Ok(bisect(0.0, high, 1e-14, enough).1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn no_loss_vanishes_by_rounding() {
        for gdp in [Gdp::new(3e-200), Gdp::of_square(1e-320)] {
            let gdp = gdp.unwrap();
            assert!(gdp.epsilon(1e-300).unwrap().upper > 0.0, "{gdp:?}");
        }
        assert_eq!(Gdp::new(0.0).unwrap().mu_squared(), 0.0);
    }

    #[test]
    fn nothing_released_is_nothing_lost() {
        let nothing = Gdp::new(0.0).unwrap();
        assert_eq!(nothing.epsilon(1e-9).unwrap(), Interval::ZERO);
        assert_eq!(nothing.delta(0.0).unwrap().upper, 0.0);
    }

    /// At `mu = 1` and epsilon 39 delta is 3.56e-326, below the smallest double: it is rounded up to one, not down to 0.
    #[test]
    fn nothing_positive_is_rounded_to_nothing() {
        let one = Gdp::new(1.0).unwrap();
        for epsilon in [39.0, 100.0, 1e4, 1e300] {
            let delta = one.delta(epsilon).unwrap();
            assert!(delta.upper > 0.0 && delta.upper < 1e-300 && delta.lower == 0.0, "{epsilon}: {delta:?}");
        }
    }

    #[test]
    fn roundings_of_many_sums_are_charged() {
        let part = Gdp::new(0.1).unwrap();
        let sum = (1..10_000).fold(part, |sum, _| sum.and(part));
        let (sum, product) = (sum.epsilon(1e-5).unwrap(), part.times(10_000).epsilon(1e-5).unwrap());
        assert!(sum.meet(product).is_ok() && sum.contains(product.lower), "{sum:?} {product:?}");
    }

    #[test]
    fn bad_questions_are_refused() {
        let one = Gdp::new(1.0).unwrap();
        for delta in [0.0, 1.0, -1.0, f64::NAN] {
            assert!(one.epsilon(delta).is_err(), "{delta}");
        }
        assert!(one.delta(-0.1).is_err() && one.delta(f64::INFINITY).is_err());
        assert!(Gdp::new(f64::NAN).is_err() && Gdp::of_noise(0.0).is_err());
    }

    proptest! {
        #[test]
        fn epsilon_inverts_delta(mu in 0.01f64..20.0, ln_delta in -32.0f64..-1.0) {
            let (gdp, delta) = (Gdp::new(mu).unwrap(), ln_delta.exp());
            let epsilon = gdp.epsilon(delta).unwrap();
            prop_assert!(gdp.delta(epsilon.upper).unwrap().upper <= delta);
            prop_assert!(epsilon.lower == 0.0 || gdp.delta(epsilon.lower).unwrap().upper >= delta);
            prop_assert!(epsilon.width() <= 1e-9 * (1.0 + epsilon.upper));
        }

        #[test]
        fn calibration_never_under_noises(epsilon in 0.01f64..20.0, ln_delta in -32.0f64..-1.0) {
            let delta = ln_delta.exp();
            let sigma = Gdp::calibrate(epsilon, delta).unwrap();
            prop_assert!(Gdp::of_noise(sigma).unwrap().delta(epsilon).unwrap().upper <= delta);
            prop_assert!(Gdp::of_noise(sigma * (1.0 - 1e-9)).unwrap().delta(epsilon).unwrap().upper > delta);
        }
    }
}
