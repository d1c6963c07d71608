//! Reading and writing graphs in the formats people have them in.
//!
//! Readers refuse what an undirected simple graph cannot hold (self-loops, repeated edges, directions) and say where
//! it is, rather than repair it silently. Names of nodes are kept as labels unless they are just the numbers `0..n`.

mod adjacency_csv;
mod assemble;
mod edge_list;
mod graphml;
mod node_link;
mod snap;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::fmt;
use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::path::Path;
use std::str::FromStr;

use crate::{Error, Graph, Result};
use assemble::Listing;

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
    /// A square matrix of 0 and 1, comma-separated, with or without names.
    AdjacencyCsv,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 5] =
        [Self::EdgeList, Self::Snap, Self::GraphMl, Self::NodeLink, Self::AdjacencyCsv];

    /// The name users write.
    pub fn name(self) -> &'static str {
        match self {
            Self::EdgeList => "edge-list",
            Self::Snap => "snap",
            Self::GraphMl => "graphml",
            Self::NodeLink => "node-link",
            Self::AdjacencyCsv => "adjacency-csv",
        }
    }

    /// Tells the format from the extension of a file name.
    ///
    /// ```
    /// use sottovoce_topology::io::Format;
    /// assert_eq!(Format::from_path("net.graphml".as_ref())?, Format::GraphMl);
    /// assert!(Format::from_path("net.docx".as_ref()).is_err());
    /// # Ok::<(), sottovoce_topology::Error>(())
    /// ```
    pub fn from_path(path: &Path) -> Result<Self> {
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or("");
        match extension.to_ascii_lowercase().as_str() {
            "txt" | "tsv" | "edges" | "edgelist" | "el" => Ok(Self::EdgeList),
            "snap" => Ok(Self::Snap),
            "graphml" | "xml" => Ok(Self::GraphMl),
            "json" => Ok(Self::NodeLink),
            "csv" => Ok(Self::AdjacencyCsv),
            "gz" | "bz2" | "xz" | "zip" | "zst" => Err(Error::parameter(
                "file",
                path.display(),
                "unpack it first; compressed files are not read",
            )),
            _ => {
                let known = "use .txt, .tsv, .edges, .edgelist, .el, .snap, .graphml, .xml, .json or .csv";
                let remedy = format!("{known}, or name the format: {}", names());
                Err(Error::parameter("file", path.display(), remedy))
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

/// Reads a graph from text in the given format: a byte slice, an open file, or standard input.
///
/// ```
/// use sottovoce_topology::io::{Format, read};
/// let graph = read("ann bob\nbob eve  # friends\n".as_bytes(), Format::EdgeList)?;
/// assert_eq!(graph.labels().unwrap(), ["ann", "bob", "eve"]);
/// assert_eq!(graph.neighbors(1), &[0, 2]);
///
/// let error = read("0 1\n1 0\n".as_bytes(), Format::EdgeList).unwrap_err();
/// assert_eq!(error.to_string(), "line 2: `1 0` repeats the edge of line 1; list each edge once");
/// # Ok::<(), sottovoce_topology::Error>(())
/// ```
pub fn read(mut reader: impl Read, format: Format) -> Result<Graph> {
    let mut text = Vec::new();
    reader
        .read_to_end(&mut text)
        .map_err(|error| Error::Format(format!("cannot read the graph: {error}")))?;
    match format {
        Format::EdgeList => edge_list::read(&text, Listing::Once),
        Format::Snap => snap::read(&text),
        Format::GraphMl => graphml::read(&text),
        Format::NodeLink => node_link::read(&text),
        Format::AdjacencyCsv => adjacency_csv::read(&text),
    }
}

/// Reads a graph from a file; without a format, the extension tells it.
pub fn read_file(path: impl AsRef<Path>, format: Option<Format>) -> Result<Graph> {
    let path = path.as_ref();
    let format = format.map_or_else(|| Format::from_path(path), Ok)?;
    let file =
        File::open(path).map_err(|error| Error::parameter("file", path.display(), error.to_string()))?;
    read(file, format)
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
        Format::AdjacencyCsv => adjacency_csv::write(graph, &mut out),
    };
    written
        .and_then(|()| out.flush())
        .map_err(|error| Error::Format(format!("cannot write the graph: {error}")))
}

fn check_labels(graph: &Graph, format: Format) -> Result<()> {
    let unwritable = |label: &str| match format {
        Format::EdgeList | Format::Snap => edge_list::unwritable(label),
        Format::GraphMl => graphml::unwritable(label),
        Format::NodeLink | Format::AdjacencyCsv => None,
    };
    let mut seen = HashSet::new();
    for label in graph.labels().unwrap_or_default() {
        if let Some(remedy) = unwritable(label) {
            return Err(Error::parameter("label", format!("{label:?}"), remedy));
        }
        if !seen.insert(label) {
            return Err(Error::parameter(
                "label",
                format!("{label:?}"),
                "two nodes have it; give each its own",
            ));
        }
    }
    Ok(())
}
