//! Where a run's state is kept, and how it is taken up again.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{anyhow, ensure};
use clap::Args;
use sottovoce_report::store;

use crate::graph::count;

/// Where a run's state is kept.
#[derive(Debug, Default, Args)]
pub(super) struct Checkpoints {
    /// File in which the run's state is kept.
    #[arg(long, value_name = "FILE")]
    pub(super) checkpoint: Option<PathBuf>,
    /// Go on from the checkpoint; all other options must be those of the first run.
    #[arg(long, requires = "checkpoint")]
    resume: bool,
    /// Stop after so many steps or rounds, and keep the state in the checkpoint.
    #[arg(long, value_name = "N", value_parser = count, requires = "checkpoint")]
    pub(super) pause_after: Option<usize>,
}

impl Checkpoints {
    /// What an earlier run left, where this one goes on from it.
    pub(super) fn bytes(&self) -> anyhow::Result<Option<Vec<u8>>> {
        let Some(path) = &self.checkpoint else { return Ok(None) };
        let name = path.display();
        if !self.resume {
            let remedy = "it exists; add --resume to go on from it, or give another name";
            ensure!(!path.exists(), "`checkpoint` is {name}: {remedy}");
            store::check_file("checkpoint", path, false)?;
            return Ok(None);
        }
        let unread = |error| anyhow!("`checkpoint` is {name}: it cannot be read ({error}); check the name");
        sottovoce_fault::file::whole(path, sottovoce_fault::file::MOST).map(Some).map_err(unread)
    }

    /// Keeps a state, if one is to be kept.
    pub(super) fn keep(&self, state: impl FnOnce() -> anyhow::Result<Vec<u8>>) -> anyhow::Result<()> {
        let Some(path) = &self.checkpoint else { return Ok(()) };
        let bytes = state()?;
        store::write_file("checkpoint", path, true, |file| Ok::<_, anyhow::Error>(file.write_all(&bytes)?))
    }
}
