//! `sottovoce audit membership`: is an image among those that a net was learned from?

use std::path::Path;

use anyhow::bail;
use clap::{Args, ValueEnum};
use sottovoce::deep::{self, Images, MEMBERSHIP};
use sottovoce::experiment::{self, Deep};

use super::Failed;
use crate::graph::count;
use crate::spec::Spec;
use crate::{Global, input};

const EXAMPLES: &str = "Examples:
  sottovoce audit membership
  sottovoce audit membership --method dsgd --epsilon 2 --rounds 100
  sottovoce audit membership --attack threshold --method dsgt
  sottovoce audit membership --attack threshold --method central --data mnist --models 5000

canary: all images of one agent give way to canaries, gradients that the attacker knows, each in or out by a fair coin. From the messages of one run it computes the agent's private
draws, and bets on each canary. Takes the options of `run deep`.
threshold: the consensus paper's. Three agents with 100 images of a figure each learn many nets with a blank image and without it; epsilon 1 at delta 0.01 is claimed, and whose loss on
the blank image is low is taken for a net that was learned with it. Takes --method, --data and --models.
Exit code 0: the claim stands. 1: it does not. The proofs are in docs/theorems/audit-bounds.md.";

/// Arguments of `audit membership`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
// The experiment within has the same name.
#[group(skip)]
pub(crate) struct Membership {
    /// The attack.
    #[arg(long, value_enum, value_name = "ATTACK", default_value = "canary")]
    attack: Attack,
    /// Nets with the image, and as many without it (default: 100).
    #[arg(long, value_name = "N", value_parser = count)]
    models: Option<usize>,
    #[command(flatten)]
    spec: Spec<Deep>,
}

/// An attack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Attack {
    /// Canaries in place of one agent's images, in one run.
    Canary,
    /// The consensus paper's: many runs with one image and without it.
    Threshold,
}

impl Membership {
    pub(crate) fn run(&self, global: &Global) -> anyhow::Result<()> {
        match (self.attack, self.models) {
            (Attack::Canary, Some(models)) => {
                bail!(
                    "`models` is {models}: canaries are planted in one run; leave it out, or give --attack threshold"
                )
            }
            (Attack::Canary, None) => canaries(&self.spec.get()?, Path::new(""), global.seed, global),
            (Attack::Threshold, models) => self.threshold(models.unwrap_or(100), global),
        }
    }

    fn threshold(&self, models: usize, global: &Global) -> anyhow::Result<()> {
        let asked = self.spec.get()?;
        let (method, data) = (asked.protocol.method, &asked.task.data);
        let mut known = Deep::default();
        (known.protocol.method, known.task.data) = (method, data.clone());
        if asked != known {
            bail!(
                "`attack` is threshold: all but --method, --data and --models is as it was printed; leave the rest out"
            );
        }
        let _waiting = global.waiting("attacking");
        let images = Images::new(MEMBERSHIP.images, data.as_deref(), global.seed)?;
        let bar = global.progress(2 * models, "nets with and without it");
        let found = deep::membership(&MEMBERSHIP, &images, method, models, global.seed, None, || bar.inc(1))?;
        bar.finish_and_clear();
        global.print(&found)?;
        stands(found.found.stands, &found.found.headline)
    }
}

/// Attacks an experiment by canaries.
pub(super) fn canaries(
    experiment: &experiment::Deep,
    folder: &Path,
    seed: u64,
    global: &Global,
) -> anyhow::Result<()> {
    let _waiting = global.waiting("attacking");
    let ready = experiment.ready(folder, seed)?;
    input::of_graph(ready.graph_sha256.as_ref());
    let bar = global.progress(ready.setting.plan.iterations, "rounds with canaries");
    let found = deep::attack(&ready, || bar.inc(1))?;
    bar.finish_and_clear();
    global.print(&found)?;
    stands(found.found.stands, &found.found.headline)
}

fn stands(stands: bool, headline: &str) -> anyhow::Result<()> {
    if stands { Ok(()) } else { Err(Failed(headline.to_owned()).into()) }
}
