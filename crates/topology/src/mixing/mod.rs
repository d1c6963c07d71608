//! Who mixes with whom, and by how much: the matrix `W` of the averaging protocols and the random walks.
//!
//! A [`Mixing`] is a sparse matrix over the rows of a [`Graph`]: one weight per neighbour, in the graph's own order,
//! and the diagonal apart. The theory asks for a symmetric doubly stochastic `W`; [`Mixing::check`] says whether it
//! is, and if not, which entry is wrong. The rows of a plain random walk ([`Weights::Uniform`]) are stochastic but
//! symmetric only on regular graphs: they can be built and applied, and they are refused wherever symmetry is needed.
//!
//! The constructors (Metropolis weights, similarities, explicit entries) are in `build.rs`; the matrix as a Markov chain is in `chain.rs`.

mod build;
mod chain;

pub use build::{Weights, gaussian_similarities};

use crate::{Error, Graph, Result, require};

/// How far a row sum may be from 1, and `W_uv` from `W_vu`, before [`Mixing::check`] refuses them.
pub const TOLERANCE: f64 = 1e-12;

/// A mixing matrix: non-negative weights on the edges and the diagonal of a graph, with rows that sum to 1.
///
/// ```
/// use sottovoce_topology::{Graph, mixing::{Mixing, Weights}};
/// let path = Graph::from_edges(3, [(0, 1), (1, 2)])?;
/// let mixing = Mixing::new(&path, Weights::Metropolis);
/// mixing.check()?;
/// let mut out = [0.0; 3];
/// mixing.apply(&[4.0, 0.0, 2.0], &mut out);
/// assert_eq!(out, [2.0, 3.0, 1.0]);
/// # Ok::<(), sottovoce_topology::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Mixing {
    graph: Graph,
    diagonal: Vec<f64>,
    /// Aligned with the graph's concatenated rows.
    weights: Vec<f64>,
    symmetric: bool,
}

