//! The public grid: floats become integers before any noise is added.
//!
//! The step is a power of two, because dividing a float by one is exact. Rounding then moves a value by at most half a
//! step, truly and not "up to floating-point error", and the sensitivity of the rounded values has a bound that holds.

use crate::{Error, Result, require};

/// Values are refused beyond this many steps: it leaves the noise as much room again before 64 bits are full.
const MOST_UNITS: f64 = (1u64 << 62) as f64;

/// The integer multiples of a public step, a power of two.
///
/// ```
/// use sottovoce_privacy::noise::exact::Grid;
/// let grid = Grid::new(0.25)?;
/// assert_eq!(grid.round(&[1.0, -0.3, 0.1])?, [4, -1, 0]);
/// assert_eq!(grid.value(-3), -0.75);
/// assert!(grid.round(&[1.0, f64::NAN]).is_err());
/// assert!(Grid::new(0.1).unwrap_err().to_string().contains("0.0625"));
/// # Ok::<(), sottovoce_privacy::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Grid {
    step: f64,
}

impl Grid {
    /// The grid of this step: a power of two from `2^-100` to `2^100`.
    pub fn new(step: f64) -> Result<Self> {
        let (least, greatest) = (2f64.powi(-100), 2f64.powi(100));
        let remedy = "give a power of two from 2^-100 to 2^100";
        require(step >= least && step <= greatest, "grid", step, remedy)?;
        // Clearing the 52 bits of the fraction leaves the power of two just below.
        let power = f64::from_bits(step.to_bits() >> 52 << 52);
        let remedy = format!("give a power of two, on which rounding is exact; the nearest below is {power}");
        require(step == power, "grid", step, remedy)?;
        Ok(Self { step })
    }

    /// The step.
    pub fn step(&self) -> f64 {
        self.step
    }

    /// The nearest multiples of the step (ties to even), counted in steps; refuses what is not finite or is too far out.
    pub fn round(&self, values: &[f64]) -> Result<Vec<i64>> {
        values.iter().map(|&value| self.round_one(value)).collect()
    }

    fn round_one(&self, value: f64) -> Result<i64> {
        // Exact but for an overflow, refused below, and an underflow, which rounds to zero as it should.
        let units = whole(value / self.step);
        if units.abs() <= MOST_UNITS {
            return Ok(units as i64);
        }
        let remedy = format!("give a finite value within 2^62 steps of {}, or clip it first", self.step);
        Err(Error::parameter("value", value, remedy))
    }

    /// The value of a number of steps: exact up to `2^53` steps, rounded once beyond.
    pub fn value(&self, units: i64) -> f64 {
        units as f64 * self.step
    }

    /// A length in steps, not rounded to the grid: for standard deviations and scales.
    pub fn units_of(&self, length: f64) -> f64 {
        length / self.step
    }

    /// An upper bound on the L2 sensitivity of rounded vectors, in steps, from that of the vectors before rounding.
    ///
    /// Rounding moves each of two neighbouring vectors by at most `sqrt(dimension) / 2` steps: `l2 / step + sqrt(dimension)`.
    ///
    /// ```
    /// use sottovoce_privacy::noise::exact::Grid;
    /// let grid = Grid::new(1.0 / 1024.0)?;
    /// let bound = grid.l2_sensitivity(1.0, 100)?;
    /// assert!(bound >= 1034.0 && bound < 1034.0001);
    /// # Ok::<(), sottovoce_privacy::Error>(())
    /// ```
    pub fn l2_sensitivity(&self, l2: f64, dimension: usize) -> Result<f64> {
        self.sensitivity(l2, (dimension as f64).next_up().sqrt().next_up())
    }

    /// An upper bound on the L1 sensitivity of rounded vectors, in steps: `l1 / step + dimension`.
    pub fn l1_sensitivity(&self, l1: f64, dimension: usize) -> Result<f64> {
        self.sensitivity(l1, (dimension as f64).next_up())
    }

