//! Graphs with a history: preferential attachment (Barabási–Albert) and rewired rings (Watts–Strogatz).

use super::check;
use super::draw::{Draw, EdgeSet};
use super::fixed::circulant;
use crate::{Graph, GraphBuilder, Result, require};

/// Grows a star on `m + 1` nodes to `n` nodes: each newcomer joins `m` distinct nodes, drawn in proportion to their
/// degrees. Always connected, with `m (n - m)` edges.
pub(super) fn barabasi_albert(n: usize, m: usize, draw: &mut Draw) -> Result<Graph> {
    check::nodes(n, 2, "preferential attachment needs at least 2 nodes")?;
    check::at_least("m", m, 1)?;
    require(m < n, "m", m, format!("it must be below the number of nodes, {n}"))?;
    check::edges("m", m, m as f64 * (n - m) as f64)?;
    let mut builder = GraphBuilder::new(n)?;
    // Every node is in here once for each edge it has, so a uniform draw is proportional to degree.
    let mut ends: Vec<u32> = Vec::with_capacity(2 * m * (n - m));
    for leaf in 1..=m {
        builder.edge(0, leaf)?;
        ends.extend([0, leaf as u32]);
    }
    let mut chosen_by = vec![u32::MAX; n];
    for newcomer in m + 1..n {
        let choices = ends.len();
        while ends.len() < choices + 2 * m {
            let node = ends[draw.below(choices)];
            if chosen_by[node as usize] != newcomer as u32 {
                chosen_by[node as usize] = newcomer as u32;
                builder.edge(newcomer, node as usize)?;
                ends.extend([node, newcomer as u32]);
            }
        }
    }
    builder.build()
}

/// A ring in which each node is joined to its `k` nearest (`k/2` on each side), then each edge `{u, u + j}` has its
/// far end moved, with probability `beta`, to a node drawn uniformly among those `u` is not joined to.
pub(super) fn watts_strogatz(n: usize, k: usize, beta: f64, draw: &mut Draw) -> Result<Graph> {
    check::nodes(n, 3, "a small world needs at least 3 nodes")?;
    check::probability("beta", beta)?;
    let remedy = format!("give an even number from 2 to below the {n} nodes");
    require(k >= 2 && k % 2 != 1 && k < n, "k", k, remedy)?;
    check::edges("k", k, n as f64 * k as f64 / 2.0)?;
    if beta == 0.0 {
        return circulant(n, 1..=k / 2);
    }
    let mut present = EdgeSet::with_capacity(n * k / 2);
    let mut edges: Vec<(u32, u32)> = Vec::with_capacity(n * k / 2);
    for j in 1..=k / 2 {
        edges.extend((0..n).map(|u| (u as u32, ((u + j) % n) as u32)));
    }
    let mut degrees = vec![k; n];
    edges.iter().for_each(|&(u, v)| _ = present.insert(u, v));
    for (u, v) in &mut edges {
        // A node joined to all others has nowhere to move an edge to.
        if degrees[*u as usize] < n - 1 && draw.chance(beta) {
            let target = stranger(n, *u, &present, draw);
            present.remove(*u, *v);
            present.insert(*u, target);
            degrees[*v as usize] -= 1;
            degrees[target as usize] += 1;
            *v = target;
        }
    }
    Graph::from_edges(n, edges.into_iter().map(|(u, v)| (u as usize, v as usize)))
}

