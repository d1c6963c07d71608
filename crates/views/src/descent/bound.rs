//! From a block of the projection to a loss: how far `T` shifts of length at most one can move what is seen.
//!
//! With `P` the block of a peer's variables, shifts `d_t` (vectors of any dimension) move the view by `Σ_st P_st <d_s, d_t>`,
//! squared. Whenever `diag(y) - P` has no negative eigenvalue that is at most `Σ_t y_t`. Three such `y` are tried:
//! `y_s = Σ_t |P_st|`, which is attained where no entry is negative; the largest eigenvalue everywhere; and one that belongs to
//! shifts found by turning each towards what it gains most from, scaled until it is valid. The last is the exact supremum up to
//! how far the search got; whatever it found, the bound holds.

use sottovoce_dense::{Mat, eigenvalues};

/// Rounds of turning, at most.
const SWEEPS: usize = 200;
/// Dimensions in which shifts are sought, at most. The square root of `2 T` is always enough.
const DIMENSIONS: usize = 16;
/// Where a sweep gains less than this, relatively, there is nothing left to gain.
const SETTLED: f64 = 1e-10;

/// The smallest of the three bounds, and of `T`. `rounding` bounds the error of each entry, relative to the diagonal entries it
/// belongs to.
pub(super) fn largest_shift(block: &Mat, rounding: f64) -> f64 {
    let steps = block.nrows() as f64;
    let (mut sum, mut trace, mut signed) = (0.0, 0.0, false);
    for (j, column) in block.cols().enumerate() {
        for (i, &x) in column.iter().enumerate() {
            sum += x.abs();
            signed |= x < 0.0;
            trace += if i == j { x } else { 0.0 };
        }
    }
    if signed {
        sum = sum.min(scaled(block, &vec![1.0; block.nrows()])).min(scaled(block, &gains(block)));
    }
    (sum + rounding * steps * trace).min(steps)
}

/// The bound by the smallest multiple of `y` that is valid; infinite if there is none.
fn scaled(block: &Mat, y: &[f64]) -> f64 {
    let root = |i: usize| y[i].max(f64::MIN_POSITIVE).sqrt();
    let balanced = Mat::from_fn(y.len(), y.len(), |i, j| block[(i, j)] / (root(i) * root(j)));
    let values = eigenvalues(&balanced).unwrap_or_default();
    let bound = values.into_iter().fold(f64::NEG_INFINITY, f64::max) * y.iter().sum::<f64>();
    if bound.is_finite() { bound } else { f64::INFINITY }
}

/// What each shift gains, once each was turned towards the sum of the others, as `block` weighs them, again and again.
fn gains(block: &Mat) -> Vec<f64> {
    let (steps, width) = (block.nrows(), block.nrows().min(DIMENSIONS));
    // Any start will do in which no two shifts are alike.
    let start = |t: usize, k: usize| ((t * 7919 + k * 104_729 + t * k * 31) % 1009) as f64 - 504.3;
    let mut shifts: Vec<Vec<f64>> = (0..steps).map(|t| (0..width).map(|k| start(t, k)).collect()).collect();
    shifts.iter_mut().for_each(|shift| {
        normalise(shift);
    });
    let (mut gains, mut before) = (vec![0.0; steps], 0.0);
    for _ in 0..SWEEPS {
        for t in 0..steps {
            let mut others = vec![0.0; width];
            for (s, shift) in shifts.iter().enumerate().filter(|(s, _)| *s != t) {
                others.iter_mut().zip(shift).for_each(|(sum, x)| *sum += block[(s, t)] * x);
            }
            let length = normalise(&mut others);
            if length > 0.0 {
                shifts[t] = others;
            }
            gains[t] = block[(t, t)] + length;
        }
        let now = gains.iter().sum::<f64>();
        if (now - before).abs() <= SETTLED * now {
            break;
        }
        before = now;
    }
    gains
}

/// To length one, if it has a length, which is returned.
fn normalise(shift: &mut [f64]) -> f64 {
    let length = shift.iter().map(|x| x * x).sum::<f64>().sqrt();
    if length > 0.0 {
        shift.iter_mut().for_each(|x| *x /= length);
    }
    length
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shift(entries: &[&[f64]]) -> f64 {
        largest_shift(&Mat::from_fn(entries.len(), entries.len(), |i, j| entries[i][j]), 0.0)
    }

    #[test]
    fn the_smallest_bound_counts() {
        assert_eq!(shift(&[&[0.25, 0.125], &[0.125, 0.5]]), 1.0);
        // Opposite shifts see as much.
        assert!((shift(&[&[0.25, -0.125], &[-0.125, 0.25]]) - 0.75).abs() < 1e-14);
        assert_eq!(shift(&[&[1.0, 1.0], &[1.0, 1.0]]), 2.0);
        assert_eq!(largest_shift(&Mat::zeros(4, 4), 1e-9), 0.0);
    }

    /// Three shifts cannot all point away from one another: at best they do so by 120 degrees.
    #[test]
    fn frustrated_shifts_are_bounded_exactly() {
        let (a, b) = (0.5, -0.25);
        assert!((shift(&[&[a, b, b], &[b, a, b], &[b, b, a]]) - 2.25).abs() < 1e-12);
        // Unequal sizes: neither sums nor eigenvalues are exact. Shifts in the plane, by their angles.
        let (b, c) = ([0.6, -0.3, -0.25], [-0.3, 0.5, -0.2]);
        let value = |b: f64, c: f64| 1.55 - 2.0 * (0.3 * b.cos() + 0.25 * c.cos() + 0.2 * (b - c).cos());
        let angles = || (0..2000).map(|i| f64::from(i) * std::f64::consts::PI / 1000.0);
        let best = angles().flat_map(|b| angles().map(move |c| value(b, c))).fold(0.0, f64::max);
        let found = shift(&[&b, &c, &[-0.25, -0.2, 0.45]]);
        assert!(found >= best && found < best + 1e-5, "{found} {best}");
        assert!(best > value(0.0, std::f64::consts::PI).max(value(std::f64::consts::PI, 0.0)) + 1e-3);
    }
}
