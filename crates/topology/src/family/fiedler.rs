//! Geometric graphs at a target normalised Fiedler value: the graphs of consensus deep learning (P3).
//!
//! The normalised Fiedler value of a graph is the second smallest eigenvalue of its Laplacian divided by `n`: 0 for
//! disconnected graphs, 1 for the complete graph only. Points are drawn, pairs are sorted by distance, and edges are
//! added from the nearest pair on. The value never decreases on the way, so the number of edges that comes nearest to
//! the target is found by bisection. It moves in steps, so some sets of points pass the target by; then new points
//! are drawn.

use super::check;
use super::draw::Draw;
use super::geometric::{points, squared};
use crate::spectrum::fiedler;
use crate::{Error, Graph, Result, require};

/// How far, in proportion to the target, the normalised Fiedler value of the graph may be from it.
pub const FIEDLER_TOLERANCE: f64 = 0.02;

/// Sets of points tried before the target is called out of reach.
const DRAWS: u32 = 200;

/// Every bisection step costs a dense eigenvalue problem.
const MOST_NODES: usize = 2000;

/// A geometric graph drawn at a target normalised Fiedler value, and how near it came.
#[derive(Debug, Clone, PartialEq)]
pub struct FiedlerDraw {
    /// The graph, with its coordinates.
    pub graph: Graph,
    /// Its normalised Fiedler value (second smallest Laplacian eigenvalue divided by the number of nodes).
    pub achieved: f64,
    /// Points at most this far apart are joined.
    pub radius: f64,
}

/// Draws `n` points in the unit square and joins those within a radius chosen so that the normalised Fiedler value is
/// within [`FIEDLER_TOLERANCE`] of `target`, in proportion; the graph is always connected.
///
/// ```
/// use sottovoce_topology::family::geometric_at_fiedler;
/// let drawn = geometric_at_fiedler(10, 0.06, 1)?;
/// assert!((drawn.achieved / 0.06 - 1.0).abs() <= 0.02);
/// assert!(drawn.graph.is_connected());
/// # Ok::<(), sottovoce_topology::Error>(())
/// ```
pub fn geometric_at_fiedler(n: usize, target: f64, seed: u64) -> Result<FiedlerDraw> {
    check::nodes(n, 2, "a graph at a Fiedler value needs at least 2 nodes")?;
    require(n <= MOST_NODES, "n", n, format!("give at most {MOST_NODES}: eigenvalues are computed densely"))?;
    let remedy = "give a number above 0 (not connected) and up to 1 (the complete graph)";
    require(target > 0.0 && target <= 1.0, "target", target, remedy)?;
    let mut nearest: Option<FiedlerDraw> = None;
    for attempt in 0..DRAWS {
        let drawn = Nested::new(points(n, &mut Draw::new(seed, super::purpose::FIEDLER, attempt)))
            .nearest_to(target)?;
        let miss = |drawn: &FiedlerDraw| (drawn.achieved - target).abs();
        if miss(&drawn) <= FIEDLER_TOLERANCE * target {
            return Ok(drawn);
        }
        if nearest.as_ref().is_none_or(|nearest| miss(&drawn) < miss(nearest)) {
            nearest = Some(drawn);
        }
    }
    let achieved = nearest.map_or(0.0, |nearest| nearest.achieved);
    let remedy = format!(
        "no geometric graph on {n} nodes came within {} % of it in {DRAWS} draws; the nearest value was {achieved:.6}",
        100.0 * FIEDLER_TOLERANCE
    );
    Err(Error::parameter("target", target, remedy))
}

/// The nested geometric graphs on one set of points: number `k` has the `k` shortest pairs as edges.
struct Nested {
    points: Vec<[f64; 2]>,
    pairs: Vec<(f64, usize, usize)>,
}

impl Nested {
    fn new(points: Vec<[f64; 2]>) -> Self {
        let mut pairs: Vec<_> = (0..points.len())
            .flat_map(|u| (u + 1..points.len()).map(move |v| (u, v)))
            .map(|(u, v)| (squared(points[u], points[v]), u, v))
            .collect();
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
        Self { points, pairs }
    }

