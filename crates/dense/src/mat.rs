//! Matrices by columns, and views of them.

use std::ops::{Add, AddAssign, Index, IndexMut, Mul, MulAssign, Sub};

/// A matrix, column after column.
#[derive(Debug, Clone, PartialEq)]
pub struct Mat {
    rows: usize,
    columns: usize,
    numbers: Vec<f64>,
}

/// Part of a matrix, to read, or the transpose of one.
#[derive(Debug, Clone, Copy)]
pub struct MatRef<'a> {
    pub(crate) numbers: &'a [f64],
    rows: usize,
    columns: usize,
    /// From one row to the next.
    pub(crate) down: usize,
    /// From one column to the next.
    pub(crate) across: usize,
}

/// Part of a matrix, to write: its columns.
pub struct MatMut<'a> {
    pub(crate) rows: usize,
    pub(crate) columns: Vec<&'a mut [f64]>,
}

impl Mat {
    /// All zeros.
    pub fn zeros(rows: usize, columns: usize) -> Self {
        Self { rows, columns, numbers: vec![0.0; rows * columns] }
    }

    /// Ones on the diagonal of a square.
    pub fn identity(size: usize) -> Self {
        let mut identity = Self::zeros(size, size);
        (0..size).for_each(|i| identity[(i, i)] = 1.0);
        identity
    }

    /// The number at row `i` and column `j` is `entry(i, j)`.
    pub fn from_fn(rows: usize, columns: usize, mut entry: impl FnMut(usize, usize) -> f64) -> Self {
        let mut numbers = Vec::with_capacity(rows * columns);
        (0..columns).for_each(|j| numbers.extend((0..rows).map(|i| entry(i, j))));
        Self { rows, columns, numbers }
    }

    /// Number of rows.
    pub fn nrows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn ncols(&self) -> usize {
        self.columns
    }

    /// All numbers, column after column.
    pub fn as_slice(&self) -> &[f64] {
        &self.numbers
    }

    /// All numbers, column after column.
    pub fn as_mut_slice(&mut self) -> &mut [f64] {
        &mut self.numbers
    }

    /// All numbers, column after column.
    pub fn into_numbers(self) -> Vec<f64> {
        self.numbers
    }

    /// One column.
    pub fn col(&self, j: usize) -> &[f64] {
        &self.numbers[j * self.rows..][..self.rows]
    }

    /// One column.
    pub fn col_mut(&mut self, j: usize) -> &mut [f64] {
        &mut self.numbers[j * self.rows..][..self.rows]
    }

    /// All columns.
    pub fn cols(&self) -> impl Iterator<Item = &[f64]> {
        (0..self.columns).map(|j| self.col(j))
    }

    /// One row.
    pub fn row(&self, i: usize) -> impl Iterator<Item = f64> {
        (0..self.columns).map(move |j| self[(i, j)])
    }

    /// The whole, to read.
    pub fn as_ref(&self) -> MatRef<'_> {
        MatRef::from_slice(&self.numbers, self.rows, self.columns)
    }

    /// The whole, to write.
    pub fn as_mut(&mut self) -> MatMut<'_> {
        MatMut::from_slice(&mut self.numbers, self.rows, self.columns)
    }

    /// Rows and columns exchanged.
    pub fn transpose(&self) -> MatRef<'_> {
        self.as_ref().transpose()
    }

    /// So many rows and columns, from row `i` and column `j` on.
    pub fn submatrix(&self, i: usize, j: usize, rows: usize, columns: usize) -> MatRef<'_> {
        self.as_ref().submatrix(i, j, rows, columns)
    }

    /// Writes a block, from row `i` and column `j` on.
    pub fn set(&mut self, i: usize, j: usize, block: &Mat) {
        for (k, column) in block.cols().enumerate() {
            self.col_mut(j + k)[i..i + block.rows].copy_from_slice(column);
        }
    }

    /// The root of the sum of all squares.
    pub fn norm_l2(&self) -> f64 {
        self.numbers.iter().map(|x| x * x).sum::<f64>().sqrt()
    }

    /// The first columns, to read, and those from `j` on, to write.
    pub(crate) fn split(&mut self, j: usize) -> (MatRef<'_>, MatMut<'_>) {
        let (rows, rest) = (self.rows, self.columns - j);
        let (left, right) = self.numbers.split_at_mut(j * rows);
        (MatRef::from_slice(left, rows, j), MatMut::from_slice(right, rows, rest))
    }
}

impl<'a> MatRef<'a> {
    /// Columns that lie one after the other.
    pub fn from_slice(numbers: &'a [f64], rows: usize, columns: usize) -> Self {
        assert_eq!(numbers.len(), rows * columns, "as many numbers as the matrix has");
        Self { numbers, rows, columns, down: 1, across: rows }
    }

    /// Number of rows.
    pub fn nrows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn ncols(&self) -> usize {
        self.columns
    }

    /// Rows and columns exchanged.
    pub fn transpose(self) -> Self {
        let Self { numbers, rows, columns, down, across } = self;
        Self { numbers, rows: columns, columns: rows, down: across, across: down }
    }

    /// So many rows and columns, from row `i` and column `j` on.
    pub fn submatrix(self, i: usize, j: usize, rows: usize, columns: usize) -> Self {
        assert!(i + rows <= self.rows && j + columns <= self.columns, "a part of the matrix");
        let from = (i * self.down + j * self.across).min(self.numbers.len());
        Self { numbers: &self.numbers[from..], rows, columns, ..self }
    }

