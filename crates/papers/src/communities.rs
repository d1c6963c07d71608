//! Communities by label propagation (Raghavan, Albert and Kumara, 2007), in a fixed order, so that a graph always falls apart in
//! the same way.

use std::collections::BTreeMap;

use sottovoce_topology::Graph;

/// Label propagation settles in a few rounds; where it goes round in circles it is stopped.
const ROUNDS: usize = 100;

/// A label for each peer: everyone takes the one most of its neighbours have, and keeps its own among equals.
pub(super) fn communities(graph: &Graph) -> Vec<usize> {
    let mut labels: Vec<usize> = (0..graph.nodes()).collect();
    for _ in 0..ROUNDS {
        let mut changed = false;
        for u in 0..graph.nodes() {
            let next = most_frequent(graph, &labels, u);
            changed |= next != labels[u];
            labels[u] = next;
        }
        if !changed {
            break;
        }
    }
    labels
}

fn most_frequent(graph: &Graph, labels: &[usize], u: usize) -> usize {
    let mut votes: BTreeMap<usize, usize> = BTreeMap::new();
    graph.neighbors(u).iter().for_each(|&v| *votes.entry(labels[v as usize]).or_default() += 1);
    let most = votes.values().copied().max().unwrap_or(0);
    let leading: Vec<usize> =
        votes.into_iter().filter(|(_, votes)| *votes == most).map(|(label, _)| label).collect();
    // Among equals one's own, else that of the peer who comes last in the order and has not yet been asked: the labels of those
    // who have would flood everything.
    if leading.contains(&labels[u]) { labels[u] } else { leading.last().copied().unwrap_or(labels[u]) }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn two_cliques_and_a_bridge_are_two_communities() {
        let clique = |from: usize| (from..from + 6).flat_map(move |u| (u + 1..from + 6).map(move |v| (u, v)));
        let graph = Graph::from_edges(12, clique(0).chain(clique(6)).chain([(5, 6)])).unwrap();
        let labels = communities(&graph);
        assert!(labels[..6].iter().all(|label| *label == labels[0]));
        assert!(labels[6..].iter().all(|label| *label == labels[6]) && labels[0] != labels[6]);
    }
}
