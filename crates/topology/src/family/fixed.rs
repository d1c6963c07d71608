//! Families without randomness: the textbook graphs on which results are exact.

use super::check;
use crate::{Error, Graph, Result, require};

/// The cycle `0 - 1 - ... - n-1 - 0`.
pub(super) fn ring(n: usize) -> Result<Graph> {
    check::nodes(n, 3, "a ring needs at least 3 nodes (for 2, use a path)")?;
    circulant(n, [1])
}

/// The line `0 - 1 - ... - n-1`.
pub(super) fn path(n: usize) -> Result<Graph> {
    check::nodes(n, 1, "a path needs at least 1 node")?;
    Graph::from_edges(n, (1..n).map(|v| (v - 1, v)))
}

/// Node 0 joined to all others.
pub(super) fn star(n: usize) -> Result<Graph> {
    check::nodes(n, 2, "a star needs a centre and at least 1 leaf")?;
    Graph::from_edges(n, (1..n).map(|v| (0, v)))
}

/// All pairs.
pub(super) fn complete(n: usize) -> Result<Graph> {
    check::nodes(n, 1, "a complete graph needs at least 1 node")?;
    check::edges("n", n, n as f64 * (n as f64 - 1.0) / 2.0)?;
    Graph::from_edges(n, (0..n).flat_map(|u| (u + 1..n).map(move |v| (u, v))))
}

/// `rows` by `cols` squares without wrap-around; node `(r, c)` is `r * cols + c`.
pub(super) fn grid(rows: usize, cols: usize) -> Result<Graph> {
    check::at_least("rows", rows, 1)?;
    check::at_least("cols", cols, 1)?;
    let n = check::product("rows x cols", &[rows, cols])?;
    let right = (0..n).filter(move |v| v % cols + 1 < cols).map(|v| (v, v + 1));
    let down = (0..n - cols).map(move |v| (v, v + cols));
    Graph::from_edges(n, right.chain(down))
}

/// A grid of any dimension that wraps around in each; the last coordinate varies fastest.
pub(super) fn torus(sides: &[usize]) -> Result<Graph> {
    check::at_least("number of sides", sides.len(), 1)?;
    if let Some(&side) = sides.iter().find(|&&side| side < 3) {
        // With side 2 the way round and the way back are one pair of nodes: the edge would be listed twice.
        let remedy = "each side of a torus must be at least 3 (use grid or hypercube for sides of 2)";
        return Err(Error::parameter("side", side, remedy));
    }
    let n = check::product("product of sides", sides)?;
    check::edges("sides", format!("{sides:?}"), n as f64 * sides.len() as f64)?;
    let strides = strides(sides);
    Graph::from_edges(
        n,
        sides.iter().zip(strides).flat_map(|(&side, stride)| {
            (0..n).map(move |v| {
                let last = v / stride % side + 1 == side;
                (v, if last { v + stride - side * stride } else { v + stride })
            })
        }),
    )
}

/// How far apart neighbours along each side are numbered.
fn strides(sides: &[usize]) -> Vec<usize> {
    (0..sides.len()).map(|axis| sides[axis + 1..].iter().product()).collect()
}

/// `2^dimension` nodes; two are joined when their numbers differ in one bit.
pub(super) fn hypercube(dimension: u32) -> Result<Graph> {
    let remedy = "give a number from 1 to 26 (2^26 nodes)";
    require((1..=26).contains(&dimension), "dimension", dimension, remedy)?;
    let n = 1usize << dimension;
    let upward = move |bit: u32| (0..n).filter(move |v| v >> bit & 1 == 0).map(move |v| (v, v | 1 << bit));
    Graph::from_edges(n, (0..dimension).flat_map(upward))
}

/// Node `i` joined to `i + 2^k` and `i - 2^k` modulo `n`, for every `2^k < n`.
pub(super) fn exponential(n: usize) -> Result<Graph> {
    check::nodes(n, 2, "an exponential graph needs at least 2 nodes")?;
    circulant(n, (0..usize::BITS).map(|k| 1usize << k).take_while(|&offset| offset < n))
}

