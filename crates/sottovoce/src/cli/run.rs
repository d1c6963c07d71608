//! `sottovoce run`: the main job.
//!
//! `quickstart` needs no files: peers average privately in a simulation, the loss of every pair is accounted for exactly, an attack
//! confirms it, and a report shows it all.

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::{Args, ValueEnum};
use serde::Serialize;

use super::Global;
use crate::quickstart::{PARTS, Quickstart, quickstart};

/// Arguments of `run`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  sottovoce run quickstart\n  sottovoce run quickstart --seed 7 --out my-report --overwrite\n  \
                  sottovoce run quickstart --no-report --json"
)]
pub(crate) struct Run {
    /// The experiment.
    #[arg(value_enum)]
    experiment: Experiment,
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

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Experiment {
    /// Private averaging among 64 peers who speak only to those nearby: simulated, accounted for, attacked, reported.
    Quickstart,
}

impl Run {
    pub(crate) fn run(&self, global: &Global) -> anyhow::Result<()> {
        match self.experiment {
            Experiment::Quickstart => self.quickstart(global),
        }
    }

    fn quickstart(&self, global: &Global) -> anyhow::Result<()> {
        let folder = if self.no_report { None } else { Some(self.folder()?) };
        let bar = global.progress(PARTS, "averaging, accounting");
        let found = quickstart(global.seed, || bar.inc(1))?;
        bar.finish_and_clear();
        let files = match &folder {
            Some(folder) => found.report.write(folder, self.overwrite)?,
            None => Vec::new(),
        };
        global.print(&Printed { found, report: folder, files })
    }

    /// The folder asked for, or the first of the default names that is free.
    fn folder(&self) -> anyhow::Result<PathBuf> {
        if let Some(folder) = &self.out {
            return Ok(folder.clone());
        }
        let names = std::iter::once("sottovoce-report".to_owned())
            .chain((2..1000).map(|i| format!("sottovoce-report-{i}")));
        match names.map(PathBuf::from).find(|name| !name.exists()) {
            Some(free) => Ok(free),
            None => bail!("`out` is missing, and all default folders exist: give --out DIR"),
        }
    }
}

/// The printed result.
#[derive(Serialize)]
struct Printed {
    #[serde(flatten)]
    found: Quickstart,
    #[serde(skip_serializing_if = "Option::is_none")]
    report: Option<PathBuf>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    files: Vec<PathBuf>,
}

impl fmt::Display for Printed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = &self.found;
        writeln!(f, "Private averaging among {} peers who speak only to those nearby\n", found.peers)?;
        for (label, value) in &found.report.summary {
            writeln!(f, "  {label:<38} {value}")?;
        }
        writeln!(f, "\nWhat is promised")?;
        for statement in &found.statements {
            writeln!(f, "  {statement}")?;
        }
        writeln!(f, "\nThe attack\n  {}", found.attack)?;
        if let Some(violation) = found.violations.first() {
            writeln!(f, "\nBROKEN INVARIANT: {violation}")?;
        }
        match &self.report {
            Some(folder) => write!(f, "\nReport: {}", page(folder).display()),
            None => Ok(()),
        }
    }
}

fn page(folder: &Path) -> PathBuf {
    folder.join("report.html")
}
