//! Layers as they are described, and the steps that a net makes of them.
//!
//! ```text
//! layers (a description)  ──►  steps: where each one's numbers, differences and parameters lie
//!    mish, max pool       ──►     one step: the largest of Mish with two evaluations
//!    residual             ──►     fork, the layers inside, add
//! ```

use serde::{Deserialize, Serialize};

use super::convolution::Window;
use super::group_norm::GroupNorm;
use super::pool::Pool;
use super::step::{Step, Steps, Work};
use crate::{Error, Result};

/// Numbers of an image or of what a layer makes of it: channel after channel, row after row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Shape {
    /// Channels: 1 for grey, 3 for red, green and blue.
    pub channels: usize,
    /// Rows of pixels.
    pub height: usize,
    /// Pixels of a row.
    pub width: usize,
}

impl Shape {
    /// How many numbers there are.
    pub fn size(&self) -> usize {
        self.channels * self.height * self.width
    }
}

/// A layer. Those with parameters have the names by which PyTorch knows them: `NAME.weight` and `NAME.bias`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "layer", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Layer {
    /// A convolution with a bias.
    Conv2d {
        /// Its name.
        name: String,
        /// Channels that come out.
        channels: usize,
        /// Height and width of the kernel.
        kernel: usize,
        /// Steps between pixels.
        stride: usize,
        /// Zeros around the image.
        padding: usize,
    },
    /// A linear map of all numbers, with a bias.
    Linear {
        /// Its name.
        name: String,
        /// Numbers that come out.
        outputs: usize,
    },
    /// Groups of channels brought to mean 0 and variance 1, example by example.
    GroupNorm {
        /// Its name.
        name: String,
        /// Groups of equally many channels.
        groups: usize,
    },
    /// The largest pixel of each window; windows lie beside each other.
    MaxPool {
        /// Height and width of a window.
        size: usize,
    },
    /// The mean of each window.
    AvgPool {
        /// Height and width of a window.
        size: usize,
    },
    /// The largest pixel of each channel.
    GlobalMaxPool,
    /// Numbers below zero become zero.
    Relu,
    /// Numbers below zero become smaller.
    LeakyRelu {
        /// How much is left of them.
        slope: f32,
    },
    /// `z tanh(ln(1 + e^z))`.
    Mish,
    /// What these layers make of their input is added to it.
    Residual {
        /// The layers.
        layers: Vec<Layer>,
    },
    /// Refused: it mixes the examples of a batch, so that no example's gradient can be clipped. It is here to be named in the refusal.
    BatchNorm2d {
        /// Its name.
        name: String,
    },
}

/// A larger net is a mistake: its numbers for 16 examples would not fit.
const MOST_NUMBERS: usize = 1 << 26;

/// A size that must be at least 1 (or 0 where zero is fine) and not absurd.
fn sized(field: &'static str, value: usize, least: usize, most: usize) -> Result<usize> {
    if (least..=most).contains(&value) {
        return Ok(value);
    }
    Err(Error::parameter(field, value, format!("give a number from {least} to {most} for this layer")))
}

impl Shape {
    /// Refuses what is empty or absurd.
    pub(crate) fn check(&self) -> Result<()> {
        let sizes = [("channels", self.channels), ("height", self.height), ("width", self.width)];
        sizes.into_iter().try_for_each(|(field, size)| sized(field, size, 1, 1 << 16).map(drop))?;
        sized("size", self.size(), 1, MOST_NUMBERS).map(drop)
    }
}

impl Steps {
    /// Adds the steps of layers, from the numbers that came last.
    pub(super) fn extend(&mut self, layers: &[Layer]) -> Result<()> {
        let mut rest = layers;
        while let [layer, after @ ..] = rest {
            rest = after;
            if let (Layer::Mish, [Layer::MaxPool { size }, after @ ..]) = (layer, after) {
                rest = after;
                self.pool(*size, *size, Work::MaxMish)?;
            } else {
                self.layer(layer)?;
            }
            sized("numbers", self.numbers(), 1, MOST_NUMBERS)?;
        }
        Ok(())
    }

