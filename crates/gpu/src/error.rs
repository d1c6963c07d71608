//! What can stand in the way of a card. Every message says what to do.

use cudarc::driver::DriverError;
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
    /// There is no card, or no driver for it.
    #[error("`device` is gpu: {0}; install it, or compute on the processor")]
    Missing(String),
    /// The kernels cannot be compiled for this card.
    #[error("`device` is gpu: its kernels are not compiled ({0}); compute on the processor")]
    Compiler(String),
    /// The card or its driver failed.
    #[error(
        "`device` is gpu: it failed ({0}); try again, with fewer runs at a time, or compute on the processor"
    )]
    Device(#[from] DriverError),
    /// Lots and budgets.
    #[error(transparent)]
    Protocol(#[from] sottovoce_protocol::Error),
}

sottovoce_fault::names_parameters!(Error, Protocol);
