//! The bytes behind a graph: their hash, and what is in them once unpacked.

use std::io::Read;

use flate2::read::MultiGzDecoder;
use sha2::{Digest, Sha256};

use crate::{Error, Result};

/// Longer texts are refused: packed, they may be far shorter.
const MOST_BYTES: u64 = 1 << 32;

/// All bytes, not more than there may be.
pub(super) fn bytes(reader: impl Read) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    let unreadable =
        |error| Error::Format(format!("cannot read the graph ({error}); check that it is whole"));
    reader.take(MOST_BYTES + 1).read_to_end(&mut text).map_err(unreadable)?;
    if text.len() as u64 > MOST_BYTES {
        return Err(Error::Format(format!(
            "the graph has more than {MOST_BYTES} bytes of text; give a smaller one"
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
    if raw.starts_with(&[0x1f, 0x8b]) { bytes(MultiGzDecoder::new(raw.as_slice())) } else { Ok(raw) }
}
