//! What can be wrong with a privacy question. Every message names the field, the value and the remedy.

use sottovoce_fault::Parameter;
use thiserror::Error;

/// Shorthand for results of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// A refusal. No budget has been spent and nothing has been composed when one is returned.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Error {
    /// A parameter is outside its domain.
    #[error(transparent)]
    Parameter(#[from] Parameter),
    /// The accountant does not know how to account for this event; it never counts it as zero.
    #[error("{event} is not accounted for by {accountant}: {remedy}")]
    Unsupported {
        /// What was to be composed.
        event: String,
        /// Which accountant refused it.
        accountant: &'static str,
        /// What to use instead.
        remedy: String,
    },
    /// A computation could not reach its certified accuracy.
    #[error("{computation} cannot be certified here: {remedy}")]
    Accuracy {
        /// What was being computed.
        computation: String,
        /// What to change.
        remedy: String,
    },
    /// Two methods answer the same question with intervals that have nothing in common: one of them is wrong.
    #[error(
        "two methods contradict each other, {one} and {other}: this is a fault of the program, please report it; rely on neither"
    )]
    Contradiction {
        /// One answer.
        one: String,
        /// The other.
        other: String,
    },
    /// A budget would be exceeded; nothing was spent.
    #[error("the release would bring the spent privacy to {would_be}, above the budget {budget}: {remedy}")]
    Budget {
        /// What the total would become.
        would_be: String,
        /// The limit.
        budget: String,
        /// What to do instead.
        remedy: String,
    },
}

sottovoce_fault::names_parameters!(Error);