    /// The sum, rounded upwards.
    fn sensitivity(&self, before: f64, rounding: f64) -> Result<f64> {
        let remedy = "give a finite number, zero or more";
        require(before.is_finite() && before >= 0.0, "sensitivity", before, remedy)?;
        Ok((self.units_of(before).next_up() + rounding).next_up())
    }
}

/// The nearest whole number, ties to even. Numbers near `2^52` are whole, so that adding 1.5 times that much rounds by itself: many processors have no faster way that all have.
#[inline]
fn whole(x: f64) -> f64 {
    const MIDDLE: f64 = 1.5 * (1u64 << 52) as f64;
    if x.abs() < (1u64 << 50) as f64 { (x + MIDDLE) - MIDDLE } else { x.round_ties_even() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn whole_numbers_are_the_nearest(bits in any::<u64>(), near in -1e6f64..1e6) {
            for x in [f64::from_bits(bits), near, near.round() + 0.5, (1u64 << 50) as f64 - 0.5, (1u64 << 50) as f64 + 0.5] {
                let (ours, theirs) = (whole(x), x.round_ties_even());
                prop_assert!(ours == theirs || x.is_nan() && ours.is_nan(), "{x}: {ours}, {theirs}");
            }
        }

        #[test]
        fn rounding_moves_by_half_a_step_at_most(value in -1e9f64..1e9, exponent in -20i32..20) {
            let grid = Grid::new(2f64.powi(exponent)).unwrap();
            let units = grid.round(&[value]).unwrap()[0];
            // Exact: the two are multiples of a common power of two with fewer than 53 bits between them.
            prop_assert!((grid.value(units) - value).abs() <= grid.step() / 2.0);
        }

        #[test]
        fn sensitivity_survives_rounding(
            pairs in prop::collection::vec((-100f64..100.0, -3f64..3.0), 1..40), exponent in -8i32..8,
        ) {
            let grid = Grid::new(2f64.powi(exponent)).unwrap();
            let (x, y): (Vec<f64>, Vec<f64>) = pairs.iter().map(|&(a, b)| (a, a + b)).unzip();
            let gaps = |f: &dyn Fn(f64) -> f64| x.iter().zip(&y).map(|(a, b)| f(b - a)).sum::<f64>();
            let (a, b) = (grid.round(&x).unwrap(), grid.round(&y).unwrap());
            let steps = |f: &dyn Fn(f64) -> f64| a.iter().zip(&b).map(|(a, b)| f((b - a) as f64)).sum::<f64>();
            let slack = 1.0 + 1e-12; // for the sums of this test
            let l2 = grid.l2_sensitivity(gaps(&|d| d * d).sqrt() * slack, x.len()).unwrap();
            prop_assert!(steps(&|d| d * d).sqrt() <= l2);
            let l1 = grid.l1_sensitivity(gaps(&f64::abs) * slack, x.len()).unwrap();
            prop_assert!(steps(&f64::abs) <= l1);
        }
    }

    #[test]
    fn what_cannot_be_rounded_is_refused() {
        let grid = Grid::new(2f64.powi(-40)).unwrap();
        assert_eq!(grid.round(&[2f64.powi(22), -2f64.powi(22)]).unwrap(), [1 << 62, -(1 << 62)]);
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, 2f64.powi(22).next_up()] {
            assert!(grid.round(&[0.0, value]).is_err(), "{value}");
        }
        assert_eq!(grid.round(&[5e-324, -5e-324, -0.0]).unwrap(), [0, 0, 0]);
    }

    #[test]
    fn steps_that_are_not_powers_of_two_are_refused() {
        for step in [
            0.0,
            -1.0,
            -0.5,
            3.0,
            0.1,
            f64::NAN,
            f64::INFINITY,
            2f64.powi(-101),
            2f64.powi(101),
            1f64.next_up(),
        ] {
            assert!(Grid::new(step).is_err(), "{step}");
        }
        for exponent in -100..=100 {
            assert!(Grid::new(2f64.powi(exponent)).is_ok());
        }
        assert!(Grid::new(1.0).unwrap().l2_sensitivity(f64::NAN, 1).is_err());
        assert!(Grid::new(1.0).unwrap().l1_sensitivity(-1.0, 1).is_err());
    }
}
