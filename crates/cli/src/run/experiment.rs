//! Any experiment, from flags or from a file: run it, write what came of it, print it.

use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::Args;
use serde::Serialize;
use sottovoce::experiment::{Averaging, Experiment, Rumor, folder_of};
use sottovoce::{averaging, rumor, transcript};
use sottovoce_report::{AveragingReport, RumorReport, store};

use crate::audit::Failed;

use super::checkpoints::Checkpoints;
use super::deep;
use super::learning::learn;
use super::personalized::personalize;
use super::{Place, Printed};
use crate::graph::source::said;
use crate::output::note;
use crate::{Global, input};

/// The experiment beside its report.
pub(crate) const EXPERIMENT: &str = "experiment.toml";
/// What happened, beside the report.
pub(super) const TRANSCRIPT: &str = "transcript.json";
/// What lies beside the page of an averaging: how to run it again, what happened, and what is printed with --json.
const BESIDE: [(&str, &str); 3] = [(EXPERIMENT, AGAIN), (TRANSCRIPT, HAPPENED), (RESULT, PRINTED)];
/// The same of a rumour.
const BESIDE_RUMOR: [(&str, &str); 3] = [(EXPERIMENT, AGAIN), (TRANSCRIPT, TOLD), (RESULT, PRINTED)];
/// What came of it.
const RESULT: &str = "result.json";
const PRINTED: &str = "what is printed with --json";
/// What a page shows, as data.
const PAGE_DATA: &str = "report.json";
/// What an experiment's file is for.
pub(super) const AGAIN: &str = "the experiment, to be run again";
/// What a transcript is for.
pub(super) const HAPPENED: &str = "who released what, and who sent what to whom";

/// What that of a rumour is.
const TOLD: &str = "who told whom, and so who began";

/// Arguments of `run FILE.toml`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  sottovoce new averaging > my.toml\n  sottovoce run my.toml\n  sottovoce run my.toml --seeds 10 --out mine"
)]
pub(super) struct File {
    /// The experiment.
    file: PathBuf,
    /// Runs with so many seeds, instead of what the file says.
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
            (Experiment::Learning(learning), Some(seeds)) => learning.seeds = Some(seeds),
            (Experiment::Personalized(personalized), Some(seeds)) => personalized.seeds = Some(seeds),
            (Experiment::Rumor(rumor), Some(seeds)) => rumor.seeds = Some(seeds),
            (Experiment::Deep(_), Some(seeds)) => {
                bail!("`seeds` is {seeds}: a net is learned once; give --seed, and run it again")
            }
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
    let _underway = place.underway(experiment, folder, seed, global);
    match experiment {
        Experiment::Averaging(averaging) if averaging.walks() => walk(averaging, folder, seed, place, global),
        Experiment::Averaging(averaging) => average(averaging, folder, seed, place, global),
        Experiment::Learning(learning) => {
            learn(learning, folder, seed, &Checkpoints::default(), place, global)
        }
        Experiment::Personalized(personalized) => personalize(personalized, folder, seed, place, global),
        Experiment::Deep(asked) => deep::learn(asked, folder, seed, &deep::Means::default(), place, global),
        Experiment::Rumor(rumor) if rumor.is_networked() => survive(rumor, folder, seed, place, global),
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
        store::check(out, &BESIDE.map(|(name, _)| name), place.overwrite)?;
    }
    let _waiting = global.waiting("averaging, accounting");
    let bar = global.progress(averaging::parts(experiment), "reading, finding the noise");
    let mut found = averaging::run(experiment, folder, seed, |next| {
        bar.inc(1);
        bar.set_message(next);
    })?;
    bar.finish_and_clear();
    found.notes.iter().for_each(|text| note(text));
    // Every document beside the page says what was read.
    keep(found.graph_sha256.as_ref());
    let mut files = Vec::new();
    if let Some(out) = &out {
        let mut all = Vec::new();
        if let Some(report) = &mut found.report {
            global.sign(&mut report.provenance);
            report.provenance.seed = Some(seed);
            report.beside = named(&BESIDE);
            all = global.headed_files(report.files()?, seed)?;
        }
        all.extend(beside(experiment, folder, seed, found.transcript.as_ref(), global.document(&found)?)?);
        files = store::write(out, &all, place.overwrite)?;
    }
    let fell = found.fell.then(|| found.attack.clone());
    global.print(&Printed { report: out.filter(|_| found.report.is_some()), found, files })?;
    match fell {
        Some(verdict) => Err(Failed(verdict).into()),
        None => Ok(()),
    }
}

/// The files beside the page of an averaging.
fn beside(
    experiment: &Averaging,
    folder: &Path,
    seed: u64,
    transcript: Option<&impl Serialize>,
    document: String,
) -> anyhow::Result<impl Iterator<Item = (String, Vec<u8>)>> {
    let contents = [
        again(Experiment::Averaging(Box::new(experiment.clone())), folder, seed)?,
        transcript.map(transcript::to_json).transpose()?.unwrap_or_default(),
        document.into_bytes(),
    ];
    Ok(BESIDE.map(|(name, _)| name.to_owned()).into_iter().zip(contents))
}

