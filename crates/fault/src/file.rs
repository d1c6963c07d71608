//! Files that users name: read, if they are files at all and not too long.

use std::fs::{File, Metadata};
use std::io::{self, ErrorKind, Read, Take};
use std::path::Path;

use crate::Parameter;

/// Bytes of the longest file that is read where nothing less is said.
pub const MOST: u64 = 1 << 32;

/// What is known of a regular file. A folder, a pipe or a device is refused (`InvalidInput`) without being opened: it would be waited for, or never end.
pub fn regular(path: &Path) -> io::Result<Metadata> {
    let known = std::fs::metadata(path)?;
    let what = match known.is_file() {
        true => return Ok(known),
        false if known.is_dir() => "it is a folder; give a file in it",
        false => "it is no file; give one",
    };
    Err(io::Error::new(ErrorKind::InvalidInput, what))
}

/// Opens a regular file of at most so many bytes; of one that grows hardly more is read.
pub fn open(path: &Path, most: u64) -> io::Result<Take<File>> {
    if regular(path)?.len() > most {
        return Err(longer(most));
    }
    Ok(File::open(path)?.take(most.saturating_add(1)))
}

/// Reads a file of at most so many bytes, as [`open`] does.
pub fn whole(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path, most)?.read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most { Err(longer(most)) } else { Ok(bytes) }
}

fn longer(most: u64) -> io::Error {
    io::Error::new(ErrorKind::InvalidInput, format!("it has more than {most} bytes; give a smaller file"))
}

/// The same, with the name of the field that names the file in what is refused.
///
/// ```
/// let error = sottovoce_fault::file::read("values", "/dev/null".as_ref(), 10).unwrap_err();
/// assert_eq!(error.field, "values");
/// ```
pub fn read(field: &'static str, path: &Path, most: u64) -> Result<Vec<u8>, Parameter> {
    whole(path, most).map_err(|cause| refused(field, path, &cause))
}

/// Why a file cannot be read, and what to do.
pub fn refused(field: &'static str, path: &Path, cause: &io::Error) -> Parameter {
    let remedy = match cause.kind() {
        ErrorKind::InvalidInput => cause.to_string(),
        _ => format!("it cannot be read ({cause}); check the name"),
    };
    Parameter::new(field, path.display(), remedy)
}

/// The same of text.
pub fn text(field: &'static str, path: &Path, most: u64) -> Result<String, Parameter> {
    let remedy = "it is not text in UTF-8; give a text file";
    String::from_utf8(read(field, path, most)?).map_err(|_| Parameter::new(field, path.display(), remedy))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_that_are_short_enough_are_read() {
        let path = std::env::temp_dir().join(format!("sottovoce-fault-{}", std::process::id()));
        std::fs::write(&path, "four").unwrap();
        let (whole, longer) = (read("x", &path, 4), read("x", &path, 3));
        std::fs::remove_file(&path).unwrap();
        assert_eq!(whole.unwrap(), b"four");
        assert!(longer.unwrap_err().remedy.contains("more than 3 bytes"));
        assert!(read("x", &path, 4).unwrap_err().remedy.contains("check the name"));
        for other in ["/", "/dev/zero", "/dev/null"].map(Path::new).into_iter().filter(|path| path.exists()) {
            assert_eq!(open(other, MOST).unwrap_err().kind(), ErrorKind::InvalidInput, "{}", other.display());
        }
    }
}
