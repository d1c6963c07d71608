//! Random regular graphs: every peer has the same number of neighbours.
//!
//! The pairing (configuration) model: each node gets `d` points, all points are matched at random, and each matched
//! pair is an edge. A pairing without loops and repeated edges is a uniformly random simple `d`-regular graph, so small
//! graphs are first redrawn whole, which nearly always ends in an exactly uniform graph up to degree 4.
//!
//! Otherwise loops and repeats, about `(d² - 1)/4` of them whatever `n`, are repaired by switching: a bad pair `{u, v}`
//! and a random good edge `{x, y}` become `{u, x}` and `{v, y}` if both are new edges. For fixed `d` and growing `n`
//! the result tends to the uniform distribution in total variation (S. Janson, "Random graphs with given vertex
//! degrees and switchings", 2020). Expected time is linear in the edges. Above half density the complement is drawn
//! instead, which is just as regular and leaves switches room to succeed.

use super::check;
use super::draw::{Draw, EdgeSet};
use super::fixed::complete;
use crate::{Error, Graph, GraphBuilder, Result, require};

/// Pairings repaired before giving up; one nearly always suffices, a few where the graph is tiny.
const REPAIRED: usize = 1000;

/// Pairings that must be simple as they are before repairs are allowed, for graphs with few points.
const EXACT: usize = 300;

/// Few points: [`EXACT`] pairings of so many take milliseconds.
const FEW: usize = 4000;

/// A random graph on `n` nodes in which every node has `degree` neighbours.
pub(super) fn random_regular(n: usize, degree: usize, draw: &mut Draw) -> Result<Graph> {
    check::nodes(n, 1, "a regular graph needs at least 1 node")?;
    require(degree < n, "degree", degree, format!("it must be below the number of nodes, {n}"))?;
    let remedy = format!("the number of nodes ({n}) times the degree must be even; change one of them by 1");
    require(n % 2 != 1 || degree % 2 != 1, "degree", degree, remedy)?;
    check::edges("degree", degree, n as f64 * degree as f64 / 2.0)?;
    if 2 * degree > n - 1 {
        return complement(&random_regular(n, n - 1 - degree, draw)?);
    }
    let exact = if n * degree <= FEW { EXACT } else { 0 };
    for pairing in 0..exact + REPAIRED {
        if let Some(edges) = paired(n, degree, pairing >= exact, draw) {
            return Graph::from_edges(n, edges.into_iter().map(|(u, v)| (u as usize, v as usize)));
        }
    }
    let remedy = format!("no simple graph in {REPAIRED} pairings; try another seed");
    Err(Error::parameter("degree", degree, remedy))
}

/// One pairing; none if it is not simple and may not be repaired, or the repair is stuck.
fn paired(n: usize, degree: usize, may_repair: bool, draw: &mut Draw) -> Option<Vec<(u32, u32)>> {
    let mut points: Vec<u32> = (0..n as u32).flat_map(|node| std::iter::repeat_n(node, degree)).collect();
    draw.shuffle(&mut points);
    let mut present = EdgeSet::with_capacity(points.len() / 2);
    let (mut good, mut bad) = (Vec::with_capacity(points.len() / 2), Vec::new());
    for pair in points.chunks_exact(2) {
        let (u, v) = (pair[0], pair[1]);
        if u != v && present.insert(u, v) {
            good.push((u, v));
        } else if !may_repair {
            return None;
        } else {
            bad.push((u, v));
        }
    }
    for pair in bad {
        repair(pair, &mut good, &mut present, draw)?;
    }
    Some(good)
}

/// Replaces a bad pair and one good edge by two good edges.
fn repair(
    (u, v): (u32, u32),
    good: &mut Vec<(u32, u32)>,
    present: &mut EdgeSet,
    draw: &mut Draw,
) -> Option<()> {
    // Where switches are possible at all, most succeed at once; the bound only ends hopeless cases.
    for _ in 0..100 + 10 * good.len() {
        if good.is_empty() {
            return None;
        }
        let chosen = draw.below(good.len());
        let (mut x, mut y) = good[chosen];
        if draw.chance(0.5) {
            std::mem::swap(&mut x, &mut y);
        }
        let new = |a: u32, b: u32| a != b && !present.contains(a, b);
        let same = (u.min(x), u.max(x)) == (v.min(y), v.max(y));
        if new(u, x) && new(v, y) && !same {
            present.remove(x, y);
            present.insert(u, x);
            present.insert(v, y);
            good[chosen] = (u, x);
            good.push((v, y));
            return Some(());
        }
    }
    None
}

