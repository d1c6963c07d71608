//! Forward and back on the card, launch by launch: every image's own gradient, its length, and the sum of all that were shortened.

use std::sync::Arc;

use cudarc::driver::{CudaFunction, CudaSlice, CudaStream, DevicePtr};
use sottovoce_learning::net::Shape;

use super::plan::{Slot, Step, Work, pixels};
use crate::card::{compiled, launch};
use crate::{Card, Result};

/// What it is computed on.
pub(super) struct Bench {
    pub(super) tools: Tools,
    pub(super) steps: Vec<Step>,
    pub(super) slots: Vec<Slot>,
    pub(super) bytes: CudaSlice<u8>,
    pub(super) labels: CudaSlice<u8>,
    pub(super) table: CudaSlice<f32>,
    pub(super) model: CudaSlice<f32>,
    /// Patches, or their differences.
    pub(super) columns: CudaSlice<f32>,
    /// Every image's own gradient.
    pub(super) own: CudaSlice<f32>,
    pub(super) squares: CudaSlice<f32>,
    pub(super) factor: CudaSlice<f32>,
    pub(super) loss: CudaSlice<f32>,
    pub(super) sum: CudaSlice<f32>,
}

pub(super) struct Tools {
    pub(super) stream: Arc<CudaStream>,
    kernels: Kernels,
}

struct Kernels {
    look: CudaFunction,
    columns: CudaFunction,
    pixels: CudaFunction,
    product: CudaFunction,
    turned: CudaFunction,
    own: CudaFunction,
    biases: CudaFunction,
    pool: CudaFunction,
    pool_back: CudaFunction,
    level: CudaFunction,
    level_back: CudaFunction,
    leak: CudaFunction,
    leak_back: CudaFunction,
    add: CudaFunction,
    entropy: CudaFunction,
    lengths: CudaFunction,
    shorten: CudaFunction,
    gather: CudaFunction,
}

impl Tools {
    pub(super) fn new(card: &Card) -> Result<Self> {
        let module = compiled(card.stream.context(), include_str!("../kernels/layers.cu"))?;
        let kernel = |name: &str| module.load_function(name);
        let kernels = Kernels {
            look: kernel("look")?,
            columns: kernel("columns")?,
            pixels: kernel("pixels")?,
            product: kernel("product")?,
            turned: kernel("turned")?,
            own: kernel("own")?,
            biases: kernel("biases")?,
            pool: kernel("pool")?,
            pool_back: kernel("pool_back")?,
            level: kernel("level")?,
            level_back: kernel("level_back")?,
            leak: kernel("leak")?,
            leak_back: kernel("leak_back")?,
            add: kernel("add")?,
            entropy: kernel("entropy")?,
            lengths: kernel("lengths")?,
            shorten: kernel("shorten")?,
            gather: kernel("gather")?,
        };
        Ok(Self { stream: card.stream.clone(), kernels })
    }

    /// Where a vector lies, from a number on.
    fn at(&self, vector: &CudaSlice<f32>, from: usize) -> u64 {
        vector.device_ptr(&self.stream).0 + (from * size_of::<f32>()) as u64
    }
}

/// Blocks of 128 by 128 numbers.
fn tiles(m: usize, n: usize) -> usize {
    m.div_ceil(128) * n.div_ceil(128)
}

impl Bench {
    /// Adds the clipped gradients of at most a batch of images to the sum.
    pub(super) fn learn(&mut self, picked: &[u32], clip: f32) -> Result<()> {
        let (tools, count) = (&self.tools, picked.len());
        if count == 0 {
            return Ok(());
        }
        let picked = tools.stream.clone_htod(picked)?;
        let input = self.slots[0].shape;
        let (channels, size) = (input.channels as u32, pixels(input) as u32);
        launch!(
            tools,
            look,
            (input.size().div_ceil(256), count),
            256,
            [&picked, &self.bytes, &self.table, &mut self.slots[0].values, &channels, &size]
        );
        (0..self.steps.len()).try_for_each(|step| self.forward(step, count))?;
        let tools = &self.tools;
        if let Some(last) = self.slots.last_mut() {
            let (classes, images) = (last.shape.channels as u32, count as u32);
            launch!(
                tools,
                entropy,
                (count.div_ceil(64), 1),
                64,
                [&picked, &self.labels, &last.values, &mut last.deltas, &mut self.loss, &classes, &images]
            );
        }
        (0..self.steps.len()).rev().try_for_each(|step| self.backward(step, count))?;
        let (tools, parameters, images) = (&self.tools, self.model.len() as u32, count as u32);
        launch!(tools, lengths, (128, count), 128, [&self.own, &mut self.squares, &parameters]);
        launch!(tools, shorten, (1, count), 128, [&self.squares, &clip, &mut self.factor]);
        launch!(
            tools,
            gather,
            (self.model.len().div_ceil(256), 1),
            256,
            [&self.own, &self.factor, &mut self.sum, &parameters, &images]
        );
        Ok(())
    }

    /// Patches of what a convolution is given.
    fn patches(&self, step: &Step, kernel: usize, padding: usize, count: usize) -> Result<()> {
        let (tools, from) = (&self.tools, &self.slots[step.from]);
        let Shape { channels, height, width } = from.shape;
        let numbers = pixels(self.slots[step.to].shape) * channels * kernel * kernel;
        let sizes = [channels, height, width, kernel, padding].map(|size| size as u32);
        let (x, out) = (tools.at(&from.values, 0), tools.at(&self.columns, 0));
        launch!(
            tools,
            columns,
            (numbers.div_ceil(256), count),
            256,
            [&x, &out, &sizes[0], &sizes[1], &sizes[2], &sizes[3], &sizes[4]]
        );
        Ok(())
    }

