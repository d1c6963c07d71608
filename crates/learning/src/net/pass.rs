//! Forward and back through the steps, for a block of up to 16 examples.

use super::activation::{add, leak, leak_back, mish_rows, multiply};
use super::convolution::{convolve, spread};
use super::product::product;
use super::scratch::{Scratch, padded};
use super::step::{Step, Work};

impl Scratch {
    /// From what a step is given to what it gives.
    pub(super) fn forward(&mut self, step: &Step, parameters: &[f32]) {
        let (before, after) = self.values.split_at_mut(step.to.start);
        let parameters = &parameters[step.parameters.clone()];
        let extra = &mut self.extra[step.extra.clone()];
        let packed = &self.packed[step.packed[0].clone()];
        if let Work::Fork { .. } = step.work {
            return;
        }
        let (x, out) = (&before[step.from.clone()], &mut after[..step.to.len()]);
        match &step.work {
            Work::Convolution { window, padding } => {
                let size = (window.from.0 - 2 * padding, window.from.1 - 2 * padding);
                let x = padded(x, size, *padding, &mut self.padded);
                let bias = &parameters[parameters.len() - window.channels.1..];
                convolve(*window, packed, Some(bias), x, out);
            }
            Work::Linear { inputs, outputs } => {
                product(packed, x, Some(&parameters[inputs * outputs..]), out);
            }
            Work::GroupNorm(norm) => norm.forward(parameters, x, out, extra),
            Work::Max(pool) => pool.max(x, out, extra),
            Work::Mean(pool) => pool.mean(x, out),
            Work::MaxMish(pool) => {
                let (slopes, places) = extra.split_at_mut(out.len());
                pool.max_mish(x, out, slopes, places);
            }
            Work::Leak(slope) => leak(*slope, x, out),
            Work::Mish => mish_rows(x, out, extra),
            Work::Add { skip } => {
                out.copy_from_slice(x);
                add(&before[skip.clone()], out);
            }
            Work::Fork { .. } => {}
        }
    }

    /// From the differences behind a step to those before it.
    pub(super) fn backward(&mut self, step: &Step, parameters: &[f32]) {
        if let Work::Fork { from } = &step.work {
            let (before, after) = self.deltas.split_at_mut(from.start);
            return add(&after[..from.len()], &mut before[step.from.clone()]);
        }
        let parameters = &parameters[step.parameters.clone()];
        let (before, after) = self.deltas.split_at_mut(step.to.start);
        let (deltas, out) = (&mut after[..step.to.len()], &mut before[step.from.clone()]);
        let (x, extra) = (&self.values[step.from.clone()], &self.extra[step.extra.clone()]);
        let packed = &self.packed[step.packed[1].clone()];
        match &step.work {
            Work::Convolution { window, padding } => {
                let back = window.turned(*padding);
                let room = &mut self.padded[..back.channels.0 * back.from.0 * back.from.1];
                spread(deltas, window.to, window.kernel - 1 - padding, window.stride, back.from, room);
                convolve(back, packed, None, room, out);
            }
            Work::Linear { .. } => product(packed, deltas, None, out),
            Work::GroupNorm(norm) => norm.backward(&parameters[..norm.channels], x, extra, deltas, out),
            Work::Max(pool) => pool.max_back(deltas, extra, out),
            Work::Mean(pool) => pool.mean_back(deltas, out),
            Work::MaxMish(pool) => {
                let (slopes, places) = extra.split_at(deltas.len());
                deltas.as_flattened_mut().iter_mut().zip(slopes.as_flattened()).for_each(|(d, s)| *d *= s);
                pool.max_back(deltas, places, out);
            }
            Work::Leak(slope) => leak_back(*slope, x, deltas, out),
            Work::Mish => multiply(deltas, extra, out),
            Work::Add { .. } => out.copy_from_slice(deltas),
            Work::Fork { .. } => {}
        }
    }
}
