//! idx files, as MNIST comes in: a header of big-endian sizes, then a byte for each pixel or label.
//!
//! ```text
//! 0 0 8 d        8: unsigned bytes; d: the number of sizes
//! n, ...         d sizes of four bytes: the number of items, then what an item is made of
//! bytes
//! ```

use std::io::Read;

use super::MOST_NUMBERS;
use super::source::{plain, unreadable};
use crate::{Error, Result, Table};

/// Bytes read at a time.
const CHUNK: usize = 1 << 16;

/// Reads images, pixels divided by 255, and their labels as classes.
pub fn idx(images: impl Read, labels: impl Read) -> Result<Table> {
    let (mut images, mut labels) = (plain(images)?, plain(labels)?);
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
    let width = item.iter().try_fold(1, |width: usize, &size| width.checked_mul(size));
    let size = width.and_then(|width| width.checked_mul(count)).filter(|&size| size <= MOST_NUMBERS);
    let (Some(width), Some(size)) = (width, size) else {
        let problem = format!("{count} images of {item:?} pixels are more than {MOST_NUMBERS} numbers");
        return Err(Error::Format(format!("`images`: {problem}; give a smaller set")));
    };
    let pixels = bytes(&mut images, "images", size, |byte| f64::from(byte) / 255.0)?;
    let labels = bytes(&mut labels, "labels", count, f64::from)?;
    Table::new(pixels, width, labels)
}

/// Reads a header.
fn sizes(reader: &mut dyn Read, what: &str) -> Result<Vec<usize>> {
    let magic = word(reader, what)?;
    let [0, 0, 8, dimensions @ 1..=4] = magic else {
        let problem = format!("`{what}` start with the bytes {magic:?}");
        return Err(Error::Format(format!(
            "{problem}; an idx file of unsigned bytes starts with 0, 0, 8, 1 to 4"
        )));
    };
    (0..dimensions).map(|_| Ok(u32::from_be_bytes(word(reader, what)?) as usize)).collect()
}

fn word(reader: &mut dyn Read, what: &str) -> Result<[u8; 4]> {
    let mut word = [0; 4];
    reader.read_exact(&mut word).map_err(|error| match error.kind() {
        std::io::ErrorKind::UnexpectedEof => {
            Error::Format(format!("`{what}` end within the header; check that the file is whole"))
        }
        _ => unreadable(&error),
    })?;
    Ok(word)
}

/// Reads as many bytes as the header promises, and not one more. Memory grows with what is there.
fn bytes(reader: &mut dyn Read, what: &str, size: usize, value: impl Fn(u8) -> f64) -> Result<Vec<f64>> {
    let (mut values, mut chunk) = (Vec::new(), vec![0; CHUNK]);
    loop {
        let read = match reader.read(&mut chunk) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(unreadable(&error)),
        };
        if values.len() + read > size {
            let problem = format!("`{what}` go on after the {size} bytes that the header promises");
            return Err(Error::Format(format!("{problem}; check that the file is what it says")));
        }
        values.extend(chunk[..read].iter().map(|&byte| value(byte)));
    }
    if values.len() < size {
        let problem =
            format!("`{what}` end after {} of the {size} bytes that the header promises", values.len());
        return Err(Error::Format(format!("{problem}; check that the file is whole")));
    }
    Ok(values)
}
