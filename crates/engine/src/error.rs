//! What can be wrong with a question or a run. Every message names the field, the value and the remedy.

use sottovoce_fault::Parameter;
use thiserror::Error;

/// Shorthand for results of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A refusal, or a failure on the way.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A parameter is outside its domain, or does not go with the others.
    #[error(transparent)]
    Parameter(#[from] Parameter),
    /// Something else stands in the way: what it is, and what to do about it.
    #[error("{0}")]
    Refused(String),
    /// Graphs and weights.
    #[error(transparent)]
    Topology(#[from] sottovoce_topology::Error),
    /// Losses and noises.
    #[error(transparent)]
    Privacy(#[from] sottovoce_privacy::Error),
    /// Views of observers.
    #[error(transparent)]
    Views(#[from] sottovoce_views::Error),
    /// Descriptions of runs, and simulations.
    #[error(transparent)]
    Protocol(#[from] sottovoce_protocol::Error),
    /// Tables and tasks.
    #[error(transparent)]
    Learning(#[from] sottovoce_learning::Error),
    /// Attacks.
    #[error(transparent)]
    Audit(#[from] sottovoce_audit::reconstruct::Error),
    /// Pages and pictures.
    #[error(transparent)]
    Report(#[from] sottovoce_report::Error),
    /// A file cannot be read or written: which one, and what to do.
    #[error("{problem}")]
    File {
        /// The field, the value and the remedy.
        problem: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// Data that are not what their format asks for.
    #[error("{problem}")]
    Json {
        /// The field, the value and the remedy.
        problem: String,
        /// What the reader said.
        source: serde_json::Error,
    },
}

sottovoce_fault::names_parameters!(Error, Topology, Privacy, Views, Protocol, Learning, Audit);

impl Error {
    /// What was asked for is not there.
    pub fn missing(field: &'static str, remedy: impl Into<String>) -> Self {
        Self::parameter(field, "missing", remedy)
    }

    /// Something that no single parameter is to blame for.
    pub fn refused(problem: impl Into<String>) -> Self {
        Self::Refused(problem.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_name_field_value_and_remedy() {
        let said = require(false, "iterations", 0, "give at least 1").unwrap_err().to_string();
        assert_eq!(said, "`iterations` is 0: give at least 1");
        let nothing = f64::NAN;
        assert!(require(nothing > 0.0, "sigma", nothing, "give a number").is_err());
        assert_eq!(
            Error::missing("graph", "gossip needs one").to_string(),
            "`graph` is missing: gossip needs one"
        );
    }
}
