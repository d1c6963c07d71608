//! `sottovoce-papers reproduce`: a paper's figures and tables again, beside exact accounting.

use std::fmt;
use std::path::PathBuf;

use anyhow::ensure;
use clap::Args;
use serde::Serialize;

use sottovoce_cli::program::{Device, Global};
use sottovoce_papers::{Job, Options, Reproduction, Watch, listing};

const EXAMPLES: &str = "Examples:
  sottovoce-papers reproduce
  sottovoce-papers reproduce muffliato --data DIR
  sottovoce-papers reproduce muffliato/1a --out figure-1a --overwrite
  sottovoce-papers reproduce random-walk --data DIR
  sottovoce-papers reproduce rumor --quick
  sottovoce-papers reproduce consensus-deep-learning --data DIR --trials 3
  sottovoce-papers reproduce consensus-deep-learning/table1 --data DIR --trials 5 --device gpu

Each line says whether the paper's formula or experiment gives here what the paper says it gives, and whether that survives
exact accounting, or stays within what is proven. The folder gets index.html, results.json, and pictures and data of each
figure. Finished cells of long tables are kept in its folder cells: an interrupted command goes on from there.";

/// What there is, after its number.
const LISTED: &str = "figures and tables can be reproduced";

/// Arguments of `reproduce`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Reproduce {
    /// A paper, or one figure of it; without it, what can be reproduced is listed.
    #[arg(value_name = "PAPER[/FIGURE]")]
    what: Option<String>,
    /// Folder to write into (default: reproduced/PAPER).
    #[arg(long, value_name = "DIR", requires = "what")]
    out: Option<PathBuf>,
    /// Replace files that are there already.
    #[arg(long, requires = "what")]
    overwrite: bool,
    /// Folder with data sets; the social graphs are read from facebook-ego/N.edges (SNAP), Houses from houses/, MNIST from mnist/.
    #[arg(long, value_name = "DIR", requires = "what")]
    data: Option<PathBuf>,
    /// Small graphs and few runs, to try things out.
    #[arg(long, requires = "what")]
    quick: bool,
    /// Trials of each cell of a table (default: 1), for papers that let them be chosen.
    #[arg(long, value_name = "N", requires = "what")]
    trials: Option<usize>,
    /// Where nets are learned, for papers that have some: on a graphics card, all of them side by side.
    #[arg(long, value_enum, default_value_t, requires = "what")]
    device: Device,
}

impl Reproduce {
    pub(crate) fn run(&self, global: &Global) -> anyhow::Result<()> {
        let Some(what) = &self.what else { return global.print(&Listing::new(LISTED, listing())) };
        let Self { quick, trials, .. } = *self;
        let options = Options { seed: global.seed, quick, data: self.data.clone(), trials, cells: None };
        reproduce(what, &options, (self.out.clone(), self.overwrite), self.device, global)
    }
}

/// Computes figures again, writes and prints them.
pub(crate) fn reproduce(
    what: &str,
    options: &Options,
    (out, overwrite): (Option<PathBuf>, bool),
    device: Device,
    global: &Global,
) -> anyhow::Result<()> {
    let job = Job::find(what)?;
    ensure!(
        job.paper.nets || device == Device::Cpu,
        "`device` is gpu: no nets are learned for {}; leave it out",
        job.paper.name
    );
    let out = out.unwrap_or_else(|| PathBuf::from("reproduced").join(job.paper.name));
    Reproduction::check(&out, overwrite)?;
    // Whoever goes on with an interrupted command finds there what is finished.
    let options = &Options { cells: Some(out.join("cells")), ..options.clone() };
    let card = device.side_by_side();
    let bar = global.progress(job.parts(options), job.paper.name);
    let doing = |what: &str| bar.set_message(what.to_owned());
    let watch = Watch { doing: &doing, finished: &|| bar.inc(1) };
    let reproduction = job.run(options, &watch, card.as_deref())?;
    bar.finish_and_clear();
    reproduction.write(&out, global.provenance(), overwrite)?;
    global.print(&Written { reproduction, out })
}

/// What a command can be asked for: of the papers' figures, or of their statements.
#[derive(Serialize, schemars::JsonSchema)]
pub(crate) struct Listing {
    /// Their names and titles.
    items: Vec<Listed>,
    #[serde(skip)]
    headline: &'static str,
}

#[derive(Serialize, schemars::JsonSchema)]
struct Listed {
    /// As the command takes it.
    name: String,
    /// What it is about.
    title: &'static str,
}

impl Listing {
    /// Of these things, so many of which the headline speaks.
    pub(crate) fn new(headline: &'static str, all: impl IntoIterator<Item = (String, &'static str)>) -> Self {
        Self { items: all.into_iter().map(|(name, title)| Listed { name, title }).collect(), headline }
    }
}

impl fmt::Display for Listing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} {}\n", self.items.len(), self.headline)?;
        let width = self.items.iter().map(|item| item.name.len()).max().unwrap_or(0);
        self.items.iter().try_for_each(|item| writeln!(f, "{:<width$} {}", item.name, item.title))
    }
}

/// A reproduction and where it was put.
#[derive(Serialize, schemars::JsonSchema)]
pub(crate) struct Written {
    #[serde(flatten)]
    reproduction: Reproduction,
    /// The folder that was written.
    out: PathBuf,
}

impl Written {
    fn headline(&self) -> String {
        let items = &self.reproduction.items;
        let verdicts = || items.iter().filter_map(|item| item.verdict.as_ref());
        let (all, again) = (verdicts().count(), verdicts().filter(|verdict| verdict.reproduced).count());
        let hold = verdicts().filter(|verdict| verdict.holds).count();
        let skipped = items.iter().filter(|item| item.skipped.is_some()).count();
        let skipped = if skipped > 0 { format!("; {skipped} skipped") } else { String::new() };
        let quick = if self.reproduction.quick { " (QUICK: small graphs, few runs)" } else { "" };
        let paper = self.reproduction.paper;
        format!("{paper}: {again} of {all} claims reproduced, {hold} hold{skipped}{quick}")
    }
}

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", self.headline())?;
        write!(f, "{}", self.reproduction)?;
        write!(f, "\nwritten: {}", self.out.join("index.html").display())
    }
}
