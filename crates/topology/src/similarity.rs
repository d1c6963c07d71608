//! Who resembles whom, and how much: a graph with a symmetric, positive weight on every edge.
//!
//! Personalised models are drawn towards those of similar agents. The weights are public; they are no mixing matrix, since they need not sum to one.

use crate::{Error, Graph, Result, require};

/// A graph of similarities.
///
/// ```
/// use sottovoce_topology::Similarity;
/// let three = Similarity::new(3, &[(0, 1, 1.0), (2, 1, 0.5)])?;
/// assert_eq!(three.degree(1), 1.5);
/// assert_eq!(three.row(1).collect::<Vec<_>>(), [(0, 1.0), (2, 0.5)]);
/// assert!(Similarity::new(3, &[(0, 1, 1.0)]).is_err()); // Nobody is like agent 2.
/// # Ok::<(), sottovoce_topology::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Similarity {
    graph: Graph,
    /// In the order of the graph's rows.
    weights: Vec<f64>,
    degrees: Vec<f64>,
}

impl Similarity {
    /// From edges with their weights: each once, all positive and finite, and everybody has one.
    pub fn new(agents: usize, edges: &[(usize, usize, f64)]) -> Result<Self> {
        for &(u, v, weight) in edges {
            let remedy =
                format_args!("agents {u} and {v} have it: give a positive number, or leave the edge out");
            require(weight.is_finite() && weight > 0.0, "weight", weight, remedy)?;
        }
        let graph = Graph::from_edges(agents, edges.iter().map(|&(u, v, _)| (u, v)))?;
        let (offsets, targets) = graph.rows();
        let mut weights = vec![0.0; targets.len()];
        let mut place = |u: usize, v: usize, weight: f64| {
            if let Ok(at) = graph.neighbors(u).binary_search(&(v as u32)) {
                weights[offsets[u] + at] = weight;
            }
        };
        for &(u, v, weight) in edges {
            place(u, v, weight);
            place(v, u, weight);
        }
        Self::of_rows(graph, weights)
    }

    /// From a graph and a function of its edges.
    pub fn of_graph(graph: Graph, weight: impl Fn(usize, usize) -> f64) -> Result<Self> {
        let edges: Vec<_> = graph.edges().map(|(u, v)| (u, v, weight(u, v))).collect();
        let Self { weights, degrees, .. } = Self::new(graph.nodes(), &edges)?;
        Ok(Self { graph, weights, degrees })
    }

    fn of_rows(graph: Graph, weights: Vec<f64>) -> Result<Self> {
        let (offsets, _) = graph.rows();
        let degrees: Vec<f64> = offsets.windows(2).map(|row| weights[row[0]..row[1]].iter().sum()).collect();
        if let Some(alone) = degrees.iter().position(|degree| *degree <= 0.0) {
            let remedy = "nobody is similar to this agent; give it a neighbour, or leave it out";
            return Err(Error::parameter("agent", alone, remedy));
        }
        if let Some(large) = degrees.iter().position(|degree| !degree.is_finite()) {
            let remedy = format!("the weights of agent {large} have no finite sum; give smaller ones");
            return Err(Error::parameter("weight", degrees[large], remedy));
        }
        Ok(Self { graph, weights, degrees })
    }

    /// Who is similar to whom at all.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Number of agents.
    pub fn agents(&self) -> usize {
        self.graph.nodes()
    }

    /// Neighbours of an agent, in increasing order, with the weights `W_ij`.
    pub fn row(&self, agent: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let weights = self.weights_of(agent);
        self.graph.neighbors(agent).iter().map(|&other| other as usize).zip(weights.iter().copied())
    }

    /// The weights of an agent's edges, in the order of its neighbours.
    #[inline]
    pub fn weights_of(&self, agent: usize) -> &[f64] {
        let (offsets, _) = self.graph.rows();
        &self.weights[offsets[agent]..offsets[agent + 1]]
    }

    /// `D_ii`, the sum of an agent's weights.
    pub fn degree(&self, agent: usize) -> f64 {
        self.degrees[agent]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_placed_in_the_order_of_the_rows_and_in_both_directions() {
        let edges = [(3, 0, 4.0), (1, 2, 0.25), (0, 2, 2.0), (1, 3, 8.0)];
        let all = Similarity::new(4, &edges).unwrap();
        assert_eq!(all.row(0).collect::<Vec<_>>(), [(2, 2.0), (3, 4.0)]);
        assert_eq!(all.row(3).collect::<Vec<_>>(), [(0, 4.0), (1, 8.0)]);
        assert_eq!(all.row(2).collect::<Vec<_>>(), [(0, 2.0), (1, 0.25)]);
        assert_eq!((0..4).map(|agent| all.degree(agent)).collect::<Vec<_>>(), [6.0, 8.25, 2.25, 12.0]);
        assert_eq!(
            all,
            Similarity::of_graph(all.graph().clone(), |u, v| {
                edges.iter().find(|edge| (edge.0, edge.1) == (u, v) || (edge.1, edge.0) == (u, v)).unwrap().2
            })
            .unwrap()
        );
    }

    #[test]
    fn what_is_no_similarity_is_refused() {
        for weight in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let refused = Similarity::new(2, &[(0, 1, weight)]).unwrap_err().to_string();
            assert!(refused.contains("agents 0 and 1"), "{refused}");
        }
        assert!(Similarity::new(2, &[(0, 1, 1.0), (1, 0, 2.0)]).is_err()); // asymmetric
        assert!(Similarity::new(2, &[(0, 0, 1.0)]).is_err());
        assert!(Similarity::new(3, &[(0, 1, f64::MAX), (0, 2, f64::MAX)]).is_err());
    }
}
