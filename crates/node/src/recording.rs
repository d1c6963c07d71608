//! What noise made of a peer's values in one run, and its result, written down for a replay.
//!
//! ```text
//! {"recording": version, agreement, peer}
//! {"covered": [[draw, before, after], ...]}   before the step is stored; what is drawn anew after a crash comes again, and the last one counts
//! {"ended": result}
//! ```
//!
//! What a private value was before its noise is not written down.
//!
//! **It is as secret as the values.** Who has it knows what others were never told. Nothing writes it unless its user asks, and nobody else can read the file.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use sottovoce_fault::file;
use sottovoce_protocol::Peer;

use crate::error::require;
use crate::hash::{from_hex, to_hex};
use crate::ledger::Covered;
use crate::{Agreement, Error, Result, Stands};

const SCHEMA_VERSION: u32 = 1;

/// A line of the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
enum Line {
    Recording {
        schema_version: u32,
        version: String,
        agreement: String,
        peer: Peer,
    },
    /// By draw: what noise was put on, where it was no private value, and what it made of it.
    Covered(Vec<(u64, Option<String>, String)>),
    /// Each number as the bits of a double; none where the run halted.
    Ended(Option<Vec<u64>>),
}

impl Line {
    fn head(agreement: &Agreement, peer: Peer) -> Result<Self> {
        let (agreement, version) = (agreement.canonical()?, env!("CARGO_PKG_VERSION").to_owned());
        Ok(Self::Recording { schema_version: SCHEMA_VERSION, version, agreement, peer })
    }

    fn read(line: &str, path: &Path) -> Result<Self> {
        serde_json::from_str(line).map_err(|problem| {
            Error::parameter("recording", path.display(), format!("a line of it is none ({problem})"))
        })
    }
}

/// Writes a recording; clones write the same one.
#[derive(Debug, Clone)]
pub struct Recorder {
    path: PathBuf,
    file: Arc<Mutex<File>>,
}

impl Recorder {
    /// Begins a recording in a file that is not there yet and that nobody else can read, or goes on with one of the same run. `begun`: whether the run was begun before; then there
    /// must be one, or the beginning would be missing.
    pub fn open(path: &Path, agreement: &Agreement, peer: Peer, begun: bool) -> Result<Self> {
        let failed = |what: &'static str| move |cause: std::io::Error| Error::file(what, path, cause);
        let head = Line::head(agreement, peer)?;
        let mut options = OpenOptions::new();
        options.read(true).write(true);
        if !path.exists() {
            let remedy = "the run was begun without it, so that its beginning would be missing; leave it out";
            require(!begun, "record", path.display(), remedy)?;
            options.create_new(true);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        } else {
            file::regular(path).map_err(|cause| file::refused("record", path, &cause))?;
        }
        let mut file = options.open(path).map_err(|cause| Error::place("record", path, &cause))?;
        private(&file, path)?;
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(failed("read"))?;
        let goes_on = Self::goes_on(&text, &head, path)?;
        let remedy = "the run was begun without it, so that its beginning would be missing; leave it out";
        require(goes_on || !begun, "record", path.display(), remedy)?;
        // What a crash tore is no line.
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        file.set_len(whole as u64).and_then(|()| file.seek(SeekFrom::End(0))).map_err(failed("write"))?;
        let recorder = Self { path: path.to_owned(), file: Arc::new(Mutex::new(file)) };
        if text.is_empty() {
            recorder.write(&head)?;
        }
        Ok(recorder)
    }

    /// Whether a file holds something of the same recording already. What is anything else is left as it is.
    fn goes_on(text: &str, head: &Line, path: &Path) -> Result<bool> {
        let mut lines = text.lines();
        let Some(first) = lines.next() else { return Ok(false) };
        let known = Line::read(first, path);
        let (Ok(Line::Recording { agreement, peer, .. }), true) = (known, text.contains('\n')) else {
            return Err(Error::parameter("record", path.display(), "it is no recording; give another name"));
        };
        let remedy = "it is of another run or peer, and nothing is overwritten; give another name";
        let same = matches!(head, Line::Recording { agreement: one, peer: of, .. } if *one == agreement && *of == peer);
        require(same, "record", path.display(), remedy)?;
        Ok(lines.next().is_some())
    }

