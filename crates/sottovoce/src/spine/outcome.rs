//! What a run returns, and how it is written: one document, one transcript and one page, whatever the protocol.

use std::any::Any;
use std::fmt::{self, Display};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;
use sottovoce_report::{Provenance, store};

use crate::experiment::{Experiment, KINDS};
use crate::transcript::File;
use crate::{Error, Result};

/// The spec beside the page, to be run again.
pub const EXPERIMENT: &str = "experiment.toml";
/// What was sent by whom to whom, without values.
pub const TRANSCRIPT: &str = "transcript.json";
/// What is printed with `--json`.
pub const RESULT: &str = "result.json";
/// What a page shows, as data.
const PAGE_DATA: &str = "report.json";
/// The files beside every page, and what they are.
const BESIDE: [(&str, &str); 3] = [
    (EXPERIMENT, "the experiment, to be run again"),
    (TRANSCRIPT, "who released what, and who sent what to whom"),
    (RESULT, "what is printed with --json"),
];

/// A result for people and for programs. The first line of its text is the headline.
pub trait Document: Any + Send + Sync {
    /// The text; with lists of all peers where `verbose`.
    fn text(&self, verbose: bool) -> String;
    /// A JSON object.
    fn json(&self) -> Result<String>;
}

impl<T: Serialize + Display + Any + Send + Sync> Document for T {
    fn text(&self, verbose: bool) -> String {
        if verbose { format!("{self:#}") } else { self.to_string() }
    }

    fn json(&self) -> Result<String> {
        serde_json::to_string(self)
            .map_err(|error| Error::refused(format!("the result cannot be written: {error}")))
    }
}

/// Files by name.
pub type Files = Vec<(String, Vec<u8>)>;
/// What the maker of a page is told: where the page comes from, and which other files lie beside it.
pub struct Beside {
    /// Where the page comes from.
    pub provenance: Provenance,
    /// Names of the other files, and what they are.
    pub files: Vec<(String, String)>,
}
impl Beside {
    /// Where a page comes from that knows its graph and its seed itself.
    pub(crate) fn over(&self, own: Provenance) -> Provenance {
        let made = self.provenance.clone();
        Provenance { seed: own.seed.or(made.seed), graph_hash: made.graph_hash.or(own.graph_hash), ..made }
    }
}

/// Makes the files of a page.
pub(crate) type Page = Box<dyn Fn(Beside) -> Result<Files> + Send>;

/// What a run returns.
pub struct Outcome {
    /// What came of it.
    pub document: Arc<dyn Document>,
    /// What was noticed in the files that were read.
    pub notes: Vec<String>,
    /// SHA-256 of the graph's file.
    pub graph_sha256: Option<String>,
    /// Why the attack refutes the claim, if it does.
    pub refuted: Option<String>,
    /// The spec with the seed of the run.
    experiment: Experiment,
    transcript: Vec<u8>,
    page: Option<Page>,
}

impl fmt::Debug for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outcome").field("refuted", &self.refuted).finish_non_exhaustive()
    }
}

impl Outcome {
    /// A result with its transcript. `experiment` is the spec as it can be run again.
    pub(crate) fn new(
        document: impl Document,
        experiment: Experiment,
        transcript: &impl Serialize,
    ) -> Result<Self> {
        Ok(Self {
            document: Arc::new(document),
            notes: Vec::new(),
            graph_sha256: None,
            refuted: None,
            experiment,
            transcript: crate::transcript::to_json(transcript)?,
            page: None,
        })
    }

    /// The same with a page.
    pub(crate) fn with_page(self, page: impl Fn(Beside) -> Result<Files> + Send + 'static) -> Self {
        Self { page: Some(Box::new(page)), ..self }
    }

    /// The same with what was noticed in the graph's file, and its hash.
    pub(crate) fn of_graph(self, sha256: Option<String>, notes: Vec<String>) -> Self {
        Self { graph_sha256: sha256, notes, ..self }
    }

    /// The same with why the attack refutes the claim, if it does.
    pub(crate) fn refuted_by(self, refuted: Option<String>) -> Self {
        Self { refuted, ..self }
    }

    /// Whether there is a page.
    pub fn has_page(&self) -> bool {
        self.page.is_some()
    }

    /// What came of it, where it is of this type.
    pub(crate) fn found<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        let document: Arc<dyn Any + Send + Sync> = self.document.clone();
        document.downcast().ok()
    }

    /// Who sent what to whom.
    pub(crate) fn transcript(&self) -> Result<File> {
        File::parse(&String::from_utf8_lossy(&self.transcript))
    }

    /// All files of the run: its page, if it has one, the spec, the transcript and the result. `headed` puts what a document rests on before its own keys.
    ///
    /// # Errors
    ///
    /// What cannot be written as text.
    pub fn files(&self, provenance: Provenance, headed: impl Fn(String) -> Result<String>) -> Result<Files> {
        let beside = BESIDE.map(|(name, what)| (name.to_owned(), what.to_owned())).to_vec();
        let mut files = match &self.page {
            Some(page) => page(Beside { provenance, files: beside })?,
            None => Vec::new(),
        };
        for (_, content) in files.iter_mut().filter(|(name, _)| name == PAGE_DATA) {
            *content = headed(String::from_utf8_lossy(content).into_owned())?.into_bytes();
        }
        let contents = [
            self.experiment.to_toml()?.into_bytes(),
            self.transcript.clone(),
            headed(self.document.json()?)?.into_bytes(),
        ];
        files.extend(BESIDE.map(|(name, _)| name.to_owned()).into_iter().zip(contents));
        Ok(files)
    }
}

/// Refuses a folder in which a run of this kind would replace something: worth asking before the work begins.
///
/// # Errors
///
/// Names the file that is in the way.
pub fn check_folder(experiment: &Experiment, folder: &Path, overwrite: bool) -> Result<()> {
    let mut names = experiment.protocol().page_files();
    names.extend(BESIDE.map(|(name, _)| name));
    Ok(store::check(folder, &names, overwrite)?)
}

/// Writes the files of a run into its folder. What an earlier run has left there beside them goes, where it may be replaced: it would be taken for this run's.
///
/// # Errors
///
/// What cannot be written.
pub fn write(folder: &Path, files: &Files, overwrite: bool) -> Result<Vec<PathBuf>> {
    let earlier = overwrite && folder.join(RESULT).exists();
    let written = store::write(folder, files, overwrite)?;
    let kinds = KINDS.map(|kind| Experiment::parse(&format!("experiment = '{kind}'")));
    for kind in kinds.into_iter().filter(|_| earlier) {
        let names = kind?.protocol().page_files();
        for name in names.into_iter().filter(|name| !files.iter().any(|(written, _)| written == name)) {
            // It need not be there.
            _ = fs::remove_file(folder.join(name));
        }
    }
    Ok(written)
}
