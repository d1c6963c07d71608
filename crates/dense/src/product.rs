//! `C += factor A B`.
//!
//! A sum runs over [`DEPTH`] terms at a time, in order, in one lane; how `C` is cut into tiles and among threads does not matter for it. With few rows
//! or columns and rows of `A` and columns of `B` in one piece, sums run in eight lanes instead ([`Few`]).

use std::cell::Cell;

use fearless_simd::prelude::*;
use rayon::prelude::*;

use crate::simd::{Axpy, Kernel, LANES, each, fma, go, is_wide, load, total, whole};
use crate::{MatMut, MatRef, WORTH};

/// Rows and columns of a tile.
const ROWS: usize = 16;
const COLUMNS: usize = 12;
/// Terms of a sum that are added up in registers.
const DEPTH: usize = 256;
/// Rows that are packed together: half of the second-level cache.
const HEIGHT: usize = 192;
/// Columns that are packed together.
const WIDTH: usize = 1536;
/// Up to so many columns, rows are not packed.
const NARROW: usize = 2 * COLUMNS;
/// As long as they are so few numbers, which are in some cache.
const NEAR: usize = 1 << 21;
/// As few as fit into the second-level cache need not be packed at all.
const NEARER: usize = 1 << 15;
/// Up to so many columns are sums of columns.
const THIN: usize = 4;
/// Rows of them that go together.
const SLICE: usize = 2048;
/// Up to so many rows or columns, sums are dot products.
const FEW: usize = 24;
/// Terms of a dot product that are added up in registers.
const LONG: usize = 2048;

/// `C += factor A B`.
pub(crate) fn add_product(c: MatMut<'_>, factor: f64, a: MatRef<'_>, b: MatRef<'_>) {
    let (m, n, depth) = (c.rows, c.columns.len(), a.ncols());
    assert!(m == a.nrows() && n == b.ncols() && depth == b.nrows(), "sizes that fit");
    if m == 0 || n == 0 || depth == 0 {
        return;
    }
    let alone = m * n * depth < WORTH;
    if a.across == 1 && b.down == 1 && m.min(n) <= FEW {
        return few(c, factor, a, b, alone);
    }
    if a.down == 1 && n <= THIN {
        return thin(c, factor, a, b, alone);
    }
    let direct = a.down == 1 && m * depth <= if n <= NARROW { NEAR } else { NEARER };
    let height = match alone {
        true => m,
        // At least two pieces, and whole tiles.
        false => HEIGHT.min(m.div_ceil(2)).next_multiple_of(ROWS),
    };
    let mut columns = c.columns.into_iter();
    let mut packed_b = ROOM_FOR_ALL.take();
    for from in (0..n).step_by(WIDTH) {
        let width = WIDTH.min(n - from);
        let mut pieces: Vec<Piece<'_>> = (0..m.div_ceil(height)).map(|_| Vec::with_capacity(width)).collect();
        for column in columns.by_ref().take(width) {
            pieces.iter_mut().zip(column.chunks_mut(height)).for_each(|(piece, rows)| piece.push(rows));
        }
        for first in (0..depth).step_by(DEPTH) {
            let depth = DEPTH.min(depth - first);
            let b = b.submatrix(first, from, depth, width);
            packed_b.resize(width.next_multiple_of(COLUMNS) * depth, 0.0);
            let pack_b = |(i, packed): (usize, &mut [f64])| {
                let j = i * COLUMNS;
                pack::<COLUMNS>(packed, b.subcols(j, COLUMNS.min(width - j)).transpose());
            };
            if alone {
                packed_b.chunks_mut(COLUMNS * depth).enumerate().for_each(pack_b);
            } else {
                packed_b.par_chunks_mut(COLUMNS * depth).enumerate().with_min_len(16).for_each(pack_b);
            }
            let work = |(i, columns): (usize, &mut Piece<'_>)| {
                let rows = columns[0].len();
                let a = a.submatrix(i * height, first, rows, depth);
                let mut packed_a = ROOM.take();
                go(Tiles { a, direct, packed_a: &mut packed_a, b: &packed_b, factor, columns });
                ROOM.set(packed_a);
            };
            if alone {
                pieces.iter_mut().enumerate().for_each(work);
            } else {
                pieces.par_iter_mut().enumerate().for_each(work);
            }
        }
    }
    ROOM_FOR_ALL.set(packed_b);
}

