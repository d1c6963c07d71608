//! How a result reaches standard output: as text for people, or as one JSON document.
//!
//! ```text
//! text   headline             a sentence that says what came of it; with --quiet this and nothing else, on one line
//!        the rest             tables, what is promised, what is not covered; prose is broken between words (`prose.rs`)
//!        lists of all peers   with --verbose
//! JSON   schema_version, version, command, seed, graph_sha256, then the result's own keys
//! ```

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::{self, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::IgnoredAny;

use super::{Global, input, prose};

/// Counts changes to JSON documents that break readers. New keys do not.
pub(crate) const SCHEMA_VERSION: u32 = 1;

/// A result that can be shown both ways. The first line of its text is the headline: a sentence that says what came of it.
/// Lists of all peers belong into the alternate text (`{:#}`), which `--verbose` shows. Its form is known (`schema.rs`).
pub trait Report: Serialize + Display + JsonSchema {}

impl<T: Serialize + Display + JsonSchema> Report for T {}

/// What a result rests on: the program, what it was asked, the seed, and the files that were read.
#[derive(Serialize, schemars::JsonSchema)]
pub(crate) struct Origin {
    /// Counts changes that break readers; new keys do not.
    schema_version: u32,
    /// Of the program.
    version: &'static str,
    /// Its arguments as they were given.
    command: Vec<String>,
    /// From which everything random follows; none of nodes, which draw from the system's entropy.
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
    /// Of the graph's or the schedule's file, where one was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    graph_sha256: Option<String>,
    /// Of the file of a token's holders.
    #[serde(skip_serializing_if = "Option::is_none")]
    trajectory_sha256: Option<String>,
    /// Of the file of releases.
    #[serde(skip_serializing_if = "Option::is_none")]
    events_sha256: Option<String>,
    /// What of a transcript could not be held against its experiment, since only files tell it that are not here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unchecked: Vec<String>,
}

impl Global {
    /// Prints a result.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn print(&self, report: &impl Report) -> anyhow::Result<()> {
        let text = |verbose| if verbose { format!("{report:#}") } else { report.to_string() };
        self.show(text, || Ok(serde_json::to_string(report)?))
    }

    /// Prints a result as its text, with lists of all peers or without them, or as its JSON object.
    pub(crate) fn show(
        &self,
        text: impl Fn(bool) -> String,
        json: impl FnOnce() -> anyhow::Result<String>,
    ) -> anyhow::Result<()> {
        let text = match self.json {
            true => self.headed(&json()?)?,
            // A headline alone is for programs as well, and stays on its line.
            false if self.quiet => text(false).lines().next().unwrap_or_default().to_owned(),
            false => prose::wrapped(&format!("{}{}", text(self.verbose), self.rest())),
        };
        write(format!("{}\n", text.trim_end()).as_bytes())
    }

    /// What could not be checked, as the end of a text.
    fn rest(&self) -> String {
        let all: String = self.unchecked.iter().map(|what| format!("  * {what}\n")).collect();
        if all.is_empty() { all } else { format!("\n  unchecked:\n{all}") }
    }

    /// The JSON document of a result: what it rests on first, then its own keys. A key that it has itself, such as its own
    /// `seed`, is not written twice.
    pub(crate) fn document(&self, result: &impl Serialize) -> anyhow::Result<String> {
        self.headed(&serde_json::to_string(result)?)
    }

    /// A JSON object with what it rests on before its own keys.
    pub(crate) fn headed(&self, body: &str) -> anyhow::Result<String> {
        let own: BTreeMap<String, IgnoredAny> = serde_json::from_str(body)?;
        let mut hashes = input::hashes();
        let mut hash = |key: &str| hashes.remove(key).filter(|_| !own.contains_key(key));
        let words = self.words.iter();
        let origin = serde_json::to_string(&Origin {
            schema_version: SCHEMA_VERSION,
            version: env!("CARGO_PKG_VERSION"),
            command: words.map(|word| word.to_string_lossy().into_owned()).collect(),
            seed: Some(self.seed).filter(|_| self.is_seeded && !own.contains_key("seed")),
            graph_sha256: hash(input::GRAPH),
            trajectory_sha256: hash(input::TRAJECTORY),
            events_sha256: hash(input::EVENTS),
            unchecked: self.unchecked.clone(),
        })?;
        Ok(joined(&origin, body))
    }
}

/// Two JSON objects as one.
pub(crate) fn joined(first: &str, second: &str) -> String {
    match (first, second) {
        ("{}", one) | (one, "{}") => one.to_owned(),
        _ => format!("{},{}", &first[..first.len() - 1], &second[1..]),
    }
}

/// What a command says, where somebody in this process listens.
#[derive(Debug, Default)]
pub(crate) struct Said {
    pub(crate) printed: String,
    pub(crate) notes: Vec<String>,
}

thread_local! {
    static LISTENING: RefCell<Option<Said>> = const { RefCell::new(None) };
}

/// Does something and listens to what this thread prints meanwhile.
pub(crate) fn heard<T>(what: impl FnOnce() -> T) -> (T, Said) {
    LISTENING.set(Some(Said::default()));
    let done = what();
    (done, LISTENING.take().unwrap_or_default())
}

/// Whether somebody listens; then it is told.
fn told(tell: impl FnOnce(&mut Said)) -> bool {
    LISTENING.with_borrow_mut(|listening| listening.as_mut().map(tell).is_some())
}

/// Writes to standard output, all of it. A reader who has gone away, as `head` does, is no error.
pub(crate) fn write(bytes: &[u8]) -> anyhow::Result<()> {
    if told(|said| said.printed.push_str(&String::from_utf8_lossy(bytes))) {
        return Ok(());
    }
    WRITTEN.store(true, Ordering::Relaxed);
    let mut stdout = Stdout;
    stdout.write_all(bytes).and_then(|()| stdout.flush()).context("standard output cannot be written")
}

/// Whether anything was written to standard output.
static WRITTEN: AtomicBool = AtomicBool::new(false);

/// Whether anything was written to standard output.
pub(crate) fn was_written() -> bool {
    WRITTEN.load(Ordering::Relaxed)
}

/// What the program is called, where it is another than `sottovoce`.
static CALLED: OnceLock<String> = OnceLock::new();

/// Says once what the program is called.
pub(crate) fn call(name: &str) {
    CALLED.get_or_init(|| name.to_owned());
}

/// What the program is called.
pub(crate) fn program() -> &'static str {
    CALLED.get().map_or("sottovoce", String::as_str)
}

/// Whether remarks are unwanted.
static QUIET: AtomicBool = AtomicBool::new(false);

/// From now on no remarks.
pub(crate) fn hush() {
    QUIET.store(true, Ordering::Relaxed);
}

/// A remark for people, kept away from the result.
pub(crate) fn note(text: &str) {
    if !QUIET.load(Ordering::Relaxed) {
        say(&format!("note: {text}"));
    }
}

/// Says something on standard error; whether anybody listens does not matter.
pub(crate) fn say(text: &str) {
    if told(|said| said.notes.push(text.to_owned())) {
        return;
    }
    _ = writeln!(io::stderr().lock(), "{}", prose::wrapped(&format!("{}: {text}", program())));
}

/// Standard output that takes no offence at a reader who has gone away.
struct Stdout;

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        forgiven(io::stdout().lock().write(bytes), bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        forgiven(io::stdout().lock().flush(), ())
    }
}

fn forgiven<T>(result: io::Result<T>, otherwise: T) -> io::Result<T> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(otherwise),
        other => other,
    }
}
