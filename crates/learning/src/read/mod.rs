//! Readers of tables: comma-separated values, ARFF, svmlight and idx images, gzipped or not.
//!
//! | format | [`open`] takes it for | label |
//! | --- | --- | --- |
//! | [`csv`] | `.csv`, `.tsv`, `.data`, `.txt` | a column, numbers or names |
//! | [`arff`] | `.arff` | an attribute, numeric or nominal |
//! | [`svmlight`] | `.svm`, `.svmlight`, `.libsvm` | the first number of a line |
//! | [`idx`] | `...images-idx3-ubyte`, with its `...labels-idx1-ubyte` beside it | a class for each image |
//!
//! Names of labels become classes 0, 1, ...: in the order of their declaration in ARFF, sorted otherwise. What they were called is in
//! [`Table::classes`], and [`Table::binary`] makes -1 and +1 of them. Classes collected from rows depend on everybody's rows:
//! [`Table::binary`] and [`Table::classified`] do not mind, whoever uses the numbers as they are must. What cannot be read is refused with its line, and
//! nothing is allocated because a header says so: memory grows with what has been read.

mod arff;
mod csv;
mod idx;
mod labels;
mod source;
mod svmlight;

use std::fs::File;
use std::path::{Path, PathBuf};

pub use arff::arff;
pub use csv::csv;
pub use idx::idx;
pub use svmlight::svmlight;

use crate::{Error, Result, Table};

/// Larger dense tables (2 GiB of numbers) are refused where few bytes can ask for them.
const MOST_NUMBERS: usize = 1 << 28;

/// A column of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Column {
    /// The last one.
    #[default]
    Last,
    /// By its name in the header.
    Name(String),
    /// By its place, counted from 0.
    Index(usize),
}

/// Whether the first line holds the names of the columns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Header {
    /// It does if the label is given by name, or if a feature in it is no number.
    #[default]
    Auto,
    /// It does.
    Yes,
    /// It does not.
    No,
}

/// What stands between the fields of a line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Separator {
    /// A tab, a semicolon or a comma: the first of these that the first line has outside quotes.
    #[default]
    Auto,
    /// `,`
    Comma,
    /// `;`
    Semicolon,
    /// A tab.
    Tab,
}

/// What a file does not say itself. The default suits most files whose label is the last column.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// The column of the label, in comma-separated values and ARFF.
    pub label: Column,
    /// Whether comma-separated values have a header.
    pub header: Header,
    /// What separates comma-separated values.
    pub separator: Separator,
    /// The number of features of svmlight data; by default the largest that occurs.
    pub width: Option<usize>,
}

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Comma-separated values.
    Csv,
    /// ARFF, which declares its columns and classes.
    Arff,
    /// svmlight, which declares nothing.
    Svmlight,
    /// Images, whose pixels are bytes.
    Idx,
}

impl Format {
    /// The format that a file's name says; `.gz` may follow.
    pub fn of(path: &Path) -> Result<Self> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        if name.ends_with("idx3-ubyte") {
            return Ok(Self::Idx);
        }
        match name.rsplit('.').next().unwrap_or_default() {
            "csv" | "tsv" | "data" | "txt" => Ok(Self::Csv),
            "arff" => Ok(Self::Arff),
            "svm" | "svmlight" | "libsvm" => Ok(Self::Svmlight),
            _ => {
                let known = ".csv, .tsv, .data, .txt, .arff, .svm, .svmlight, .libsvm or -idx3-ubyte";
                let problem = format!("the name does not say the format; it must end in {known}");
                Err(Error::Format(problem).in_file(path))
            }
        }
    }
}

/// Reads a file in the format that its name says; `.gz` may follow.
pub fn open(path: &Path, options: &Options) -> Result<Table> {
    let table = match Format::of(path)? {
        Format::Idx => return open_idx(path),
        Format::Csv => file(path).and_then(|file| csv(file, options)),
        Format::Arff => file(path).and_then(|file| arff(file, &options.label)),
        Format::Svmlight => file(path).and_then(|file| svmlight(file, options.width)),
    };
    table.map_err(|error| error.in_file(path))
}

/// Reads images and the labels beside them.
fn open_idx(path: &Path) -> Result<Table> {
    let beside = labels_beside(path).map_err(|error| error.in_file(path))?;
    let labels = file(&beside).map_err(|error| error.in_file(&beside))?;
    file(path).and_then(|images| idx(images, labels)).map_err(|error| error.in_file(path))
}

/// The file of labels, gzipped or not, whichever there is.
fn labels_beside(path: &Path) -> Result<PathBuf> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let labels = name.replace("images", "labels").replace("idx3", "idx1");
    if labels == name || !labels.contains("labels") {
        let remedy = "images are called `...images-idx3-ubyte`, and their labels `...labels-idx1-ubyte`";
        return Err(Error::Format(format!("no labels are known for it; {remedy}")));
    }
    let bare = labels.trim_end_matches(".gz");
    let candidates =
        [labels.clone(), bare.to_string(), format!("{bare}.gz")].map(|name| path.with_file_name(name));
    let [first, ..] = &candidates;
    Ok(candidates.iter().find(|path| path.exists()).unwrap_or(first).clone())
}

fn file(path: &Path) -> Result<File> {
    File::open(path).map_err(|error| Error::Format(format!("cannot be opened ({error}); check the path")))
}

/// The place of a column among `width`, whose names are known or not.
fn place(column: &Column, names: Option<&[String]>, width: usize) -> Result<usize> {
    if width < 2 {
        return Err(Error::Format("there must be a label and at least one feature in each row".into()));
    }
    match (column, names) {
        (Column::Last, _) => Ok(width - 1),
        (Column::Index(index), _) if *index < width => Ok(*index),
        (Column::Index(index), _) => Err(Error::parameter(
            "label",
            format!("column {index}"),
            format!("there are {width}, counted from 0"),
        )),
        (Column::Name(name), Some(names)) => named(name, names),
        (Column::Name(name), None) => {
            let remedy = "columns have no names without a header; give the label's place";
            Err(Error::parameter("label", format!("`{name}`"), remedy))
        }
    }
}

fn named(name: &str, names: &[String]) -> Result<usize> {
    let mut places = (0..names.len()).filter(|&place| names[place] == name);
    match (places.next(), places.next()) {
        (Some(place), None) => Ok(place),
        (None, _) => {
            let remedy = format!("the columns are {}", source::show(&names.join(", ")));
            Err(Error::parameter("label", format!("`{name}`"), remedy))
        }
        (Some(_), Some(_)) => {
            let remedy = "several columns have this name; give the label's place";
            Err(Error::parameter("label", format!("`{name}`"), remedy))
        }
    }
}
