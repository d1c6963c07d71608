//! An orthonormal basis that grows by blocks, in doubles: projected twice, and told how many directions are new.

use rayon::prelude::*;
use sottovoce_dense::{MatMut, MatRef};

/// Less than this, of a vector of length one, is too little to know its direction.
const LITTLE: f64 = 1e-10;

/// Components of a vector of length at most one that are rounding.
const ROUNDING: f64 = 8.0 * f64::EPSILON;

/// Where less than this is left of a vector of length one, it is projected again.
const AGAIN: f64 = 0.1;

/// Columns of at least this length are worth a thread of their own. Whose thread it is does not matter for what comes out: every sum keeps its order.
const LONG: usize = 1 << 15;

/// Orthonormal columns, one after the other.
pub(crate) struct Basis {
    dimension: usize,
    columns: Vec<f64>,
    /// The first columns are these unit vectors.
    units: Vec<usize>,
}

impl Basis {
    /// With room for so many columns, in memory that may have served before.
    pub(crate) fn within(mut columns: Vec<f64>, dimension: usize, room: usize) -> Self {
        columns.clear();
        columns.reserve_exact(dimension * room);
        Self { dimension, columns, units: Vec::new() }
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
            let columns = block.par_chunks_exact_mut(n).zip(&mut lengths).enumerate();
            let least = if n < LONG { usize::MAX } else { 1 };
            columns.with_min_len(least).filter(|(i, _)| left.contains(i)).for_each(
                |(_, (column, length))| {
                    arch.dispatch(Remove { direction, column, length });
                },
            );
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
        let basis = &self.columns[from * n..];
        let (basis, mut along) = (MatRef::from_slice(basis, n, rank), vec![0.0; rank * width]);
        let product = MatRef::from_slice(block, n, width);
        MatMut::from_slice(&mut along, width, rank).add_product(1.0, product.transpose(), basis);
        if along.iter().all(|x| x.abs() <= negligible) {
            return;
        }
        let along = MatRef::from_slice(&along, width, rank);
        MatMut::from_slice(block, n, width).add_product(-1.0, basis, along.transpose());
    }
}

#[inline(always)]
fn norm(x: &[f64]) -> f64 {
    dot(x, x).sqrt()
}

/// Sixteen sums side by side: quicker, and less rounding than one.
#[inline(always)]
fn dot(x: &[f64], y: &[f64]) -> f64 {
    let mut sums = [0.0; 16];
    let ((xs, x_rest), (ys, y_rest)) = (x.as_chunks::<16>(), y.as_chunks::<16>());
    for (a, b) in xs.iter().zip(ys) {
        for i in 0..16 {
            sums[i] += a[i] * b[i];
        }
    }
    let rest: f64 = x_rest.iter().zip(y_rest).map(|(a, b)| a * b).sum();
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

/// Takes a direction out of a column, and measures it anew.
struct Remove<'a> {
    direction: &'a [f64],
    column: &'a mut [f64],
    length: &'a mut f64,
}

impl pulp::WithSimd for Remove<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        let whole = *self.length;
        *self.length = remove(self.direction, self.column);
        // Where little is left, so are round-offs of the whole.
        if *self.length < AGAIN * whole {
            *self.length = remove(self.direction, self.column);
        }
    }
}

/// Takes the component along the unit vector `direction` out of `x`; returns the length of what is left.
#[inline(always)]
fn remove(direction: &[f64], x: &mut [f64]) -> f64 {
    let (along, mut sums, mut rest) = (dot(direction, x), [0.0; 16], 0.0);
    let ((xs, x_rest), (ds, d_rest)) = (x.as_chunks_mut::<16>(), direction.as_chunks::<16>());
    for (x, d) in xs.iter_mut().zip(ds) {
        let mut left = *x;
        for i in 0..16 {
            left[i] -= along * d[i];
        }
        for i in 0..16 {
            sums[i] += left[i] * left[i];
        }
        *x = left;
    }
    for (x, d) in x_rest.iter_mut().zip(d_rest) {
        *x -= along * d;
        rest += *x * *x;
    }
    (sums.iter().sum::<f64>() + rest).sqrt()
}

/// Where in `left` the column of the greatest length is.
fn longest(lengths: &[f64], left: &[usize]) -> Option<usize> {
    (0..left.len()).max_by(|&a, &b| lengths[left[a]].total_cmp(&lengths[left[b]]))
}