    fn write(&self, line: &Line) -> Result<()> {
        let mut text = serde_json::to_vec(line).map_err(|cause| Error::file("write", &self.path, cause))?;
        text.push(b'\n');
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let written = file.write_all(&text).and_then(|()| file.sync_data());
        written.map_err(|cause| Error::file("write", &self.path, cause))
    }

    /// What noise made of values.
    pub(crate) fn covered(&self, covered: &[Covered]) -> Result<()> {
        let line = |one: &Covered| (one.draw, one.before.as_deref().map(to_hex), to_hex(&one.after));
        self.write(&Line::Covered(covered.iter().map(line).collect()))
    }

    /// How the run ended.
    pub fn ended(&self, stands: &Stands) -> Result<()> {
        let bits = |result: &Vec<f64>| result.iter().map(|number| number.to_bits()).collect();
        self.write(&Line::Ended(match stands {
            Stands::Done(result) => Some(bits(result)),
            Stands::Told(_) | Stands::Elsewhere | Stands::Going { .. } | Stands::Halted { .. } => None,
        }))
    }
}

/// Refuses a file that others can read.
fn private(file: &File, path: &Path) -> Result<()> {
    #[cfg(unix)]
    {
        let metadata = file.metadata().map_err(|cause| Error::file("look at", path, cause))?;
        let mode = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions());
        let remedy = "others can read it, and it is as secret as the values; `chmod 600` it";
        let value = format_args!("{} with permissions {:03o}", path.display(), mode & 0o777);
        require(mode & 0o077 == 0, "record", value, remedy)?;
    }
    Ok(())
}

/// A recording.
#[derive(Clone, PartialEq)]
pub struct Recording {
    /// What was agreed on.
    pub agreement: Agreement,
    /// Whose it is.
    pub peer: Peer,
    /// By the numbers of the draws, as bytes: what noise was put on, if that is known, and what it made of it.
    pub(crate) covered: BTreeMap<u64, (Option<Vec<u8>>, Vec<u8>)>,
    /// The result, where the run had one.
    pub result: Option<Vec<f64>>,
}

// Written by hand: a derived one would print what is secret.
impl std::fmt::Debug for Recording {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Recording of peer {} with {} draws", self.peer, self.covered.len())
    }
}

impl Recording {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<Self> {
        let text = file::text("recording", path, file::MOST)?;
        let damaged = |remedy: &str| Error::parameter("recording", path.display(), remedy);
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        let mut lines = text[..whole].lines().map(|line| Line::read(line, path));
        let Some(Line::Recording { schema_version, agreement, peer, .. }) = lines.next().transpose()? else {
            return Err(damaged("it does not begin as a recording does"));
        };
        let remedy = format!("this program reads version {SCHEMA_VERSION}");
        require(schema_version == SCHEMA_VERSION, "schema_version", schema_version, remedy)?;
        let agreement = Agreement::parse(&agreement)?;
        let mut recording = Self { agreement, peer, covered: BTreeMap::new(), result: None };
        for line in lines {
            match line? {
                Line::Recording { .. } => return Err(damaged("it begins twice")),
                Line::Covered(draws) => {
                    let bytes = |hex: &str| from_hex(hex).ok_or_else(|| damaged("a value of it is none"));
                    for (draw, before, after) in draws {
                        let before = before.as_deref().map(bytes).transpose()?;
                        recording.covered.insert(draw, (before, bytes(&after)?));
                    }
                }
                Line::Ended(result) => {
                    recording.result = result.map(|bits| bits.into_iter().map(f64::from_bits).collect());
                }
            }
        }
        Ok(recording)
    }
}
