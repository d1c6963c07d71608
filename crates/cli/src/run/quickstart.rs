//! `sottovoce run quickstart`: private averaging.

use clap::Args;

use super::{Place, Printed};
use crate::Global;
use sottovoce::quickstart::{self, PARTS};
use sottovoce_report::AveragingReport;

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
        let mut found = quickstart::quickstart(global.seed, || bar.inc(1))?;
        bar.finish_and_clear();
        let files = match &folder {
            Some(folder) => {
                global.sign(&mut found.report.provenance);
                found.report.write(folder, self.place.overwrite)?
            }
            None => Vec::new(),
        };
        global.print(&Printed { found, report: folder, files })
    }
}
