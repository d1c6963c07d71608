//! Eigenvalues and eigenvectors of symmetric matrices.

use fearless_simd::prelude::*;

use crate::divide::{self, LEAF};
use crate::simd::{Kernel, go_narrow, rotate, scale};
use crate::tridiagonal::Tridiagonal;
use crate::{Mat, MatRef};

/// Rounds in which one eigenvalue must be found.
const ROUNDS: usize = 60;
/// After so many, what is rounding of the largest is nothing.
const PATIENCE: usize = 12;
/// What is left beside the diagonal of part of a matrix of norm near 1, and is nothing.
const NOTHING: f64 = 1e-140;
/// From this order on, all is done by a thread of the pool: work is then handed on quickly.
const LARGE: usize = 256;

/// The eigenvalues of a symmetric matrix, in increasing order, and orthonormal eigenvectors.
#[derive(Debug, Clone)]
pub struct Eigen {
    /// In increasing order.
    pub values: Vec<f64>,
    /// As columns.
    pub vectors: Mat,
}

/// Eigenvalues and eigenvectors, from the lower half of a matrix; none if a number is not finite.
///
/// ```
/// use sottovoce_dense::{Mat, eigen};
/// let found = eigen(&Mat::from_fn(2, 2, |i, j| if i == j { 2.0 } else { 1.0 })).expect("finite numbers");
/// assert!((found.values[0] - 1.0).abs() < 1e-15 && (found.values[1] - 3.0).abs() < 1e-15);
/// assert!((found.vectors[(0, 0)] + found.vectors[(1, 0)]).abs() < 1e-15);
/// ```
pub fn eigen<'a>(matrix: impl Into<MatRef<'a>>) -> Option<Eigen> {
    let Scaled { matrix, factor, order } = Scaled::new(matrix.into())?;
    in_pool(matrix.nrows(), move || {
        let tridiagonal = Tridiagonal::new(matrix);
        let (mut values, mut vectors) = divide::eigen(&tridiagonal.diagonal, &tridiagonal.beside)?;
        tridiagonal.back(&mut vectors);
        values.iter_mut().for_each(|value| *value /= factor);
        if !order.is_sorted() {
            let mut own = Mat::zeros(order.len(), order.len());
            for k in 0..order.len() {
                order.iter().zip(vectors.col(k)).for_each(|(&i, x)| own[(i, k)] = *x);
            }
            vectors = own;
        }
        Some(Eigen { values, vectors })
    })
}

/// Eigenvalues in increasing order, from the lower half of a symmetric matrix; none if a number is not finite.
pub fn eigenvalues<'a>(matrix: impl Into<MatRef<'a>>) -> Option<Vec<f64>> {
    let Scaled { matrix, factor, .. } = Scaled::new(matrix.into())?;
    in_pool(matrix.nrows(), move || {
        let Tridiagonal { diagonal: mut values, beside, .. } = Tridiagonal::new(matrix);
        by_ql(&mut values, &beside, None)?;
        values.sort_unstable_by(f64::total_cmp);
        values.iter_mut().for_each(|value| *value /= factor);
        Some(values)
    })
}

/// The lower half of a matrix, ready to be decomposed.
struct Scaled {
    /// Its largest number is near 1.
    matrix: Mat,
    /// By which power of two it was multiplied.
    factor: f64,
    /// Which rows and columns these are. The largest of small matrices come first: then the digits of small eigenvalues are not lost if small numbers are in
    /// rows of their own.
    order: Vec<usize>,
}

