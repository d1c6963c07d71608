//! A product of a sparse matrix with a few columns, in single or double precision.
//!
//! What it costs is reading the neighbours' rows from the second-level cache: per entry of the matrix one row, which is a whole number of
//! cache lines and starts at one (a load that straddles two would cost twice).

use std::ops::{AddAssign, Mul, Sub};

use sottovoce_topology::mixing::Mixing;

use super::chebyshev::Expansion;

/// The two precisions.
pub(super) trait Real:
    Copy + Default + Sub<Output = Self> + Mul<Output = Self> + AddAssign + Into<f64>
{
    fn of(x: f64) -> Self;

    /// `self * by + to`, rounded once: the same on every processor (those without the instruction, from before 2013, take long).
    fn times_plus(self, by: Self, to: Self) -> Self;
}

impl Real for f64 {
    #[inline(always)]
    fn of(x: f64) -> Self {
        x
    }

    #[inline(always)]
    fn times_plus(self, by: Self, to: Self) -> Self {
        self.mul_add(by, to)
    }
}

impl Real for f32 {
    #[inline(always)]
    fn of(x: f64) -> Self {
        x as Self
    }

    #[inline(always)]
    fn times_plus(self, by: Self, to: Self) -> Self {
        self.mul_add(by, to)
    }
}

/// A row of a block of `N` columns.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(super) struct Row<T, const N: usize>(pub(super) [T; N]);

/// `2 B`: its diagonal, and the rest row after row.
pub(super) struct Matrix<T> {
    diagonal: Vec<T>,
    offsets: Vec<usize>,
    entries: Vec<(u32, T)>,
}

impl<T: Real> Matrix<T> {
    pub(super) fn new(mixing: &Mixing, expansion: &Expansion) -> Self {
        let scale = 2.0 / expansion.radius;
        let (offsets, neighbours) = mixing.graph().rows();
        let weights = mixing.weights().iter().map(|weight| T::of(scale * weight));
        Self {
            diagonal: mixing.diagonal().iter().map(|own| T::of(scale * (own - expansion.centre))).collect(),
            offsets: offsets.to_vec(),
            entries: neighbours.iter().copied().zip(weights).collect(),
        }
    }

    pub(super) fn nodes(&self) -> usize {
        self.diagonal.len()
    }
}

/// `out = 2 B x - out`, or `B x - out` if it is the `LAST`.
pub(super) fn step<T: Real, const N: usize, const LAST: bool>(
    matrix: &Matrix<T>,
    x: &[Row<T, N>],
    out: &mut [Row<T, N>],
) {
    pulp::Arch::new().dispatch(Step::<_, N, LAST> { matrix, x, out });
}

/// A type of its own rather than a closure, which would not be inlined where the wide instructions are.
struct Step<'a, T, const N: usize, const LAST: bool> {
    matrix: &'a Matrix<T>,
    x: &'a [Row<T, N>],
    out: &'a mut [Row<T, N>],
}

impl<T: Real, const N: usize, const LAST: bool> pulp::WithSimd for Step<'_, T, N, LAST> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        let Self { matrix, x, out } = self;
        let rows = matrix.diagonal.iter().zip(matrix.offsets.windows(2));
        for ((out, mine), (&own, range)) in out.iter_mut().zip(x).zip(rows) {
            // The neighbours first, which are small: what is added to something large loses digits.
            let mut sum = [T::default(); N];
            for &(v, weight) in &matrix.entries[range[0]..range[1]] {
                let other = &x[v as usize].0;
                for i in 0..N {
                    sum[i] = weight.times_plus(other[i], sum[i]);
                }
            }
            // Copies, for the compiler to see that nothing changes underway.
            let (mine, before) = (mine.0, out.0);
            for i in 0..N {
                let next = own.times_plus(mine[i], sum[i]);
                sum[i] = if LAST { T::of(0.5) * next } else { next } - before[i];
            }
            out.0 = sum;
        }
    }
}

/// Takes the mean out of each column.
pub(super) fn centre<T: Real, const N: usize>(rows: &mut [Row<T, N>]) {
    let means = means(rows).map(T::of);
    for row in rows {
        row.0.iter_mut().zip(means).for_each(|(x, mean)| *x = *x - mean);
    }
}

/// The mean of each column.
pub(super) fn means<T: Real, const N: usize>(rows: &[Row<T, N>]) -> [f64; N] {
    let mut sums = [0.0; N];
    for row in rows {
        sums.iter_mut().zip(row.0).for_each(|(sum, x)| *sum += x.into());
    }
    sums.map(|sum| sum / rows.len() as f64)
}

/// The inner product of each column with a vector.
pub(super) fn dots<const N: usize>(rows: &[Row<f64, N>], vector: &[f64]) -> [f64; N] {
    let mut sums = [0.0; N];
    for (row, v) in rows.iter().zip(vector) {
        sums.iter_mut().zip(row.0).for_each(|(sum, x)| *sum += v * x);
    }
    sums
}

/// Makes these the inner products of the columns with a vector of unit length, and leaves the rest as it is.
pub(super) fn set_part<const N: usize>(rows: &mut [Row<f64, N>], vector: &[f64], parts: [f64; N]) {
    let now = dots(rows, vector);
    let change: [f64; N] = std::array::from_fn(|i| parts[i] - now[i]);
    for (row, v) in rows.iter_mut().zip(vector) {
        row.0.iter_mut().zip(change).for_each(|(x, change)| *x += v * change);
    }
}

/// Single to double precision.
pub(super) fn convert<const N: usize>(from: &[Row<f32, N>], to: &mut Vec<Row<f64, N>>) {
    to.resize(from.len(), Row([0.0; N]));
    for (to, from) in to.iter_mut().zip(from) {
        to.0.iter_mut().zip(from.0).for_each(|(to, from)| *to = from.into());
    }
}
