//! Each example's gradient shortened to a bound, without ever writing it down.
//!
//! ```text
//! norm² of an example = sum over layers       linear:        |x|² |d|² + |d|²
//!                                             convolution:   of its own gradient, kept where it is small; else
//!                                                            sum_(s,t) (x_s·x_t)(d_s·d_t) over pixels, or its own gradient, the cheaper
//!                                             GroupNorm:     of its own gradient
//! factor = 1, or bound/norm                   then one product of all examples, weighted by their factors
//! ```
//!
//! A norm that is not finite says that the gradient may not be: such an example counts for nothing, and is counted.

use super::activation::scale;
use super::convolution::{each_few, gradients};
use super::ghost;
use super::lanes::{LANES, Row, ZERO, add_squares, sum_rows, total};
use super::product::{add_outer, transpose};
use super::scratch::{Scratch, padded};
use super::step::{Step, Work};

/// Norms are right to a few parts in a million; gradients are made shorter by more than that, so that none is longer than the bound.
pub(super) const MARGIN: f64 = 1.0 - 4e-6;

/// What an example's gradient is multiplied by.
pub(super) fn factor(squares: f64, bound: f32) -> Option<f32> {
    let norm = squares.sqrt();
    let most = MARGIN * f64::from(bound);
    // Written so that what is not a number has no factor.
    if norm <= most {
        Some(1.0)
    } else if norm < f64::INFINITY {
        Some((most / norm) as f32)
    } else {
        None
    }
}

impl Scratch {
    /// Adds a step's part to the squared norms; keeps its examples' gradients where that is how they are found.
    pub(super) fn add_norms(&mut self, step: &Step, squares: &mut [f64; LANES]) {
        let (x, deltas) = (&self.values[step.from.clone()], &self.deltas[step.to.clone()]);
        match &step.work {
            Work::Linear { .. } => {
                let (mut of_x, mut of_deltas) = ([0.0; LANES], [0.0; LANES]);
                add_squares(x, &mut of_x);
                add_squares(deltas, &mut of_deltas);
                for lane in 0..LANES {
                    squares[lane] += (of_x[lane] + 1.0) * of_deltas[lane];
                }
            }
            Work::Convolution { window, .. } if step.kept.len() < step.parameters.len() => {
                self.keep(step);
                let x = &self.values[step.from.clone()];
                let x = padded(x, step.image(), step.padding(), &mut self.padded);
                add_squares(&self.kept[step.kept.clone()], squares);
                ghost::add_norms(*window, x, &self.deltas[step.to.clone()], &mut self.channels, squares);
            }
            _ => {
                self.keep(step);
                add_squares(&self.kept[step.kept.clone()], squares);
            }
        }
    }

    /// Writes down the gradients of each example that are small enough: all of a small convolution, biases otherwise.
    pub(super) fn keep(&mut self, step: &Step) {
        let (x, deltas) = (&self.values[step.from.clone()], &self.deltas[step.to.clone()]);
        let kept = &mut self.kept[step.kept.clone()];
        match &step.work {
            Work::Convolution { window, padding } => {
                let (weights, biases) = kept.split_at_mut(kept.len() - window.channels.1);
                if !weights.is_empty() {
                    let x = padded(x, step.image(), *padding, &mut self.padded);
                    gradients(*window, x, deltas, 0..window.channels.1, weights);
                }
                for (bias, deltas) in biases.iter_mut().zip(deltas.chunks_exact(window.pixels())) {
                    sum_rows(deltas, bias);
                }
            }
            Work::GroupNorm(norm) => norm.gradients(x, &self.extra[step.extra.clone()], deltas, kept),
            _ => {}
        }
    }

    /// Adds the gradients of all examples, each times its factor. The differences of large convolutions are multiplied by it too.
    pub(super) fn add_sums(&mut self, step: &Step, factors: &Row, sum: &mut [f32]) {
        let sum = &mut sum[step.parameters.clone()];
        let x = &self.values[step.from.clone()];
        match &step.work {
            Work::Linear { inputs, outputs } => {
                let deltas = &self.deltas[step.to.clone()];
                let transposed = &mut self.transposed[..outputs.div_ceil(LANES)];
                transpose(deltas, factors, transposed);
                for (block, biases) in transposed.iter().zip(sum[inputs * outputs..].chunks_mut(LANES)) {
                    for row in block {
                        biases.iter_mut().zip(row).for_each(|(bias, delta)| *bias += delta);
                    }
                }
                add_outer(x, transposed, &mut self.totals[step.totals.clone()]);
            }
            Work::Convolution { window, padding } if step.kept.len() < step.parameters.len() => {
                let size = window.weights_of_channel();
                let deltas = &mut self.deltas[step.to.clone()];
                scale(factors, deltas);
                let x = padded(x, step.image(), *padding, &mut self.padded);
                each_few(*window, x, deltas, &mut self.channels, |first, rows| {
                    let sum = sum[first * size..].iter_mut();
                    rows.iter().zip(sum).for_each(|(row, sum)| *sum += total(row));
                });
                let biases = sum.len() - window.channels.1;
                add_kept(&self.kept[step.kept.clone()], factors, &mut sum[biases..]);
            }
            _ => add_kept(&self.kept[step.kept.clone()], factors, sum),
        }
    }

    /// Adds the sums that linear layers have collected, in the order in which weights lie, and empties them.
    pub(super) fn settle(&mut self, step: &Step, sum: &mut [f32]) {
        let Work::Linear { inputs, outputs } = step.work else { return };
        let sum = &mut sum[step.parameters.start..][..inputs * outputs];
        let totals = &mut self.totals[step.totals.clone()];
        for (totals, sum) in totals.chunks_exact_mut(inputs).zip(sum.chunks_mut(LANES * inputs)) {
            for (i, row) in totals.iter_mut().enumerate() {
                sum.iter_mut().skip(i).step_by(inputs).zip(&*row).for_each(|(sum, total)| *sum += total);
                *row = ZERO;
            }
        }
    }
}

/// Adds examples' gradients, each times its factor.
fn add_kept(kept: &[Row], factors: &Row, sum: &mut [f32]) {
    for (row, sum) in kept.iter().zip(sum) {
        *sum += total(&std::array::from_fn(|lane| factors[lane] * row[lane]));
    }
}
