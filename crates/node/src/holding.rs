//! What a peer brings along: a file of numbers or rows, a folder of images, or a program that computes gradients of what it holds.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::require;
use crate::suggested::Shared;
use crate::{Error, Hash, Result};

/// Bytes of the largest file.
const MOST: u64 = 1 << 30;

/// What a peer brings along.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holding {
    /// The data set, as budgets know it ...
    pub label: String,
    /// ... the name of its bytes ...
    pub data: Hash,
    /// ... and the name of the numbers in it, however they are written; none where it has none.
    pub numbers: Option<Hash>,
    /// Its file, or its folder of images.
    pub file: PathBuf,
    /// The program that computes gradients, with its arguments, where one does.
    pub program: Option<Vec<String>>,
    /// A function that does so instead, where its owner calls the node from a program of its own.
    pub function: Option<Shared>,
    /// Whether each record enters one example's gradient and no other, as its owner says: what it costs is told of one row on this word.
    pub one_by_one: bool,
    /// Whether it is only read: a program is looked for then, and not started.
    pub only_read: bool,
    /// Where that program is started.
    pub folder: PathBuf,
    /// What went wrong with it, for its owner alone.
    pub trouble: Trouble,
    /// What its owner should know of it, before or after a run. It depends on what is held, and is in no log.
    pub remark: Trouble,
    /// Programs that were started for it.
    pub programs: Programs,
}

/// Groups of processes that were started, to be ended with the run. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct Programs(Arc<Mutex<Vec<u32>>>);

impl Programs {
    pub(crate) fn started(&self, group: u32) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(group);
    }

    /// Ends one of them, and what it has started.
    pub(crate) fn end(&self, group: u32) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Only what was started here and not ended: its number may be another's by now.
        let Some(place) = all.iter().position(|known| *known == group) else { return };
        all.swap_remove(place);
        #[cfg(unix)]
        if let Some(group) = i32::try_from(group).ok().and_then(rustix::process::Pid::from_raw) {
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
    }

    /// Ends all of them.
    pub(crate) fn end_all(&self) {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        all.into_iter().for_each(|group| self.end(group));
    }
}

impl PartialEq for Programs {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Programs {}

/// What is wrong, in a sentence: told to the owner of what is held, and to nobody else. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Trouble(Arc<Mutex<Option<String>>>);

impl Trouble {
    /// The first word counts.
    pub(crate) fn tell(&self, what: String) {
        tracing::warn!("{what}");
        self.note(what);
    }

    /// The same without a line in the log.
    fn note(&self, what: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(what);
    }

