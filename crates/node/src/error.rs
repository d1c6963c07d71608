//! What stops a peer. Every message says what was wrong and what would be right; nothing was sent that is not in the ledger.

use std::fmt::Display;
use std::path::Path;
use std::sync::Arc;

use sottovoce_fault::Parameter;
use thiserror::Error;

use crate::{Name, Observer};

/// Shorthand for results of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a peer goes no further.
#[derive(Debug, Clone, Error)]
pub enum Error {
    /// A parameter is outside its domain.
    #[error(transparent)]
    Parameter(#[from] Parameter),
    /// A number of the accountant's.
    #[error(transparent)]
    Privacy(#[from] sottovoce_privacy::Error),
    /// An experiment, or what it needs.
    #[error(transparent)]
    Experiment(Arc<sottovoce::Error>),
    /// The graph.
    #[error(transparent)]
    Topology(#[from] sottovoce_topology::Error),
    /// Who mixes with whom.
    #[error(transparent)]
    Scheme(#[from] sottovoce_simulator::Error),
    /// The accountant.
    #[error(transparent)]
    Views(#[from] sottovoce_views::Error),
    /// The budget does not allow it. Nothing was spent, and nothing sent.
    #[error(
        "`budget` towards {observer}, data set `{label}`: this run takes {asked}, and {left} is left; agree on more noise, or use another data set. Nothing was sent"
    )]
    Overspent {
        /// Towards whom.
        observer: Observer,
        /// Of which data set.
        label: String,
        /// What it would cost, in the budget's own words.
        asked: String,
        /// What is left.
        left: String,
    },
    /// The ledger could not be read or written. Nothing was sent that it does not hold.
    #[error("{what}: {cause}; nothing was sent")]
    Storage {
        /// What failed.
        what: String,
        /// Why.
        cause: String,
    },
    /// Another process has the ledger open.
    #[error("{0} is open in another process: the node is running already; nothing was sent")]
    Running(String),
    /// Others have seen more of this peer than its ledger holds.
    #[error("{0}")]
    Doubted(String),
    /// Peers do not agree, or one of them says different things to different peers.
    #[error("{0}")]
    Disagreement(String),
    /// A neighbour runs something else.
    #[error(
        "`agreement` is {here:?} here and {there:?} at peer {by:?}: compare the two with `node agree diff`"
    )]
    OtherRun {
        /// What was agreed on here.
        here: crate::Hash,
        /// What was agreed on there.
        there: crate::Hash,
        /// By whom.
        by: Name,
    },
    /// The run does not go on for now. What was said stays said.
    #[error("{0}")]
    Halted(String),
    /// Another process of ours has failed.
    #[error("{said}")]
    Elsewhere {
        /// What it says.
        said: String,
        /// What it exits with.
        code: u8,
    },
    /// Something that arrived from a peer is no message.
    #[error("from {from:?}: {what}")]
    Garbled {
        /// The sender.
        from: Name,
        /// What is wrong with it.
        what: String,
    },
}

sottovoce_fault::names_parameters!(Error, Privacy, Experiment, Topology, Scheme, Views);

impl Error {
    /// Something about the ledger or the machine it is on.
    pub(crate) fn storage(what: impl Into<String>, cause: impl Display) -> Self {
        Self::Storage { what: what.into(), cause: cause.to_string() }
    }

    pub(crate) fn file(what: &str, path: &Path, cause: impl Display) -> Self {
        Self::storage(format!("could not {what} {}", path.display()), cause)
    }

    /// What a command that meets it exits with: 2 bad input, 3 budget, 4 halted, 5 disagreement, 1 the machine.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Parameter(_)
            | Self::Privacy(_)
            | Self::Experiment(_)
            | Self::Topology(_)
            | Self::Scheme(_)
            | Self::Views(_) => 2,
            Self::Overspent { .. } | Self::Storage { .. } | Self::Running(_) => 3,
            Self::Garbled { .. } | Self::Halted(_) => 4,
            Self::Elsewhere { code, .. } => *code,
            Self::Doubted(_) | Self::Disagreement(_) | Self::OtherRun { .. } => 5,
        }
    }
}

impl From<sottovoce::Error> for Error {
    fn from(cause: sottovoce::Error) -> Self {
        Self::Experiment(Arc::new(cause))
    }
}

impl From<redb::Error> for Error {
    fn from(cause: redb::Error) -> Self {
        Self::storage("the ledger", cause)
    }
}

/// All of the ledger's own errors are one.
macro_rules! of_ledger {
    ($($kind:ident),*) => {
        $(impl From<redb::$kind> for Error {
            fn from(cause: redb::$kind) -> Self {
                redb::Error::from(cause).into()
            }
        })*
    };
}

of_ledger!(DatabaseError, TransactionError, TableError, StorageError, CommitError, SetDurabilityError);

impl From<postcard::Error> for Error {
    fn from(cause: postcard::Error) -> Self {
        Self::storage("the ledger holds what this program did not write", cause)
    }
}
