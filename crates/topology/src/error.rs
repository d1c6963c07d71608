//! What can be wrong with a graph, a file or a parameter. Every message names the field, the value and the remedy.

use sottovoce_fault::Parameter;
use thiserror::Error;

/// Shorthand for results of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// A refusal. Nothing has been built or written when one is returned.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Error {
    /// A parameter is outside its domain.
    #[error(transparent)]
    Parameter(#[from] Parameter),
    /// A line of a file cannot be read.
    #[error("line {line}: {problem}")]
    Line {
        /// Line number, from 1.
        line: usize,
        /// What is wrong and what is expected.
        problem: String,
    },
    /// A file as a whole does not have the expected shape.
    #[error("{0}")]
    Format(String),
    /// The operation needs a connected graph.
    #[error(
        "the graph is not connected ({components} components, the largest has {largest} of {nodes} nodes): {remedy}"
    )]
    Disconnected {
        /// Number of connected components.
        components: usize,
        /// Nodes in the largest one.
        largest: usize,
        /// Nodes in all.
        nodes: usize,
        /// What to do about it.
        remedy: String,
    },
}

sottovoce_fault::names_parameters!(Error);

impl Error {
    /// A bad line of a file.
    pub fn line(line: usize, problem: impl Into<String>) -> Self {
        Self::Line { line, problem: problem.into() }
    }
}
