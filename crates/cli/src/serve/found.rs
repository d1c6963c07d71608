//! What a run left in its folder, or says while it goes.

use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::Serialize;
use serde_json::Value;
use sottovoce::experiment::Experiment;
use sottovoce::spine::{EXPERIMENT, RESULT};
use sottovoce::terms::{Stated, short_up};

use super::file::{self, REPORT, is_picture};
use super::shelf::{Files, name};
use super::words::{self, Document};
use crate::runs::Run;
use crate::underway::{self, Word};

/// Most bytes of a result whose numbers are all compared.
const MOST_COMPARED: u64 = 16 << 20;
/// Most bytes of an experiment, or of a word of progress.
const MOST_WORDS: u64 = 1 << 20;
/// Nothing heard for so many seconds: it was stopped, or its machine sleeps.
const SILENCE: u64 = 15;
/// Most guarantees of one run that are listed.
const MOST_PROMISES: usize = 40;
/// Letters of a sentence that is shown.
const LONG: usize = 600;

/// How a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Status {
    /// It is over.
    Done,
    /// It is under way.
    Running,
    /// It was under way, and nothing was heard of it for a while.
    Silent,
    /// It was paused, and can go on.
    Paused,
    /// It is over, and a claim fell or an invariant was broken.
    Fell,
    /// Its files cannot be read.
    Broken,
}

/// One run.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
pub(super) struct Found {
    /// Its name in addresses.
    pub(super) id: String,
    /// Its folder, below the one that was asked for.
    pub(super) folder: String,
    /// How it stands.
    pub(super) status: Status,
    /// What is wrong with its files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) problem: Option<String>,
    /// How far it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) progress: Option<Progress>,
    /// What kind of experiment it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) kind: Option<String>,
    /// Who could speak to whom.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) graph: Option<String>,
    /// What they did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) protocol: Option<String>,
    /// Seed of everything random.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) seed: Option<u64>,
    /// When its result was written, or its last word, in seconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) when: Option<u64>,
    /// What came of it, in a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) headline: Option<String>,
    /// How well it went.
    pub(super) measures: Vec<Measure>,
    /// What is promised of it. What was published and is not proven is marked by its standing.
    pub(super) guarantees: Vec<Stated>,
    /// Files that can be asked for.
    pub(super) files: Vec<String>,
    #[serde(skip)]
    pub(super) path: PathBuf,
}

/// How far a run is.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub(super) struct Progress {
    /// What is going on.
    pub(super) what: String,
    /// How much of it is done,
    pub(super) done: u64,
    /// of how much; 0 where nobody knows.
    pub(super) all: u64,
    /// When it began, in seconds since 1970.
    pub(super) begun: u64,
}

/// A number by which runs are judged. It is computed from the private values, without privacy.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub(super) struct Measure {
    /// What it is.
    pub(super) name: String,
    pub(super) value: f64,
    /// Whether more is better.
    pub(super) more_is_better: bool,
}

impl Found {
    /// Whether a folder with these files is that of a run.
    pub(super) fn is(files: &Files) -> bool {
        files.contains_key(RESULT) || files.contains_key(underway::FILE)
    }

    /// Reads what there is.
    pub(super) fn read(root: &Path, path: &Path, files: &Files) -> Self {
        let mut found = Self {
            id: name(path),
            folder: shown(path),
            status: Status::Done,
            problem: None,
            progress: None,
            kind: None,
            graph: None,
            protocol: None,
            seed: None,
            when: None,
            headline: None,
            measures: Vec::new(),
            guarantees: Vec::new(),
            files: files.keys().filter(|name| *name != underway::FILE).cloned().collect(),
            path: path.to_owned(),
        };
        let folder = root.join(path);
        if let Err(problem) = found.result(root, &folder, files) {
            (found.status, found.problem) = (Status::Broken, Some(cut(&problem)));
        }
        if files.contains_key(underway::FILE) {
            match document::<Word>(root, &folder.join(underway::FILE), MOST_WORDS) {
                Ok(word) => found.hear(&word),
                Err(problem) => (found.status, found.problem) = (Status::Broken, Some(cut(&problem))),
            }
        }
        found.now();
        found
    }

    /// What came of it, and what was asked.
    fn result(&mut self, root: &Path, folder: &Path, files: &Files) -> Result<(), String> {
        if files.contains_key(EXPERIMENT) {
            let bytes = file::read(root, &folder.join(EXPERIMENT), MOST_WORDS)
                .map_err(|why| format!("{EXPERIMENT}: {why}"))?;
            self.asked(&String::from_utf8_lossy(&bytes)).map_err(|why| format!("{EXPERIMENT}: {why}"))?;
        }
        let Some((_, written)) = files.get(RESULT) else { return Ok(()) };
        let modified = written.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        self.when = modified.map(|time| time.as_secs());
        self.told(document::<Document>(root, &folder.join(RESULT), file::MOST)?);
        Ok(())
    }