thread_local! {
    /// Memory that served before: of the system's own, most would be spent on asking for it.
    static ROOM: Cell<Vec<f64>> = const { Cell::new(Vec::new()) };
    static ROOM_FOR_ALL: Cell<Vec<f64>> = const { Cell::new(Vec::new()) };
}

/// The same rows of some columns.
type Piece<'a> = Vec<&'a mut [f64]>;

/// Up to `N` rows, column after column; missing ones are 0.
#[inline(always)]
fn pack<const N: usize>(packed: &mut [f64], rows: MatRef<'_>) {
    let (packed, count) = (packed.as_chunks_mut::<N>().0, rows.nrows());
    if rows.across == 1 {
        if count < N {
            packed.fill([0.0; N]);
        }
        for i in 0..count {
            let row = &rows.numbers[i * rows.down..][..rows.ncols()];
            packed.iter_mut().zip(row).for_each(|(packed, x)| packed[i] = *x);
        }
        return;
    }
    for (j, packed) in packed.iter_mut().enumerate() {
        let column = &rows.numbers[j * rows.across..];
        match column.first_chunk::<N>().filter(|_| count == N && rows.down == 1) {
            Some(column) => *packed = *column,
            None => *packed = std::array::from_fn(|i| if i < count { column[i * rows.down] } else { 0.0 }),
        }
    }
}

/// Tiles of some rows.
struct Tiles<'a, 'c> {
    a: MatRef<'a>,
    /// Whether to take rows from where they are.
    direct: bool,
    packed_a: &'a mut Vec<f64>,
    b: &'a [f64],
    factor: f64,
    columns: &'a mut [&'c mut [f64]],
}

impl Kernel for Tiles<'_, '_> {
    type Out = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { a, direct, packed_a, b, factor, columns } = self;
        let (m, depth) = (a.nrows(), a.ncols());
        let whole = if direct { m - m % ROWS } else { 0 };
        let stripe = ROWS * depth;
        packed_a.resize((m - whole).div_ceil(ROWS) * stripe, 0.0);
        for (i, packed) in (whole..m).step_by(ROWS).zip(packed_a.chunks_exact_mut(stripe)) {
            pack::<ROWS>(packed, a.subrows(i, ROWS.min(m - i)));
        }
        for (b, columns) in b.chunks_exact(COLUMNS * depth).zip(columns.chunks_mut(COLUMNS)) {
            let b = b.as_chunks::<COLUMNS>().0;
            for i in (0..m).step_by(ROWS) {
                let (a, across) = match i.checked_sub(whole) {
                    Some(i) => (&packed_a[i * depth..][..stripe], ROWS),
                    None => (&a.numbers[i..], a.across),
                };
                let sums = tile(simd, a, across, b);
                for (column, sums) in columns.iter_mut().zip(&sums) {
                    if let Some(column) = column[i..].first_chunk_mut::<ROWS>() {
                        (0..ROWS).for_each(|i| column[i] += factor * sums[i]);
                    } else {
                        column[i..].iter_mut().zip(sums).for_each(|(x, sum)| *x += factor * sum);
                    }
                }
            }
        }
    }
}

#[inline(always)]
fn tile<S: Simd>(simd: S, a: &[f64], across: usize, b: &[[f64; COLUMNS]]) -> [[f64; ROWS]; COLUMNS] {
    let mut out = [[0.0; ROWS]; COLUMNS];
    if is_wide::<S>() {
        part::<S, 2, COLUMNS>(simd, a, across, b, 0, 0, &mut out);
    } else {
        for quarter in 0..4 {
            part::<S, 1, 6>(simd, a, across, b, quarter / 2, quarter % 2 * 6, &mut out);
        }
    }
    out
}

