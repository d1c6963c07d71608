//! Whether a polynomial that was made for a part of the spectrum serves for all of it.
//!
//! Polynomials for the narrowest interval have the fewest terms, but an eigenvalue that was missed would give wrong losses without a word.
//! So the same is computed twice for a few random columns: by the polynomial at hand, and by one for an interval that leaves room. An
//! eigenvalue where the two differ by `d`, with an eigenvector `v`, shows as `d (v·x) v` in each column `x`, and would show in the matrix as
//! `d v vᵀ`: with entries of `v` at most 1 these are no larger, unless all of the `v·x`, which are of size 1, are small at once.

use super::clenshaw::{Polynomial, Scratch, Start};
use super::ends::sign;
use super::kernel::{Row, centre};
use crate::parallel;

/// Random columns to compare.
const COLUMNS: usize = 8;

/// How far two polynomials of the same function may be apart in a column of signs.
const APART: f64 = 1e-10;

type Block = Vec<Row<f64, COLUMNS>>;

/// The first of the candidates that agrees with `wide`.
pub(super) fn first_to_agree(
    candidates: Vec<Polynomial>,
    wide: &Polynomial,
    nodes: usize,
) -> Option<Polynomial> {
    let start: Block =
        (0..nodes).map(|u| Row(std::array::from_fn(|i| sign(nodes + u * COLUMNS + i)))).collect();
    let columns = |i: usize| {
        let mut scratch = Scratch::default();
        // The wide one first, which takes longest.
        let polynomial = if i == 0 { wide } else { &candidates[i - 1] };
        let mut rows = polynomial.apply(Start::Block(&start), &mut scratch).to_vec();
        centre(&mut rows);
        rows
    };
    let blocks = parallel::map(candidates.len() + 1, columns, |_| ());
    let (wide, blocks) = blocks.split_first()?;
    candidates.into_iter().zip(blocks).find(|(_, block)| agree(wide, block)).map(|(candidate, _)| candidate)
}

fn agree(a: &Block, b: &Block) -> bool {
    let pairs = a.iter().flat_map(|row| row.0).zip(b.iter().flat_map(|row| row.0));
    // Written so that numbers that are none do not agree.
    pairs.into_iter().all(|(a, b)| (a - b).abs() <= APART)
}