    fn graph(&self, edges: usize) -> Result<Graph> {
        Graph::from_edges(self.points.len(), self.pairs[..edges].iter().map(|&(_, u, v)| (u, v)))
    }

    /// The normalised Fiedler value with that many edges.
    fn value(&self, edges: usize) -> Result<f64> {
        let graph = self.graph(edges)?;
        // Exactly zero, rather than an eigenvalue solver's idea of it.
        if graph.is_connected() { Ok(fiedler(&graph)? / self.points.len() as f64) } else { Ok(0.0) }
    }

    /// The connected graph whose value is nearest to `target`.
    fn nearest_to(&self, target: f64) -> Result<FiedlerDraw> {
        // Invariant: the value is below the target with `low` edges and not below it with `high`.
        let (mut low, mut high) = (0, self.pairs.len());
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            *(if self.value(middle)? < target { &mut low } else { &mut high }) = middle;
        }
        let (below, above) = (self.value(low)?, self.value(high)?);
        let (edges, achieved) =
            if below > 0.0 && target - below <= above - target { (low, below) } else { (high, above) };
        let graph = self.graph(edges)?.with_coordinates(self.points.clone())?;
        Ok(FiedlerDraw { graph, achieved, radius: self.pairs[edges - 1].0.sqrt() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_target_is_met_within_the_tolerance() {
        for (n, target) in [(10, 0.06), (10, 0.2), (10, 0.5), (10, 1.0), (20, 0.01), (40, 0.1), (2, 1.0)] {
            for seed in 0..3 {
                let drawn = geometric_at_fiedler(n, target, seed).unwrap();
                let value = fiedler(&drawn.graph).unwrap() / n as f64;
                assert!((value - drawn.achieved).abs() < 1e-12);
                assert!(
                    (value - target).abs() <= FIEDLER_TOLERANCE * target,
                    "n = {n}, target {target}: {value}"
                );
            }
        }
    }

    #[test]
    fn the_graph_joins_exactly_the_points_within_the_radius() {
        let drawn = geometric_at_fiedler(15, 0.1, 4).unwrap();
        let points = drawn.graph.coordinates().unwrap();
        for u in 0..15 {
            for v in 0..u {
                let near = squared(points[u], points[v]).sqrt() <= drawn.radius;
                assert_eq!(drawn.graph.has_edge(u, v), near);
            }
        }
    }

    #[test]
    fn bisection_agrees_with_trying_every_number_of_edges() {
        let nested = Nested::new(points(8, &mut Draw::new(3, 0, 0)));
        for target in [0.03, 0.1, 0.33, 0.7, 0.95] {
            let miss = |edges: usize| (nested.value(edges).unwrap() - target).abs();
            let connected = (1..=28).filter(|&edges| nested.graph(edges).unwrap().is_connected());
            let best = connected.map(miss).fold(f64::INFINITY, f64::min);
            let found = (nested.nearest_to(target).unwrap().achieved - target).abs();
            assert!((found - best).abs() < 1e-12, "target {target}: {found} against {best}");
        }
    }

    #[test]
    fn unreachable_targets_are_refused_with_the_nearest_value() {
        // One edge short of complete, the value is 1 - 2/n = 0.8: nothing lies between that and 1.
        let message = geometric_at_fiedler(10, 0.9, 1).unwrap_err().to_string();
        assert!(
            message.contains("`target` is 0.9: no geometric graph on 10 nodes came within 2 %"),
            "{message}"
        );
        assert!(
            message.contains("the nearest value was 0.800000") || message.contains("1.000000"),
            "{message}"
        );
        for target in [0.0, -1.0, 1.5, f64::NAN] {
            assert!(
                geometric_at_fiedler(10, target, 1)
                    .unwrap_err()
                    .to_string()
                    .contains("give a number above 0")
            );
        }
        assert!(geometric_at_fiedler(1, 0.5, 1).is_err());
        assert!(geometric_at_fiedler(5000, 0.5, 1).is_err());
    }
}
