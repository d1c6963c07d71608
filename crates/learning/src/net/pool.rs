//! The largest or the mean of the pixels in each window; windows lie beside each other.
//!
//! [`max_mish`] takes the largest of Mish over a window with two evaluations, whatever the window's size: Mish falls, then rises, so its
//! largest value is at the largest or at the smallest pixel.

use fearless_simd::prelude::*;

use super::activation::mish;
use super::lanes::{Kernel, LANES, Row, ZERO, go, load, store};

/// Planes in windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pool {
    /// Height and width of a plane.
    pub(super) from: (usize, usize),
    /// Height and width of a window.
    pub(super) window: (usize, usize),
}

impl Pool {
    /// Windows below each other and beside each other; what is left at the edges counts for none.
    pub(super) fn to(&self) -> (usize, usize) {
        (self.from.0 / self.window.0, self.from.1 / self.window.1)
    }

    /// Calls `visit(n, first)` for each number that comes out, of so many planes: its window begins at `first`.
    #[inline(always)]
    fn windows(self, numbers: usize, mut visit: impl FnMut(usize, usize)) {
        let ((height, width), mut n) = (self.to(), 0);
        for plane in 0..numbers / (height * width) {
            for y in 0..height {
                let first = (plane * self.from.0 + y * self.window.0) * self.from.1;
                for x in 0..width {
                    visit(n, first + x * self.window.1);
                    n += 1;
                }
            }
        }
    }

    /// Calls `visit(place, at)` for each pixel of a window.
    #[inline(always)]
    fn pixels(self, first: usize, mut visit: impl FnMut(f32, usize)) {
        let mut place = 0.0;
        for v in 0..self.window.0 {
            for u in 0..self.window.1 {
                visit(place, first + v * self.from.1 + u);
                place += 1.0;
            }
        }
    }

    /// The mean of each window.
    pub(super) fn mean(self, x: &[Row], out: &mut [Row]) {
        let share = 1.0 / (self.window.0 * self.window.1) as f32;
        self.windows(out.len(), |n, first| {
            let mut sum = ZERO;
            self.pixels(first, |_, at| sum.iter_mut().zip(&x[at]).for_each(|(sum, x)| *sum += x));
            out[n] = sum.map(|sum| share * sum);
        });
    }

    /// The differences before it.
    pub(super) fn mean_back(self, deltas: &[Row], out: &mut [Row]) {
        let share = 1.0 / (self.window.0 * self.window.1) as f32;
        out.fill(ZERO);
        self.windows(deltas.len(), |n, first| {
            let delta = deltas[n].map(|delta| share * delta);
            self.pixels(first, |_, at| out[at] = delta);
        });
    }

    /// The largest of each window, and which pixel of it that is (the first, if several are).
    pub(super) fn max(self, x: &[Row], out: &mut [Row], places: &mut [Row]) {
        self.windows(out.len(), |n, first| {
            let (mut high, mut highest) = ([f32::NEG_INFINITY; LANES], ZERO);
            self.pixels(first, |place, at| {
                for lane in 0..LANES {
                    let more = above(x[at][lane], high[lane]);
                    high[lane] = if more { x[at][lane] } else { high[lane] };
                    highest[lane] = if more { place } else { highest[lane] };
                }
            });
            (out[n], places[n]) = (high, highest);
        });
    }

    /// The largest of Mish over each window, its slope there, and which pixel that is.
    pub(super) fn max_mish(self, x: &[Row], out: &mut [Row], slopes: &mut [Row], places: &mut [Row]) {
        go(MaxMish { pool: self, x, out, slopes, places });
    }

    /// The differences before it: each window's goes to one pixel.
    pub(super) fn max_back(self, deltas: &[Row], places: &[Row], out: &mut [Row]) {
        if self.to().0 * self.window.0 != self.from.0 || self.to().1 * self.window.1 != self.from.1 {
            out.fill(ZERO);
        }
        go(MaxBack { pool: self, deltas, places, out });
    }
}

struct MaxMish<'a> {
    pool: Pool,
    x: &'a [Row],
    out: &'a mut [Row],
    slopes: &'a mut [Row],
    places: &'a mut [Row],
}

impl Kernel for MaxMish<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { pool, x, out, slopes, places } = self;
        pool.windows(out.len(), |n, first| {
            let (mut high, mut highest) = (load(simd, &x[first]), simd.splat_f32x16(0.0));
            let (mut low, mut lowest) = (high, highest);
            pool.pixels(first, |place, at| {
                let (x, place) = (load(simd, &x[at]), simd.splat_f32x16(place));
                // What is not a number is neither larger nor smaller.
                let (more, less) = (x.simd_gt(high), x.simd_lt(low));
                (high, highest) = (more.select(x, high), more.select(place, highest));
                (low, lowest) = (less.select(x, low), less.select(place, lowest));
            });
            let (mut value, mut slope) = mish(simd, high);
            // Above zero, Mish rises, and nothing below zero comes near.
            if high.simd_lt(0.0).any_true() {
                let other = mish(simd, low);
                let at_low = other.0.simd_gt(value);
                (value, slope) = (at_low.select(other.0, value), at_low.select(other.1, slope));
                highest = at_low.select(lowest, highest);
            }
            store(&mut out[n], value);
            store(&mut slopes[n], slope);
            store(&mut places[n], highest);
        });
    }
}

struct MaxBack<'a> {
    pool: Pool,
    deltas: &'a [Row],
    places: &'a [Row],
    out: &'a mut [Row],
}

impl Kernel for MaxBack<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { pool, deltas, places, out } = self;
        pool.windows(deltas.len(), |n, first| {
            let (delta, places) = (load(simd, &deltas[n]), load(simd, &places[n]));
            pool.pixels(first, |place, at| {
                let here = places.simd_eq(place);
                store(&mut out[at], here.select(delta, simd.splat_f32x16(0.0)));
            });
        });
    }
}

/// Whether a number is larger. What is not a number is, and nothing is larger than it: it goes on to the end.
#[inline(always)]
fn above(value: f32, than: f32) -> bool {
    value > than || value.is_nan()
}
