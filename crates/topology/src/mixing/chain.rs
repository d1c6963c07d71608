//! A mixing matrix as a Markov chain: where a token is likely to be.
//!
//! A walk needs less than averaging does: rows that sum to 1, and steps that can be taken back. Where weights are symmetric it is everywhere equally
//! often; a plain random walk ([`Weights::Uniform`](super::Weights::Uniform)) is at a node as often as its degree says.

use super::{Mixing, TOLERANCE};
use crate::{Error, Result};

/// How far the two sides of the balance of an edge may be apart, relative to them.
const BALANCE: f64 = 1e-9;

impl Mixing {
    /// Refuses what is no walk: entries that are no probabilities, rows that do not sum to 1, steps that cannot be taken back.
    pub fn check_walk(&self) -> Result<()> {
        if self.symmetric {
            return self.check();
        }
        self.check_entries()?;
        self.check_row_sums()?;
        let one_way = |&(u, v): &(usize, usize)| (self.weight(u, v) > 0.0) != (self.weight(v, u) > 0.0);
        match self.graph.edges().find(one_way) {
            None => Ok(()),
            Some((u, v)) => {
                let value =
                    format!("{} at ({u}, {v}) but {} at ({v}, {u})", self.weight(u, v), self.weight(v, u));
                let remedy = "a walk must be able to go back; make both positive, or both 0";
                Err(Error::parameter("mixing", value, remedy))
            }
        }
    }

    /// `out = x W`: where a walk is after one more step, if it is at `u` with probability `x[u]`.
    ///
    /// # Panics
    /// If `x` or `out` does not have one entry per node.
    pub fn push(&self, x: &[f64], out: &mut [f64]) {
        assert_eq!((x.len(), out.len()), (self.nodes(), self.nodes()), "one entry per node");
        out.iter_mut().zip(x).zip(&self.diagonal).for_each(|((out, x), own)| *out = own * x);
        for (u, &x) in x.iter().enumerate() {
            self.row(u).for_each(|(v, weight)| out[v] += weight * x);
        }
    }

    /// The law of a long walk: `1/n` everywhere where weights are symmetric, else by the balance `pi_u W_uv = pi_v W_vu` of every edge. Refused where
    /// the graph is not connected, or some edge is out of balance.
    ///
    /// ```
    /// use sottovoce_topology::{Graph, mixing::{Mixing, Weights}};
    /// let path = Graph::from_edges(3, [(0, 1), (1, 2)])?;
    /// assert_eq!(Mixing::new(&path, Weights::Uniform).stationary()?, [0.25, 0.5, 0.25]);
    /// assert_eq!(Mixing::new(&path, Weights::Metropolis).stationary()?, [1.0 / 3.0; 3]);
    /// # Ok::<(), sottovoce_topology::Error>(())
    /// ```
    pub fn stationary(&self) -> Result<Vec<f64>> {
        self.check_walk()?;
        self.graph.require_connected("a walk never reaches the other parts; add edges")?;
        let n = self.nodes();
        if self.symmetric {
            return Ok(vec![1.0 / n as f64; n]);
        }
        let mut law = vec![0.0; n];
        let mut queue = vec![0];
        law[0] = 1.0;
        while let Some(u) = queue.pop() {
            for (v, weight) in self.row(u).filter(|(_, weight)| *weight > 0.0) {
                if law[v] == 0.0 {
                    law[v] = law[u] * weight / self.weight(v, u);
                    queue.push(v);
                }
            }
        }
        let sum: f64 = law.iter().sum();
        law.iter_mut().for_each(|p| *p /= sum);
        self.balanced(&law)?;
        Ok(law)
    }

    fn balanced(&self, law: &[f64]) -> Result<()> {
        let flows = |&(u, v): &(usize, usize)| [law[u] * self.weight(u, v), law[v] * self.weight(v, u)];
        // A flow that is not a number is out of balance.
        let level = |[a, b]: [f64; 2]| (a - b).abs() <= BALANCE * (a + b) + TOLERANCE * TOLERANCE;
        match self.graph.edges().find(|edge| !level(flows(edge))) {
            None => Ok(()),
            Some((u, v)) => {
                let remedy = "its long-run law is not known in closed form; take metropolis weights";
                Err(Error::parameter("mixing", format!("out of balance at ({u}, {v})"), remedy))
            }
        }
    }

    /// The least number of steps after which a walk from `start` is within `distance` of its long-run law, in total variation; none where that
    /// takes more than `most`.
    pub fn steps_to_mix(&self, start: usize, distance: f64, most: usize) -> Result<Option<usize>> {
        let law = self.stationary()?;
        let (mut now, mut next) = (vec![0.0; self.nodes()], vec![0.0; self.nodes()]);
        now[start] = 1.0;
        for step in 0..=most {
            let apart: f64 = now.iter().zip(&law).map(|(p, q)| (p - q).abs()).sum();
            if 0.5 * apart <= distance {
                return Ok(Some(step));
            }
            self.push(&now, &mut next);
            std::mem::swap(&mut now, &mut next);
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Graph;
    use crate::mixing::Weights;

    fn star() -> Graph {
        Graph::from_edges(4, [(0, 1), (0, 2), (0, 3)]).unwrap()
    }

    #[test]
    fn a_plain_walk_is_where_degrees_are() {
        for lazy in [0.0, 0.25] {
            let walk = Mixing::new(&star(), Weights::Uniform).lazy(lazy).unwrap();
            let law = walk.stationary().unwrap();
            assert!((law[0] - 0.5).abs() < 1e-15 && (law[3] - 1.0 / 6.0).abs() < 1e-15, "{law:?}");
            let mut next = [0.0; 4];
            walk.push(&law, &mut next);
            assert!(law.iter().zip(next).all(|(a, b)| (a - b).abs() < 1e-15));
            assert!(walk.check().is_err() && walk.check_walk().is_ok());
        }
    }

    #[test]
    fn a_walk_mixes_or_does_not() {
        let walk = Mixing::new(&star(), Weights::Uniform);
        assert_eq!(walk.steps_to_mix(0, 0.01, 1000).unwrap(), None, "it is at the centre at even times");
        // From the centre of the star with half of the steps kept: (1/2, 1/2) after one.
        let lazy = walk.lazy(0.5).unwrap();
        assert_eq!(lazy.steps_to_mix(0, 0.01, 1000).unwrap(), Some(1));
        let even = Mixing::new(&Graph::from_edges(2, [(0, 1)]).unwrap(), Weights::MetropolisPlusOne);
        assert_eq!(even.steps_to_mix(1, 0.01, 9).unwrap(), Some(1));
    }
}
