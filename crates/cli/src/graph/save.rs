//! Writing a result into a file, whole or not at all.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

/// Refuses a place that cannot be written to, before any work is done.
pub(crate) fn check(field: &str, out: &Path, overwrite: bool) -> anyhow::Result<()> {
    let shown = out.display();
    match fs::metadata(out) {
        Ok(found) if found.is_dir() => bail!("`{field}` is {shown}: it is a folder; give a file name"),
        Ok(found) if !found.is_file() => {
            bail!("`{field}` is {shown}: it is not a plain file; give another name")
        }
        Ok(_) if !overwrite => {
            bail!("`{field}` is {shown}: the file exists; give another name, or --overwrite to replace it")
        }
        Ok(_) => Ok(()),
        Err(_) if out.file_name().is_none() => bail!("`{field}` is {shown}: it has no file name; give one"),
        Err(_) if !folder(out).is_dir() => {
            bail!("`{field}` is {shown}: there is no folder {}; create it first", folder(out).display())
        }
        Err(_) => Ok(()),
    }
}

/// Writes a file whole or not at all: into a draft in the same folder, which then takes the name. What the system says goes
/// before what the writer makes of it.
pub(crate) fn whole(
    field: &str,
    out: &Path,
    write: impl FnOnce(&mut Watched) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let refused = || {
        let (shown, folder) = (out.display(), folder(out).display());
        format!("`{field}` is {shown}: cannot write in {folder}; choose another folder")
    };
    let name = out.file_name().unwrap_or_default().to_string_lossy();
    let draft = Draft(folder(out).join(format!(".{name}.{}.draft", std::process::id())));
    let mut file = Watched { file: File::create_new(&draft.0).with_context(refused)?, failed: None };
    let written = write(&mut file);
    if let Some(error) = file.failed {
        return Err(error).with_context(refused);
    }
    written?;
    file.file.sync_all().with_context(refused)?;
    fs::rename(&draft.0, out).with_context(refused)
}

/// A file that remembers what failed.
pub(crate) struct Watched {
    file: File,
    failed: Option<io::Error>,
}

impl Write for Watched {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes).or_else(|error| match error.kind() {
            io::ErrorKind::Interrupted => Err(error),
            kind => {
                self.failed = Some(error);
                Err(kind.into())
            }
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
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
