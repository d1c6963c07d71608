//! idx files, as MNIST comes in: a header of big-endian sizes, then a byte for each pixel or label.
//!
//! ```text
//! 0 0 8 d        8: unsigned bytes; d: the number of sizes
//! n, ...         d sizes of four bytes: the number of items, then what an item is made of
//! bytes
//! ```

use std::io::Read;

use super::source::plain;
use super::{Found, MOST_NUMBERS};
use crate::{Error, Result, Table};

/// Reads images, pixels divided by 255, and their labels as classes.
pub fn idx(images: impl Read, labels: impl Read) -> Result<Found> {
    let (sizes, pixels, labels) = idx_bytes(images, labels)?;
    let pixels = pixels.into_iter().map(|byte| f64::from(byte) / 255.0).collect();
    let labels = labels.into_iter().map(f64::from).collect();
    Ok(Found::of(Table::new(pixels, sizes[1..].iter().product(), labels)?))
}

/// Reads the sizes of the images, their bytes and their labels.
pub(crate) fn idx_bytes(images: impl Read, labels: impl Read) -> Result<(Vec<usize>, Vec<u8>, Vec<u8>)> {
    let (images, labels) = (plain(images)?, plain(labels)?);
    let (mut images, mut labels) = (images.as_slice(), labels.as_slice());
    let image_sizes = sizes(&mut images, "images")?;
    let label_sizes = sizes(&mut labels, "labels")?;
    let (&[count, ref item @ ..], &[named]) = (&image_sizes[..], &label_sizes[..]) else {
        let problem =
            format!("`labels` have {} sizes; give a file of one label for each image", label_sizes.len());
        return Err(Error::Format(problem));
    };
    if count != named {
        return Err(Error::Format(format!("{count} images but {named} labels; give files of the same set")));
    }
    let size = image_sizes.iter().try_fold(1, |size: usize, &more| size.checked_mul(more));
    let Some(size) = size.filter(|&size| size <= MOST_NUMBERS) else {
        let problem = format!("{count} images of {item:?} pixels are more than {MOST_NUMBERS} numbers");
        return Err(Error::Format(format!("`images`: {problem}; give a smaller set")));
    };
    let (pixels, labels) = (bytes(images, "images", size)?, bytes(labels, "labels", count)?);
    Ok((image_sizes, pixels, labels))
}

/// Reads a header off the bytes.
fn sizes(bytes: &mut &[u8], what: &str) -> Result<Vec<usize>> {
    let magic = word(bytes, what)?;
    let [0, 0, 8, dimensions @ 1..=4] = magic else {
        let problem = format!("`{what}` start with the bytes {magic:?}");
        return Err(Error::Format(format!(
            "{problem}; an idx file of unsigned bytes starts with 0, 0, 8, 1 to 4"
        )));
    };
    (0..dimensions).map(|_| Ok(u32::from_be_bytes(word(bytes, what)?) as usize)).collect()
}

fn word(bytes: &mut &[u8], what: &str) -> Result<[u8; 4]> {
    let Some((&word, rest)) = bytes.split_first_chunk() else {
        return Err(Error::Format(format!("`{what}` end within the header; check that the file is whole")));
    };
    *bytes = rest;
    Ok(word)
}

/// As many bytes as the header promises, and not one more.
fn bytes(bytes: &[u8], what: &str, size: usize) -> Result<Vec<u8>> {
    let problem = match bytes.len() {
        length if length > size => format!("`{what}` go on after the {size} bytes that the header promises"),
        length if length < size => {
            format!("`{what}` end after {length} of the {size} bytes that the header promises")
        }
        _ => return Ok(bytes.to_vec()),
    };
    Err(Error::Format(format!("{problem}; check that the file is whole, and what it says")))
}
