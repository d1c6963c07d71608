//! A private warm start: an agent's locally trained model, released once under noise (output perturbation, Chaudhuri, Monteleoni and Sarwate 2011).
//!
//! How far one row moves it, and that everything in this is public: Theorem B of `docs/theorems/personalized.md`. Squared losses have no longest gradient, and are
//! refused. The noise is the caller's: of density proportional to `exp(-|b|_2 eps/sensitivity)` for a pure epsilon, or Gaussian.

use sottovoce_learning::{Model, Shard};

use super::block::Block;
use crate::{Error, Result, require};

/// What the solver may leave, as a part of the longest gradient of a row.
const RESIDUAL: f64 = 1e-9;

/// A model to be released under noise.
#[derive(Debug, Clone, PartialEq)]
pub struct Warm {
    /// The minimum of the own loss: private.
    pub model: Vec<f64>,
    /// How far one row, replaced, can move it, in the 2-norm: public.
    pub sensitivity: f64,
}

impl Warm {
    /// How far one of `rows` rows no longer than `radius`, replaced, can move the minimum that the solver finds.
    pub fn sensitivity(model: Model, radius: f64, rows: usize) -> Result<f64> {
        require(rows > 0, "rows", 0, "without rows there is nothing to release")?;
        require(
            model.ridge.is_finite() && model.ridge > 0.0,
            "ridge",
            model.ridge,
            "give a positive number, the same whatever the rows",
        )?;
        require(
            radius.is_finite() && radius > 0.0,
            "radius",
            radius,
            "give the largest norm of a row, a positive number",
        )?;
        let remedy =
            "its gradients have no bound, so one row may move the minimum anywhere; begin at a public model";
        let longest = model.lipschitz(radius).ok_or_else(|| Error::parameter("loss", "squared", remedy))?;
        let sensitivity = 2.0 * longest / model.ridge * (1.0 / rows as f64 + RESIDUAL);
        // A few roundings, each of less than a part in 10^15.
        Ok(sensitivity * (1.0 + 1e-14))
    }
}

/// An agent's locally trained model, exactly, and how far it can move.
pub fn warm(model: Model, rows: Shard<'_>, radius: f64) -> Result<Warm> {
    let sensitivity = Warm::sensitivity(model, radius, rows.labels.len())?;
    let solved = Block::alone(model, rows, &vec![0.0; model.parameters()]).solve()?;
    let left = RESIDUAL * model.lipschitz(radius).unwrap_or(0.0);
    if solved.residual <= left {
        return Ok(Warm { model: solved.model, sensitivity });
    }
    Err(Error::refused(
        "the local model was not found to a billionth, which its noise relies on; give a larger ridge",
    ))
}

#[cfg(test)]
mod tests {
    use super::super::block::norm;
    use super::*;
    use sottovoce_learning::Loss;

    const LOGISTIC: Model = Model { loss: Loss::Logistic, width: 2, ridge: 0.2 };

    /// Every neighbour on a grid of the disc, with both labels: the farthest moves nearly as far as is said where curvature is small, and never farther.
    #[test]
    fn no_neighbour_moves_farther_than_said() {
        let grid: Vec<([f64; 2], f64)> = (0..16)
            .flat_map(|turn| {
                let (sine, cosine) = (std::f64::consts::TAU * f64::from(turn) / 16.0).sin_cos();
                [1.0, -1.0].map(|label| ([cosine, sine], label))
            })
            .collect();
        for (ridge, kept, near) in [(0.2, 3, 0.1), (50.0, 1, 0.45)] {
            let model = Model { ridge, ..LOGISTIC };
            let solve = |first: &([f64; 2], f64)| {
                let all: Vec<_> = [first].into_iter().chain(&grid[3..3 + kept]).collect();
                let features: Vec<f64> = all.iter().flat_map(|(row, _)| *row).collect();
                let labels: Vec<f64> = all.iter().map(|(_, label)| *label).collect();
                warm(model, Shard { features: &features, labels: &labels, width: 2 }, 1.0).unwrap()
            };
            let all: Vec<Warm> = grid.iter().map(solve).collect();
            let apart = |a: &Warm, b: &Warm| norm(&[a.model[0] - b.model[0], a.model[1] - b.model[1]]);
            let farthest = all.iter().flat_map(|a| all.iter().map(|b| apart(a, b))).fold(0.0, f64::max);
            let said = all[0].sensitivity;
            assert!(farthest <= said && farthest >= near * said, "{ridge}: {farthest} {said}");
        }
    }

    #[test]
    fn a_ridge_of_one_over_m_makes_sensitivity_independent_of_m() {
        let of = |rows: usize| {
            Warm::sensitivity(Model { ridge: 1.0 / rows as f64, ..LOGISTIC }, 1.0, rows).unwrap()
        };
        assert!((of(10) - 2.0).abs() < 1e-6 && (of(1000) - 2.0).abs() < 1e-5);
        assert!((Warm::sensitivity(LOGISTIC, 3.0, 100).unwrap() - 0.3).abs() < 1e-6);
        let refused = |model, radius, rows| Warm::sensitivity(model, radius, rows).unwrap_err().to_string();
        assert!(refused(Model { loss: Loss::Squared, ..LOGISTIC }, 1.0, 5).starts_with("`loss` is squared"));
        assert!(refused(Model { ridge: 0.0, ..LOGISTIC }, 1.0, 5).starts_with("`ridge` is 0"));
        assert!(refused(LOGISTIC, f64::NAN, 5).starts_with("`radius` is NaN"));
        assert!(refused(LOGISTIC, 1.0, 0).starts_with("`rows` is 0"));
    }
}
