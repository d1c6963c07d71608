//! Sixteen examples side by side: the layout of everything that a net computes.
//!
//! A number of a layer is a [`Row`]: its value for each of [`LANES`] examples. A weight then meets all of them at once, whatever the layer:
//! no example ever touches another one's numbers, so its bits do not depend on its neighbours, nor on how wide the processor's registers
//! are, and what is per example (a norm, a gradient) is there without being asked for.
//!
//! [`go`] runs a [`Kernel`] with the widest instructions that the processor has (`pulp` picks them, without unsafe code of ours).
//! `mul_add` rounds once on every processor.

use pulp::{Arch, Simd, WithSimd};

/// Examples that are computed together: a cache line of numbers.
pub(super) const LANES: usize = 16;

/// A number for each of them.
pub(super) type Row = [f32; LANES];

/// A row of zeros.
pub(super) const ZERO: Row = [0.0; LANES];

/// Work on rows that are `C` registers wide.
pub(super) trait Kernel {
    /// Does it. Must be inlined, for the instructions are chosen outside.
    fn run<S: Simd, const C: usize>(self, simd: S);
}

struct Wide<K>(K);

impl<K: Kernel> WithSimd for Wide<K> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        match S::F32_LANES {
            16 => self.0.run::<S, 1>(simd),
            8 => self.0.run::<S, 2>(simd),
            4 => self.0.run::<S, 4>(simd),
            _ => self.0.run::<S, 16>(simd),
        }
    }
}

/// Runs a kernel.
pub(super) fn go(kernel: impl Kernel) {
    Arch::new().dispatch(Wide(kernel));
}

/// A row in registers.
#[inline(always)]
pub(super) fn load<S: Simd, const C: usize>(simd: S, row: &Row) -> [S::f32s; C] {
    let mut wide = [simd.splat_f32s(0.0); C];
    for (wide, from) in wide.iter_mut().zip(S::as_simd_f32s(row).0) {
        *wide = *from;
    }
    wide
}

/// A row from registers.
#[inline(always)]
pub(super) fn store<S: Simd, const C: usize>(row: &mut Row, wide: &[S::f32s; C]) {
    for (to, wide) in S::as_mut_simd_f32s(row).0.iter_mut().zip(wide) {
        *to = *wide;
    }
}

/// `sum += a b` in every lane.
#[inline(always)]
pub(super) fn add_product<S: Simd, const C: usize>(
    simd: S,
    sum: &mut [S::f32s; C],
    a: &[S::f32s; C],
    b: &[S::f32s; C],
) {
    for c in 0..C {
        sum[c] = simd.mul_add_f32s(a[c], b[c], sum[c]);
    }
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
    fn run<S: Simd, const C: usize>(self, simd: S) {
        // Four sums at a time, so that none waits for the one before.
        let mut sums = [[simd.splat_f32s(0.0); C]; 4];
        for rows in self.rows.chunks(4) {
            for (sum, row) in sums.iter_mut().zip(rows) {
                let row = load::<S, C>(simd, row);
                for c in 0..C {
                    sum[c] = simd.add_f32s(sum[c], row[c]);
                }
            }
        }
        let [mut sum, more @ ..] = sums;
        for more in more {
            for c in 0..C {
                sum[c] = simd.add_f32s(sum[c], more[c]);
            }
        }
        store::<S, C>(self.sum, &sum);
    }
}

struct Squares<'a> {
    rows: &'a [Row],
    squares: &'a mut [f64; LANES],
}

impl Kernel for Squares<'_> {
    #[inline(always)]
    fn run<S: Simd, const C: usize>(self, simd: S) {
        for rows in self.rows.chunks(16) {
            let mut sum = [simd.splat_f32s(0.0); C];
            for row in rows {
                let row = load::<S, C>(simd, row);
                add_product(simd, &mut sum, &row, &row);
            }
            let mut short = ZERO;
            store::<S, C>(&mut short, &sum);
            for lane in 0..LANES {
                self.squares[lane] += f64::from(short[lane]);
            }
        }
    }
}
