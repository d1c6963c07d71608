//! `sottovoce account FILE.toml`: what an experiment would reveal, without running it.

use std::path::PathBuf;

use clap::Args;
use sottovoce::experiment::{Experiment, folder_of};

use super::averaging::{self, Towards};
use super::{rumor, unused};
use crate::Global;

/// Arguments of `account FILE.toml`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  sottovoce new averaging > my.toml\n  sottovoce account my.toml\n  sottovoce account my.toml --verbose"
)]
pub(crate) struct File {
    /// The experiment.
    file: PathBuf,
    /// Peers who pool what they hear, by name, separated by commas (default: those of the experiment).
    #[arg(long, value_name = "V,...", value_delimiter = ',')]
    observers: Vec<String>,
    #[command(flatten)]
    towards: Towards,
}

impl File {
    pub(crate) fn run(&self, global: &Global) -> anyhow::Result<()> {
        let experiment = Experiment::read(&self.file)?;
        let seed = global.seed_of(&experiment);
        if !matches!(experiment, Experiment::Averaging(_)) {
            self.towards.unused()?;
        }
        if !matches!(experiment, Experiment::Averaging(_) | Experiment::Learning(_)) {
            unused("observers", self.observers.first(), "it names those of an averaging, or of learning")?;
        }
        match &experiment {
            Experiment::Averaging(averaging) => {
                let mut averaging = averaging.clone();
                if !self.observers.is_empty() {
                    averaging.adversary.observers.clone_from(&self.observers);
                }
                averaging::account(&averaging, &self.towards, &folder_of(&self.file), seed, global)
            }
            Experiment::Learning(learning) => {
                super::learning::account(learning, &self.observers, &folder_of(&self.file), seed, global)
            }
            Experiment::Personalized(asked) => {
                super::personalized::account(asked, &folder_of(&self.file), seed, global)
            }
            Experiment::Deep(asked) => super::deep::account(asked, &folder_of(&self.file), seed, global),
            Experiment::Rumor(rumor) => {
                rumor::account(rumor, &folder_of(&self.file), &[], (0.0, 1), &global.with_seed(seed))
            }
        }
    }
}
