//! What is read: watched, so that a failing device is told from a wrong file; what is public of it is hashed, so that a result can say what it rests on.
//! Private data are not: whoever knows all rows but one would find that one from the hash by guessing.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::Path;

use anyhow::{Context, anyhow};
use sha2::{Digest, Sha256};
use sottovoce_fault::file;

thread_local! {
    /// SHA-256 of the files that a command has read, by their key in JSON documents.
    static READ: RefCell<BTreeMap<&'static str, String>> = const { RefCell::new(BTreeMap::new()) };
}

/// The key of the graph's (or the schedule's) file.
pub(crate) const GRAPH: &str = "graph_sha256";
/// The key of the file of a token's holders.
pub(crate) const TRAJECTORY: &str = "trajectory_sha256";
/// The key of the file of releases.
pub(crate) const EVENTS: &str = "events_sha256";

/// What has been read so far.
pub(crate) fn hashes() -> BTreeMap<&'static str, String> {
    READ.with_borrow(Clone::clone)
}

/// Another command begins.
pub(crate) fn forget() {
    READ.take();
}

fn note(key: &'static str, hash: Sha256) {
    keep(key, hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect());
}

/// Keeps the hash of what somebody else has read under `key`.
pub(crate) fn keep(key: &'static str, hex: String) {
    READ.with_borrow_mut(|read| read.insert(key, hex));
}

/// Keeps the hash of a graph's file, where there is one.
pub(crate) fn of_graph(sha256: Option<&String>) {
    if let Some(hash) = sha256 {
        keep(GRAPH, hash.clone());
    }
}

/// Reads by `parse`, and keeps the hash of all bytes under `key`. What the device says goes before what the parser makes of it.
pub(crate) fn hashed<T>(
    key: &'static str,
    reader: impl Read,
    parse: impl FnOnce(&mut Hashing<'_>) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let mut reader = reader;
    let mut hashing = Hashing { reader: &mut reader, hash: Sha256::new(), failed: None };
    let parsed = parse(&mut hashing);
    if parsed.is_ok() {
        // Whatever the parser had no use for belongs to the file as well; a failure is kept in `failed`.
        _ = io::copy(&mut hashing, &mut io::sink());
    }
    if let Some(error) = hashing.failed {
        return Err(error).context("it cannot be read to its end; check the device");
    }
    note(key, hashing.hash);
    parsed
}

/// The text of a file, its hash kept under `key`.
pub(crate) fn text(key: &'static str, field: &str, path: &Path) -> anyhow::Result<String> {
    let file = open(field, path)?;
    hashed(key, file, |reader| {
        let mut text = String::new();
        reader.read_to_string(&mut text)?;
        Ok(text)
    })
    .with_context(|| format!("`{field}` is {}", path.display()))
}

/// Opens the file that an option names.
fn open(field: &str, path: &Path) -> anyhow::Result<impl Read> {
    let shown = path.display();
    file::open(path, file::MOST).map_err(|error| match error.kind() {
        io::ErrorKind::InvalidInput => anyhow!("`{field}` is {shown}: {error}"),
        io::ErrorKind::NotFound => anyhow!("`{field}` is {shown}: there is no such file; check the name"),
        _ => anyhow::Error::from(error).context(format!(
            "`{field}` is {shown}: it cannot be opened; check the name and the permissions"
        )),
    })
}

/// A reader that hashes what passes, and remembers what failed.
pub(crate) struct Hashing<'a> {
    reader: &'a mut dyn Read,
    hash: Sha256,
    failed: Option<io::Error>,
}

impl Read for Hashing<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self.reader.read(bytes) {
            Ok(count) => {
                self.hash.update(&bytes[..count]);
                Ok(count)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(error),
            Err(error) => {
                let again = io::Error::from(error.kind());
                self.failed = Some(error);
                Err(again)
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn all_bytes_count_whatever_the_parser_reads() {
        let first = |reader: &mut Hashing<'_>| {
            let mut byte = [0];
            reader.read_exact(&mut byte)?;
            Ok(byte[0])
        };
        assert_eq!(hashed("test", &b"abc"[..], first).unwrap(), b'a');
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(hashes()["test"], abc);
    }

    #[test]
    fn a_failing_device_is_named_before_what_the_parser_says() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::ErrorKind::TimedOut.into())
            }
        }
        let error = hashed("broken", Broken, |_| Ok(())).unwrap_err();
        assert!(error.to_string().contains("check the device"), "{error}");
    }
}
