//! `sottovoce run averaging`: your own graph, your own values.

use std::path::Path;

use clap::Args;
use sottovoce::experiment::{self, Experiment};

use super::{Place, execute};
use crate::Global;

const EXAMPLES: &str = "Examples:
  sottovoce run averaging --graph friends.graphml --values mine.csv --epsilon 2
  sottovoce run averaging --graph a.txt --values mine.csv --range 0:200 --sigma 50 --steps 9
  sottovoce run averaging --peers 32 --drop 0.01 --crashes 3@500 --timeout 2000 --seeds 10
  sottovoce run averaging --peers 16 --protocol butterfly --epsilon 1 --no-report --json
  sottovoce run averaging --peers 64 --protocol butterfly --masks --colluders 6 --epsilon 4
  sottovoce run averaging --peers 16 --protocol walk --cap 9 --drop 0.1 --slow 3@10 --seeds 10

A table of values has a header: a column `peer` with names as in the graph, and a column for each number. The range is public; what lies
outside is moved inside. A token that walks (--protocol walk) averages what its holders add; who passes it on and hears no answer for --timeout
sends it again, after three times to another neighbour. The report's folder also holds the experiment as a file (run it again: sottovoce run experiment.toml).";

/// Arguments of `run averaging`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
// The experiment within has the same name.
#[group(skip)]
pub(super) struct Averaging {
    #[command(flatten)]
    experiment: experiment::Averaging,
    #[command(flatten)]
    place: Place,
}

impl Averaging {
    pub(super) fn run(&self, global: &Global) -> anyhow::Result<()> {
        let experiment = Experiment::Averaging(Box::new(self.experiment.clone()));
        execute(&experiment, Path::new(""), &self.place, global)
    }
}