    fn told(&mut self, document: Document) {
        self.measures = document.measures();
        self.headline = document.headline.map(|text| cut(&text));
        self.seed = document.seed.or(self.seed);
        self.guarantees = document.guarantees.into_iter().take(MOST_PROMISES).collect();
        // What the whole document does not speak of, none of its guarantees does.
        for promise in &mut self.guarantees {
            let more: Vec<String> = document
                .not_covered
                .iter()
                .filter(|one| !promise.not_covered.contains(one))
                .cloned()
                .collect();
            promise.not_covered.extend(more);
        }
        if document.fell || document.within_bounds == Some(false) || !document.violations.is_empty() {
            self.status = Status::Fell;
        } else if document.paused {
            self.status = Status::Paused;
        }
    }

    fn asked(&mut self, text: &str) -> Result<(), String> {
        let experiment = Experiment::parse(text).map_err(|error| error.to_string())?;
        self.seed = experiment.seed();
        let value = serde_json::to_value(experiment).map_err(|error| error.to_string())?;
        self.kind = value["experiment"].as_str().map(str::to_owned);
        (self.graph, self.protocol) = (words::graph(&value), words::protocol(&value));
        Ok(())
    }

    /// What a run says that is under way. What an earlier one left in its folder is not its own: none of it is shown.
    fn hear(&mut self, word: &Word) {
        (self.kind, self.graph, self.protocol, self.seed) = (None, None, None, None);
        (self.headline, self.problem) = (None, None);
        self.measures.clear();
        self.guarantees.clear();
        self.files.clear();
        let _ = self.asked(&word.experiment);
        self.status = Status::Running;
        self.when = Some(word.written);
        let what = cut(&word.what);
        self.progress = Some(Progress { what, done: word.done, all: word.all, begun: word.begun });
    }

    /// Whether something was heard of it lately.
    pub(super) fn now(&mut self) {
        if matches!(self.status, Status::Running | Status::Silent) {
            let late = self.when.is_none_or(|when| underway::now() > when.saturating_add(SILENCE));
            self.status = if late { Status::Silent } else { Status::Running };
        }
    }

    /// The guarantee that is shown first: the first on which one may rely.
    pub(super) fn promise(&self) -> Option<&Stated> {
        self.guarantees.iter().find(|promise| promise.standing.is_reliable())
    }

    pub(super) fn has(&self, file: &str) -> bool {
        self.files.iter().any(|name| name == file)
    }

    /// The address of its page.
    pub(super) fn report(&self) -> Option<String> {
        self.has(REPORT).then(|| format!("run/{}/{REPORT}", self.id))
    }

    /// Its pictures.
    pub(super) fn pictures(&self) -> impl Iterator<Item = &String> {
        self.files.iter().filter(|name| is_picture(name, &["svg"]))
    }

    /// All its fields, to be compared; none of what cannot be read.
    pub(super) fn fields(&self, root: &Path) -> Run {
        let folder = root.join(&self.path);
        let text = |name: &str, most: u64| file::read(root, &folder.join(name), most).ok();
        let experiment = match &self.progress {
            Some(_) => document::<Word>(root, &folder.join(underway::FILE), MOST_WORDS)
                .ok()
                .map(|word| word.experiment),
            None => text(EXPERIMENT, MOST_WORDS).and_then(|bytes| String::from_utf8(bytes).ok()),
        };
        let experiment = experiment
            .and_then(|text| serde_json::to_value(Experiment::parse(&text).ok()?).ok())
            .unwrap_or(Value::Null);
        let result = (self.has(RESULT) && self.progress.is_none())
            .then(|| serde_json::from_slice(&text(RESULT, MOST_COMPARED)?).ok())
            .flatten()
            .unwrap_or(Value::Null);
        Run::of(&experiment, &result)
    }
}

/// The probability with which a guarantee may fail, for people: never rounded down.
pub(super) fn chance(promise: &Stated) -> String {
    if promise.delta == 0.0 {
        return "0".to_owned();
    }
    let whole = format!("{:e}", promise.delta);
    if whole.len() <= 6 { whole } else { short_up(promise.delta) }
}

/// A document, or what is wrong with it.
fn document<D: serde::de::DeserializeOwned>(root: &Path, path: &Path, most: u64) -> Result<D, String> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let bytes = file::read(root, path, most).map_err(|why| format!("{name}: {why}"))?;
    // A list would be read as one, field by field, and an empty one as a run of which nothing is known.
    if bytes.trim_ascii_start().first() != Some(&b'{') {
        return Err(format!("{name} is damaged: it does not begin with a brace"));
    }
    serde_json::from_slice(&bytes).map_err(|why| format!("{name} is damaged: {why}"))
}

/// A folder's path for people; the folder itself is a dot.
fn shown(path: &Path) -> String {
    if path.as_os_str().is_empty() { ".".into() } else { path.display().to_string() }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(LONG) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
