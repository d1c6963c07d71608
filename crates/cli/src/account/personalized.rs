//! `sottovoce account personalized`: what a row loses when everyone learns a model of her own.

use std::path::Path;

use clap::Args;
use sottovoce::experiment::Personalized;
use sottovoce::personal;

use crate::{Global, input};

const EXAMPLES: &str = "Examples:
  sottovoce account personalized
  sottovoce account personalized --law laplace --updates 20 --allocation optimal --epsilon 0.5
  sottovoce account personalized --law laplace --delta 0
  sottovoce account personalized --data ml-100k --centre public --clip 3
  sottovoce account personalized --sigma 5 --updates 30 --json

Nothing is run: what everybody would release is known beforehand, from how many rows she has. The proof is in docs/theorems/personalized.md.";

/// Arguments of `account personalized`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct PersonalizedArgs {
    #[command(flatten)]
    experiment: Personalized,
}

impl PersonalizedArgs {
    pub(crate) fn run(&self, global: &Global) -> anyhow::Result<()> {
        account(&self.experiment, Path::new(""), global.seed, global)
    }
}

/// What an experiment would reveal.
pub(super) fn account(
    experiment: &Personalized,
    folder: &Path,
    seed: u64,
    global: &Global,
) -> anyhow::Result<()> {
    let _waiting = global.waiting("accounting");
    let ready = experiment.ready(folder, seed)?;
    input::of_graph(experiment.task.graph_sha256(folder)?.as_ref());
    global.print(&personal::account(experiment, &ready)?)
}
