//! Where a command's graph comes from: a file, with the weights its peers use.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use sottovoce::experiment::graph::mixing;
use sottovoce_topology::Graph;
use sottovoce_topology::io::{self, Format};
use sottovoce_topology::mixing::{Mixing, Weights};
use sottovoce_topology::schedule::{Ending, Schedule};

use super::real;
use crate::input;
use crate::output::note;

/// Arguments that say which graph, and how peers weigh each other on it.
#[derive(Debug, Args)]
pub(crate) struct GraphSource {
    /// Graph file; `-` is standard input.
    #[arg(long, value_name = "FILE")]
    pub(crate) graph: Option<PathBuf>,
    /// Format of the graph file; without it the extension tells.
    #[arg(long, value_name = "FORMAT", value_parser = formats(), requires = "graph")]
    format: Option<Format>,
    /// What neighbours give to each other in one step; uniform needs equal degrees (default: metropolis).
    #[arg(long, value_name = "WEIGHTS", value_parser = weights())]
    weights: Option<Weights>,
    /// Share of its own value that every peer keeps in a step, from 0 to below 1 (default: 0).
    #[arg(long, value_name = "L", value_parser = real, allow_negative_numbers = true)]
    lazy: Option<f64>,
}

impl GraphSource {
    /// Reads the graph, if one was named.
    pub(crate) fn read(&self) -> anyhow::Result<Option<Graph>> {
        self.graph.as_deref().map(|path| read_graph(path, self.format)).transpose()
    }

    /// What neighbours give to each other.
    pub(crate) fn weights(&self) -> Weights {
        self.weights.unwrap_or(Weights::Metropolis)
    }

    /// What everyone keeps.
    pub(crate) fn lazy(&self) -> f64 {
        self.lazy.unwrap_or(0.0)
    }

    /// The weights on a graph that must be connected.
    pub(crate) fn mixing(&self, graph: &Graph) -> anyhow::Result<Mixing> {
        Ok(mixing(graph, self.weights(), self.lazy())?)
    }
}

/// Parses a file format by name.
pub(crate) fn formats() -> impl TypedValueParser<Value = Format> {
    PossibleValuesParser::new(Format::ALL.map(Format::name)).try_map(|name| name.parse::<Format>())
}

/// Parses the kind of weights by name.
pub(crate) fn weights() -> impl TypedValueParser<Value = Weights> {
    let names = ["metropolis", "metropolis-plus-one", "uniform"];
    PossibleValuesParser::new(names).try_map(|name| name.parse::<Weights>())
}

/// Reads a graph from a file, or from standard input where the name is `-`.
pub(crate) fn read_graph(path: &Path, format: Option<Format>) -> anyhow::Result<Graph> {
    if path == Path::new("-") {
        let format = format.unwrap_or(Format::EdgeList);
        let read = |reader: &mut input::Hashing<'_>| Ok(io::read(reader, format)?);
        return input::hashed(input::GRAPH, std::io::stdin().lock(), read)
            .map(noted)
            .context("standard input");
    }
    let file = input::open("file", path)?;
    let format = format.map_or_else(|| Format::from_path(path), Ok)?;
    input::hashed(input::GRAPH, file, |reader| Ok(io::read(reader, format)?))
        .map(noted)
        .with_context(|| format!("{} (read as {format})", path.display()))
}

/// The graph, once what was noticed in its file is said.
fn noted(found: io::Found) -> Graph {
    found.notes.iter().for_each(|text| note(text));
    found.graph
}

/// Reads a schedule file; peers are numbered from 0 to the largest it names.
pub(crate) fn read_schedule(path: &Path, weights: Weights) -> anyhow::Result<Schedule> {
    let text = input::text(input::GRAPH, "schedule", path)?;
    let place = || path.display().to_string();
    let nodes = Schedule::nodes_in_json(&text).with_context(place)?;
    Schedule::from_json(&text, nodes, weights, Ending::Stop).with_context(place)
}

/// A peer by its name in the graph's file, or by number where the file has no names.
pub(crate) fn observer(name: &str, graph: Option<&Graph>, peers: usize) -> anyhow::Result<usize> {
    peer("observers", name, graph, peers)
}

/// The number of a peer that `field` names: by its name in the graph where it has names.
pub(crate) fn peer(
    field: &'static str,
    name: &str,
    graph: Option<&Graph>,
    peers: usize,
) -> anyhow::Result<usize> {
    Ok(sottovoce::experiment::graph::peer(field, name, graph, peers)?)
}
