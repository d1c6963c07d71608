//! Files, all of them or none: the one writer of the whole workspace.
//!
//! ```text
//! check (before the work) ──► drafts in the same folder, complete and on disk ──► each takes its name
//!                                         │ failure                                      │ failure
//!                                         ▼                                              ▼
//!                                  drafts are removed                 what was there is put back, drafts are removed
//! ```
//!
//! A reader never meets half a file: a draft takes its name in one step. Where several files replace earlier ones, those are kept under
//! another name until all have taken theirs, so that a failure leaves what was there before.

use std::cell::Cell;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Error, Result};

/// Refuses a folder that cannot be written to, or in which one of these names is taken: worth asking before the work begins.
///
/// # Errors
///
/// Names the folder, what stands in the way, and the remedy.
pub fn check<N: AsRef<Path>>(folder: &Path, names: &[N], overwrite: bool) -> Result<()> {
    let refused = |problem: String| Err(Error::Place { field: "out".into(), path: folder.into(), problem });
    if folder.exists() && !folder.is_dir() {
        return refused("it is not a folder; give another name".into());
    }
    for path in names.iter().map(|name| folder.join(name)) {
        let shown = path.strip_prefix(folder).unwrap_or(&path).display();
        if path.is_dir() {
            return refused(format!("{shown} is a folder there; give another folder"));
        }
        if !overwrite && path.symlink_metadata().is_ok() {
            return refused(format!(
                "{shown} exists there; give another folder, or --overwrite to replace it"
            ));
        }
    }
    Ok(())
}

/// Writes all files into a folder, which is made if it is not there. Returns their paths.
///
/// # Errors
///
/// As [`check`] does, and where the system refuses to write. The folder then holds what it held before.
pub fn write<N: AsRef<Path>>(folder: &Path, files: &[(N, Vec<u8>)], overwrite: bool) -> Result<Vec<PathBuf>> {
    let names: Vec<&Path> = files.iter().map(|(name, _)| name.as_ref()).collect();
    check(folder, &names, overwrite)?;
    let refused = |error| refused("out", folder, folder, error);
    let made = Made::new(folder).map_err(refused)?;
    let mut drafts = Vec::with_capacity(files.len());
    for (name, content) in files {
        let mut draft = Draft::new(&folder.join(name)).map_err(refused)?;
        draft.file.write_all(content).map_err(refused)?;
        draft.file.sync_all().map_err(refused)?;
        drafts.push(draft);
    }
    name_all(&drafts, overwrite).map_err(refused)?;
    made.keep();
    Ok(files.iter().map(|(name, _)| folder.join(name)).collect())
}

/// Refuses a file that cannot be written, before any work is done. `field` is the option that named it.
///
/// # Errors
///
/// Names the field, the file, what stands in the way, and the remedy.
pub fn check_file(field: &str, path: &Path, overwrite: bool) -> Result<()> {
    let problem = match fs::metadata(path) {
        Ok(found) if found.is_dir() => "it is a folder; give a file name".into(),
        Ok(found) if !found.is_file() => "it is not a plain file; give another name".into(),
        Ok(_) if !overwrite => "the file exists; give another name, or --overwrite to replace it".into(),
        Ok(_) => return Ok(()),
        Err(_) if path.file_name().is_none() => "it has no file name; give one".into(),
        Err(_) if !folder_of(path).is_dir() => {
            format!("there is no folder {}; create it first", folder_of(path).display())
        }
        Err(_) => return Ok(()),
    };
    Err(Error::Place { field: field.into(), path: path.into(), problem })
}

