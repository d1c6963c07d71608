//! Coalitions: Corollary 4, and who sees everything (Appendix G.4).

use sottovoce_privacy::Standing;
use sottovoce_topology::Graph;
use sottovoce_topology::spectrum::Spectrum;

use crate::Result;
use crate::printed::utility::Table1;
use crate::theorem::{Answer, Inputs};

/// The error at a mean loss, up to constants and logarithms; for one observer it is the first line of Table 1.
pub(super) fn corollary_4(inputs: &Inputs) -> Result<Answer> {
    let says = "At a mean Rényi loss of epsilon to V, the error is alpha d_V/(epsilon n² gap^(1/2)), up to constants and logarithms.";
    let (graph, mixing) = inputs.mixing()?;
    let observers = inputs.observers(&graph)?;
    let gap = Spectrum::of(&mixing)?.gap.value.min(1.0);
    let heard = neighbours(&graph, &observers).len();
    let (alpha, epsilon) = (inputs.alpha()?, inputs.epsilon()?);
    let table = Table1::new(graph.nodes(), heard, gap, alpha / epsilon);
    Ok(Answer::new(says, Standing::Published)
        .case("n", graph.nodes() as f64, "peers")
        .case("gap", gap, "spectral gap of the weights")
        .case("d_V", heard as f64, "peers whom the coalition hears")
        .printed("synchronous", table.synchronous, "error of Algorithm 1, without its constants")
        .printed("randomised", table.randomised, "error of Algorithm 2, without its constants")
        .printed("local", table.local, "of local DP")
        .printed("central", table.central, "of a trusted aggregator")
        .note("It rests on the mean loss alone, which is right; a mean is no guarantee for anyone."))
}

/// Whether every message passes the coalition: it holds a dominating set of the graph.
pub(super) fn dominating(inputs: &Inputs) -> Result<Answer> {
    let says = "If the coalition holds a dominating set of the graph, it sees every message, and nothing is better than local DP.";
    let (graph, _) = inputs.mixing()?;
    let observers = inputs.observers(&graph)?;
    let n = graph.nodes();
    let near = neighbours(&graph, &observers).len();
    let rest = n - observers.len() - near;
    let (small, least) = greedy(&graph);
    Ok(Answer::new(says, Standing::Proven)
        .case("n", n as f64, "peers")
        .case("coalition", observers.len() as f64, "peers in it")
        .printed("neighbours", near as f64, "peers of whom the coalition hears the noisy value itself")
        .printed("beyond", rest as f64, "peers who are neither: 0 if the coalition dominates the graph")
        .truth("small set", small as f64, "peers in a dominating set that was found one by one: as many can see everything")
        .truth("at least", least as f64, "peers in every dominating set: n/(largest degree + 1)")
        .note(if rest == 0 {
            "This coalition sees everything: every loss is 1."
        } else {
            "This coalition does not see everything at the first step; what it learns is `account averaging --observers`. Messages of further steps \
             can reveal the rest all the same."
        }))
}

/// Whom the members of a coalition hear, without themselves.
fn neighbours(graph: &Graph, members: &[usize]) -> Vec<usize> {
    (0..graph.nodes())
        .filter(|u| !members.contains(u) && members.iter().any(|&v| graph.has_edge(*u, v)))
        .collect()
}

/// The size of a dominating set, by always taking the peer who adds most; and a number that none is below.
fn greedy(graph: &Graph) -> (usize, usize) {
    let n = graph.nodes();
    let mut covered = vec![false; n];
    let mut size = 0;
    let closed = |u: usize| graph.neighbors(u).iter().map(|&v| v as usize).chain([u]);
    while covered.contains(&false) {
        let gain = |u: usize| closed(u).filter(|&v| !covered[v]).count();
        let best = (0..n).rev().max_by_key(|&u| gain(u)).unwrap_or(0);
        closed(best).for_each(|v| covered[v] = true);
        size += 1;
    }
    let largest = (0..n).map(|u| graph.degree(u)).max().unwrap_or(0);
    (size, n.div_ceil(largest + 1))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use sottovoce_topology::family::{Family, generate};

    #[test]
    fn a_star_is_dominated_by_its_centre_and_a_ring_by_every_third() {
        let graph = |family| generate(&family, 0, true).unwrap();
        assert_eq!(greedy(&graph(Family::Star { n: 9 })), (1, 1));
        assert_eq!(greedy(&graph(Family::Ring { n: 12 })), (4, 4));
    }
}
