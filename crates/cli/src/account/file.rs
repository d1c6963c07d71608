//! `sottovoce account FILE.toml`: what an experiment would reveal, without running it.

use std::path::PathBuf;

use clap::Args;
use sottovoce::experiment::{Experiment, folder_of};

use sottovoce::learning::account::account_of;
use sottovoce::learning::losses::Question;
use sottovoce::learning::{Job, Noise};
use sottovoce::names::Names;

use super::averaging::{self, Towards};
use super::{rumor, unused};
use crate::Global;
use crate::graph::source::said;

/// Arguments of `account FILE.toml`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  sottovoce new averaging > my.toml\n  sottovoce account my.toml\n  sottovoce account my.toml --verbose"
)]
pub(crate) struct File {
    /// The experiment.
    file: PathBuf,
    /// Peers who pool what they hear, by name, separated by commas (default: those of the experiment).
    #[arg(long, value_name = "V,...", value_delimiter = ',')]
    observers: Vec<String>,
    #[command(flatten)]
    towards: Towards,
}

impl File {
    pub(crate) fn run(&self, global: &Global) -> anyhow::Result<()> {
        let experiment = Experiment::read(&self.file)?;
        let seed = global.seed_of(&experiment);
        if !matches!(experiment, Experiment::Averaging(_)) {
            self.towards.unused()?;
            unused("observers", self.observers.first(), "it names those of an averaging")?;
        }
        match &experiment {
            Experiment::Averaging(averaging) => {
                let mut averaging = averaging.clone();
                if !self.observers.is_empty() {
                    averaging.adversary.observers.clone_from(&self.observers);
                }
                averaging::account(&averaging, &self.towards, &folder_of(&self.file), seed, global)
            }
            Experiment::Learning(learning) => {
                let ready = learning.ready(&folder_of(&self.file), seed)?;
                said(ready.graph_sha256.as_ref(), &ready.notes);
                // What could not be run is not accounted for.
                let job = learning.job(&ready, seed);
                let mut run = job.start()?;
                // All iterations are accounted for, also where a target would end the run.
                if let Noise::Given(sigma, Some(_)) = job.noise {
                    run = Job { noise: Noise::Given(sigma, None), ..job }.start()?;
                }
                let settings = run.session().settings();
                let question = Question::of(&ready.task, &ready.mixings, settings);
                // Towards the peer that learns most; where all are promised the same, the first.
                let observer = question.revealed()?.pairs.observer;
                let of_graph = || ready.mixings.first().map(|mixing| Names::of_graph(mixing.graph()));
                let names = Names::new(ready.task.names()).or(|| of_graph().unwrap_or_default());
                let noise = (settings.sigma, learning.target.delta);
                global.print(&account_of(&question, &[observer], noise, names, Some(&ready.task))?)
            }
            Experiment::Personalized(asked) => {
                super::personalized::account(asked, &folder_of(&self.file), seed, global)
            }
            Experiment::Deep(asked) => super::deep::account(asked, &folder_of(&self.file), seed, global),
            Experiment::Rumor(rumor) => {
                rumor::account(rumor, &folder_of(&self.file), &[], (0.0, 1), &global.with_seed(seed))
            }
        }
    }
}
