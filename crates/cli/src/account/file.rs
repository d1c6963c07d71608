//! `sottovoce account FILE.toml`: what an experiment would reveal, without running it.

use std::path::PathBuf;

use anyhow::bail;
use clap::Args;
use sottovoce::averaging::{Public, reveal, walk};
use sottovoce::experiment::{Experiment, folder_of};

use sottovoce::learning::Noise;
use sottovoce::learning::account::account_of;
use sottovoce::learning::losses::Question;
use sottovoce::names::Names;

use super::rumor;
use crate::graph::source::said;
use crate::{Global, input};

/// Arguments of `account FILE.toml`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  sottovoce new averaging > my.toml\n  sottovoce account my.toml\n  sottovoce account my.toml --verbose"
)]
pub(crate) struct File {
    /// The experiment.
    file: PathBuf,
}

impl File {
    pub(crate) fn run(&self, global: &Global) -> anyhow::Result<()> {
        let experiment = Experiment::read(&self.file)?;
        let seed = global.seed_of(&experiment);
        match &experiment {
            Experiment::Averaging(averaging) if averaging.walks() => {
                let ready = averaging.ready_walk(&folder_of(&self.file), seed)?;
                said(ready.place.sha256.as_ref(), &ready.place.notes);
                global.print(&walk::account(&ready, seed)?)
            }
            Experiment::Averaging(averaging) => {
                let _waiting = global.waiting("accounting");
                let ready = averaging.ready(&folder_of(&self.file), seed, |_| ())?;
                said(ready.place.sha256.as_ref(), &ready.place.notes);
                let setting = ready.setting.clone();
                global.print(&reveal(Public::from(&ready), setting)?)
            }
            Experiment::Learning(learning) => {
                let ready = learning.ready(&folder_of(&self.file), seed)?;
                said(ready.graph_sha256.as_ref(), &ready.notes);
                input::of_task(&learning.task, &ready.task)?;
                let mut settings = ready.choice.settings(&ready.task, &ready.mixings, seed)?;
                settings.network = ready.network.clone();
                settings.secrets = ready.secrets.clone();
                let given = settings.clone();
                let mut question = Question::of(&ready.task, &ready.mixings, &given);
                // All iterations are accounted for, whether or not a target would end the run.
                let noise = match ready.noise {
                    Noise::Given(sigma, _) => Noise::Given(sigma, None),
                    calibrated => calibrated,
                };
                ready.choice.settle(&noise, &question, &mut settings)?;
                let sigma = settings.sigma;
                question.method = settings.method;
                // Towards the peer that learns most.
                let observer = question.revealed()?.pairs.observer;
                let of_graph = || ready.mixings.first().map(|mixing| Names::of_graph(mixing.graph()));
                let names = Names::new(ready.task.names()).or(|| of_graph().unwrap_or_default());
                let noise = (sigma, learning.target.delta);
                global.print(&account_of(&question, &[observer], noise, names, Some(&ready.task))?)
            }
            Experiment::Paper(paper) => {
                bail!(
                    "`experiment` is paper: {} is computed as a whole, with its verdict; run it",
                    paper.figure
                )
            }
            Experiment::Personalized(asked) => {
                super::personalized::account(asked, &folder_of(&self.file), seed, global)
            }
            Experiment::Deep(asked) => super::deep::account(asked, &folder_of(&self.file), seed, global),
            Experiment::Rumor(rumor) => rumor::account(
                rumor,
                &folder_of(&self.file),
                &[],
                (0.0, 1),
                &Global { seed, ..global.clone() },
            ),
        }
    }
}
