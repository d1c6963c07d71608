//! The room in which a block of examples is computed. It is used again and again: in the steady state nothing is allocated.

use super::convolution::{CHANNELS, spread};
use super::lanes::{LANES, Row, ZERO};
use super::step::{Steps, Work};
use super::{Net, product};

/// Room for a net. Any net can use any room, which grows to what is needed.
#[derive(Debug, Clone, Default)]
pub struct Scratch {
    /// Numbers of all steps, the images first.
    pub(super) values: Vec<Row>,
    /// How the loss changes with each of them.
    pub(super) deltas: Vec<Row>,
    pub(super) extra: Vec<Row>,
    pub(super) kept: Vec<Row>,
    pub(super) padded: Vec<Row>,
    pub(super) packed: Vec<f32>,
    pub(super) totals: Vec<Row>,
    /// Differences of a linear layer, by example.
    pub(super) transposed: Vec<[Row; LANES]>,
    /// Gradients of a few channels of a large convolution.
    pub(super) channels: Vec<Row>,
}

impl Scratch {
    /// Room for a net.
    pub fn new(net: &Net) -> Self {
        let mut scratch = Self::default();
        scratch.suit(&net.steps);
        scratch
    }

    /// Makes it as large as these steps need.
    pub(super) fn suit(&mut self, steps: &Steps) {
        let most =
            |size: fn(&Work) -> usize| steps.steps.iter().map(|step| size(&step.work)).max().unwrap_or(0);
        let outputs = most(|work| if let Work::Linear { outputs, .. } = work { *outputs } else { 0 });
        let channels = most(|work| match work {
            Work::Convolution { window, .. } => CHANNELS * window.weights_of_channel(),
            _ => 0,
        });
        self.values.resize(steps.rows, ZERO);
        self.deltas.resize(steps.rows, ZERO);
        self.extra.resize(steps.extra, ZERO);
        self.kept.resize(steps.kept, ZERO);
        self.padded.resize(steps.padded, ZERO);
        self.packed.resize(steps.packed, 0.0);
        self.totals.resize(steps.totals, ZERO);
        self.transposed.resize(outputs.div_ceil(LANES), [ZERO; LANES]);
        self.channels.resize(channels, ZERO);
    }

    /// Writes the weights in the order in which they are used.
    pub(super) fn pack(&mut self, steps: &Steps, parameters: &[f32], backward: bool) {
        for step in &steps.steps {
            let weights = &parameters[step.parameters.clone()];
            let [forward, back] = step.packed.clone();
            match step.work {
                Work::Linear { inputs, outputs } => {
                    product::pack(&mut self.packed[forward], outputs, inputs, |o, i| weights[o * inputs + i]);
                    if backward {
                        product::pack(&mut self.packed[back], inputs, outputs, |i, o| {
                            weights[o * inputs + i]
                        });
                    }
                }
                Work::Convolution { window, padding } => {
                    let ((inputs, _), k) = (window.channels, window.kernel);
                    let weight = |o, i, u, v| weights[((o * inputs + i) * k + u) * k + v];
                    window.pack(&mut self.packed[forward], weight);
                    if backward {
                        let turned = |i, o, u, v| weight(o, i, k - 1 - u, k - 1 - v);
                        window.turned(padding).pack(&mut self.packed[back], turned);
                    }
                }
                _ => {}
            }
        }
    }

    /// Takes an example out of everything that was computed: its numbers are not finite, and would spoil every sum.
    pub(super) fn erase(&mut self, lane: usize) {
        let all = [&mut self.values, &mut self.deltas, &mut self.kept, &mut self.extra];
        all.into_iter().flatten().for_each(|row| row[lane] = 0.0);
    }
}

/// Images with their padding, where there is any: what a convolution reads.
pub(super) fn padded<'a>(
    x: &'a [Row],
    size: (usize, usize),
    padding: usize,
    room: &'a mut [Row],
) -> &'a [Row] {
    if padding == 0 {
        return x;
    }
    let around = (size.0 + 2 * padding, size.1 + 2 * padding);
    let room = &mut room[..x.len() / (size.0 * size.1) * around.0 * around.1];
    spread(x, size, padding, 1, around, room);
    room
}
