//! Files of a run, for a browser: only those that runs write, never through a link, never too large, and none of them can do anything.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use sottovoce_report::live;

use crate::run::EXPERIMENT;
use crate::runs::RESULTS;

/// The page of a run.
pub(super) const REPORT: &str = "report.html";
/// Files beside it, but for pictures.
const BESIDE: [&str; 6] =
    [EXPERIMENT, "transcript.json", "losses.csv", "course.csv", "curves.csv", "agents.csv"];
/// Most bytes of a file that is shown.
pub(super) const MOST: u64 = 64 << 20;

/// Whether a run writes a file of this name, and it may be shown. Others in the same folder are nobody's business.
pub(super) fn shows(name: &str) -> bool {
    name == REPORT || RESULTS.contains(&name) || BESIDE.contains(&name) || is_picture(name, &["svg", "png"])
}

/// Whether it is a picture of a run: letters, digits and hyphens, and one of these endings.
pub(super) fn is_picture(name: &str, endings: &[&str]) -> bool {
    name.rsplit_once('.').is_some_and(|(stem, ending)| {
        endings.contains(&ending)
            && !stem.is_empty()
            && stem.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    })
}

/// How a file is shown: its type, and what it may do.
pub(super) fn kind(name: &str) -> (&'static str, String) {
    let still = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'; sandbox".to_owned();
    match name.rsplit_once('.').map_or("", |(_, ending)| ending) {
        "html" => ("text/html; charset=utf-8", live::report_policy()),
        "svg" => ("image/svg+xml", still),
        "png" => ("image/png", still),
        _ => ("text/plain; charset=utf-8", still),
    }
}

/// A plain file's bytes, if there are no more than so many. Nothing is followed out of `root`, even if somebody puts a link there meanwhile.
pub(super) fn read(root: &Path, path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let refused = |why: String| Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    // Asked before it is opened: to open a pipe is to wait for ever.
    if !fs::symlink_metadata(path)?.is_file() || !fs::canonicalize(path)?.starts_with(root) {
        return refused("it is not a plain file".into());
    }
    let file = File::open(path)?;
    if !is_same(&file, path)? {
        return refused("it is not a plain file".into());
    }
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > most {
        true => refused(format!("it is larger than {} MiB", most >> 20)),
        false => Ok(bytes),
    }
}

/// Whether what was opened is what lies there under its own name.
#[cfg(unix)]
fn is_same(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let (opened, there) = (file.metadata()?, fs::symlink_metadata(path)?);
    Ok(there.is_file() && (opened.dev(), opened.ino()) == (there.dev(), there.ino()))
}

#[cfg(not(unix))]
fn is_same(file: &File, _: &Path) -> io::Result<bool> {
    Ok(file.metadata()?.is_file())
}
