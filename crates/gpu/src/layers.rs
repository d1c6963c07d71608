//! Clipped gradients of residual nets on a card: convolutions, GroupNorm, leaky ReLU, max pools, residual blocks, one linear layer at the end. A [`Trainer`], as
//! [`Gradients`](crate::Gradients) is for the small net.
//!
//! Every image's own gradient is written down (31 MB of ResNet-9), measured, shortened and added: a card has room for a few hundred. Agents' lots come one by one.

use std::sync::{Mutex, PoisonError};

use cudarc::driver::{CudaFunction, CudaSlice, CudaStream, DevicePtr};
use sottovoce_learning::Images;
use sottovoce_learning::net::{Layer, Net, Shape};
use sottovoce_protocol::Peer;
use sottovoce_simulator::consensus::Trainer;
use std::sync::Arc;

use crate::card::{compiled, launch};
use crate::room::sent;
use crate::{Card, Error, Result};

/// Images that are computed at a time: a lot of 250, as a rule.
const BATCH: usize = 320;

/// Everybody's images on a card, and a residual net.
pub struct Layers {
    /// Where each agent's images begin, and where the last one's end.
    begins: Vec<usize>,
    parameters: usize,
    bench: Mutex<Bench>,
}

/// What it is computed on.
struct Bench {
    tools: Tools,
    steps: Vec<Step>,
    slots: Vec<Slot>,
    bytes: CudaSlice<u8>,
    labels: CudaSlice<u8>,
    table: CudaSlice<f32>,
    model: CudaSlice<f32>,
    /// Patches, or their differences.
    columns: CudaSlice<f32>,
    /// Every image's own gradient.
    own: CudaSlice<f32>,
    squares: CudaSlice<f32>,
    factor: CudaSlice<f32>,
    loss: CudaSlice<f32>,
    sum: CudaSlice<f32>,
}

struct Tools {
    stream: Arc<CudaStream>,
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

/// Numbers between two steps, of a whole batch, and their differences.
struct Slot {
    shape: Shape,
    values: CudaSlice<f32>,
    deltas: CudaSlice<f32>,
}

struct Step {
    work: Work,
    from: usize,
    to: usize,
    /// Its differences are added to those that a residual block's sum has left there.
    more: bool,
}

enum Work {
    /// Its parameters begin at `at`: weights, then biases.
    Convolution {
        kernel: usize,
        padding: usize,
        at: usize,
    },
    Pool {
        size: usize,
        places: CudaSlice<u32>,
    },
    Norm {
        groups: usize,
        at: usize,
        kept: CudaSlice<f32>,
    },
    Leak(f32),
    Add {
        skip: usize,
    },
}

/// Steps of layers, as far as they are laid out.
struct Plan<'a> {
    card: &'a Card,
    steps: Vec<Step>,
    slots: Vec<Slot>,
    parameters: usize,
}

fn pixels(shape: Shape) -> usize {
    shape.height * shape.width
}

impl Plan<'_> {
    fn slot(&mut self, shape: Shape) -> Result<usize> {
        let zeros = || self.card.stream.alloc_zeros::<f32>(BATCH * shape.size());
        self.slots.push(Slot { shape, values: zeros()?, deltas: zeros()? });
        Ok(self.slots.len() - 1)
    }

    /// Adds what these layers do, from a slot on; where it ends. `inside`: of a residual block.
    fn extend(&mut self, layers: &[Layer], mut from: usize, inside: bool) -> Result<usize> {
        for (place, layer) in layers.iter().enumerate() {
            let shape = self.slots[from].shape;
            let Shape { channels, height, width } = shape;
            let more = inside && place == 0;
            let (work, to) = match layer {
                Layer::Conv2d { channels: outputs, kernel, stride: 1, padding, .. } => {
                    let of =
                        |side: usize| (side + 2 * padding + 1).checked_sub(*kernel).filter(|&side| side > 0);
                    let (Some(height), Some(width)) = (of(height), of(width)) else {
                        return Err(refused(layer));
                    };
                    let work = self.weighted(channels * kernel * kernel, *outputs, *kernel, *padding);
                    (work, Shape { channels: *outputs, height, width })
                }
                // A convolution of one pixel.
                Layer::Linear { outputs, .. } if pixels(shape) == 1 => {
                    (self.weighted(channels, *outputs, 1, 0), Shape { channels: *outputs, ..shape })
                }
                Layer::GroupNorm { groups, .. } if !more => {
                    let at = self.parameters;
                    self.parameters += 2 * channels;
                    let kept = self.card.stream.alloc_zeros(BATCH * 2 * groups)?;
                    (Work::Norm { groups: *groups, at, kept }, shape)
                }
                Layer::MaxPool { size } if !more => self.pool(shape, *size)?,
                Layer::GlobalMaxPool if !more && height == width => self.pool(shape, height)?,
                Layer::LeakyRelu { slope } if !more => (Work::Leak(*slope), shape),
                Layer::Residual { layers } if !more && !layers.is_empty() => {
                    let last = self.extend(layers, from, true)?;
                    let to = self.slot(shape)?;
                    self.steps.push(Step { work: Work::Add { skip: from }, from: last, to, more: false });
                    from = to;
                    continue;
                }
                _ => return Err(refused(layer)),
            };
            let to = self.slot(to)?;
            self.steps.push(Step { work, from, to, more });
            from = to;
        }
        Ok(from)
    }

    fn weighted(&mut self, inputs: usize, outputs: usize, kernel: usize, padding: usize) -> Work {
        let at = self.parameters;
        self.parameters += (inputs + 1) * outputs;
        Work::Convolution { kernel, padding, at }
    }

    fn pool(&self, shape: Shape, size: usize) -> Result<(Work, Shape)> {
        let to = Shape { height: shape.height / size, width: shape.width / size, ..shape };
        let places = self.card.stream.alloc_zeros(BATCH * to.size())?;
        Ok((Work::Pool { size, places }, to))
    }
}

