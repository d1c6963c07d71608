//! Layers laid out on the card: steps, and where the numbers between them lie.

use cudarc::driver::CudaSlice;
use sottovoce_learning::net::{Layer, Net, Shape};

use super::BATCH;
use crate::{Card, Error, Result};

/// Numbers between two steps, of a whole batch, and their differences.
pub(super) struct Slot {
    pub(super) shape: Shape,
    pub(super) values: CudaSlice<f32>,
    pub(super) deltas: CudaSlice<f32>,
}

pub(super) struct Step {
    pub(super) work: Work,
    pub(super) from: usize,
    pub(super) to: usize,
    /// Its differences are added to those that a residual block's sum has left there.
    pub(super) more: bool,
}

pub(super) enum Work {
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
pub(super) struct Plan<'a> {
    card: &'a Card,
    pub(super) steps: Vec<Step>,
    pub(super) slots: Vec<Slot>,
    pub(super) parameters: usize,
}

pub(super) fn pixels(shape: Shape) -> usize {
    shape.height * shape.width
}

impl<'a> Plan<'a> {
    /// Of a net. Refused where no kernels are written for a layer.
    pub(super) fn new(card: &'a Card, net: &Net) -> Result<Self> {
        let mut plan = Self { card, steps: Vec::new(), slots: Vec::new(), parameters: 0 };
        let first = plan.slot(net.input())?;
        plan.extend(&net.description().layers, first, false)?;
        Ok(plan)
    }

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
