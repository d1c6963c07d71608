//! Private vectors as they leave a node: no longer than was agreed on, truly, and on the grid.
//!
//! Whoever computed a vector, the node shortens it. What is promised of its length is a bound on real numbers, not up to rounding: a vector that is
//! shortened is made shorter than the bound by more than all operations together can be off.

use sottovoce_privacy::noise::exact::Grid;

use crate::Result;

/// A double is off by at most this share after one operation.
const OFF: f64 = f64::EPSILON;

/// What length means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Norm {
    /// The sum of sizes.
    One,
    /// The root of the sum of squares.
    Two,
}

/// Shortens a vector to at most this length. `false` if it is no vector of finite numbers: then it is zero.
///
/// The vector is divided by its largest number first, so that neither squares nor factors leave the range of doubles.
pub(crate) fn shorten(vector: &mut [f64], most: f64, norm: Norm) -> bool {
    let finite = vector.iter().all(|x| x.is_finite());
    let largest = vector.iter().fold(0.0, |most: f64, x| if x.abs() > most { x.abs() } else { most });
    if !(finite && most > 0.0 && most.is_finite()) {
        vector.fill(0.0);
        return finite;
    }
    if largest == 0.0 {
        return true;
    }
    // In units of the largest: each term is off by three roundings, and each partial sum by one.
    let sizes = vector.iter().map(|x| (x / largest).abs());
    let length = match norm {
        Norm::One => sizes.sum::<f64>(),
        Norm::Two => sizes.map(|x| x * x).sum::<f64>().sqrt(),
    };
    let length = length * (1.0 + (vector.len() as f64 + 16.0) * OFF);
    if length <= most / largest * (1.0 - 4.0 * OFF) {
        return true;
    }
    let factor = most / length * (1.0 - 16.0 * OFF);
    vector.iter_mut().for_each(|x| *x = *x / largest * factor);
    true
}

/// A vector of at most this length in steps of the grid; one that is none of finite numbers is zero.
pub(crate) fn stepped(grid: Grid, vector: &mut [f64], most: f64, norm: Norm) -> Result<Vec<i64>> {
    shorten(vector, most, norm);
    Ok(grid.round(vector)?)
}

/// What is public of a step: numbers in steps of the grid, each taken to the nearest within reach. What is no number is 0.
pub(crate) fn within(grid: Grid, numbers: impl Iterator<Item = f64>, reach: i64) -> Vec<i64> {
    let one = |x: f64| {
        let units = grid.units_of(x).round_ties_even();
        if units.is_nan() { 0 } else { (units as i64).clamp(-reach, reach) }
    };
    numbers.map(one).collect()
}

/// The same as numbers: where a step is made from, whatever others sent.
pub(crate) fn reached(grid: Grid, numbers: &[f64], reach: i64) -> Vec<f64> {
    within(grid, numbers.iter().copied(), reach).into_iter().map(|units| grid.value(units)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The exact length of a vector of doubles, in units of `2^-1074`, is beyond 64 bits: compare squares in big pieces instead.
    fn is_at_most(vector: &[f64], most: f64) -> bool {
        // Sums of squares in double-double.
        let (mut sum, mut rest) = (0.0f64, 0.0f64);
        for x in vector {
            let square = x * x;
            let error = x.mul_add(*x, -square);
            let next = sum + square;
            let part = next - sum;
            rest += (sum - (next - part)) + (square - part) + error;
            sum = next;
        }
        sum + rest <= most * most
    }

    #[test]
    fn nothing_is_longer_than_was_agreed_on() {
        let mut state = 7u64;
        let mut unit = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 11) as f64 / 2f64.powi(53) - 0.5
        };
        for width in [1, 2, 3, 17, 1000] {
            for size in [1e-300, 1e-12, 0.9, 1.0, 1.1, 1e12, 1e300] {
                for most in [1e-6, 0.37, 1.0, 1e6] {
                    let mut vector: Vec<f64> = (0..width).map(|_| size * unit()).collect();
                    let before = vector.clone();
                    assert!(shorten(&mut vector, most, Norm::Two));
                    assert!(is_at_most(&vector, most), "{width} {size} {most}");
                    let mut other = before.clone();
                    assert!(shorten(&mut other, most, Norm::One));
                    // Sums of sizes, from above.
                    let sum = other.iter().map(|x| x.abs()).sum::<f64>() * (1.0 - f64::from(width) * 1e-16);
                    assert!(sum <= most && is_at_most(&other, most), "{width} {size} {most}: {sum}");
                    let length = vector.iter().map(|x| x * x).sum::<f64>().sqrt();
                    assert!(
                        vector == before || length > most * (1.0 - 1e-9),
                        "{width} {size} {most}: {length}"
                    );
                }
            }
        }
    }

    #[test]
    fn wild_numbers_are_short_or_nothing() {
        for wild in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let mut vector = vec![1.0, wild];
            assert!(!shorten(&mut vector, 1.0, Norm::Two));
            assert_eq!(vector, [0.0, 0.0]);
        }
        let mut vector = vec![f64::MAX, -f64::MAX, 5e-324];
        assert!(shorten(&mut vector, 1.0, Norm::Two) && is_at_most(&vector, 1.0) && vector[0] > 0.7);
        for most in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let mut vector = vec![1.0];
            shorten(&mut vector, most, Norm::One);
            assert_eq!(vector, [0.0], "a bound that is none lets nothing through");
        }
        let grid = Grid::new(0.25).unwrap();
        assert_eq!(within(grid, [1.1, f64::NAN, f64::INFINITY, -1e300].into_iter(), 7), [4, 0, 7, -7]);
        assert_eq!(stepped(grid, &mut [3.0, 4.0], 1.0, Norm::Two).unwrap(), [2, 3]);
        assert!(stepped(grid, &mut [], 1.0, Norm::One).unwrap().is_empty());
    }
}
