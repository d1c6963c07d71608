//! Published results, computed again: what a paper shows, what its formula gives here, and what the exact accountant says.
//!
//! ```text
//! registry: PAPER/FIGURE ──► figure file (muffliato/…, rumor/…) ──► Item: section of a page, pictures, tables of data, verdict
//!                                                     │
//!                                                     ▼
//!                                       Reproduction::write: index.html, .svg, .png, .csv, results.json
//! ```
//!
//! The program `sottovoce-papers` asks for them (`src/bin/sottovoce-papers/`).
//!
//! A verdict has two halves, both computed and neither assumed: whether the paper's own formula or experiment gives here what the
//! paper says it gives (*reproduced*), and whether what it says survives exact accounting, or stays within what is proven (*holds*).

mod colours;
mod communities;
mod consensus;
mod graphs;
mod item;
mod learners;
mod map;
mod muffliato;
mod personalized;
mod printed;
mod random_walk;
mod registry;
mod rumor;
mod statistics;
mod theorem;

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Serialize;
use sottovoce_report::{Label, Page, Provenance, store};

pub use item::{ByCode, Item, Verdict};
pub use registry::{Figure, Job, PAPERS, Paper, listing};
use sottovoce::require;
pub use sottovoce::{Error, Result};
pub use theorem::{Answer, Inputs, Number, Statement, statements};

/// The page.
const PAGE: &str = "index.html";
/// Verdicts and numbers.
const RESULTS: &str = "results.json";

/// What a reproduction is given.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Options {
    /// Seed of every random graph and of every random choice.
    pub seed: u64,
    /// Small graphs, to try things out: verdicts then are about those.
    pub quick: bool,
    /// A folder with data sets, such as `facebook-ego/`.
    pub data: Option<PathBuf>,
    /// Trials of what is repeated, where a paper lets them be chosen.
    pub trials: Option<usize>,
    /// A folder in which finished parts of long work are kept, and from which they are taken.
    pub cells: Option<PathBuf>,
}

/// Who is told how far the work is.
pub struct Watch<'a> {
    /// What begins now.
    pub doing: &'a (dyn Fn(&str) + Sync),
    /// One item is ready.
    pub finished: &'a (dyn Fn() + Sync),
}

/// All that was reproduced of one paper.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
pub struct Reproduction {
    /// The paper, by its short name.
    pub paper: &'static str,
    /// The seed.
    pub seed: u64,
    /// Whether the graphs were small ones.
    pub quick: bool,
    /// Figures and tables, in the paper's order.
    pub items: Vec<Item>,
    #[serde(skip)]
    page: Page,
}

impl Reproduction {
    /// Refuses a folder that holds a reproduction already, before any work is done.
    pub fn check(dir: &Path, overwrite: bool) -> Result<()> {
        Ok(store::check(dir, &[PAGE, RESULTS], overwrite)?)
    }

    /// Writes the page, its pictures and its data into a folder: all of them or none. Returns the files.
    pub fn write(&self, dir: &Path, provenance: Provenance, overwrite: bool) -> Result<Vec<PathBuf>> {
        let unwritten =
            |source| Error::Json { problem: "the results cannot be written as JSON".into(), source };
        let results = serde_json::to_vec_pretty(self).map_err(unwritten)?;
        let mut files =
            vec![(PAGE, self.html(provenance).into_bytes()), (RESULTS, [&results[..], b"\n"].concat())];
        let attached = self.items.iter().flat_map(|item| &item.attachments);
        files.extend(attached.map(|(name, content)| (name.as_str(), content.clone())));
        Ok(store::write(dir, &files, overwrite)?)
    }

    /// The page, with a label that nobody overlooks where the run was a quick one.
    fn html(&self, provenance: Provenance) -> String {
        let label = self.quick.then(|| Label {
            word: "QUICK".into(),
            meaning: "Made with --quick: small graphs and few runs, to try things out. Verdicts are about those, not about the paper."
                .into(),
        });
        Page { label, provenance, ..self.page.clone() }.html()
    }
}

impl fmt::Display for Reproduction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.items.iter().try_for_each(|item| writeln!(f, "{item}"))
    }
}
