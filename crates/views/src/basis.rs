//! An orthonormal basis that grows by blocks: twice-projected, rank-revealing, honest about doubt.
//!
//! A vector is new if enough of it is left after projection. Below [`NOTHING`] what is left is rounding; between that and
//! [`CERTAIN`] nobody can tell in doubles, and the vector *counts as seen* (the loss can only grow by that), and is reported as
//! ambiguous.
//!
//! Where entries are of very different sizes this is not enough: a tiny weight makes a tiny entry, which gives its peer away
//! nevertheless. A *careful* basis takes a short remainder for rounding only if every entry is, beside the terms that this entry was
//! summed from. It may take the rounding of earlier steps for news: then too the loss only grows, and it is reported.

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

/// Of a vector of length one, or of the terms that an entry is the sum of, less than this is rounding.
const NOTHING: f64 = 1e-13;
/// More than this is certainly new.
const CERTAIN: f64 = 1e-9;

/// Where less than this share of a vector is left, it is projected again.
const AGAIN: f64 = 1e-2;

/// Orthonormal columns, one after the other.
pub(crate) struct Basis {
    dimension: usize,
    columns: Vec<f64>,
    careful: bool,
    /// Directions that were kept in doubt.
    pub(crate) ambiguous: usize,
    /// Vectors that were taken for combinations of others.
    pub(crate) dropped: usize,
    /// The shortest remainder that was kept.
    pub(crate) shortest: f64,
}

impl Basis {
    pub(crate) fn new(dimension: usize) -> Self {
        Self { dimension, columns: Vec::new(), careful: false, ambiguous: 0, dropped: 0, shortest: 1.0 }
    }

    /// Looks at every entry of what is short, if `careful`.
    pub(crate) fn careful(self, careful: bool) -> Self {
        Self { careful, ..self }
    }

    /// Number of columns.
    pub(crate) fn rank(&self) -> usize {
        self.columns.len() / self.dimension.max(1)
    }

    pub(crate) fn column(&self, i: usize) -> &[f64] {
        &self.columns[i * self.dimension..(i + 1) * self.dimension]
    }

    /// Several columns, one after the other.
    pub(crate) fn columns(&self, range: std::ops::Range<usize>) -> &[f64] {
        &self.columns[range.start * self.dimension..range.end * self.dimension]
    }

    /// Adds unit vectors, known to be orthogonal to everything here.
    pub(crate) fn push_units(&mut self, indices: impl IntoIterator<Item = usize>) {
        for index in indices {
            let start = self.columns.len();
            self.columns.resize(start + self.dimension, 0.0);
            self.columns[start + index] = 1.0;
        }
    }

    /// Extends the basis to span the given columns (each of length at most about one) as well; returns how many were new.
    ///
    /// `terms` gives, entry by entry, the sums of the sizes of the terms that the columns were computed from. It is asked for
    /// only by a careful basis, where something is short.
    pub(crate) fn extend(&mut self, mut block: Vec<f64>, terms: impl FnOnce() -> Vec<f64>) -> usize {
        let (n, before) = (self.dimension, self.rank());
        let lengths = |block: &[f64]| block.chunks_exact(n.max(1)).map(norm).collect::<Vec<_>>();
        let given = block.clone();
        self.project(&mut block);
        // Projecting leaves round-offs of the whole along the basis: where little is left of it, they would be noticed.
        if lengths(&block).iter().zip(lengths(&given)).any(|(left, whole)| *left < AGAIN * whole) {
            self.project(&mut block);
        }
        let arch = pulp::Arch::new();
        let mut left: Vec<usize> = (0..block.len() / n.max(1)).collect();
        // Within the block: the longest remainder first, so that what is dropped is smaller than all that is kept.
        while let Some((position, length)) =
            longest(&block, n, &left).filter(|(_, length)| *length >= CERTAIN)
        {
            let index = left.swap_remove(position);
            let column = block[index * n..(index + 1) * n].to_vec();
            let column = self.push(column, length);
            arch.dispatch(Remove { direction: &column, block: &mut block, left: &left });
        }
        if !left.is_empty() {
            let terms = if self.careful { terms() } else { Vec::new() };
            self.sieve(&mut block, &given, &terms, &mut left);
        }
        self.dropped += left.len();
        self.rank() - before
    }

