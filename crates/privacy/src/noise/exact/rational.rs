//! Positive rationals: how the parameter of an exact law is written.
//!
//! A law is only exact if its parameter is. Every finite `f64` is a rational with a power of two below, so
//! [`Rational::from_f64`] loses nothing: what is sampled is the law of the very number the accountant was given.

use std::fmt;

use crate::{Error, Result};

/// A positive rational in lowest terms, from `2^-40` to `2^62`.
///
/// The range keeps the numerator within 64 bits and the denominator within 93, on which the proofs that no sampler
/// overflows rest. It is not felt in practice: noise is counted in grid steps, so a variance above `2^62` means a grid
/// too fine by far, and one below `2^-40` means no noise at all.
///
/// ```
/// use sottovoce_privacy::noise::exact::Rational;
/// assert_eq!(Rational::new(10, 4)?.to_string(), "5/2");
/// assert_eq!(Rational::from_f64(0.75)?, Rational::new(3, 4)?);
/// // The float nearest to a tenth is not a tenth; the conversion says so instead of guessing.
/// assert_ne!(Rational::from_f64(0.1)?, Rational::new(1, 10)?);
/// assert!(Rational::from_f64(f64::NAN).is_err());
/// # Ok::<(), sottovoce_privacy::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Rational {
    numerator: u64,
    denominator: u128,
}

/// Least and greatest rational accepted, as exponents of two.
const LEAST: u32 = 40;
const GREATEST: u32 = 62;

impl Rational {
    /// `numerator / denominator`, reduced; refuses zeros and ratios outside `[2^-40, 2^62]`.
    pub fn new(numerator: u64, denominator: u64) -> Result<Self> {
        let (n, d) = (u128::from(numerator), u128::from(denominator));
        // Neither side can overflow: n 2^40 < 2^104 and d 2^62 < 2^126.
        if n == 0 || d == 0 || n << LEAST < d || n > d << GREATEST {
            return Err(refusal(format!("{numerator}/{denominator}")));
        }
        let common = gcd(numerator, denominator);
        Ok(Self { numerator: numerator / common, denominator: u128::from(denominator / common) })
    }

    /// The exact value of a float; refuses what is not finite and in `[2^-40, 2^62]`.
    pub fn from_f64(value: f64) -> Result<Self> {
        let least = 1.0 / (1u64 << LEAST) as f64;
        let greatest = (1u64 << GREATEST) as f64;
        // Written so that a NaN, for which every comparison is false, is refused.
        if !(value >= least && value <= greatest) {
            return Err(refusal(format!("{value}")));
        }
        // In this range floats are normal: 53 bits with the leading one implicit, times 2^(exponent - 1075).
        let bits = value.to_bits();
        let mantissa = (bits & ((1 << 52) - 1)) | (1 << 52);
        let exponent = (bits >> 52) as i32 - 1075 + mantissa.trailing_zeros() as i32;
        let odd = mantissa >> mantissa.trailing_zeros();
        // Not below 2^-40, so the denominator is at most 2^92; not above 2^62, so the numerator fits.
        Ok(if exponent >= 0 {
            Self { numerator: odd << exponent, denominator: 1 }
        } else {
            Self { numerator: odd, denominator: 1 << -exponent }
        })
    }

    /// The numerator, in lowest terms.
    pub fn numerator(&self) -> u64 {
        self.numerator
    }

    /// The denominator, in lowest terms; below `2^93`.
    pub fn denominator(&self) -> u128 {
        self.denominator
    }

    /// A float near the value, for display: rounded at most three times, so within a few units in the last place.
    pub fn to_f64(&self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }
}

impl fmt::Display for Rational {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.numerator, self.denominator)
    }
}

fn refusal(value: String) -> Error {
    let remedy = "give a number from 2^-40 to 2^62, in grid steps; if it is too large, use a coarser grid";
    Error::parameter("rational", value, remedy)
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn floats_convert_without_loss(mantissa in 1u64..1 << 53, exponent in -92i32..9) {
            let value = mantissa as f64 * 2f64.powi(exponent);
            if let Ok(rational) = Rational::from_f64(value) {
                // Both parts are floats exactly (an odd mantissa or a number below 2^62 with 53 bits; a power of two).
                prop_assert_eq!(rational.numerator as f64 as u64, rational.numerator);
                prop_assert!(rational.denominator.is_power_of_two() && rational.denominator <= 1 << 92);
                prop_assert_eq!(rational.to_f64().to_bits(), value.to_bits());
                prop_assert!(rational.numerator % 2 == 1 || rational.denominator == 1);
            } else {
                prop_assert!(value < 2f64.powi(-40) || value > 2f64.powi(62));
            }
        }

        #[test]
        fn reduction_keeps_the_ratio(n in 1u64.., d in 1u64..) {
            if let Ok(rational) = Rational::new(n, d) {
                prop_assert_eq!(u128::from(rational.numerator) * u128::from(d), rational.denominator * u128::from(n));
                prop_assert!((2..100u64).all(|k| rational.numerator % k != 0 || rational.denominator % u128::from(k) != 0));
            }
        }
    }

    #[test]
    fn the_range_is_closed_and_everything_else_is_refused() {
        for value in [2f64.powi(-40), 2f64.powi(62), 1.0, f64::from(f32::EPSILON)] {
            assert!(Rational::from_f64(value).is_ok(), "{value}");
        }
        let bad = [
            0.0,
            -0.0,
            -1.0,
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::MIN_POSITIVE,
            5e-324,
            f64::MAX,
        ];
        for value in bad.into_iter().chain([2f64.powi(-40).next_down(), 2f64.powi(62).next_up()]) {
            assert!(Rational::from_f64(value).is_err(), "{value}");
        }
        assert!(Rational::new(1, 1 << 40).is_ok() && Rational::new(1 << 62, 1).is_ok());
        for (n, d) in
            [(0, 1), (1, 0), (0, 0), (1, (1 << 40) + 1), ((1 << 62) + 1, 1), (1, u64::MAX), (u64::MAX, 1)]
        {
            assert!(Rational::new(n, d).is_err(), "{n}/{d}");
        }
    }
}
