//! Gradients along rows: the mean of `derivative(x·theta, y)·x`, some rows at a time.
//!
//! All scores of a batch come first, then all slopes, then the sum, each side by side: no score waits for the slope before it. Rows are added in their order, coordinate by
//! coordinate, and scores have the partial sums of [`linear::dot`](dot): neither batches nor registers change a bit.

use std::array::from_fn;

use fearless_simd::{Simd, f64x4, prelude::*};

use super::gradient::Bound;
use crate::Shard;
use crate::exponential::exp;
use crate::linear::{LANES, add_multiple, dot};
use crate::widest::Kernel;

/// Rows of a batch.
const BATCH: usize = 16;

/// Rows that share loads.
const FEW: usize = 4;

/// Rows of a turn: half of a few, for there is one turn where their scores are computed, and one where they are added.
pub(crate) const TURN: usize = 2;

/// A number for each row of a batch.
pub(super) type Batch = [f64; BATCH];

/// What makes slopes of scores. All of it must be inlined, for the instructions are chosen outside.
pub(super) trait Derivative {
    /// Does so, given labels.
    fn slopes(&self, scores: &mut Batch, labels: &Batch);
}

/// Of `ln(1 + exp(-y·z))` in `z`; the exponential may overflow, and then the slope is 0.
pub(super) struct Logistic;

impl Derivative for Logistic {
    #[inline(always)]
    fn slopes(&self, scores: &mut Batch, labels: &Batch) {
        scores.iter_mut().zip(labels).for_each(|(z, y)| *z *= y);
        exp(scores);
        scores.iter_mut().zip(labels).for_each(|(odds, y)| *odds = -y / (1.0 + *odds));
    }
}

/// Of `(z - y)²/2`.
pub(super) struct Squared;

impl Derivative for Squared {
    #[inline(always)]
    fn slopes(&self, scores: &mut Batch, labels: &Batch) {
        scores.iter_mut().zip(labels).for_each(|(z, y)| *z -= y);
    }
}

/// Adds the mean over the rows to `out`.
pub(super) struct AlongRows<'a, F, D, M> {
    pub(super) theta: &'a [f64],
    pub(super) data: Shard<'a, F>,
    pub(super) bound: Option<Bound>,
    pub(super) out: &'a mut [f64],
    pub(super) derivative: D,
    /// Called with 0, 1, ..., once for every [`TURN`] rows.
    pub(super) meanwhile: M,
}

impl<F: Copy + Into<f64>, D: Derivative, M: FnMut(usize)> Kernel for AlongRows<'_, F, D, M> {
    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) {
        let Shard { features, labels, width } = self.data;
        let share = 1.0 / labels.len() as f64;
        let batches = features.chunks(BATCH * width).zip(labels.chunks(BATCH));
        for (number, (rows, labels)) in batches.enumerate() {
            let (first, count) = (number * BATCH, labels.len());
            let (mut slopes, mut known) = ([0.0; BATCH], [1.0; BATCH]);
            let mut turns = (first / TURN..(first + count).div_ceil(TURN)).map(&mut self.meanwhile);
            scores(simd, self.theta, rows, &mut slopes[..count], &mut turns);
            known[..count].copy_from_slice(labels);
            self.derivative.slopes(&mut slopes, &known);
            if let Some(bound) = self.bound.filter(|bound| !bound.frees(&slopes)) {
                for (i, slope) in slopes[..count].iter_mut().enumerate() {
                    *slope = bound.clip(*slope, &rows[i * width..(i + 1) * width]);
                }
            }
            slopes.iter_mut().for_each(|slope| *slope *= share);
            add_multiples(simd, self.out, &slopes[..count], rows, &mut turns);
            turns.for_each(drop);
        }
    }
}

#[inline(always)]
fn load<S: Simd, F: Copy + Into<f64>>(simd: S, numbers: &[F; LANES]) -> f64x4<S> {
    f64x4::simd_from(simd, numbers.map(Into::into))
}

/// A few rows, and those after them.
#[inline(always)]
fn few<F>(rows: &[F], width: usize) -> ([&[F]; FEW], &[F]) {
    let (a, rows) = rows.split_at(width);
    let (b, rows) = rows.split_at(width);
    let (c, rows) = rows.split_at(width);
    let (d, rows) = rows.split_at(width);
    ([a, b, c, d], rows)
}