/// `R` vectors of rows from vector `row` on, `N` columns from `column` on.
#[inline(always)]
fn part<S: Simd, const R: usize, const N: usize>(
    simd: S,
    mut a: &[f64],
    across: usize,
    b: &[[f64; COLUMNS]],
    row: usize,
    column: usize,
    out: &mut [[f64; ROWS]; COLUMNS],
) {
    let (mut first, mut second) = ([simd.splat_f64x8(0.0); N], [simd.splat_f64x8(0.0); N]);
    for b in b {
        let Some(numbers) = a.first_chunk::<ROWS>() else { break };
        let numbers = numbers.as_chunks::<LANES>().0;
        let (upper, lower) = (load(simd, &numbers[row]), load(simd, &numbers[(row + 1) % 2]));
        each!(J in 0 1 2 3 4 5 6 7 8 9 10 11, {
            if J < N {
                let factor = simd.splat_f64x8(b[column + J]);
                fma(simd, &mut first[J], upper, factor);
                if R == 2 {
                    fma(simd, &mut second[J], lower, factor);
                }
            }
        });
        a = a.get(across..).unwrap_or_default();
    }
    for j in 0..N {
        let out = out[column + j].as_chunks_mut::<LANES>().0;
        out[row] = first[j].into();
        if R == 2 {
            out[row + 1] = second[j].into();
        }
    }
}

/// Sums of the columns of `A`, one column of the result after the other.
fn thin(c: MatMut<'_>, factor: f64, a: MatRef<'_>, b: MatRef<'_>, alone: bool) {
    let depth = a.ncols();
    for (j, column) in c.columns.into_iter().enumerate() {
        let factors: Vec<f64> = (0..depth).map(|k| factor * b[(k, j)]).collect();
        let work = |(i, y): (usize, &mut [f64])| {
            let columns: Vec<&[f64]> = (0..depth).map(|k| &a.col(k)[i * SLICE..]).collect();
            go(Axpy { factors: &factors, columns: &columns, y });
        };
        if alone {
            column.chunks_mut(SLICE).enumerate().for_each(work);
        } else {
            column.par_chunks_mut(SLICE).enumerate().for_each(work);
        }
    }
}

/// Dot products of all rows with all columns, one column of the result after the other.
fn few(mut c: MatMut<'_>, factor: f64, a: MatRef<'_>, b: MatRef<'_>, alone: bool) {
    for first in (0..a.ncols()).step_by(LONG) {
        let depth = LONG.min(a.ncols() - first);
        let work = |(i, columns): (usize, &mut [&mut [f64]])| {
            let b = b.submatrix(first, i * GROUP, depth, columns.len());
            go(Few { a: a.subcols(first, depth), b, factor, columns });
        };
        if alone {
            c.columns.chunks_mut(GROUP).enumerate().for_each(work);
        } else {
            c.columns.par_chunks_mut(GROUP).enumerate().for_each(work);
        }
    }
}

/// Columns of the result that are a piece of work.
const GROUP: usize = 24;

/// Dot products.
struct Few<'a, 'c> {
    a: MatRef<'a>,
    b: MatRef<'a>,
    factor: f64,
    columns: &'a mut [&'c mut [f64]],
}

impl Kernel for Few<'_, '_> {
    type Out = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        if is_wide::<S>() {
            few_tiles::<S, 4, 6>(simd, self);
        } else {
            few_tiles::<S, 2, 3>(simd, self);
        }
    }
}