    /// What was told.
    pub fn told(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl PartialEq for Trouble {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Trouble {}

impl Holding {
    /// What a file holds, or all files of a folder.
    pub fn of(label: &str, file: &Path) -> Result<Self> {
        let folder = file.parent().map(Path::to_path_buf).unwrap_or_default();
        let (label, data, numbers, file) = (label.to_owned(), named(file)?, numbers(file)?, file.to_owned());
        let (program, function, programs) = (None, None, Programs::default());
        let (one_by_one, only_read) = (false, false);
        let (trouble, remark) = (Trouble::default(), Trouble::default());
        Ok(Self {
            label,
            data,
            numbers,
            file,
            program,
            function,
            one_by_one,
            only_read,
            folder,
            trouble,
            remark,
            programs,
        })
    }

    /// Remarks that so many of all values lay outside of what was agreed on, and were clipped: where units are mistaken, nobody else can tell.
    pub(crate) fn note_clipped(&self, clipped: usize, all: usize, range: &str) {
        if clipped > 0 {
            let file = self.file.display();
            let what = format!(
                "{clipped} of {all} values in {file} lie outside {range} and are clipped; check their unit"
            );
            self.remark.note(what);
        }
    }

    /// Its data set, and the name of its bytes.
    pub(crate) fn named(&self) -> (&str, Hash) {
        (&self.label, self.data)
    }

    /// The same, if the file is what it was when it was named: a release of other data is none that was begun.
    pub fn check(&self) -> Result<()> {
        let now = named(&self.file)?;
        require(now == self.data, "data", self.file.display(), "it has changed meanwhile; run it again")
    }

    /// Refuses a program or a function whose owner does not say that each record enters one example's gradient alone, where prices are of one row.
    pub(crate) fn check_one_by_one(&self) -> Result<()> {
        let remedy = "what this run costs is told of one row, which holds only if no record enters another example's gradient (no means over rows, no batch normalisation); say `one-by-one = true` in node.toml if so";
        let program = match (&self.function, &self.program) {
            (Some(_), _) => "a function".to_owned(),
            (None, Some(program)) => program.join(" "),
            (None, None) => return Ok(()),
        };
        require(self.one_by_one, "program", program, remedy)
    }

    /// Refuses a function that nobody would ask: who brings one expects to be asked. A program in node.toml is for other runs, too, and waits for them.
    pub(crate) fn check_nothing_learned(&self) -> Result<()> {
        let remedy = "nothing is learned in this run, and no gradient is asked for; leave it out, or agree on one of learning";
        require(self.function.is_none(), "gradient", "a function", remedy)
    }

    /// Its numbers.
    pub fn values(&self) -> Result<Vec<f64>> {
        let bytes = bytes(&self.file)?;
        self.check()?;
        let text = String::from_utf8_lossy(&bytes);
        let words = text.split([',', ';', ' ', '\t', '\r', '\n']).filter(|word| !word.is_empty());
        // The word itself is private, and stays out of what is said about it.
        let number = |(place, word): (usize, &str)| {
            let read = word.parse::<f64>().ok().filter(|number| number.is_finite());
            let value = || format!("no number in place {} of {}", place + 1, self.file.display());
            read.ok_or_else(|| Error::parameter("values", value(), "give finite numbers; nothing was sent"))
        };
        words.enumerate().map(number).collect()
    }
}

fn bytes(path: &Path) -> Result<Vec<u8>> {
    Ok(sottovoce_fault::file::read("values", path, MOST)?)
}

/// The name of what a file of text says, whatever is between its numbers and however they are written.
fn numbers(path: &Path) -> Result<Option<Hash>> {
    if path.is_dir() {
        return Ok(None);
    }
    let bytes = bytes(path)?;
    let Ok(text) = std::str::from_utf8(&bytes) else { return Ok(None) };
    let (mut all, mut found, mut name) = (Vec::new(), false, Hash::default());
    for word in text.split([',', ';', ' ', '\t', '\r', '\n']).filter(|word| !word.is_empty()) {
        match word.parse::<f64>() {
            Ok(number) => {
                found = true;
                // (Zero has one sign.)
                all.extend_from_slice(&(number + 0.0).to_bits().to_le_bytes());
            }
            Err(_) => all.extend_from_slice(&Hash::labelled("sottovoce word", &[word.as_bytes()]).0),
        }
        if all.len() > 1 << 20 {
            name = Hash::labelled("sottovoce numbers", &[&name.0, &std::mem::take(&mut all)]);
        }
    }
    Ok(found.then(|| Hash::labelled("sottovoce numbers", &[&name.0, &all])))
}

/// The name of a file's bytes, or of all files in a folder and in those inside it, with their names.
fn named(path: &Path) -> Result<Hash> {
    if !path.is_dir() {
        return Ok(Hash::of(&bytes(path)?));
    }
    let failed = |cause| Error::file("read", path, cause);
    let entries = fs::read_dir(path).map_err(failed)?.collect::<std::io::Result<Vec<_>>>().map_err(failed)?;
    let mut files: Vec<PathBuf> = entries.iter().map(fs::DirEntry::path).collect();
    files.sort_unstable();
    let mut all = Vec::new();
    for file in files {
        let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        all.extend_from_slice(&Hash::labelled("sottovoce file", &[name.as_bytes(), &named(&file)?.0]).0);
    }
    Ok(Hash::labelled("sottovoce folder", &[&all]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn what_is_no_file_is_refused_at_once() {
        let error = Holding::of("values", Path::new("/dev/zero")).unwrap_err();
        assert!(error.to_string().contains("it is no file"), "{error}");
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        if made.is_ok_and(|made| made.success()) {
            assert!(Holding::of("values", &pipe).is_err());
        }
    }

    #[test]
    fn numbers_are_the_same_however_they_are_written() {
        let folder = tempfile::tempdir().unwrap();
        let of = |text: &str| {
            let path = folder.path().join("values");
            fs::write(&path, text).unwrap();
            numbers(&path).unwrap()
        };
        let known = of("0.3, 0.25\n0");
        assert!(known.is_some() && of("no number").is_none());
        for same in ["0.3 0.25 0", "3e-1;0.250\n\n-0 ", "\t.3\r\n.25,0.0"] {
            assert_eq!(of(same), known, "{same}");
        }
        for other in ["0.25 0.3 0", "0.3 0.25", "0.3 0.25 0 0", "0.3 0.25 x"] {
            assert_ne!(of(other), known, "{other}");
        }
    }

    #[test]
    fn every_file_of_a_folder_counts() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("deep").join("deeper");
        fs::create_dir_all(&inner).unwrap();
        let (top, deep) = (folder.path().join("a.txt"), inner.join("b.txt"));
        fs::write(&top, "1").unwrap();
        fs::write(&deep, "2").unwrap();
        let holding = Holding::of("values", folder.path()).unwrap();
        holding.check().unwrap();
        for file in [&top, &deep] {
            let before = fs::read(file).unwrap();
            fs::write(file, "3").unwrap();
            assert!(holding.check().unwrap_err().to_string().contains("changed"));
            fs::write(file, before).unwrap();
        }
        holding.check().unwrap();
        fs::rename(&deep, inner.join("c.txt")).unwrap();
        assert!(holding.check().is_err());
    }
}
