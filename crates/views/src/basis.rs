//! An orthonormal basis that grows by blocks, in doubles: projected twice, and told how many directions are new.

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

/// Less than this, of a vector of length one, is too little to know its direction.
const LITTLE: f64 = 1e-10;

/// Components of a vector of length at most one that are rounding.
const ROUNDING: f64 = 8.0 * f64::EPSILON;

/// Where less than this is left of a vector of length one, it is projected again.
const AGAIN: f64 = 0.1;

/// Orthonormal columns, one after the other.
pub(crate) struct Basis {
    dimension: usize,
    columns: Vec<f64>,
    /// The first columns are these unit vectors.
    units: Vec<usize>,
}

impl Basis {
    /// With room for so many columns.
    pub(crate) fn new(dimension: usize, room: usize) -> Self {
        Self { dimension, columns: Vec::with_capacity(dimension * room), units: Vec::new() }
    }

    /// Number of columns.
    pub(crate) fn rank(&self) -> usize {
        self.columns.len() / self.dimension.max(1)
    }

    /// Several columns, one after the other.
    pub(crate) fn columns(&self, range: std::ops::Range<usize>) -> &[f64] {
        &self.columns[range.start * self.dimension..range.end * self.dimension]
    }

    pub(crate) fn into_columns(self) -> Vec<f64> {
        self.columns
    }

    /// Begins with these unit vectors, all different.
    pub(crate) fn units(mut self, units: &[usize]) -> Self {
        self.columns.resize(units.len() * self.dimension, 0.0);
        units.iter().enumerate().for_each(|(i, &unit)| self.columns[i * self.dimension + unit] = 1.0);
        Self { units: units.to_vec(), ..self }
    }

    /// Extends the basis by the `count` directions that the given columns (each of length at most about one) have beside it, and
    /// returns the length of the shortest remainder; none if that is too little. All but rounding of the columns is along the last
    /// `recent` columns of the basis, or new.
    pub(crate) fn extend(&mut self, mut block: Vec<f64>, count: usize, recent: usize) -> Option<f64> {
        let (n, arch) = (self.dimension, pulp::Arch::new());
        self.project(&mut block, self.rank().saturating_sub(recent), 0.0);
        self.project(&mut block, 0, ROUNDING);
        let mut lengths = arch.dispatch(Lengths { block: &block, n });
        let mut left: Vec<usize> = (0..lengths.len()).collect();
        let mut shortest = 1.0;
        // The longest remainder first, so that what is dropped is smaller than all that is kept.
        for _ in 0..count {
            let position = longest(&lengths, &left).filter(|i| lengths[left[*i]] >= LITTLE)?;
            let index = left.swap_remove(position);
            if lengths[index] < shortest {
                shortest = lengths[index];
            }
            let direction = self.push(&mut block[index * n..(index + 1) * n], lengths[index])?;
            let direction = &self.columns[direction..];
            arch.dispatch(Remove { direction, block: &mut block, left: &left, lengths: &mut lengths });
        }
        Some(shortest)
    }

    /// Adds a remainder of this length as a unit vector; returns where it begins.
    fn push(&mut self, column: &mut [f64], length: f64) -> Option<usize> {
        let arch = pulp::Arch::new();
        arch.dispatch(Divide { column, length });
        // A short remainder carries along old directions: take them out again.
        if length < AGAIN {
            self.project(column, 0, 0.0);
            let length = norm(column);
            // A NaN is not enough either.
            Some(length).filter(|left| *left > 0.5)?;
            arch.dispatch(Divide { column, length });
        }
        let start = self.columns.len();
        self.columns.extend_from_slice(column);
        Some(start)
    }

