//! Progress of long work: a bar on a terminal; in a pipe a line now and then, so that silence is no riddle. Nothing with `--quiet` or `--json`. Whoever looks at a
//! folder of runs sees the same there (`underway.rs`). Another thread of the same process looks at the bar by a [`Watch`], and stops the work by it.

use std::cell::RefCell;
use std::io::IsTerminal;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use sottovoce_fault::stop::{Stop, Stopped};

use super::Global;
use super::output::note;

/// How often a bar that nothing moves shows how long it has been there.
const TICK: Duration = Duration::from_millis(500);
/// Silence in a pipe before the first line; before the next ones it is longer.
const PATIENCE: Duration = Duration::from_secs(20);

/// The bar that was made last, shown or not, for whoever asks how far the work is.
#[derive(Debug, Clone, Default)]
pub(crate) struct Latest(Arc<Mutex<Option<ProgressBar>>>);

impl Latest {
    fn set(&self, bar: &ProgressBar) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(bar.clone());
    }

    /// What is going on, how much of it is done, and of how much.
    pub(crate) fn get(&self) -> Option<(String, u64, u64)> {
        let bar = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        bar.as_ref().map(|bar| (bar.message(), bar.position(), bar.length().unwrap_or(0)))
    }
}

/// How far a command has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// What it does just now.
    pub what: String,
    /// Parts that are done.
    pub done: u64,
    /// Parts there are; 0 where nobody knows.
    pub total: u64,
}

/// A command that another thread looks at and may stop.
#[derive(Debug, Clone, Default)]
pub struct Watch {
    stop: Stop,
    bar: Arc<Mutex<Option<ProgressBar>>>,
}

thread_local! {
    /// Who watches the command that this thread runs.
    static WATCH: RefCell<Option<Watch>> = const { RefCell::new(None) };
}

impl Watch {
    /// Asks the command to end; it does so at the next place where it looks.
    pub fn stop(&self) {
        self.stop.raise();
    }

    /// How far it is; none before it says so.
    pub fn progress(&self) -> Option<Progress> {
        let bar = self.bar.lock().unwrap_or_else(PoisonError::into_inner).clone()?;
        let total = bar.length().unwrap_or_default();
        Some(Progress { what: bar.message(), done: bar.position(), total })
    }

    /// Does work that is watched.
    pub(crate) fn over<T>(&self, work: impl FnOnce() -> T) -> Result<T, Stopped> {
        WATCH.set(Some(self.clone()));
        let done = self.stop.over(work);
        WATCH.set(None);
        done
    }

    /// A bar that only the watcher sees; none where nobody watches.
    fn bar(length: usize, what: &str) -> Option<ProgressBar> {
        WATCH.with_borrow(|watch| {
            let hidden = ProgressBar::with_draw_target(Some(length as u64), ProgressDrawTarget::hidden());
            let bar = hidden.with_message(what.to_owned());
            let mut shown = watch.as_ref()?.bar.lock().unwrap_or_else(PoisonError::into_inner);
            Some(shown.insert(bar).clone())
        })
    }
}

/// Work that goes on; it is over when this is dropped.
pub(crate) struct Waiting(Option<Sender<()>>);

impl Global {
    /// A bar of `length` steps that says what is going on, and since when; hidden where nobody would look at it.
    pub fn progress(&self, length: usize, what: &str) -> ProgressBar {
        let hidden = self.quiet || self.json || !std::io::stderr().is_terminal();
        let bar = Watch::bar(length, what).unwrap_or_else(|| match hidden {
            true => ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden()),
            false => ProgressBar::new(0),
        });
        bar.set_length(length as u64);
        bar.set_message(what.to_owned());
        self.latest.set(&bar);
        if bar.is_hidden() {
            return bar;
        }
        let parts = if length == 0 { "{spinner}" } else { "{bar:36} {pos}/{len} {eta:>4}" };
        let style = ProgressStyle::with_template(&format!("{{msg:28}} {parts} ({{elapsed}} so far)"));
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.enable_steady_tick(TICK);
        bar
    }

    /// Says now and then that `what` goes on, and for how long, where no bar does.
    pub(crate) fn waiting(&self, what: &str) -> Waiting {
        if Watch::bar(0, what).is_some() || self.quiet || self.json || std::io::stderr().is_terminal() {
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