/// Joins every `i` to `i + offset` modulo `n`; offsets (below `n`) that give the same edges count once.
pub(super) fn circulant(n: usize, offsets: impl IntoIterator<Item = usize>) -> Result<Graph> {
    let mut offsets: Vec<usize> = offsets.into_iter().map(|offset| offset.min(n - offset)).collect();
    offsets.sort_unstable();
    offsets.dedup();
    let edges = offsets.into_iter().flat_map(|offset| {
        // The offset n/2 leads from both ends to the same edge.
        let starts = if 2 * offset == n { offset } else { n };
        (0..starts).map(move |i| (i, (i + offset) % n))
    });
    Graph::from_edges(n, edges)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edges(graph: Result<Graph>) -> Vec<(usize, usize)> {
        graph.unwrap().edges().collect()
    }

    #[test]
    fn small_graphs_have_exactly_these_edges() {
        assert_eq!(edges(ring(4)), [(0, 1), (0, 3), (1, 2), (2, 3)]);
        assert_eq!(edges(path(4)), [(0, 1), (1, 2), (2, 3)]);
        assert_eq!(edges(path(1)), []);
        assert_eq!(edges(star(4)), [(0, 1), (0, 2), (0, 3)]);
        assert_eq!(edges(complete(4)), [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]);
        assert_eq!(edges(grid(2, 3)), [(0, 1), (0, 3), (1, 2), (1, 4), (2, 5), (3, 4), (4, 5)]);
        assert_eq!(edges(grid(1, 3)), edges(path(3)));
        assert_eq!(edges(grid(3, 1)), edges(path(3)));
        assert_eq!(edges(torus(&[5])), edges(ring(5)));
        assert_eq!(edges(hypercube(2)), [(0, 1), (0, 2), (1, 3), (2, 3)]);
    }

    #[test]
    fn a_torus_wraps_around_in_each_dimension() {
        let graph = torus(&[3, 4]).unwrap();
        assert_eq!(graph.neighbors(0), &[1, 3, 4, 8]);
        assert_eq!(graph.neighbors(11), &[3, 7, 8, 10]);
        assert_eq!(graph.edge_count(), 24);
        let cube = torus(&[3, 4, 5]).unwrap();
        assert!((0..60).all(|v| cube.degree(v) == 6));
        assert!(cube.is_connected());
    }

    #[test]
    fn a_hypercube_joins_numbers_that_differ_in_one_bit() {
        let graph = hypercube(6).unwrap();
        assert_eq!(graph.edge_count(), 6 * 32);
        assert!(graph.edges().all(|(u, v)| (u ^ v).count_ones() == 1));
    }

    #[test]
    fn exponential_steps_are_powers_of_two_both_ways() {
        let graph = exponential(10).unwrap();
        // +-1, +-2, +-4, +-8, where +8 = -2 and -8 = +2.
        assert_eq!(graph.neighbors(0), &[1, 2, 4, 6, 8, 9]);
        assert_eq!(edges(exponential(2)), [(0, 1)]);
        assert_eq!(edges(exponential(3)), edges(complete(3)));
        assert_eq!(edges(exponential(4)), edges(complete(4)));
        assert_eq!(exponential(8).unwrap().neighbors(0), &[1, 2, 4, 6, 7]);
    }

    #[test]
    fn bad_sizes_are_refused_with_a_remedy() {
        let refused = |graph: Result<Graph>, text: &str| {
            let message = graph.unwrap_err().to_string();
            assert!(message.contains(text), "{message}");
        };
        refused(ring(2), "`n` is 2: a ring needs at least 3 nodes");
        refused(path(0), "`n` is 0");
        refused(star(1), "`n` is 1");
        refused(complete(1_000_000), "more than 250000000 edges");
        refused(grid(0, 3), "`rows` is 0");
        refused(grid(usize::MAX, 2), "`rows x cols` is");
        refused(torus(&[4, 2]), "`side` is 2: each side of a torus must be at least 3");
        refused(torus(&[]), "`number of sides` is 0");
        refused(torus(&[1 << 40, 1 << 40]), "`product of sides` is");
        refused(hypercube(0), "`dimension` is 0");
        refused(hypercube(40), "`dimension` is 40");
        refused(exponential(1), "`n` is 1");
    }
}
