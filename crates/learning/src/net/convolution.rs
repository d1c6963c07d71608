//! Convolutions, directly: no patches are copied.
//!
//! ```text
//! forward    out[o][y][x] = b[o] + sum_(i,u,v) w[o][i][u][v] in[i][y s + u][x s + v]
//! backward   the same of the differences, spread out by the stride and padded, with turned kernels
//! gradient   dw[o][i][u][v] = sum_(y,x) d[o][y][x] in[i][y s + u][x s + v], a row: one for each example
//! ```
//!
//! Three output channels share what is loaded, and so do pixels beside each other.

use fearless_simd::prelude::*;

use super::lanes::{Kernel, Row, ZERO, add_product, go, is_wide, load, store};

/// Output channels that are packed together.
pub(super) const CHANNELS: usize = 3;

/// Pixels whose differences are used again while they are in the nearest cache.
const PIXELS: usize = 128;

/// A convolution without padding: what surrounds an image is stored with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Window {
    /// Channels that come in, and those that come out.
    pub(super) channels: (usize, usize),
    /// Height and width of what comes in.
    pub(super) from: (usize, usize),
    /// Height and width of what comes out.
    pub(super) to: (usize, usize),
    /// Height and width of the kernel.
    pub(super) kernel: usize,
    /// Steps between pixels.
    pub(super) stride: usize,
}

impl Window {
    /// How many numbers the packed kernels have.
    pub(super) fn packed_size(&self) -> usize {
        self.channels.1.next_multiple_of(CHANNELS) * self.weights_of_channel()
    }

    /// The convolution that brings differences back: of those behind, spread out and padded, to those before.
    pub(super) fn turned(&self, padding: usize) -> Self {
        let to = (self.from.0 - 2 * padding, self.from.1 - 2 * padding);
        let from = (to.0 + self.kernel - 1, to.1 + self.kernel - 1);
        Self { channels: (self.channels.1, self.channels.0), from, to, kernel: self.kernel, stride: 1 }
    }

    /// Weights of one output channel.
    pub(super) fn weights_of_channel(&self) -> usize {
        self.channels.0 * self.kernel * self.kernel
    }

    /// How many pixels come out, of each channel.
    pub(super) fn pixels(&self) -> usize {
        self.to.0 * self.to.1
    }

    /// Packs kernels: three output channels at a time, their weights for the same pixel beside each other. Missing channels are 0.
    /// `weight(o, i, u, v)` tells a weight.
    pub(super) fn pack(&self, packed: &mut [f32], weight: impl Fn(usize, usize, usize, usize) -> f32) {
        let (k, outputs) = (self.kernel, self.channels.1);
        let places =
            || (0..self.channels.0).flat_map(|i| (0..k).flat_map(move |u| (0..k).map(move |v| (i, u, v))));
        for (tile, packed) in packed.chunks_exact_mut(CHANNELS * self.weights_of_channel()).enumerate() {
            for ((i, u, v), packed) in places().zip(packed.chunks_exact_mut(CHANNELS)) {
                for (o, slot) in (tile * CHANNELS..).zip(packed) {
                    *slot = if o < outputs { weight(o, i, u, v) } else { 0.0 };
                }
            }
        }
    }
}

/// Writes planes into larger ones: pixels `stride` apart, the first one `before` from the edge, zeros elsewhere.
pub(super) fn spread(
    planes: &[Row],
    (height, width): (usize, usize),
    before: usize,
    stride: usize,
    (to_height, to_width): (usize, usize),
    out: &mut [Row],
) {
    out.fill(ZERO);
    let planes = planes.chunks_exact(height * width);
    for (plane, out) in planes.zip(out.chunks_exact_mut(to_height * to_width)) {
        for (y, row) in plane.chunks_exact(width).enumerate() {
            let start = (before + y * stride) * to_width + before;
            for (pixel, out) in row.iter().zip(out[start..].iter_mut().step_by(stride)) {
                *out = *pixel;
            }
        }
    }
}

/// A convolution of rows of examples.
pub(super) fn convolve(window: Window, packed: &[f32], bias: Option<&[f32]>, x: &[Row], out: &mut [Row]) {
    go(Convolve { window, packed, bias, x, out });
}

struct Convolve<'a> {
    window: Window,
    packed: &'a [f32],
    bias: Option<&'a [f32]>,
    x: &'a [Row],
    out: &'a mut [Row],
}

impl Kernel for Convolve<'_> {
    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) {
        let (height, width) = self.window.to;
        for tile in 0..self.window.channels.1.div_ceil(CHANNELS) {
            for y in 0..height {
                let mut x = 0;
                while x + 4 <= width && is_wide::<S>() {
                    self.pixels::<S, 4>(simd, tile, y, x);
                    x += 4;
                }
                while x + 2 <= width {
                    self.pixels::<S, 2>(simd, tile, y, x);
                    x += 2;
                }
                if x < width {
                    self.pixels::<S, 1>(simd, tile, y, x);
                }
            }
        }
    }
}

