//! `sottovoce graph generate`.

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::Args;
use serde::Serialize;
use sottovoce_report::store;
use sottovoce_topology::family::{self, Family};
use sottovoce_topology::io::{self, Format};
use sottovoce_topology::{Error, Graph};

use super::convert::Plain;
use super::family::Choice;
use super::source::formats;
use super::{Global, counted};
use crate::output;

const EXAMPLES: &str = "Example:
  sottovoce graph generate --family ring --peers 16
  sottovoce graph generate --family torus --set sides=4,4,4 --out torus.graphml
  sottovoce graph generate --family erdos-renyi -n 200 --mean-degree 8 --connected --out er.txt
  sottovoce graph generate --family barabasi-albert --peers 60 --set attach=2

Formats by extension:
  .txt .tsv .csv .edgelist .el  edge-list  two node names per line
  .snap .edges                  snap       the same, with tabs, as SNAP has it
  .graphml .xml                 graphml    keeps coordinates
  .json                         node-link  as networkx.node_link_data; keeps coordinates

Without --out, --json prints {\"nodes\": N, \"edges\": [[u, v], ..], ..}; `graph inspect` reads the formats above.";

/// Arguments of `graph generate`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Generate {
    /// Redraw a random family until the graph is connected, up to 100 times.
    #[arg(long)]
    connected: bool,
    /// File to write; without it, or as `-`, the graph goes to standard output.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Format; without it the extension of FILE tells, and standard output gets an edge list.
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    format: Option<Format>,
    /// Replace FILE if it exists.
    #[arg(long, requires = "out")]
    overwrite: bool,
    #[command(flatten)]
    choice: Choice,
}

impl Generate {
    pub(crate) fn run(&self, global: &Global) -> anyhow::Result<()> {
        match self.out.as_deref().filter(|out| *out != Path::new("-")) {
            Some(out) => self.to_file(out, global),
            None => self.to_stdout(global),
        }
    }

    fn to_file(&self, out: &Path, global: &Global) -> anyhow::Result<()> {
        store::check_file("out", out, self.overwrite)?;
        unpacked(out)?;
        let format = self.format.map_or_else(|| Format::from_path(out), Ok).map_err(at_out)?;
        let drawn = self.draw(global)?;
        store::write_file("out", out, self.overwrite, |file| {
            Ok::<_, anyhow::Error>(io::write(&drawn.graph, format, file)?)
        })?;
        drawn.warn();
        global.print(&Summary::new(&drawn, out, format, global.seed))
    }

    fn to_stdout(&self, global: &Global) -> anyhow::Result<()> {
        if let (true, Some(format)) = (global.json, self.format) {
            bail!(
                "`format` is {format}: --json has its own on standard output; remove one of them, or add --out"
            )
        }
        let drawn = self.draw(global)?;
        let mut bytes = Vec::new();
        if global.json {
            bytes.extend(global.document(&Document::new(&drawn, global.seed))?.into_bytes());
            bytes.push(b'\n');
        } else {
            io::write(&drawn.graph, self.format.unwrap_or(Format::EdgeList), &mut bytes)?;
        }
        output::write(&bytes)?;
        drawn.warn();
        Ok(())
    }

    fn draw(&self, global: &Global) -> anyhow::Result<Drawn> {
        let family = self.choice.family()?;
        let drawn =
            Drawn::new(family, global.seed, self.connected).map_err(|error| self.choice.explain(error))?;
        self.choice.check_nodes(drawn.graph.nodes())?;
        Ok(drawn)
    }
}

/// Refuses a name that promises a packed file.
pub(super) fn unpacked(out: &Path) -> anyhow::Result<()> {
    if out.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz")) {
        bail!("`out` is {}: graphs are written unpacked; leave .gz out", out.display());
    }
    Ok(())
}

/// The topology crate speaks of a file; here it is the option `--out`.
pub(super) fn at_out(error: Error) -> Error {
    match error {
        Error::Parameter(mut fault) => {
            fault.field = "out";
            fault.into()
        }
        other => other,
    }
}

