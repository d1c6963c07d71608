//! Who can speak to whom: a file, a family of graphs, or a schedule; and how much neighbours give each other.

use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sottovoce_fault::file;
use sottovoce_topology::Graph;
use sottovoce_topology::family::{Family, generate};
use sottovoce_topology::io::{self, Format};
use sottovoce_topology::mixing::{Mixing, Weights};
use sottovoce_topology::schedule::{Ending, Schedule, Step};

#[cfg(feature = "flags")]
use super::flags::{count, real};
use super::memory::{MEMORY, Memory, is_memory};
use crate::{Error, Result, require};

/// Most peers of a graph that is drawn where only their number is given.
const MOST_PEERS: usize = 10_000_000;

/// A graph that is given, and how much neighbours give each other.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[cfg_attr(feature = "flags", derive(clap::Args))]
pub struct GraphFile {
    /// Graph file; its ending tells the format, `.gz` is unpacked, `-` is standard input.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(id = "graph", long = "graph", value_name = "FILE"))]
    pub file: Option<PathBuf>,
    /// Format of the graph file, where its ending does not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "FORMAT", requires = "graph", value_parser = formats()))]
    pub format: Option<String>,
    /// A family, such as `{ ring = { n = 12 } }`, instead of a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(skip))]
    pub family: Option<Family>,
    /// What neighbours give to each other in one step: metropolis, metropolis-plus-one or uniform, which needs equal degrees but for a token, whose plain random
    /// walk it is (default: metropolis-plus-one).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "WEIGHTS"))]
    pub weights: Option<Weights>,
    /// Share of its own value that every peer keeps in a step, from 0 to below 1 (default: 0).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "L", value_parser = real, allow_negative_numbers = true))]
    pub lazy: Option<f64>,
    /// The graph itself, where it is in memory.
    #[serde(skip)]
    #[cfg_attr(feature = "flags", arg(skip))]
    pub memory: Memory<Graph>,
}

/// The names of all formats.
#[cfg(feature = "flags")]
pub fn formats() -> clap::builder::PossibleValuesParser {
    clap::builder::PossibleValuesParser::new(Format::ALL.map(Format::name))
}

/// The graph of an averaging: given, drawn, or changing by a schedule.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[cfg_attr(feature = "flags", derive(clap::Args))]
pub struct GraphSpec {
    /// The graph that is given.
    #[serde(flatten)]
    #[cfg_attr(feature = "flags", command(flatten))]
    pub base: GraphFile,
    /// File that says who mixes with whom at each step, instead of a fixed graph; `-` is standard input. (A pair that exchanges meets halfway, whatever the weights.)
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "FILE", conflicts_with_all = ["graph", "lazy"]))]
    pub schedule: Option<PathBuf>,
    /// Number of peers of a random geometric graph, where no graph is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "N", value_parser = count, conflicts_with_all = ["graph", "schedule"], allow_negative_numbers = true))]
    pub peers: Option<usize>,
    /// Take the largest connected part of the graph file.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "flags", arg(long))]
    pub largest_component: bool,
}

/// A graph, and which bytes it came from.
#[derive(Debug, Clone, PartialEq)]
pub struct Place {
    /// The graph; of a schedule, all edges that it ever uses.
    pub graph: Graph,
    /// The schedule, if there is one.
    pub schedule: Option<Schedule>,
    /// SHA-256 of the file.
    pub sha256: Option<String>,
    /// What was noticed in the file.
    pub notes: Vec<String>,
    /// What it is called.
    pub name: String,
}

impl GraphFile {
    /// Whether a graph is given.
    pub fn is_given(&self) -> bool {
        self.file.is_some() || self.family.is_some()
    }

    /// The weights: those given, or the default of every command.
    pub fn weights(&self) -> Weights {
        self.weights.unwrap_or_default()
    }

    /// Refuses a format without a file.
    fn check_format(&self) -> Result<()> {
        match (&self.format, &self.file) {
            (Some(format), None) => Err(Error::parameter(
                "format",
                format,
                "it is that of a graph file; give one, or leave it out",
            )),
            _ => Ok(()),
        }
    }

    /// Reads or draws the graph, if one is given. `folder` is where relative names of files begin.
    pub fn read(&self, folder: &Path, seed: u64) -> Result<Option<Place>> {
        one_of(&[("file", self.file.is_some()), ("family", self.family.is_some())])?;
        self.check_format()?;
        let Some(file) = &self.file else {
            return self.family.as_ref().map(|family| Place::drawn(family, seed)).transpose();
        };
        if let Some(graph) = self.memory.of("graph", file, |lent| &lent.graph)? {
            let (graph, name) = (graph.0.clone(), MEMORY.to_owned());
            return Ok(Some(Place { graph, schedule: None, sha256: None, notes: Vec::new(), name }));
        }
        let format = self.format.as_deref().map(str::parse).transpose()?;
        let io::Found { graph, notes, sha256 } = read_graph(&at(folder, file), format)?;
        let name = called(file);
        Ok(Some(Place { graph, schedule: None, sha256: Some(sha256), notes, name }))
    }

