//! The computation of [`krylov`](super::krylov()) in more digits than doubles have, for the same matrix: the last orthonormal block is
//! multiplied, and the known number of new directions is taken from what is left of it.
//!
//! Two computations rather than one over a number type: doubles are multiplied in blocks, by vector instructions, and are projected
//! by what is left of a length; here a direction is taken by its size in fixed point, and there may be no digits left at all.

use super::Space;
use super::echelon::News;
use super::field::Residues;
use super::fixed::Fixed;
use super::orthonormal::{Basis, dot};
use super::rows::Rounds;

/// Products are moved by so many bits more than their rounding.
const MOVED: u32 = 36;

/// The part of the difference that rounding makes, with room for sums of a million terms.
const SHARE: f64 = 1.0 / (1 << 14) as f64;

/// Most products of words to spend: some seconds.
const MOST_WORK: f64 = 1e10;

type Attempt = fn(&Rounds, &News) -> Option<Space>;

/// The space of what is heard over one symmetric matrix; none if that takes too many digits.
pub(crate) fn space(rounds: &Rounds, news: &News) -> Option<Space> {
    let (rank, n) = (news.messages.len() as f64, rounds.nodes() as f64);
    let affordable = |words: f64| 4.0 * rank * rank * n * (0.5 * words * words + words) <= MOST_WORK;
    let attempts: [(f64, Attempt); 4] =
        [(2.0, attempt::<2>), (4.0, attempt::<4>), (8.0, attempt::<8>), (16.0, attempt::<16>)];
    let within = attempts.iter().take_while(|(words, _)| affordable(*words));
    within.into_iter().find_map(|(_, attempt)| attempt(rounds, news))
}

fn attempt<const L: usize>(rounds: &Rounds, news: &News) -> Option<Space> {
    let (space, moved) =
        rayon::join(|| directions::<L>(rounds, news, false), || directions::<L>(rounds, news, true));
    let (mut space, moved) = (space?, moved?);
    space.angle = 16.0 * f64::EPSILON;
    space.confirmed_by(&moved, SHARE).filter(|space| space.is_certified(news))
}

/// The basis, round by round; none where no digits are left.
fn directions<const L: usize>(rounds: &Rounds, news: &News, moved: bool) -> Option<Space> {
    let mix = rounds.mixer::<Fixed<L>>();
    let mut basis = Basis::<L>::new();
    let mut draws = Residues::new(rounds.nodes() as u64);
    let (mut last, mut previous) = (0..0, 0);
    for group in news.messages.chunk_by(|a, b| a.0 == b.0) {
        let mut block: Vec<Vec<Fixed<L>>> = match last.is_empty() {
            true => group.iter().map(|&(_, w)| rounds.unit(w)).collect(),
            false => basis.directions[last.clone()].iter().map(|x| mix(x)).collect(),
        };
        if moved {
            block.iter_mut().flatten().for_each(|x| *x = stirred(x, &mut draws));
        }
        // All but rounding is along the last two blocks, or new.
        let from = last.start - previous;
        block.iter_mut().for_each(|row| basis.remove_from(from, row));
        block.iter_mut().for_each(|row| basis.remove_from(0, row));
        previous = last.len();
        last = basis.directions.len()..basis.directions.len() + group.len();
        take(&mut basis, block, group.len())?;
    }
    Some(Space {
        dimension: rounds.nodes(),
        columns: basis.directions.iter().flatten().map(|x| x.to_f64()).collect(),
        rounds: news.messages.iter().map(|(t, _)| *t).collect(),
        angle: f64::INFINITY,
    })
}

/// Takes the longest remainder in, again and again.
fn take<const L: usize>(basis: &mut Basis<L>, mut block: Vec<Vec<Fixed<L>>>, count: usize) -> Option<()> {
    for _ in 0..count {
        let size = |row: &Vec<Fixed<L>>| dot(row, row).room();
        let longest = (0..block.len()).min_by_key(|&i| size(&block[i]))?;
        let row = block.swap_remove(longest);
        let newest = basis.directions.len();
        if !basis.push(row, Vec::new()) {
            return None;
        }
        block.iter_mut().for_each(|row| basis.remove_from(newest, row));
        block.iter_mut().for_each(|row| basis.remove_from(newest, row));
    }
    Some(())
}

/// Moved by a random sign times a small part of itself.
fn stirred<const L: usize>(x: &Fixed<L>, draws: &mut Residues) -> Fixed<L> {
    let part = x.halved_by(Fixed::<L>::DIGITS - MOVED);
    if draws.odd() { x.plus(&part) } else { x.minus(&part) }
}
