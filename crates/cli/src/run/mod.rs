//! `sottovoce run`: the main jobs, on embedded examples that need no files.
//!
//! * `quickstart`: peers average privately in a simulation, the loss of every pair is accounted for exactly, an attack confirms it;
//! * `averaging`: the same with one's own graph, values, noise and faults; `FILE.toml`: the same from a file;
//! * `learning`: peers learn a model together, by gossip, by a walking token, or by averaging to consensus;
//! * `personalized`: everyone learns a model of her own, drawn towards those of similar agents;
//! * `deep`: a net learned together from images that stay where they are;
//! * `rumor`: news spreads so that nobody can tell who began, and attackers try to.
//!
//! All end in a report.

mod averaging;
mod checkpoints;
mod deep;
mod experiment;
mod learning;
mod personalized;
mod quickstart;
mod rumor;

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::{Args, Subcommand};
use serde::Serialize;

use super::Global;
use super::underway::Underway;
pub(crate) use experiment::EXPERIMENT;
use experiment::{again, execute};

/// Arguments of `run`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  sottovoce run quickstart\n  sottovoce run averaging --graph friends.graphml --values mine.csv\n  sottovoce run learning\n  \
                  sottovoce run personalized\n  sottovoce run deep\n  sottovoce run rumor\n  sottovoce run my.toml\n\nAn experiment's file such as my.toml is what `sottovoce new averaging` prints."
)]
pub(crate) struct Run {
    #[command(subcommand)]
    experiment: Experiment,
}

#[derive(Debug, Subcommand)]
enum Experiment {
    /// Private averaging among 64 peers who speak only to those nearby: simulated, accounted for, attacked, reported.
    Quickstart(quickstart::Quickstart),
    /// Your own averaging: graph, values, noise, faults; simulated, accounted for, attacked, reported.
    Averaging(Box<averaging::Averaging>),
    /// A model learned together from data that stays where it is: calibrated, run, accounted for, reported.
    Learning(Box<learning::Learning>),
    /// A model for everyone, with help from similar agents: calibrated, run, accounted for, reported.
    Personalized(Box<personalized::PersonalizedArgs>),
    /// A net learned together from images that stay where they are: calibrated, run, accounted for, reported.
    Deep(Box<deep::DeepArgs>),
    /// A rumour whose source is hidden: spread, accounted for, attacked, reported.
    Rumor(Box<rumor::RumorArgs>),
    /// An experiment's file: `run my.toml` is short for it.
    File(experiment::File),
}

impl Run {
    pub(crate) fn run(&self, global: &Global) -> anyhow::Result<()> {
        match &self.experiment {
            Experiment::Quickstart(command) => command.run(global),
            Experiment::Learning(command) => command.run(global),
            Experiment::Personalized(command) => command.run(global),
            Experiment::Deep(command) => command.run(global),
            Experiment::Rumor(command) => command.run(global),
            Experiment::Averaging(command) => command.run(global),
            Experiment::File(command) => command.run(global),
        }
    }
}

/// Where a report goes.
#[derive(Debug, Args)]
struct Place {
    /// Folder for the report; without it a new folder `sottovoce-report`, `sottovoce-report-2`, ...
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Replace an earlier report in that folder.
    #[arg(long, requires = "out")]
    overwrite: bool,
    /// Write no report.
    #[arg(long, conflicts_with_all = ["out", "overwrite"])]
    no_report: bool,
}

impl Place {
    /// The folder asked for, or the first of the default names that is free; none where no report is wanted.
    fn folder(&self) -> anyhow::Result<Option<PathBuf>> {
        if self.no_report || self.out.is_some() {
            return Ok(self.out.clone());
        }
        let names = std::iter::once("sottovoce-report".to_owned())
            .chain((2..1000).map(|i| format!("sottovoce-report-{i}")));
        match names.map(PathBuf::from).find(|name| !name.exists()) {
            Some(free) => Ok(Some(free)),
            None => bail!("`out` is missing, and all default folders exist: give --out DIR"),
        }
    }
}

impl Place {
    /// Says in the folder that was asked for that an experiment is under way, until what is returned is dropped.
    fn underway(
        &self,
        experiment: &sottovoce::experiment::Experiment,
        folder: &Path,
        seed: u64,
        global: &Global,
    ) -> Option<Underway> {
        let out = self.out.as_deref()?;
        let again = again(experiment.clone(), folder, seed).ok()?;
        Some(Underway::begin(out, String::from_utf8(again).ok()?, &global.latest))
    }
}

/// A result, and where its report lies.
#[derive(Serialize, schemars::JsonSchema)]
pub(crate) struct Printed<F> {
    #[serde(flatten)]
    found: F,
    /// The folder that was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    report: Option<PathBuf>,
    /// Its files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    files: Vec<PathBuf>,
}

impl<F: fmt::Display> fmt::Display for Printed<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.found.fmt(f)?;
        match &self.report {
            Some(folder) => write!(f, "\nReport: {}", page(folder).display()),
            None => Ok(()),
        }
    }
}

fn page(folder: &Path) -> PathBuf {
    folder.join("report.html")
}
