//! Images from files: idx as MNIST comes, and the binary versions of CIFAR-10 and CIFAR-100. Gzipped or not.
//!
//! ```text
//! CIFAR-10      a label, then 1024 bytes of red, of green, of blue; and so on
//! CIFAR-100     a coarse label, the label, then the same
//! ```

use std::io::Read;
use std::path::Path;

use super::{CIFAR10, CIFAR100, Images, MNIST};
use crate::net::Shape;
use crate::read::{Source, file, idx_bytes, plain};
use crate::{Error, Result};

/// Training and test images, and the files that they came from.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// What is learned from.
    pub train: Images,
    /// What is told of a net is told on these.
    pub test: Images,
    /// The files, with their hashes.
    pub sources: Vec<Source>,
}

/// An image of CIFAR.
const CIFAR: Shape = Shape { channels: 3, height: 32, width: 32 };

/// Grey images and their labels as idx files, of this many classes.
pub fn idx(images: impl Read, labels: impl Read, classes: usize) -> Result<Images> {
    let (sizes, pixels, labels) = idx_bytes(images, labels)?;
    let &[_, height, width] = &sizes[..] else {
        let problem =
            format!("`images` have {} sizes; give a file of images by rows and columns", sizes.len());
        return Err(Error::Format(problem));
    };
    Images::new(Shape { channels: 1, height, width }, pixels, labels, classes)
}

/// The binary version of CIFAR-10.
pub fn cifar10(file: impl Read) -> Result<Images> {
    cifar(file, 1, 10)
}

/// The binary version of CIFAR-100; its fine labels.
pub fn cifar100(file: impl Read) -> Result<Images> {
    cifar(file, 2, 100)
}

fn cifar(file: impl Read, labels: usize, classes: usize) -> Result<Images> {
    let (bytes, record) = (plain(file)?, labels + CIFAR.size());
    if bytes.is_empty() || !bytes.len().is_multiple_of(record) {
        let remedy = format!(
            "CIFAR-{classes} has {record} for each image; check that the file is whole, and which it is"
        );
        return Err(Error::parameter("bytes", bytes.len(), remedy));
    }
    let records = bytes.chunks_exact(record);
    let pixels = records.clone().flat_map(|record| &record[labels..]).copied().collect();
    Images::new(CIFAR, pixels, records.map(|record| record[labels - 1]).collect(), classes)
}

/// Files of a set: for training, then for the test.
struct Layout {
    train: &'static [&'static str],
    test: &'static str,
    read: fn(&Path, &mut Vec<Source>) -> Result<Images>,
}

const LAYOUTS: [Layout; 3] = [
    Layout { train: &["train-images-idx3-ubyte"], test: "t10k-images-idx3-ubyte", read: open_idx },
    Layout {
        train: &[
            "data_batch_1.bin",
            "data_batch_2.bin",
            "data_batch_3.bin",
            "data_batch_4.bin",
            "data_batch_5.bin",
        ],
        test: "test_batch.bin",
        read: |path, sources| cifar10(opened(path, sources)?.as_slice())?.normalised(&CIFAR10),
    },
    Layout {
        train: &["train.bin"],
        test: "test.bin",
        read: |path, sources| cifar100(opened(path, sources)?.as_slice())?.normalised(&CIFAR100),
    },
];

/// Reads a folder that holds MNIST (or a set of its form, with ten classes; brought to 32x32), CIFAR-10 or CIFAR-100 in its binary version; `.gz` may follow
/// every name. All are normalised by public constants.
pub fn open(folder: &Path) -> Result<Found> {
    for Layout { train, test, read } in &LAYOUTS {
        if beside(folder, train[0]).is_none() {
            continue;
        }
        let mut sources = Vec::new();
        let mut all = |names: &[&str]| {
            let mut images: Option<Images> = None;
            for name in names {
                let path = beside(folder, name).unwrap_or_else(|| folder.join(name));
                let more = read(&path, &mut sources).map_err(|error| match error {
                    Error::File { .. } => error,
                    other => other.in_file(&path),
                })?;
                images = Some(match images {
                    Some(images) => images.and(more),
                    None => more,
                });
            }
            images.ok_or_else(|| Error::Format("no file is named; give a folder".into()))
        };
        let (train, test) = (all(train)?, all(&[test])?);
        return Ok(Found { train, test, sources });
    }
    let known = "train-images-idx3-ubyte, data_batch_1.bin or train.bin";
    Err(Error::Format(format!("no images are known there; give a folder with {known}")).in_file(folder))
}

/// A file of this name, or its gzipped version.
fn beside(folder: &Path, name: &str) -> Option<std::path::PathBuf> {
    [folder.join(name), folder.join(format!("{name}.gz"))].into_iter().find(|path| path.exists())
}

/// The bytes of a file, whose hash is noted.
fn opened(path: &Path, sources: &mut Vec<Source>) -> Result<Vec<u8>> {
    let bytes = file(path)?;
    sources.push(Source::new(path, &bytes));
    Ok(bytes)
}

fn open_idx(path: &Path, sources: &mut Vec<Source>) -> Result<Images> {
    let labels = crate::read::labels_beside(path)?;
    let (images, labels) = (opened(path, sources)?, opened(&labels, sources)?);
    let images = idx(images.as_slice(), labels.as_slice(), 10)?;
    let small = (images.shape().height, images.shape().width) != (32, 32);
    if small { images.resized(32, 32)? } else { images }.normalised(&MNIST)
}
