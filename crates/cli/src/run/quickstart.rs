//! `sottovoce run quickstart`: the embedded example.

use std::path::Path;

use clap::Args;
use sottovoce::experiment::Experiment;

use super::{Place, execute};
use crate::Global;

/// The experiment, as its file has it.
const EXPERIMENT: &str = include_str!("quickstart.toml");

/// Arguments of `run quickstart`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  sottovoce run quickstart\n  sottovoce run quickstart --seed 7 --out my-report --overwrite\n  \
                  sottovoce run quickstart --no-report --json\n  sottovoce run quickstart --seeds 10"
)]
pub(super) struct Quickstart {
    /// Runs with so many seeds, from --seed on; the first is shown, errors are given over all of them.
    #[arg(long, value_name = "K", default_value_t = 1)]
    seeds: usize,
    #[command(flatten)]
    place: Place,
}

impl Quickstart {
    pub(super) fn run(&self, global: &Global) -> anyhow::Result<()> {
        let mut experiment = Experiment::parse(EXPERIMENT)?;
        if let Experiment::Averaging(averaging) = &mut experiment {
            averaging.seeds = Some(self.seeds);
        }
        execute(&experiment, Path::new(""), &self.place, global)
    }
}
