//! The ways to make a mixing matrix: weights from degrees, from similarities, or entry by entry.
//!
//! Diagonals are never computed as `1 - sum`: the difference of two rounded numbers leaves `1e-16` where the truth is
//! 0, and a graph that never mixes would look as if it did, extremely slowly. They are sums of non-negative terms
//! instead.

use super::Mixing;
use crate::{Error, Graph, Result, require};
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// Weights that depend on the degrees alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Weights {
    /// `W_uv = 1 / max(d_u, d_v)`, the remainder on the diagonal. The papers' "Hamilton" weights.
    Metropolis,
    /// `W_uv = 1 / (max(d_u, d_v) + 1)`: every node also counts itself, so that bipartite graphs mix too. The default of everything.
    #[default]
    MetropolisPlusOne,
    /// `W_uv = 1 / d_u`: a random walk. Row-stochastic; symmetric only where all degrees are equal.
    Uniform,
}

impl Weights {
    /// All of them, in the order of the documentation.
    pub const ALL: [Self; 3] = [Self::Metropolis, Self::MetropolisPlusOne, Self::Uniform];
}

impl fmt::Display for Weights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Metropolis => "metropolis",
            Self::MetropolisPlusOne => "metropolis-plus-one",
            Self::Uniform => "uniform",
        })
    }
}

impl FromStr for Weights {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let known = Self::ALL.into_iter().find(|weights| weights.to_string() == name);
        known.ok_or_else(|| {
            Error::parameter("weights", name, "give metropolis, metropolis-plus-one or uniform")
        })
    }
}

impl Mixing {
    /// The matrix whose weights follow from the degrees. A node without neighbours keeps its value.
    pub fn new(graph: &Graph, weights: Weights) -> Self {
        match weights {
            Weights::Metropolis => Self::metropolis(graph, 0.0),
            Weights::MetropolisPlusOne => Self::metropolis(graph, 1.0),
            Weights::Uniform => Self::uniform(graph),
        }
    }

    /// `W_uv = 1 / (max(d_u, d_v) + own)`; the diagonal is `own / (d_u + own)` plus what larger neighbours do not
    /// take.
    fn metropolis(graph: &Graph, own: f64) -> Self {
        let degree = |u: usize| graph.degree(u) as f64 + own;
        let mut weights = Vec::with_capacity(2 * graph.edge_count());
        let mut diagonal = Vec::with_capacity(graph.nodes());
        for u in 0..graph.nodes() {
            let larger = |v: &u32| degree(*v as usize).max(degree(u));
            weights.extend(graph.neighbors(u).iter().map(|v| 1.0 / larger(v)));
            let left = |v: &u32| (larger(v) - degree(u)) / (degree(u) * larger(v));
            let rest = graph.neighbors(u).iter().map(left).sum::<f64>();
            diagonal.push(if graph.degree(u) == 0 { 1.0 } else { own / degree(u) + rest });
        }
        Self { graph: graph.clone(), diagonal, weights, symmetric: true }
    }

    fn uniform(graph: &Graph) -> Self {
        let rows = 0..graph.nodes();
        let weights =
            rows.clone().flat_map(|u| vec![1.0 / graph.degree(u) as f64; graph.degree(u)]).collect();
        let diagonal = rows.map(|u| if graph.degree(u) == 0 { 1.0 } else { 0.0 }).collect();
        let mut mixing = Self { graph: graph.clone(), diagonal, weights, symmetric: false };
        mixing.symmetric = mixing.first_asymmetry().is_none();
        mixing
    }