/// A uniformly drawn node that `u` is not joined to (there must be one).
fn stranger(n: usize, u: u32, present: &EdgeSet, draw: &mut Draw) -> u32 {
    loop {
        let target = draw.below(n) as u32;
        if target != u && !present.contains(u, target) {
            return target;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(seed: u64) -> Draw {
        Draw::new(seed, 0, 0)
    }

    #[test]
    fn preferential_attachment_has_its_edges_and_its_hubs() {
        let graph = barabasi_albert(5000, 3, &mut draw(1)).unwrap();
        assert_eq!(graph.edge_count(), 3 * 4997);
        assert!(graph.is_connected());
        assert!((4..5000).all(|v| graph.degree(v) >= 3));
        // The largest degree grows as m sqrt(n) = 212 here; attachment without preference would stay near 6 ln n = 30.
        let largest = (0..5000).map(|v| graph.degree(v)).max().unwrap();
        assert!(largest > 80, "{largest}");
    }

    #[test]
    fn preferential_attachment_follows_the_limit_law() {
        // The limiting share of nodes of degree m is 2/(m + 2): 0.5 for m = 2. At n = 20,000 the standard deviation
        // of the share is below 0.0036, so 5 deviations are 0.018.
        let graph = barabasi_albert(20_000, 2, &mut draw(2)).unwrap();
        let share = (0..20_000).filter(|&v| graph.degree(v) == 2).count() as f64 / 20_000.0;
        assert!((share - 0.5).abs() < 0.018, "{share}");
    }

    #[test]
    fn the_smallest_growths_are_stars() {
        let graph = barabasi_albert(4, 3, &mut draw(1)).unwrap();
        assert_eq!(graph.edges().collect::<Vec<_>>(), [(0, 1), (0, 2), (0, 3)]);
    }

    #[test]
    fn without_rewiring_a_small_world_is_a_ring_lattice() {
        let graph = watts_strogatz(10, 4, 0.0, &mut draw(1)).unwrap();
        assert!((0..10).all(|u| [1, 2].iter().all(|j| graph.has_edge(u, (u + j) % 10))));
        assert_eq!(graph.edge_count(), 20);
        // A tiny probability takes the general route and must give the same lattice.
        assert_eq!(watts_strogatz(10, 4, 1e-12, &mut draw(1)).unwrap(), graph);
    }

    #[test]
    fn rewiring_moves_the_expected_number_of_edges() {
        let (n, k) = (4000usize, 6usize);
        for beta in [0.1, 0.5, 1.0] {
            let graph = watts_strogatz(n, k, beta, &mut draw(3)).unwrap();
            assert_eq!(graph.edge_count(), n * k / 2);
            assert!((0..n).all(|u| graph.degree(u) >= k / 2));
            let moved = graph.edges().filter(|&(u, v)| (v - u).min(n - (v - u)) > k / 2).count() as f64;
            // 5 deviations, and up to k/n of the moves may land on a lattice edge that was moved before.
            let (mean, trials) = (beta * (n * k / 2) as f64, (n * k / 2) as f64);
            let slack = 5.0 * (trials * beta * (1.0 - beta)).sqrt() + 2.0 * mean * k as f64 / n as f64 + 5.0;
            assert!((moved - mean).abs() < slack, "beta = {beta}: {moved} against {mean}");
        }
    }

    #[test]
    fn a_full_small_world_stays_complete() {
        assert_eq!(watts_strogatz(5, 4, 1.0, &mut draw(1)).unwrap().edge_count(), 10);
    }

    #[test]
    fn bad_parameters_are_refused() {
        let refused = |graph: Result<Graph>, text: &str| {
            let message = graph.unwrap_err().to_string();
            assert!(message.contains(text), "{message}");
        };
        refused(barabasi_albert(5, 0, &mut draw(0)), "`m` is 0: give at least 1");
        refused(barabasi_albert(5, 5, &mut draw(0)), "`m` is 5: it must be below");
        refused(barabasi_albert(1, 1, &mut draw(0)), "`n` is 1");
        refused(watts_strogatz(10, 3, 0.1, &mut draw(0)), "`k` is 3: give an even number");
        refused(watts_strogatz(4, 4, 0.1, &mut draw(0)), "`k` is 4");
        refused(watts_strogatz(10, 4, -0.5, &mut draw(0)), "`beta` is -0.5");
    }
}
