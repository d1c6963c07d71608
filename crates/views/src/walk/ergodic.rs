//! Whether a walk forgets where it began.

use sottovoce_topology::mixing::Mixing;

use crate::{Result, require};

/// Refuses a walk that does not reach everyone, or that is at some peers at even times only: its law does not converge, and the
/// closed forms for long walks (Theorem 3, mixing times) do not hold. Weights of 0 are no edges.
///
/// ```
/// use sottovoce_topology::{family::{Family, generate}, mixing::{Mixing, Weights}};
/// use sottovoce_views::walk::require_ergodic;
/// let even = Mixing::new(&generate(&Family::Ring { n: 6 }, 0, true)?, Weights::Metropolis);
/// assert!(require_ergodic(&even).unwrap_err().to_string().contains("laziness"));
/// require_ergodic(&even.lazy(0.1)?)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn require_ergodic(mixing: &Mixing) -> Result<()> {
    mixing.check()?;
    let (reached, periodic) = explore(mixing);
    let value = format!("not connected: a walk from peer 0 reaches {reached} of {} peers", mixing.nodes());
    let remedy = "connect the graph by edges of positive weight, or take its largest component";
    require(reached >= mixing.nodes(), "graph", value, remedy)?;
    let value = "periodic: the graph is bipartite and nobody keeps the token";
    let remedy = "add laziness (say 0.1), or take weights 1/(max degree + 1)";
    require(!periodic, "mixing", value, remedy)
}

/// How many peers are reached from peer 0, and whether they fall into two sides without an edge within either.
fn explore(mixing: &Mixing) -> (usize, bool) {
    let mut side: Vec<Option<bool>> = vec![None; mixing.nodes()];
    let mut queue = Vec::new();
    if let Some(first) = side.first_mut() {
        *first = Some(false);
        queue.push((0, false));
    }
    let (mut reached, mut periodic) = (0, true);
    while let Some((u, mine)) = queue.pop() {
        reached += 1;
        periodic &= mixing.diagonal()[u] <= 0.0;
        for (v, _) in mixing.row(u).filter(|(_, weight)| *weight > 0.0) {
            match side[v] {
                Some(other) => periodic &= other != mine,
                None => {
                    side[v] = Some(!mine);
                    queue.push((v, !mine));
                }
            }
        }
    }
    (reached, periodic)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sottovoce_topology::Graph;
    use sottovoce_topology::mixing::Weights;

    fn ring(n: usize) -> Graph {
        Graph::from_edges(n, (0..n).map(|u| (u, (u + 1) % n))).unwrap()
    }

    #[test]
    fn bipartite_and_broken_walks_are_refused() {
        require_ergodic(&Mixing::new(&ring(5), Weights::Metropolis)).unwrap();
        require_ergodic(&Mixing::new(&ring(6), Weights::MetropolisPlusOne)).unwrap();
        let error = require_ergodic(&Mixing::new(&ring(6), Weights::Metropolis)).unwrap_err().to_string();
        assert!(error.starts_with("`mixing` is periodic") && error.contains("laziness"), "{error}");
        let pieces = Graph::from_edges(4, [(0, 1), (2, 3)]).unwrap();
        let pieces = Mixing::new(&pieces, Weights::MetropolisPlusOne);
        let error = require_ergodic(&pieces).unwrap_err().to_string();
        assert!(error.contains("reaches 2 of 4") && error.contains("connect the graph"), "{error}");
    }

    /// A star's leaves keep the token, so it is not periodic although it is bipartite.
    #[test]
    fn one_who_keeps_the_token_is_enough() {
        let star = Graph::from_edges(4, [(0, 1), (0, 2), (0, 3)]).unwrap();
        require_ergodic(&Mixing::new(&star, Weights::Metropolis)).unwrap();
    }

    #[test]
    fn a_weight_of_zero_is_no_edge() {
        let path = Graph::from_edges(3, [(0, 1), (1, 2)]).unwrap();
        let mixing = Mixing::from_entries(&path, [(0, 1, 0.5), (1, 2, 0.0)]).unwrap();
        assert!(require_ergodic(&mixing).unwrap_err().to_string().contains("reaches 2 of 3"));
    }
}
