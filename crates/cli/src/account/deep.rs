//! `sottovoce account deep`: what an image loses when a net is learned together.

use std::path::Path;

use clap::Args;
use sottovoce::deep;
use sottovoce::experiment::Deep;

use crate::{Global, input};

const EXAMPLES: &str = "Examples:
  sottovoce account deep
  sottovoce account deep --method dinno --primal 2 --noise-multiplier 3
  sottovoce account deep --noise-multiplier 1 --cancel 10 --keys regular:4 --colluders 2
  sottovoce account deep --data mnist --split 1 --rounds 2000 --lot 256 --epsilon 1 --json

Nothing is learned: what everybody would release is known beforehand, from how many images she has. The proof is in docs/theorems/consensus-descent.md.";

/// Arguments of `account deep`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct DeepArgs {
    #[command(flatten)]
    experiment: Deep,
}

impl DeepArgs {
    pub(crate) fn run(&self, global: &Global) -> anyhow::Result<()> {
        account(&self.experiment, Path::new(""), global.seed, global)
    }
}

/// What an experiment would reveal.
pub(super) fn account(experiment: &Deep, folder: &Path, seed: u64, global: &Global) -> anyhow::Result<()> {
    let _waiting = global.waiting("accounting");
    let ready = experiment.ready(folder, seed)?;
    input::of_graph(ready.graph_sha256.as_ref());
    global.print(&deep::account(experiment, &ready)?)
}
