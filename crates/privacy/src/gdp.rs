//! Gaussian differential privacy: the exact currency of unsampled Gaussian noise.
//!
//! A release with squared signal-to-noise `mu²` is `mu`-GDP; independent releases add their `mu²`; and
//! `delta(epsilon) = Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu)` is exact (Balle and Wang 2018).

use serde::Serialize;

use crate::mechanism::{check_delta, check_epsilon};
use crate::special::{Interval, UNIT, bisect, crossing, ln_normal_above, normal_above, tail_error};
use crate::{Error, Result};

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
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize)]
pub struct Gdp {
    mu_squared: f64,
}

impl Gdp {
    /// The loss with parameter `mu >= 0`.
    pub fn new(mu: f64) -> Result<Self> {
        if !(mu >= 0.0 && mu.is_finite() && mu <= 1e4) {
            return Err(Error::parameter("mu", mu, "give a number from 0 to 10000"));
        }
        Ok(Self { mu_squared: mu * mu })
    }

    /// The loss with squared parameter `mu² >= 0` (what linear views compute).
    pub fn of_square(mu_squared: f64) -> Result<Self> {
        Self::new(mu_squared.sqrt()).map(|_| Self { mu_squared })
    }

    /// The loss of Gaussian noise of `sigma` sensitivities.
    pub fn of_noise(sigma: f64) -> Result<Self> {
        crate::mechanism::positive("sigma", sigma)?;
        Self::new(1.0 / sigma)
    }

    /// The parameter.
    pub fn mu(self) -> f64 {
        self.mu_squared.sqrt()
    }

    /// Both releases together.
    pub fn and(self, other: Self) -> Self {
        Self { mu_squared: self.mu_squared + other.mu_squared }
    }

    /// `count` releases.
    pub fn times(self, count: u64) -> Self {
        Self { mu_squared: self.mu_squared * count as f64 }
    }

    /// The Rényi loss at `order`: `order mu²/2`.
    pub fn rdp(self, order: f64) -> f64 {
        0.5 * order * self.mu_squared
    }

    /// Delta at `epsilon`, certified.
    pub fn delta(self, epsilon: f64) -> Result<Interval> {
        check_epsilon(epsilon)?;
        Ok(self.delta_at(epsilon))
    }

    fn delta_at(self, epsilon: f64) -> Interval {
        let mu = self.mu();
        if mu == 0.0 {
            return Interval { lower: 0.0, upper: 0.0 };
        }
        let (a, b) = (epsilon / mu - mu / 2.0, epsilon / mu + mu / 2.0);
        let first = normal_above(a);
        let (second, exponent) = if b < 30.0 && epsilon < 600.0 {
            (epsilon.exp() * normal_above(b), epsilon)
        } else {
            ((epsilon + ln_normal_above(b)).exp(), 2.0 * epsilon + b * b)
        };
        // The quotient epsilon/mu is rounded too; near the peak of the density that is all there is.
        let error = first * (tail_error(a) + 4.0 * UNIT)
            + second * (tail_error(b) + (4.0 + 2.0 * exponent) * UNIT)
            + 4.0 * UNIT * b.abs() * (-0.5 * a * a).exp();
        Interval { lower: (first - second - error).max(0.0), upper: (first - second + error).clamp(0.0, 1.0) }
    }

    /// Epsilon at `delta`, certified.
    pub fn epsilon(self, delta: f64) -> Result<Interval> {
        check_delta(delta)?;
        if self.delta_at(0.0).upper <= delta {
            return Ok(Interval { lower: 0.0, upper: 0.0 });
        }
        // Chernoff: at epsilon = mu²/2 + mu sqrt(2 ln(1/delta)) delta is already reached.
        let top = 0.5 * self.mu_squared + self.mu() * (-2.0 * delta.ln()).sqrt() + 1e-300;
        let upper = crossing((0.0, 1.01 * top), delta, 1e-15, |epsilon| self.delta_at(epsilon).upper).1;
        let lower = if self.delta_at(0.0).lower <= delta {
            0.0
        } else {
            crossing((0.0, 1.01 * top), delta, 1e-15, |epsilon| self.delta_at(epsilon).lower).0
        };
        Ok(Interval { lower: lower.min(upper), upper })
    }

    /// The smallest noise, in sensitivities, that is `(epsilon, delta)`-private; never too small.
    pub fn calibrate(epsilon: f64, delta: f64) -> Result<f64> {
        check_epsilon(epsilon)?;
        check_delta(delta)?;
        let enough =
            |sigma: f64| Self { mu_squared: (1.0 / sigma) * (1.0 / sigma) }.delta_at(epsilon).upper <= delta;
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
    fn nothing_released_is_nothing_lost() {
        let nothing = Gdp::new(0.0).unwrap();
        assert_eq!(nothing.epsilon(1e-9).unwrap(), Interval { lower: 0.0, upper: 0.0 });
        assert_eq!(nothing.delta(0.0).unwrap().upper, 0.0);
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