    /// The matrix by which connected peers average.
    pub fn mixing(&self, graph: &Graph) -> Result<Mixing> {
        let mixing = self.exchanging(graph)?;
        mixing.check_consensus()?;
        Ok(mixing)
    }

    /// The matrix by which pairs are drawn that exchange their values: they meet halfway, whatever the weights.
    pub fn exchanging(&self, graph: &Graph) -> Result<Mixing> {
        let mixing = self
            .weighing(graph, "averaging needs a connected graph: add edges, or take its largest component")?;
        mixing.check()?;
        Ok(mixing)
    }

    /// The weights by which a token walks on a graph, which must be connected: uniform ones, a plain random walk, are welcome whatever the degrees.
    pub fn walking(&self, graph: &Graph) -> Result<Mixing> {
        let mixing = self.weighing(
            graph,
            "a token never reaches the other parts: add edges, or take the largest component",
        )?;
        mixing.check_walk()?;
        Ok(mixing)
    }

    fn weighing(&self, graph: &Graph, connected: &str) -> Result<Mixing> {
        graph.require_connected(connected)?;
        Ok(Mixing::new(graph, self.weights()).lazy(self.lazy.unwrap_or(0.0))?)
    }
}

impl Place {
    /// A graph of a family.
    pub fn drawn(family: &Family, seed: u64) -> Result<Self> {
        let (graph, name) = (generate(family, seed, true)?, family.to_string());
        Ok(Self { graph, schedule: None, sha256: None, notes: Vec::new(), name })
    }
}

/// Refuses a graph that is given in two ways.
pub(super) fn one_of(given: &[(&str, bool)]) -> Result<()> {
    let mut names = given.iter().filter(|(_, given)| *given).map(|(name, _)| *name);
    match (names.next(), names.next()) {
        (Some(first), Some(second)) => {
            let both = format!("given as {first} and as {second}");
            Err(Error::parameter("graph", both, "give one of them"))
        }
        _ => Ok(()),
    }
}

impl GraphSpec {
    /// Reads or draws the graph. `folder` is where relative names of files begin.
    pub fn place(&self, folder: &Path, seed: u64) -> Result<Place> {
        one_of(&[
            ("file", self.base.file.is_some()),
            ("schedule", self.schedule.is_some()),
            ("family", self.base.family.is_some()),
            ("peers", self.peers.is_some()),
        ])?;
        let remedy = "only the graph of a file may be in pieces; leave it out";
        require(!self.largest_component || self.base.file.is_some(), "largest-component", "given", remedy)?;
        if let (Some(_), Some(lazy)) = (&self.schedule, self.base.lazy) {
            let remedy = "a schedule says what is kept in each step; leave it out";
            return Err(Error::parameter("lazy", lazy, remedy));
        }
        if let Some(schedule) = &self.schedule {
            self.base.check_format()?;
            return self.scheduled(&at(folder, schedule));
        }
        let place = match self.base.read(folder, seed)? {
            Some(place) => place,
            None => {
                let peers = self.peers.unwrap_or(64);
                let remedy = format!("give a number from 1 to {MOST_PEERS}, or a graph");
                require((1..=MOST_PEERS).contains(&peers), "peers", peers, remedy)?;
                Place::drawn(&near(peers), seed)?
            }
        };
        let graph = if self.largest_component { place.graph.largest_component()? } else { place.graph };
        Ok(Place { graph, ..place })
    }

    /// The graph, where no file is needed to know it.
    pub fn known(&self, seed: u64) -> Result<Option<Place>> {
        match (&self.base.file, &self.schedule) {
            (None, None) => self.place(Path::new(""), seed).map(Some),
            _ => Ok(None),
        }
    }

    fn scheduled(&self, path: &Path) -> Result<Place> {
        let (schedule, sha256) = read_schedule(path, self.base.weights())?;
        let graph = union(&schedule)?;
        let name = called(path);
        Ok(Place { graph, schedule: Some(schedule), sha256: Some(sha256), notes: Vec::new(), name })
    }
}

/// Peers in a square who speak to those nearby: three times as near as it takes to be connected, so that few draws are needed.
pub fn near(peers: usize) -> Family {
    let n = peers as f64;
    let radius = (3.0 * n.ln().max(1.0) / (std::f64::consts::PI * n)).sqrt().min(1.5);
    Family::Geometric { n: peers, radius }
}

