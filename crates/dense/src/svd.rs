//! Singular values and vectors by one-sided Jacobi rotations.
//!
//! The eigenvectors of the Gram matrix, by which the columns are turned first, leave little to do where singular values are large; rotations settle those whose
//! squares are rounding.

use fearless_simd::prelude::*;

use crate::simd::{Dots, Kernel, dot, go_narrow, rotate, scale};
use crate::{Mat, MatRef, eigen};

/// Sweeps over all pairs of columns, at most.
const SWEEPS: usize = 60;
/// Columns with a smaller cosine between them are orthogonal.
const ORTHOGONAL: f64 = 4.0 * f64::EPSILON;

/// `A = U diag(values) V'`, with as many values as `A` has rows or columns, whichever is less.
#[derive(Debug, Clone)]
pub struct Svd {
    /// Left vectors, as columns; zero for values that are zero.
    pub u: Mat,
    /// In decreasing order.
    pub values: Vec<f64>,
    /// Right vectors, as columns; zero for values that are zero where there are fewer rows than columns.
    pub v: Mat,
}

/// Singular values and vectors; none if a number is not finite.
///
/// ```
/// use sottovoce_dense::{Mat, thin_svd};
/// let found = thin_svd(&Mat::from_fn(3, 2, |i, j| if i == j { 2.0 + i as f64 } else { 0.0 })).expect("finite numbers");
/// assert_eq!(found.values, [3.0, 2.0]);
/// ```
pub fn thin_svd<'a>(matrix: impl Into<MatRef<'a>>) -> Option<Svd> {
    let matrix = matrix.into();
    if matrix.nrows() < matrix.ncols() {
        let Svd { u: v, values, v: u } = thin_svd(matrix.transpose())?;
        return Some(Svd { u, values, v });
    }
    let (mut work, n) = (matrix.to_owned(), matrix.ncols());
    let factor = scale(work.as_slice().iter().copied())?;
    work *= factor;
    // The largest first.
    let turned = eigen(&(work.transpose() * &work))?.vectors;
    let mut v = Mat::from_fn(n, n, |i, k| turned[(i, n - 1 - k)]);
    let mut u = &work * &v;
    let settled = (0..SWEEPS).any(|_| sweep(&mut u, &mut v));
    if !settled {
        return None;
    }
    let mut values: Vec<f64> = (0..n).map(|k| length(u.col(k))).collect();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &k| values[k].total_cmp(&values[i]));
    let share = |value: f64| if value > 0.0 { 1.0 / value } else { 0.0 };
    let u = Mat::from_fn(u.nrows(), n, |i, k| u[(i, order[k])] * share(values[order[k]]));
    let v = Mat::from_fn(n, n, |i, k| v[(i, order[k])]);
    values.sort_by(|a, b| b.total_cmp(a));
    values.iter_mut().for_each(|value| *value /= factor);
    Some(Svd { u, values, v })
}

/// Turns pairs of columns until they are orthogonal, each once; whether all were before. Columns that are rounding of the longest become zero.
fn sweep(u: &mut Mat, v: &mut Mat) -> bool {
    let (m, n) = (u.nrows(), u.ncols());
    let lengths = u.transpose() * &*u;
    let longest = (0..n).fold(0.0, |most: f64, k| lengths[(k, k)].max(most));
    let nothing = longest * n as f64 * f64::EPSILON * f64::EPSILON;
    let close = ORTHOGONAL.max((m as f64).sqrt() * f64::EPSILON);
    for k in (0..n).filter(|&k| lengths[(k, k)] <= nothing) {
        u.col_mut(k).fill(0.0);
    }
    let mut settled = true;
    for j in 1..n {
        for i in 0..j {
            let (a, b) = (lengths[(i, i)], lengths[(j, j)]);
            if a > nothing && b > nothing && lengths[(i, j)].abs() > close * (a * b).sqrt() {
                let ((x, y), (p, q)) = (pair(u, i, j), pair(v, i, j));
                settled &= !go_narrow(Turn { x, y, p, q, close });
            }
        }
    }
    settled
}

/// Two columns.
fn pair(matrix: &mut Mat, i: usize, j: usize) -> (&mut [f64], &mut [f64]) {
    let rows = matrix.nrows();
    let (left, right) = matrix.as_mut_slice().split_at_mut(j * rows);
    (&mut left[i * rows..][..rows], &mut right[..rows])
}

fn length(x: &[f64]) -> f64 {
    dot(x, x).sqrt()
}

/// Turns `x` and `y` until they are orthogonal, and `p` and `q` along; whether they were not.
struct Turn<'a> {
    x: &'a mut [f64],
    y: &'a mut [f64],
    p: &'a mut [f64],
    q: &'a mut [f64],
    close: f64,
}

impl Kernel for Turn<'_> {
    type Out = bool;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> bool {
        let Self { x, y, p, q, close } = self;
        let (mut first, mut second) = ([0.0; 2], [0.0]);
        Dots { columns: &[x, y], x, out: &mut first }.run(simd);
        Dots { columns: &[y], x: y, out: &mut second }.run(simd);
        let ([a, along], [b]) = (first, second);
        if along.abs() <= close * (a * b).sqrt() || along.is_nan() {
            return false;
        }
        let ratio = (b - a) / (2.0 * along);
        let tangent = 1.0_f64.copysign(ratio) / (ratio.abs() + ratio.hypot(1.0));
        let c = 1.0 / tangent.hypot(1.0);
        // `(c x - s y, s x + c y)`.
        rotate(x, y, c, -c * tangent);
        rotate(p, q, c, -c * tangent);
        true
    }
}