/// `theta·x` for each row.
#[inline(always)]
fn scores<S: Simd, F: Copy + Into<f64>>(
    simd: S,
    theta: &[f64],
    mut rows: &[F],
    out: &mut [f64],
    turns: &mut impl Iterator,
) {
    let (groups, last) = out.as_chunks_mut();
    for out in groups {
        turns.next();
        let (group, after) = few(rows, theta.len());
        *out = few_scores(simd, theta, group);
        rows = after;
    }
    for (out, row) in last.iter_mut().zip(rows.chunks_exact(theta.len())) {
        *out = dot(theta, row);
    }
}

/// [`dot`] with each of a few rows, all partial sums of one in one register.
#[inline(always)]
fn few_scores<S: Simd, F: Copy + Into<f64>>(simd: S, theta: &[f64], rows: [&[F]; FEW]) -> [f64; FEW] {
    let ((theta, theta_rest), chunks) = (theta.as_chunks(), rows.map(|row| row.as_chunks()));
    let [(a, _), (b, _), (c, _), (d, _)] = chunks;
    let mut sums = [f64x4::splat(simd, 0.0); FEW];
    for ((((t, a), b), c), d) in theta.iter().zip(a).zip(b).zip(c).zip(d) {
        let t = load(simd, t);
        sums[0] += t * load(simd, a);
        sums[1] += t * load(simd, b);
        sums[2] += t * load(simd, c);
        sums[3] += t * load(simd, d);
    }
    from_fn(|i| {
        let sums: [f64; LANES] = sums[i].into();
        let rest: f64 = theta_rest.iter().zip(chunks[i].1).map(|(&a, &b)| a * b.into()).sum();
        (sums[0] + sums[2]) + (sums[1] + sums[3]) + rest
    })
}

/// `out += slope·x` for one row after the other.
#[inline(always)]
fn add_multiples<S: Simd, F: Copy + Into<f64>>(
    simd: S,
    out: &mut [f64],
    slopes: &[f64],
    mut rows: &[F],
    turns: &mut impl Iterator,
) {
    let (groups, last) = slopes.as_chunks();
    for slopes in groups {
        turns.next();
        let (group, after) = few(rows, out.len());
        add_few(simd, out, slopes, group);
        rows = after;
    }
    for (slope, row) in last.iter().zip(rows.chunks_exact(out.len())) {
        add_multiple(out, *slope, row);
    }
}

#[inline(always)]
fn add_few<S: Simd, F: Copy + Into<f64>>(simd: S, out: &mut [f64], slopes: &[f64; FEW], rows: [&[F]; FEW]) {
    let ((out, out_rest), chunks) = (out.as_chunks_mut(), rows.map(|row| row.as_chunks()));
    let [(a, _), (b, _), (c, _), (d, _)] = chunks;
    let factors = slopes.map(|slope| f64x4::splat(simd, slope));
    for ((((out, a), b), c), d) in out.iter_mut().zip(a).zip(b).zip(c).zip(d) {
        let mut sum = load(simd, out);
        sum += factors[0] * load(simd, a);
        sum += factors[1] * load(simd, b);
        sum += factors[2] * load(simd, c);
        sum += factors[3] * load(simd, d);
        *out = sum.into();
    }
    for (slope, (_, rest)) in slopes.iter().zip(chunks) {
        add_multiple(out_rest, *slope, rest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::widest::go;
    use proptest::prelude::*;

    proptest! {
        /// One row after the other, and one number after the other, gives the same bits.
        #[test]
        fn batches_change_no_bit(
            width in 1..14usize,
            rows in 0..30usize,
            numbers in prop::collection::vec(-2.0..2.0f32, 14 * 30),
            theta in prop::collection::vec(-3.0..3.0f64, 14),
        ) {
            let (theta, features) = (&theta[..width], &numbers[..rows * width]);
            let labels: Vec<f64> = (0..rows).map(|row| row as f64 - 4.5).collect();
            let data = Shard { features, labels: &labels, width };
            let derivative = Squared;
            let (mut out, mut plain, mut seen) = (vec![0.25; width], vec![0.25; width], Vec::new());
            let meanwhile = |turn| seen.push(turn);
            go(AlongRows { theta, data, bound: None, out: &mut out, derivative, meanwhile });
            for (row, label) in features.chunks_exact(width).zip(&labels) {
                let slope = dot(theta, row) - label;
                add_multiple(&mut plain, 1.0 / rows as f64 * slope, row);
            }
            prop_assert_eq!(out, plain);
            prop_assert!(seen.into_iter().eq(0..rows.div_ceil(TURN)));
        }
    }
}
