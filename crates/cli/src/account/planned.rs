//! `sottovoce account` of a spec, by flags or from a file: what it would reveal, without running it.

use std::path::{Path, PathBuf};

use clap::Args;
use sottovoce::experiment::{Experiment, Learning, Rumor, folder_of};
use sottovoce::{deep, personal};

use super::averaging::{self, Towards};
use super::rumor::{self, Question};
use super::unused;
use crate::graph::source::said;
use crate::spec::{Kind, Spec};
use crate::{Global, input};

/// A spec, and towards whom.
#[derive(Debug, Args)]
#[group(skip)]
pub(crate) struct AveragingArgs {
    #[command(flatten)]
    spec: Spec<sottovoce::experiment::Averaging>,
    #[command(flatten)]
    towards: Towards,
}

/// A spec, and towards which peers.
#[derive(Debug, Args)]
#[group(skip)]
pub(crate) struct LearningArgs {
    #[command(flatten)]
    spec: Spec<Learning>,
    /// Peers who pool what they hear, by name, separated by commas (default: the peer that learns most, and where peers may learn as much as
    /// someone who sees every message, that one).
    #[arg(long, value_name = "V,...", value_delimiter = ',')]
    observers: Vec<String>,
}

/// A spec, and what is asked of the source.
#[derive(Debug, Args)]
#[group(skip)]
pub(crate) struct RumorArgs {
    #[command(flatten)]
    spec: Spec<Rumor>,
    #[command(flatten)]
    question: Question,
}

/// A spec's file.
#[derive(Debug, Args)]
pub(crate) struct File {
    /// The experiment.
    file: PathBuf,
    /// Peers who pool what they hear, by name, separated by commas (default: those of the experiment).
    #[arg(long, value_name = "V,...", value_delimiter = ',')]
    observers: Vec<String>,
    #[command(flatten)]
    towards: Towards,
}

impl AveragingArgs {
    pub(crate) fn run(&self, global: &Global) -> anyhow::Result<()> {
        let asked = Asked { towards: self.towards.clone(), ..Asked::default() };
        asked.account(&self.spec.experiment()?, Path::new(""), global)
    }
}

impl LearningArgs {
    pub(crate) fn run(&self, global: &Global) -> anyhow::Result<()> {
        let asked = Asked { observers: self.observers.clone(), ..Asked::default() };
        asked.account(&self.spec.experiment()?, Path::new(""), global)
    }
}

impl RumorArgs {
    pub(crate) fn run(&self, global: &Global) -> anyhow::Result<()> {
        let asked = Asked { question: self.question.clone(), ..Asked::default() };
        asked.account(&self.spec.experiment()?, Path::new(""), global)
    }
}

impl<S: Args + Kind + Clone> Spec<S> {
    pub(crate) fn account(&self, global: &Global) -> anyhow::Result<()> {
        Asked::default().account(&self.experiment()?, Path::new(""), global)
    }
}

impl File {
    pub(crate) fn run(&self, global: &Global) -> anyhow::Result<()> {
        let experiment = Experiment::read(&self.file)?;
        let (observers, towards) = (self.observers.clone(), self.towards.clone());
        let asked = Asked { observers, towards, ..Asked::default() };
        asked.account(&experiment, &folder_of(&self.file), &global.with_seed(global.seed_of(&experiment)))
    }
}

/// What is asked beside the spec.
#[derive(Debug, Default)]
struct Asked {
    observers: Vec<String>,
    towards: Towards,
    question: Question,
}

impl Asked {
    /// Prints what a spec would reveal.
    fn account(&self, experiment: &Experiment, folder: &Path, global: &Global) -> anyhow::Result<()> {
        let seed = global.seed;
        if !matches!(experiment, Experiment::Averaging(_)) {
            self.towards.unused()?;
        }
        if !matches!(experiment, Experiment::Averaging(_) | Experiment::Learning(_)) {
            unused("observers", self.observers.first(), "it names those of an averaging, or of learning")?;
        }
        let _waiting = global.waiting("accounting");
        match experiment {
            Experiment::Averaging(averaging) => {
                averaging::account(averaging, (&self.towards, &self.observers), folder, seed, global)
            }
            Experiment::Learning(learning) => {
                let ready = learning.ready(folder, seed)?;
                said(ready.graph_sha256.as_ref(), &ready.notes);
                global.print(&learning.account(&ready, seed, &self.observers)?)
            }
            Experiment::Personalized(personalized) => {
                let ready = personalized.ready(folder, seed)?;
                input::of_graph(personalized.task.graph_sha256(folder)?.as_ref());
                global.print(&personal::account(personalized, &ready)?)
            }
            Experiment::Deep(asked) => {
                let ready = asked.ready(folder, seed)?;
                input::of_graph(ready.graph_sha256.as_ref());
                global.print(&deep::account(asked, &ready)?)
            }
            Experiment::Rumor(asked) => rumor::account(asked, folder, &self.question, global),
        }
    }
}
