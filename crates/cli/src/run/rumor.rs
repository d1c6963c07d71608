//! `sottovoce run rumor`: news whose source is hidden.

use std::path::Path;

use clap::Args;
use sottovoce::experiment::{self, Experiment};

use super::{Place, execute};
use crate::Global;

/// Arguments of `run rumor`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  sottovoce run rumor\n  sottovoce run rumor --peers 4096 --curious 400 --delta 0.2 --out my-report\n  \
                  sottovoce run rumor --muting 1 --no-report --json\n  \
                  sottovoce run rumor --peers 256 --muting 0.5 --drop 0.1 --clocks poisson --seeds 200\n  \
                  sottovoce run rumor --graph friends.txt --muting 0.6 --churn 0.2 --acknowledge"
)]
// The experiment within has the same name.
#[group(skip)]
pub(super) struct RumorArgs {
    #[command(flatten)]
    experiment: experiment::Rumor,
    #[command(flatten)]
    place: Place,
}

impl RumorArgs {
    pub(super) fn run(&self, global: &Global) -> anyhow::Result<()> {
        execute(&Experiment::Rumor(self.experiment.clone()), Path::new(""), &self.place, global)
    }
}
