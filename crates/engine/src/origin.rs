//! What a result rests on, as hashes that a page can show.

use sottovoce_report::hash;
use sottovoce_topology::Graph;

/// A hash of a graph: the number of peers, then its edges in order.
pub fn graph_hash(graph: &Graph) -> String {
    let edges = graph.edges().flat_map(|(u, v)| [u as u64, v as u64]);
    hash([graph.nodes() as u64].into_iter().chain(edges).map(u64::to_le_bytes))
}
