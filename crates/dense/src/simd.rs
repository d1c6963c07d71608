//! Vector instructions, the widest that the processor has, and the kernels on vectors that more than one file uses.
//!
//! Products that are added are rounded once, whatever the processor, and lanes are added up in one order: results do not depend on the width of registers.

#[cfg(not(target_arch = "x86_64"))]
use fearless_simd::dispatch;
use fearless_simd::{Level, f64x8, prelude::*};

/// Numbers in a vector.
pub(crate) const LANES: usize = 8;

/// Writes a block out for each of these constants, so that arrays indexed by it stay in registers.
macro_rules! each {
    ($n:ident in $($value:literal)*, $body:block) => { $({ const $n: usize = $value; $body })* };
}
pub(crate) use each;

/// Work that is worth it.
pub(crate) trait Kernel {
    /// What comes out.
    type Out;
    /// Does it. Must be inlined, for the instructions are chosen outside.
    fn run<S: Simd>(self, simd: S) -> Self::Out;
}

/// Runs a kernel.
pub(crate) fn go<K: Kernel>(kernel: K) -> K::Out {
    #[cfg(target_arch = "x86_64")]
    if let Some(simd) = Level::new().as_avx512() {
        return simd.vectorize(
            #[inline(always)]
            move || kernel.run(simd),
        );
    }
    go_narrow(kernel)
}

/// Runs a kernel that gains nothing from the widest registers; fewer copies of it are compiled.
pub(crate) fn go_narrow<K: Kernel>(kernel: K) -> K::Out {
    #[cfg(target_arch = "x86_64")]
    {
        if let Some(simd) = Level::new().as_avx2() {
            return simd.vectorize(
                #[inline(always)]
                move || kernel.run(simd),
            );
        }
        if let Some(simd) = Level::new().as_sse2() {
            return simd.vectorize(
                #[inline(always)]
                move || kernel.run(simd),
            );
        }
        unreachable!("every such processor has SSE2");
    }
    #[cfg(not(target_arch = "x86_64"))]
    dispatch!(Level::new(), simd => kernel.run(simd))
}

/// Whether eight numbers fit into one register; then there are many of them, and more sums can be collected at a time.
#[inline(always)]
pub(crate) const fn is_wide<S: Simd>() -> bool {
    <S::f64s as SimdBase<S>>::LEN == LANES
}

/// A vector in registers.
#[inline(always)]
pub(crate) fn load<S: Simd>(simd: S, numbers: &[f64; LANES]) -> f64x8<S> {
    f64x8::load_array_ref(simd, numbers)
}

/// `sum += a b` in every lane, rounded once.
#[inline(always)]
pub(crate) fn fma<S: Simd>(simd: S, sum: &mut f64x8<S>, a: f64x8<S>, b: f64x8<S>) {
    *sum = simd.mul_add_precise_f64x8(a, b, *sum);
}

/// The sum of all lanes.
#[inline(always)]
pub(crate) fn total<S: Simd>(sums: f64x8<S>) -> f64 {
    let lanes: [f64; LANES] = sums.into();
    ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]))
}

/// `y += Σ_j factors_j columns_j`.
pub(crate) struct Axpy<'a> {
    pub(crate) factors: &'a [f64],
    pub(crate) columns: &'a [&'a [f64]],
    pub(crate) y: &'a mut [f64],
}

impl Kernel for Axpy<'_> {
    type Out = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let n = self.y.len();
        let (y, (factors, rest)) = (self.y, self.factors.as_chunks::<4>());
        let (columns, columns_rest) = self.columns.as_chunks::<4>();
        for (f, c) in factors.iter().zip(columns) {
            let (a, b, c, d) = (&c[0][..n], &c[1][..n], &c[2][..n], &c[3][..n]);
            for i in 0..n {
                y[i] = f[3].mul_add(d[i], f[2].mul_add(c[i], f[1].mul_add(b[i], f[0].mul_add(a[i], y[i]))));
            }
        }
        for (f, column) in rest.iter().zip(columns_rest) {
            y.iter_mut().zip(&column[..n]).for_each(|(y, x)| *y = f.mul_add(*x, *y));
        }
    }
}

/// `out_j = columns_j · x`.
pub(crate) struct Dots<'a> {
    pub(crate) columns: &'a [&'a [f64]],
    pub(crate) x: &'a [f64],
    pub(crate) out: &'a mut [f64],
}

impl Kernel for Dots<'_> {
    type Out = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let (columns, columns_rest) = self.columns.as_chunks::<4>();
        let (out, out_rest) = self.out.as_chunks_mut::<4>();
        for (column, out) in columns.iter().zip(out) {
            dots(simd, column, self.x, out);
        }
        for (column, out) in columns_rest.iter().zip(out_rest) {
            dots(simd, std::array::from_ref(column), self.x, std::array::from_mut(out));
        }
    }
}

#[inline(always)]
fn dots<S: Simd, const N: usize>(simd: S, columns: &[&[f64]; N], x: &[f64], out: &mut [f64; N]) {
    let (mut sums, (xs, rest)) = ([simd.splat_f64x8(0.0); N], x.as_chunks::<LANES>());
    let chunks = whole(columns, xs.len());
    for (i, x) in xs.iter().enumerate() {
        let x = load(simd, x);
        each!(J in 0 1 2 3, {
            if J < N {
                fma(simd, &mut sums[J], load(simd, &chunks[J][i]), x);
            }
        });
    }
    each!(J in 0 1 2 3, {
        if J < N {
            out[J] = total(sums[J]);
        }
    });
    let from = x.len() - rest.len();
    for j in 0..N {
        rest.iter().zip(&columns[j][from..]).for_each(|(x, y)| out[j] = x.mul_add(*y, out[j]));
    }
}

/// The first vectors of each column.
#[inline(always)]
pub(crate) fn whole<'a, const N: usize>(columns: &[&'a [f64]; N], count: usize) -> [&'a [[f64; LANES]]; N] {
    let mut chunks: [&[[f64; LANES]]; N] = [&[]; N];
    each!(J in 0 1 2 3 4 5, {
        if J < N {
            chunks[J] = &columns[J].as_chunks().0[..count];
        }
    });
    chunks
}

/// `x · y`.
pub(crate) fn dot(x: &[f64], y: &[f64]) -> f64 {
    let mut out = [0.0];
    go(Dots { columns: &[x], x: y, out: &mut out });
    out[0]
}

/// `(x, y) = (c x + s y, c y - s x)`.
#[inline(always)]
pub(crate) fn rotate(x: &mut [f64], y: &mut [f64], c: f64, s: f64) {
    for (x, y) in x.iter_mut().zip(y) {
        (*x, *y) = (c * *x + s * *y, c * *y - s * *x);
    }
}

/// The power of two that brings the largest of these numbers near 1; none if one is not finite.
pub(crate) fn scale(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    let mut largest = 0.0_f64;
    for x in numbers {
        if x.abs() > largest || x.is_nan() {
            largest = x.abs();
            if !largest.is_finite() {
                return None;
            }
        }
    }
    let exponent = if largest > 0.0 { largest.log2().floor().clamp(-1000.0, 1000.0) } else { 0.0 };
    Some((-exponent).exp2())
}
