//! `sottovoce account FILE.toml`: what an experiment would reveal, without running it.

use std::path::PathBuf;

use clap::Args;
use sottovoce::averaging::{Public, reveal};
use sottovoce::experiment::{Experiment, folder_of};

use super::rumor;
use crate::Global;

/// Arguments of `account FILE.toml`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  sottovoce new averaging > my.toml\n  sottovoce account my.toml\n  sottovoce account my.toml --verbose"
)]
pub(crate) struct File {
    /// The experiment.
    file: PathBuf,
}

impl File {
    pub(crate) fn run(&self, global: &Global) -> anyhow::Result<()> {
        let experiment = Experiment::read(&self.file)?;
        let seed = global.seed_of(&experiment);
        match &experiment {
            Experiment::Averaging(averaging) => {
                let ready = averaging.ready(&folder_of(&self.file), seed, |_| ())?;
                let setting = ready.setting.clone();
                global.print(&reveal(Public::from(&ready), setting)?)
            }
            Experiment::Rumor(rumor) => rumor::print(&rumor.settings(seed)?.rumor()?, 0.0, 1, global),
        }
    }
}
