//! `sottovoce run`: the main jobs, by flags, from a file, or on embedded examples that need no files. All end in a report.

mod examples;

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use anyhow::bail;
use clap::{Args, Subcommand};
use indicatif::ProgressBar;
use serde::Serialize;
use serde_json::Map;
use sottovoce::experiment::{self, Experiment, folder_of};
use sottovoce::spine::{self, Checkpoints, Context, Progress, check_folder};

use crate::audit::Failed;
use crate::device::Device;
use crate::output::{joined, note};
use crate::spec::Spec;
use crate::underway::Underway;
use crate::{Global, input};

/// The quickstart's spec, as its file has it.
const QUICKSTART: &str = include_str!("quickstart.toml");

/// Arguments of `run`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  sottovoce run quickstart\n  sottovoce run averaging --graph friends.graphml --values mine.csv\n  sottovoce run learning\n  \
                  sottovoce run personalized\n  sottovoce run deep\n  sottovoce run rumor\n  sottovoce run my.toml\n\nAn experiment's file such as my.toml is what `sottovoce new averaging` prints."
)]
pub(crate) struct Run {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Private averaging among 64 peers who speak only to those nearby: simulated, accounted for, attacked, reported.
    #[command(after_help = examples::QUICKSTART)]
    Quickstart(Quickstart),
    /// Your own averaging: graph, values, noise, faults; simulated, accounted for, attacked, reported.
    #[command(after_help = examples::AVERAGING)]
    Averaging(Box<Flags<experiment::Averaging>>),
    /// A model learned together from data that stays where it is: calibrated, run, accounted for, reported.
    #[command(after_help = examples::LEARNING)]
    Learning(Box<Kept<experiment::Learning>>),
    /// A model for everyone, with help from similar agents: calibrated, run, accounted for, reported.
    #[command(after_help = examples::PERSONALIZED)]
    Personalized(Box<Flags<experiment::Personalized>>),
    /// A net learned together from images that stay where they are: calibrated, run, accounted for, reported.
    #[command(after_help = examples::DEEP)]
    Deep(Box<Deep>),
    /// A rumour whose source is hidden: spread, accounted for, attacked, reported.
    #[command(after_help = examples::RUMOR)]
    Rumor(Box<Flags<experiment::Rumor>>),
    /// An experiment's file: `run my.toml` is short for it.
    #[command(after_help = examples::FILE)]
    File(File),
}

#[derive(Debug, Args)]
struct Quickstart {
    /// Runs with so many seeds, from --seed on; the first is shown, errors are given over all of them.
    #[arg(long, value_name = "K", default_value_t = 1)]
    seeds: usize,
    #[command(flatten)]
    place: Place,
}

#[derive(Debug, Args)]
#[group(skip)]
struct Flags<S: Args> {
    #[command(flatten)]
    spec: Spec<S>,
    #[command(flatten)]
    place: Place,
}

/// The same of a run whose state can be kept.
#[derive(Debug, Args)]
#[group(skip)]
struct Kept<S: Args> {
    #[command(flatten)]
    flags: Flags<S>,
    #[command(flatten)]
    state: Checkpoints,
}

#[derive(Debug, Args)]
#[group(skip)]
struct Deep {
    #[command(flatten)]
    kept: Kept<experiment::Deep>,
    /// Where gradients are computed; last digits depend on it, lots and noise do not.
    #[arg(long, value_enum, default_value_t)]
    device: Device,
}

#[derive(Debug, Args)]
struct File {
    /// The experiment.
    file: PathBuf,
    /// Runs with so many seeds, instead of what the file says.
    #[arg(long, value_name = "K")]
    seeds: Option<usize>,
    #[command(flatten)]
    place: Place,
}

