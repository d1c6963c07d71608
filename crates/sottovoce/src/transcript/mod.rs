//! A run as a file: all that is public of it, and what happened, without any value.
//!
//! ```text
//! run ──► transcript.json ──► account transcript: what was revealed to whom
//!                        └──► audit transcript:   did peers do what was agreed (check), and does its account stand?
//! ```
//!
//! It names no file that is needed: whoever has it can judge the run, wherever the graph, the values and the rows are. One file for each kind of
//! experiment: `averaging` (and `walk`, where tokens average), `learning`, `personalized`, `deep`, `rumor`, and `messages` for a rumour by messages.

mod averaging;
mod deep;
mod learning;
mod messages;
mod personalized;
mod rumor;
mod walk;

use std::fmt;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sottovoce_fault::file;
use sottovoce_topology::Graph;
use sottovoce_topology::mixing::Mixing;

pub use averaging::Averaging;
pub use deep::Deep;
pub use learning::{Learning, Spent};
pub use messages::Messages;
pub use personalized::Personalized;
pub use rumor::{Rumor, Tellings};
pub use walk::Walk;

use crate::experiment::Experiment;
use crate::experiment::graph::called;
use crate::{Error, Result, require};

/// Counts changes to the file that break readers.
const SCHEMA_VERSION: u32 = 1;
/// What is named of a list, at most.
const SHOWN: usize = 8;

/// A run of any experiment, as a file has it.
#[derive(Debug, Clone, PartialEq)]
pub enum File {
    /// An averaging.
    Averaging(Box<Averaging>),
    /// An averaging by tokens that walk.
    Walk(Box<Walk>),
    /// A learning run.
    Learning(Box<Learning>),
    /// Personalised models.
    Personalized(Box<Personalized>),
    /// A net learned together.
    Deep(Box<Deep>),
    /// A rumour among peers who can all reach each other, where nothing is lost.
    Rumor(Box<Rumor>),
    /// A rumour by messages.
    Messages(Box<Messages>),
}

/// What fell when peers did not do what was agreed: the account of the run is void.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Void {
    /// In a sentence.
    pub headline: String,
    /// Whether the account stands: it does not.
    pub stands: bool,
    /// What is claimed by whoever shows the transcript.
    pub claimed: &'static str,
    /// What was found instead, each in a sentence.
    pub found: Vec<String>,
}

impl Void {
    /// Where these things are not as agreed; none where everything is.
    pub fn of(problems: &[String]) -> Option<Self> {
        let first = problems.first()?;
        Some(Self {
            headline: format!("Peers did not do what was agreed: {first}"),
            stands: false,
            claimed: "this run is one of its experiment: every message follows a release with the noise that was agreed on, and goes where the plan lets it go",
            found: problems.to_vec(),
        })
    }
}

impl fmt::Display for Void {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n\n  claimed: {}\n  found:", self.headline, self.claimed)?;
        self.found.iter().try_for_each(|problem| writeln!(f, "  * {problem}"))
    }
}

/// What every file begins with.
#[derive(Deserialize)]
struct Head {
    schema_version: u32,
    experiment: String,
}

impl File {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<Self> {
        Self::of(&file::text("transcript", path, file::MOST)?, path)
    }

    /// The same of the text of one.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        Self::of(text, Path::new("in memory"))
    }

    fn of(text: &str, path: &Path) -> Result<Self> {
        let refused = |remedy: String| Error::parameter("transcript", path.display(), remedy);
        let unknown = |error: serde_json::Error| {
            refused(format!("it is no transcript of a run ({error}); give transcript.json of a report"))
        };
        let Head { schema_version, experiment } = serde_json::from_str(text).map_err(unknown)?;
        let remedy = format!("this program reads version {SCHEMA_VERSION}");
        require(schema_version == SCHEMA_VERSION, "schema_version", schema_version, remedy)?;
        fn whole<T: DeserializeOwned>(text: &str) -> serde_json::Result<Box<T>> {
            serde_json::from_str(text).map(Box::new)
        }
        Ok(match Experiment::parse(&experiment)? {
            Experiment::Averaging(averaging) if averaging.walks() => {
                Self::Walk(Box::new(whole::<Walk>(text).map_err(unknown)?.checked()?))
            }
            Experiment::Averaging(_) => {
                Self::Averaging(Box::new(whole::<Averaging>(text).map_err(unknown)?.checked()?))
            }
            Experiment::Learning(_) => Self::Learning(whole(text).map_err(unknown)?),
            Experiment::Personalized(_) => Self::Personalized(whole(text).map_err(unknown)?),
            Experiment::Deep(_) => Self::Deep(whole(text).map_err(unknown)?),
            Experiment::Rumor(asked) if asked.is_networked() => Self::Messages(whole(text).map_err(unknown)?),
            Experiment::Rumor(_) => Self::Rumor(whole(text).map_err(unknown)?),
        })
    }
}

