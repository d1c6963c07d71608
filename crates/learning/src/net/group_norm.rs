//! GroupNorm: the channels of each group are brought to mean 0 and variance 1, example by example, then scaled and moved.
//!
//! ```text
//! h = (x - mean)/sqrt(variance + 1e-5)        y = weight[c] h + bias[c]
//! with g = weight[c] d:   dx = (g - mean(g) - h mean(g h))/sqrt(variance + 1e-5)
//! ```

use super::lanes::{LANES, Row, ZERO};

/// What PyTorch adds to the variance.
const EPSILON: f32 = 1e-5;

/// Groups of channels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct GroupNorm {
    pub(super) groups: usize,
    pub(super) channels: usize,
    /// Pixels of a channel.
    pub(super) pixels: usize,
}

impl GroupNorm {
    fn group(&self) -> usize {
        self.channels / self.groups * self.pixels
    }

    /// Forward; `kept` holds the mean and the inverse spread of each group.
    pub(super) fn forward(self, parameters: &[f32], x: &[Row], out: &mut [Row], kept: &mut [Row]) {
        let (weights, biases) = parameters.split_at(self.channels);
        let groups = x.chunks_exact(self.group()).zip(out.chunks_exact_mut(self.group()));
        let per_group = self.channels / self.groups;
        for (g, ((x, out), kept)) in groups.zip(kept.as_chunks_mut::<2>().0).enumerate() {
            *kept = moments(x);
            let [mean, spread] = kept;
            let planes = x.chunks_exact(self.pixels).zip(out.chunks_exact_mut(self.pixels));
            for (channel, (x, out)) in (g * per_group..).zip(planes) {
                for (x, out) in x.iter().zip(out) {
                    for lane in 0..LANES {
                        let h = (x[lane] - mean[lane]) * spread[lane];
                        out[lane] = h * weights[channel] + biases[channel];
                    }
                }
            }
        }
    }

    /// The differences before it.
    pub(super) fn backward(self, weights: &[f32], x: &[Row], kept: &[Row], deltas: &[Row], out: &mut [Row]) {
        let size = self.group();
        let per_group = self.channels / self.groups;
        let groups = x.chunks_exact(size).zip(deltas.chunks_exact(size)).zip(out.chunks_exact_mut(size));
        for (g, (((x, deltas), out), [mean, spread])) in groups.zip(kept.as_chunks::<2>().0).enumerate() {
            let (mut sum, mut with) = (ZERO, ZERO);
            let weight = |at: usize| weights[g * per_group + at / self.pixels];
            for (at, (x, delta)) in x.iter().zip(deltas).enumerate() {
                for lane in 0..LANES {
                    let h = (x[lane] - mean[lane]) * spread[lane];
                    let d = weight(at) * delta[lane];
                    sum[lane] += d;
                    with[lane] += d * h;
                }
            }
            let share = 1.0 / size as f32;
            for (at, ((x, delta), out)) in x.iter().zip(deltas).zip(out).enumerate() {
                for lane in 0..LANES {
                    let h = (x[lane] - mean[lane]) * spread[lane];
                    let d = weight(at) * delta[lane];
                    out[lane] = spread[lane] * (d - share * sum[lane] - h * share * with[lane]);
                }
            }
        }
    }

    /// Each example's gradient: the weights', then the biases'.
    pub(super) fn gradients(self, x: &[Row], kept: &[Row], deltas: &[Row], out: &mut [Row]) {
        let (weights, biases) = out.split_at_mut(self.channels);
        let planes = x.chunks_exact(self.pixels).zip(deltas.chunks_exact(self.pixels));
        let per_group = self.channels / self.groups;
        for (channel, ((x, deltas), (weight, bias))) in planes.zip(weights.iter_mut().zip(biases)).enumerate()
        {
            let [mean, spread] = &kept.as_chunks::<2>().0[channel / per_group];
            (*weight, *bias) = (ZERO, ZERO);
            for (x, delta) in x.iter().zip(deltas) {
                for lane in 0..LANES {
                    let h = (x[lane] - mean[lane]) * spread[lane];
                    weight[lane] += h * delta[lane];
                    bias[lane] += delta[lane];
                }
            }
        }
    }
}

/// The mean, and one over the standard deviation.
fn moments(x: &[Row]) -> [Row; 2] {
    let share = 1.0 / x.len() as f32;
    let mut mean = ZERO;
    for x in x {
        for lane in 0..LANES {
            mean[lane] += x[lane];
        }
    }
    let mean = mean.map(|sum| share * sum);
    let mut squares = ZERO;
    for x in x {
        for lane in 0..LANES {
            let off = x[lane] - mean[lane];
            squares[lane] += off * off;
        }
    }
    [mean, squares.map(|sum| 1.0 / (share * sum + EPSILON).sqrt())]
}
