//! Any experiment, from flags or from a file: run it, write what came of it, print it.

use std::path::{Path, PathBuf};

use clap::Args;
use sottovoce::averaging;
use sottovoce::experiment::{Experiment, folder_of};

use super::{Place, Printed};
use crate::Global;

/// Over how many seeds.
#[derive(Debug, Args)]
pub(super) struct Seeds {
    /// Runs with so many seeds, from --seed on; the first is shown, errors are given over all of them.
    #[arg(long, value_name = "K", default_value_t = 1)]
    pub(super) seeds: usize,
}

/// Arguments of `run FILE.toml`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  sottovoce new averaging > my.toml\n  sottovoce run my.toml\n  sottovoce run my.toml --seeds 10 --out mine"
)]
pub(super) struct File {
    /// The experiment.
    file: PathBuf,
    #[command(flatten)]
    seeds: Seeds,
    #[command(flatten)]
    place: Place,
}

impl File {
    pub(super) fn run(&self, global: &Global) -> anyhow::Result<()> {
        let experiment = Experiment::read(&self.file)?;
        execute(&experiment, &folder_of(&self.file), self.seeds.seeds, &self.place, global)
    }
}

/// Runs an experiment, and writes and prints what came of it.
pub(super) fn execute(
    experiment: &Experiment,
    folder: &Path,
    seeds: usize,
    place: &Place,
    global: &Global,
) -> anyhow::Result<()> {
    let out = place.folder()?;
    if let Some(out) = &out {
        sottovoce_report::AveragingReport::free(out, place.overwrite)?;
    }
    let Experiment::Averaging(averaging) = experiment;
    let bar = global.progress(averaging::parts(seeds), "averaging, accounting");
    let found = averaging::run(averaging, folder, global.seed, seeds, || bar.inc(1))?;
    bar.finish_and_clear();
    let (report, files) = match (&out, &found.report) {
        (Some(out), Some(report)) => (Some(out.clone()), report.write(out, place.overwrite)?),
        _ => (None, Vec::new()),
    };
    global.print(&Printed { found, report, files })
}
