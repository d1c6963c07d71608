//! Gradients, clipped before anybody sees them.
//!
//! Simulations of thousands of peers spend their time here, on shards of a few short rows. So there is no allocation and one
//! pass: a dot product, the derivative of the loss along the row, and the row times it (`along.rs`). For a linear model with one score a row's
//! gradient is a number times the row, so clipping a row is clipping a number, whatever the norm; for softmax it is a column times the row, and norms of
//! such a product are products of norms.

use super::along::{AlongRows, Logistic, Squared};
use super::{Clip, Loss, Model};
use crate::Shard;
use crate::linear::{add_multiple, dot, norm, sum_of_sizes};
use crate::widest::go;

/// Scores of this many classes fit on the stack.
const FEW_CLASSES: usize = 128;

impl Model {
    /// The mean gradient over the rows, clipped as asked, plus `ridge·theta` (which no data moves, so it is added after
    /// clipping), written to `out`. Without rows, the mean is 0.
    ///
    /// # Panics
    ///
    /// If `theta`, `data` or `out` have other widths than the model.
    pub fn gradient(&self, theta: &[f64], data: Shard<'_>, clip: Clip, out: &mut [f64]) {
        self.gradient_while(theta, data, Bounded::by(clip), out, |_| ());
    }

    /// The same. Every [`TURN`](super::TURN) rows `meanwhile` is called, with 0, 1, ...: whoever computes one gradient after the other waits for memory half of
    /// the time, and can ask for the next one's rows there.
    ///
    /// # Panics
    ///
    /// As [`gradient`](Self::gradient).
    #[inline]
    pub(crate) fn gradient_while<F: Copy + Into<f64>>(
        &self,
        theta: &[f64],
        data: Shard<'_, F>,
        bounded: Bounded,
        out: &mut [f64],
        meanwhile: impl FnMut(usize),
    ) {
        self.check_shapes(theta, data);
        assert_eq!(out.len(), theta.len(), "the gradient has as many numbers as theta");
        out.fill(0.0);
        let bound = bounded.rows;
        match self.loss {
            Loss::Logistic => {
                go(AlongRows { theta, data, bound, out, derivative: Logistic, meanwhile });
            }
            Loss::Squared => {
                go(AlongRows { theta, data, bound, out, derivative: Squared, meanwhile });
            }
            Loss::Softmax { classes } => softmax(theta, data, bound, out, classes),
        }
        bounded.shorten_mean(out);
        if self.ridge != 0.0 {
            add_multiple(out, self.ridge, theta);
        }
    }
}

/// What clipping asks for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounded {
    /// How long each row's gradient may be.
    rows: Option<Bound>,
    /// How long the mean may be.
    mean: Option<f64>,
}

impl Bounded {
    /// By this clipping, whatever the rows.
    pub(crate) fn by(clip: Clip) -> Self {
        let row = |bound, norm| Some(Bound { most: positive(bound), norm, free: -1.0 });
        match clip {
            Clip::None => Self { rows: None, mean: None },
            Clip::Example(bound) => Self { rows: row(bound, Norm::Two), mean: None },
            Clip::ExampleL1(bound) => Self { rows: row(bound, Norm::One), mean: None },
            Clip::User(bound) => Self { rows: None, mean: Some(positive(bound)) },
        }
    }

    /// Shortens the gradient of one row, whoever computed it.
    pub(crate) fn shorten_row(self, gradient: &mut [f64]) {
        if let Some(bound) = self.rows {
            shrink(gradient, bound.most, bound.norm);
        }
    }

    /// Shortens a mean over rows.
    pub(crate) fn shorten_mean(self, gradient: &mut [f64]) {
        if let Some(most) = self.mean {
            shrink(gradient, most, Norm::Two);
        }
    }

    /// The largest slope that clips none of these rows.
    pub(crate) fn free(self, rows: Shard<'_>) -> f64 {
        let each = rows.features.chunks_exact(rows.width);
        self.rows.map_or(f64::INFINITY, |bound| each.map(|row| bound.over(row)).fold(f64::INFINITY, f64::min))
    }