    /// So many columns, from column `j` on.
    pub fn subcols(self, j: usize, columns: usize) -> Self {
        self.submatrix(0, j, self.rows, columns)
    }

    /// So many rows, from row `i` on.
    pub fn subrows(self, i: usize, rows: usize) -> Self {
        self.submatrix(i, 0, rows, self.columns)
    }

    /// One column, where columns are in one piece.
    pub(crate) fn col(&self, j: usize) -> &'a [f64] {
        debug_assert_eq!(self.down, 1);
        &self.numbers[j * self.across..][..self.rows]
    }

    /// A copy.
    pub fn to_owned(self) -> Mat {
        let Self { numbers, rows, columns, down, across } = self;
        if down == 1 {
            let columns: Vec<&[f64]> = (0..columns).map(|j| self.col(j)).collect();
            return Mat { rows, columns: columns.len(), numbers: columns.concat() };
        }
        Mat::from_fn(rows, columns, |i, j| numbers[i * down + j * across])
    }
}

impl<'a> MatMut<'a> {
    /// Columns that lie one after the other.
    pub fn from_slice(numbers: &'a mut [f64], rows: usize, columns: usize) -> Self {
        assert_eq!(numbers.len(), rows * columns, "as many numbers as the matrix has");
        let columns = match rows {
            0 => (0..columns).map(|_| <&mut [f64]>::default()).collect(),
            _ => numbers.chunks_exact_mut(rows).collect(),
        };
        Self { rows, columns }
    }

    /// The rows from `i` on.
    pub(crate) fn below(self, i: usize) -> Self {
        Self {
            rows: self.rows - i,
            columns: self.columns.into_iter().map(|column| &mut column[i..]).collect(),
        }
    }

    /// The same again, for a shorter time.
    pub(crate) fn again(&mut self) -> MatMut<'_> {
        MatMut { rows: self.rows, columns: self.columns.iter_mut().map(|column| &mut **column).collect() }
    }

    /// The rows up to `i`, and from there on.
    pub(crate) fn split_row(self, i: usize) -> (Self, Self) {
        let (above, below) = self.columns.into_iter().map(|column| column.split_at_mut(i)).unzip();
        (Self { rows: i, columns: above }, Self { rows: self.rows - i, columns: below })
    }

    /// A copy.
    pub(crate) fn to_owned(&self) -> Mat {
        Mat { rows: self.rows, columns: self.columns.len(), numbers: self.columns.concat() }
    }

    /// Adds `factor a b`.
    pub fn add_product<'b, 'c>(self, factor: f64, a: impl Into<MatRef<'b>>, b: impl Into<MatRef<'c>>) {
        crate::product::add_product(self, factor, a.into(), b.into());
    }
}

impl<'a> From<&'a Mat> for MatRef<'a> {
    fn from(mat: &'a Mat) -> Self {
        mat.as_ref()
    }
}

impl Index<(usize, usize)> for Mat {
    type Output = f64;

    #[inline]
    fn index(&self, (i, j): (usize, usize)) -> &f64 {
        assert!(i < self.rows);
        &self.numbers[j * self.rows + i]
    }
}

impl IndexMut<(usize, usize)> for Mat {
    #[inline]
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut f64 {
        assert!(i < self.rows);
        &mut self.numbers[j * self.rows + i]
    }
}

impl Index<(usize, usize)> for MatRef<'_> {
    type Output = f64;

    #[inline]
    fn index(&self, (i, j): (usize, usize)) -> &f64 {
        assert!(i < self.rows && j < self.columns);
        &self.numbers[i * self.down + j * self.across]
    }
}

impl<'b, B: Into<MatRef<'b>>> Mul<B> for MatRef<'_> {
    type Output = Mat;

    fn mul(self, b: B) -> Mat {
        let b = b.into();
        let mut out = Mat::zeros(self.rows, b.columns);
        crate::product::add_product(out.as_mut(), 1.0, self, b);
        out
    }
}

impl<'b, B: Into<MatRef<'b>>> Mul<B> for &Mat {
    type Output = Mat;

    fn mul(self, b: B) -> Mat {
        self.as_ref() * b
    }
}

impl Mat {
    /// `self += factor other`.
    pub fn add_scaled(&mut self, factor: f64, other: &Mat) {
        assert!(self.rows == other.rows && self.columns == other.columns, "matrices of the same size");
        self.numbers.iter_mut().zip(&other.numbers).for_each(|(x, y)| *x += factor * y);
    }
}

impl AddAssign<&Mat> for Mat {
    fn add_assign(&mut self, other: &Mat) {
        self.add_scaled(1.0, other);
    }
}

impl Add<&Mat> for Mat {
    type Output = Mat;

    fn add(mut self, other: &Mat) -> Mat {
        self.add_scaled(1.0, other);
        self
    }
}

impl Sub<&Mat> for Mat {
    type Output = Mat;

    fn sub(mut self, other: &Mat) -> Mat {
        self.add_scaled(-1.0, other);
        self
    }
}

impl MulAssign<f64> for Mat {
    fn mul_assign(&mut self, factor: f64) {
        self.numbers.iter_mut().for_each(|x| *x *= factor);
    }
}
