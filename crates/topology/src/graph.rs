//! An undirected simple graph in compressed sparse rows.
//!
//! Nodes are `0..n`; each row lists a node's neighbours in increasing order, so every edge is stored twice. Rows are
//! sorted once, when the graph is built, which makes every later sum run in node order and every run reproducible.

use std::path::Path;

use crate::{Error, Result, require};

/// More nodes than this are refused before anything is allocated (building a graph of so many takes some 5 GB): a typing error, not a
/// plan, is the likely cause.
pub const MOST_NODES: usize = 100_000_000;

/// An undirected graph without self-loops or duplicate edges; immutable once built.
///
/// ```
/// use sottovoce_topology::Graph;
/// let path = Graph::from_edges(3, [(0, 1), (1, 2)])?;
/// assert_eq!(path.neighbors(1), &[0, 2]);
/// assert_eq!((path.nodes(), path.edge_count()), (3, 2));
/// # Ok::<(), sottovoce_topology::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Graph {
    offsets: Vec<usize>,
    targets: Vec<u32>,
    labels: Option<Vec<String>>,
    coordinates: Option<Vec<[f64; 2]>>,
}

impl Graph {
    /// Builds a graph on `nodes` nodes; refuses self-loops, duplicates (in either direction) and ends out of range.
    pub fn from_edges(nodes: usize, edges: impl IntoIterator<Item = (usize, usize)>) -> Result<Self> {
        let mut builder = GraphBuilder::new(nodes)?;
        for (u, v) in edges {
            builder.edge(u, v)?;
        }
        builder.build()
    }

    /// Reads a graph from a file, whose ending tells the format; `.gz` is unpacked.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        Ok(crate::io::read_file(path, None)?.graph)
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of undirected edges.
    pub fn edge_count(&self) -> usize {
        self.targets.len() / 2
    }

    /// The neighbours of `node`, in increasing order.
    #[inline]
    pub fn neighbors(&self, node: usize) -> &[u32] {
        &self.targets[self.offsets[node]..self.offsets[node + 1]]
    }

    /// Number of neighbours of `node`.
    pub fn degree(&self, node: usize) -> usize {
        self.offsets[node + 1] - self.offsets[node]
    }

    /// Whether `{u, v}` is an edge.
    pub fn has_edge(&self, u: usize, v: usize) -> bool {
        u32::try_from(v).is_ok_and(|v| self.neighbors(u).binary_search(&v).is_ok())
    }

    /// Every edge once, as `(u, v)` with `u < v`, in lexicographic order.
    pub fn edges(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        (0..self.nodes()).flat_map(move |u| {
            self.neighbors(u).iter().map(move |&v| (u, v as usize)).filter(|&(u, v)| u < v)
        })
    }

    /// The row offsets (`n + 1` of them) and the concatenated rows: for kernels.
    pub fn rows(&self) -> (&[usize], &[u32]) {
        (&self.offsets, &self.targets)
    }

    /// The names nodes had in the file they came from, where they were not `0..n`.
    pub fn labels(&self) -> Option<&[String]> {
        self.labels.as_deref()
    }

    /// The name of `node`: its label, or its number.
    pub fn label(&self, node: usize) -> String {
        self.labels.as_ref().map_or_else(|| node.to_string(), |labels| labels[node].clone())
    }

    /// Positions in the plane, kept by geometric families.
    pub fn coordinates(&self) -> Option<&[[f64; 2]]> {
        self.coordinates.as_deref()
    }

    /// Attaches names, one per node.
    pub fn with_labels(mut self, labels: Vec<String>) -> Result<Self> {
        self.check_length("labels", labels.len())?;
        self.labels = Some(labels);
        Ok(self)
    }

    /// Attaches positions, one per node.
    pub fn with_coordinates(mut self, coordinates: Vec<[f64; 2]>) -> Result<Self> {
        self.check_length("coordinates", coordinates.len())?;
        self.coordinates = Some(coordinates);
        Ok(self)
    }

    fn check_length(&self, field: &'static str, length: usize) -> Result<()> {
        if length == self.nodes() {
            return Ok(());
        }
        Err(Error::parameter(field, length, format!("give one for each of the {} nodes", self.nodes())))
    }
}

/// Refuses what is no possible number of nodes, before anything is allocated.
pub(crate) fn check_nodes(field: &'static str, nodes: usize) -> Result<()> {
    if (1..=MOST_NODES).contains(&nodes) {
        return Ok(());
    }
    let remedy = format!("give a number from 1 to {MOST_NODES}");
    Err(Error::parameter(field, nodes, remedy))
}

