//! Graphs of commands: read as experiments read them, their hash kept and their notes said.

use std::path::Path;

use clap::builder::TypedValueParser;
use sottovoce::experiment::{Memory, graph};
use sottovoce_topology::Graph;
use sottovoce_topology::io::Format;

use crate::input;
use crate::output::note;

/// Parses a file format by name.
pub(crate) fn formats() -> impl TypedValueParser<Value = Format> {
    graph::formats().try_map(|name| name.parse::<Format>())
}

/// Reads a graph from a file, or from standard input where the name is `-`.
pub(crate) fn read_graph(path: &Path, format: Option<Format>) -> anyhow::Result<Graph> {
    if let Some(graph) = Memory::default().of("graph", path, |lent| &lent.graph)? {
        return Ok(graph.0.clone());
    }
    let found = graph::read_graph(path, format)?;
    said(Some(&found.sha256), &found.notes);
    Ok(found.graph)
}

/// Keeps the hash of a graph's file, and says what was noticed in it.
pub(crate) fn said(sha256: Option<&String>, notes: &[String]) {
    input::of_graph(sha256);
    notes.iter().for_each(|text| note(text));
}