impl Convolve<'_> {
    /// `P` pixels beside each other of three channels.
    #[inline(always)]
    fn pixels<S: Simd, const P: usize>(&mut self, simd: S, tile: usize, y: usize, x: usize) {
        let Window { channels: (_, outputs), from: (height, width), to, kernel: k, stride } = self.window;
        let size = CHANNELS * self.window.weights_of_channel();
        let weights = &self.packed[tile * size..][..size];
        let mut sums = [[simd.splat_f32x16(0.0); P]; CHANNELS];
        // A plane's row, then the next one; after `k` of them, the next plane.
        let (mut row, mut left) = (y * stride, k);
        for weights in weights.chunks_exact(CHANNELS * k) {
            let pixels = &self.x[row * width + x * stride..][..(P - 1) * stride + k];
            for (v, weights) in weights.as_chunks::<CHANNELS>().0.iter().enumerate() {
                let weights = weights.map(|weight| simd.splat_f32x16(weight));
                let pixels = near::<P>(pixels, v, stride);
                for p in 0..P {
                    let pixel = load(simd, pixels[p]);
                    for (sums, weight) in sums.iter_mut().zip(&weights) {
                        add_product(simd, &mut sums[p], *weight, pixel);
                    }
                }
            }
            (row, left) = if left > 1 { (row + 1, left - 1) } else { (row + 1 + height - k, k) };
        }
        for (o, sums) in (tile * CHANNELS..outputs).zip(&sums) {
            let bias = self.bias.map_or(0.0, |bias| bias[o]);
            for (p, sum) in sums.iter().enumerate() {
                store(&mut self.out[(o * to.0 + y) * to.1 + x + p], *sum + bias);
            }
        }
    }
}

/// Pixels from this one on, `stride` apart: checked once where they lie beside each other.
#[inline(always)]
fn near<const P: usize>(pixels: &[Row], from: usize, stride: usize) -> [&Row; P] {
    let mut near = [&pixels[from]; P];
    if stride == 1 {
        near.iter_mut().zip(&pixels[from..from + P]).for_each(|(near, pixel)| *near = pixel);
    } else {
        near.iter_mut().enumerate().for_each(|(p, near)| *near = &pixels[from + p * stride]);
    }
    near
}

/// The gradients of the weights of some output channels: one row for each weight, in the order in which weights lie.
pub(super) fn gradients(
    window: Window,
    x: &[Row],
    deltas: &[Row],
    outputs: std::ops::Range<usize>,
    out: &mut [Row],
) {
    go(Gradients { window, x, deltas, outputs, out });
}

/// The same of all output channels, a few at a time: `each` is told the first of them, and their rows.
pub(super) fn each_few(
    window: Window,
    x: &[Row],
    deltas: &[Row],
    room: &mut [Row],
    mut each: impl FnMut(usize, &[Row]),
) {
    let (size, outputs) = (window.weights_of_channel(), window.channels.1);
    for first in (0..outputs).step_by(CHANNELS) {
        let channels = first..outputs.min(first + CHANNELS); // whole numbers
        let rows = &mut room[..channels.len() * size];
        gradients(window, x, deltas, channels, rows);
        each(first, rows);
    }
}

struct Gradients<'a> {
    window: Window,
    x: &'a [Row],
    deltas: &'a [Row],
    outputs: std::ops::Range<usize>,
    out: &'a mut [Row],
}

impl Kernel for Gradients<'_> {
    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) {
        let Window { channels: (inputs, _), to: (height, width), kernel: k, .. } = self.window;
        let together = (PIXELS / width).max(1); // whole numbers
        for o in self.outputs.clone().step_by(CHANNELS) {
            for from in (0..height).step_by(together) {
                let rows = from..height.min(from + together); // whole numbers
                for line in 0..inputs * k {
                    let mut v = 0;
                    while v + 5 <= k && is_wide::<S>() {
                        self.weights::<S, 5>(simd, o, line, v, rows.clone());
                        v += 5;
                    }
                    while v + 3 <= k && is_wide::<S>() {
                        self.weights::<S, 3>(simd, o, line, v, rows.clone());
                        v += 3;
                    }
                    while v + 2 <= k {
                        self.weights::<S, 2>(simd, o, line, v, rows.clone());
                        v += 2;
                    }
                    if v < k {
                        self.weights::<S, 1>(simd, o, line, v, rows.clone());
                    }
                }
            }
        }
    }
}

impl Gradients<'_> {
    /// `W` weights beside each other, of three channels (the last one again where there are fewer), over some rows of pixels: they go on where those above ended.
    #[inline(always)]
    fn weights<S: Simd, const W: usize>(
        &mut self,
        simd: S,
        o: usize,
        line: usize,
        v: usize,
        rows: std::ops::Range<usize>,
    ) {
        let Window { from: (height, width), to, kernel: k, stride, .. } = self.window;
        let last = self.outputs.end - 1;
        let channels: [usize; CHANNELS] = [o, last.min(o + 1), last.min(o + 2)];
        let (start, size) = (self.outputs.start, self.window.weights_of_channel());
        let at = channels.map(|o| (o - start) * size + line * k + v);
        let mut sums = [[simd.splat_f32x16(0.0); W]; CHANNELS];
        if rows.start > 0 {
            for (sums, at) in sums.iter_mut().zip(at) {
                sums.iter_mut().zip(&self.out[at..]).for_each(|(sum, row)| *sum = load(simd, row));
            }
        }
        for y in rows {
            let row = (line / k) * height + y * stride + line % k;
            let pixels = &self.x[row * width + v..][..(to.1 - 1) * stride + W];
            let deltas = channels.map(|o| &self.deltas[(o * to.0 + y) * to.1..][..to.1]);
            for x in 0..to.1 {
                let deltas = deltas.map(|deltas| load(simd, &deltas[x]));
                let Some(pixels) = pixels.get(x * stride..).and_then(<[Row]>::first_chunk::<W>) else {
                    continue;
                };
                for w in 0..W {
                    let pixel = load(simd, &pixels[w]);
                    for (sums, delta) in sums.iter_mut().zip(&deltas) {
                        add_product(simd, &mut sums[w], *delta, pixel);
                    }
                }
            }
        }
        for (sums, at) in sums.iter().zip(at) {
            self.out[at..].iter_mut().zip(sums).for_each(|(row, sum)| store(row, *sum));
        }
    }
}
