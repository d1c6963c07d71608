//! Many files into one folder, all or none: each is written under a draft name first, and named when all are complete.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{Error, Result};

/// The page.
pub(crate) const PAGE: &str = "index.html";
/// Verdicts and numbers.
pub(crate) const RESULTS: &str = "results.json";

/// Refuses names that are taken.
pub fn check<'a>(dir: &Path, mut names: impl Iterator<Item = &'a str>, overwrite: bool) -> Result<()> {
    if dir.exists() && !dir.is_dir() {
        return Err(Error::parameter("out", dir.display(), "it is not a folder; give another name"));
    }
    match names.find(|name| !overwrite && dir.join(name).exists()) {
        Some(name) => Err(Error::parameter(
            "out",
            dir.display(),
            format!("{name} exists there; give another folder, or --overwrite to replace it"),
        )),
        None => Ok(()),
    }
}

/// Writes all files into a folder, which is made if it is not there.
pub fn write(dir: &Path, files: &[(&str, Vec<u8>)], overwrite: bool) -> Result<Vec<PathBuf>> {
    check(dir, files.iter().map(|(name, _)| *name), overwrite)?;
    let refused = |source| Error::File {
        problem: format!("`out` is {}: cannot write there; choose another folder", dir.display()),
        source,
    };
    fs::create_dir_all(dir).map_err(refused)?;
    let drafts = Drafts(files.iter().map(|(name, _)| draft(dir, name)).collect());
    for (draft, (_, content)) in drafts.0.iter().zip(files) {
        fs::write(draft, content).map_err(refused)?;
    }
    let paths: Vec<PathBuf> = files.iter().map(|(name, _)| dir.join(name)).collect();
    for (draft, path) in drafts.0.iter().zip(&paths) {
        fs::rename(draft, path).map_err(refused)?;
    }
    Ok(paths)
}

/// A name beside the file's own; the process number keeps two writers apart.
fn draft(dir: &Path, name: &str) -> PathBuf {
    dir.join(format!(".{name}.{}.draft", std::process::id()))
}

/// Files that are gone in the end; those that were given their names are no longer here to be removed.
struct Drafts(Vec<PathBuf>);

impl Drop for Drafts {
    fn drop(&mut self) {
        // Nothing can be done, and nothing needs to be, where one is not there.
        self.0.iter().for_each(|draft| _ = fs::remove_file(draft));
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_replaced_unless_asked_and_no_draft_is_left() {
        let dir = tempfile::tempdir().unwrap();
        let files = |text: &str| [("a.txt", text.into()), ("b.txt", text.into())];
        write(dir.path(), &files("one"), false).unwrap();
        let error = write(dir.path(), &files("two"), false).unwrap_err().to_string();
        assert!(error.contains("a.txt exists") && error.contains("--overwrite"), "{error}");
        assert_eq!(fs::read_to_string(dir.path().join("b.txt")).unwrap(), "one");
        write(dir.path(), &files("two"), true).unwrap();
        assert_eq!(fs::read_to_string(dir.path().join("b.txt")).unwrap(), "two");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_failure_leaves_what_was_there() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("b.txt")).unwrap();
        fs::write(dir.path().join("b.txt/inside"), "x").unwrap();
        // The second name belongs to a folder that is not empty, so it cannot be taken.
        assert!(write(dir.path(), &[("b.txt", "two".into())], true).is_err());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
