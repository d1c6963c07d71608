//! `sottovoce reproduce`: a paper's figures and tables again, beside exact accounting.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use anyhow::bail;
use clap::Args;
use serde::Serialize;

use super::Global;
use sottovoce_papers::{Options, Reproduction, Watch, muffliato, random_walk, rumor};

const EXAMPLES: &str = "Examples:
  sottovoce reproduce
  sottovoce reproduce muffliato --data DIR
  sottovoce reproduce muffliato/1a --out figure-1a --overwrite
  sottovoce reproduce random-walk --data DIR
  sottovoce reproduce rumor --quick

Each line says whether the paper's formula or experiment gives here what the paper says it gives, and whether that survives
exact accounting, or stays within what is proven. The folder gets index.html, results.json, and pictures and data of each
figure.";

/// Arguments of `reproduce`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Reproduce {
    /// A paper, or one figure of it; without it, what can be reproduced is listed.
    #[arg(value_name = "PAPER[/FIGURE]")]
    what: Option<String>,
    /// Folder to write into (default: reproduced/PAPER).
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Replace files that are there already.
    #[arg(long)]
    overwrite: bool,
    /// Folder with data sets; the social graphs are read from facebook-ego/N.edges (SNAP), Houses from houses/.
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Small graphs and few runs, to try things out.
    #[arg(long)]
    quick: bool,
}

impl Reproduce {
    pub(crate) fn run(&self, global: &Global) -> anyhow::Result<()> {
        let Some(what) = &self.what else { return global.print(&Listing::new()) };
        let job: Job = what.parse()?;
        if let Some(data) = self.data.as_ref().filter(|data| !data.is_dir()) {
            bail!("`data` is {}: there is no such folder; give one that holds the data sets", data.display());
        }
        let out = self.out.clone().unwrap_or_else(|| PathBuf::from("reproduced").join(job.paper()));
        Reproduction::check(&out, self.overwrite)?;
        let options = Options { seed: global.seed, quick: self.quick, data: self.data.clone() };
        let bar = global.progress(job.parts(&options), job.paper());
        let doing = |what: &str| bar.set_message(what.to_owned());
        let watch = Watch { doing: &doing, finished: &|| bar.inc(1) };
        let reproduction = job.run(&options, &watch)?;
        bar.finish_and_clear();
        reproduction.write(&out, self.overwrite)?;
        global.print(&Written { reproduction, out, quiet: global.quiet })
    }
}

/// Figures of one paper.
enum Job {
    Muffliato(Vec<muffliato::Figure>),
    Rumor(Vec<rumor::Figure>),
    RandomWalk(Vec<random_walk::Figure>),
}

impl Job {
    fn paper(&self) -> &'static str {
        match self {
            Self::Muffliato(_) => muffliato::NAME,
            Self::Rumor(_) => rumor::NAME,
            Self::RandomWalk(_) => random_walk::NAME,
        }
    }

    /// Into how many parts the work falls.
    fn parts(&self, options: &Options) -> usize {
        match self {
            Self::Muffliato(figures) => figures.len(),
            Self::Rumor(figures) => rumor::parts(figures, options),
            Self::RandomWalk(figures) => figures.len(),
        }
    }

    fn run(&self, options: &Options, watch: &Watch) -> sottovoce::Result<Reproduction> {
        match self {
            Self::Muffliato(figures) => muffliato::run(figures, options, watch),
            Self::Rumor(figures) => rumor::run(figures, options, watch),
            Self::RandomWalk(figures) => random_walk::run(figures, options, watch),
        }
    }
}

impl FromStr for Job {
    type Err = anyhow::Error;

    /// What `PAPER` or `PAPER/FIGURE` stands for.
    fn from_str(what: &str) -> anyhow::Result<Self> {
        match what.split_once('/') {
            None if what == muffliato::NAME => Ok(Self::Muffliato(muffliato::Figure::ALL.to_vec())),
            None if what == rumor::NAME => Ok(Self::Rumor(rumor::Figure::ALL.to_vec())),
            None if what == random_walk::NAME => Ok(Self::RandomWalk(random_walk::Figure::ALL.to_vec())),
            Some((muffliato::NAME, figure)) => Ok(Self::Muffliato(vec![figure.parse()?])),
            Some((rumor::NAME, figure)) => Ok(Self::Rumor(vec![figure.parse()?])),
            Some((random_walk::NAME, figure)) => Ok(Self::RandomWalk(vec![figure.parse()?])),
            _ => bail!(
                "`paper` is {what}: give {0}, {1} or {2}, or one figure such as {0}/1a",
                muffliato::NAME,
                random_walk::NAME,
                rumor::NAME
            ),
        }
    }
}

/// What can be reproduced.
#[derive(Serialize)]
struct Listing {
    items: Vec<Listed>,
}

#[derive(Serialize)]
struct Listed {
    name: String,
    title: String,
}

impl Listing {
    fn new() -> Self {
        let items = muffliato::listing()
            .into_iter()
            .chain(rumor::listing())
            .chain(random_walk::listing())
            .map(|(name, title)| Listed { name, title });
        Self { items: items.collect() }
    }
}

impl fmt::Display for Listing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.items.iter().try_for_each(|item| writeln!(f, "{:<18} {}", item.name, item.title))
    }
}

/// A reproduction and where it was put.
#[derive(Serialize)]
struct Written {
    #[serde(flatten)]
    reproduction: Reproduction,
    out: PathBuf,
    #[serde(skip)]
    quiet: bool,
}

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.reproduction)?;
        if self.quiet {
            return Ok(());
        }
        write!(f, "\nwritten: {}", self.out.join("index.html").display())
    }
}
