//! Distances in hops: how far news has to travel.
//!
//! Breadth-first search from each node; exact, `O(n + m)` per source. Nodes that cannot be reached have no distance.

use crate::{Graph, Result, require};

/// The distance of a node that cannot be reached.
pub const UNREACHABLE: u32 = u32::MAX;

/// Hops from `source` to every node; [`UNREACHABLE`] where there is no path.
///
/// ```
/// use sottovoce_topology::{Graph, paths::{UNREACHABLE, distances}};
/// let graph = Graph::from_edges(4, [(0, 1), (1, 2)])?;
/// assert_eq!(distances(&graph, 0)?, [0, 1, 2, UNREACHABLE]);
/// # Ok::<(), sottovoce_topology::Error>(())
/// ```
pub fn distances(graph: &Graph, source: usize) -> Result<Vec<u32>> {
    let remedy = format!("node numbers must be below {}", graph.nodes());
    require(source < graph.nodes(), "source", source, remedy)?;
    let mut search = Search::new(graph.nodes());
    search.run(graph, source);
    Ok(search.hops)
}

/// Hops between all pairs, row by row (`n²` numbers: 40 MB at 3,200 nodes).
pub fn all_distances(graph: &Graph) -> Vec<Vec<u32>> {
    let mut search = Search::new(graph.nodes());
    let row = |source| {
        search.run(graph, source);
        search.hops.clone()
    };
    (0..graph.nodes()).map(row).collect()
}

/// What the distances of a connected graph amount to.
#[derive(Debug, Clone, PartialEq)]
pub struct Distances {
    /// The largest distance from each node.
    pub eccentricities: Vec<u32>,
    /// The largest distance of all.
    pub diameter: u32,
    /// The mean over ordered pairs of distinct nodes; 0 for a single node.
    pub average: f64,
}

/// Eccentricities, diameter and average distance, exactly, by one search per node: `O(n m)` time and `O(n)` memory,
/// so for some ten thousand nodes at most; beyond, use [`distances`] from a few sources. Refuses graphs in pieces.
///
/// ```
/// use sottovoce_topology::{Graph, paths::summary};
/// let path = Graph::from_edges(3, [(0, 1), (1, 2)])?;
/// let all = summary(&path)?;
/// assert_eq!((all.diameter, all.average), (2, 4.0 / 3.0));
/// # Ok::<(), sottovoce_topology::Error>(())
/// ```
pub fn summary(graph: &Graph) -> Result<Distances> {
    graph.require_connected("distances between pieces are infinite; take the largest component")?;
    let n = graph.nodes();
    let mut search = Search::new(n);
    let (mut eccentricities, mut total) = (Vec::with_capacity(n), 0u64);
    for source in 0..n {
        search.run(graph, source);
        eccentricities.push(search.order.last().map_or(0, |&last| search.hops[last as usize]));
        total += search.hops.iter().map(|&hops| u64::from(hops)).sum::<u64>();
    }
    let diameter = eccentricities.iter().copied().max().unwrap_or(0);
    let pairs = (n as f64 * (n as f64 - 1.0)).max(1.0);
    Ok(Distances { eccentricities, diameter, average: total as f64 / pairs })
}

/// Buffers of a breadth-first search, reused between sources.
struct Search {
    hops: Vec<u32>,
    /// The nodes reached, nearest first: both the queue and the result.
    order: Vec<u32>,
}

impl Search {
    fn new(nodes: usize) -> Self {
        Self { hops: vec![UNREACHABLE; nodes], order: Vec::with_capacity(nodes) }
    }

    fn run(&mut self, graph: &Graph, source: usize) {
        // Only what the last search touched needs wiping.
        self.order.drain(..).for_each(|node| self.hops[node as usize] = UNREACHABLE);
        self.hops[source] = 0;
        self.order.push(source as u32);
        let mut next = 0;
        while let Some(&u) = self.order.get(next) {
            next += 1;
            for &v in graph.neighbors(u as usize) {
                if self.hops[v as usize] == UNREACHABLE {
                    self.hops[v as usize] = self.hops[u as usize] + 1;
                    self.order.push(v);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(n: usize) -> Graph {
        Graph::from_edges(n, (0..n).map(|u| (u, (u + 1) % n))).unwrap()
    }

    #[test]
    fn rings_have_known_distances() {
        for (n, diameter, sum) in [(8, 4, 16.0), (9, 4, 20.0)] {
            let all = summary(&ring(n)).unwrap();
            assert_eq!((all.diameter, all.average), (diameter, sum / (n as f64 - 1.0)));
            assert_eq!(all.eccentricities, vec![diameter; n]);
        }
    }

    #[test]
    fn hypercube_distances_are_hamming_distances() {
        let edges =
            (0..32usize).flat_map(|u| (0..5).map(move |bit| (u, u ^ (1 << bit)))).filter(|&(u, v)| u < v);
        let all = all_distances(&Graph::from_edges(32, edges).unwrap());
        for (u, row) in all.iter().enumerate() {
            for (v, &hops) in row.iter().enumerate() {
                assert_eq!(hops, (u ^ v).count_ones());
            }
        }
    }

    /// Krackhardt's kite, with networkx 3.6.1 (`eccentricity`, `average_shortest_path_length`).
    #[test]
    fn numbers_from_networkx() {
        let edges = [
            [(0, 1), (0, 2), (0, 3), (0, 5), (1, 3), (1, 4)],
            [(1, 6), (2, 3), (2, 5), (3, 4), (3, 5), (3, 6)],
            [(4, 6), (5, 6), (5, 7), (6, 7), (7, 8), (8, 9)],
        ];
        let all = summary(&Graph::from_edges(10, edges.concat()).unwrap()).unwrap();
        assert_eq!(all.eccentricities, [4, 4, 4, 4, 4, 3, 3, 2, 3, 4]);
        assert!((all.average - 1.977_777_777_777_777_9).abs() < 1e-15);
    }

    #[test]
    fn pieces_are_counted_in_the_refusal() {
        let graph = Graph::from_edges(6, [(0, 1), (2, 3), (3, 4)]).unwrap();
        let error = summary(&graph).unwrap_err().to_string();
        assert!(error.contains("3 components, the largest has 3 of 6 nodes"), "{error}");
        assert_eq!(all_distances(&graph)[0], [0, 1, UNREACHABLE, UNREACHABLE, UNREACHABLE, UNREACHABLE]);
        assert_eq!(all_distances(&graph)[4], [UNREACHABLE, UNREACHABLE, 2, 1, 0, UNREACHABLE]);
    }

    #[test]
    fn a_single_node_is_its_own_diameter_and_strangers_are_refused() {
        let one = Graph::from_edges(1, []).unwrap();
        assert_eq!(summary(&one).unwrap(), Distances { eccentricities: vec![0], diameter: 0, average: 0.0 });
        assert_eq!(
            distances(&one, 1).unwrap_err().to_string(),
            "`source` is 1: node numbers must be below 1"
        );
    }
}
