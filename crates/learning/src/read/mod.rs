//! Readers of tables: comma-separated values and idx images, gzipped or not.
//!
//! | format | [`open`] takes it for | label |
//! | --- | --- | --- |
//! | [`csv`] | `.csv`, `.tsv`, `.data`, `.txt` | a column, numbers or names |
//! | [`idx`] | `...images-idx3-ubyte`, with its `...labels-idx1-ubyte` beside it | a class for each image |
//!
//! Features are numbers, or categories whose values are all known beforehand. A column may name who holds a row ([`Holders`]).
//!
//! Names of labels become classes 0, 1, ..., sorted. What they were called is in [`Table::classes`], and [`Table::binary`] makes -1 and +1 of them. Classes collected from rows depend on everybody's rows:
//! [`Table::binary`] and [`Table::classified`] do not mind, whoever uses the numbers as they are must. What cannot be read is refused with its line, and
//! nothing is allocated because a header says so: memory grows with what has been read.

mod csv;
mod idx;
mod labels;
mod memory;
mod rows;
mod source;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;

pub use csv::csv;
pub use idx::idx;
pub(crate) use idx::idx_bytes;
pub use memory::Rows;
pub(crate) use source::{plain, show};

use crate::{Error, Result, Table};

/// Larger dense tables (2 GiB of numbers) are refused where few bytes can ask for them.
const MOST_NUMBERS: usize = 1 << 28;

/// A table, who holds its rows, and which bytes it came from.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The rows.
    pub table: Table,
    /// Who holds them, where a column says so.
    pub holders: Option<Holders>,
    /// What whoever gave the file should know: an index was left out, a column merely counts rows.
    pub notes: Vec<String>,
    /// The files it came from.
    pub sources: Vec<Source>,
}

impl Found {
    /// A table of which nothing is to be said.
    fn of(table: Table) -> Self {
        Self { table, holders: None, notes: Vec::new(), sources: Vec::new() }
    }
}

/// Who holds which rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Holders {
    /// The names of the peers, in the order of their first rows.
    pub names: Vec<String>,
    /// The peer of each row, by its place among the names.
    pub of_rows: Vec<usize>,
    /// How many rows have been read.
    rows: usize,
}

/// A file that was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Source {
    /// The name of the file, without its folder.
    pub file: String,
    /// The SHA-256 of its bytes as they are, packed or not, in hexadecimal. Never shown: who knows all rows but one could find that one by guessing.
    #[serde(skip)]
    pub sha256: String,
}

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

impl Column {
    /// A place, if it is a whole number, and a name otherwise.
    pub fn parse(text: &str) -> Self {
        text.parse().map_or_else(|_| Self::Name(text.to_owned()), Self::Index)
    }
}

/// Whether the first line holds the names of the columns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Header {
    /// It does if a column is given by name, or if no feature in it is a number. Where only some are, or where they are just `0,1,2,...`, it must be said.
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

/// What stands for a number that is missing (an empty field, `?`, `NA`, `NaN`, `null`).
///
/// Not the mean of the others: that would be about everybody's rows.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum Missing {
    /// Nothing: the row is refused with its line and column.
    #[default]
    Refuse,
    /// A public number, before scaling; categories are then none of their values.
    Value(f64),
}

/// What a file does not say itself. The default suits most files whose label is the last column.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Options {
    /// The column of the label, in comma-separated values.
    pub label: Column,
    /// Whether comma-separated values have a header.
    pub header: Header,
    /// What separates comma-separated values.
    pub separator: Separator,
    /// The column that names who holds a row, in comma-separated values.
    pub peer: Option<Column>,
    /// Columns that are left out.
    pub left: Vec<Column>,
    /// Columns that hold one of several values, and all values there can be, by name or place.
    pub categories: BTreeMap<String, Vec<String>>,
    /// What stands for numbers that are missing.
    pub missing: Missing,
}

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Comma-separated values.
    Csv,
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
        let convert =
            |what| format!("{what} is not read; convert it to CSV, as docs/how-to/own-table.md says");
        let problem = match name.rsplit('.').next().unwrap_or_default() {
            "csv" | "tsv" | "data" | "txt" => return Ok(Self::Csv),
            "arff" => convert("ARFF"),
            "svm" | "svmlight" | "libsvm" => convert("SVMlight"),
            _ => {
                let known = ".csv, .tsv, .data, .txt or -idx3-ubyte";
                format!("the name does not say the format; it must end in {known}")
            }
        };
        Err(Error::Format(problem).in_file(path))
    }
}

/// Reads a file in the format that its name says; `.gz` may follow.
pub fn open(path: &Path, options: &Options) -> Result<Found> {
    let format = Format::of(path)?;
    options.check(format).map_err(|error| error.in_file(path))?;
    let raw = file(path)?;
    let beside =
        if format == Format::Idx { Some(labels_beside(path).map_err(|e| e.in_file(path))?) } else { None };
    let labels = beside.as_deref().map(file).transpose()?.unwrap_or_default();
    let found = match format {
        Format::Idx => idx(raw.as_slice(), labels.as_slice()),
        Format::Csv => csv(raw.as_slice(), options),
    };
    let mut found = found.map_err(|error| error.in_file(path))?;
    found.sources.push(Source::new(path, &raw));
    found.sources.extend(beside.map(|path| Source::new(&path, &labels)));
    Ok(found)
}

impl Options {
    /// Refuses what the format has no use for.
    fn check(&self, format: Format) -> Result<()> {
        let of_columns = [
            ("header", self.header != Header::Auto),
            ("label", self.label != Column::Last),
            ("peer-column", self.peer.is_some()),
            ("drop", !self.left.is_empty()),
            ("category", !self.categories.is_empty()),
        ];
        match of_columns.into_iter().find(|(_, given)| *given && format != Format::Csv) {
            Some((field, _)) => {
                Err(Error::parameter(field, "given", "only CSV files have columns; leave it out"))
            }
            None => Ok(()),
        }
    }
}

impl Source {
    pub(crate) fn new(path: &Path, raw: &[u8]) -> Self {
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Self { file, sha256: source::sha256(raw) }
    }
}

/// The file of labels, gzipped or not, whichever there is.
pub(crate) fn labels_beside(path: &Path) -> Result<PathBuf> {
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

/// The text of a file.
pub(crate) fn text(path: &Path) -> Result<String> {
    let problem = |error| Error::Format(format!("cannot be read ({error}); check the file"));
    let text =
        sottovoce_fault::file::open(path, sottovoce_fault::file::MOST).and_then(std::io::read_to_string);
    text.map_err(|error| problem(error).in_file(path))
}

/// The bytes of a file.
pub(crate) fn file(path: &Path) -> Result<Vec<u8>> {
    let closed = |error: std::io::Error| Error::Format(format!("cannot be opened ({error}); check the path"));
    sottovoce_fault::file::open(path, sottovoce_fault::file::MOST)
        .map_err(closed)
        .and_then(source::bytes)
        .map_err(|error| error.in_file(path))
}
