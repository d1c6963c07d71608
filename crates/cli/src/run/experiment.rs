//! Any experiment, from flags or from a file: run it, write what came of it, print it.

use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::Args;
use sottovoce::experiment::{Averaging, Experiment, Rumor, folder_of};
use sottovoce::{averaging, rumor, transcript};
use sottovoce_report::{AveragingReport, RumorReport};

use super::{Place, Printed};
use crate::Global;

/// Arguments of `run FILE.toml`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  sottovoce new averaging > my.toml\n  sottovoce run my.toml\n  sottovoce run my.toml --seeds 10 --out mine"
)]
pub(super) struct File {
    /// The experiment.
    file: PathBuf,
    /// Runs with so many seeds, instead of what the file says (averaging).
    #[arg(long, value_name = "K")]
    seeds: Option<usize>,
    #[command(flatten)]
    place: Place,
}

impl File {
    pub(super) fn run(&self, global: &Global) -> anyhow::Result<()> {
        let mut experiment = Experiment::read(&self.file)?;
        match (&mut experiment, self.seeds) {
            (Experiment::Averaging(averaging), Some(seeds)) => averaging.seeds = Some(seeds),
            (_, Some(seeds)) => bail!("`seeds` is {seeds}: only averaging runs under several; leave it out"),
            (_, None) => {}
        }
        execute(&experiment, &folder_of(&self.file), &self.place, global)
    }
}

/// Runs an experiment, and writes and prints what came of it.
pub(super) fn execute(
    experiment: &Experiment,
    folder: &Path,
    place: &Place,
    global: &Global,
) -> anyhow::Result<()> {
    let seed = global.seed_of(experiment);
    match experiment {
        Experiment::Averaging(averaging) => average(averaging, folder, seed, place, global),
        Experiment::Rumor(rumor) => spread(rumor, seed, place, global),
    }
}

fn average(
    experiment: &Averaging,
    folder: &Path,
    seed: u64,
    place: &Place,
    global: &Global,
) -> anyhow::Result<()> {
    let out = place.folder()?;
    if let Some(out) = &out {
        AveragingReport::free(out, place.overwrite)?;
    }
    let bar = global.progress(averaging::parts(experiment), "averaging, accounting");
    let found = averaging::run(experiment, folder, seed, || bar.inc(1))?;
    bar.finish_and_clear();
    let mut files = Vec::new();
    if let Some(out) = &out {
        let whole = Experiment::Averaging(Box::new(Averaging { seed: Some(seed), ..experiment.clone() }));
        let transcript =
            found.transcript.as_ref().map(transcript::File::to_json).transpose()?.unwrap_or_default();
        let beside = [("experiment.toml", whole.to_toml()?.into_bytes()), ("transcript.json", transcript)];
        sottovoce_papers::files::check(out, beside.iter().map(|(name, _)| *name), place.overwrite)?;
        if let Some(report) = &found.report {
            files = report.write(out, place.overwrite)?;
        }
        files.extend(sottovoce_papers::files::write(out, &beside, place.overwrite)?);
    }
    global.print(&Printed { report: out.filter(|_| found.report.is_some()), found, files })
}

fn spread(experiment: &Rumor, seed: u64, place: &Place, global: &Global) -> anyhow::Result<()> {
    let out = place.folder()?;
    if let Some(out) = &out {
        RumorReport::free(out, place.overwrite)?;
    }
    let bar = global.progress(rumor::PARTS, "spreading, attacking");
    let found = rumor::run(&experiment.settings(seed)?, || bar.inc(1))?;
    bar.finish_and_clear();
    let files = match &out {
        Some(out) => found.report.write(out, place.overwrite)?,
        None => Vec::new(),
    };
    global.print(&Printed { found, report: out, files })
}
