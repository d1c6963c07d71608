//! Writes a report into a folder, whole or not at all.
//!
//! Every file is first written under a temporary name in the same folder and renamed when all of them are complete,
//! so that a reader never meets half a file, and a failure leaves what was there before.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::scene::Picture;

/// Pixels for each unit of a picture: sharp on dense screens and in print.
const ZOOM: f64 = 2.0;

/// Refuses names that are taken, unless they may be replaced.
pub(crate) fn check(dir: &Path, names: &[&str], overwrite: bool) -> Result<()> {
    match names.iter().map(|name| dir.join(name)).find(|path| !overwrite && path.exists()) {
        Some(there) => Err(Error::Exists(there)),
        None => Ok(()),
    }
}

/// Writes all files into a folder, which is made if it is not there. Returns their paths.
pub(crate) fn write(dir: &Path, names: &[&str], contents: Vec<Vec<u8>>) -> Result<Vec<PathBuf>> {
    fs::create_dir_all(dir).map_err(|source| Error::Write { path: dir.into(), source })?;
    let files: Vec<(PathBuf, Vec<u8>)> = names.iter().map(|name| dir.join(name)).zip(contents).collect();
    let staged = files.iter().map(|(path, _)| temporary(path)).collect::<Vec<_>>();
    let written = stage(&files, &staged);
    if written.is_err() {
        // Nothing more can be done about a temporary file that cannot be removed.
        staged.iter().for_each(|path| drop(fs::remove_file(path)));
    }
    written.map(|()| files.into_iter().map(|(path, _)| path).collect())
}

/// A picture as a vector file and as a bitmap.
pub(crate) fn both(picture: &Picture) -> Result<[Vec<u8>; 2]> {
    Ok([picture.svg().into_bytes(), picture.png(ZOOM)?])
}

/// A name beside the file's own; the process number keeps two writers apart.
fn temporary(path: &Path) -> PathBuf {
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    path.with_file_name(format!(".{name}.{}.partial", std::process::id()))
}

fn stage(files: &[(PathBuf, Vec<u8>)], staged: &[PathBuf]) -> Result<()> {
    let fail = |path: &Path| {
        let path = path.to_path_buf();
        move |source| Error::Write { path, source }
    };
    for ((_, content), temporary) in files.iter().zip(staged) {
        fs::write(temporary, content).map_err(fail(temporary))?;
    }
    for ((path, _), temporary) in files.iter().zip(staged) {
        fs::rename(temporary, path).map_err(fail(path))?;
    }
    Ok(())
}