    /// Keeps those of the short remainders that are left which are more than rounding.
    fn sieve(&mut self, block: &mut [f64], given: &[f64], terms: &[f64], left: &mut Vec<usize>) {
        let n = self.dimension;
        let mut i = 0;
        while let Some(&index) = left.get(i) {
            let range = index * n..(index + 1) * n;
            let mut column = block[range.clone()].to_vec();
            if self.careful {
                let subtracted = self.subtracted(&given[range.clone()]);
                keep_above(&mut column, |u| NOTHING * (terms[range.start + u] + subtracted[u]));
            }
            let length = norm(&column);
            if length == 0.0 || (length < NOTHING && !self.careful) {
                i += 1;
                continue;
            }
            left.swap_remove(i);
            self.ambiguous += 1;
            let column = self.push(column, length);
            Remove { direction: &column, block, left }.run();
        }
    }

    /// The sum of the sizes of what projecting takes off each entry.
    fn subtracted(&self, column: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0; self.dimension];
        for direction in self.columns.chunks_exact(self.dimension) {
            let along = dot(direction, column).abs();
            sums.iter_mut().zip(direction).for_each(|(sum, x)| *sum += along * x.abs());
        }
        sums
    }

    /// Adds a remainder of this length as a unit vector, which is returned.
    fn push(&mut self, mut column: Vec<f64>, length: f64) -> Vec<f64> {
        self.shortest = self.shortest.min(length);
        column.iter_mut().for_each(|x| *x /= length);
        // A short remainder carries along old directions: take them out again.
        if length < AGAIN {
            self.project(&mut column);
            let length = norm(&column);
            column.iter_mut().for_each(|x| *x /= length);
        }
        self.columns.extend_from_slice(&column);
        column
    }

    /// Takes the components along the basis out of the columns of `block`.
    fn project(&self, block: &mut [f64]) {
        let (n, rank) = (self.dimension, self.rank());
        if rank == 0 || block.is_empty() {
            return;
        }
        let width = block.len() / n;
        let basis = MatRef::from_column_major_slice(&self.columns, n, rank);
        let mut along = vec![0.0; rank * width];
        let mut along: MatMut<f64> = MatMut::from_column_major_slice_mut(&mut along, rank, width);
        let block: MatMut<f64> = MatMut::from_column_major_slice_mut(block, n, width);
        matmul(along.as_mut(), Accum::Replace, basis.transpose(), block.as_ref(), 1.0, Par::Seq);
        matmul(block, Accum::Add, basis, along.as_ref(), -1.0, Par::Seq);
    }

    /// The squared length of the projection of each unit vector: how much of each variable is seen.
    pub(crate) fn leverages(&self) -> Vec<f64> {
        let mut sums = vec![0.0; self.dimension];
        for column in self.columns.chunks_exact(self.dimension) {
            sums.iter_mut().zip(column).for_each(|(sum, x)| *sum += x * x);
        }
        sums.iter_mut().for_each(|sum| *sum = sum.min(1.0));
        sums
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
    let (xs, ys) = (x.chunks_exact(16), y.chunks_exact(16));
    let rest: f64 = xs.remainder().iter().zip(ys.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in xs.zip(ys) {
        for i in 0..16 {
            sums[i] += a[i] * b[i];
        }
    }
    sums.iter().sum::<f64>() + rest
}

/// Takes a direction out of the columns of a block that are left, with the widest instructions there are.
struct Remove<'a> {
    direction: &'a [f64],
    block: &'a mut [f64],
    left: &'a [usize],
}

impl pulp::WithSimd for Remove<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        self.run();
    }
}

impl Remove<'_> {
    #[inline(always)]
    fn run(self) {
        let n = self.direction.len();
        for &other in self.left {
            remove(self.direction, &mut self.block[other * n..(other + 1) * n]);
        }
    }
}

/// Sets to zero what is not above its threshold.
fn keep_above(column: &mut [f64], threshold: impl Fn(usize) -> f64) {
    for (u, x) in column.iter_mut().enumerate() {
        if x.abs() <= threshold(u) {
            *x = 0.0;
        }
    }
}

/// Takes the component along the unit vector `direction` out of `x`, twice.
#[inline(always)]
fn remove(direction: &[f64], x: &mut [f64]) {
    for _ in 0..2 {
        let along = dot(direction, x);
        x.iter_mut().zip(direction).for_each(|(x, d)| *x -= along * d);
    }
}

#[inline(always)]
fn longest(block: &[f64], n: usize, left: &[usize]) -> Option<(usize, f64)> {
    left.iter()
        .enumerate()
        .map(|(position, &index)| (position, norm(&block[index * n..(index + 1) * n])))
        .max_by(|a, b| a.1.total_cmp(&b.1))
}