/// An experiment that runs again from anywhere, with this seed, as the bytes of a file.
pub(super) fn again(experiment: Experiment, folder: &Path, seed: u64) -> anyhow::Result<Vec<u8>> {
    Ok(experiment.with_seed(seed).from_anywhere(folder).to_toml()?.into_bytes())
}

/// Keeps the hash of the graph that an averaging read.
fn keep(graph: Option<&String>) {
    if let Some(hash) = graph {
        input::keep(input::GRAPH, hash.clone());
    }
}

/// An averaging by tokens.
fn walk(
    experiment: &Averaging,
    folder: &Path,
    seed: u64,
    place: &Place,
    global: &Global,
) -> anyhow::Result<()> {
    let out = place.folder()?;
    if let Some(out) = &out {
        store::check(out, &BESIDE.map(|(name, _)| name), place.overwrite)?;
    }
    let _waiting = global.waiting("walking");
    let bar = global.progress(experiment.seeds.unwrap_or(1), "walking");
    let found = averaging::walk::run(experiment, folder, seed, || bar.inc(1))?;
    bar.finish_and_clear();
    found.notes.iter().for_each(|text| note(text));
    keep(found.graph_sha256.as_ref());
    let mut files = Vec::new();
    if let Some(out) = &out {
        let all = beside(experiment, folder, seed, found.transcript.as_ref(), global.document(&found)?)?;
        files = store::write(out, &all.collect::<Vec<_>>(), place.overwrite)?;
    }
    global.print(&Printed { found, report: None, files })
}

/// Files beside a page, as it lists them.
fn named(beside: &[(&str, &str)]) -> Vec<(String, String)> {
    beside.iter().map(|(name, what)| ((*name).to_owned(), (*what).to_owned())).collect()
}

impl Global {
    /// The same, with the seed of an experiment.
    fn with_seed(&self, seed: u64) -> Self {
        Self { seed, ..self.clone() }
    }

    /// The files of a page, with what they rest on in `report.json` as in every other document.
    fn headed_files(
        &self,
        files: Vec<(String, Vec<u8>)>,
        seed: u64,
    ) -> anyhow::Result<Vec<(String, Vec<u8>)>> {
        let own = self.with_seed(seed);
        let one = |(name, content): (String, Vec<u8>)| match name == PAGE_DATA {
            true => Ok((name, own.headed(&String::from_utf8(content)?)?.into_bytes())),
            false => Ok((name, content)),
        };
        files.into_iter().map(one).collect()
    }
}

fn spread(experiment: &Rumor, seed: u64, place: &Place, global: &Global) -> anyhow::Result<()> {
    let out = place.folder()?;
    if let Some(out) = &out {
        RumorReport::free(out, place.overwrite)?;
        store::check(out, &BESIDE_RUMOR.map(|(name, _)| name), place.overwrite)?;
    }
    let bar = global.progress(rumor::PARTS, "spreading, attacking");
    let settings = experiment.settings(seed)?;
    let mut found = rumor::run(&settings, || bar.inc(1))?;
    bar.finish_and_clear();
    let files = match &out {
        Some(out) => {
            global.sign(&mut found.report.provenance);
            found.report.provenance.seed = Some(seed);
            let whole = Experiment::Rumor(experiment.clone());
            let told = std::mem::take(&mut found.told);
            let transcript = transcript::Rumor::new(&whole, &settings, told)?;
            found.report.beside = named(&BESIDE_RUMOR);
            let mut files = global.headed_files(found.report.files()?, seed)?;
            files.push((EXPERIMENT.into(), again(whole, Path::new(""), seed)?));
            files.push((TRANSCRIPT.into(), transcript::to_json(&transcript)?));
            files.push((RESULT.into(), global.with_seed(seed).document(&found)?.into_bytes()));
            store::write(out, &files, place.overwrite)?
        }
        None => Vec::new(),
    };
    global.print(&Printed { found, report: out, files })
}

/// A rumour by messages: whether it survives.
fn survive(
    experiment: &Rumor,
    folder: &Path,
    seed: u64,
    place: &Place,
    global: &Global,
) -> anyhow::Result<()> {
    let out = place.folder()?;
    if let Some(out) = &out {
        RumorReport::free(out, place.overwrite)?;
        store::check(out, &BESIDE_RUMOR.map(|(name, _)| name), place.overwrite)?;
    }
    let _waiting = global.waiting("spreading");
    let bar = global.progress(experiment.seeds.unwrap_or(100), "spreading");
    let mut found = rumor::survive(experiment, folder, seed, || bar.inc(1))?;
    bar.finish_and_clear();
    said(found.notes.0.as_ref(), &found.notes.1);
    let mut files = Vec::new();
    if let Some(out) = &out {
        global.sign(&mut found.report.provenance);
        found.report.provenance.seed = Some(seed);
        found.report.beside = named(&BESIDE_RUMOR);
        let mut all = global.headed_files(found.report.files()?, seed)?;
        all.push((EXPERIMENT.into(), again(Experiment::Rumor(experiment.clone()), folder, seed)?));
        let transcript = found.transcript.as_ref().map(transcript::to_json).transpose()?;
        all.push((TRANSCRIPT.into(), transcript.unwrap_or_default()));
        all.push((RESULT.into(), global.with_seed(seed).document(&found)?.into_bytes()));
        files = store::write(out, &all, place.overwrite)?;
    }
    global.print(&Printed { found, report: out, files })
}
