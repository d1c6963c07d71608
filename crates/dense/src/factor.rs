//! Cholesky factors, and `L U` with row exchanges: columns are halved until they are few, and the right half is mended by a product.

use fearless_simd::prelude::*;

use crate::simd::{Axpy, Kernel, go_narrow};
use crate::triangular::{Triangle, solve};
use crate::{Mat, MatMut, MatRef};

/// Columns that are factored one by one.
const LEAF: usize = 16;
/// Columns of a symmetric matrix that are mended together, from the diagonal down.
const STRIP: usize = 96;

/// The lower triangular `L` with `L L' = A`, from the lower half of `A`; none if `A` is not positive definite.
///
/// ```
/// use sottovoce_dense::{Mat, cholesky};
/// let a = Mat::from_fn(2, 2, |i, j| if i == j { 5.0 } else { 4.0 });
/// let lower = cholesky(&a).expect("the eigenvalues are 1 and 9");
/// assert!((lower[(1, 1)] * lower[(1, 1)] - 1.8).abs() < 1e-15);
/// assert!(cholesky(&Mat::from_fn(2, 2, |i, j| if i == j { 4.0 } else { 5.0 })).is_none());
/// ```
pub fn cholesky<'a>(matrix: impl Into<MatRef<'a>>) -> Option<Mat> {
    let matrix = matrix.into();
    let size = matrix.nrows();
    assert_eq!(size, matrix.ncols(), "a square matrix");
    let mut lower = matrix.to_owned();
    factor_cholesky(&mut lower, 0, size)?;
    for j in 0..size {
        lower.col_mut(j)[..j].fill(0.0);
    }
    Some(lower)
}

fn factor_cholesky(a: &mut Mat, from: usize, to: usize) -> Option<()> {
    if to - from <= LEAF {
        return go_narrow(CholeskyLeaf { a, from, to });
    }
    let middle = half(from, to);
    factor_cholesky(a, from, middle)?;
    let size = a.nrows();
    let (left, mut right) = a.split(middle);
    let left = left.subcols(from, middle - from);
    right.columns.truncate(to - middle);
    let right = right.below(middle);
    subtract_lower(right, left.subrows(middle, size - middle), left.subrows(middle, to - middle));
    factor_cholesky(a, middle, to)
}

/// `C -= A B'` on and below the diagonal, and a little above.
pub(crate) fn subtract_lower(mut c: MatMut<'_>, a: MatRef<'_>, b: MatRef<'_>) {
    let (rows, width) = (c.rows, b.nrows());
    for (strip, columns) in c.columns.chunks_mut(STRIP).enumerate() {
        let i = strip * STRIP;
        let columns = columns.iter_mut().map(|column| &mut column[i..]).collect();
        let b = b.subrows(i, STRIP.min(width - i)).transpose();
        MatMut { rows: rows - i, columns }.add_product(-1.0, a.subrows(i, rows - i), b);
    }
}

/// A few columns, those before having been taken off.
struct CholeskyLeaf<'a> {
    a: &'a mut Mat,
    from: usize,
    to: usize,
}

impl Kernel for CholeskyLeaf<'_> {
    type Out = Option<()>;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Option<()> {
        let (size, mut factors) = (self.a.nrows(), [0.0; LEAF]);
        for j in self.from..self.to {
            let (left, right) = self.a.as_mut_slice().split_at_mut(j * size);
            let (mut columns, count): ([&[f64]; LEAF], _) = ([&[]; LEAF], j - self.from);
            for (k, column) in left[self.from * size..].chunks_exact(size).enumerate() {
                (factors[k], columns[k]) = (-column[j], &column[j..]);
            }
            let y = &mut right[j..size];
            Axpy { factors: &factors[..count], columns: &columns[..count], y }.run(simd);
            let root = y[0].sqrt();
            // Also for what is not a number.
            if !(root > 0.0 && root.is_finite()) {
                return None;
            }
            y[0] = root;
            y[1..].iter_mut().for_each(|x| *x /= root);
        }
        Some(())
    }
}

/// The middle, where whole leaves meet.
fn half(from: usize, to: usize) -> usize {
    from + (to - from).div_ceil(2).next_multiple_of(LEAF).min(to - from - 1)
}

/// Solves `A x = b` for all columns `b`, in place, by the factor of `A` that [`cholesky`] gave.
pub fn solve_cholesky(lower: &Mat, right: &mut Mat) {
    solve(Triangle { matrix: lower.as_ref(), upper: false, unit: false }, right.as_mut());
    solve(Triangle { matrix: lower.transpose(), upper: true, unit: false }, right.as_mut());
}