    fn forward(&self, step: usize, count: usize) -> Result<()> {
        let (tools, step) = (&self.tools, &self.steps[step]);
        let (from, to) = (&self.slots[step.from], &self.slots[step.to]);
        let Shape { channels, height, width } = from.shape;
        let (x, out) = (tools.at(&from.values, 0), tools.at(&to.values, 0));
        let sizes = [channels, height, width].map(|size| size as u32);
        let numbers = (count * to.shape.size()) as u64;
        match &step.work {
            Work::Convolution { kernel, padding, at } => {
                self.patches(step, *kernel, *padding, count)?;
                let (m, n, k) = (count * pixels(to.shape), to.shape.channels, channels * kernel * kernel);
                let (weights, bias) = (tools.at(&self.model, *at), tools.at(&self.model, at + n * k));
                let patches = tools.at(&self.columns, 0);
                let of = [m, n, k].map(|size| size as u32);
                launch!(
                    tools,
                    product,
                    (tiles(m, n), 1),
                    256,
                    [&patches, &weights, &bias, &out, &of[0], &of[1], &of[2], &0u64, &0u64, &0u64]
                );
            }
            Work::Pool { size, places } => {
                let size = *size as u32;
                launch!(
                    tools,
                    pool,
                    (to.shape.size().div_ceil(256), count),
                    256,
                    [&x, &out, places, &sizes[0], &sizes[1], &sizes[2], &size]
                );
            }
            Work::Norm { groups, at, kept } => {
                let (weights, size, many) =
                    (tools.at(&self.model, *at), pixels(from.shape) as u32, *groups as u32);
                launch!(
                    tools,
                    level,
                    (*groups, count),
                    128,
                    [&x, &weights, &out, kept, &sizes[0], &size, &many]
                );
            }
            Work::Leak(slope) => {
                launch!(tools, leak, (numbers.div_ceil(256), 1), 256, [&x, &out, slope, &numbers]);
            }
            Work::Add { skip } => {
                let skip = tools.at(&self.slots[*skip].values, 0);
                launch!(tools, add, (numbers.div_ceil(256), 1), 256, [&x, &skip, &out, &numbers]);
            }
        }
        Ok(())
    }

    fn backward(&self, step: usize, count: usize) -> Result<()> {
        let (tools, step) = (&self.tools, &self.steps[step]);
        let (from, to) = (&self.slots[step.from], &self.slots[step.to]);
        let Shape { channels, height, width } = from.shape;
        let (x, d, out) = (tools.at(&from.values, 0), tools.at(&to.deltas, 0), tools.at(&from.deltas, 0));
        let sizes = [channels, height, width].map(|size| size as u32);
        let (numbers, apart) = ((count * from.shape.size()) as u64, self.model.len() as u64);
        match &step.work {
            Work::Convolution { kernel, padding, at } => {
                let (inner, outputs, patch) =
                    (pixels(to.shape), to.shape.channels, channels * kernel * kernel);
                self.patches(step, *kernel, *padding, count)?;
                let patches = tools.at(&self.columns, 0);
                let [gradient, bias] = [*at, at + outputs * patch].map(|at| tools.at(&self.own, at));
                let of = [outputs, patch, inner].map(|size| size as u32);
                let apart_d = (inner * outputs) as u64;
                let apart_x = (inner * patch) as u64;
                launch!(
                    tools,
                    own,
                    (tiles(outputs, patch), count),
                    256,
                    [&d, &patches, &0u64, &gradient, &of[0], &of[1], &of[2], &apart_d, &apart_x, &apart]
                );
                launch!(
                    tools,
                    biases,
                    (outputs.div_ceil(64), count),
                    64,
                    [&d, &bias, &of[0], &of[2], &apart]
                );
                if step.from == 0 {
                    return Ok(());
                }
                let weights = tools.at(&self.model, *at);
                let rows = count * inner;
                let many = rows as u32;
                launch!(
                    tools,
                    turned,
                    (tiles(rows, patch), 1),
                    256,
                    [&d, &weights, &0u64, &patches, &many, &of[1], &of[0], &0u64, &0u64, &0u64]
                );
                let (kernel, padding, more) = (*kernel as u32, *padding as u32, u32::from(step.more));
                launch!(
                    tools,
                    pixels,
                    (from.shape.size().div_ceil(256), count),
                    256,
                    [&patches, &out, &sizes[0], &sizes[1], &sizes[2], &kernel, &padding, &more]
                );
            }
            Work::Pool { size, places } => {
                let size = *size as u32;
                launch!(
                    tools,
                    pool_back,
                    (from.shape.size().div_ceil(256), count),
                    256,
                    [&d, places, &out, &sizes[0], &sizes[1], &sizes[2], &size]
                );
            }
            Work::Norm { groups, at, kept } => {
                let (weights, gradient) = (tools.at(&self.model, *at), tools.at(&self.own, *at));
                let (size, many) = (pixels(from.shape) as u32, *groups as u32);
                launch!(
                    tools,
                    level_back,
                    (*groups, count),
                    128,
                    [&x, &weights, kept, &d, &out, &gradient, &sizes[0], &size, &many, &apart]
                );
            }
            Work::Leak(slope) => {
                launch!(tools, leak_back, (numbers.div_ceil(256), 1), 256, [&x, &d, &out, slope, &numbers]);
            }
            Work::Add { skip } => {
                // Both are given all of it; what comes back through the block is added to the second.
                for to in [out, tools.at(&self.slots[*skip].deltas, 0)] {
                    let one = 1.0f32;
                    launch!(tools, leak_back, (numbers.div_ceil(256), 1), 256, [&x, &d, &to, &one, &numbers]);
                }
            }
        }
        Ok(())
    }
}
