//! Gaussian releases that each have a delta of their own (Bellet et al. 2018, Remark 4, corrected), and deltas that promise little.

use std::fmt;

use serde::Serialize;

use crate::mechanism::check_delta;
use crate::special::UNIT;
use crate::{Result, require};

/// Standard deviation, in sensitivities, with which one Gaussian release is `(epsilon, delta)`-private, for `epsilon` up to 1:
/// `sqrt(2 ln(2/delta))/epsilon`, rounded up. One record of `m` moves a mean of clipped gradients by `2 L0/m`: that is the sensitivity,
/// and its `1/m` is what the printed remark leaves out. ([`Gdp::calibrate`](crate::Gdp::calibrate) is sharper, and knows no such limit.)
///
/// ```
/// use sottovoce_privacy::{Gdp, allotment::gaussian_noise};
/// let noise = gaussian_noise(0.5, 1e-5)?;
/// assert!(Gdp::of_noise(noise)?.delta(0.5)?.upper <= 1e-5);
/// assert!(gaussian_noise(1.5, 1e-5).is_err());
/// # Ok::<(), sottovoce_privacy::Error>(())
/// ```
pub fn gaussian_noise(epsilon: f64, delta: f64) -> Result<f64> {
    check_delta(delta)?;
    let remedy = "the formula is proven above 0 and up to 1: give that";
    require(epsilon > 0.0 && epsilon <= 1.0, "epsilon", epsilon, remedy)?;
    Ok((2.0 * (2.0 / delta).ln()).sqrt() / epsilon * (1.0 + 8.0 * UNIT))
}

/// A delta above one in the number of records: what publishes a record at random, whole, satisfies it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LargeDelta {
    /// The delta.
    pub delta: f64,
    /// The number of records.
    pub records: u64,
}

impl LargeDelta {
    /// The warning, where there is cause for one.
    ///
    /// ```
    /// use sottovoce_privacy::allotment::LargeDelta;
    /// let warning = LargeDelta::of(0.0067, 200).expect("above 1/200");
    /// assert!(warning.to_string().starts_with("`delta` is 6.7e-3, above 1/200"));
    /// assert!(LargeDelta::of(1e-5, 200).is_none() && LargeDelta::of(0.0067, 0).is_none());
    /// ```
    pub fn of(delta: f64, records: u64) -> Option<Self> {
        // (What is not a number is no small delta.)
        let small = delta * records as f64 <= 1.0;
        (records > 0 && !small).then_some(Self { delta, records })
    }
}

impl fmt::Display for LargeDelta {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { delta, records } = self;
        write!(
            f,
            "`delta` is {delta:e}, above 1/{records}: whoever publishes one of {records} records, drawn at random, keeps such a \
             promise; give less than {:.1e}",
            1.0 / *records as f64
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Gdp;
    use proptest::prelude::*;

    proptest! {
        /// Remark 4 corrected is true (and not by a hair).
        #[test]
        fn the_classical_noise_suffices(epsilon in 1e-3f64..1.0, ln_delta in -32.0f64..-0.01) {
            let (delta, noise) = (ln_delta.exp(), gaussian_noise(epsilon, ln_delta.exp()).unwrap());
            prop_assert!(Gdp::of_noise(noise).unwrap().delta(epsilon).unwrap().upper <= 0.42 * delta);
            prop_assert!(noise >= Gdp::calibrate(epsilon, delta).unwrap());
        }
    }
}
