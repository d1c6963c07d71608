//! Norms of the gradients of a large convolution, which are too large to be kept.
//!
//! The gradient of an example is `sum_t d_t x_t^T` over pixels `t`, where `x_t` is the patch that pixel `t` sees. Its squared norm is
//! `sum_(s,t) (x_s·x_t)(d_s·d_t)`: `T²/2 (i k² + o)` products for `T` pixels, against `T i k² o` for the gradient itself. The cheaper one is taken.
//!
//! Sums of terms of both signs lose digits. So what may have been lost is added: dot products are right to `n 2^-24 |x_s||x_t|` for sums of `n` numbers,
//! and `sum_(s,t) |x_s||x_t||d_s||d_t| = (sum_t |x_t||d_t|)²`. A norm that is too small would be a gradient that is too long.

use fearless_simd::{f32x16, prelude::*};

use super::convolution::{Window, each_few};
use super::lanes::{Kernel, LANES, Row, ZERO, add_product, add_squares, go, load, store};

/// Numbers that are added in single precision, before sums go on in double.
const SHORT: usize = 16;

/// How far two dot products of such sums can be off, together, relative to their lengths.
const LOST: f64 = 2.0 * (SHORT as f64 + 1.0) / (1 << 24) as f64;

/// Adds the squared norms of the weights' gradients.
pub(super) fn add_norms(
    window: Window,
    x: &[Row],
    deltas: &[Row],
    room: &mut [Row],
    squares: &mut [f64; LANES],
) {
    let (pixels, weights) = (window.pixels(), window.weights_of_channel());
    if pixels * (weights + window.channels.1) / 2 < weights * window.channels.1 {
        by_pairs(window, x, deltas, squares);
    } else {
        each_few(window, x, deltas, room, |_, rows| add_squares(rows, squares));
    }
}

/// Norms from products of pixels' patches and differences.
pub(super) fn by_pairs(window: Window, x: &[Row], deltas: &[Row], squares: &mut [f64; LANES]) {
    let mut patches = [[0.0; LANES]; 2];
    let mut lengths = [0.0; LANES];
    let dot = |s: usize, t: usize, found: &mut [[f64; LANES]; 2]| {
        *found = [[0.0; LANES]; 2];
        let [of_x, of_deltas] = found;
        go(Patches { window, x, pair: (s, t), sum: of_x });
        go(Differences { pixels: window.pixels(), deltas, pair: (s, t), sum: of_deltas });
    };
    for s in 0..window.pixels() {
        dot(s, s, &mut patches);
        for lane in 0..LANES {
            let product = patches[0][lane] * patches[1][lane];
            squares[lane] += product;
            lengths[lane] += product.sqrt();
        }
        for t in s + 1..window.pixels() {
            dot(s, t, &mut patches);
            for lane in 0..LANES {
                squares[lane] += 2.0 * patches[0][lane] * patches[1][lane];
            }
        }
    }
    for lane in 0..LANES {
        squares[lane] += LOST * lengths[lane] * lengths[lane];
    }
}

struct Patches<'a> {
    window: Window,
    x: &'a [Row],
    pair: (usize, usize),
    sum: &'a mut [f64; LANES],
}

impl Kernel for Patches<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Window { channels, from: (height, width), to, kernel: k, stride } = self.window;
        let corner = |t: usize| (t / to.1 * width + t % to.1) * stride;
        let (s, t) = (corner(self.pair.0), corner(self.pair.1));
        let mut short = Short::<S>::new(simd, self.sum);
        for line in 0..channels.0 * k {
            let row = ((line / k) * height + line % k) * width;
            let (a, b) = (&self.x[row + s..][..k], &self.x[row + t..][..k]);
            a.iter().zip(b).for_each(|(a, b)| short.add(a, b));
        }
        short.settle();
    }
}

struct Differences<'a> {
    pixels: usize,
    deltas: &'a [Row],
    pair: (usize, usize),
    sum: &'a mut [f64; LANES],
}

impl Kernel for Differences<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let mut short = Short::<S>::new(simd, self.sum);
        for plane in self.deltas.chunks_exact(self.pixels) {
            short.add(&plane[self.pair.0], &plane[self.pair.1]);
        }
        short.settle();
    }
}

/// A dot product in single precision for a short while, in double in the long run.
struct Short<'a, S: Simd> {
    simd: S,
    sum: &'a mut [f64; LANES],
    part: f32x16<S>,
    terms: usize,
}

impl<'a, S: Simd> Short<'a, S> {
    #[inline(always)]
    fn new(simd: S, sum: &'a mut [f64; LANES]) -> Self {
        Self { simd, sum, part: simd.splat_f32x16(0.0), terms: 0 }
    }

    #[inline(always)]
    fn add(&mut self, a: &Row, b: &Row) {
        if self.terms == SHORT {
            self.settle();
        }
        self.terms += 1;
        add_product(self.simd, &mut self.part, load(self.simd, a), load(self.simd, b));
    }

    #[inline(always)]
    fn settle(&mut self) {
        let mut part = ZERO;
        store(&mut part, self.part);
        self.sum.iter_mut().zip(part).for_each(|(sum, part)| *sum += f64::from(part));
        (self.part, self.terms) = (self.simd.splat_f32x16(0.0), 0);
    }
}
