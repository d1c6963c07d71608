//! Files that users name: read whole, if they are files at all and not too long.

use std::path::Path;

use crate::Parameter;

/// Reads a file of at most so many bytes. A pipe or a device is refused before it is opened: it would be waited for, or never end.
///
/// ```
/// let error = sottovoce_fault::file::read("values", "/dev/null".as_ref(), 10).unwrap_err();
/// assert_eq!(error.field, "values");
/// ```
pub fn read(field: &'static str, path: &Path, most: u64) -> Result<Vec<u8>, Parameter> {
    let refused = |remedy: String| Parameter::new(field, path.display(), remedy);
    let unread = |cause: std::io::Error| refused(format!("it cannot be read ({cause}); check the name"));
    let kind = std::fs::metadata(path).map_err(unread)?;
    if !kind.is_file() {
        return Err(refused("it is no file; give one".to_owned()));
    }
    if kind.len() > most {
        return Err(refused(format!("it has more than {most} bytes; give a smaller file")));
    }
    std::fs::read(path).map_err(unread)
}

/// The same of text.
pub fn text(field: &'static str, path: &Path, most: u64) -> Result<String, Parameter> {
    let remedy = "it is not text in UTF-8; give a text file";
    String::from_utf8(read(field, path, most)?).map_err(|_| Parameter::new(field, path.display(), remedy))
}
