//! Who shares a secret with whom: a graph of the same peers, from a file.

use std::path::Path;

use sottovoce_topology::{Graph, GraphBuilder};

use super::graph::{peer, read_graph};
use crate::{Error, Result};

/// Reads the graph of secrets among the peers of `graph`, who go by their names. Peers whom it does not name share no secret.
pub fn read_keys(path: &Path, graph: &Graph) -> Result<Graph> {
    let found = read_graph(path, None)?.graph;
    let mut keys = GraphBuilder::new(graph.nodes())?;
    let number = |node: usize| peer("keys", &found.label(node), Some(graph), graph.nodes());
    for (u, v) in found.edges() {
        keys.edge(number(u)?, number(v)?)?;
    }
    keys.build().map_err(|problem| Error::refused(format!("{}: {problem}", path.display())))
}
