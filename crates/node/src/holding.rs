//! What a peer brings along: a file of numbers or rows, a folder of images, or a program that computes gradients of what it holds.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::require;
use crate::{Error, Hash, Result};

/// Bytes of the largest file.
const MOST: u64 = 1 << 30;

/// What a peer brings along.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holding {
    /// The data set, as budgets know it ...
    pub label: String,
    /// ... and the name of its bytes.
    pub data: Hash,
    /// Its file, or its folder of images.
    pub file: PathBuf,
    /// The program that computes gradients, with its arguments, where one does.
    pub program: Option<Vec<String>>,
    /// Where that program is started.
    pub folder: PathBuf,
}

impl Holding {
    /// What a file holds, or all files of a folder.
    pub fn of(label: &str, file: &Path) -> Result<Self> {
        let folder = file.parent().map(Path::to_path_buf).unwrap_or_default();
        Ok(Self { label: label.to_owned(), data: named(file)?, file: file.to_owned(), program: None, folder })
    }

    /// The same, if the file is what it was when it was named: a release of other data is none that was begun.
    pub fn check(&self) -> Result<()> {
        let now = named(&self.file)?;
        require(now == self.data, "data", self.file.display(), "it has changed meanwhile; run it again")
    }

    /// Its numbers.
    pub fn values(&self) -> Result<Vec<f64>> {
        let bytes = bytes(&self.file)?;
        self.check()?;
        let text = String::from_utf8_lossy(&bytes);
        let words = text.split([',', ';', ' ', '\t', '\r', '\n']).filter(|word| !word.is_empty());
        // The word itself is private, and stays out of what is said about it.
        let number = |(place, word): (usize, &str)| {
            let read = word.parse::<f64>().ok().filter(|number| number.is_finite());
            let value = || format!("no number in place {} of {}", place + 1, self.file.display());
            read.ok_or_else(|| Error::parameter("values", value(), "give finite numbers; nothing was sent"))
        };
        words.enumerate().map(number).collect()
    }
}

fn bytes(path: &Path) -> Result<Vec<u8>> {
    let length = fs::metadata(path).map_err(|cause| Error::file("read", path, cause))?.len();
    require(length <= MOST, "values", path.display(), "it is larger than a gigabyte")?;
    fs::read(path).map_err(|cause| Error::file("read", path, cause))
}

/// The name of a file's bytes, or of all files in a folder, with their names.
fn named(path: &Path) -> Result<Hash> {
    if !path.is_dir() {
        return Ok(Hash::of(&bytes(path)?));
    }
    let failed = |cause| Error::file("read", path, cause);
    let entries = fs::read_dir(path).map_err(failed)?.collect::<std::io::Result<Vec<_>>>().map_err(failed)?;
    let mut files: Vec<PathBuf> =
        entries.iter().map(fs::DirEntry::path).filter(|file| file.is_file()).collect();
    files.sort_unstable();
    let mut all = Vec::new();
    for file in files {
        let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        all.extend_from_slice(&Hash::labelled("sottovoce file", &[name.as_bytes(), &bytes(&file)?]).0);
    }
    Ok(Hash::labelled("sottovoce folder", &[&all]))
}
