//! `sottovoce run quickstart`: private averaging.

use std::fmt;
use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use super::{Place, page};
use crate::cli::Global;
use crate::quickstart::{self, PARTS};

/// Arguments of `run quickstart`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  sottovoce run quickstart\n  sottovoce run quickstart --seed 7 --out my-report --overwrite\n  \
                  sottovoce run quickstart --no-report --json"
)]
pub(super) struct Quickstart {
    #[command(flatten)]
    place: Place,
}

impl Quickstart {
    pub(super) fn run(&self, global: &Global) -> anyhow::Result<()> {
        let folder = self.place.folder()?;
        let bar = global.progress(PARTS, "averaging, accounting");
        let found = quickstart::quickstart(global.seed, || bar.inc(1))?;
        bar.finish_and_clear();
        let files = match &folder {
            Some(folder) => found.report.write(folder, self.place.overwrite)?,
            None => Vec::new(),
        };
        global.print(&Printed { found, report: folder, files })
    }
}

/// The printed result.
#[derive(Serialize)]
struct Printed {
    #[serde(flatten)]
    found: quickstart::Quickstart,
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