    /// Every row is the mean of a node and its neighbours: `W_uv = 1 / (d_u + 1)`, the diagonal included.
    ///
    /// Symmetric only where all degrees are equal; else a long mixing weighs nodes by `d_u + 1`. Kept for the papers that mix so.
    ///
    /// ```
    /// use sottovoce_topology::{Graph, mixing::Mixing};
    /// let path = Graph::from_edges(3, [(0, 1), (1, 2)])?;
    /// let mixing = Mixing::neighbourhoods(&path);
    /// assert_eq!((mixing.weight(0, 1), mixing.weight(1, 0)), (0.5, 1.0 / 3.0));
    /// assert_eq!(mixing.stationary()?, [2.0 / 7.0, 3.0 / 7.0, 2.0 / 7.0]);
    /// # Ok::<(), sottovoce_topology::Error>(())
    /// ```
    pub fn neighbourhoods(graph: &Graph) -> Self {
        let share = |u: usize| 1.0 / (graph.degree(u) as f64 + 1.0);
        let rows = 0..graph.nodes();
        let weights = rows.clone().flat_map(|u| vec![share(u); graph.degree(u)]).collect();
        let diagonal = rows.map(share).collect();
        let mut mixing = Self { graph: graph.clone(), diagonal, weights, symmetric: false };
        mixing.symmetric = mixing.first_asymmetry().is_none();
        mixing
    }

    /// `W_uv = s_uv / m`, where `m` is the largest sum of similarities around a node; the remainder on the diagonal.
    ///
    /// `similarities` has one non-negative number per edge, in the order of [`Graph::edges`].
    pub fn from_similarities(graph: &Graph, similarities: &[f64]) -> Result<Self> {
        let remedy = format!("give one for each of the {} edges", graph.edge_count());
        require(similarities.len() == graph.edge_count(), "similarities", similarities.len(), remedy)?;
        let mut sums = vec![0.0; graph.nodes()];
        for ((u, v), &s) in graph.edges().zip(similarities) {
            let remedy = "similarities must be finite and not negative";
            let value = format_args!("{s} on edge ({u}, {v})");
            require(s.is_finite() && s >= 0.0, "similarities", value, remedy)?;
            sums[u] += s;
            sums[v] += s;
        }
        let largest = sums.iter().copied().fold(0.0, f64::max);
        let remedy = "at least one must be positive and their sums finite; rescale them";
        let value = format_args!("{largest} at most around any node");
        require(largest.is_finite() && largest > 0.0, "similarities", value, remedy)?;
        let entries = graph.edges().zip(similarities).map(|((u, v), &s)| (u, v, s / largest));
        let diagonal = sums.iter().enumerate().map(|(u, sum)| (u, u, (largest - sum) / largest));
        Self::from_entries(graph, entries.chain(diagonal))
    }

    /// The matrix with the given entries `(u, v, W_uv)` on the edges of `graph` and its diagonal; refused unless
    /// [`Mixing::check`] accepts it.
    ///
    /// An edge may be listed in one direction (the other is equal) or in both (they must be equal); one that is not
    /// listed weighs 0. A diagonal entry that is not listed is what its row lacks to 1.
    pub fn from_entries(
        graph: &Graph,
        entries: impl IntoIterator<Item = (usize, usize, f64)>,
    ) -> Result<Self> {
        let mixing = Self::entered(graph, entries)?;
        mixing.check()?;
        Ok(mixing)
    }

    /// The same for a walk, whose weights need not be symmetric; refused unless [`Mixing::check_walk`] accepts it.
    pub fn of_walk(graph: &Graph, entries: impl IntoIterator<Item = (usize, usize, f64)>) -> Result<Self> {
        let mut mixing = Self::entered(graph, entries)?;
        mixing.symmetric = mixing.first_asymmetry().is_none();
        mixing.check_walk()?;
        Ok(mixing)
    }

    fn entered(graph: &Graph, entries: impl IntoIterator<Item = (usize, usize, f64)>) -> Result<Self> {
        let offsets = graph.rows().0;
        let mut diagonal = vec![None; graph.nodes()];
        let mut weights = vec![None; 2 * graph.edge_count()];
        for (u, v, weight) in entries {
            let place =
                if u == v { diagonal.get_mut(u) } else { position(graph, u, v).map(|i| &mut weights[i]) };
            let place = place.ok_or_else(|| {
                let remedy = "weights must be on an edge or on the diagonal; add the edge to the graph or remove the entry";
                Error::parameter("mixing", format!("{weight} at ({u}, {v})"), remedy)
            })?;
            let twice = place.replace(weight).is_some();
            let value = format_args!("{weight} at ({u}, {v})");
            require(!twice, "mixing", value, "the entry is listed twice; list it once")?;
        }
        for (u, v) in graph.edges() {
            if let (Some(i), Some(j)) = (position(graph, u, v), position(graph, v, u)) {
                (weights[i], weights[j]) = (weights[i].or(weights[j]), weights[j].or(weights[i]));
            }
        }
        let weights: Vec<f64> = weights.into_iter().map(Option::unwrap_or_default).collect();
        let rest = |u: usize| remainder(&weights[offsets[u]..offsets[u + 1]]);
        let diagonal =
            diagonal.into_iter().enumerate().map(|(u, given)| given.unwrap_or_else(|| rest(u))).collect();
        Ok(Self { graph: graph.clone(), diagonal, weights, symmetric: true })
    }
}

