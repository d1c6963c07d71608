//! `sottovoce run personalized`: everyone learns a model of her own.

use std::path::Path;

use clap::Args;
use sottovoce::experiment::{self, Experiment};
use sottovoce::{personal, transcript};
use sottovoce_report::store;

use super::experiment::{EXPERIMENT, TRANSCRIPT};
use super::{Place, Printed, execute};
use crate::{Global, input};

const EXAMPLES: &str = "Examples:
  sottovoce run personalized
  sottovoce run personalized --task tastes --epsilon 2 --updates 5 --out my-report
  sottovoce run personalized --law laplace --clip 0.2 --warm 0.05 --epsilon 0.5
  sottovoce run personalized --data ml-100k --mu 2 --clip 3 --updates 5
  sottovoce run personalized --data shops.csv --peer-column shop --similar shops.txt
  sottovoce run personalized --data shops.csv --peer-column shop --profiles places.csv
  sottovoce run personalized --drop 0.1 --leave 3@10 --join 7@5

Agents with similar tasks have similar models: each moves hers towards her neighbours' and against the gradient of her own rows, under noise, whenever her
clock wakes her. Without --data the task is generated; with it, a column names who holds a row, and a graph with weights, or public features of agents, say who
resembles whom. Everyone is promised that no row of hers loses more than epsilon to someone who sees every message;
data sizes, similarities and features of items are public. After the last update everybody solves her own block at home, which nobody is told.";

/// Arguments of `run personalized`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
// The experiment within has the same name.
#[group(skip)]
pub(super) struct PersonalizedArgs {
    #[command(flatten)]
    experiment: experiment::Personalized,
    #[command(flatten)]
    place: Place,
}

impl PersonalizedArgs {
    pub(super) fn run(&self, global: &Global) -> anyhow::Result<()> {
        let experiment = Experiment::Personalized(Box::new(self.experiment.clone()));
        execute(&experiment, Path::new(""), &self.place, global)
    }
}

/// Runs the experiment, and writes and prints what came of it.
pub(super) fn personalize(
    experiment: &experiment::Personalized,
    folder: &Path,
    seed: u64,
    place: &Place,
    global: &Global,
) -> anyhow::Result<()> {
    let out = place.folder()?;
    if let Some(out) = &out {
        store::check(out, &personal::FILES, place.overwrite)?;
        store::check(out, &[EXPERIMENT, TRANSCRIPT], place.overwrite)?;
    }
    let _waiting = global.waiting("learning");
    let bar = global.progress(experiment.seeds.unwrap_or(5), "learning");
    let found = personal::run(experiment, folder, seed, || bar.inc(1))?;
    bar.finish_and_clear();
    input::of_agents(&experiment.task, folder)?;
    let mut files = Vec::new();
    if let Some(out) = &out {
        let whole = experiment::Personalized { seed: Some(seed), ..experiment.clone() };
        let whole = Experiment::Personalized(Box::new(whole)).from_anywhere(folder);
        let happened = transcript::Personalized::new(&whole, &found.people, &found.releases)?;
        let mut provenance = global.provenance();
        provenance.seed = Some(seed);
        let json = global.document(&found)?.into_bytes();
        let mut all = personal::files(&found, json, provenance, &[EXPERIMENT, TRANSCRIPT])?;
        all.push((EXPERIMENT.into(), whole.to_toml()?.into_bytes()));
        all.push((TRANSCRIPT.into(), transcript::to_json(&happened)?));
        files = store::write(out, &all, place.overwrite)?;
    }
    global.print(&Printed { found, report: out, files })
}
