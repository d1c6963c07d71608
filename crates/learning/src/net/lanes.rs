//! Sixteen examples side by side: the layout of everything that a net computes.
//!
//! A number of a layer is a [`Row`]: its value for each of [`LANES`] examples. A weight then meets all of them at once, whatever the layer:
//! no example ever touches another one's numbers, so its bits do not depend on its neighbours, nor on how wide the processor's registers
//! are, and what is per example (a norm, a gradient) is there without being asked for.
//!
//! [`go`] runs a [`Kernel`] with the widest instructions that the processor has. Products that are added are rounded once on every processor: it is the
//! same bits on all of them.

use fearless_simd::{f32x16, prelude::*};

pub(super) use crate::widest::{Kernel, go};

/// Examples that are computed together: a cache line of numbers.
pub(super) const LANES: usize = 16;

/// A number for each of them.
pub(super) type Row = [f32; LANES];

/// A row of zeros.
pub(super) const ZERO: Row = [0.0; LANES];

/// Whether a row fits into a register; then there are many of them, and more sums can be collected at a time.
#[inline(always)]
pub(super) const fn is_wide<S: Simd>() -> bool {
    <S::f32s as SimdBase<S>>::LEN == LANES
}

/// A row in registers.
#[inline(always)]
pub(super) fn load<S: Simd>(simd: S, row: &Row) -> f32x16<S> {
    f32x16::simd_from(simd, *row)
}

/// A row from registers.
#[inline(always)]
pub(super) fn store<S: Simd>(row: &mut Row, wide: f32x16<S>) {
    *row = wide.into();
}

/// `sum += a b` in every lane, rounded once.
#[inline(always)]
pub(super) fn add_product<S: Simd>(simd: S, sum: &mut f32x16<S>, a: f32x16<S>, b: f32x16<S>) {
    *sum = simd.mul_add_precise_f32x16(a, b, *sum);
}

/// The sum over the lanes, always in the same order.
#[inline(always)]
pub(super) fn total(row: &Row) -> f32 {
    let mut row = *row;
    let mut half = LANES / 2;
    while half > 0 {
        for lane in 0..half {
            row[lane] += row[lane + half];
        }
        half /= 2;
    }
    row[0]
}

/// Adds the squares of the rows of each lane. Short sums in single precision are carried on in double: what comes out is
/// right to a few parts in a million, however many rows there are.
pub(super) fn add_squares(rows: &[Row], squares: &mut [f64; LANES]) {
    go(Squares { rows, squares });
}

/// The sum of the rows.
pub(super) fn sum_rows(rows: &[Row], sum: &mut Row) {
    go(Sum { rows, sum });
}

struct Sum<'a> {
    rows: &'a [Row],
    sum: &'a mut Row,
}

impl Kernel for Sum<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        // Four sums at a time, so that none waits for the one before.
        let mut sums = [simd.splat_f32x16(0.0); 4];
        for rows in self.rows.chunks(4) {
            for (sum, row) in sums.iter_mut().zip(rows) {
                *sum += load(simd, row);
            }
        }
        store(self.sum, sums[0] + sums[1] + (sums[2] + sums[3]));
    }
}

struct Squares<'a> {
    rows: &'a [Row],
    squares: &'a mut [f64; LANES],
}

impl Kernel for Squares<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        for rows in self.rows.chunks(16) {
            let mut sum = simd.splat_f32x16(0.0);
            for row in rows {
                let row = load(simd, row);
                add_product(simd, &mut sum, row, row);
            }
            let mut short = ZERO;
            store(&mut short, sum);
            self.squares.iter_mut().zip(short).for_each(|(sum, short)| *sum += f64::from(short));
        }
    }
}