/// `exp(-|x_u - x_v|² / (2 scale²))` for every edge, in the order of [`Graph::edges`]: close data, heavy edge.
///
/// `features` has one vector per node, all of the same length.
pub fn gaussian_similarities(graph: &Graph, features: &[Vec<f64>], scale: f64) -> Result<Vec<f64>> {
    let remedy = "give a positive distance at which similarity has fallen to 0.61";
    require(scale.is_finite() && scale > 0.0, "scale", scale, remedy)?;
    let remedy = format!("give one vector for each of the {} nodes", graph.nodes());
    require(features.len() == graph.nodes(), "features", features.len(), remedy)?;
    for (node, vector) in features.iter().enumerate() {
        let remedy = format_args!("give {} finite numbers, as for node 0", features[0].len());
        require(
            vector.len() == features[0].len() && vector.iter().all(|x| x.is_finite()),
            "features",
            format_args!("{vector:?} at node {node}"),
            remedy,
        )?;
    }
    let square = |u: usize, v: usize| {
        features[u].iter().zip(&features[v]).map(|(a, b)| ((a - b) / scale).powi(2)).sum::<f64>()
    };
    Ok(graph.edges().map(|(u, v)| (-0.5 * square(u, v)).exp()).collect())
}

/// Where `W_uv` is stored.
fn position(graph: &Graph, u: usize, v: usize) -> Option<usize> {
    if u >= graph.nodes() {
        return None;
    }
    let v = u32::try_from(v).ok()?;
    graph.neighbors(u).binary_search(&v).ok().map(|i| graph.rows().0[u] + i)
}

