//! Bytes, whether compressed or not, and what single fields say.

use std::io::Read;

use flate2::read::MultiGzDecoder;
use sha2::{Digest, Sha256};

use crate::{Error, Result};

/// Longer files are refused: packed, they may be far shorter.
const MOST_BYTES: u64 = 1 << 33;

/// Bytes that a packed file may have, and so many times its own: no text is packed better, and what says so is made to fill memory.
const MOST_UNPACKED: u64 = 1 << 26;
const PACKED: u64 = 100;

/// All bytes behind a reader: unpacked, if they start like a gzip file.
pub(crate) fn plain(reader: impl Read) -> Result<Vec<u8>> {
    let raw = bytes(reader)?;
    if !raw.starts_with(&[0x1f, 0x8b]) {
        return Ok(raw);
    }
    at_most(MultiGzDecoder::new(raw.as_slice()), MOST_UNPACKED.max(PACKED * raw.len() as u64)) // whole numbers
}

/// All bytes, not more than there may be.
pub(super) fn bytes(reader: impl Read) -> Result<Vec<u8>> {
    at_most(reader, MOST_BYTES)
}

fn at_most(reader: impl Read, most: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(most + 1).read_to_end(&mut bytes).map_err(|error| {
        Error::Format(format!("cannot be read to its end ({error}); check that the file is whole"))
    })?;
    if bytes.len() as u64 > most {
        return Err(Error::Format(format!(
            "there are more than {most} bytes; give a smaller file, or unpack it first"
        )));
    }
    Ok(bytes)
}

/// The SHA-256 of the bytes as they are in the file, in hexadecimal, as `sha256sum` prints it.
pub(super) fn sha256(raw: &[u8]) -> String {
    Sha256::digest(raw).iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(super) fn not_text(line: usize) -> Error {
    Error::line(line, "the line is not UTF-8 text; convert the file")
}

/// A finite number in a line.
pub(super) fn number(line: usize, what: &str, text: &str) -> Result<f64> {
    match text.trim().parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        _ => {
            let advice = "give a finite number with a decimal point, or remove the row";
            Err(Error::line(line, format!("{what} is `{}`: {advice}", show(text))))
        }
    }
}

/// Whether a field says that there is no value.
pub(super) fn is_missing(text: &str) -> bool {
    let lower = text.trim().to_ascii_lowercase();
    ["", "?", "na", "n/a", "nan", "null", "none"].contains(&lower.as_str())
}

/// Text for a message: short, whatever the file holds.
pub(crate) fn show(text: &str) -> String {
    if text.chars().count() > 80 { text.chars().take(80).chain("...".chars()).collect() } else { text.into() }
}
