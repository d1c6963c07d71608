//! How a result reaches standard output: as text for people, or as one JSON document.

use std::fmt::Display;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;

use super::Global;

/// Whether nothing but the result is to be printed.
static QUIET: AtomicBool = AtomicBool::new(false);

/// Says no more notes.
pub(crate) fn be_quiet() {
    QUIET.store(true, Ordering::Relaxed);
}

/// Says on standard error what was noticed in somebody's files.
pub(crate) fn note(notes: &[String]) {
    if !QUIET.load(Ordering::Relaxed) {
        notes.iter().for_each(|note| eprintln!("sottovoce: note: {note}"));
    }
}

/// A result that can be shown both ways.
pub(crate) trait Report: Serialize + Display {}

impl<T: Serialize + Display> Report for T {}

impl Global {
    /// Prints a result. A reader who has gone away (a closed pipe) is no error.
    pub(crate) fn print(&self, report: &impl Report) -> anyhow::Result<()> {
        let text = if self.json { serde_json::to_string(report)? } else { report.to_string() };
        match writeln!(std::io::stdout().lock(), "{}", text.trim_end()) {
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
            other => Ok(other?),
        }
    }
}
