//! Connected components: which peers can reach which.
//!
//! Averaging, walks and rumours only work inside one component, so most callers ask [`Graph::require_connected`]
//! before they start, and a user whose file has stray nodes is offered [`Graph::largest_component`].

use crate::{Error, Graph, Result};

/// The connected components of a graph, numbered in the order of their smallest node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Components {
    of: Vec<u32>,
    sizes: Vec<usize>,
}

impl Components {
    /// Number of components.
    pub fn count(&self) -> usize {
        self.sizes.len()
    }

    /// Number of nodes in each component.
    pub fn sizes(&self) -> &[usize] {
        &self.sizes
    }

    /// The component of `node`.
    pub fn of(&self, node: usize) -> usize {
        self.of[node] as usize
    }

    /// The component with most nodes; among equals, the one with the smallest node.
    pub fn largest(&self) -> usize {
        (0..self.count()).rev().max_by_key(|&component| self.sizes[component]).unwrap_or(0)
    }
}

impl Graph {
    /// Finds the connected components, in time linear in nodes and edges.
    ///
    /// ```
    /// use sottovoce_topology::Graph;
    /// let graph = Graph::from_edges(5, [(0, 3), (1, 2)])?;
    /// let components = graph.components();
    /// assert_eq!(components.sizes(), &[2, 2, 1]);
    /// assert_eq!(components.of(3), components.of(0));
    /// # Ok::<(), sottovoce_topology::Error>(())
    /// ```
    pub fn components(&self) -> Components {
        const UNSEEN: u32 = u32::MAX;
        let mut of = vec![UNSEEN; self.nodes()];
        let mut sizes = Vec::new();
        let mut pending = Vec::new();
        for start in 0..self.nodes() {
            if of[start] != UNSEEN {
                continue;
            }
            let component = sizes.len() as u32;
            let mut size = 0;
            of[start] = component;
            pending.push(start as u32);
            while let Some(node) = pending.pop() {
                size += 1;
                for &neighbor in self.neighbors(node as usize) {
                    if of[neighbor as usize] == UNSEEN {
                        of[neighbor as usize] = component;
                        pending.push(neighbor);
                    }
                }
            }
            sizes.push(size);
        }
        Components { of, sizes }
    }

    /// Whether every node can reach every other.
    pub fn is_connected(&self) -> bool {
        self.components().count() == 1
    }

    /// Refuses a graph that is not connected; `remedy` tells the user what to do about it.
    ///
    /// ```
    /// use sottovoce_topology::Graph;
    /// let graph = Graph::from_edges(3, [(0, 1)])?;
    /// let error = graph.require_connected("add edges").unwrap_err();
    /// assert!(error.to_string().contains("2 components, the largest has 2 of 3 nodes): add edges"));
    /// # Ok::<(), sottovoce_topology::Error>(())
    /// ```
    pub fn require_connected(&self, remedy: impl Into<String>) -> Result<()> {
        let components = self.components();
        if components.count() == 1 {
            return Ok(());
        }
        Err(Error::Disconnected {
            components: components.count(),
            largest: components.sizes()[components.largest()],
            nodes: self.nodes(),
            remedy: remedy.into(),
        })
    }

    /// The largest component as a graph of its own; see [`Graph::induced`] for what becomes of names and positions.
    pub fn largest_component(&self) -> Result<Graph> {
        let components = self.components();
        if components.count() == 1 {
            return Ok(self.clone());
        }
        let largest = components.largest();
        let nodes: Vec<usize> = (0..self.nodes()).filter(|&node| components.of(node) == largest).collect();
        self.induced(&nodes)
    }

    /// The subgraph on `nodes`, numbered in the order given, with the edges that have both ends among them.
    ///
    /// Labels and coordinates are kept. Where there were no labels, the old node numbers become labels, so that
    /// results about the part can be traced back to the whole.
    pub fn induced(&self, nodes: &[usize]) -> Result<Graph> {
        const ABSENT: u32 = u32::MAX;
        let mut place = vec![ABSENT; self.nodes()];
        for (new, &old) in nodes.iter().enumerate() {
            match place.get_mut(old) {
                Some(slot) if *slot == ABSENT => *slot = new as u32,
                Some(_) => return Err(Error::parameter("nodes", old, "list each node once")),
                None => {
                    let remedy = format!("node numbers must be below {}", self.nodes());
                    return Err(Error::parameter("nodes", old, remedy));
                }
            }
        }
        let inside = |&(u, v): &(usize, usize)| place[u] != ABSENT && place[v] != ABSENT;
        let edges = self.edges().filter(inside).map(|(u, v)| (place[u] as usize, place[v] as usize));
        let mut graph = Graph::from_edges(nodes.len(), edges)?;
        graph = graph.with_labels(nodes.iter().map(|&old| self.label(old)).collect())?;
        match self.coordinates() {
            Some(coordinates) => graph.with_coordinates(nodes.iter().map(|&old| coordinates[old]).collect()),
            None => Ok(graph),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_are_numbered_by_their_smallest_node() {
        let graph = Graph::from_edges(6, [(0, 4), (1, 2), (2, 5)]).unwrap();
        let components = graph.components();
        let of: Vec<_> = (0..6).map(|node| components.of(node)).collect();
        assert_eq!(of, [0, 1, 1, 2, 0, 1]);
        assert_eq!(components.sizes(), &[2, 3, 1]);
        assert_eq!(components.largest(), 1);
        assert!(!graph.is_connected());
    }

    #[test]
    fn among_equal_components_the_first_is_largest() {
        let graph = Graph::from_edges(4, [(0, 2), (1, 3)]).unwrap();
        assert_eq!(graph.components().largest(), 0);
        assert_eq!(graph.largest_component().unwrap().labels().unwrap(), ["0", "2"]);
    }

    #[test]
    fn the_largest_component_keeps_names_and_positions() {
        let names = ["a", "b", "c", "d"].map(String::from).to_vec();
        let places = vec![[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, 0.0]];
        let graph = Graph::from_edges(4, [(1, 3), (3, 2)]).unwrap();
        let graph = graph.with_labels(names).unwrap().with_coordinates(places).unwrap();
        let part = graph.largest_component().unwrap();
        assert_eq!(part.labels().unwrap(), ["b", "c", "d"]);
        assert_eq!(part.coordinates().unwrap(), [[1.0, 0.0], [2.0, 0.0], [3.0, 0.0]]);
        assert_eq!(part.edges().collect::<Vec<_>>(), [(0, 2), (1, 2)]);
        assert!(part.is_connected());
        part.require_connected("").unwrap();
    }

    #[test]
    fn a_connected_graph_is_its_own_largest_component() {
        let graph = Graph::from_edges(3, [(0, 1), (1, 2)]).unwrap();
        assert_eq!(graph.largest_component().unwrap(), graph);
    }

    #[test]
    fn induced_refuses_repeats_and_strangers() {
        let graph = Graph::from_edges(3, [(0, 1)]).unwrap();
        assert!(graph.induced(&[1, 1]).unwrap_err().to_string().contains("list each node once"));
        assert!(graph.induced(&[3]).unwrap_err().to_string().contains("below 3"));
        assert!(graph.induced(&[]).is_err());
    }

    #[test]
    fn a_long_path_needs_no_deep_stack() {
        let graph = Graph::from_edges(200_000, (1..200_000).map(|v| (v - 1, v))).unwrap();
        assert!(graph.is_connected());
    }
}