/// What the given weights lack to 1; exactly 0 where that is rounding.
fn remainder(weights: &[f64]) -> f64 {
    let rest = 1.0 - weights.iter().sum::<f64>();
    if rest.abs() <= weights.len() as f64 * f64::EPSILON { 0.0 } else { rest }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ring(n: usize) -> Graph {
        Graph::from_edges(n, (0..n).map(|u| (u, (u + 1) % n))).unwrap()
    }

    #[test]
    fn names_go_both_ways() {
        for weights in Weights::ALL {
            assert_eq!(weights.to_string().parse::<Weights>().unwrap(), weights);
            assert_eq!(serde_json::to_string(&weights).unwrap(), format!("\"{weights}\""));
        }
        let error = "max".parse::<Weights>().unwrap_err().to_string();
        assert_eq!(error, "`weights` is max: give metropolis, metropolis-plus-one or uniform");
    }

    #[test]
    fn the_diagonal_is_exactly_zero_where_it_should_be() {
        // 1 - (1/d + ... + 1/d) would leave 1.1e-16 at d = 6, 10 and many others.
        for d in [2, 3, 6, 10, 49] {
            let complete =
                Graph::from_edges(d + 1, (0..=d).flat_map(|u| (0..u).map(move |v| (u, v)))).unwrap();
            for weights in [Weights::Metropolis, Weights::Uniform] {
                assert_eq!(Mixing::new(&complete, weights).diagonal(), vec![0.0; d + 1]);
            }
            assert!(Mixing::new(&complete, Weights::Uniform).is_symmetric());
        }
    }

    #[test]
    fn a_lone_node_keeps_its_value() {
        let graph = Graph::from_edges(3, [(0, 1)]).unwrap();
        for weights in Weights::ALL {
            assert_eq!(Mixing::new(&graph, weights).diagonal()[2], 1.0);
        }
    }

    #[test]
    fn similarities_are_divided_by_the_heaviest_node() {
        let path = Graph::from_edges(3, [(0, 1), (1, 2)]).unwrap();
        let mixing = Mixing::from_similarities(&path, &[1.0, 3.0]).unwrap();
        assert_eq!((mixing.weight(1, 0), mixing.weight(2, 1)), (0.25, 0.75));
        assert_eq!(mixing.diagonal(), [0.75, 0.0, 0.25]);
        let features = [vec![0.0, 0.0], vec![3.0, 4.0], vec![3.0, 4.0]];
        let similar = gaussian_similarities(&path, &features, 5.0).unwrap();
        assert_eq!(similar, [(-0.5f64).exp(), 1.0]);
    }

    #[test]
    fn bad_similarities_are_refused() {
        let path = Graph::from_edges(3, [(0, 1), (1, 2)]).unwrap();
        let cases = [
            (vec![1.0], "`similarities` is 1: give one for each of the 2 edges"),
            (vec![1.0, -1.0], "`similarities` is -1 on edge (1, 2): similarities must be finite"),
            (vec![0.0, 0.0], "`similarities` is 0 at most around any node: at least one must be positive"),
            (vec![1e308, 1e308], "`similarities` is inf at most around any node"),
        ];
        for (similarities, expected) in cases {
            let error = Mixing::from_similarities(&path, &similarities).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
        let short =
            gaussian_similarities(&path, &[vec![0.0], vec![], vec![0.0]], 1.0).unwrap_err().to_string();
        assert_eq!(short, "`features` is [] at node 1: give 1 finite numbers, as for node 0");
        assert!(
            gaussian_similarities(&path, &vec![vec![0.0]; 3], 0.0)
                .unwrap_err()
                .to_string()
                .contains("`scale` is 0")
        );
        assert!(
            gaussian_similarities(&path, &vec![vec![0.0]; 2], 1.0)
                .unwrap_err()
                .to_string()
                .contains("3 nodes")
        );
    }

    #[test]
    fn entries_are_mirrored_and_completed() {
        let mixing =
            Mixing::from_entries(&ring(3), [(0, 1, 0.3), (2, 1, 0.3), (1, 2, 0.3), (2, 2, 0.7)]).unwrap();
        assert_eq!((mixing.weight(1, 0), mixing.weight(0, 2)), (0.3, 0.0));
        assert_eq!(mixing.diagonal(), [0.7, 0.4, 0.7]);
    }

    #[test]
    fn entries_off_the_graph_or_listed_twice_are_refused() {
        for (entries, expected) in [
            (vec![(0, 2, 0.3)], "`mixing` is 0.3 at (0, 2): weights must be on an edge"),
            (vec![(9, 9, 0.3)], "`mixing` is 0.3 at (9, 9): weights must be on an edge"),
            (vec![(9, 0, 0.3)], "`mixing` is 0.3 at (9, 0): weights must be on an edge"),
            (vec![(0, 1, 0.3), (0, 1, 0.3)], "`mixing` is 0.3 at (0, 1): the entry is listed twice"),
        ] {
            let error = Mixing::from_entries(&ring(4), entries).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }

    proptest! {
        #[test]
        fn metropolis_is_doubly_stochastic_on_every_graph(
            n in 1usize..40, pairs in prop::collection::btree_set((0usize..40, 0usize..40), 0..200), l in 0.0..0.99,
        ) {
            let edges = pairs.into_iter().filter(|&(u, v)| u < v && v < n);
            let graph = Graph::from_edges(n, edges).unwrap();
            for weights in [Weights::Metropolis, Weights::MetropolisPlusOne] {
                Mixing::new(&graph, weights).check().unwrap();
                Mixing::new(&graph, weights).lazy(l).unwrap().check().unwrap();
            }
            // Whatever the graph, a random walk loses no mass, symmetric or not.
            let (walk, mut out) = (Mixing::new(&graph, Weights::Uniform), vec![0.0; n]);
            walk.apply(&vec![1.0; n], &mut out);
            prop_assert!(out.iter().all(|row| (row - 1.0).abs() < 1e-12));
        }
    }
}