impl Scaled {
    fn new(matrix: MatRef<'_>) -> Option<Self> {
        let size = matrix.nrows();
        assert_eq!(size, matrix.ncols(), "a square matrix");
        let mut order: Vec<usize> = (0..size).collect();
        if size <= LEAF {
            order.sort_by(|&i, &j| matrix[(j, j)].abs().total_cmp(&matrix[(i, i)].abs()));
        }
        let entry = |i: usize, j: usize| {
            let (u, v) = (order[i], order[j]);
            if i < j { 0.0 } else { matrix[(u.max(v), u.min(v))] }
        };
        let mut matrix = Mat::from_fn(size, size, entry);
        let factor = scale(matrix.as_slice().iter().copied())?;
        if factor != 1.0 {
            matrix *= factor;
        }
        Some(Self { matrix, factor, order })
    }
}

fn in_pool<T: Send>(size: usize, work: impl FnOnce() -> T + Send) -> T {
    if size < LARGE { work() } else { rayon::scope(|_| work()) }
}

/// Eigenvalues of a tridiagonal matrix of norm near 1, in no order; `vectors`, as many columns, are turned along.
pub(crate) fn by_ql(diagonal: &mut [f64], beside: &[f64], mut vectors: Option<&mut Mat>) -> Option<()> {
    let (mut e, n) = (beside.to_vec(), diagonal.len());
    // Small numbers are to be done with first.
    if diagonal.first().map(|x| x.abs()) > diagonal.last().map(|x| x.abs()) {
        diagonal.reverse();
        e.reverse();
        if let Some(vectors) = &mut vectors {
            **vectors = Mat::from_fn(vectors.nrows(), n, |i, k| vectors[(i, n - 1 - k)]);
        }
    }
    e.push(0.0);
    go_narrow(Ql { d: diagonal, e: &mut e, vectors })
}

struct Ql<'a> {
    d: &'a mut [f64],
    e: &'a mut [f64],
    vectors: Option<&'a mut Mat>,
}

impl Kernel for Ql<'_> {
    type Out = Option<()>;

    #[inline(always)]
    fn run<S: Simd>(self, _: S) -> Option<()> {
        let Self { d, e, mut vectors } = self;
        // Roundings of the largest may not settle beside what is smaller than they are.
        let largest =
            d.iter().chain(&*e).fold(0.0_f64, |most, x| if x.abs() > most { x.abs() } else { most });
        let rounding = NOTHING.max(0.5 * f64::EPSILON * largest);
        for l in 0..d.len() {
            for round in 0.. {
                let nothing = if round < PATIENCE { NOTHING } else { rounding };
                let small = |m: &usize| {
                    let size = e[*m].abs();
                    size <= f64::EPSILON * (d[*m].abs() + d[*m + 1].abs()) || size <= nothing
                };
                let m = (l..d.len() - 1).find(small).unwrap_or(d.len() - 1);
                if m == l {
                    break;
                }
                if round == ROUNDS {
                    return None;
                }
                let ratio = (d[l + 1] - d[l]) / (2.0 * e[l]);
                let root = ratio.hypot(1.0).copysign(ratio);
                let (mut g, mut s, mut c, mut p) = (d[m] - d[l] + e[l] / (ratio + root), 1.0, 1.0, 0.0);
                let mut lost = false;
                for i in (l..m).rev() {
                    let (f, b) = (s * e[i], c * e[i]);
                    let r = (f * f + g * g).sqrt();
                    e[i + 1] = r;
                    if r == 0.0 {
                        // Underflow: the matrix falls apart here.
                        d[i + 1] -= p;
                        lost = true;
                        break;
                    }
                    (s, c) = (f / r, g / r);
                    g = d[i + 1] - p;
                    let r = (d[i] - g) * s + 2.0 * c * b;
                    p = s * r;
                    d[i + 1] = g + p;
                    g = c * r - b;
                    if let Some(vectors) = &mut vectors {
                        let n = vectors.nrows();
                        let (left, right) = vectors.as_mut_slice()[i * n..(i + 2) * n].split_at_mut(n);
                        rotate(right, left, c, s);
                    }
                }
                if !lost {
                    d[l] -= p;
                    e[l] = g;
                }
                e[m] = 0.0;
            }
        }
        Some(())
    }
}