impl File {
    /// What was agreed on, as its own file would have it.
    fn experiment(&self) -> Result<Experiment> {
        Experiment::parse(match self {
            Self::Averaging(file) => &file.experiment,
            Self::Walk(file) => &file.experiment,
            Self::Learning(file) => &file.experiment,
            Self::Personalized(file) => &file.experiment,
            Self::Deep(file) => &file.experiment,
            Self::Rumor(file) => &file.experiment,
            Self::Messages(file) => &file.experiment,
        })
    }

    /// What cannot be held against the experiment: it names files, and whoever judges the run has none. What the run took from them is as the transcript says.
    pub fn unchecked(&self) -> Result<Vec<String>> {
        let mut experiment = self.experiment()?;
        let files = experiment.files().into_iter();
        let mut all: Vec<String> = files
            .map(|(field, file)| {
                format!("`{field}` is {}: what the run took from it is as the transcript says", called(file))
            })
            .collect();
        match self {
            Self::Learning(file) => all.extend(file.unchecked()?),
            Self::Deep(file) => all.extend(file.unchecked()?),
            Self::Averaging(file) => all.extend(of_values(&experiment, file.sensitivity)),
            Self::Walk(file) => all.extend(of_values(&experiment, file.sensitivity)),
            _ => {}
        }
        Ok(all)
    }
}

/// A sensitivity that follows from how many numbers every peer holds, where a file has them.
fn of_values(experiment: &Experiment, sensitivity: f64) -> Option<String> {
    let Experiment::Averaging(averaging) = experiment else { return None };
    let follows = averaging.values.file.is_some() && averaging.noise.sensitivity.is_none();
    follows.then(|| {
        format!("`sensitivity` is {sensitivity}: it follows from how many numbers each peer holds, and is as the transcript says; epsilon grows with it")
    })
}

/// As the bytes of a file.
pub fn to_json(file: &impl Serialize) -> Result<Vec<u8>> {
    let wrong = |error: serde_json::Error| Error::refused(format!("`transcript` cannot be written: {error}"));
    serde_json::to_vec(file).map_err(wrong)
}

/// That peers did not do what was agreed, so that no account holds.
fn astray(problem: &str) -> Error {
    Error::refused(format!(
        "`transcript` does not follow its plan ({problem}): nothing can be said of what was revealed; see `sottovoce audit transcript`"
    ))
}

/// The first of a list that a replay of the run has otherwise.
fn unlike<T: PartialEq + fmt::Debug>(what: &str, told: &[T], replayed: &[T]) -> Option<String> {
    let at = (0..told.len().max(replayed.len())).find(|&at| told.get(at) != replayed.get(at))?; // whole numbers
    let one = |list: &[T]| list.get(at).map_or_else(|| "missing".to_owned(), |one| format!("{one:?}"));
    Some(format!(
        "{what} {at} is {}, and {} when the run is replayed from its seed",
        one(told),
        one(replayed)
    ))
}

/// Where what is said of a run is not what its experiment says.
fn differing(same: &[(&str, bool)]) -> Vec<String> {
    let others = same.iter().filter(|(_, same)| !same);
    others.map(|(what, _)| format!("the {what} of the run is not that of its experiment")).collect()
}

/// A mixing matrix: its diagonal, and an entry for each edge; two where its directions differ.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Matrix {
    diagonal: Vec<f64>,
    entries: Vec<(usize, usize, f64)>,
}

impl Matrix {
    pub(crate) fn of(mixing: &Mixing) -> Self {
        let entry = |(u, v)| (u, v, mixing.weight(u, v));
        let forth = mixing.graph().edges().map(entry);
        let back = mixing.graph().edges().filter(|_| !mixing.is_symmetric()).map(|(u, v)| entry((v, u)));
        Self { diagonal: mixing.diagonal().to_vec(), entries: forth.chain(back).collect() }
    }

    pub(crate) fn mixing(&self) -> Result<Mixing> {
        let forth = self.entries.iter().filter(|(u, v, _)| u < v);
        let graph = Graph::from_edges(self.diagonal.len(), forth.map(|&(u, v, _)| (u, v)))?;
        let diagonal = self.diagonal.iter().enumerate().map(|(u, &weight)| (u, u, weight));
        let entries = self.entries.iter().copied().chain(diagonal);
        // Tokens may walk by weights that differ in their directions.
        match self.entries.len() > graph.edge_count() {
            true => Ok(Mixing::of_walk(&graph, entries)?),
            false => Ok(Mixing::from_entries(&graph, entries)?),
        }
    }
}
