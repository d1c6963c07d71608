//! Reading and writing graphs in the formats people have them in.
//!
//! Readers refuse what an undirected simple graph cannot hold (self-loops, repeated edges, directions) and say where
//! it is, rather than repair it silently. Names of nodes are kept as labels unless they are just the numbers `0..n`. What is read
//! and left out, weights above all, is said in [`Found::notes`]. Every format may be gzipped.

mod assemble;
mod edge_line;
mod edge_list;
mod graphml;
mod node_link;
mod snap;
mod source;
#[cfg(test)]
mod tests;
mod weighted;

use std::collections::HashSet;
use std::fmt;
use std::io::{BufWriter, Read, Write};
use std::path::Path;
use std::str::FromStr;

use sottovoce_fault::file;

use crate::{Error, Graph, Result, require};
use assemble::Listing;
pub use assemble::named;
pub use weighted::{Weighted, read_weighted, read_weighted_file};

/// A file format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Two names per line; each edge once. Names with spaces need tabs between them.
    EdgeList,
    /// SNAP's edge lists: an edge may be listed once in each direction.
    Snap,
    /// GraphML, as networkx writes it. Keeps coordinates.
    GraphMl,
    /// JSON, as `networkx.node_link_data` makes it. Keeps coordinates.
    NodeLink,
}

/// A graph, what was left out of it, and which bytes it came from.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The graph.
    pub graph: Graph,
    /// What whoever gave the file should know: a header was noticed, weights were left out.
    pub notes: Vec<String>,
    /// The SHA-256 of the bytes as they were given, packed or not, in hexadecimal.
    pub sha256: String,
}

/// A graph and what is to be said of it.
type Noted = (Graph, Vec<String>);

/// What is said where something about edges is left out.
fn weights_left_out(what: &str) -> String {
    format!(
        "{what} is left out: an edge is there or not, and how much neighbours give each other is said apart (--weights)"
    )
}

/// Text for a message: short, whatever the file holds.
fn show(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    if text.chars().count() > 40 { text.chars().take(40).chain("...".chars()).collect() } else { text.into() }
}

/// Text, or the line where it is none.
fn utf8(text: &[u8]) -> Result<&str> {
    str::from_utf8(text).map_err(|error| {
        let line = text[..error.valid_up_to()].iter().filter(|&&byte| byte == b'\n').count() + 1;
        Error::line(line, "the file is not UTF-8 text; save it as UTF-8")
    })
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 4] = [Self::EdgeList, Self::Snap, Self::GraphMl, Self::NodeLink];

    /// The name users write.
    pub fn name(self) -> &'static str {
        match self {
            Self::EdgeList => "edge-list",
            Self::Snap => "snap",
            Self::GraphMl => "graphml",
            Self::NodeLink => "node-link",
        }
    }

    /// Tells the format from the extension of a file name; `.gz` may follow.
    ///
    /// ```
    /// use sottovoce_topology::io::Format;
    /// assert_eq!(Format::from_path("net.graphml".as_ref())?, Format::GraphMl);
    /// assert_eq!(Format::from_path("net.csv.gz".as_ref())?, Format::EdgeList);
    /// assert!(Format::from_path("net.docx".as_ref()).is_err());
    /// # Ok::<(), sottovoce_topology::Error>(())
    /// ```
    pub fn from_path(path: &Path) -> Result<Self> {
        let extension = |path: &Path| path.extension().map(|end| end.to_string_lossy().to_ascii_lowercase());
        let last = extension(path).unwrap_or_default();
        let inner = (last == "gz").then(|| path.file_stem().and_then(|stem| extension(stem.as_ref())));
        let refused = |remedy: &str| Err(Error::parameter("file", path.display(), remedy));
        let convert = |what: &str| {
            refused(&format!(
                "{what} is not read; convert it to GraphML or an edge list, as docs/how-to/own-graph.md says"
            ))
        };
        match inner.map_or(last, Option::unwrap_or_default).as_str() {
            "txt" | "tsv" | "csv" | "edgelist" | "el" => Ok(Self::EdgeList),
            "snap" | "edges" => Ok(Self::Snap),
            "graphml" | "xml" => Ok(Self::GraphMl),
            "json" => Ok(Self::NodeLink),
            "gml" => convert("GML"),
            "mtx" | "mm" => convert("Matrix Market"),
            "bz2" | "xz" | "zip" | "zst" => refused("unpack it first, or pack it with gzip, which is read"),
            _ => {
                let known = "use .txt, .tsv, .csv, .edgelist, .el, .edges, .snap, .graphml, .xml or .json, and .gz after it where it is packed";
                refused(&format!("{known}, or name the format: {}", names()))
            }
        }
    }
}

