//! Rank-revealing least squares on the messages: which directions doubles can see, and how to get at them.
//!
//! The messages of a well-mixed run are nearly parallel. A direction with singular value `s` is recovered with the rounding of
//! the messages divided by `s`; below [`TOLERANCE`] of the largest it is left out. The exact loss counts it: someone with more
//! digits would see it.

use sottovoce_dense::{Mat, MatRef, Svd, thin_svd};

use super::{Error, Result};

/// Singular values below this share of the largest are not used.
pub const TOLERANCE: f64 = 1e-11;

/// The projection onto the span of the messages, for some of the variables.
pub(super) struct Projector {
    /// Row `u` times the messages is the projection of variable `u`, for the first `targets` variables.
    pub(super) weights: Mat,
    /// The squared length of each projection.
    pub(super) leverages: Vec<f64>,
    /// Number of directions used.
    pub(super) rank: usize,
    /// How far the space may be turned by the rounding of messages and coefficients.
    pub(super) rounding: f64,
}

impl Projector {
    /// From messages as rows over standardised variables.
    pub(super) fn new(messages: MatRef<'_>, targets: usize) -> Result<Self> {
        let (rows, columns) = (messages.nrows(), messages.ncols());
        if rows == 0 || columns == 0 {
            return Ok(Self {
                weights: Mat::zeros(targets, rows),
                leverages: vec![0.0; targets],
                rank: 0,
                rounding: 0.0,
            });
        }
        let Svd { u: left, values, v } = thin_svd(messages).ok_or(Error::Unsolved(rows))?;
        let rank = values.iter().filter(|&&s| s > TOLERANCE * values[0]).count();
        let smallest = if rank > 0 { values[rank - 1] } else { 1.0 };
        let rounding = 16.0 * f64::EPSILON * values[0] / smallest;
        // Rounding must not make a rumour of somebody who was never mentioned.
        let heard: Vec<bool> = (0..targets).map(|u| (0..rows).any(|row| messages[(row, u)] != 0.0)).collect();
        let right = Mat::from_fn(targets, rank, |u, k| if heard[u] { v[(u, k)] } else { 0.0 });
        let scaled = Mat::from_fn(rows, rank, |row, k| left[(row, k)] / values[k]);
        let leverages = (0..targets).map(|u| right.row(u).map(|x| x * x).sum::<f64>().min(1.0)).collect();
        Ok(Self { weights: &right * scaled.transpose(), leverages, rank, rounding })
    }

    /// Whether anything of variable `u` stands out from rounding.
    pub(super) fn sees(&self, u: usize) -> bool {
        self.leverages[u] > (10.0 * self.rounding).powi(2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn projections_are_exact_where_variables_are_pinned_down() {
        // Messages x0 + x1 and x0 - x1 reveal both; x2 and x3 only together.
        let messages = Mat::from_fn(3, 4, |row, column| {
            [[1.0, 1.0, 0.0, 0.0], [1.0, -1.0, 0.0, 0.0], [0.0, 0.0, 3.0, 3.0]][row][column]
        });
        let projector = Projector::new(messages.as_ref(), 4).unwrap();
        let want = [1.0, 1.0, 0.5, 0.5];
        assert!(projector.leverages.iter().zip(want).all(|(f, want)| (f - want).abs() < 1e-14));
        let seen = &projector.weights * &messages;
        assert!((seen[(0, 0)] - 1.0).abs() < 1e-14 && seen[(0, 1)].abs() < 1e-14);
        assert!((seen[(2, 3)] - 0.5).abs() < 1e-14 && projector.rank == 3);
    }

    #[test]
    fn what_is_not_heard_is_not_seen() {
        let messages = Mat::from_fn(2, 3, |row, column| if column == row { 1.0 } else { 0.0 });
        let projector = Projector::new(messages.as_ref(), 3).unwrap();
        assert!(projector.leverages[2] == 0.0 && !projector.sees(2) && projector.sees(1));
        assert!(!Projector::new(Mat::zeros(0, 3).as_ref(), 3).unwrap().sees(0));
    }

    #[test]
    fn directions_below_the_tolerance_are_left_out() {
        let tiny = 1e-13;
        let messages = Mat::from_fn(2, 2, |row, column| if column == 0 { 1.0 } else { tiny * row as f64 });
        let projector = Projector::new(messages.as_ref(), 2).unwrap();
        assert_eq!(projector.rank, 1);
        assert!((projector.leverages[0] - 1.0).abs() < 1e-14 && projector.leverages[1] < 1e-25);
    }
}
