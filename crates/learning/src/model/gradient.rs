//! Gradients, clipped before anybody sees them.
//!
//! Simulations of thousands of peers spend their time here, on shards of a few short rows. So there is no allocation and one
//! pass: a dot product, the derivative of the loss along the row, and the row times it. For a linear model with one score a row's
//! gradient is a number times the row, so clipping a row is clipping a number, whatever the norm; for softmax it is a column times the row, and norms of
//! such a product are products of norms.

use super::{Clip, Loss, Model};
use crate::Shard;
use crate::linear::{add_multiple, dot, norm, sum_of_sizes};

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
        self.gradient_while(theta, data, clip, out, |_| ());
    }

    /// The same. At the turn of each row, `meanwhile` is called with its number: whoever computes one gradient after the other waits for memory half of the
    /// time, and can ask for the next one's rows there ([`Shards::fetch`](crate::Shards::fetch)).
    ///
    /// # Panics
    ///
    /// As [`gradient`](Self::gradient).
    #[inline]
    pub fn gradient_while(
        &self,
        theta: &[f64],
        data: Shard<'_>,
        clip: Clip,
        out: &mut [f64],
        meanwhile: impl FnMut(usize),
    ) {
        self.check_shapes(theta, data);
        assert_eq!(out.len(), theta.len(), "the gradient has as many numbers as theta");
        out.fill(0.0);
        let bound = match clip {
            Clip::Example(bound) => Some(Bound { most: positive(bound), norm: Norm::Two }),
            Clip::ExampleL1(bound) => Some(Bound { most: positive(bound), norm: Norm::One }),
            Clip::None | Clip::User(_) => None,
        };
        match self.loss {
            Loss::Logistic => along_rows(theta, data, bound, out, logistic_slope, meanwhile),
            Loss::Squared => along_rows(theta, data, bound, out, |score, label| score - label, meanwhile),
            Loss::Softmax { classes } => softmax(theta, data, bound, out, classes),
        }
        if let Clip::User(bound) = clip {
            shrink(out, positive(bound), Norm::Two);
        }
        if self.ridge != 0.0 {
            add_multiple(out, self.ridge, theta);
        }
    }
}

/// How long a row's gradient may be.
#[derive(Clone, Copy)]
struct Bound {
    most: f64,
    norm: Norm,
}

impl Bound {
    /// How long the other factor may be, if the gradient is a product with this row.
    #[inline(always)]
    fn over(self, row: &[f64]) -> f64 {
        self.most / self.norm.of(row)
    }
}

/// What length means.
#[derive(Clone, Copy)]
enum Norm {
    One,
    Two,
}

impl Norm {
    #[inline(always)]
    fn of(self, vector: &[f64]) -> f64 {
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

/// The derivative of `ln(1 + exp(-y·z))` in `z`; the exponential may overflow, and then the slope is 0.
#[inline(always)]
fn logistic_slope(score: f64, label: f64) -> f64 {
    -label / (1.0 + (label * score).exp())
}

/// Adds the mean over the rows of `derivative(x·theta, y)·x`.
#[inline(always)]
fn along_rows(
    theta: &[f64],
    data: Shard<'_>,
    bound: Option<Bound>,
    out: &mut [f64],
    derivative: impl Fn(f64, f64) -> f64,
    mut meanwhile: impl FnMut(usize),
) {
    let share = 1.0 / data.labels.len() as f64;
    let rows = data.features.chunks_exact(data.width).zip(data.labels);
    for (number, (row, &label)) in rows.enumerate() {
        meanwhile(number);
        let mut slope = derivative(dot(theta, row), label);
        if let Some(bound) = bound {
            // `max` and `min` also bound what is not a number.
            let most = bound.over(row);
            slope = slope.max(-most).min(most);
        }
        add_multiple(out, share * slope, row);
    }
}

/// Adds the mean over the rows of `(p - e_y) x^T`, where `p` are the probabilities of the classes.
fn softmax(theta: &[f64], data: Shard<'_>, bound: Option<Bound>, out: &mut [f64], classes: usize) {
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
fn residuals(theta: &[f64], row: &[f64], label: f64, scores: &mut [f64]) {
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