    fn layer(&mut self, layer: &Layer) -> Result<()> {
        let shape = self.shape();
        match layer {
            Layer::Conv2d { name, channels, kernel, stride, padding } => {
                self.convolution(name, *channels, *kernel, *stride, *padding)?;
            }
            Layer::Linear { name, outputs } => {
                let (inputs, outputs) = (shape.size(), sized("outputs", *outputs, 1, 1 << 20)?);
                let work = Work::Linear { inputs, outputs };
                self.push(work, Shape { channels: outputs, height: 1, width: 1 });
                self.named(name, &[outputs, inputs], &[outputs], inputs)?;
            }
            Layer::GroupNorm { name, groups } => {
                let groups = sized("groups", *groups, 1, shape.channels)?;
                if !shape.channels.is_multiple_of(groups) {
                    let remedy = format!("it must divide the {} channels", shape.channels);
                    return Err(Error::parameter("groups", groups, remedy));
                }
                let pixels = shape.height * shape.width;
                self.push(Work::GroupNorm(GroupNorm { groups, channels: shape.channels, pixels }), shape);
                self.named(name, &[shape.channels], &[shape.channels], 0)?;
            }
            Layer::MaxPool { size } => self.pool(*size, *size, Work::Max)?,
            Layer::AvgPool { size } => self.pool(*size, *size, Work::Mean)?,
            Layer::GlobalMaxPool => self.pool(shape.height, shape.width, Work::Max)?,
            Layer::Relu => self.push(Work::Leak(0.0), shape),
            Layer::LeakyRelu { slope } if slope.is_finite() => self.push(Work::Leak(*slope), shape),
            Layer::LeakyRelu { slope } => {
                return Err(Error::parameter("slope", slope, "give a finite number"));
            }
            Layer::Mish => self.push(Work::Mish, shape),
            Layer::Residual { layers } => self.residual(layers)?,
            Layer::BatchNorm2d { name } => {
                let remedy = "it mixes examples, so that none can be clipped by itself; use GroupNorm";
                return Err(Error::parameter("layer", format!("BatchNorm2d `{name}`"), remedy));
            }
        }
        Ok(())
    }

    fn convolution(
        &mut self,
        name: &str,
        channels: usize,
        kernel: usize,
        stride: usize,
        padding: usize,
    ) -> Result<()> {
        let shape = self.shape();
        let channels = sized("channels", channels, 1, 1 << 16)?;
        let kernel = sized("kernel", kernel, 1, 1 << 10)?;
        let padding = sized("padding", padding, 0, kernel - 1)?;
        let from = (shape.height + 2 * padding, shape.width + 2 * padding);
        let kernel = sized("kernel", kernel, 1, from.0.min(from.1))?; // whole numbers
        let stride = sized("stride", stride, 1, 1 << 10)?;
        let to = ((from.0 - kernel) / stride + 1, (from.1 - kernel) / stride + 1);
        let window = Window { channels: (shape.channels, channels), from, to, kernel, stride };
        self.push(Work::Convolution { window, padding }, Shape { channels, height: to.0, width: to.1 });
        let inputs = window.weights_of_channel();
        self.named(name, &[channels, shape.channels, kernel, kernel], &[channels], inputs)
    }

    fn pool(&mut self, height: usize, width: usize, work: impl Fn(Pool) -> Work) -> Result<()> {
        let shape = self.shape();
        let window = (sized("size", height, 1, shape.height)?, sized("size", width, 1, shape.width)?);
        let pool = Pool { from: (shape.height, shape.width), window };
        let (height, width) = pool.to();
        self.push(work(pool), Shape { height, width, ..shape });
        Ok(())
    }

    /// `x + f(x)`: the fork only matters on the way back, where differences of both ways meet.
    fn residual(&mut self, layers: &[Layer]) -> Result<()> {
        let (input, shape) = (self.place(), self.shape());
        let fork = self.fork();
        self.extend(layers)?;
        if self.shape() != shape {
            let (out, remedy) = (self.shape(), "a residual block gives back the shape that it is given");
            let value = format!("{}x{}x{}", out.channels, out.height, out.width);
            return Err(Error::parameter("residual", value, remedy));
        }
        self.push(Work::Add { skip: input }, shape);
        self.join(fork);
        Ok(())
    }
}

impl Step {
    /// Whether it has parameters.
    pub(super) fn has_parameters(&self) -> bool {
        !self.parameters.is_empty()
    }
}