impl Run {
    pub(crate) fn run(&self, global: &Global) -> anyhow::Result<()> {
        let (none, here) = (Checkpoints::default(), PathBuf::new());
        let (spec, folder, place, checkpoints, device) = match &self.what {
            What::Quickstart(Quickstart { seeds, place }) => {
                (Experiment::parse(QUICKSTART)?.with_seeds(*seeds)?, here, place, &none, Device::Cpu)
            }
            What::File(File { file, seeds, place }) => {
                let spec = Experiment::read(file)?;
                let spec = seeds.map_or(Ok(spec.clone()), |seeds| spec.with_seeds(seeds))?;
                (spec, folder_of(file), place, &none, Device::Cpu)
            }
            What::Averaging(flags) => (flags.spec.experiment()?, here, &flags.place, &none, Device::Cpu),
            What::Personalized(flags) => (flags.spec.experiment()?, here, &flags.place, &none, Device::Cpu),
            What::Rumor(flags) => (flags.spec.experiment()?, here, &flags.place, &none, Device::Cpu),
            What::Learning(kept) => {
                let Kept { flags, state } = &**kept;
                (flags.spec.experiment()?, here, &flags.place, state, Device::Cpu)
            }
            What::Deep(deep) => {
                let Kept { flags, state } = &deep.kept;
                (flags.spec.experiment()?, here, &flags.place, state, deep.device)
            }
        };
        let global = &global.with_seed(global.seed_of(&spec));
        let out = place.folder()?;
        if let Some(out) = &out {
            check_folder(&spec, out, place.overwrite)?;
        }
        let outcome = {
            let bars = Bars::new(global);
            let context = Context {
                folder: &folder,
                seed: global.seed,
                progress: &bars,
                checkpoints,
                elsewhere: &|ready| device.trainer(ready),
            };
            let _underway = place.underway(&spec, &context, global)?;
            let _waiting = global.waiting("running");
            spec.run(&context)?
        };
        outcome.notes.iter().for_each(|text| note(text));
        input::of_graph(outcome.graph_sha256.as_ref());
        let mut printed = Printed { found: Map::new(), report: None, files: Vec::new() };
        if let Some(out) = out {
            let has_page = outcome.has_page();
            let files = outcome.files(global.provenance(), |body| headed(global, &body))?;
            printed.files = spine::write(&out, &files, place.overwrite)?;
            printed.report = Some(out).filter(|_| has_page);
        }
        let found = &outcome.document;
        global.show(
            |verbose| printed.text(&found.text(verbose)),
            || Ok(joined(&found.json()?, &serde_json::to_string(&printed)?)),
        )?;
        outcome.refuted.map_or(Ok(()), |verdict| Err(Failed(verdict).into()))
    }
}

/// The document with what it rests on, where a library asks.
fn headed(global: &Global, body: &str) -> sottovoce::Result<String> {
    global.headed(body).map_err(|error| sottovoce::Error::refused(error.to_string()))
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

    /// Says in the folder that was asked for that a run is under way, until what is returned is dropped.
    fn underway(
        &self,
        spec: &Experiment,
        context: &Context<'_>,
        global: &Global,
    ) -> anyhow::Result<Option<Underway>> {
        let Some(out) = &self.out else { return Ok(None) };
        let again = context.again(spec.clone()).to_toml()?;
        Ok(Some(Underway::begin(out, again, &global.latest)))
    }
}

/// Shows on a bar how far a run is.
struct Bars<'a> {
    global: &'a Global,
    bar: Mutex<Option<ProgressBar>>,
}

impl<'a> Bars<'a> {
    fn new(global: &'a Global) -> Self {
        Self { global, bar: Mutex::new(None) }
    }

    fn on(&self, show: impl FnOnce(&ProgressBar)) {
        if let Some(bar) = &*self.bar.lock().unwrap_or_else(PoisonError::into_inner) {
            show(bar);
        }
    }
}

impl Progress for Bars<'_> {
    fn begin(&self, steps: usize, what: &str) {
        self.on(ProgressBar::finish_and_clear);
        let bar = self.global.progress(steps, what);
        *self.bar.lock().unwrap_or_else(PoisonError::into_inner) = Some(bar);
    }

    fn step(&self, next: &str) {
        self.on(|bar| {
            bar.inc(1);
            if !next.is_empty() {
                bar.set_message(next.to_owned());
            }
        });
    }

    fn at(&self, done: usize, how: &str) {
        self.on(|bar| {
            bar.set_position(done as u64);
            bar.set_message(how.to_owned());
        });
    }
}

impl Drop for Bars<'_> {
    fn drop(&mut self) {
        self.on(ProgressBar::finish_and_clear);
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

impl<F> Printed<F> {
    /// A result's text, and where its page is.
    fn text(&self, found: &str) -> String {
        match &self.report {
            Some(folder) => format!("{found}\nReport: {}", folder.join("report.html").display()),
            None => found.to_owned(),
        }
    }
}
