//! `sottovoce reproduce`: a paper's figures and tables again, beside exact accounting.

use std::fmt;
use std::path::PathBuf;

use anyhow::bail;
use clap::Args;
use serde::Serialize;

use super::Global;
use crate::reproduce::muffliato::{self, Figure};
use crate::reproduce::{Options, Reproduction, Watch};

const EXAMPLES: &str = "Examples:
  sottovoce reproduce
  sottovoce reproduce muffliato --data DIR
  sottovoce reproduce muffliato/1a --out figure-1a --overwrite

Each line says whether the paper's formula gives here what the paper says it gives, and whether that survives exact
accounting. The folder gets index.html, results.json, and pictures and data of each figure.";

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
    /// Folder with data sets; the social graphs are read from facebook-ego/N.edges (SNAP).
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Small graphs, to try things out.
    #[arg(long)]
    quick: bool,
}

impl Reproduce {
    pub(crate) fn run(&self, global: &Global) -> anyhow::Result<()> {
        let Some(what) = &self.what else { return global.print(&Listing::new()) };
        let figures = figures(what)?;
        if let Some(data) = self.data.as_ref().filter(|data| !data.is_dir()) {
            bail!("`data` is {}: there is no such folder; give one that holds the data sets", data.display());
        }
        let out = self.out.clone().unwrap_or_else(|| PathBuf::from("reproduced").join(muffliato::NAME));
        Reproduction::check(&out, self.overwrite)?;
        let options = Options { seed: global.seed, quick: self.quick, data: self.data.clone() };
        let bar = global.progress(figures.len(), muffliato::NAME);
        let doing = |what: &str| bar.set_message(what.to_owned());
        let watch = Watch { doing: &doing, finished: &|| bar.inc(1) };
        let reproduction = muffliato::run(&figures, &options, &watch)?;
        bar.finish_and_clear();
        reproduction.write(&out, self.overwrite)?;
        global.print(&Written { reproduction, out, quiet: global.quiet })
    }
}

/// The figures that `PAPER` or `PAPER/FIGURE` stands for.
fn figures(what: &str) -> anyhow::Result<Vec<Figure>> {
    match what.split_once('/') {
        None if what == muffliato::NAME => Ok(Figure::ALL.to_vec()),
        Some((muffliato::NAME, figure)) => Ok(vec![figure.parse()?]),
        _ => bail!("`paper` is {what}: give {0}, or one figure such as {0}/1a", muffliato::NAME),
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
        let items = muffliato::listing().into_iter().map(|(name, title)| Listed { name, title });
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
