//! Independent edges: Erdős–Rényi graphs and the stochastic block model, of which they are the case of one block.
//!
//! Pairs of nodes are numbered, block by block, and the draw jumps from one edge to the next, so the cost is linear in
//! nodes and edges rather than in pairs.

use super::check;
use super::draw::Draw;
use crate::{Graph, GraphBuilder, Result, require};

/// Each of the `n(n-1)/2` pairs is an edge independently with probability `p`.
pub(super) fn erdos_renyi(n: usize, p: f64, draw: &mut Draw) -> Result<Graph> {
    check::nodes(n, 1, "a random graph needs at least 1 node")?;
    check::probability("p", p)?;
    check::edges("p", p, pairs_within(n) as f64 * p)?;
    let mut builder = GraphBuilder::new(n)?;
    within(0, n, p, draw, &mut builder)?;
    builder.build()
}

/// Nodes in consecutive blocks of the given sizes; a pair with ends in blocks `a` and `b` is an edge independently
/// with probability `probabilities[a][b]`.
pub(super) fn stochastic_block(
    sizes: &[usize],
    probabilities: &[Vec<f64>],
    draw: &mut Draw,
) -> Result<Graph> {
    let n = check_blocks(sizes, probabilities)?;
    let starts: Vec<usize> =
        sizes.iter().scan(0, |next, &size| Some(std::mem::replace(next, *next + size))).collect();
    let mut builder = GraphBuilder::new(n)?;
    for a in 0..sizes.len() {
        within(starts[a], sizes[a], probabilities[a][a], draw, &mut builder)?;
        for b in a + 1..sizes.len() {
            between((starts[a], sizes[a]), (starts[b], sizes[b]), probabilities[a][b], draw, &mut builder)?;
        }
    }
    builder.build()
}

/// Edges inside one block of `size` nodes from `start` on.
fn within(start: usize, size: usize, p: f64, draw: &mut Draw, builder: &mut GraphBuilder) -> Result<()> {
    // Pair number `index` is (row, index - row(row-1)/2): row 1 has one pair, row 2 two. Rows only ever advance.
    let (mut row, mut first) = (1u64, 0u64);
    draw.bernoulli(pairs_within(size), p, |index| {
        while index - first >= row {
            first += row;
            row += 1;
        }
        builder.edge(start + row as usize, start + (index - first) as usize)
    })
}

/// Edges between two blocks, each given as (start, size).
fn between(
    a: (usize, usize),
    b: (usize, usize),
    p: f64,
    draw: &mut Draw,
    builder: &mut GraphBuilder,
) -> Result<()> {
    let columns = b.1 as u64;
    draw.bernoulli(a.1 as u64 * columns, p, |index| {
        builder.edge(a.0 + (index / columns) as usize, b.0 + (index % columns) as usize)
    })
}

/// Pairs among `size` nodes.
fn pairs_within(size: usize) -> u64 {
    let size = size as u64;
    size * size.saturating_sub(1) / 2
}

