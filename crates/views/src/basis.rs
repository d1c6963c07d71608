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

/// Where less than this is left of a vector of length one, it is projected again.
const AGAIN: f64 = 0.1;

/// Components of a vector of length one that may stay, where more than [`AGAIN`] is left of it.
const ROUNDING: f64 = 16.0 * f64::EPSILON;

/// Orthonormal columns, one after the other.
pub(crate) struct Basis {
    dimension: usize,
    columns: Vec<f64>,
    /// The first columns are these unit vectors.
    units: Vec<usize>,
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
        Self {
            dimension,
            columns: Vec::new(),
            units: Vec::new(),
            careful: false,
            ambiguous: 0,
            dropped: 0,
            shortest: 1.0,
        }
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

    /// Begins with these unit vectors, all different.
    pub(crate) fn units(self, units: Vec<usize>) -> Self {
        let mut columns = vec![0.0; units.len() * self.dimension];
        units.iter().enumerate().for_each(|(i, &unit)| columns[i * self.dimension + unit] = 1.0);
        Self { columns, units, ..self }
    }

    /// Extends the basis to span the given columns (each of length at most about one) as well; returns how many were new.
    ///
    /// `terms` gives, entry by entry, the sums of the sizes of the terms that the columns were computed from. It is asked for
    /// only by a careful basis, where something is short.
    pub(crate) fn extend(&mut self, mut block: Vec<f64>, terms: impl FnOnce() -> Vec<f64>) -> usize {
        let (n, before, arch) = (self.dimension, self.rank(), pulp::Arch::new());
        let given = if self.careful { block.clone() } else { Vec::new() };
        self.project(&mut block, if self.careful { 0.0 } else { ROUNDING });
        let mut lengths = arch.dispatch(Lengths { block: &block, n });
        // Projecting leaves round-offs of the whole along the basis: where little is left of it, they would be noticed.
        if lengths.iter().any(|left| *left < AGAIN) {
            self.project(&mut block, 0.0);
            lengths = arch.dispatch(Lengths { block: &block, n });
        }
        let mut left: Vec<usize> = (0..lengths.len()).collect();
        // Within the block: the longest remainder first, so that what is dropped is smaller than all that is kept.
        while let Some(position) = longest(&lengths, &left).filter(|i| lengths[left[*i]] >= CERTAIN) {
            let index = left.swap_remove(position);
            let direction = self.push(&mut block[index * n..(index + 1) * n], lengths[index]);
            let direction = &self.columns[direction..];
            arch.dispatch(Remove { direction, block: &mut block, left: &left, lengths: &mut lengths });
        }
        if !left.is_empty() {
            let terms = if self.careful { terms() } else { Vec::new() };
            self.sieve(&mut block, &mut lengths, &given, &terms, &mut left);
        }
        self.dropped += left.len();
        self.rank() - before
    }

    /// Keeps those of the short remainders that are left which are more than rounding.
    fn sieve(
        &mut self,
        block: &mut [f64],
        lengths: &mut [f64],
        given: &[f64],
        terms: &[f64],
        left: &mut Vec<usize>,
    ) {
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
            let direction = self.push(&mut column, length);
            Remove { direction: &self.columns[direction..], block, left, lengths }.run();
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

    /// Adds a remainder of this length as a unit vector; returns where it begins.
    fn push(&mut self, column: &mut [f64], length: f64) -> usize {
        self.shortest = self.shortest.min(length);
        column.iter_mut().for_each(|x| *x /= length);
        // A short remainder carries along old directions: take them out again.
        if length < AGAIN {
            self.project(column, 0.0);
            let length = norm(column);
            column.iter_mut().for_each(|x| *x /= length);
        }
        let start = self.columns.len();
        self.columns.extend_from_slice(column);
        start
    }

    /// Takes the components along the basis out of the columns of `block`, but for the first directions along which all are
    /// `negligible`: what was mixed once more is orthogonal to all but the last ones already.
    fn project(&self, block: &mut [f64], negligible: f64) {
        let (n, rank) = (self.dimension, self.rank() - self.units.len());
        for column in block.chunks_exact_mut(n.max(1)) {
            self.units.iter().for_each(|&unit| column[unit] = 0.0);
        }
        if rank == 0 || block.is_empty() {
            return;
        }
        let width = block.len() / n;
        let basis = MatRef::from_column_major_slice(&self.columns[self.units.len() * n..], n, rank);
        let mut along = vec![0.0; rank * width];
        let mut along: MatMut<f64> = MatMut::from_column_major_slice_mut(&mut along, width, rank);
        let block: MatMut<f64> = MatMut::from_column_major_slice_mut(block, n, width);
        matmul(along.as_mut(), Accum::Replace, block.as_ref().transpose(), basis, 1.0, Par::Seq);
        let orthogonal = |i: &usize| (0..width).all(|j| along[(j, *i)].abs() <= negligible);
        let from = (0..rank).take_while(orthogonal).count();
        let (basis, along) =
            (basis.subcols(from, rank - from), along.as_ref().subcols(from, rank - from).transpose());
        matmul(block, Accum::Add, basis, along, -1.0, Par::Seq);
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

/// The length of each column, with the widest instructions there are.
struct Lengths<'a> {
    block: &'a [f64],
    n: usize,
}

impl pulp::WithSimd for Lengths<'_> {
    type Output = Vec<f64>;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) -> Vec<f64> {
        let mut lengths = vec![0.0; self.block.len() / self.n.max(1)];
        for (length, column) in lengths.iter_mut().zip(self.block.chunks_exact(self.n.max(1))) {
            *length = norm(column);
        }
        lengths
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
        self.run();
    }
}

impl Remove<'_> {
    #[inline(always)]
    fn run(self) {
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

/// Sets to zero what is not above its threshold.
fn keep_above(column: &mut [f64], threshold: impl Fn(usize) -> f64) {
    for (u, x) in column.iter_mut().enumerate() {
        if x.abs() <= threshold(u) {
            *x = 0.0;
        }
    }
}

/// Takes the component along the unit vector `direction` out of `x`; returns the length of what is left.
#[inline(always)]
fn remove(direction: &[f64], x: &mut [f64]) -> f64 {
    let along = dot(direction, x);
    x.iter_mut().zip(direction).for_each(|(x, d)| *x -= along * d);
    norm(x)
}

/// Where in `left` the column of the greatest length is.
fn longest(lengths: &[f64], left: &[usize]) -> Option<usize> {
    (0..left.len()).max_by(|&a, &b| lengths[left[a]].total_cmp(&lengths[left[b]]))
}
