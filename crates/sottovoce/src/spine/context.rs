//! How a run is done: where the files of its spec are, its seed, who is told how far it is, and where its state is kept.

use std::io::Write;
use std::path::{Path, PathBuf};

use sottovoce_fault::file;
use sottovoce_report::store;
use sottovoce_simulator::consensus::Trainer;

use crate::experiment::Experiment;
use crate::{Error, Result, deep, require};

/// Is told how far a run is.
pub trait Progress: Sync {
    /// A part of the work begins, in so many steps.
    fn begin(&self, steps: usize, what: &str);
    /// One step more is done; where `next` is not empty, it is what comes next.
    fn step(&self, next: &str);
    /// So many steps are done, and this is how it goes.
    fn at(&self, done: usize, how: &str);
}

impl Progress for () {
    fn begin(&self, _: usize, _: &str) {}
    fn step(&self, _: &str) {}
    fn at(&self, _: usize, _: &str) {}
}

/// Computes the gradients of a net elsewhere than on the processor.
pub type Elsewhere<'a> = dyn Fn(&deep::Ready) -> Result<Option<Box<dyn Trainer>>> + 'a;

/// How a run is done.
pub struct Context<'a> {
    /// Where relative names of files begin.
    pub folder: &'a Path,
    /// Seed of everything random.
    pub seed: u64,
    /// Who is told how far it is.
    pub progress: &'a dyn Progress,
    /// Where its state is kept.
    pub checkpoints: &'a Checkpoints,
    /// Who computes gradients of nets.
    pub elsewhere: &'a Elsewhere<'a>,
}

impl Context<'_> {
    /// A spec that runs again from anywhere with this seed.
    pub fn again(&self, experiment: Experiment) -> Experiment {
        experiment.with_seed(self.seed).from_anywhere(self.folder)
    }
}

/// Where a run's state is kept.
#[derive(Debug, Clone, Default)]
#[cfg_attr(feature = "flags", derive(clap::Args))]
pub struct Checkpoints {
    /// File in which the run's state is kept.
    #[cfg_attr(feature = "flags", arg(long, value_name = "FILE"))]
    pub checkpoint: Option<PathBuf>,
    /// Go on from the checkpoint; all other options must be those of the first run.
    #[cfg_attr(feature = "flags", arg(long, requires = "checkpoint"))]
    pub resume: bool,
    /// Stop after so many steps or rounds, and keep the state in the checkpoint.
    #[cfg_attr(
        feature = "flags",
        arg(long, value_name = "N", value_parser = crate::experiment::flags::count, requires = "checkpoint")
    )]
    pub pause_after: Option<usize>,
}

impl Checkpoints {
    /// What an earlier run left, where this one goes on from it.
    pub(crate) fn bytes(&self) -> Result<Option<Vec<u8>>> {
        let Some(path) = &self.checkpoint else { return Ok(None) };
        if !self.resume {
            let remedy = "it exists; add --resume to go on from it, or give another name";
            require(!path.exists(), "checkpoint", path.display(), remedy)?;
            store::check_file("checkpoint", path, false)?;
            return Ok(None);
        }
        let unread = |error| self.refused(format!("it cannot be read ({error}); check the name"));
        file::whole(path, file::MOST).map(Some).map_err(unread)
    }

    /// What is wrong with the file.
    pub(crate) fn refused(&self, remedy: impl Into<String>) -> Error {
        let path = self.checkpoint.as_deref().unwrap_or(Path::new(""));
        Error::parameter("checkpoint", path.display(), remedy.into())
    }

    /// Keeps a state, if one is to be kept.
    pub(crate) fn keep(&self, state: impl FnOnce() -> Result<Vec<u8>>) -> Result<()> {
        let Some(path) = &self.checkpoint else { return Ok(()) };
        let bytes = state()?;
        store::write_file("checkpoint", path, true, |file| {
            file.write_all(&bytes).map_err(|error| self.refused(error.to_string()))
        })
    }
}
