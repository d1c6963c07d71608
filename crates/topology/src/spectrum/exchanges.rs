//! What randomised gossip needs to know of a matrix whose edges are drawn with probability `p_vw = 2 W_vw / n`.
//!
//! The expected half-sum takes `H = Σ p_e b_e b_e'/2 = (I - W)/n` off, with `b_e` the difference of two unit vectors. Its least eigenvalue beside 0
//! is `mu`, and `b_e' H^+ b_e / 2` the effective resistance of an edge. These sum to `n - 1` when weighted by `p_e`, so each is at most `1/p_e`: for edges that
//! are equally likely, at most their number.

use super::below_one;
use super::dense::{DENSE_LIMIT, decompose};
use super::times::require_gap;
use crate::{Error, Result, mixing::Mixing};
use sottovoce_dense::Mat;

/// Computed resistances may be off by this share at most: the error of the matrix that eigenvalues and vectors of up to a thousand nodes belong to (5e-12) over the
/// least eigenvalue beside 0, if that is no less than [`LEAST`].
const ROUNDING: f64 = 1e-6;
const LEAST: f64 = 1e-5;

/// The two numbers of accelerated randomised gossip (`docs/theorems/accelerated-randomised.md`).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Exchanges {
    /// `mu`, from below.
    pub rate: f64,
    /// `kappa`, from above: the largest resistance of an edge.
    pub resistance: f64,
}

impl Exchanges {
    /// Of edges drawn with probability `2 W_vw / n`. Beyond a thousand nodes the resistance is bounded by `1/p_e`.
    ///
    /// ```
    /// use sottovoce_topology::{family::{Family, generate}, mixing::{Mixing, Weights}, spectrum::Exchanges};
    /// let ring = generate(&Family::Ring { n: 8 }, 0, true)?;
    /// let found = Exchanges::of(&Mixing::new(&ring, Weights::Metropolis))?; // every edge with probability 1/8
    /// assert!((found.resistance - 7.0).abs() < 1e-4);
    /// # Ok::<(), sottovoce_topology::Error>(())
    /// ```
    pub fn of(mixing: &Mixing) -> Result<Self> {
        Self::by(mixing, mixing.nodes() <= DENSE_LIMIT)
    }

    fn by(mixing: &Mixing, dense: bool) -> Result<Self> {
        let n = mixing.nodes() as f64;
        let rate = below_one(mixing, dense)?.lower() / n;
        require_gap("rate", rate)?;
        let drawn: Vec<(usize, usize, f64)> = (mixing.graph().edges())
            .map(|(u, v)| (u, v, 2.0 * mixing.weight(u, v) / n))
            .filter(|&(_, _, p)| p > 0.0)
            .collect();
        let largest = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0, f64::max);
        let bound = largest(&mut drawn.iter().map(|(_, _, p)| 1.0 / p));
        let computed = match dense && rate * n >= LEAST {
            true => largest(&mut resistances(mixing, &drawn)?.into_iter()) * (1.0 + ROUNDING),
            false => bound,
        };
        let resistance = if computed < bound { computed } else { bound };
        if resistance.is_finite() && resistance > 0.0 {
            return Ok(Self { rate, resistance });
        }
        Err(Error::parameter("weights", resistance, "an edge is hardly ever drawn; give it more weight"))
    }
}

/// `(n/2) Σ_k (v_k[u] - v_k[v])² / lambda_k` over the eigenvectors of `I - W` beside the constants.
fn resistances(mixing: &Mixing, edges: &[(usize, usize, f64)]) -> Result<Vec<f64>> {
    let n = mixing.nodes();
    let mut matrix = Mat::zeros(n, n);
    for u in 0..n {
        for (v, weight) in mixing.row(u) {
            matrix[(u, v)] = -weight;
            matrix[(u, u)] += weight;
        }
    }
    let (values, vectors) = decompose(&matrix)?;
    let one = |&(u, v, _): &(usize, usize, f64)| {
        let part = |k: usize| (vectors[(u, k)] - vectors[(v, k)]).powi(2) / values[k];
        (1..n).map(part).sum::<f64>() * n as f64 / 2.0
    };
    Ok(edges.iter().map(one).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::family::{Family, generate};
    use crate::mixing::Weights;

    /// Foster's theorem, and known resistances.
    #[test]
    fn resistances_sum_to_the_rank() {
        let families = [
            Family::Ring { n: 9 },
            Family::Star { n: 7 },
            Family::Complete { n: 6 },
            Family::ErdosRenyi { n: 30, p: 0.3 },
        ];
        for family in &families {
            let mixing = Mixing::new(&generate(family, 3, true).unwrap(), Weights::MetropolisPlusOne);
            let n = mixing.nodes() as f64;
            let edges: Vec<_> =
                mixing.graph().edges().map(|(u, v)| (u, v, 2.0 * mixing.weight(u, v) / n)).collect();
            let found = resistances(&mixing, &edges).unwrap();
            let sum: f64 = edges.iter().zip(&found).map(|((_, _, p), resistance)| p * resistance).sum();
            assert!((sum - (n - 1.0)).abs() < 1e-9, "{family}: {sum}");
            let (sharp, rough) = (Exchanges::of(&mixing).unwrap(), Exchanges::by(&mixing, false).unwrap());
            assert!(sharp.resistance <= rough.resistance && sharp.resistance >= n - 1.0, "{family}");
            assert!((sharp.rate - rough.rate).abs() < 1e-9, "{family}");
        }
    }

    #[test]
    fn graphs_in_pieces_are_refused() {
        let pieces = crate::Graph::from_edges(4, [(0, 1), (2, 3)]).unwrap();
        let error = Exchanges::of(&Mixing::new(&pieces, Weights::Metropolis)).unwrap_err().to_string();
        assert!(error.contains("rate"), "{error}");
    }
}