/// All format names, for messages.
fn names() -> String {
    Format::ALL.map(Format::name).join(", ")
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let known = Self::ALL.into_iter().find(|format| format.name() == text.to_ascii_lowercase());
        known.ok_or_else(|| Error::parameter("format", text, format!("choose one of {}", names())))
    }
}

/// Reads a graph in the given format, gzipped or not: a byte slice, an open file, or standard input.
///
/// ```
/// use sottovoce_topology::io::{Format, read};
/// let found = read("from,to,weight\nann,bob,2\nbob,eve,0.5\n".as_bytes(), Format::EdgeList)?;
/// assert_eq!(found.graph.labels().unwrap(), ["ann", "bob", "eve"]);
/// assert_eq!(found.graph.neighbors(1), &[0, 2]);
/// assert!(found.notes[0].starts_with("line 1: `from to` is taken for a header"));
/// assert!(found.notes[1].starts_with("the third column (weights) is left out"));
///
/// let error = read("0 1\n1 0\n".as_bytes(), Format::EdgeList).unwrap_err();
/// assert_eq!(error.to_string(), "line 2: `1 0` repeats the edge of line 1; list each edge once");
/// # Ok::<(), sottovoce_topology::Error>(())
/// ```
pub fn read(reader: impl Read, format: Format) -> Result<Found> {
    let raw = source::bytes(reader)?;
    let sha256 = source::sha256(&raw);
    let text = source::unpacked(raw)?;
    let (graph, notes) = match format {
        Format::EdgeList => edge_list::read(&text, Listing::Once),
        Format::Snap => snap::read(&text),
        Format::GraphMl => graphml::read(&text),
        Format::NodeLink => node_link::read(&text),
    }?;
    Ok(Found { graph, notes, sha256 })
}

/// Reads a graph from a file; without a format, the extension tells it.
pub fn read_file(path: impl AsRef<Path>, format: Option<Format>) -> Result<Found> {
    let path = path.as_ref();
    let format = format.map_or_else(|| Format::from_path(path), Ok)?;
    read(open(path)?, format)
}

/// Opens a file that a user names.
fn open(path: &Path) -> Result<impl Read> {
    let opened = file::open(path, file::MOST);
    opened.map_err(|error| Error::parameter("file", path.display(), error.to_string()))
}

/// Writes a graph; reading it back gives the same graph (coordinates only in GraphML and node-link).
///
/// Labels that the format cannot hold, and labels used twice, are refused before anything is written.
///
/// ```
/// use sottovoce_topology::{Graph, io};
/// let graph = Graph::from_edges(3, [(0, 1)])?;
/// let mut text = Vec::new();
/// io::write(&graph, io::Format::EdgeList, &mut text)?;
/// assert_eq!(text, b"# nodes: 3\n0 1\n");
/// # Ok::<(), sottovoce_topology::Error>(())
/// ```
pub fn write(graph: &Graph, format: Format, out: impl Write) -> Result<()> {
    check_labels(graph, format)?;
    let mut out = BufWriter::new(out);
    let written = match format {
        Format::EdgeList => edge_list::write(graph, None, &mut out),
        Format::Snap => snap::write(graph, &mut out),
        Format::GraphMl => graphml::write(graph, &mut out),
        Format::NodeLink => node_link::write(graph, &mut out),
    };
    written
        .and_then(|()| out.flush())
        .map_err(|error| Error::Format(format!("cannot write the graph: {error}")))
}

fn check_labels(graph: &Graph, format: Format) -> Result<()> {
    let unwritable = |label: &str| match format {
        Format::EdgeList | Format::Snap => edge_list::unwritable(label),
        Format::GraphMl => graphml::unwritable(label),
        Format::NodeLink => None,
    };
    let mut seen = HashSet::new();
    for label in graph.labels().unwrap_or_default() {
        if let Some(wrong) = unwritable(label) {
            let remedy = format!("names in {format} files {wrong}; node-link files hold any name");
            return Err(Error::parameter("label", format!("{label:?}"), remedy));
        }
        let new = seen.insert(label);
        require(new, "label", format_args!("{label:?}"), "two nodes have it; give each its own")?;
    }
    Ok(())
}
