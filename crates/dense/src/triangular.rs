//! Triangular systems with many right sides: blocks on the diagonal by substitution, sixteen right sides at a time, all else by products.

use fearless_simd::prelude::*;
use rayon::prelude::*;

use crate::simd::{Axpy, Kernel, LANES, each, fma, go, go_narrow, load};
use crate::{Mat, MatMut, MatRef, WORTH};

/// Rows that are substituted one after the other.
const BLOCK: usize = 32;
/// Right sides that go together.
const TOGETHER: usize = 2 * LANES;
/// And where there are many.
const WIDE: usize = 8 * LANES;
/// Right sides that are a piece of work.
const GROUP: usize = 4 * WIDE;
/// Up to so many right sides are solved one by one.
const FEW: usize = 3;

/// Solves `L x = b` for all columns `b`, in place. What is above the diagonal of `L` is not looked at.
pub fn solve_lower<'a>(lower: impl Into<MatRef<'a>>, right: &mut Mat) {
    solve(Triangle { matrix: lower.into(), upper: false, unit: false }, right.as_mut());
}

/// A triangular matrix.
#[derive(Clone, Copy)]
pub(crate) struct Triangle<'a> {
    /// The other half is not looked at.
    pub(crate) matrix: MatRef<'a>,
    pub(crate) upper: bool,
    /// Whether the diagonal is 1, whatever it says.
    pub(crate) unit: bool,
}

pub(crate) fn solve(triangle: Triangle<'_>, right: MatMut<'_>) {
    let size = triangle.matrix.nrows();
    assert!(size == triangle.matrix.ncols() && size == right.rows, "sizes that fit");
    let group = |columns: &mut [&mut [f64]]| {
        let columns = columns.iter_mut().map(|column| &mut **column).collect();
        one_group(triangle, MatMut { rows: size, columns });
    };
    let mut columns = right.columns;
    if size * size * columns.len() / 2 < WORTH {
        group(&mut columns);
    } else {
        columns.par_chunks_mut(GROUP).for_each(group);
    }
}

fn one_group(triangle: Triangle<'_>, right: MatMut<'_>) {
    let Triangle { matrix, upper, .. } = triangle;
    let (size, count) = (matrix.nrows(), right.columns.len());
    if count <= FEW && matrix.down == 1 {
        return right.columns.into_iter().for_each(|column| go_narrow(One { triangle, x: column }));
    }
    if size <= BLOCK {
        return substitute(triangle, right);
    }
    let middle = (size / 2).next_multiple_of(BLOCK).min(size - 1);
    let (above, below) = right.split_row(middle);
    let part =
        |from: usize, rows: usize| Triangle { matrix: matrix.submatrix(from, from, rows, rows), ..triangle };
    // Upper triangles are solved from below.
    let (mut first, mut second) = if upper { (below, above) } else { (above, below) };
    let (top, rest) = (part(0, middle), part(middle, size - middle));
    let (one, other) = if upper { (rest, top) } else { (top, rest) };
    let beside = match upper {
        true => matrix.submatrix(0, middle, middle, size - middle),
        false => matrix.submatrix(middle, 0, size - middle, middle),
    };
    one_group(one, first.again());
    let solved = first.to_owned();
    second.again().add_product(-1.0, beside, &solved);
    one_group(other, second);
}

/// One right side.
struct One<'a, 'c> {
    triangle: Triangle<'a>,
    x: &'c mut [f64],
}

impl Kernel for One<'_, '_> {
    type Out = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let (Triangle { matrix, upper, unit }, x) = (self.triangle, self.x);
        let size = x.len();
        for done in (0..size).step_by(LANES) {
            let count = LANES.min(size - done);
            let from = if upper { size - done - count } else { done };
            let (mut factors, mut columns): (_, [&[f64]; LANES]) = ([0.0; LANES], [&[]; LANES]);
            for k in 0..count {
                let j = if upper { from + count - 1 - k } else { from + k };
                let column = matrix.col(j);
                let solved = if unit { x[j] } else { x[j] / column[j] };
                x[j] = solved;
                let block = if upper { from..j } else { j + 1..from + count };
                x[block.clone()].iter_mut().zip(&column[block]).for_each(|(x, l)| *x -= solved * l);
                let rest = if upper { 0..from } else { from + count..size };
                (factors[k], columns[k]) = (-solved, &column[rest]);
            }
            let y = if upper { &mut x[..from] } else { &mut x[from + count..] };
            Axpy { factors: &factors[..count], columns: &columns[..count], y }.run(simd);
        }
    }
}

/// A triangle of few rows.
fn substitute(triangle: Triangle<'_>, mut right: MatMut<'_>) {
    let rows = right.rows;
    let at = |i: usize| if triangle.upper { rows - 1 - i } else { i };
    let mut block = Vec::with_capacity(rows * (rows + 1) / 2);
    for i in 0..rows {
        block.extend((0..i).map(|j| -triangle.matrix[(at(i), at(j))]));
        block.push(if triangle.unit { 1.0 } else { triangle.matrix[(at(i), at(i))] });
    }
    go(Substitution { block: &block, columns: &mut right.columns, rows, upper: triangle.upper });
}

/// A block of rows, of all right sides.
struct Substitution<'a, 'c> {
    /// Row after row up to the diagonal; all but the diagonal negated.
    block: &'a [f64],
    columns: &'a mut [&'c mut [f64]],
    rows: usize,
    upper: bool,
}

impl Kernel for Substitution<'_, '_> {
    type Out = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let (wide, narrow) = self.columns.split_at_mut(self.columns.len() / WIDE * WIDE);
        wide.chunks_mut(WIDE)
            .for_each(|columns| substitution::<S, 8>(simd, self.block, columns, self.rows, self.upper));
        narrow
            .chunks_mut(TOGETHER)
            .for_each(|columns| substitution::<S, 2>(simd, self.block, columns, self.rows, self.upper));
    }
}

/// `W` vectors of right sides.
#[inline(always)]
fn substitution<S: Simd, const W: usize>(
    simd: S,
    block: &[f64],
    columns: &mut [&mut [f64]],
    rows: usize,
    upper: bool,
) {
    let mut x = [[[0.0; LANES]; W]; BLOCK];
    let at = |i: usize| if upper { rows - 1 - i } else { i };
    for (k, column) in columns.iter().enumerate() {
        (0..rows).for_each(|i| x[at(i)][k / LANES][k % LANES] = column[i]);
    }
    let mut row = block;
    for i in 0..rows {
        let (factors, rest) = row.split_at(i);
        let (known, unknown) = x.split_at_mut(i);
        let (unknown, mut sums) = (&mut unknown[0], [simd.splat_f64x8(0.0); W]);
        each!(K in 0 1 2 3 4 5 6 7, {
            if K < W {
                sums[K] = load(simd, &unknown[K]);
            }
        });
        for (factor, known) in factors.iter().zip(known) {
            let factor = simd.splat_f64x8(*factor);
            each!(K in 0 1 2 3 4 5 6 7, {
                if K < W {
                    fma(simd, &mut sums[K], factor, load(simd, &known[K]));
                }
            });
        }
        let diagonal = simd.splat_f64x8(rest[0]);
        each!(K in 0 1 2 3 4 5 6 7, {
            if K < W {
                unknown[K] = (sums[K] / diagonal).into();
            }
        });
        row = &rest[1..];
    }
    for (k, column) in columns.iter_mut().enumerate() {
        (0..rows).for_each(|i| column[i] = x[at(i)][k / LANES][k % LANES]);
    }
}