impl Mixing {
    /// The graph the weights live on.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.graph.nodes()
    }

    /// Whether `W_uv = W_vu` for every edge, up to [`TOLERANCE`].
    pub fn is_symmetric(&self) -> bool {
        self.symmetric
    }

    /// The weight each node gives to itself.
    pub fn diagonal(&self) -> &[f64] {
        &self.diagonal
    }

    /// The off-diagonal weights, aligned with the concatenated rows of [`Graph::rows`]: for kernels.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// `W_uv`: what `u` gives to the value of `v`. Zero where there is no edge.
    pub fn weight(&self, u: usize, v: usize) -> f64 {
        if u == v {
            return self.diagonal[u];
        }
        let position = u32::try_from(v).ok().and_then(|v| self.graph.neighbors(u).binary_search(&v).ok());
        position.map_or(0.0, |i| self.weights[self.graph.rows().0[u] + i])
    }

    /// The neighbours of `u` with their weights, in increasing order; without `u` itself.
    pub fn row(&self, u: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let offsets = self.graph.rows().0;
        let weights = &self.weights[offsets[u]..offsets[u + 1]];
        self.graph.neighbors(u).iter().map(|&v| v as usize).zip(weights.iter().copied())
    }

    /// `(1 - l) W + l I`: each node keeps at least the share `l`. A positive `l` makes bipartite graphs mix.
    pub fn lazy(mut self, l: f64) -> Result<Self> {
        let remedy = "give a share from 0 to below 1; 0 leaves the weights as they are";
        require((0.0..1.0).contains(&l), "lazy", l, remedy)?;
        self.weights.iter_mut().for_each(|w| *w *= 1.0 - l);
        self.diagonal.iter_mut().for_each(|w| *w = (1.0 - l) * *w + l);
        Ok(self)
    }

    /// `out = W x`, each sum in node order after the diagonal.
    ///
    /// # Panics
    /// If `x` or `out` does not have one entry per node.
    pub fn apply(&self, x: &[f64], out: &mut [f64]) {
        assert_eq!((x.len(), out.len()), (self.nodes(), self.nodes()), "one entry per node");
        let (offsets, neighbors) = self.graph.rows();
        for (u, out) in out.iter_mut().enumerate() {
            let range = offsets[u]..offsets[u + 1];
            let mut sum = self.diagonal[u] * x[u];
            for (&v, weight) in neighbors[range.clone()].iter().zip(&self.weights[range]) {
                sum += weight * x[v as usize];
            }
            *out = sum;
        }
    }

    /// `out = W X` for vectors of length `width` per node, stored node after node.
    ///
    /// # Panics
    /// If `x` or `out` does not have `width` entries per node, or `width` is 0.
    pub fn apply_block(&self, x: &[f64], width: usize, out: &mut [f64]) {
        assert_eq!((x.len(), out.len()), (self.nodes() * width, self.nodes() * width), "one row per node");
        for (u, out) in out.chunks_exact_mut(width).enumerate() {
            let own = &x[u * width..][..width];
            out.iter_mut().zip(own).for_each(|(out, own)| *out = self.diagonal[u] * own);
            for (v, weight) in self.row(u) {
                let other = &x[v * width..][..width];
                out.iter_mut().zip(other).for_each(|(out, other)| *out += weight * other);
            }
        }
    }

    /// Refuses everything that is not a symmetric doubly stochastic matrix, naming the first entry that is wrong.
    ///
    /// In this order: entries are finite; none is negative; `W_uv = W_vu` and row sums are 1, both up to
    /// [`TOLERANCE`]. That weights live on edges and the diagonal alone holds by construction.
    pub fn check(&self) -> Result<()> {
        self.check_entries()?;
        match self.first_asymmetry() {
            None => self.check_row_sums(),
            Some((u, v)) => {
                let value =
                    format!("{} at ({u}, {v}) but {} at ({v}, {u})", self.weight(u, v), self.weight(v, u));
                let remedy = "the two must be equal; use metropolis weights, which are symmetric on every graph \
                              (uniform rows are symmetric only where all degrees are equal)";
                Err(Error::parameter("mixing", value, remedy))
            }
        }
    }

    /// Refuses a matrix with the eigenvalue -1: its powers do not tend to the mean, because nobody keeps a share of its own value and every
    /// edge joins two sides that swap theirs.
    ///
    /// ```
    /// use sottovoce_topology::{Graph, mixing::{Mixing, Weights}};
    /// let pair = Graph::from_edges(2, [(0, 1)])?;
    /// assert!(Mixing::new(&pair, Weights::Metropolis).check_consensus().is_err());
    /// assert!(Mixing::new(&pair, Weights::MetropolisPlusOne).check_consensus().is_ok());
    /// # Ok::<(), sottovoce_topology::Error>(())
    /// ```
    pub fn check_consensus(&self) -> Result<()> {
        let mut sides: Vec<Option<bool>> = vec![None; self.nodes()];
        for start in 0..self.nodes() {
            if sides[start].is_some() {
                continue;
            }
            sides[start] = Some(false);
            let (mut open, mut swaps) = (vec![start], true);
            while let Some(u) = open.pop() {
                swaps &= self.diagonal[u] == 0.0;
                for (v, _) in self.row(u).filter(|(_, weight)| *weight > 0.0) {
                    swaps &= sides[v] != sides[u];
                    if sides[v].is_none() {
                        sides[v] = sides[u].map(|side| !side);
                        open.push(v);
                    }
                }
            }
            if swaps {
                let remedy = "on this bipartite graph two sides swap their values in every step and never agree: take \
                              metropolis-plus-one, or let every peer keep a share of its own value (lazy = 0.1)";
                return Err(Error::parameter("weights", "without a weight on peers' own values", remedy));
            }
        }
        Ok(())
    }

    fn check_entries(&self) -> Result<()> {
        for u in 0..self.nodes() {
            // The diagonal comes last: it is often computed from the row, and what the user wrote should be named.
            for (v, weight) in self.row(u).chain([(u, self.diagonal[u])]) {
                let remedy = match weight {
                    w if !w.is_finite() => "every weight must be a finite number",
                    w if w < 0.0 && u == v => {
                        "weights must not be negative; lower the other weights of this row"
                    }
                    w if w < 0.0 => "weights must not be negative; raise it to 0 or remove it",
                    _ => continue,
                };
                return Err(Error::parameter("mixing", format!("{weight} at ({u}, {v})"), remedy));
            }
        }
        Ok(())
    }

    fn check_row_sums(&self) -> Result<()> {
        for u in 0..self.nodes() {
            let sum = self.row_sum(u);
            if (sum - 1.0).abs() > TOLERANCE {
                let remedy =
                    "every row must sum to 1; change the diagonal entry, or leave it out to have it computed";
                return Err(Error::parameter("mixing", format!("{sum} in the sum of row {u}"), remedy));
            }
        }
        Ok(())
    }

    /// Compensated: a plain sum of 10^6 equal weights is off by 8e-12, which would refuse a large star.
    pub(crate) fn row_sum(&self, u: usize) -> f64 {
        let entries = self.row(u).map(|(_, w)| w).chain([self.diagonal[u]]);
        let (sum, lost) = entries.fold((0.0, 0.0), |(sum, lost), w| {
            let next: f64 = sum + w;
            (next, lost + if sum >= w { (sum - next) + w } else { (w - next) + sum })
        });
        sum + lost
    }

    fn first_asymmetry(&self) -> Option<(usize, usize)> {
        // Rows are in increasing order: whoever is visited by one row after the other finds their entries in its own, one after the other.
        let mut next = self.graph.rows().0.to_vec();
        for u in 0..self.nodes() {
            for (v, weight) in self.row(u) {
                let difference = (weight - self.weights[next[v]]).abs();
                next[v] += 1;
                // Written so that a difference that is not a number counts as asymmetric.
                let same = matches!(
                    difference.partial_cmp(&TOLERANCE),
                    Some(std::cmp::Ordering::Less | std::cmp::Ordering::Equal)
                );
                if !same {
                    return Some((u, v));
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn star(leaves: usize) -> Graph {
        Graph::from_edges(leaves + 1, (1..=leaves).map(|v| (0, v))).unwrap()
    }

    #[test]
    fn a_block_is_a_bundle_of_vectors() {
        let mixing = Mixing::new(&star(3), Weights::MetropolisPlusOne);
        let x = [1.0, -2.0, 0.5, 4.0, 3.0, 0.25, -1.0, 8.0];
        let mut block = [0.0; 8];
        mixing.apply_block(&x, 2, &mut block);
        for column in 0..2 {
            let (mut one, part) = ([0.0; 4], [0, 1, 2, 3].map(|u| x[2 * u + column]));
            mixing.apply(&part, &mut one);
            assert_eq!(one, [0, 1, 2, 3].map(|u| block[2 * u + column]));
        }
        assert_eq!(block[0], 0.25 * (1.0 + 0.5 + 3.0 - 1.0));
    }

    #[test]
    fn weights_are_found_by_position() {
        let mixing = Mixing::new(&star(3), Weights::Metropolis);
        assert_eq!(
            (mixing.weight(0, 2), mixing.weight(2, 0), mixing.weight(1, 2)),
            (1.0 / 3.0, 1.0 / 3.0, 0.0)
        );
        assert_eq!((mixing.weight(0, 0), mixing.weight(1, 1)), (0.0, 2.0 / 3.0));
        assert_eq!(mixing.row(2).collect::<Vec<_>>(), [(0, 1.0 / 3.0)]);
    }

    #[test]
    fn laziness_moves_weight_to_the_diagonal() {
        let mixing = Mixing::new(&star(2), Weights::Metropolis).lazy(0.5).unwrap();
        assert_eq!((mixing.weight(0, 1), mixing.diagonal()), (0.25, &[0.5, 0.75, 0.75][..]));
        mixing.check().unwrap();
    }

    #[test]
    fn laziness_outside_its_range_is_refused() {
        for l in [1.0, -0.1, f64::NAN] {
            let error = Mixing::new(&star(2), Weights::Metropolis).lazy(l).unwrap_err().to_string();
            assert!(error.contains("`lazy` is") && error.contains("from 0 to below 1"), "{error}");
        }
    }

    #[test]
    fn uniform_rows_are_refused_off_regular_graphs_and_the_message_says_why() {
        let mixing = Mixing::new(&star(3), Weights::Uniform);
        assert!(!mixing.is_symmetric());
        let error = mixing.check().unwrap_err().to_string();
        let expected = "`mixing` is 0.3333333333333333 at (0, 1) but 1 at (1, 0): the two must be equal";
        assert!(error.starts_with(expected) && error.contains("metropolis"), "{error}");
    }

    #[test]
    fn a_star_of_a_million_leaves_is_accepted() {
        Mixing::new(&star(1_000_000), Weights::Metropolis).check().unwrap();
    }

    #[test]
    fn every_kind_of_wrong_entry_is_named() {
        let path = Graph::from_edges(3, [(0, 1), (1, 2)]).unwrap();
        let cases = [
            (vec![(0, 1, f64::NAN)], "NaN at (0, 1)"),
            (vec![(0, 1, 0.5), (1, 2, f64::INFINITY)], "inf at (1, 2)"),
            (vec![(0, 1, -0.5)], "-0.5 at (0, 1)"),
            (vec![(0, 1, 0.75), (1, 2, 0.5)], "-0.25 at (1, 1)"),
            (vec![(0, 1, 0.5), (1, 0, 0.25)], "0.5 at (0, 1) but 0.25 at (1, 0)"),
            (vec![(0, 1, 0.5), (2, 2, 0.5)], "0.5 in the sum of row 2"),
        ];
        for (entries, expected) in cases {
            let error = Mixing::from_entries(&path, entries).unwrap_err().to_string();
            assert!(error.starts_with(&format!("`mixing` is {expected}")), "{error}");
        }
    }
}