fn refused(layer: &Layer) -> Error {
    let remedy = "on a card nets are the consensus paper's two (cnn, resnet9), or of the layers of the second; compute on the processor";
    Error::parameter("net", format!("one with {layer:?}"), remedy)
}

impl Layers {
    /// Of these images. Refused where no kernels are written for a layer.
    pub fn new(card: &Card, net: &Net, rows: &[Images]) -> Result<Self> {
        let mut plan = Plan { card, steps: Vec::new(), slots: Vec::new(), parameters: 0 };
        let first = plan.slot(net.input())?;
        plan.extend(&net.description().layers, first, false)?;
        let Plan { steps, slots, parameters, .. } = plan;
        let mut begins = vec![0];
        begins.extend(rows.iter().scan(0, |end, images| {
            *end += images.len();
            Some(*end)
        }));
        let channels = net.input().channels;
        let tables =
            |images: &Images| (0..channels).map(|c| images.table(c).copied()).collect::<Option<Vec<_>>>();
        let table = rows.iter().find_map(tables).unwrap_or_else(|| vec![[0.0; 256]; channels]);
        for images in rows {
            if images.shape() != net.input()
                || images.classes() > net.classes()
                || tables(images).as_ref() != Some(&table)
            {
                let remedy = "all must have the net's shape and classes, and be normalised alike";
                return Err(Error::parameter("images", format!("{:?}", images.shape()), remedy));
            }
        }
        let bytes: Vec<u8> = rows
            .iter()
            .flat_map(|images| (0..images.len()).flat_map(|at| images.pixels(at)))
            .copied()
            .collect();
        let labels: Vec<u8> = rows.iter().flat_map(Images::labels).copied().collect();
        let patches = steps.iter().map(|step| match step.work {
            Work::Convolution { kernel, .. } => {
                pixels(slots[step.to].shape) * slots[step.from].shape.channels * kernel * kernel
            }
            _ => 1,
        });
        let patches = patches.max().unwrap_or(1);
        let floats = |count: usize| card.stream.alloc_zeros::<f32>(count);
        let bench = Bench {
            tools: Tools::new(card)?,
            bytes: sent(card, &bytes)?,
            labels: sent(card, &labels)?,
            table: sent(card, &table.concat())?,
            model: floats(parameters)?,
            columns: floats(BATCH * patches)?,
            own: floats(BATCH * parameters)?,
            squares: floats(BATCH * 128)?,
            factor: floats(BATCH)?,
            loss: floats(BATCH)?,
            sum: floats(parameters)?,
            steps,
            slots,
        };
        Ok(Self { begins, parameters, bench: Mutex::new(bench) })
    }

    /// Adds the clipped gradients of an agent's images to `sum`.
    pub fn add(&self, agent: Peer, picked: &[u32], clip: f64, model: &[f32], sum: &mut [f32]) -> Result<()> {
        let known = self.begins.get(agent).zip(self.begins.get(agent + 1));
        let (&begin, &end) =
            known.ok_or_else(|| Error::parameter("agent", agent, "she has no images here"))?;
        if let Some(at) = picked.iter().find(|&&at| at as usize >= end - begin) {
            let remedy = format!("she has {} images, counted from 0", end - begin);
            return Err(Error::parameter("picked", at, remedy));
        }
        if model.len() != self.parameters || sum.len() != self.parameters {
            let remedy = format!("the net has {}", self.parameters);
            return Err(Error::parameter("model", format!("of {} numbers", model.len()), remedy));
        }
        let mut bench = self.bench.lock().unwrap_or_else(PoisonError::into_inner);
        let stream = bench.tools.stream.clone();
        stream.memcpy_htod(model, &mut bench.model)?;
        stream.memset_zeros(&mut bench.sum)?;
        let picked: Vec<u32> = picked.iter().map(|&at| begin as u32 + at).collect();
        for part in picked.chunks(BATCH) {
            bench.learn(part, clip as f32)?;
        }
        let more = stream.clone_dtoh(&bench.sum)?;
        drop(bench);
        sum.iter_mut().zip(&more).for_each(|(sum, more)| *sum += more);
        Ok(())
    }

    /// How long so many clipped gradients take that stay on the card, again and again: seconds of each time. To be measured.
    pub fn time(&self, images: usize, clip: f64, times: usize) -> Result<f64> {
        let mut bench = self.bench.lock().unwrap_or_else(PoisonError::into_inner);
        let all = self.begins.last().copied().unwrap_or(0).max(1); // whole numbers
        let picked: Vec<u32> = (0..images).map(|at| (at % all) as u32).collect();
        let began = std::time::Instant::now();
        for _ in 0..times {
            for part in picked.chunks(BATCH) {
                bench.learn(part, clip as f32)?;
            }
        }
        bench.tools.stream.synchronize()?;
        Ok(began.elapsed().as_secs_f64() / times as f64)
    }
}

impl Trainer for Layers {
    fn add_clipped(&self, agent: Peer, picked: &[u32], clip: f64, model: &[f32], sum: &mut [f32]) {
        if self.add(agent, picked, clip, model, sum).is_err() {
            // What cannot be computed is no number, and the driver refuses it.
            sum.fill(f32::NAN);
        }
    }
}

impl Tools {
    fn new(card: &Card) -> Result<Self> {
        let module = compiled(card.stream.context(), include_str!("kernels/layers.cu"))?;
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
    fn learn(&mut self, picked: &[u32], clip: f32) -> Result<()> {
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
