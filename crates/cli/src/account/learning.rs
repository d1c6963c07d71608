//! `sottovoce account learning`: what learning together reveals, by any method.

use std::path::Path;

use clap::Args;
use sottovoce::experiment::Learning;

use crate::Global;
use crate::graph::source::said;

const EXAMPLES: &str = "Examples:
  sottovoce account learning --graph friends.txt --iterations 10
  sottovoce account learning --graph friends.txt --iterations 9 --steps 1 --observers 0 --sigma 4
  sottovoce account learning --peers 256 --fresh-graphs 1 --iterations 5 --observers 0
  sottovoce account learning --method butterfly --peers 64 --iterations 10 --observers 0 --json
  sottovoce account learning --method butterfly --peers 64 --observers 0 --cancel 10 --colluders 6

The options are those of `run learning`, and mean the same. Everyone makes a private gradient step, adds fresh noise, and averages with the others; so often as
--iterations says. A leakage of 1 is that of one gradient released under its own noise; as many as there are iterations is no amplification at all.";

/// Arguments of `account learning`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct LearningArgs {
    #[command(flatten)]
    experiment: Learning,
    /// Peers who pool what they hear, by name, separated by commas (default: the peer that learns most, and where peers may learn as much as
    /// someone who sees every message, that one).
    #[arg(long, value_name = "V,...", value_delimiter = ',')]
    observers: Vec<String>,
}

impl LearningArgs {
    pub(crate) fn run(&self, global: &Global) -> anyhow::Result<()> {
        account(&self.experiment, &self.observers, Path::new(""), global.seed, global)
    }
}

/// What an experiment would reveal.
pub(super) fn account(
    experiment: &Learning,
    observers: &[String],
    folder: &Path,
    seed: u64,
    global: &Global,
) -> anyhow::Result<()> {
    let _waiting = global.waiting("accounting");
    let ready = experiment.ready(folder, seed)?;
    said(ready.graph_sha256.as_ref(), &ready.notes);
    global.print(&experiment.account(&ready, seed, observers)?)
}
