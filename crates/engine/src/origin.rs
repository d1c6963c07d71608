//! What a result rests on, as hashes that a page can show.

use sottovoce_report::hash;
use sottovoce_topology::Graph;

/// A hash of graphs that come in turn: that of the graph, where there is one; else that of their hashes. None of none.
pub fn graphs_hash<'a>(graphs: impl IntoIterator<Item = &'a Graph>) -> Option<String> {
    let mut hashes: Vec<String> = graphs.into_iter().map(graph_hash).collect();
    match hashes.len() {
        0 | 1 => hashes.pop(),
        _ => Some(hash(&hashes)),
    }
}

/// A hash of a graph: the number of peers, then its edges in order.
pub fn graph_hash(graph: &Graph) -> String {
    let edges = graph.edges().flat_map(|(u, v)| [u as u64, v as u64]);
    hash([graph.nodes() as u64].into_iter().chain(edges).map(u64::to_le_bytes))
}