/// The name that stands for standard input.
pub(super) const STANDARD_INPUT: &str = "-";

/// Whether a name is that of no file: it stands for standard input, or for what is in memory.
pub(super) fn is_no_file(path: &Path) -> bool {
    is_standard_input(path) || is_memory(path)
}

/// Whether a name stands for standard input.
pub(super) fn is_standard_input(path: &Path) -> bool {
    path == Path::new(STANDARD_INPUT)
}

/// Where a file is whose name begins in a folder.
pub(super) fn at(folder: &Path, file: &Path) -> PathBuf {
    if is_no_file(file) { file.to_owned() } else { folder.join(file) }
}

/// What a file is called.
pub(crate) fn called(file: &Path) -> String {
    if is_standard_input(file) { "standard input".to_owned() } else { file.display().to_string() }
}

/// Reads a graph from a file, or from standard input where the name is `-`.
pub fn read_graph(path: &Path, format: Option<Format>) -> Result<io::Found> {
    let bytes = bytes("file", path)?;
    if is_standard_input(path) {
        let found = io::read(&bytes[..], format.unwrap_or(Format::EdgeList));
        return found.map_err(|problem| Error::refused(format!("standard input: {problem}")));
    }
    let format = format.map_or_else(|| Format::from_path(path), Ok)?;
    let place = |problem| Error::refused(format!("{} (read as {format}): {problem}", path.display()));
    io::read(&bytes[..], format).map_err(place)
}

/// Reads a schedule file, or standard input where the name is `-`; peers are numbered from 0 to the largest it names. Also its SHA-256.
pub fn read_schedule(path: &Path, weights: Weights) -> Result<(Schedule, String)> {
    let bytes = bytes("schedule", path)?;
    let text = std::str::from_utf8(&bytes)
        .map_err(|_| Error::parameter("schedule", path.display(), "it is no text; give JSON in UTF-8"))?;
    let place = |problem| Error::refused(format!("{}: {problem}", called(path)));
    let nodes = Schedule::nodes_in_json(text).map_err(place)?;
    let schedule = Schedule::from_json(text, nodes, weights, Ending::Stop).map_err(place)?;
    Ok((schedule, super::sha256(&bytes)))
}

/// All bytes of the file that an option names, or of standard input where the name is `-`.
pub fn bytes(field: &'static str, path: &Path) -> Result<Vec<u8>> {
    if is_standard_input(path) {
        return all(field, path, std::io::stdin().lock());
    }
    let refused = |remedy: &str| Error::parameter(field, path.display(), remedy);
    let file = file::open(path, file::MOST).map_err(|source| match source.kind() {
        ErrorKind::InvalidInput => file::refused(field, path, &source).into(),
        ErrorKind::NotFound => refused("there is no such file; check the name"),
        _ => {
            let remedy = "it cannot be opened; check the name and the permissions";
            Error::File { problem: refused(remedy).to_string(), source }
        }
    })?;
    all(field, path, file)
}

/// All that can be read. A failing device is told from a wrong file.
fn all(field: &'static str, path: &Path, mut reader: impl Read) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let failed = |source| {
        let remedy = "it cannot be read to its end; check the device";
        Error::File { problem: Error::parameter(field, path.display(), remedy).to_string(), source }
    };
    reader.read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes)
}

/// Everyone who ever exchanges anything.
fn union(schedule: &Schedule) -> Result<Graph> {
    let mut edges = Vec::new();
    for step in (0..schedule.period()).filter_map(|t| schedule.step(t)) {
        match step {
            Step::Mixing(mixing) => edges.extend(mixing.graph().edges()),
            Step::Pair(u, v) => edges.push((u.min(v), u.max(v))), // whole numbers
            Step::Idle => {}
        }
        edges.sort_unstable();
        edges.dedup();
    }
    Ok(Graph::from_edges(schedule.nodes(), edges)?)
}

/// The number of a peer that `field` names: by its name in the graph where it has names.
pub fn peer(field: &'static str, name: &str, graph: Option<&Graph>, peers: usize) -> Result<usize> {
    let (given, name) = (name, name.trim());
    if let Some(labels) = graph.and_then(Graph::labels) {
        let unknown =
            || Error::parameter(field, name, "no node of the graph has that name; name one of its nodes");
        // Blanks may belong to a name, or stand between two in a list.
        let called = |name: &str| labels.iter().position(|label| label == name);
        return called(given).or_else(|| called(name)).ok_or_else(unknown);
    }
    match name.parse() {
        Ok(index) if index < peers => Ok(index),
        _ => {
            Err(Error::parameter(field, name, format!("give numbers from 0 to {}", peers.saturating_sub(1))))
        }
    }
}
