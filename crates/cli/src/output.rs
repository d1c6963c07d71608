//! How a result reaches standard output: as text for people, or as one JSON document.

use std::fmt::Display;
use std::io::Write;

use serde::Serialize;

use super::Global;

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
