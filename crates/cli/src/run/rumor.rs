//! `sottovoce run rumor`: news whose source is hidden.

use clap::Args;
use sottovoce_report::RumorReport;

use super::{Place, Printed};
use crate::Global;
use sottovoce::rumor::{self, PARTS, Privacy, Settings};

/// Arguments of `run rumor`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  sottovoce run rumor\n  sottovoce run rumor --nodes 4096 --curious 400 --delta 0.2 --out my-report\n  \
                  sottovoce run rumor --muting 1 --no-report --json"
)]
pub(super) struct Rumor {
    /// Number of peers; everyone can reach everyone.
    #[arg(long, default_value_t = 1024, value_name = "N")]
    nodes: usize,
    /// How many of them are curious and pool what they hear (default: one in sixteen).
    #[arg(long, value_name = "F")]
    curious: Option<usize>,
    /// Privacy to aim at: views of two sources differ by at most this (default: twice the best there is, F/N).
    #[arg(long, value_name = "DELTA", conflicts_with = "muting")]
    delta: Option<f64>,
    /// Probability of staying active after a telling, instead: 0 is the most private and slow, 1 is push, fast and hardly private.
    #[arg(long, value_name = "S")]
    muting: Option<f64>,
    #[command(flatten)]
    place: Place,
}

impl Rumor {
    pub(super) fn run(&self, global: &Global) -> anyhow::Result<()> {
        let folder = self.place.folder()?;
        if let Some(folder) = &folder {
            RumorReport::free(folder, self.place.overwrite)?;
        }
        let bar = global.progress(PARTS, "spreading, attacking");
        let mut found = rumor::run(&self.settings(global), || bar.inc(1))?;
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

    fn settings(&self, global: &Global) -> Settings {
        let privacy = match (self.muting, self.delta) {
            (Some(muting), _) => Privacy::Muting(muting),
            (None, Some(delta)) => Privacy::Delta(delta),
            (None, None) => Privacy::TwiceTheBest,
        };
        Settings { nodes: self.nodes, curious: self.curious, privacy, seed: global.seed }
    }
}