/// A square matrix by its factors: rows in another order, times a lower triangle with ones on the diagonal, times an upper one.
#[derive(Debug, Clone)]
pub struct Lu {
    factors: Mat,
    /// With which later row each was exchanged.
    exchanged: Vec<usize>,
}

impl Lu {
    /// Factors a matrix. One that is singular has solutions that are not finite.
    ///
    /// ```
    /// use sottovoce_dense::{Lu, Mat};
    /// let mut x = Mat::from_fn(2, 1, |i, _| [5.0, 6.0][i]);
    /// Lu::new(&Mat::from_fn(2, 2, |i, j| [[0.0, 2.0], [3.0, 0.0]][i][j])).solve(&mut x);
    /// assert_eq!(x.col(0), [2.0, 2.5]);
    /// ```
    pub fn new(matrix: &Mat) -> Self {
        assert_eq!(matrix.nrows(), matrix.ncols(), "a square matrix");
        let mut lu = Self { factors: matrix.clone(), exchanged: (0..matrix.nrows()).collect() };
        lu.factor(0, matrix.nrows());
        lu
    }

    fn factor(&mut self, from: usize, to: usize) {
        if to - from <= LEAF {
            return go_narrow(LuLeaf { lu: self, from, to });
        }
        let middle = half(from, to);
        self.factor(from, middle);
        self.exchange(from..middle, middle..to);
        let (left, mut right) = self.factors.split(middle);
        right.columns.truncate(to - middle);
        let mut right = right.below(from);
        let height = right.rows;
        let left = left.submatrix(from, from, height, middle - from);
        let top = right.columns.iter_mut().map(|column| &mut column[..middle - from]).collect();
        let triangle = Triangle { matrix: left.subrows(0, middle - from), upper: false, unit: true };
        solve(triangle, MatMut { rows: middle - from, columns: top });
        let solved = Mat::from_fn(middle - from, to - middle, |i, j| right.columns[j][i]);
        let below = left.subrows(middle - from, height - (middle - from));
        right.below(middle - from).add_product(-1.0, below, &solved);
        self.factor(middle, to);
        self.exchange(middle..to, from..middle);
    }

    /// Does to some columns what was done to these.
    fn exchange(&mut self, done: std::ops::Range<usize>, columns: std::ops::Range<usize>) {
        for k in columns {
            let column = self.factors.col_mut(k);
            done.clone().for_each(|j| column.swap(j, self.exchanged[j]));
        }
    }

    /// Solves `A x = b` for all columns `b`, in place.
    pub fn solve(&self, right: &mut Mat) {
        for k in 0..right.ncols() {
            let column = right.col_mut(k);
            self.exchanged.iter().enumerate().for_each(|(j, &i)| column.swap(j, i));
        }
        let matrix = self.factors.as_ref();
        solve(Triangle { matrix, upper: false, unit: true }, right.as_mut());
        solve(Triangle { matrix, upper: true, unit: false }, right.as_mut());
    }
}

/// A few columns, those before having been taken off.
struct LuLeaf<'a> {
    lu: &'a mut Lu,
    from: usize,
    to: usize,
}

impl Kernel for LuLeaf<'_> {
    type Out = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let Lu { factors, exchanged } = self.lu;
        let size = factors.nrows();
        for j in self.from..self.to {
            let mut pivot = j;
            let column = factors.col(j);
            let largest =
                column[j..].iter().fold(0.0_f64, |most, x| if x.abs() > most { x.abs() } else { most });
            if column[j].abs() < largest {
                pivot = j + column[j..].iter().position(|x| x.abs() == largest).unwrap_or(0);
            }
            exchanged[j] = pivot;
            (self.from..self.to).for_each(|k| factors.col_mut(k).swap(j, pivot));
            let (left, right) = factors.as_mut_slice().split_at_mut((j + 1) * size);
            let column = &mut left[j * size + j..];
            let largest = column[0];
            column[1..].iter_mut().for_each(|x| *x /= largest);
            for other in right.chunks_exact_mut(size).take(self.to - j - 1) {
                let factor = other[j];
                other[j + 1..].iter_mut().zip(&column[1..]).for_each(|(x, l)| *x = l.mul_add(-factor, *x));
            }
        }
    }
}
