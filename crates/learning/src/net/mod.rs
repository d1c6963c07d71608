//! Nets of layers whose gradients are clipped example by example: convolutions, linear layers, GroupNorm, pools, residual blocks.
//!
//! ```text
//! Net (a value: layers and shapes)     parameters: one flat [f32], tensor after tensor as PyTorch orders them
//!   │
//!   ├─ clipped_sum(parameters, images, picked, C) ──► sum of gradients, each at most C long; Tally
//!   ├─ gradient_sum, measure, losses
//!   └─ tensors: safetensors in and out
//! ```
//!
//! Sixteen examples are computed side by side (`lanes.rs`), through all steps and back, in room that stays in the cache; then their norms are
//! found without their gradients (`clip.rs`, `ghost.rs`), and one product adds all of them up. A sum is a function of what was
//! picked, in that order: no thread is started here, and other splits of a lot into calls change its last bits at most.
//!
//! A layer that mixes examples cannot be clipped, and is refused.
//!
//! ```
//! use sottovoce_learning::{images, net::{Net, Scratch}};
//! let (net, pictures) = (Net::consensus_cnn(), images::drawn(40, 1)?);
//! assert_eq!(net.parameters(), 38_424);
//! let (parameters, mut scratch) = (net.start(7), Scratch::new(&net));
//! let mut sum = vec![0.0; net.parameters()];
//! let tally = net.clipped_sum(&parameters, &pictures, &[3, 14, 15], 0.5, &mut scratch, &mut sum)?;
//! assert!(sum.iter().map(|g| g * g).sum::<f32>().sqrt() <= 3.0 * 0.5);
//! assert_eq!((tally.examples, tally.lost), (3, 0));
//! # Ok::<(), sottovoce_learning::Error>(())
//! ```

mod activation;
mod clip;
mod convolution;
mod ghost;
mod group_norm;
mod lanes;
mod layer;
mod loss;
mod pass;
mod planted;
mod pool;
mod product;
mod scratch;
mod start;
mod step;
mod sum;
mod tensors;
mod zoo;

use serde::{Deserialize, Serialize};

pub use layer::{Layer, Shape};
pub use scratch::Scratch;
pub use sum::Tally;

use crate::{Error, Result};
use step::Steps;

/// Layers, one after the other, from an image to a score for each class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Description", into = "Description")]
pub struct Net {
    description: Description,
    steps: Steps,
}

/// What is stored of a net.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// The images that it is given.
    pub input: Shape,
    /// The layers, in order.
    pub layers: Vec<Layer>,
}

impl Net {
    /// A net of these layers; the last one's outputs are the scores of the classes.
    pub fn new(input: Shape, layers: Vec<Layer>) -> Result<Self> {
        input.check()?;
        let mut steps = Steps::new(input);
        steps.extend(&layers)?;
        if steps.parameters == 0 {
            return Err(Error::parameter("layers", "without parameters", "add a linear layer at least"));
        }
        let classes = steps.shape().size();
        if !(2..=256).contains(&classes) {
            let remedy = "the last layer gives a score to each of 2 to 256 classes";
            return Err(Error::parameter("classes", classes, remedy));
        }
        Ok(Self { description: Description { input, layers }, steps })
    }

    /// The layers, and what they are given.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// The images that it is given.
    pub fn input(&self) -> Shape {
        self.description.input
    }

    /// How many classes it tells apart.
    pub fn classes(&self) -> usize {
        self.steps.shape().size()
    }

    /// How many parameters it has.
    pub fn parameters(&self) -> usize {
        self.steps.parameters
    }
}

impl TryFrom<Description> for Net {
    type Error = Error;

    fn try_from(Description { input, layers }: Description) -> Result<Self> {
        Self::new(input, layers)
    }
}

impl From<Net> for Description {
    fn from(net: Net) -> Self {
        net.description
    }
}
