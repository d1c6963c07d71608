//! The projection on everything heard, by the Gram matrix of the orthonormal pieces of all iterations.
//!
//! With `A` the rows `Q_t' [.. F_(t-1), I, 0 ..]`, the block of a peer is `P_st = a_s' (A A')^-1 a_t`. The matrix `A A'` is
//! *well conditioned whatever is heard*: `A = Q' L` with `Q` orthonormal and `L` the map from noises to states, whose inverse
//! `z_t = x_t - F_(t-1) x_(t-1)` has norm at most 2, and which has norm at most `T` itself, as `|F| <= 1`. So its
//! eigenvalues lie between `1/4` and `T²`, and rounding moves a loss by a relative `4 T² u (16 + dim)`, which is added.

use std::ops::Range;

use sottovoce_dense::{Mat, MatRef, cholesky, solve_lower};

use super::bound::largest_shift;
use super::spaces::Spaces;
use crate::parallel;

/// Numbers that the solutions of one piece of work may take.
const PIECE: usize = 16_000_000;
/// Peers in a piece of work, at most.
const PEERS: usize = 64;

/// The rows of all iterations, and the factor of their Gram matrix.
struct Gram<'a> {
    spaces: &'a Spaces,
    /// Where the rows of each iteration begin, and where the last end.
    offsets: Vec<usize>,
    lower: Mat,
}

/// Total rank.
pub(super) fn rank(spaces: &Spaces) -> usize {
    (0..spaces.iterations).map(|t| spaces.rank(t)).sum()
}

/// The loss of every peer: an upper bound.
pub(super) fn losses(spaces: &Spaces) -> Vec<f64> {
    let (nodes, rank) = (spaces.nodes, rank(spaces));
    if rank == 0 {
        return vec![0.0; nodes];
    }
    // A matrix with these eigenvalues has a factor; if not, nothing is promised beyond local privacy.
    let Some(gram) = Gram::new(spaces) else { return vec![spaces.iterations as f64; nodes] };
    let steps = spaces.iterations as f64;
    let rounding = 4.0 * steps * steps * f64::EPSILON * (16.0 + rank as f64);
    // Directions off by an angle, carried along and solved for, and summed over all pairs of steps.
    let doubt = 4.0 * steps * steps * steps * spaces.angle;
    let width = (PIECE / (rank * spaces.iterations)).clamp(1, PEERS);
    let piece = |i: usize| {
        let blocks = gram.blocks(i * width..((i + 1) * width).min(nodes));
        blocks.iter().map(|block| larger(largest_shift(block, rounding), doubt, steps)).collect::<Vec<f64>>()
    };
    parallel::map(nodes.div_ceil(width), piece, |_| ()).concat()
}

/// A loss and what is in doubt of it; nothing of what is not heard at all.
fn larger(loss: f64, doubt: f64, most: f64) -> f64 {
    if loss == 0.0 { 0.0 } else { (loss + doubt).min(most) }
}

impl<'a> Gram<'a> {
    fn new(spaces: &'a Spaces) -> Option<Self> {
        let mut offsets = vec![0];
        (0..spaces.iterations).for_each(|t| offsets.push(offsets[t] + spaces.rank(t)));
        let size = offsets[spaces.iterations];
        let mut gram = Mat::zeros(size, size);
        for t in 0..spaces.iterations {
            for s in 0..=t {
                let block = product(spaces, &gram, &offsets, t, s);
                gram.set(offsets[t], offsets[s], &block);
            }
        }
        let lower = cholesky(&gram)?;
        Some(Self { spaces, offsets, lower })
    }

    /// The block `P` of each of these peers.
    fn blocks(&self, peers: Range<usize>) -> Vec<Mat> {
        let steps = self.spaces.iterations;
        let solved: Vec<Mat> = (0..steps).map(|s| self.solve(s, peers.clone())).collect();
        let entry = |i: usize, s: usize, t: usize| {
            // The later of the two begins further down.
            let (first, second) = (solved[s].col(i), solved[t].col(i));
            let common = first.len().min(second.len());
            let (first, second) = (&first[first.len() - common..], &second[second.len() - common..]);
            first.iter().zip(second).map(|(x, y)| x * y).sum::<f64>()
        };
        let block = |i: usize| {
            let mut block = Mat::zeros(steps, steps);
            for t in 0..steps {
                for s in 0..=t {
                    block[(t, s)] = entry(i, s, t);
                    block[(s, t)] = block[(t, s)];
                }
            }
            block
        };
        (0..peers.len()).map(block).collect()
    }

    /// `L^-1 a_(u,s)` for these peers `u`, without the zeros of the iterations before `s`.
    fn solve(&self, s: usize, peers: Range<usize>) -> Mat {
        let (from, nodes) = (self.offsets[s], self.spaces.nodes);
        let size = self.offsets[self.spaces.iterations] - from;
        let mut columns = Mat::zeros(size, peers.len());
        for t in s..self.spaces.iterations {
            for (row, column) in self.spaces.over(t, s).chunks_exact(nodes).enumerate() {
                let row = self.offsets[t] - from + row;
                peers.clone().enumerate().for_each(|(i, u)| columns[(row, i)] = column[u]);
            }
        }
        let factor = self.lower.submatrix(from, from, size, size);
        solve_lower(factor, &mut columns);
        columns
    }
}

/// Block `(t, s)` of the Gram matrix: a period earlier it was the same but for the first noises.
fn product(spaces: &Spaces, gram: &Mat, offsets: &[usize], t: usize, s: usize) -> Mat {
    let (rows, columns, period) = (spaces.rank(t), spaces.rank(s), spaces.period());
    let mut block = match (t.checked_sub(period), s.checked_sub(period)) {
        (Some(t), Some(s)) => gram.submatrix(offsets[t], offsets[s], rows, columns).to_owned(),
        _ => Mat::zeros(rows, columns),
    };
    for r in 0..period.min(s + 1) {
        let left = MatRef::from_slice(spaces.over(t, r), spaces.nodes, rows);
        let right = MatRef::from_slice(spaces.over(s, r), spaces.nodes, columns);
        block.as_mut().add_product(1.0, left.transpose(), right);
    }
    block
}
