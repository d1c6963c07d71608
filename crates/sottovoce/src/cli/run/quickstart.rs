//! `sottovoce run quickstart`: private averaging.

use std::fmt;

use clap::Args;

use super::{Place, Printed, promised};
use crate::cli::Global;
use crate::quickstart::{self, PARTS, STARRED};

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

impl fmt::Display for quickstart::Quickstart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Private averaging among {} peers who speak only to those nearby\n", self.peers)?;
        for (label, value) in &self.report.summary {
            writeln!(f, "  {label:<40} {value}")?;
        }
        writeln!(f, "\n{STARRED}\n\nWhat is promised")?;
        promised(f, &self.statements, &self.not_covered)?;
        writeln!(f, "\nThe attack\n  {}", self.attack)?;
        if let Some(violation) = self.violations.first() {
            writeln!(f, "\nBROKEN INVARIANT: {violation}")?;
        }
        Ok(())
    }
}