/// The graph of all missing edges.
fn complement(graph: &Graph) -> Result<Graph> {
    let n = graph.nodes();
    if graph.edge_count() == 0 {
        return complete(n);
    }
    let mut builder = GraphBuilder::new(n)?;
    for u in 0..n {
        let mut taken = graph.neighbors(u).iter().map(|&v| v as usize).filter(|&v| v > u).peekable();
        for v in u + 1..n {
            if taken.next_if_eq(&v).is_none() {
                builder.edge(u, v)?;
            }
        }
    }
    builder.build()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn every_small_case_is_regular() {
        for n in 1..=12usize {
            for degree in (0..n).filter(|degree| n * degree % 2 == 0) {
                for seed in 0..20 {
                    let graph = random_regular(n, degree, &mut Draw::new(seed, 0, 0)).unwrap();
                    assert!((0..n).all(|v| graph.degree(v) == degree), "n = {n}, d = {degree}, seed {seed}");
                }
            }
        }
    }

    #[test]
    fn dense_and_half_dense_graphs_are_regular() {
        for degree in [99, 100, 101, 198] {
            let graph = random_regular(200, degree, &mut Draw::new(3, 0, 0)).unwrap();
            assert!((0..200).all(|v| graph.degree(v) == degree));
        }
    }

    #[test]
    fn small_graphs_are_uniform() {
        // The 2-regular graphs on 6 nodes are 60 hexagons and 10 pairs of triangles. In 70,000 draws each comes 1000
        // times, give or take 5 deviations of 31.4.
        let mut counts = BTreeMap::new();
        let mut draw = Draw::new(4, 0, 0);
        for _ in 0..70_000 {
            let graph = random_regular(6, 2, &mut draw).unwrap();
            *counts.entry(graph.edges().collect::<Vec<_>>()).or_insert(0i32) += 1;
        }
        assert_eq!(counts.len(), 70);
        assert!(counts.values().all(|&count| (count - 1000).abs() < 157), "{:?}", counts.values());
    }

    #[test]
    fn repaired_graphs_have_as_many_triangles_as_uniform_ones() {
        // In uniform 3-regular graphs the triangles tend to a Poisson number of mean (d - 1)^3/6 = 4/3. These graphs
        // have too many points to be redrawn whole; 300 of them leave a deviation of 0.067 in the mean.
        let (n, graphs) = (2000, 300);
        let mut draw = Draw::new(8, 0, 0);
        let mut triangles = 0;
        for _ in 0..graphs {
            let graph = random_regular(n, 3, &mut draw).unwrap();
            for (u, v) in graph.edges() {
                let above = graph.neighbors(u).iter().map(|&w| w as usize).filter(|&w| w > v);
                triangles += above.filter(|&w| graph.has_edge(v, w)).count();
            }
        }
        let mean = triangles as f64 / f64::from(graphs);
        assert!((mean - 4.0 / 3.0).abs() < 5.0 * 0.067, "{mean}");
    }

    #[test]
    fn repairs_alone_give_regular_graphs() {
        let repaired = (0..200).filter_map(|seed| paired(12, 5, true, &mut Draw::new(seed, 0, 0)));
        let graphs: Vec<_> = repaired
            .map(|edges| {
                Graph::from_edges(12, edges.into_iter().map(|(u, v)| (u as usize, v as usize))).unwrap()
            })
            .collect();
        // A repair may be stuck, but seldom.
        assert!(graphs.len() > 150, "{}", graphs.len());
        assert!(graphs.iter().all(|graph| (0..12).all(|v| graph.degree(v) == 5)));
    }

    #[test]
    fn impossible_degrees_are_refused() {
        let message = |n, degree| random_regular(n, degree, &mut Draw::new(0, 0, 0)).unwrap_err().to_string();
        assert_eq!(message(5, 5), "`degree` is 5: it must be below the number of nodes, 5");
        assert!(message(5, 3).contains("times the degree must be even"));
        assert!(message(0, 0).contains("`n` is 0"));
    }
}
