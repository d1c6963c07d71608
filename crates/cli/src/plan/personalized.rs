//! `sottovoce plan personalized`: law, weight, updates and clipping for a budget.

use std::path::Path;

use clap::Args;
use sottovoce::experiment::{Experiment, Personalized};
use sottovoce::personal;

use super::written::Out;
use crate::Global;

const EXAMPLES: &str = "Examples:
  sottovoce plan personalized --epsilon 1
  sottovoce plan personalized --task tastes --epsilon 0.5 --out best.toml
  sottovoce plan personalized --data ml-100k --epsilon 1

Choices are tried on generated rows, never on private ones: choosing by looking at those would cost privacy.";

/// Arguments of `plan personalized`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
// The experiment within has the same name.
#[group(skip)]
pub(super) struct PersonalizedArgs {
    #[command(flatten)]
    experiment: Personalized,
    #[command(flatten)]
    out: Out,
}

impl PersonalizedArgs {
    pub(super) fn run(&self, global: &Global) -> anyhow::Result<()> {
        plan(&self.experiment, global.seed, &self.out, global)
    }
}

/// Finds the best choices, and writes the experiment of the first.
pub(super) fn plan(asked: &Personalized, seed: u64, out: &Out, global: &Global) -> anyhow::Result<()> {
    out.check()?;
    let bar = global.progress(personal::choices(), "trying");
    let found = personal::plan(asked, Path::new(""), seed, || bar.inc(1))?;
    bar.finish_and_clear();
    let chosen = Personalized { seed: Some(seed), ..found.experiment.clone() };
    out.print(found, &Experiment::Personalized(Box::new(chosen)), global)
}
