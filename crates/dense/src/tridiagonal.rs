//! From a symmetric matrix to a tridiagonal one, by Householder reflections, and back.
//!
//! Reflections are found a panel at a time: only the products of the matrix with their vectors need all of it, once each; what a panel does to the rest is
//! one update of rank twice its width.

use fearless_simd::prelude::*;
use rayon::prelude::*;

use crate::factor::subtract_lower;
use crate::simd::{Axpy, Dots, Kernel, LANES, dot, each, fma, go, load, total, whole};
use crate::{Mat, MatMut, MatRef};

/// Reflections in a panel.
const PANEL: usize = 32;
/// Reflections that are applied together.
const BLOCK: usize = 64;
/// Squares below this, of a matrix whose largest number is near 1, are rounding of roundings.
const NOTHING: f64 = 1e-280;

/// A tridiagonal matrix, and the reflections that lead to it.
pub(crate) struct Tridiagonal {
    pub(crate) diagonal: Vec<f64>,
    /// Below the diagonal.
    pub(crate) beside: Vec<f64>,
    /// The vectors of the reflections, zeros above; and their factors.
    vectors: Mat,
    factors: Vec<f64>,
}

impl Tridiagonal {
    /// Of the lower half of a matrix whose largest number is near 1.
    pub(crate) fn new(mut a: Mat) -> Self {
        let n = a.nrows();
        let (mut diagonal, mut beside, mut factors) = (Vec::new(), Vec::new(), Vec::new());
        let mut w = Mat::zeros(n, PANEL);
        for first in (0..n).step_by(PANEL) {
            let last = (first + PANEL).min(n);
            for j in first..last {
                let (left, mut right) = a.split(j);
                let column = &mut right.columns[0][j..];
                // What the panel did so far.
                let (vs, ws) = (slices(left, first..j, j), slices(w.as_ref(), 0..j - first, j));
                let (by_v, by_w) = (firsts(&ws), firsts(&vs));
                go(Axpy { factors: &by_v, columns: &vs, y: column });
                go(Axpy { factors: &by_w, columns: &ws, y: column });
                diagonal.push(column[0]);
                if j + 1 == n {
                    break;
                }
                let (length, factor) = reflect(&mut column[1..]);
                beside.push(length);
                factors.push(factor);
                let image = image(&a, &w, first, j, factor);
                w.col_mut(j - first)[j + 1..].copy_from_slice(&image);
                w.col_mut(j - first)[..=j].fill(0.0);
                a.col_mut(j)[..=j].fill(0.0);
            }
            let width = last - first;
            if last < n {
                // `V W' + W V'`, as one product.
                let both = |one: MatRef<'_>, other: MatRef<'_>| {
                    Mat::from_fn(n - last, 2 * width, |i, k| {
                        if k < width { one[(last + i, k)] } else { other[(last + i, k - width)] }
                    })
                };
                let (left, right) = a.split(last);
                let (v, w) = (left.subcols(first, width), w.as_ref());
                let (one, other) = (both(v, w), both(w, v));
                subtract_lower(right.below(last), one.as_ref(), other.as_ref());
            }
        }
        if n > 0 {
            a.col_mut(n - 1).fill(0.0);
        }
        Self { diagonal, beside, vectors: a, factors }
    }

    /// Takes eigenvectors of the tridiagonal matrix to those of the whole.
    pub(crate) fn back(&self, vectors: &mut Mat) {
        let (n, count) = (vectors.nrows(), self.factors.len());
        for first in (0..count).step_by(BLOCK).rev() {
            let width = BLOCK.min(count - first);
            let v = self.vectors.submatrix(first + 1, first, n - first - 1, width);
            // The reflections together are `I - V T V'`.
            let (inner, mut t) = (v.transpose() * v, Mat::zeros(width, width));
            for i in 0..width {
                let factor = self.factors[first + i];
                for r in 0..i {
                    let sum: f64 = (r..i).map(|k| t[(r, k)] * inner[(k, i)]).sum();
                    t[(r, i)] = -factor * sum;
                }
                t[(i, i)] = factor;
            }
            let along = v.transpose() * vectors.as_ref().subrows(first + 1, n - first - 1);
            vectors.as_mut().below(first + 1).add_product(-1.0, v, &(&t * &along));
        }
    }
}

/// Columns from a row on.
fn slices<'a>(matrix: MatRef<'a>, columns: std::ops::Range<usize>, row: usize) -> Vec<&'a [f64]> {
    columns.map(|k| &matrix.col(k)[row..]).collect()
}

/// The first number of each, negated.
fn firsts(columns: &[&[f64]]) -> Vec<f64> {
    columns.iter().map(|column| -column[0]).collect()
}

/// Makes `x` the vector `v` of the reflection `I - factor v v'` that takes it to a multiple of the first unit vector; returns this and the factor.
fn reflect(x: &mut [f64]) -> (f64, f64) {
    let (first, squares) = (x[0], dot(&x[1..], &x[1..]));
    x[0] = 1.0;
    if squares < NOTHING {
        x[1..].fill(0.0);
        return (first, 0.0);
    }
    let length = -(first * first + squares).sqrt().copysign(first);
    let divisor = first - length;
    x[1..].iter_mut().for_each(|x| *x /= divisor);
    (length, (length - first) / length)
}

