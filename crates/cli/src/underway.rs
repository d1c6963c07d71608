//! A run that is under way says so in the folder that it was given (`--out`), so that `serve` shows it while it goes.
//!
//! ```text
//! begin ──► half a second (bad input is refused in less, and leaves no trace) ──► a small file, whole each time, once a second ──► gone
//! ```
//!
//! A run that is killed leaves its file, and whoever reads it sees that nothing was heard of it since. Nothing goes wrong with a run because this file cannot be written.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use sottovoce_report::store::{self, Made};

use crate::output::SCHEMA_VERSION;
use crate::progress::Latest;

/// Its name. Nobody else has such a file.
pub(crate) const FILE: &str = ".sottovoce-progress.json";

/// Before the first word.
const FIRST: Duration = Duration::from_millis(500);
/// Between words.
const OFTEN: Duration = Duration::from_secs(1);

/// What the file says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Word {
    schema_version: u32,
    /// The process that runs it.
    pub(crate) process: u32,
    /// When it began, in seconds since 1970.
    pub(crate) begun: u64,
    /// When this was written.
    pub(crate) written: u64,
    /// What is going on.
    pub(crate) what: String,
    /// How much of it is done,
    pub(crate) done: u64,
    /// of how much; 0 where nobody knows.
    pub(crate) all: u64,
    /// The experiment, as a file that could be run.
    pub(crate) experiment: String,
}

/// A run that is under way; it is over when this is dropped, and then nothing is left of its file.
pub(crate) struct Underway(Option<(Sender<()>, JoinHandle<()>)>);

impl Underway {
    /// Begins to tell.
    pub(crate) fn begin(folder: &Path, experiment: String, latest: &Latest) -> Self {
        let (over, end) = channel();
        let (folder, latest, begun) = (folder.to_owned(), latest.clone(), now());
        let thread = thread::spawn(move || tell(&folder, &experiment, begun, &latest, &end));
        Self(Some((over, thread)))
    }
}

impl Drop for Underway {
    fn drop(&mut self) {
        if let Some((over, thread)) = self.0.take() {
            // It ends either way.
            _ = over.send(());
            _ = thread.join();
        }
    }
}

/// Seconds since 1970.
pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}

fn tell(folder: &Path, experiment: &str, begun: u64, latest: &Latest, end: &Receiver<()>) {
    let path = folder.join(FILE);
    let mut made = None;
    let mut silence = FIRST;
    while end.recv_timeout(silence) == Err(RecvTimeoutError::Timeout) {
        silence = OFTEN;
        made = made.or_else(|| Made::new(folder).ok());
        let (what, done, all) = latest.get().unwrap_or_default();
        let word = Word {
            schema_version: SCHEMA_VERSION,
            process: std::process::id(),
            begun,
            written: now(),
            what,
            done: done.min(all),
            all,
            experiment: experiment.to_owned(),
        };
        if made.is_some() {
            _ = write(&path, &word);
        }
    }
    if made.is_some() {
        _ = fs::remove_file(&path);
    }
}

fn write(path: &Path, word: &Word) -> anyhow::Result<()> {
    let bytes = serde_json::to_vec(word)?;
    store::write_file("progress", path, true, |file| anyhow::Ok(file.write_all(&bytes)?))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn a_run_tells_while_it_goes_and_leaves_nothing() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("a/b");
        let under = Underway::begin(&folder, "experiment = 'averaging'".into(), &Latest::default());
        assert!(!folder.exists(), "not at once");
        let (path, last) = (folder.join(FILE), Instant::now() + Duration::from_secs(20));
        while !path.exists() {
            assert!(Instant::now() < last);
            thread::sleep(Duration::from_millis(20));
        }
        let word: Word = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        assert_eq!(
            (word.process, word.experiment.as_str()),
            (std::process::id(), "experiment = 'averaging'")
        );
        assert!(word.written >= word.begun && word.begun + 30 > now());
        drop(under);
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0, "folders that were made for it go, too");
    }

    #[test]
    fn what_is_in_the_folder_stays_and_what_cannot_be_written_stops_nothing() {
        let place = tempfile::tempdir().unwrap();
        fs::write(place.path().join("report.html"), "x").unwrap();
        for folder in [place.path().to_owned(), place.path().join("report.html/no-folder")] {
            let under = Underway::begin(&folder, String::new(), &Latest::default());
            thread::sleep(Duration::from_millis(700));
            drop(under);
            assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1);
        }
    }
}
