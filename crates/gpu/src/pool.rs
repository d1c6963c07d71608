//! Images in the card's memory: bytes, labels, and what bytes stand for.

use cudarc::driver::CudaSlice;
use sottovoce_learning::Images;
use sottovoce_learning::net::Shape;

use crate::room::sent;
use crate::{Card, Error, Result};

/// What the net is made for.
const SHAPE: Shape = Shape { channels: 1, height: 32, width: 32 };
const CLASSES: usize = 10;

/// Images, one after the other.
pub(crate) struct Pool {
    /// Four bytes in a word.
    pub(crate) pixels: CudaSlice<u32>,
    pub(crate) labels: CudaSlice<u8>,
    pub(crate) table: CudaSlice<f32>,
}

impl Pool {
    /// All of these, in this order; their bytes must stand for the same numbers.
    pub(crate) fn new(card: &Card, all: &[&Images]) -> Result<Self> {
        let table = all.iter().find_map(|images| images.table(0)).copied().unwrap_or([0.0; 256]);
        for images in all {
            let Shape { channels, height, width } = images.shape();
            if images.shape() != SHAPE || images.classes() > CLASSES {
                let value = format!("{channels}x{height}x{width} of {} classes", images.classes());
                let remedy = "the card's kernels take 1x32x32 of 10; compute on the processor";
                return Err(Error::parameter("images", value, remedy));
            }
            if images.table(0) != Some(&table) {
                let remedy = "all images must be normalised alike";
                return Err(Error::parameter("normals", "not the same for all", remedy));
            }
        }
        let mut words: Vec<u32> = Vec::new();
        for images in all {
            for at in 0..images.len() {
                words.extend(images.pixels(at).as_chunks().0.iter().map(|four| u32::from_le_bytes(*four)));
            }
        }
        let labels: Vec<u8> = all.iter().flat_map(|images| images.labels()).copied().collect();
        Ok(Self {
            pixels: sent(card, &words)?,
            labels: sent(card, &labels)?,
            table: card.stream.clone_htod(&table)?,
        })
    }
}