#[inline(always)]
fn few_tiles<S: Simd, const R: usize, const N: usize>(simd: S, few: Few<'_, '_>) {
    let Few { a, b, factor, columns } = few;
    let a = a.transpose();
    for j in (0..b.ncols()).step_by(N) {
        // Where there are no more, the last one again.
        let right: [&[f64]; N] = std::array::from_fn(|k| b.col((j + k).min(b.ncols() - 1)));
        for i in (0..a.ncols()).step_by(R) {
            let left: [&[f64]; R] = std::array::from_fn(|k| a.col((i + k).min(a.ncols() - 1)));
            let sums = dots(simd, left, right);
            for (column, sums) in columns[j..].iter_mut().zip(&sums) {
                column[i..].iter_mut().zip(sums).for_each(|(x, sum)| *x += factor * sum);
            }
        }
    }
}

#[inline(always)]
fn dots<S: Simd, const R: usize, const N: usize>(
    simd: S,
    left: [&[f64]; R],
    right: [&[f64]; N],
) -> [[f64; R]; N] {
    let (n, mut sums) = (left[0].len(), [[simd.splat_f64x8(0.0); R]; N]);
    let count = n / LANES;
    let (lefts, rights) = (whole(&left, count), whole(&right, count));
    for i in 0..count {
        let mut rows = [simd.splat_f64x8(0.0); R];
        each!(I in 0 1 2 3, {
            if I < R {
                rows[I] = load(simd, &lefts[I][i]);
            }
        });
        each!(J in 0 1 2 3 4 5, {
            if J < N {
                let column = load(simd, &rights[J][i]);
                each!(I in 0 1 2 3, {
                    if I < R {
                        fma(simd, &mut sums[J][I], rows[I], column);
                    }
                });
            }
        });
    }
    let mut out = [[0.0; R]; N];
    each!(J in 0 1 2 3 4 5, {
        if J < N {
            each!(I in 0 1 2 3, {
                if I < R {
                    out[J][I] = total(sums[J][I]);
                }
            });
        }
    });
    for j in 0..N {
        for r in 0..R {
            let rest = left[r][count * LANES..].iter().zip(&right[j][count * LANES..n]);
            out[j][r] = rest.fold(out[j][r], |sum, (x, y)| x.mul_add(*y, sum));
        }
    }
    out
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use crate::Mat;

    /// Narrower registers give the same bits of tiles, and of dot products.
    #[test]
    fn bits_do_not_depend_on_the_processor() {
        let number = |i: usize, j: usize| ((i * 7919 + j * 104_729) % 1009) as f64 / 504.0 - 1.0;
        let (a, b) = (Mat::from_fn(37, 50, number), Mat::from_fn(50, 17, number));
        let mut packed_b = vec![0.0; 24 * 50];
        for (i, packed) in packed_b.chunks_mut(COLUMNS * 50).enumerate() {
            pack::<COLUMNS>(packed, b.as_ref().subcols(12 * i, COLUMNS.min(17 - 12 * i)).transpose());
        }
        let left = a.transpose().to_owned();
        let level = fearless_simd::Level::new();
        let (Some(avx2), Some(sse2)) = (level.as_avx2(), level.as_sse2()) else { return };
        let all = [0, 1, 2].map(|width| {
            let (mut tiles, mut few) = (Mat::zeros(37, 17), Mat::zeros(37, 17));
            let (mut columns, mut room) = (tiles.as_mut().columns, Vec::new());
            let tiled = Tiles {
                a: a.as_ref(),
                direct: false,
                packed_a: &mut room,
                b: &packed_b,
                factor: 0.5,
                columns: &mut columns,
            };
            match width {
                0 => go(tiled),
                1 => avx2.vectorize(|| tiled.run(avx2)),
                _ => sse2.vectorize(|| tiled.run(sse2)),
            }
            let mut columns = few.as_mut().columns;
            let dots = Few { a: left.transpose(), b: b.as_ref(), factor: 0.5, columns: &mut columns };
            match width {
                0 => go(dots),
                1 => avx2.vectorize(|| dots.run(avx2)),
                _ => sse2.vectorize(|| dots.run(sse2)),
            }
            (tiles, few)
        });
        assert!(all[0] == all[1] && all[0] == all[2]);
    }
}
