//! `sottovoce graph convert`: a graph from one form into another, with its names and coordinates where the other holds them.

use std::fmt;
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;
use sottovoce_report::store;
use sottovoce_topology::Graph;
use sottovoce_topology::io::{self, Format};

use super::generate::{at_out, unpacked};
use super::source::{formats, read_graph};
use super::{Global, counted};
use crate::output;

const EXAMPLES: &str = "Example:
  sottovoce graph convert friends.graphml --out friends.txt
  sottovoce graph convert friends.graphml --to node-link
  sottovoce graph convert friends.csv --json

Without --out, --json prints {\"nodes\": N, \"edges\": [[u, v], ..], ..}, with names as `labels`. Weights are left out, which a note says.";

/// Arguments of `graph convert`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Convert {
    /// File to read; `-` is standard input.
    file: PathBuf,
    /// Format of FILE; without it the extension tells, and standard input is read as an edge list.
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    format: Option<Format>,
    /// Format to write; without it the extension of OUT tells, and standard output gets an edge list.
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    to: Option<Format>,
    /// File to write; without it the graph goes to standard output.
    #[arg(long, value_name = "OUT")]
    out: Option<PathBuf>,
    /// Replace OUT if it exists.
    #[arg(long, requires = "out")]
    overwrite: bool,
}

impl Convert {
    pub(crate) fn run(&self, global: &Global) -> anyhow::Result<()> {
        match &self.out {
            Some(out) => self.to_file(out, global),
            None => self.to_stdout(global),
        }
    }

    fn to_file(&self, out: &Path, global: &Global) -> anyhow::Result<()> {
        store::check_file("out", out, self.overwrite)?;
        unpacked(out)?;
        let format = self.to.map_or_else(|| Format::from_path(out), Ok).map_err(at_out)?;
        let graph = read_graph(&self.file, self.format)?;
        store::write_file("out", out, self.overwrite, |file| {
            Ok::<_, anyhow::Error>(io::write(&graph, format, file)?)
        })?;
        let (nodes, edges) = (graph.nodes(), graph.edge_count());
        global.print(&Converted { nodes, edges, out: out.display().to_string(), format: format.name() })
    }

    fn to_stdout(&self, global: &Global) -> anyhow::Result<()> {
        if let (true, Some(format)) = (global.json, self.to) {
            anyhow::bail!(
                "`to` is {format}: --json has its own on standard output; remove one of them, or add --out"
            )
        }
        let graph = read_graph(&self.file, self.format)?;
        let mut bytes = Vec::new();
        if global.json {
            bytes.extend(global.document(&Plain::new(&graph))?.into_bytes());
            bytes.push(b'\n');
        } else {
            io::write(&graph, self.to.unwrap_or(Format::EdgeList), &mut bytes)?;
        }
        output::write(&bytes)
    }
}

/// A graph itself, as JSON.
#[derive(Serialize, schemars::JsonSchema)]
pub(crate) struct Plain<'a> {
    /// Number of peers.
    nodes: usize,
    /// Pairs of peers; with --out, how many.
    edges: Vec<(usize, usize)>,
    /// Names of the peers.
    #[serde(skip_serializing_if = "Option::is_none")]
    labels: Option<&'a [String]>,
    /// Where the peers are.
    #[serde(skip_serializing_if = "Option::is_none")]
    coordinates: Option<&'a [[f64; 2]]>,
}

impl<'a> Plain<'a> {
    pub(crate) fn new(graph: &'a Graph) -> Self {
        let (labels, coordinates) = (graph.labels(), graph.coordinates());
        Self { nodes: graph.nodes(), edges: graph.edges().collect(), labels, coordinates }
    }
}

/// What was written where.
#[derive(Serialize, schemars::JsonSchema)]
pub(crate) struct Converted {
    /// Number of peers.
    nodes: usize,
    /// Number of pairs.
    edges: usize,
    /// The file that was written.
    out: String,
    /// Its format.
    format: &'static str,
}

impl fmt::Display for Converted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { out, format, .. } = self;
        let (nodes, edges) = (counted(self.nodes, "node"), counted(self.edges, "edge"));
        write!(f, "wrote {out} ({format}): {nodes}, {edges}")
    }
}
