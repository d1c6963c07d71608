//! Progress of long work: a bar on a terminal; in a pipe a line now and then, so that silence is no riddle. Nothing with `--quiet` or `--json`.

use std::io::IsTerminal;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::Global;
use super::output::note;

/// How often a bar that nothing moves shows how long it has been there.
const TICK: Duration = Duration::from_millis(500);
/// Silence in a pipe before the first line; before the next ones it is longer.
const PATIENCE: Duration = Duration::from_secs(20);

/// Work that goes on; it is over when this is dropped.
pub(crate) struct Waiting(Option<Sender<()>>);

impl Global {
    /// A bar of `length` steps that says what is going on, and since when; hidden where nobody would look at it.
    pub(crate) fn progress(&self, length: usize, what: &str) -> ProgressBar {
        if self.quiet || self.json || !std::io::stderr().is_terminal() {
            return ProgressBar::hidden();
        }
        let bar = ProgressBar::new(length as u64).with_message(what.to_owned());
        let parts = if length == 0 { "{spinner}" } else { "{bar:36} {pos}/{len} {eta:>4}" };
        let style = ProgressStyle::with_template(&format!("{{msg:28}} {parts} ({{elapsed}} so far)"));
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.enable_steady_tick(TICK);
        bar
    }

    /// Says now and then that `what` goes on, and for how long, where no bar does.
    pub(crate) fn waiting(&self, what: &str) -> Waiting {
        if self.quiet || self.json || std::io::stderr().is_terminal() {
            return Waiting(None);
        }
        let (over, end) = channel();
        let (what, begun) = (what.to_owned(), Instant::now());
        thread::spawn(move || {
            let mut silence = PATIENCE;
            while end.recv_timeout(silence) == Err(RecvTimeoutError::Timeout) {
                note(&format!("{what}: {} s so far", begun.elapsed().as_secs()));
                silence *= 2;
            }
        });
        Waiting(Some(over))
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some(over) = self.0.take() {
            // Whoever has gone needs not be told.
            _ = over.send(());
        }
    }
}
