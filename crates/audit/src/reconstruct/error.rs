//! What can be wrong with a question to the attack. Every message names the field, the value and the remedy.

use sottovoce_fault::Parameter;

/// Shorthand for results of this module.
pub type Result<T> = std::result::Result<T, Error>;

/// A refusal. Nothing has been run when one is returned.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// A parameter is outside its domain.
    #[error(transparent)]
    Parameter(#[from] Parameter),
    /// The graph or its weights are not fit for the protocol.
    #[error(transparent)]
    Topology(#[from] sottovoce_topology::Error),
    /// A privacy parameter is outside its domain.
    #[error(transparent)]
    Privacy(#[from] sottovoce_privacy::Error),
    /// The accountant refused the question.
    #[error(transparent)]
    Views(#[from] sottovoce_views::Error),
    /// The protocol refused the set-up.
    #[error(transparent)]
    Protocol(#[from] sottovoce_protocol::Error),
    /// The decomposition of the messages did not converge.
    #[error("the singular values of {0} messages did not converge: ask for fewer steps or observers")]
    Unsolved(usize),
}

sottovoce_fault::names_parameters!(Error, Topology, Privacy, Views, Protocol);