/// A graph, and what was found on the way to it.
struct Drawn {
    family: Family,
    graph: Graph,
    components: usize,
    at_fiedler: Option<AtFiedler>,
}

/// What a search for a Fiedler value came to.
#[derive(Debug, Clone, Copy, Serialize, schemars::JsonSchema)]
struct AtFiedler {
    /// Fiedler value divided by the number of peers that was found.
    fiedler_normalized: f64,
    /// At which radius.
    radius: f64,
}

impl Drawn {
    fn new(family: Family, seed: u64, connected: bool) -> Result<Self, Error> {
        let (graph, at_fiedler) = match family {
            Family::GeometricFiedler { n, target } => {
                let drawn = family::geometric_at_fiedler(n, target, seed)?;
                let found = AtFiedler { fiedler_normalized: drawn.achieved, radius: drawn.radius };
                (drawn.graph, Some(found))
            }
            _ => (family::generate(&family, seed, connected)?, None),
        };
        Ok(Self { components: graph.components().count(), family, graph, at_fiedler })
    }

    fn warn(&self) {
        if self.components > 1 {
            let count = self.components;
            output::note(&format!(
                "the graph is in {count} pieces, which never mix; --connected redraws until there is one"
            ));
        }
    }
}

/// The graph itself, as JSON on standard output.
#[derive(Serialize, schemars::JsonSchema)]
pub(crate) struct Document<'a> {
    /// Name of the family.
    family: &'static str,
    /// The family with its parameters.
    description: String,
    /// Of the draw.
    seed: u64,
    #[serde(flatten)]
    at_fiedler: Option<AtFiedler>,
    #[serde(flatten)]
    graph: Plain<'a>,
}

impl<'a> Document<'a> {
    fn new(drawn: &'a Drawn, seed: u64) -> Self {
        Self {
            family: drawn.family.name(),
            description: drawn.family.to_string(),
            seed,
            at_fiedler: drawn.at_fiedler,
            graph: Plain::new(&drawn.graph),
        }
    }
}

/// What was written where.
#[derive(Serialize, schemars::JsonSchema)]
pub(crate) struct Summary {
    /// Name of the family.
    family: &'static str,
    /// The family with its parameters.
    description: String,
    /// Of the draw.
    seed: u64,
    #[serde(flatten)]
    at_fiedler: Option<AtFiedler>,
    /// Number of peers.
    nodes: usize,
    /// Pairs of peers; with --out, how many.
    edges: usize,
    /// Whether everyone can reach everyone.
    connected: bool,
    /// Number of pieces.
    components: usize,
    /// The file that was written.
    out: String,
    /// Its format.
    format: &'static str,
    #[serde(skip)]
    random: bool,
}

impl Summary {
    fn new(drawn: &Drawn, out: &Path, format: Format, seed: u64) -> Self {
        Self {
            family: drawn.family.name(),
            description: drawn.family.to_string(),
            seed,
            at_fiedler: drawn.at_fiedler,
            nodes: drawn.graph.nodes(),
            edges: drawn.graph.edge_count(),
            connected: drawn.components == 1,
            components: drawn.components,
            out: out.display().to_string(),
            format: format.name(),
            random: drawn.family.is_random(),
        }
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { description, out, format, .. } = self;
        let (nodes, edges) = (counted(self.nodes, "node"), counted(self.edges, "edge"));
        write!(f, "wrote {out} ({format}): {description}, {nodes}, {edges}")?;
        if let Some(AtFiedler { fiedler_normalized, radius }) = self.at_fiedler {
            write!(f, ", normalised Fiedler value {fiedler_normalized:.6} at radius {radius:.6}")?;
        }
        match self.components {
            1 => f.write_str(", connected")?,
            count => write!(f, ", in {count} pieces")?,
        }
        if self.random { write!(f, ", seed {}", self.seed) } else { Ok(()) }
    }
}