/// `w` of the update `A -= v w' + w v'` for the reflection in column `j`, from row `j + 1` on.
fn image(a: &Mat, w: &Mat, first: usize, j: usize, factor: f64) -> Vec<f64> {
    let v = &a.col(j)[j + 1..];
    let mut image = if factor == 0.0 { vec![0.0; v.len()] } else { times(a, j + 1, v) };
    let (vs, ws) = (slices(a.as_ref(), first..j, j + 1), slices(w.as_ref(), 0..j - first, j + 1));
    let (mut by_v, mut by_w) = (vec![0.0; ws.len()], vec![0.0; vs.len()]);
    go(Dots { columns: &ws, x: v, out: &mut by_v });
    go(Dots { columns: &vs, x: v, out: &mut by_w });
    by_v.iter_mut().chain(&mut by_w).for_each(|x| *x = -*x);
    go(Axpy { factors: &by_v, columns: &vs, y: &mut image });
    go(Axpy { factors: &by_w, columns: &ws, y: &mut image });
    let share = factor * factor * 0.5 * dot(&image, v);
    image.iter_mut().zip(v).for_each(|(w, v)| *w = factor * *w - share * v);
    image
}

/// The symmetric matrix whose lower half begins at row and column `from`, times a vector.
fn times(a: &Mat, from: usize, x: &[f64]) -> Vec<f64> {
    let size = x.len();
    // Pieces of the same area, on any number of threads.
    let pieces = match size {
        0..384 => 1,
        384..1024 => 2,
        _ => 4,
    };
    let edge =
        |piece: usize| size - (((pieces - piece) as f64 / pieces as f64).sqrt() * size as f64) as usize;
    let piece = |i: usize| {
        let (start, end) = (edge(i), edge(i + 1));
        let mut y = vec![0.0; size - start];
        go(Symmetric { a, from: from + start, columns: end - start, x: &x[start..], y: &mut y });
        y
    };
    let mut parts = match pieces {
        1 => vec![piece(0)],
        _ => (0..pieces).into_par_iter().with_max_len(1).map(piece).collect(),
    }
    .into_iter();
    let mut sum = parts.next().unwrap_or_default();
    for part in parts {
        let at = size - part.len();
        sum[at..].iter_mut().zip(part).for_each(|(sum, y)| *sum += y);
    }
    sum
}

/// Some columns from the diagonal down, each number used for both halves.
struct Symmetric<'a> {
    a: &'a Mat,
    from: usize,
    columns: usize,
    x: &'a [f64],
    y: &'a mut [f64],
}

impl Kernel for Symmetric<'_> {
    type Out = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { a, from, columns, x, y } = self;
        let whole = columns - columns % 4;
        for j in (0..whole).step_by(4) {
            columns_of(
                simd,
                std::array::from_fn::<_, 4, _>(|k| &a.col(from + j + k)[from + j..]),
                &x[j..],
                &mut y[j..],
            );
        }
        for j in whole..columns {
            columns_of(simd, [&a.col(from + j)[from + j..]], &x[j..], &mut y[j..]);
        }
    }
}

#[inline(always)]
fn columns_of<S: Simd, const N: usize>(simd: S, columns: [&[f64]; N], x: &[f64], y: &mut [f64]) {
    let mut dots = [0.0; N];
    for (k, column) in columns.iter().enumerate() {
        y[k] = column[k].mul_add(x[k], y[k]);
        for i in k + 1..N {
            y[i] = column[i].mul_add(x[k], y[i]);
            dots[k] = column[i].mul_add(x[i], dots[k]);
        }
    }
    let ((xs, rest), (ys, y_rest)) = (x[N..].as_chunks::<LANES>(), y[N..].as_chunks_mut::<LANES>());
    let chunks = whole(&columns.map(|column| &column[N..]), xs.len());
    let (mut sums, mut factors) = ([simd.splat_f64x8(0.0); N], [simd.splat_f64x8(0.0); N]);
    each!(K in 0 1 2 3, {
        if K < N {
            factors[K] = simd.splat_f64x8(x[K]);
        }
    });
    for (i, (x, y)) in xs.iter().zip(&mut *ys).enumerate() {
        let (x, mut sum) = (load(simd, x), load(simd, y));
        each!(K in 0 1 2 3, {
            if K < N {
                let number = load(simd, &chunks[K][i]);
                fma(simd, &mut sum, number, factors[K]);
                fma(simd, &mut sums[K], number, x);
            }
        });
        *y = sum.into();
    }
    let at = N + xs.len() * LANES;
    each!(K in 0 1 2 3, {
        if K < N {
            dots[K] += total(sums[K]);
        }
    });
    for (k, column) in columns.iter().enumerate() {
        for (i, number) in column[at..].iter().enumerate() {
            y_rest[i] = number.mul_add(x[k], y_rest[i]);
            dots[k] = number.mul_add(rest[i], dots[k]);
        }
    }
    (0..N).for_each(|k| y[k] += dots[k]);
}

/// The columns of a matrix, to write.
pub(crate) fn columns(matrix: &mut Mat) -> Vec<&mut [f64]> {
    let MatMut { columns, .. } = matrix.as_mut();
    columns
}
