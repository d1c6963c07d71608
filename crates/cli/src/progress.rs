//! Progress of long work: a bar on a terminal, nothing in a pipe, with `--quiet` or with `--json`.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressStyle};

use super::Global;

impl Global {
    /// A bar of `length` steps that says what is going on; hidden where nobody would look at it.
    pub(crate) fn progress(&self, length: usize, what: &str) -> ProgressBar {
        if self.quiet || self.json || !std::io::stderr().is_terminal() {
            return ProgressBar::hidden();
        }
        let bar = ProgressBar::new(length as u64).with_message(what.to_owned());
        let style = ProgressStyle::with_template("{msg:28} {bar:36} {pos}/{len} {eta:>4}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar
    }
}
