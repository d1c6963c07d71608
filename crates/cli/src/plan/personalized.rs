//! `sottovoce plan personalized`: law, weight, updates and clipping for a budget.

use std::path::Path;

use anyhow::bail;
use clap::Args;
use sottovoce::experiment::{Experiment, Personalized};
use sottovoce::personal;

use super::written::Out;
use crate::Global;
use crate::spec::Spec;

const EXAMPLES: &str = "Examples:
  sottovoce plan personalized --epsilon 1
  sottovoce plan personalized --task tastes --epsilon 0.5 --out best.toml
  sottovoce plan personalized --data ml-100k --epsilon 1

Choices are tried on generated rows, never on private ones: choosing by looking at those would cost privacy. Among the numbers of updates is the one that the
corrected Theorem 2 of the paper suggests, from public numbers alone (docs/theorems/personalized.md, section 6).";

/// Arguments of `plan personalized`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(mut_args(|arg| match arg.get_id().as_str() {
    // What a plan chooses.
    "mu" | "updates" | "clip" | "law" | "sigma" => arg.hide(true),
    _ => arg,
}))]
// The experiment within has the same name.
#[group(skip)]
pub(super) struct PersonalizedArgs {
    #[command(flatten)]
    spec: Spec<Personalized>,
    #[command(flatten)]
    out: Out,
}

impl PersonalizedArgs {
    pub(super) fn run(&self, global: &Global) -> anyhow::Result<()> {
        let (asked, usual) = (&self.spec.get()?, Personalized::default());
        let chosen = [
            ("mu", asked.protocol.mu != usual.protocol.mu),
            ("updates", asked.protocol.updates != usual.protocol.updates),
            ("clip", asked.noise.clip != usual.noise.clip),
            ("law", asked.noise.law != usual.noise.law),
        ];
        if let Some((option, _)) = chosen.into_iter().find(|(_, given)| *given) {
            bail!("`{option}` is given: it is what a plan chooses; leave it out");
        }
        plan(asked, global.seed, &self.out, global)
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
