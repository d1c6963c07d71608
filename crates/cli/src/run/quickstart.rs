//! `sottovoce run quickstart`: private averaging.

use clap::Args;
use sottovoce_report::AveragingReport;

use super::{Place, Printed};
use crate::Global;
use sottovoce::quickstart::{self, PARTS};

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
        if let Some(folder) = &folder {
            AveragingReport::free(folder, self.place.overwrite)?;
        }
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
