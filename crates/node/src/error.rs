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
    Scheme(#[from] sottovoce_protocol::Error),
    /// The accountant.
    #[error(transparent)]
    Views(#[from] sottovoce_views::Error),
    /// The budget does not allow it. Nothing was spent, and nothing sent.
    #[error(
        "`budget` towards {who}, data set `{label}`: this run takes {asked}, and {left} is left; agree on more noise, or use another data set. Nothing was sent"
    )]
    Overspent {
        /// Towards whom ...
        observer: Observer,
        /// ... as people call it.
        who: String,
        /// Of which data set.
        label: String,
        /// What it would cost, in the budget's own words.
        asked: String,
        /// What is left.
        left: String,
    },
    /// The ledger could not be read or written. Nothing was sent that it does not hold.
    #[error("{what}: {cause}; nothing is sent that is not stored")]
    Storage {
        /// What failed.
        what: String,
        /// Why.
        cause: String,
    },
    /// Another process has the ledger open, or is in the run.
    #[error("{0} is open in another process")]
    Running(String),
    /// This node's key is in use by another process, here or elsewhere.
    #[error("this node's key runs in another process as well, on this machine or another")]
    RunsTwice,
    /// A peer's key is in use by two processes: it has signed one message in two ways.
    #[error("{0}")]
    SaidTwice(String),
    /// Others have seen more of this peer than its ledger holds.
    #[error("{0}")]
    Doubted(String),
    /// Peers do not agree, or one of them says different things to different peers.
    #[error("{why}")]
    Disagreement {
        /// About what.
        why: String,
        /// Peers whom it is about, by name.
        peers: Vec<String>,
    },
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
    /// The ledger holds what this program did not write. Nothing is sent from it.
    #[error("the ledger is damaged: {0}; nothing was sent")]
    Damaged(String),
    /// The run does not go on for now: run it again. What was said stays said.
    #[error("{why}")]
    Halted {
        /// What happened, and what to do.
        why: String,
        /// Peers who were waited for in vain, by name.
        peers: Vec<String>,
        /// Whether the others may have ended it meanwhile: it had begun here, and nobody of them was heard since.
        begun: bool,
    },
    /// The run is over for good, here and elsewhere, and has no result. What was paid stays paid.
    #[error("{why}")]
    Over {
        /// What happened.
        why: String,
        /// Who stopped responding first, by name.
        peers: Vec<String>,
        /// In which round.
        round: Option<u64>,
    },
    /// The run took its course, and its result is not here; nobody has said that it has one.
    #[error("{0}")]
    NoResult(String),
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
    /// Peers do not agree.
    pub fn disagreement(why: impl Into<String>, peers: &[String]) -> Self {
        Self::Disagreement { why: why.into(), peers: peers.to_vec() }
    }

    /// The same with peers by these names in the place of their keys; and the names of all peers that it is about.
    pub fn named(mut self, roster: &[Name], names: &[String]) -> (Self, Vec<String>) {
        let mut peers = self.peers().to_vec();
        let mut name = |text: &mut String| {
            for (key, name) in roster.iter().zip(names) {
                let by_key = format!("peer {key:?}");
                if text.contains(&by_key) {
                    *text = text.replace(&by_key, name);
                    peers.push(name.clone());
                }
            }
        };
        match &mut self {
            Self::Parameter(fault) => {
                name(&mut fault.value);
                name(&mut fault.remedy);
            }
            Self::Overspent { observer, who, .. } => {
                let of = |keys: &[Name]| {
                    let known = |key| Some(names.get(roster.iter().position(|other| other == key)?)?.clone());
                    keys.iter().filter_map(known).collect()
                };
                peers = match observer {
                    Observer::Peer(key) => of(&[*key]),
                    Observer::Coalition(keys) => of(keys),
                    Observer::WireTapper => Vec::new(),
                };
                if !peers.is_empty() {
                    *who = observer.called(roster, names);
                }
            }
            Self::Doubted(why) | Self::SaidTwice(why) | Self::Disagreement { why, .. } => name(why),
            _ => {}
        }
        peers.dedup();
        (self, peers)
    }

    /// Something about the ledger or the machine it is on.
    pub(crate) fn storage(what: impl Into<String>, cause: impl Display) -> Self {
        Self::Storage { what: what.into(), cause: cause.to_string() }
    }

    pub(crate) fn file(what: &str, path: &Path, cause: impl Display) -> Self {
        Self::storage(format!("could not {what} {}", path.display()), cause)
    }

    /// The same of a place that a user names: one that is not there, or is something else, is no matter of the disk.
    pub(crate) fn place(field: &'static str, path: &Path, cause: &std::io::Error) -> Self {
        use std::io::ErrorKind::{AlreadyExists, InvalidInput, IsADirectory, NotADirectory, NotFound};
        match cause.kind() {
            NotFound | NotADirectory | IsADirectory | AlreadyExists | InvalidInput => {
                Self::parameter(field, path.display(), format!("{cause}; give another place"))
            }
            _ => Self::file("make", path, cause),
        }
    }

    /// What it is for a program: a word, what a command that meets it exits with, and what to do next.
    fn outcome(&self) -> (&'static str, u8, &'static str) {
        match self {
            Self::Parameter(_)
            | Self::Privacy(_)
            | Self::Experiment(_)
            | Self::Topology(_)
            | Self::Scheme(_)
            | Self::Views(_) => ("bad-input", 2, "mend what the message names, and run it again"),
            Self::Overspent { .. } => ("budget", 3, "agree on more noise, or stay away from this run"),
            Self::Storage { .. } => ("storage", 3, "make room or mend the disk, and run it again"),
            Self::Running(_) => ("busy", 3, "wait until the other process has ended"),
            Self::Halted { begun: true, .. } => (
                "run-again",
                4,
                "ask one of the others for `node status`: if the run goes on there, run it again",
            ),
            Self::Garbled { .. } | Self::Halted { .. } => {
                ("run-again", 4, "run it again: the same run goes on")
            }
            Self::Elsewhere { code, .. } => ("elsewhere", *code, "see the message of that process"),
            Self::RunsTwice | Self::SaidTwice(_) => {
                ("runs-twice", 5, "stop one of the two, and run the other again")
            }
            Self::Doubted(_) => ("old-ledger", 5, "bring the newest ledger back"),
            Self::Disagreement { .. } | Self::OtherRun { .. } => {
                ("disagreement", 5, "compare with the others what was agreed on, and sign it again")
            }
            Self::Over { .. } => ("over-for-good", 6, "ask the peers that are named, and agree on a new run"),
            Self::NoResult(_) => {
                ("no-result", 7, "ask the others whether they have a result; else agree on a new run")
            }
            Self::Damaged(_) => (
                "damaged-ledger",
                8,
                "bring the newest whole copy back if nothing was run since; else count everything as spent",
            ),
        }
    }

    /// What a command that meets it exits with: 2 bad input, 3 budget or disk, 4 run it again, 5 disagreement, 6 over for good, 7 over without a result, 8 damaged ledger.
    pub fn exit_code(&self) -> u8 {
        self.outcome().1
    }

    /// The kind of error, in a word that does not change.
    pub fn kind(&self) -> &'static str {
        self.outcome().0
    }

    /// What to do next, in a sentence.
    pub fn next_step(&self) -> &'static str {
        self.outcome().2
    }

    /// Peers that it names.
    pub fn peers(&self) -> &[String] {
        match self {
            Self::Halted { peers, .. } | Self::Over { peers, .. } | Self::Disagreement { peers, .. } => peers,
            _ => &[],
        }
    }

    /// The round in which it happened.
    pub fn round(&self) -> Option<u64> {
        if let Self::Over { round, .. } = self { *round } else { None }
    }
}

impl From<sottovoce::Error> for Error {
    fn from(cause: sottovoce::Error) -> Self {
        Self::Experiment(Arc::new(cause))
    }
}

impl From<redb::Error> for Error {
    fn from(cause: redb::Error) -> Self {
        use std::io::ErrorKind::{InvalidData, UnexpectedEof};
        match &cause {
            redb::Error::Corrupted(cause) => Self::Damaged(cause.clone()),
            redb::Error::Io(cause) if matches!(cause.kind(), InvalidData | UnexpectedEof) => {
                Self::Damaged(cause.to_string())
            }
            cause => Self::storage("the ledger", cause),
        }
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
        Self::Damaged(format!("it holds what this program did not write ({cause})"))
    }
}
