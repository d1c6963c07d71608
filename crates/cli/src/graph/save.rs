//! Writing a result where it belongs: whole into a file, or to a standard output whose reader may leave early.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail};

/// Refuses a place that cannot be written to, before any work is done.
pub(crate) fn check(field: &str, out: &Path, force: bool) -> anyhow::Result<()> {
    let shown = out.display();
    match fs::metadata(out) {
        Ok(found) if found.is_dir() => bail!("`{field}` is {shown}: it is a folder; give a file name"),
        Ok(found) if !found.is_file() => {
            bail!("`{field}` is {shown}: it is not a plain file; give another name")
        }
        Ok(_) if !force => {
            bail!("`{field}` is {shown}: the file exists; give another name, or --force to replace it")
        }
        Ok(_) => Ok(()),
        Err(_) if out.file_name().is_none() => bail!("`{field}` is {shown}: it has no file name; give one"),
        Err(_) if !folder(out).is_dir() => {
            bail!("`{field}` is {shown}: there is no folder {}; create it first", folder(out).display())
        }
        Err(_) => Ok(()),
    }
}

/// Writes a file whole or not at all: into a draft in the same folder, which then takes the name.
pub(crate) fn whole(
    field: &str,
    out: &Path,
    write: impl FnOnce(&mut File) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let refused = |error: io::Error| {
        let (shown, folder) = (out.display(), folder(out).display());
        anyhow!("`{field}` is {shown}: cannot write in {folder} ({error}); choose another folder")
    };
    let name = out.file_name().unwrap_or_default().to_string_lossy();
    let draft = Draft(folder(out).join(format!(".{name}.{}.draft", std::process::id())));
    let mut file = File::create_new(&draft.0).map_err(refused)?;
    write(&mut file)?;
    file.sync_all().map_err(refused)?;
    fs::rename(&draft.0, out).map_err(refused)
}

/// The folder a file is in.
fn folder(out: &Path) -> &Path {
    out.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A file that is gone in the end; one that has been given its name is no longer here to be removed.
struct Draft(PathBuf);

impl Drop for Draft {
    fn drop(&mut self) {
        // Nothing can be done, and nothing needs to be, if it is not there.
        _ = fs::remove_file(&self.0);
    }
}

/// Standard output that takes no offence at a reader who has gone away, as `head` does.
pub(super) struct Stdout;

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        forgiven(io::stdout().lock().write(bytes), bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        forgiven(io::stdout().lock().flush(), ())
    }
}

fn forgiven<T>(result: io::Result<T>, otherwise: T) -> io::Result<T> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(otherwise),
        other => other,
    }
}
