//! Exit codes: what scripts may rely on.

use std::io::{self, ErrorKind};

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

/// The code of an error.
pub(crate) fn code(error: &anyhow::Error) -> u8 {
    let failed = |cause: &(dyn std::error::Error + 'static)| {
        let of_system = cause.downcast_ref::<io::Error>().map(io::Error::kind);
        let of_json = cause.downcast_ref::<serde_json::Error>().and_then(serde_json::Error::io_error_kind);
        of_system.or(of_json).is_some_and(is_the_machines)
    };
    #[cfg(feature = "node")]
    if let Some(error) = error.downcast_ref::<sottovoce_node::Error>() {
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