/// Collects edges, then sorts them into a [`Graph`] in time linear in their number (two counting passes).
#[derive(Debug, Clone)]
pub struct GraphBuilder {
    nodes: usize,
    edges: Vec<(u32, u32)>,
}

impl GraphBuilder {
    /// Starts a graph on `nodes` nodes (1 to [`MOST_NODES`]).
    pub fn new(nodes: usize) -> Result<Self> {
        check_nodes("nodes", nodes)?;
        Ok(Self { nodes, edges: Vec::new() })
    }

    /// Adds an undirected edge; self-loops and ends out of range are refused here, duplicates by [`Self::build`].
    pub fn edge(&mut self, u: usize, v: usize) -> Result<()> {
        require(u != v, "edge", format_args!("{u} {v}"), "self-loops are not allowed; remove it")?;
        if u.max(v) >= self.nodes {
            let remedy = format!("node numbers must be below {}", self.nodes);
            return Err(Error::parameter("edge", format!("{u} {v}"), remedy));
        }
        self.edges.push((u as u32, v as u32));
        Ok(())
    }

    /// Sorts the rows and refuses duplicate edges.
    pub fn build(self) -> Result<Graph> {
        let by_target = scatter(self.nodes, self.edges.iter().flat_map(|&(u, v)| [(u, v), (v, u)]));
        // The rows of the transposed scatter are visited in node order, so the second scatter leaves them sorted.
        let (offsets, targets) = by_target;
        let sorted = scatter(self.nodes, transposed(&offsets, &targets));
        let graph = Graph { offsets: sorted.0, targets: sorted.1, labels: None, coordinates: None };
        match graph.first_duplicate() {
            Some((u, v)) => {
                Err(Error::parameter("edge", format!("{u} {v}"), "it is listed twice; list each edge once"))
            }
            None => Ok(graph),
        }
    }
}

impl Graph {
    fn first_duplicate(&self) -> Option<(usize, u32)> {
        (0..self.nodes()).find_map(|u| {
            self.neighbors(u).windows(2).find(|pair| pair[0] == pair[1]).map(|pair| (u, pair[0]))
        })
    }
}

/// Groups `(row, column)` pairs by row, keeping their order within a row (a counting sort).
fn scatter(rows: usize, pairs: impl Iterator<Item = (u32, u32)> + Clone) -> (Vec<usize>, Vec<u32>) {
    let mut offsets = vec![0usize; rows + 1];
    for (row, _) in pairs.clone() {
        offsets[row as usize + 1] += 1;
    }
    for i in 0..rows {
        offsets[i + 1] += offsets[i];
    }
    let mut next = offsets.clone();
    let mut targets = vec![0u32; offsets[rows]];
    for (row, column) in pairs {
        targets[next[row as usize]] = column;
        next[row as usize] += 1;
    }
    (offsets, targets)
}

/// The pairs `(column, row)` of a scattered matrix, in row order.
fn transposed<'a>(offsets: &'a [usize], targets: &'a [u32]) -> impl Iterator<Item = (u32, u32)> + Clone + 'a {
    (0..offsets.len() - 1).flat_map(move |row| {
        targets[offsets[row]..offsets[row + 1]].iter().map(move |&column| (column, row as u32))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sorted_whatever_the_order_of_edges() {
        let graph = Graph::from_edges(4, [(3, 0), (2, 0), (0, 1)]).unwrap();
        assert_eq!(graph.neighbors(0), &[1, 2, 3]);
        assert_eq!(graph.edges().collect::<Vec<_>>(), [(0, 1), (0, 2), (0, 3)]);
    }

    #[test]
    fn self_loops_duplicates_and_strangers_are_refused() {
        for edges in [vec![(1, 1)], vec![(0, 1), (1, 0)], vec![(0, 1), (0, 1)], vec![(0, 9)]] {
            assert!(Graph::from_edges(3, edges.clone()).is_err(), "{edges:?}");
        }
        for nodes in [0, MOST_NODES + 1, u32::MAX as usize - 1, usize::MAX] {
            let error = Graph::from_edges(nodes, []).unwrap_err().to_string();
            assert!(error.starts_with(&format!("`nodes` is {nodes}: give a number")), "{error}");
        }
    }
}