    /// Takes the components along the basis, from column `from` on, out of the columns of `block`, unless all are `negligible`.
    fn project(&self, block: &mut [f64], from: usize, negligible: f64) {
        let (n, from) = (self.dimension, from.max(self.units.len()));
        for column in block.chunks_exact_mut(n.max(1)) {
            self.units.iter().for_each(|&unit| column[unit] = 0.0);
        }
        let rank = self.rank().saturating_sub(from);
        if rank == 0 || block.is_empty() {
            return;
        }
        let width = block.len() / n;
        let basis = MatRef::from_column_major_slice(&self.columns[from * n..], n, rank);
        let mut along = vec![0.0; rank * width];
        let mut matrix: MatMut<f64> = MatMut::from_column_major_slice_mut(&mut along, width, rank);
        let block: MatMut<f64> = MatMut::from_column_major_slice_mut(block, n, width);
        matmul(matrix.as_mut(), Accum::Replace, block.as_ref().transpose(), basis, 1.0, Par::Seq);
        if along.iter().all(|x| x.abs() <= negligible) {
            return;
        }
        let along: MatRef<f64> = MatRef::from_column_major_slice(&along, width, rank);
        matmul(block, Accum::Add, basis, along.transpose(), -1.0, Par::Seq);
    }
}

#[inline(always)]
fn norm(x: &[f64]) -> f64 {
    dot(x, x).sqrt()
}

#[inline(always)]
fn dot(x: &[f64], y: &[f64]) -> f64 {
    let (xs, x_rest) = x.as_chunks();
    let (ys, y_rest) = y.as_chunks();
    summed(xs.iter().zip(ys), x_rest.iter().zip(y_rest))
}

/// Sixteen sums of products side by side: quicker, and less rounding than one.
#[inline(always)]
fn summed<'a>(
    chunks: impl Iterator<Item = (&'a [f64; 16], &'a [f64; 16])>,
    rest: impl Iterator<Item = (&'a f64, &'a f64)>,
) -> f64 {
    let mut sums = [0.0; 16];
    let rest: f64 = rest.map(|(a, b)| a * b).sum();
    for (a, b) in chunks {
        for i in 0..16 {
            sums[i] += a[i] * b[i];
        }
    }
    sums.iter().sum::<f64>() + rest
}

/// The length of each column, with the widest instructions there are.
struct Lengths<'a> {
    block: &'a [f64],
    n: usize,
}

impl pulp::WithSimd for Lengths<'_> {
    type Output = Vec<f64>;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) -> Vec<f64> {
        self.block.chunks_exact(self.n.max(1)).map(norm).collect()
    }
}

/// Divides a column by its length.
struct Divide<'a> {
    column: &'a mut [f64],
    length: f64,
}

impl pulp::WithSimd for Divide<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        self.column.iter_mut().for_each(|x| *x /= self.length);
    }
}

/// Takes a direction out of the columns of a block that are left, and measures them anew.
struct Remove<'a> {
    direction: &'a [f64],
    block: &'a mut [f64],
    left: &'a [usize],
    lengths: &'a mut [f64],
}

impl pulp::WithSimd for Remove<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        let n = self.direction.len();
        for &other in self.left {
            let column = &mut self.block[other * n..(other + 1) * n];
            let whole = self.lengths[other];
            self.lengths[other] = remove(self.direction, column);
            // Where little is left, so are round-offs of the whole.
            if self.lengths[other] < AGAIN * whole {
                self.lengths[other] = remove(self.direction, column);
            }
        }
    }
}

/// Takes the component along the unit vector `direction` out of `x`; returns the length of what is left.
#[inline(always)]
fn remove(direction: &[f64], x: &mut [f64]) -> f64 {
    let along = dot(direction, x);
    let (xs, x_rest) = x.as_chunks_mut();
    let (ds, d_rest) = direction.as_chunks::<16>();
    let chunks = xs.iter_mut().zip(ds).map(|(x, d)| {
        (0..16).for_each(|i| x[i] -= along * d[i]);
        (&*x, &*x)
    });
    let rest = x_rest.iter_mut().zip(d_rest).map(|(x, d)| {
        *x -= along * d;
        (&*x, &*x)
    });
    summed(chunks, rest).sqrt()
}

/// Where in `left` the column of the greatest length is.
fn longest(lengths: &[f64], left: &[usize]) -> Option<usize> {
    (0..left.len()).max_by(|&a, &b| lengths[left[a]].total_cmp(&lengths[left[b]]))
}
