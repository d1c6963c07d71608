//! `sottovoce run quickstart`: the embedded example.

use std::path::Path;

use clap::Args;
use sottovoce::experiment::Experiment;

use super::{Place, Seeds, execute};
use crate::Global;

/// The experiment, as its file has it.
const EXPERIMENT: &str = include_str!("../../../../experiments/quickstart.toml");

/// Arguments of `run quickstart`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  sottovoce run quickstart\n  sottovoce run quickstart --seed 7 --out my-report --overwrite\n  \
                  sottovoce run quickstart --no-report --json\n  sottovoce run quickstart --seeds 10"
)]
pub(super) struct Quickstart {
    #[command(flatten)]
    seeds: Seeds,
    #[command(flatten)]
    place: Place,
}

impl Quickstart {
    pub(super) fn run(&self, global: &Global) -> anyhow::Result<()> {
        execute(&Experiment::parse(EXPERIMENT)?, Path::new(""), self.seeds.seeds, &self.place, global)
    }
}
