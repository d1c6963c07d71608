//! Products of a matrix with rows of examples, and of rows of examples with each other: what a linear layer is made of.
//!
//! ```text
//! forward    out[o] = b[o] + sum_i W[o][i] x[i]        weights packed in tiles of 16 rows
//! backward   dx[i]  =        sum_o W[o][i] d[o]        the same of the transpose
//! gradient   dW[o][i] = sum over examples of d[o] x[i] rows of 16 outputs, so that no sum runs across lanes
//! ```

use fearless_simd::prelude::*;

use super::lanes::{Kernel, LANES, Row, ZERO, add_product, go, is_wide, load, store};

/// Rows of a matrix that are packed together.
pub(super) const TILE: usize = 16;

/// How many numbers the packed matrix has.
pub(super) fn packed_size(rows: usize, columns: usize) -> usize {
    rows.next_multiple_of(TILE) * columns
}

/// Packs `rows` times `columns` numbers, the number at `(r, c)` being `number(r, c)`: tile after tile, column after column. Missing rows are 0.
pub(super) fn pack(packed: &mut [f32], rows: usize, columns: usize, number: impl Fn(usize, usize) -> f32) {
    for (tile, packed) in packed.chunks_exact_mut(TILE * columns).enumerate() {
        for (column, packed) in packed.chunks_exact_mut(TILE).enumerate() {
            for (r, slot) in packed.iter_mut().enumerate() {
                let row = tile * TILE + r;
                *slot = if row < rows { number(row, column) } else { 0.0 };
            }
        }
    }
}

/// `out = bias + A x`, for a packed matrix.
pub(super) fn product(packed: &[f32], x: &[Row], bias: Option<&[f32]>, out: &mut [Row]) {
    go(Product { packed, x, bias, out });
}

struct Product<'a> {
    packed: &'a [f32],
    x: &'a [Row],
    bias: Option<&'a [f32]>,
    out: &'a mut [Row],
}

impl Kernel for Product<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let tiles = self.packed.chunks_exact(TILE * self.x.len());
        for (tile, (packed, out)) in tiles.zip(self.out.chunks_mut(TILE)).enumerate() {
            let bias = self.bias.map(|bias| &bias[tile * TILE..][..out.len()]);
            let packed = packed.as_chunks::<TILE>().0;
            if is_wide::<S>() {
                part::<S, 16>(simd, packed, 0, self.x, bias, out);
            } else {
                for from in (0..out.len()).step_by(4) {
                    part::<S, 4>(simd, packed, from, self.x, bias, out);
                }
            }
        }
    }
}

/// `R` rows of a tile, from this one on.
#[inline(always)]
fn part<S: Simd, const R: usize>(
    simd: S,
    packed: &[[f32; TILE]],
    from: usize,
    x: &[Row],
    bias: Option<&[f32]>,
    out: &mut [Row],
) {
    let mut sums = [simd.splat_f32x16(0.0); R];
    for (column, x) in packed.iter().zip(x) {
        let x = load(simd, x);
        for r in 0..R {
            add_product(simd, &mut sums[r], simd.splat_f32x16(column[from + r]), x);
        }
    }
    for (r, sum) in sums.iter_mut().enumerate().take(out.len() - from) {
        if let Some(bias) = bias {
            *sum += bias[from + r];
        }
        store(&mut out[from + r], *sum);
    }
}

/// Rows of examples by rows of numbers: of up to 16 numbers a block, each multiplied by its example's factor.
pub(super) fn transpose(rows: &[Row], factors: &Row, out: &mut [[Row; LANES]]) {
    for (rows, out) in rows.chunks(LANES).zip(out) {
        *out = [ZERO; LANES];
        for (i, row) in rows.iter().enumerate() {
            for lane in 0..LANES {
                out[lane][i] = factors[lane] * row[lane];
            }
        }
    }
}

/// Adds `sum over examples of d[o] x[i]` to `totals`: for each block of 16 outputs, for each input, a row of outputs.
pub(super) fn add_outer(x: &[Row], transposed: &[[Row; LANES]], totals: &mut [Row]) {
    go(Outer { x, transposed, totals });
}

struct Outer<'a> {
    x: &'a [Row],
    transposed: &'a [[Row; LANES]],
    totals: &'a mut [Row],
}

impl Kernel for Outer<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        for (block, totals) in self.transposed.iter().zip(self.totals.chunks_exact_mut(self.x.len())) {
            let (x, rest_x) = self.x.as_chunks::<8>();
            let (totals, rest) = totals.as_chunks_mut::<8>();
            for (x, totals) in x.iter().zip(totals) {
                outer::<S, 8>(simd, x, block, totals);
            }
            for (x, total) in rest_x.iter().zip(rest) {
                outer::<S, 1>(simd, std::array::from_ref(x), block, std::array::from_mut(total));
            }
        }
    }
}

#[inline(always)]
fn outer<S: Simd, const R: usize>(simd: S, x: &[Row; R], block: &[Row; LANES], totals: &mut [Row; R]) {
    let mut sums = [simd.splat_f32x16(0.0); R];
    for r in 0..R {
        sums[r] = load(simd, &totals[r]);
    }
    for lane in 0..LANES {
        let outputs = load(simd, &block[lane]);
        for r in 0..R {
            add_product(simd, &mut sums[r], simd.splat_f32x16(x[r][lane]), outputs);
        }
    }
    for r in 0..R {
        store(&mut totals[r], sums[r]);
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use crate::net::activation::mish;

    /// A product, and Mish of it.
    struct Both<'a> {
        packed: &'a [f32],
        x: &'a [Row],
        out: &'a mut [Row],
    }

    impl Kernel for Both<'_> {
        #[inline(always)]
        fn run<S: Simd>(self, simd: S) {
            Product { packed: self.packed, x: self.x, bias: None, out: self.out }.run(simd);
            self.out.iter_mut().for_each(|row| store(row, mish(simd, load(simd, row)).0));
        }
    }

    /// Registers of all widths give the same bits.
    #[test]
    fn bits_do_not_depend_on_the_processor() {
        let number = |at: usize| ((at * 2_654_435_761) % 10_007) as f32 / 5_000.0 - 1.0;
        let mut packed = vec![0.0; packed_size(21, 40)];
        pack(&mut packed, 21, 40, |r, c| number(40 * r + c));
        let x: Vec<Row> = (0..40).map(|i| std::array::from_fn(|lane| number(7 * i + 1000 * lane))).collect();
        let (mut wide, mut narrow) = (vec![ZERO; 21], vec![ZERO; 21]);
        go(Both { packed: &packed, x: &x, out: &mut wide });
        let Some(avx2) = fearless_simd::Level::new().as_avx2() else {
            return sottovoce_testing::skipped("avx2", "this processor has no AVX2 to compare with");
        };
        avx2.vectorize(|| Both { packed: &packed, x: &x, out: &mut narrow }.run(avx2));
        assert_eq!(wide, narrow);
        // And they are the product: in double precision, to rounding.
        let exact: f64 = (0..40).map(|c| f64::from(number(40 * 20 + c)) * f64::from(x[c][5])).sum();
        let mish = exact * exact.exp().ln_1p().tanh();
        assert!((f64::from(wide[20][5]) - mish).abs() < 1e-5, "{} but {mish}", wide[20][5]);
    }
}
