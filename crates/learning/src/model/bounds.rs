//! What a model promises whatever the data: how smooth it is, and how far anybody's rows can move its gradient.
//!
//! Proofs, for rows of norm at most `r`:
//!
//! * A row's Hessian is `l''(z)·x·x^T`, with `l'' <= 1/4` (logistic) or `1` (squared). For softmax it is the Kronecker product of
//!   `diag(p) - p·p^T`, whose norm is at most 1/2, and `x·x^T`. Means and a ridge add up.
//! * A row's gradient is `l'(z)·x` with `|l'| <= 1` (logistic), or `(p - e_y)·x^T` with `|p - e_y| <= sqrt(2)` (softmax).
//! * A row's clipped gradient of logistic and squared losses is `c(l'(z))·x`, where `c` cuts off at `±C/|x|`, in whichever norm: an increasing function of
//!   `z` that nowhere grows faster than `l'`. It is the gradient of a convex function (a Huber function, for squared losses) no less
//!   smooth, and gradient steps of at most `2/smoothness` on such functions do not expand distances (Baillon and Haddad).
//! * Shrinking a mean, or a softmax gradient, turns vectors and not numbers: the result is no gradient in general, and steps do
//!   expand distances (counterexamples in `tests/it/clipping.rs`).

use super::{Clip, Loss, Model};
use crate::linear::norm;
use crate::{Error, Result, Table, require};

impl Model {
    /// An upper bound of the smoothness of the objective, if rows have norm at most `radius`.
    pub fn smoothness(&self, radius: f64) -> f64 {
        let square = radius * radius;
        let curvature = match self.loss {
            Loss::Logistic => 0.25 * square,
            Loss::Squared => square,
            Loss::Softmax { .. } => 0.5 * square,
        };
        curvature + self.ridge
    }

    /// The largest norm of one row's gradient (without the ridge) if rows have norm at most `radius`, where there is one.
    pub fn lipschitz(&self, radius: f64) -> Option<f64> {
        match self.loss {
            Loss::Logistic => Some(radius),
            Loss::Softmax { .. } => Some(std::f64::consts::SQRT_2 * radius),
            Loss::Squared => None,
        }
    }

    /// Whether clipped gradients are still gradients of convex functions that are no less smooth, so that steps of at most
    /// `2/smoothness` do not expand distances. True without clipping, and for single rows of logistic and squared losses.
    /// For other combinations it is false: there are counterexamples with two rows ([`Clip::User`]) and with three classes.
    pub fn clipping_keeps_convex(&self, clip: Clip) -> bool {
        match clip {
            Clip::None => true,
            Clip::Example(_) | Clip::ExampleL1(_) => matches!(self.loss, Loss::Logistic | Loss::Squared),
            Clip::User(_) => false,
        }
    }

    /// Whether a step of this size moves no two models apart, if rows have norm at most `radius`: convex losses, clipping that keeps them so, and a step of
    /// at most `2/smoothness`. Never where nothing bounds the rows.
    pub fn keeps_distances(&self, clip: Clip, radius: Option<f64>, step: f64) -> bool {
        let smoothness = radius.map_or(f64::INFINITY, |radius| self.smoothness(radius));
        self.clipping_keeps_convex(clip) && step <= 2.0 / smoothness
    }

    /// How far replacing *all* rows of a user can move her gradient (the ridge does not move): in the norm of the clip, which is the 1-norm of
    /// [`Clip::ExampleL1`] (so at most as far in the 2-norm, too) and else the 2-norm.
    ///
    /// With a clip this holds for any rows; without one, only if all rows, those that might have been there included, have norm at
    /// most `radius` ([`Model::require_radius`]).
    pub fn sensitivity(&self, clip: Clip, radius: f64) -> Result<f64> {
        clip.check()?;
        match clip {
            Clip::None => Ok(2.0 * self.longest(radius)?),
            clip => Ok(clip.sensitivity()),
        }
    }

    /// How far replacing *one* of a peer's rows can move her gradient, if she has `rows_of_peer` of them before and after.
    pub fn record_sensitivity(&self, clip: Clip, radius: f64, rows_of_peer: usize) -> Result<f64> {
        require(rows_of_peer != 0, "rows_of_peer", 0, "a peer without rows has none to replace")?;
        let all = self.sensitivity(clip, radius)?;
        match clip {
            Clip::None | Clip::Example(_) | Clip::ExampleL1(_) => Ok(all / rows_of_peer as f64),
            Clip::User(_) => Ok(all),
        }
    }

    /// Refuses tables with a row longer than `radius` (up to a relative 1e-9).
    pub fn require_radius(table: &Table, radius: f64) -> Result<()> {
        check_radius(radius)?;
        for row in 0..table.rows() {
            let length = norm(table.row(row));
            if length > radius * (1.0 + 1e-9) {
                let remedy = format!("rows must not be longer than {radius}; normalise the rows, or clip");
                return Err(Error::row("norm", length, row, remedy));
            }
        }
        Ok(())
    }

    fn longest(&self, radius: f64) -> Result<f64> {
        check_radius(radius)?;
        self.lipschitz(radius).ok_or_else(|| {
            let remedy = "gradients of the squared loss are unbounded; clip each row's, or each peer's";
            Error::parameter("clipped", "nothing", remedy)
        })
    }
}

fn check_radius(radius: f64) -> Result<()> {
    if radius.is_finite() && radius > 0.0 {
        return Ok(());
    }
    Err(Error::parameter("radius", radius, "give the largest norm of a row, a positive number"))
}
