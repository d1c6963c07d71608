//! The bytes behind a graph: their hash, and what is in them once unpacked.

use std::io::Read;

use flate2::read::MultiGzDecoder;
use sha2::{Digest, Sha256};

use crate::{Error, Result};

/// Longer texts are refused: packed, they may be far shorter.
const MOST_BYTES: u64 = 1 << 32;

/// Bytes that a packed file may have, and so many times its own: no text is packed better, and what says so is made to fill memory.
const MOST_UNPACKED: u64 = 1 << 26;
const PACKED: u64 = 100;

/// All bytes, not more than there may be.
pub(super) fn bytes(reader: impl Read) -> Result<Vec<u8>> {
    at_most(reader, MOST_BYTES)
}

fn at_most(reader: impl Read, most: u64) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    let unreadable =
        |error| Error::Format(format!("cannot read the graph ({error}); check that it is whole"));
    reader.take(most + 1).read_to_end(&mut text).map_err(unreadable)?;
    if text.len() as u64 > most {
        return Err(Error::Format(format!(
            "the graph has more than {most} bytes of text; give a smaller one, or unpack it first"
        )));
    }
    Ok(text)
}

/// The SHA-256 of the bytes as they are in the file, in hexadecimal, as `sha256sum` prints it.
pub(super) fn sha256(raw: &[u8]) -> String {
    Sha256::digest(raw).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The text: unpacked, if it starts like a gzip file.
pub(super) fn unpacked(raw: Vec<u8>) -> Result<Vec<u8>> {
    if !raw.starts_with(&[0x1f, 0x8b]) {
        return Ok(raw);
    }
    at_most(MultiGzDecoder::new(raw.as_slice()), MOST_UNPACKED.max(PACKED * raw.len() as u64)) // whole numbers
}
