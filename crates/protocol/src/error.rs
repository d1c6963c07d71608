//! What can be wrong with the description of a run. Every message names the field, the value and the remedy.

use sottovoce_fault::Parameter;
use thiserror::Error;

/// Shorthand for results of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// A refusal. Nothing has been run when one is returned.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Error {
    /// A parameter is outside its domain.
    #[error(transparent)]
    Parameter(#[from] Parameter),
    /// The graph or the mixing matrix is not fit for the protocol.
    #[error(transparent)]
    Topology(#[from] sottovoce_topology::Error),
    /// A budget or a loss is none.
    #[error(transparent)]
    Privacy(#[from] sottovoce_privacy::Error),
    /// A peer waits for a message that nobody will send.
    #[error(
        "peer {peer} never finishes, although every message arrives: give all peers parts of the same scheme"
    )]
    Stuck {
        /// The first such peer.
        peer: usize,
    },
}

sottovoce_fault::names_parameters!(Error, Topology, Privacy);
