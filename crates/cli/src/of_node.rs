//! Transcripts that a node wrote: told apart from those of simulations, and refused where this program was built without nodes.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::IgnoredAny;
use sottovoce_fault::file;

use crate::Global;
use crate::account::unused;

/// What only a node's file has.
#[derive(Deserialize)]
struct Head {
    #[serde(rename = "node")]
    _node: IgnoredAny,
}

/// Whether a node wrote this file. What cannot be read is left to whoever reads it.
pub(crate) fn is(path: &Path) -> bool {
    file::whole(path, file::MOST).is_ok_and(|text| serde_json::from_slice::<Head>(&text).is_ok())
}

/// What a node's run revealed.
pub(crate) fn account(
    file: &Path,
    observers: &[String],
    delta: Option<f64>,
    global: &Global,
) -> anyhow::Result<()> {
    unused("observers", observers.first(), "everybody who has a budget is accounted for")?;
    unused("delta", delta, "each budget has a delta of its own")?;
    judge::account(file, global)
}

/// Whether nodes did what was agreed on.
pub(crate) fn audit(files: &[PathBuf], observers: &[String], global: &Global) -> anyhow::Result<()> {
    unused("observers", observers.first(), "what is held against a node is everything that it did")?;
    judge::audit(files, global)
}

#[cfg(feature = "node")]
use crate::node::transcript as judge;

#[cfg(not(feature = "node"))]
mod judge {
    use super::*;

    fn unknown(file: &Path) -> anyhow::Result<()> {
        anyhow::bail!(
            "`transcript` is {}: a node wrote it, and this program was built without nodes; build it with `--features node`",
            file.display()
        )
    }

    pub(super) fn account(file: &Path, _: &Global) -> anyhow::Result<()> {
        unknown(file)
    }

    pub(super) fn audit(files: &[PathBuf], _: &Global) -> anyhow::Result<()> {
        files.first().map_or(Ok(()), |file| unknown(file))
    }
}