/// Checks sizes and matrix; returns the number of nodes.
fn check_blocks(sizes: &[usize], probabilities: &[Vec<f64>]) -> Result<usize> {
    let k = sizes.len();
    let n = sizes.iter().try_fold(0usize, |sum, &size| sum.checked_add(size)).unwrap_or(usize::MAX);
    check::nodes(n, 1, "give the size of at least one block with at least 1 node")?;
    let shape = || format!("give {k} rows of {k} probabilities, one for each pair of blocks");
    let remedy = shape();
    require(probabilities.len() == k, "probabilities", format_args!("{} rows", probabilities.len()), remedy)?;
    let mut expected = 0.0;
    for (a, row) in probabilities.iter().enumerate() {
        require(row.len() == k, "probabilities", format_args!("{} in row {a}", row.len()), shape())?;
        for (b, &p) in row.iter().enumerate() {
            check::probability("probabilities", p)?;
            let value = format_args!("{p} for blocks {a} and {b}");
            let remedy = "the matrix must be symmetric";
            require(p == probabilities[b].get(a).copied().unwrap_or(p), "probabilities", value, remedy)?;
            expected += p * sizes[a] as f64 * sizes[b] as f64 / 2.0;
        }
    }
    check::edges("probabilities", format!("{probabilities:?}"), expected)?;
    Ok(n)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(seed: u64) -> Draw {
        Draw::new(seed, 0, 0)
    }

    /// Whether a binomial count is within 5 deviations of its mean (a fair draw fails once in 1.7 million seeds).
    fn plausible(count: usize, trials: u64, p: f64) -> bool {
        let mean = trials as f64 * p;
        (count as f64 - mean).abs() <= 5.0 * (mean * (1.0 - p)).sqrt()
    }

    #[test]
    fn erdos_renyi_has_the_expected_number_of_edges() {
        for (seed, p) in [(1, 0.001), (2, 0.01), (3, 0.3), (4, 0.9)] {
            let graph = erdos_renyi(2000, p, &mut draw(seed)).unwrap();
            assert!(plausible(graph.edge_count(), 2000 * 1999 / 2, p), "p = {p}: {}", graph.edge_count());
        }
    }

    #[test]
    fn every_pair_is_equally_likely() {
        // 10 pairs of 5 nodes, 4000 graphs at p = 0.4: each pair within 5 sigma.
        let mut counts = [[0usize; 5]; 5];
        let mut draw = draw(9);
        for _ in 0..4000 {
            erdos_renyi(5, 0.4, &mut draw).unwrap().edges().for_each(|(u, v)| counts[u][v] += 1);
        }
        assert!((0..5).all(|u| (u + 1..5).all(|v| plausible(counts[u][v], 4000, 0.4))), "{counts:?}");
    }

    #[test]
    fn certain_and_impossible_edges() {
        assert_eq!(erdos_renyi(7, 1.0, &mut draw(0)).unwrap().edge_count(), 21);
        assert_eq!(erdos_renyi(7, 0.0, &mut draw(0)).unwrap().edge_count(), 0);
        assert_eq!(erdos_renyi(1, 0.5, &mut draw(0)).unwrap().nodes(), 1);
    }

    #[test]
    fn each_pair_of_blocks_has_its_own_density() {
        let (sizes, p) = ([300, 500, 200], [[0.2, 0.01, 0.05], [0.01, 0.1, 0.0], [0.05, 0.0, 0.5]]);
        let graph = stochastic_block(&sizes, &p.map(Vec::from), &mut draw(11)).unwrap();
        let block = |v: usize| if v < 300 { 0 } else { 1 + usize::from(v >= 800) };
        let mut counts = [[0usize; 3]; 3];
        graph.edges().for_each(|(u, v)| counts[block(u)][block(v)] += 1);
        for a in 0..3 {
            assert!(plausible(counts[a][a], pairs_within(sizes[a]), p[a][a]), "{counts:?}");
            for b in a + 1..3 {
                assert!(plausible(counts[a][b], (sizes[a] * sizes[b]) as u64, p[a][b]), "{counts:?}");
            }
        }
    }

    #[test]
    fn certain_blocks_give_exact_edges() {
        let p = vec![vec![0.0, 1.0], vec![1.0, 0.0]];
        let graph = stochastic_block(&[2, 3], &p, &mut draw(1)).unwrap();
        assert_eq!(graph.edges().collect::<Vec<_>>(), [(0, 2), (0, 3), (0, 4), (1, 2), (1, 3), (1, 4)]);
    }

    #[test]
    fn bad_parameters_are_refused() {
        let refused = |graph: Result<Graph>, text: &str| {
            let message = graph.unwrap_err().to_string();
            assert!(message.contains(text), "{message}");
        };
        refused(erdos_renyi(0, 0.5, &mut draw(0)), "`n` is 0");
        refused(erdos_renyi(5, f64::NAN, &mut draw(0)), "`p` is NaN: give a probability");
        refused(erdos_renyi(1 << 26, 0.5, &mut draw(0)), "more than 250000000 edges");
        refused(stochastic_block(&[], &[], &mut draw(0)), "at least one block");
        refused(stochastic_block(&[2, 2], &[vec![0.1, 0.2]], &mut draw(0)), "1 rows");
        refused(stochastic_block(&[2], &[vec![0.1, 0.2]], &mut draw(0)), "2 in row 0");
        let skewed = [vec![0.1, 0.2], vec![0.3, 0.1]];
        refused(
            stochastic_block(&[2, 2], &skewed, &mut draw(0)),
            "0.2 for blocks 0 and 1: the matrix must be symmetric",
        );
        refused(stochastic_block(&[2], &[vec![1.5]], &mut draw(0)), "`probabilities` is 1.5");
        refused(stochastic_block(&[usize::MAX, 2], &skewed, &mut draw(0)), "`n` is");
    }
}
