//! Files of a run, for a browser: only those that runs write, never through a link, never too large, and none of them can do anything.

#[cfg(not(target_os = "linux"))]
use std::fs;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use sottovoce::spine::{EXPERIMENT, RESULT, TRANSCRIPT};
use sottovoce_report::live;

/// The page of a run.
pub(super) const REPORT: &str = "report.html";
/// Files beside it, but for pictures.
const BESIDE: [&str; 8] =
    [EXPERIMENT, TRANSCRIPT, RESULT, "report.json", "losses.csv", "course.csv", "curves.csv", "agents.csv"];
/// Most bytes of a file that is shown.
pub(super) const MOST: u64 = 64 << 20;

/// Whether a run writes a file of this name, and it may be shown. Others in the same folder are nobody's business.
pub(super) fn shows(name: &str) -> bool {
    name == REPORT || BESIDE.contains(&name) || is_picture(name, &["svg", "png"])
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

/// A report as a browser may have it. Its policy keeps it from loading anything, but not from sending the browser elsewhere: nothing in it may stand for a header.
/// What is no UTF-8 could be read in another way than it was looked through.
pub(super) fn still(name: &str, bytes: Vec<u8>) -> io::Result<Vec<u8>> {
    const HEADER: &[u8] = b"http-equiv";
    if !name.ends_with(".html") {
        return Ok(bytes);
    }
    let mut bytes = String::from_utf8(bytes)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not text in UTF-8"))?
        .into_bytes();
    for place in 0..bytes.len().saturating_sub(HEADER.len() - 1) {
        if bytes[place..place + HEADER.len()].eq_ignore_ascii_case(HEADER) {
            bytes[place..place + HEADER.len()].copy_from_slice(b"data-equiv");
        }
    }
    Ok(bytes)
}

/// A plain file's bytes, if there are no more than so many. Nothing is followed out of `root`, even if somebody puts a link there meanwhile.
pub(super) fn read(root: &Path, path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let refused = |why: String| Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    let file = open(root, path)?;
    if !file.metadata()?.is_file() {
        return refused("it is not a plain file".into());
    }
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > most {
        true => refused(format!("it is larger than {} MiB", most >> 20)),
        false => Ok(bytes),
    }
}

/// Opened by the system below the root, through no link whatever; and a pipe is not waited for.
#[cfg(target_os = "linux")]
fn open(root: &Path, path: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags, ResolveFlags, open, openat2};
    let below = path.strip_prefix(root).map_err(|_| io::Error::from(io::ErrorKind::NotFound))?;
    let root = open(root, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let how = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(openat2(root, below, how, Mode::empty(), ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS)?.into())
}

/// Where there is no such way, what lies there is asked before: links that come and go in between may be followed.
#[cfg(not(target_os = "linux"))]
fn open(root: &Path, path: &Path) -> io::Result<File> {
    if !fs::symlink_metadata(path)?.is_file() || !fs::canonicalize(path)?.starts_with(root) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a plain file"));
    }
    File::open(path)
}
