//! Weights as the fractions they stand for.
//!
//! A weight of one third is stored as the nearest double, which is no third: a matrix of such doubles has not the symmetries of the one
//! that was meant, and may have another rank. So a double within rounding of a simple fraction is read as that fraction; any other
//! is read as the binary fraction it is.

/// Denominators up to here are simple: two such fractions are further apart than doubles near 1 can be mistaken.
const SIMPLE: u64 = 1 << 22;

/// A computed double may be this far from what it stands for, relatively.
const ROUNDING: f64 = 2.0 * f64::EPSILON;

/// `± numerator / denominator / 2^halvings`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Weight {
    pub(crate) negative: bool,
    pub(crate) numerator: u64,
    pub(crate) denominator: u64,
    pub(crate) halvings: u32,
}

impl Weight {
    /// What a finite double of size at most `2^31` stands for.
    pub(crate) fn of(x: f64) -> Self {
        let negative = x < 0.0;
        let (numerator, denominator, halvings) = match simple(x.abs()) {
            Some((p, q)) => (p, q, 0),
            None => binary(x.abs()),
        };
        Self { negative, numerator, denominator, halvings }
    }
}

/// The first convergent of the continued fraction that is within rounding, if it is simple.
fn simple(x: f64) -> Option<(u64, u64)> {
    let (mut before, mut now) = ((0_u64, 1_u64), (1_u64, 0_u64));
    let mut rest = x;
    for _ in 0..48 {
        let whole = rest.floor();
        if whole >= 4_294_967_296.0 {
            return None;
        }
        let next = |a: u64, b: u64| (whole as u64).checked_mul(b)?.checked_add(a);
        let (p, q) = (next(before.0, now.0)?, next(before.1, now.1)?);
        if q > SIMPLE {
            return None;
        }
        if (p as f64 / q as f64 - x).abs() <= ROUNDING * x {
            return Some((p, q));
        }
        (before, now) = (now, (p, q));
        rest = 1.0 / (rest - whole);
    }
    None
}

/// Mantissa and exponent.
fn binary(x: f64) -> (u64, u64, u32) {
    let (mut mantissa, mut halvings) = (x, 0);
    while mantissa.fract() != 0.0 {
        mantissa *= 2.0;
        halvings += 1;
    }
    (mantissa as u64, 1, halvings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn fractions_are_found_whatever_the_last_digit(p in 1_u64..5000, q in 1_u64..5000, off in -1_i64..=1) {
            let x = f64::from_bits((p as f64 / q as f64).to_bits().wrapping_add_signed(off));
            let found = Weight::of(x);
            prop_assert_eq!((found.numerator * q, found.halvings), (found.denominator * p, 0));
        }

        #[test]
        fn anything_else_is_itself(x in 0.0_f64..1.0) {
            let found = Weight::of(x);
            let back = found.numerator as f64 / found.denominator as f64 * 0.5_f64.powi(found.halvings as i32);
            prop_assert!((back - x).abs() <= ROUNDING * x);
        }
    }

    #[test]
    fn small_weights_and_zero() {
        assert_eq!(Weight::of(0.0).numerator, 0);
        let tiny = Weight::of(1e-14);
        assert!(tiny.numerator as f64 * 0.5_f64.powi(tiny.halvings as i32) == 1e-14 && tiny.denominator == 1);
    }
}
