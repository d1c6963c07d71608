//! Images as bytes, with their labels apart: what a net is given.
//!
//! ```text
//! idx (MNIST), CIFAR binaries, drawn ones ──► Images ──► resized ──► normalised by public constants, as a net asks for them
//! ```
//!
//! Bytes stay bytes: a number is looked up when a net reads it. What normalises is public, so that no image depends on another one.

mod drawn;
mod fill;
mod read;
mod resize;

pub use drawn::drawn;
pub use read::{Found, cifar10, cifar100, idx, open};

use crate::net::Shape;
use crate::{Error, Result, split};

/// What normalises a channel: `(byte/255 - mean)/deviation`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Normal {
    /// The mean of a channel, from 0 to 1.
    pub mean: f32,
    /// Its standard deviation.
    pub deviation: f32,
}

/// MNIST's usual constants.
pub const MNIST: [Normal; 1] = [Normal { mean: 0.1307, deviation: 0.3081 }];

/// CIFAR-100's usual constants: red, green, blue.
pub const CIFAR100: [Normal; 3] = [
    Normal { mean: 0.5071, deviation: 0.2673 },
    Normal { mean: 0.4865, deviation: 0.2564 },
    Normal { mean: 0.4409, deviation: 0.2762 },
];

/// CIFAR-10's usual constants.
pub const CIFAR10: [Normal; 3] = [
    Normal { mean: 0.4914, deviation: 0.2470 },
    Normal { mean: 0.4822, deviation: 0.2435 },
    Normal { mean: 0.4465, deviation: 0.2616 },
];

/// Images of one shape, and a class for each.
#[derive(Debug, Clone, PartialEq)]
pub struct Images {
    shape: Shape,
    pixels: Vec<u8>,
    labels: Vec<u8>,
    classes: usize,
    /// What each byte of a channel stands for.
    tables: Vec<[f32; 256]>,
}

impl Images {
    /// Images whose bytes follow each other: channel after channel, row after row. Bytes stand for 0 to 1 until they are [`Images::normalised`].
    pub fn new(shape: Shape, pixels: Vec<u8>, labels: Vec<u8>, classes: usize) -> Result<Self> {
        shape.check()?;
        if labels.len().checked_mul(shape.size()) != Some(pixels.len()) {
            let Shape { channels, height, width } = shape;
            let remedy =
                format!("{} labels take as many images of {channels}x{height}x{width} bytes", labels.len());
            return Err(Error::parameter("pixels", format!("{} bytes", pixels.len()), remedy));
        }
        if !(1..=256).contains(&classes) {
            return Err(Error::parameter("classes", classes, "give a number from 1 to 256"));
        }
        if let Some(row) = labels.iter().position(|&label| usize::from(label) >= classes) {
            let remedy = format!("there are {classes} classes, counted from 0; check the file");
            return Err(Error::row("label", labels[row], row, remedy));
        }
        let plain = Normal { mean: 0.0, deviation: 1.0 };
        let tables = vec![table(plain); shape.channels];
        Ok(Self { shape, pixels, labels, classes, tables })
    }

    /// The same, normalised by public constants.
    pub fn normalised(self, normals: &[Normal]) -> Result<Self> {
        if normals.len() != self.shape.channels {
            let remedy = format!("give one for each of the {} channels", self.shape.channels);
            return Err(Error::parameter("normals", format!("{} constants", normals.len()), remedy));
        }
        if let Some(wrong) =
            normals.iter().find(|n| !(n.mean.is_finite() && n.deviation.is_normal() && n.deviation > 0.0))
        {
            let value = format!("{} and {}", wrong.mean, wrong.deviation);
            return Err(Error::parameter("normals", value, "give a mean and a positive deviation"));
        }
        Ok(Self { tables: normals.iter().copied().map(table).collect(), ..self })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// Their shape.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// How many classes there are.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// The labels, one for each image.
    pub fn labels(&self) -> &[u8] {
        &self.labels
    }

    /// An image's class.
    ///
    /// # Panics
    ///
    /// If there is no such image.
    pub fn label(&self, image: usize) -> u8 {
        self.labels[image]
    }

    /// An image's bytes.
    ///
    /// # Panics
    ///
    /// If there is no such image.
    pub fn pixels(&self, image: usize) -> &[u8] {
        &self.pixels[image * self.shape.size()..][..self.shape.size()]
    }

    /// What each byte of a channel stands for.
    pub fn table(&self, channel: usize) -> Option<&[f32; 256]> {
        self.tables.get(channel)
    }

    /// These images alone, in this order. An image may be taken twice.
    pub fn gather(&self, images: &[usize]) -> Result<Self> {
        if let Some(at) = images.iter().find(|&&at| at >= self.len()) {
            let remedy = format!("there are {}, counted from 0", self.len());
            return Err(Error::parameter("image", at, remedy));
        }
        let pixels = images.iter().flat_map(|&at| self.pixels(at)).copied().collect();
        let labels = images.iter().map(|&at| self.labels[at]).collect();
        Ok(Self { pixels, labels, tables: self.tables.clone(), ..*self })
    }

    /// These, then the others, which have the same form.
    pub fn and(mut self, other: Self) -> Self {
        self.pixels.extend(other.pixels);
        self.labels.extend(other.labels);
        self
    }

    /// Who holds which images, by the matrix `A(t)`: from equal shares of all classes (`t = 0`) to classes of one's own (`t = 1`).
    pub fn similarity(&self, peers: usize, t: f64, seed: u64) -> Result<Vec<Vec<usize>>> {
        let labels: Vec<f64> = self.labels.iter().copied().map(f64::from).collect();
        split::similarity_lists(&labels, peers, t, seed)
    }

    /// Refuses images that a net is not made for.
    pub(crate) fn check_suits(&self, input: Shape, classes: usize) -> Result<()> {
        if self.shape != input {
            let Shape { channels, height, width } = self.shape;
            let remedy = format!(
                "the net takes {}x{}x{}; resize the images or take another net",
                input.channels, input.height, input.width
            );
            return Err(Error::parameter("images", format!("{channels}x{height}x{width}"), remedy));
        }
        if self.classes > classes {
            let remedy = format!("the net tells {classes} apart; take another one");
            return Err(Error::parameter("classes", self.classes, remedy));
        }
        Ok(())
    }
}

/// What each byte stands for.
fn table(Normal { mean, deviation }: Normal) -> [f32; 256] {
    std::array::from_fn(|byte| (byte as f32 / 255.0 - mean) / deviation)
}
