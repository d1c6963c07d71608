//! Who can speak to whom: a file, a family of graphs, or a schedule; and how much neighbours give each other.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sottovoce_topology::Graph;
use sottovoce_topology::family::{Family, generate};
use sottovoce_topology::io::{self, Format};
use sottovoce_topology::mixing::{Mixing, Weights};
use sottovoce_topology::schedule::{Ending, Schedule, Step};

use crate::{Error, Result};

/// The graph of an experiment.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[cfg_attr(feature = "flags", derive(clap::Args))]
pub struct GraphSpec {
    /// Graph file; its ending tells the format, `.gz` is unpacked, `-` is standard input.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(id = "graph", long = "graph", value_name = "FILE"))]
    pub file: Option<PathBuf>,
    /// Format of the graph file, where its ending does not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "FORMAT", requires = "graph"))]
    pub format: Option<String>,
    /// File that says who mixes with whom at each step, instead of a fixed graph.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "FILE", conflicts_with_all = ["graph", "lazy"]))]
    pub schedule: Option<PathBuf>,
    /// A family, such as `{ ring = { n = 12 } }`, instead of a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(skip))]
    pub family: Option<Family>,
    /// Number of peers of a random geometric graph, where no graph is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, alias = "nodes", value_name = "N", conflicts_with_all = ["graph", "schedule"]))]
    pub peers: Option<usize>,
    /// Take the largest connected part of the graph.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "flags", arg(long))]
    pub largest_component: bool,
    /// What neighbours give to each other in one step: metropolis, metropolis-plus-one or uniform (default: metropolis-plus-one).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "WEIGHTS"))]
    pub weights: Option<Weights>,
    /// Share of its own value that every peer keeps in a step, from 0 to below 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "L", allow_negative_numbers = true))]
    pub lazy: Option<f64>,
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

impl GraphSpec {
    /// The weights.
    pub fn weights(&self) -> Weights {
        self.weights.unwrap_or(Weights::MetropolisPlusOne)
    }

    /// Reads or draws the graph. `folder` is where relative names of files begin.
    pub fn place(&self, folder: &Path, seed: u64) -> Result<Place> {
        let given = [
            ("file", self.file.is_some()),
            ("schedule", self.schedule.is_some()),
            ("family", self.family.is_some()),
            ("peers", self.peers.is_some()),
        ];
        let mut names = given.iter().filter(|(_, given)| *given).map(|(name, _)| *name);
        if let (Some(first), Some(second)) = (names.next(), names.next()) {
            return Err(Error::parameter(
                "graph",
                format!("given as {first} and as {second}"),
                "give one of them",
            ));
        }
        if let Some(schedule) = &self.schedule {
            return self.scheduled(&folder.join(schedule));
        }
        if let Some(file) = &self.file {
            let format = self.format.as_deref().map(str::parse).transpose()?;
            let path = if file == Path::new("-") { file.clone() } else { folder.join(file) };
            let found = read_graph(&path, format)?;
            let name = file.display().to_string();
            let graph = if self.largest_component { found.graph.largest_component()? } else { found.graph };
            return Ok(Place { graph, schedule: None, sha256: Some(found.sha256), notes: found.notes, name });
        }
        let family = self.family.clone().unwrap_or_else(|| near(self.peers.unwrap_or(64)));
        let graph = generate(&family, seed, true)?;
        Ok(Place { graph, schedule: None, sha256: None, notes: Vec::new(), name: family.to_string() })
    }

    fn scheduled(&self, path: &Path) -> Result<Place> {
        let (schedule, sha256) = read_schedule(path, self.weights())?;
        let graph = union(&schedule)?;
        let name = path.display().to_string();
        Ok(Place { graph, schedule: Some(schedule), sha256: Some(sha256), notes: Vec::new(), name })
    }

    /// The weights on a graph, which must be connected.
    pub fn mixing(&self, graph: &Graph) -> Result<Mixing> {
        mixing(graph, self.weights(), self.lazy.unwrap_or(0.0))
    }
}

/// Weights on a graph, which must be connected.
pub fn mixing(graph: &Graph, weights: Weights, lazy: f64) -> Result<Mixing> {
    graph.require_connected("averaging needs a connected graph: add edges, or take its largest component")?;
    let mixing = Mixing::new(graph, weights).lazy(lazy)?;
    mixing.check()?;
    Ok(mixing)
}

/// Peers in a square who speak to those nearby: three times as near as it takes to be connected, so that few draws are needed.
pub fn near(peers: usize) -> Family {
    let n = peers as f64;
    let radius = (3.0 * n.ln().max(1.0) / (std::f64::consts::PI * n)).sqrt().min(1.5);
    Family::Geometric { n: peers, radius }
}

/// Reads a graph from a file, or from standard input where the name is `-`.
pub fn read_graph(path: &Path, format: Option<Format>) -> Result<io::Found> {
    let refused = |remedy: String| Error::parameter("file", path.display(), remedy);
    if path == Path::new("-") {
        let found = io::read(std::io::stdin().lock(), format.unwrap_or(Format::EdgeList));
        return found.map_err(|problem| Error::refused(format!("standard input: {problem}")));
    }
    if path.is_dir() {
        return Err(refused("it is a folder; give a file in it".into()));
    }
    let file = std::fs::File::open(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => refused("there is no such file; check the name".into()),
        _ => refused(format!("it cannot be opened ({error}); check the name and the permissions")),
    })?;
    let format = format.map_or_else(|| Format::from_path(path), Ok)?;
    let place = |problem| Error::refused(format!("{} (read as {format}): {problem}", path.display()));
    io::read(file, format).map_err(place)
}

/// Reads a schedule file; peers are numbered from 0 to the largest it names. Also its SHA-256.
pub fn read_schedule(path: &Path, weights: Weights) -> Result<(Schedule, String)> {
    let unread = |error| {
        Error::parameter("schedule", path.display(), format!("it cannot be read ({error}); check the name"))
    };
    let text = std::fs::read_to_string(path).map_err(unread)?;
    let place = |problem| Error::refused(format!("{}: {problem}", path.display()));
    let nodes = Schedule::nodes_in_json(&text).map_err(place)?;
    let schedule = Schedule::from_json(&text, nodes, weights, Ending::Stop).map_err(place)?;
    Ok((schedule, super::sha256(text.as_bytes())))
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
    let name = name.trim();
    if let Some(labels) = graph.and_then(Graph::labels) {
        let unknown =
            || Error::parameter(field, name, "no node of the graph has that name; name one of its nodes");
        return labels.iter().position(|label| label == name).ok_or_else(unknown);
    }
    match name.parse() {
        Ok(index) if index < peers => Ok(index),
        _ => {
            Err(Error::parameter(field, name, format!("give numbers from 0 to {}", peers.saturating_sub(1))))
        }
    }
}
