//! Exit codes and documents of failure: what scripts may rely on.

use std::io::{self, ErrorKind};

use serde::Serialize;

use crate::ask::Fault;
use crate::audit::Failed;

/// A claim fell: an audit found more than was promised.
const CLAIM_FELL: u8 = 1;
/// Bad input: an option, a value, a name or a file's content. Nothing was written.
const BAD_INPUT: u8 = 2;
/// The machine failed: what was asked for was right, and could not be read or written.
const FAILED_IO: u8 = 3;

/// As help and manual have it.
pub(crate) const HELP: &str = "Exit codes:
  0  done, and every claim that was tested stands
  1  a claim fell: an attack found more than was promised
  2  bad input: an option, a value, a name, a file's content; nothing was written
  3  failed input or output: the disk is full, permission is missing, a device fails";

/// A command that came to nothing, as `--json` prints it.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Failure {
    failure: Told,
}

/// Why a command came to nothing.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct Told {
    /// A word that does not change: `bad-input`, `storage`, `claim-fell`; of nodes also `budget`, `busy`, `run-again`, `runs-twice`, `old-ledger`, `disagreement`, `over-for-good`,
    /// `no-result`, `damaged-ledger`, `elsewhere`.
    kind: &'static str,
    /// What the program exits with.
    exit_code: u8,
    /// What it says.
    message: String,
    /// The field at fault, where the message names one ...
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<String>,
    /// ... what it is ...
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<String>,
    /// ... and what would be right.
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<String>,
    /// Peers that it is about.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    peers: Vec<String>,
    /// The round in which it happened.
    #[serde(skip_serializing_if = "Option::is_none")]
    round: Option<u64>,
    /// What was spent of the node's data set by then, in all runs together; none where the ledger was not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    spent: Option<Vec<Spent>>,
    /// What to do next.
    next: &'static str,
}

/// What was spent towards an observer.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
pub(crate) struct Spent {
    /// Towards whom.
    pub(crate) observer: String,
    /// Epsilon of all runs together ...
    pub(crate) epsilon: f64,
    /// ... at this delta.
    pub(crate) delta: f64,
    /// The budget.
    pub(crate) budget: f64,
    /// The share of it that is used up, from 0 to 1.
    pub(crate) used: f64,
}

/// The document of an error that a fault was made from.
pub(crate) fn document(error: &anyhow::Error, fault: &Fault) -> Failure {
    let (kind, next) = match fault.code {
        CLAIM_FELL => ("claim-fell", "see what the attack found"),
        FAILED_IO => ("storage", "make room or mend the disk, and run it again"),
        _ => ("bad-input", "mend what the message names, and run it again"),
    };
    let [field, value, remedy] = fault.field.clone().map_or([None, None, None], |all| all.map(Some));
    let (exit_code, message) = (fault.code, fault.message.clone());
    let (peers, round, spent) = (Vec::new(), None, None);
    let told = Told { kind, exit_code, message, field, value, remedy, peers, round, spent, next };
    Failure { failure: of_node(error, told) }
}

#[cfg(feature = "node")]
fn of_node(error: &anyhow::Error, mut told: Told) -> Told {
    let run = error.downcast_ref::<crate::node::RunFailed>();
    told.spent = run.and_then(|run| run.spent.clone());
    if let Some(error) = run.map(|run| &run.error).or_else(|| error.downcast_ref()) {
        (told.kind, told.next) = (error.kind(), error.next_step());
        let peers = run.map_or_else(|| error.peers(), |run| &run.peers);
        (told.peers, told.round) = (peers.to_vec(), error.round());
    }
    told
}

#[cfg(not(feature = "node"))]
fn of_node(_: &anyhow::Error, told: Told) -> Told {
    told
}

/// The code of an error.
pub(crate) fn code(error: &anyhow::Error) -> u8 {
    let failed = |cause: &(dyn std::error::Error + 'static)| {
        let of_system = cause.downcast_ref::<io::Error>().map(io::Error::kind);
        let of_json = cause.downcast_ref::<serde_json::Error>().and_then(serde_json::Error::io_error_kind);
        of_system.or(of_json).is_some_and(is_the_machines)
    };
    #[cfg(feature = "node")]
    if let Some(error) = error.downcast_ref::<crate::node::RunFailed>() {
        return error.error.exit_code();
    } else if let Some(error) = error.downcast_ref::<sottovoce_node::Error>() {
        return error.exit_code();
    }
    if error.is::<Failed>() {
        CLAIM_FELL
    } else if error.chain().any(failed) {
        FAILED_IO
    } else {
        BAD_INPUT
    }
}

/// Whether the machine is to blame, and not a name that was given or what a file holds.
fn is_the_machines(kind: ErrorKind) -> bool {
    !matches!(
        kind,
        ErrorKind::NotFound
            | ErrorKind::AlreadyExists
            | ErrorKind::InvalidInput
            | ErrorKind::InvalidData
            | ErrorKind::InvalidFilename
            | ErrorKind::IsADirectory
            | ErrorKind::NotADirectory
            | ErrorKind::UnexpectedEof
    )
}

#[cfg(test)]
mod tests {
    use anyhow::{Context, anyhow};

    use super::*;

    #[test]
    fn a_wrong_name_is_bad_input_and_a_full_disk_is_not() {
        let of = |kind: ErrorKind| {
            let result: Result<(), io::Error> = Err(kind.into());
            result.context("`out` is x").map_err(|error| code(&error))
        };
        assert_eq!(of(ErrorKind::NotFound), Err(BAD_INPUT));
        assert_eq!(of(ErrorKind::StorageFull), Err(FAILED_IO));
        assert_eq!(of(ErrorKind::PermissionDenied), Err(FAILED_IO));
        assert_eq!(code(&anyhow!("`steps` is 0: give 1")), BAD_INPUT);
    }
}
