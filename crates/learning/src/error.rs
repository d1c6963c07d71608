//! What can be wrong with a table, a file or a parameter. Every message names the field, the value and the remedy.

use std::fmt::Display;

use sottovoce_fault::Parameter;
use thiserror::Error;

/// Shorthand for results of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// A refusal. Nothing has been built when one is returned.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Error {
    /// A parameter is outside its domain.
    #[error(transparent)]
    Parameter(#[from] Parameter),
    /// A row of a table does not suit.
    #[error("`{field}` is {value} in row {row}: {remedy}")]
    Row {
        /// What is wrong about the row.
        field: &'static str,
        /// Its value.
        value: String,
        /// The row, counted from 0.
        row: usize,
        /// What would be accepted.
        remedy: String,
    },
    /// A line of a file cannot be read.
    #[error("line {line}: {problem}")]
    Line {
        /// Line number, from 1.
        line: usize,
        /// What is wrong and what is expected.
        problem: String,
    },
    /// Data as a whole does not have the expected shape, or cannot be read.
    #[error("{0}")]
    Format(String),
    /// Something is wrong with a file.
    #[error("`{path}`: {problem}")]
    File {
        /// The file, as given.
        path: String,
        /// What is wrong with it.
        problem: Box<Error>,
    },
}

sottovoce_fault::names_parameters!(Error, File { problem });

impl Error {
    /// A row that does not suit.
    pub fn row(field: &'static str, value: impl Display, row: usize, remedy: impl Into<String>) -> Self {
        Self::Row { field, value: value.to_string(), row, remedy: remedy.into() }
    }

    /// A bad line of a file.
    pub fn line(line: usize, problem: impl Into<String>) -> Self {
        Self::Line { line, problem: problem.into() }
    }

    /// The same, said of a file.
    pub(crate) fn in_file(self, path: &std::path::Path) -> Self {
        Self::File { path: path.display().to_string(), problem: Box::new(self) }
    }
}
