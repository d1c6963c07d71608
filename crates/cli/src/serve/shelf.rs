//! Which folders below one hold a run. Links are not followed, hidden folders are not entered, and there is a limit to everything.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, bail};
use sha2::{Digest, Sha256};

use super::Listing;
use super::file::shows;
use super::found::Found;
use crate::underway;

/// Folders below each other.
const DEEPEST: usize = 8;
/// Folders that are looked into.
const MOST_FOLDERS: usize = 5_000;
/// Runs that are shown.
const MOST_RUNS: usize = 1_000;
/// Entries of a folder that are looked at.
const MOST_ENTRIES: usize = 10_000;
/// What was seen is as good as new for so long.
const FRESH: Duration = Duration::from_millis(500);

/// Plain files of a run that may be shown, with their sizes and times.
pub(super) type Files = BTreeMap<String, (u64, Option<SystemTime>)>;

/// A folder of runs, and what was seen of it.
#[derive(Debug)]
pub(super) struct Shelf {
    /// As it was given.
    folder: PathBuf,
    /// The same without links: nothing outside is ever read.
    root: PathBuf,
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    runs: BTreeMap<PathBuf, (Files, Found)>,
    notes: Vec<String>,
    at: Option<Instant>,
}

impl Shelf {
    /// A folder, which must be there.
    pub(super) fn open(folder: &Path) -> anyhow::Result<Self> {
        let shown = folder.display();
        if !folder.exists() {
            bail!(
                "`folder` is {shown}: there is no such folder; make it, or give one into which runs write (--out)"
            );
        }
        if !folder.is_dir() {
            bail!("`folder` is {shown}: it is not a folder; give one into which runs write (--out)");
        }
        let root = fs::canonicalize(folder).with_context(|| format!("`folder` is {shown}"))?;
        Ok(Self { folder: folder.to_owned(), root, seen: Mutex::default() })
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Everything there is now. What has not changed is not read again.
    pub(super) fn look(&self) -> Listing {
        let mut seen = self.seen();
        if seen.at.is_none_or(|at| at.elapsed() > FRESH) {
            let mut walk = Walk::default();
            walk.through(&self.root);
            let known = std::mem::take(&mut seen.runs);
            seen.runs = walk.runs.into_iter().map(|(path, files)| self.read(path, files, &known)).collect();
            (seen.notes, seen.at) = (walk.notes, Some(Instant::now()));
        }
        let mut runs: Vec<Found> = seen.runs.values().map(|(_, found)| found.clone()).collect();
        // Whether a run has gone silent is a question of the time.
        runs.iter_mut().for_each(Found::now);
        Listing { folder: self.folder.clone(), runs, notes: seen.notes.clone() }
    }

    fn read(
        &self,
        path: PathBuf,
        files: Files,
        known: &BTreeMap<PathBuf, (Files, Found)>,
    ) -> (PathBuf, (Files, Found)) {
        let found = match known.get(&path) {
            Some((before, found)) if *before == files => found.clone(),
            _ => Found::read(&self.root, &path, &files),
        };
        (path, (files, found))
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A run's name on the page: no part of a path ever comes from a request.
pub(super) fn name(path: &Path) -> String {
    let hash = Sha256::digest(path.as_os_str().as_encoded_bytes());
    hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

#[derive(Default)]
struct Walk {
    runs: BTreeMap<PathBuf, Files>,
    notes: Vec<String>,
    folders: usize,
}

impl Walk {
    fn through(&mut self, root: &Path) {
        let mut ahead = vec![(PathBuf::new(), 0)];
        while let Some((path, depth)) = ahead.pop() {
            if self.folders == MOST_FOLDERS || self.runs.len() == MOST_RUNS {
                self.notes.push(format!(
                    "only the first {} folders were looked at, and {} runs are shown; give a smaller folder",
                    self.folders,
                    self.runs.len()
                ));
                return;
            }
            self.folders += 1;
            let below = self.folder(root, &path);
            if depth == DEEPEST && !below.is_empty() {
                self.notes
                    .push(format!("folders in {} were not looked at: they are too deep", path.display()));
            } else {
                // The first in order comes next.
                ahead.extend(below.into_iter().rev().map(|below| (below, depth + 1)));
            }
        }
    }

    /// Looks into one folder; those below it.
    fn folder(&mut self, root: &Path, path: &Path) -> Vec<PathBuf> {
        let (mut files, mut below) = (Files::new(), Vec::new());
        let entries = match fs::read_dir(root.join(path)) {
            Ok(entries) => entries,
            Err(why) => {
                let name = if path.as_os_str().is_empty() { root } else { path };
                self.notes.push(format!("{} cannot be read: {why}", name.display()));
                return below;
            }
        };
        for (count, entry) in entries.flatten().enumerate() {
            if count == MOST_ENTRIES {
                self.notes.push(format!(
                    "{} has more than {MOST_ENTRIES} files and folders, and only so many were looked at",
                    if path.as_os_str().is_empty() { root } else { path }.display()
                ));
                break;
            }
            let (Ok(kind), Ok(name)) = (entry.file_type(), entry.file_name().into_string()) else { continue };
            if kind.is_dir() && !name.starts_with('.') {
                below.push(path.join(name));
            } else if kind.is_file()
                && (shows(&name) || name == underway::FILE)
                && let Ok(about) = entry.metadata()
            {
                files.insert(name, (about.len(), about.modified().ok()));
            }
        }
        if Found::is(&files) {
            self.runs.insert(path.to_owned(), files);
        }
        below.sort_unstable();
        below
    }
}