    /// The same for rows of which that is known: it takes less time.
    pub(crate) fn knowing(self, free: f64) -> Self {
        Self { rows: self.rows.map(|bound| Bound { free, ..bound }), ..self }
    }
}

/// How long a row's gradient may be.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bound {
    most: f64,
    norm: Norm,
    /// No slope up to this clips a row; negative where nothing is known of the rows.
    free: f64,
}

impl Bound {
    /// How long the other factor may be, if the gradient is a product with this row.
    #[inline(always)]
    fn over<F: Copy + Into<f64>>(self, row: &[F]) -> f64 {
        self.most / self.norm.of(row)
    }

    /// Whether none of these slopes is clipped, whatever the row.
    #[inline(always)]
    pub(super) fn frees(self, slopes: &[f64]) -> bool {
        slopes.iter().fold(true, |all, slope| all & (slope.abs() <= self.free))
    }

    /// The slope along a row, clipped.
    #[inline(always)]
    pub(super) fn clip<F: Copy + Into<f64>>(self, slope: f64, row: &[F]) -> f64 {
        if slope.abs() <= self.free {
            return slope;
        }
        // `max` and `min` also bound what is not a number.
        let most = self.over(row);
        slope.max(-most).min(most)
    }
}

/// What length means.
#[derive(Debug, Clone, Copy)]
enum Norm {
    One,
    Two,
}

impl Norm {
    #[inline(always)]
    fn of<F: Copy + Into<f64>>(self, vector: &[F]) -> f64 {
        match self {
            Self::One => sum_of_sizes(vector),
            Self::Two => norm(vector),
        }
    }
}

/// A bound that lets nothing through where none was meant to be given.
fn positive(bound: f64) -> f64 {
    if bound > 0.0 { bound } else { 0.0 }
}

/// Adds the mean over the rows of `(p - e_y) x^T`, where `p` are the probabilities of the classes.
fn softmax<F: Copy + Into<f64>>(
    theta: &[f64],
    data: Shard<'_, F>,
    bound: Option<Bound>,
    out: &mut [f64],
    classes: usize,
) {
    let (mut few, mut many) = ([0.0; FEW_CLASSES], Vec::new());
    let scores = match few.get_mut(..classes) {
        Some(scores) => scores,
        None => {
            many.resize(classes, 0.0);
            &mut many[..]
        }
    };
    let share = 1.0 / data.labels.len() as f64;
    for (row, &label) in data.features.chunks_exact(data.width).zip(data.labels) {
        residuals(theta, row, label, scores);
        if let Some(bound) = bound {
            shrink(scores, bound.over(row), bound.norm);
        }
        for (block, residual) in out.chunks_exact_mut(data.width).zip(scores.iter()) {
            add_multiple(block, share * residual, row);
        }
    }
}

/// Probabilities of the classes, less 1 at the label.
fn residuals<F: Copy + Into<f64>>(theta: &[f64], row: &[F], label: f64, scores: &mut [f64]) {
    for (score, block) in scores.iter_mut().zip(theta.chunks_exact(row.len())) {
        *score = dot(block, row);
    }
    let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    scores.iter_mut().for_each(|score| *score = (*score - largest).exp());
    let sum: f64 = scores.iter().sum();
    scores.iter_mut().for_each(|score| *score /= sum);
    if let Some(own) = scores.get_mut(label as usize) {
        *own -= 1.0;
    }
}

/// Shortens a vector to at most this length. One without a length, after an overflow, becomes 0.
fn shrink(vector: &mut [f64], bound: f64, norm: Norm) {
    let length = norm.of(vector);
    if length <= bound {
        return;
    }
    let factor = bound / length;
    for x in vector {
        *x = if x.is_finite() && factor.is_finite() { *x * factor } else { 0.0 };
    }
}