/// Writes one file, whole or not at all.
///
/// # Errors
///
/// What [`check_file`] refuses, what `write` returns, and what the system says. The file is then as it was.
pub fn write_file<E: From<Error>>(
    field: &str,
    path: &Path,
    overwrite: bool,
    write: impl FnOnce(&mut Watched<'_>) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    write_by(field, path, overwrite, false, write)
}

/// The same of a file that its owner alone can read.
///
/// # Errors
///
/// As above.
pub fn write_private_file<E: From<Error>>(
    field: &str,
    path: &Path,
    overwrite: bool,
    write: impl FnOnce(&mut Watched<'_>) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    write_by(field, path, overwrite, true, write)
}

fn write_by<E: From<Error>>(
    field: &str,
    path: &Path,
    overwrite: bool,
    private: bool,
    write: impl FnOnce(&mut Watched<'_>) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    check_file(field, path, overwrite)?;
    let refused = |error| refused(field, path, folder_of(path), error);
    let draft = Draft::new(path).map_err(refused)?;
    #[cfg(unix)]
    if private {
        let owners = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        draft.file.set_permissions(owners).map_err(refused)?;
    }
    let mut watched = Watched { file: &draft.file, failed: None };
    let written = write(&mut watched);
    if let Some(error) = watched.failed {
        return Err(refused(error).into());
    }
    written?;
    draft.file.sync_all().map_err(refused)?;
    Ok(draft.name(overwrite).map_err(refused)?)
}

/// A file that remembers what failed: what the system says goes before what a writer makes of it.
pub struct Watched<'a> {
    file: &'a File,
    failed: Option<io::Error>,
}

impl io::Write for Watched<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes).map_err(|error| match error.kind() {
            io::ErrorKind::Interrupted => error,
            kind => {
                self.failed = Some(error);
                kind.into()
            }
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

fn refused(field: &str, path: &Path, folder: &Path, source: io::Error) -> Error {
    match source.kind() {
        io::ErrorKind::AlreadyExists => {
            let problem = "something of that name has appeared meanwhile; give another name".into();
            Error::Place { field: field.into(), path: path.into(), problem }
        }
        _ => Error::Write { field: field.into(), path: path.into(), folder: folder.into(), source },
    }
}

/// The folder a file is in.
fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A file under a name of its own beside the one it is to take. It is gone in the end, unless it took that name.
struct Draft {
    file: File,
    path: Partial,
    target: PathBuf,
}

impl Draft {
    fn new(target: &Path) -> io::Result<Self> {
        let (file, path) = fresh(folder_of(target), |path| File::create_new(path))?;
        Ok(Self { file, path, target: target.into() })
    }

    /// Takes the name, in one step.
    fn name(&self, overwrite: bool) -> io::Result<()> {
        if overwrite {
            return self.path.becomes(&self.target);
        }
        // A link, unlike a new name, never replaces what another process has put there meanwhile.
        match fs::hard_link(&self.path.name, &self.target) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                self.path.becomes(&self.target) // File systems without links.
            }
            other => other,
        }
    }
}

/// A name that something has for a while. It is gone in the end; once something else was made of it, whoever has that name then is left alone.
struct Partial {
    name: PathBuf,
    gone: Cell<bool>,
}

impl Partial {
    /// What has this name has another one from now on.
    fn becomes(&self, target: &Path) -> io::Result<()> {
        fs::rename(&self.name, target).inspect(|()| self.gone.set(true))
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        if !self.gone.get() {
            // Nothing can be done, and nothing needs to be, where it is not there.
            _ = fs::remove_file(&self.name);
        }
    }
}

/// Makes something under a name that nobody has or had: the process number keeps two writers apart, the count the files of one, in all its threads, and what an
/// interrupted process of the same number left behind.
fn fresh<T>(folder: &Path, make: impl Fn(&Path) -> io::Result<T>) -> io::Result<(T, Partial)> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let mut tries = 0u32;
    loop {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = folder.join(format!(".sottovoce-{}-{count}.partial", std::process::id()));
        match make(&name) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && tries < 100_000 => tries += 1,
            other => return other.map(|made| (made, Partial { name, gone: Cell::new(false) })),
        }
    }
}

/// Gives every draft its name, or puts back what was there.
fn name_all(drafts: &[Draft], overwrite: bool) -> io::Result<()> {
    let earlier = drafts.iter().map(|draft| Earlier::keep(&draft.target)).collect::<io::Result<Vec<_>>>()?;
    name_each(drafts, &earlier, overwrite)
}

fn name_each(drafts: &[Draft], earlier: &[Earlier], overwrite: bool) -> io::Result<()> {
    for (done, draft) in drafts.iter().enumerate() {
        if let Err(error) = draft.name(overwrite) {
            drafts
                .iter()
                .zip(earlier)
                .take(done)
                .for_each(|(draft, earlier)| earlier.put_back(&draft.target));
            return Err(error);
        }
    }
    Ok(())
}

/// A second name for a file that is about to be replaced; none where there is no such file.
struct Earlier(Option<Partial>);

impl Earlier {
    fn keep(target: &Path) -> io::Result<Self> {
        if target.symlink_metadata().is_err() {
            return Ok(Self(None));
        }
        let second_name = |path: &Path| match fs::hard_link(target, path) {
            // File systems without links.
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                io::copy(&mut File::open(target)?, &mut File::create_new(path)?).map(drop)
            }
            other => other,
        };
        fresh(folder_of(target), second_name).map(|((), path)| Self(Some(path)))
    }

    /// As far as the system lets us: this is called when it has refused something already.
    fn put_back(&self, target: &Path) {
        _ = match &self.0 {
            Some(path) => path.becomes(target),
            None => fs::remove_file(target),
        };
    }
}

/// Folders that were made, from the outermost; those that are empty in the end go again unless they are kept.
pub struct Made(Vec<PathBuf>);

impl Made {
    /// Makes a folder, and those around it that are not there.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn new(folder: &Path) -> io::Result<Self> {
        let missing = folder.ancestors().take_while(|path| !path.as_os_str().is_empty() && !path.exists());
        let mut made = Self(missing.map(Path::to_path_buf).collect());
        made.0.reverse();
        fs::create_dir_all(folder).map(|()| made)
    }

    fn keep(mut self) {
        self.0.clear();
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        // Only empty folders can be removed this way.
        self.0.iter().rev().for_each(|path| _ = fs::remove_dir(path));
    }
}

#[cfg(test)]
mod tests;
