//! Gossip over one symmetric matrix, in doubles: block Lanczos with the number of new directions known, and two ways to notice that
//! doubles are not enough.
//!
//! Observers know their own values, so of everyone else's they see the messages of their neighbours `E`, mixed by `B`, the matrix
//! without the observers' rows and columns: the span of `E, B E, ..., B^(T-1) E`. The powers become parallel exponentially fast; so
//! the last *orthonormal* block is multiplied instead, and what is left of it beside all earlier ones is orthonormalised, twice. How
//! many directions are new in each round is known exactly (`hankel.rs`), so that rounding is never taken for news and news never for
//! rounding. What rounding does to their directions is measured: the same computation, with every product moved by thousands of times
//! the rounding, must give the same losses. Otherwise, more digits are taken.

use sottovoce_topology::mixing::Mixing;

use super::echelon::News;
use super::field::Residues;
use super::hankel::{self, Powers};
use super::{Rounds, Space, digits};
use crate::basis::Basis;
use crate::exact::gossip::Hidden;

/// Of a product, this is moved in the second computation: four thousand times the rounding.
const MOVED: f64 = 4096.0 * f64::EPSILON;

/// The share of the difference that rounding alone may make, with room to spare.
const SHARE: f64 = 1.0 / 256.0;

/// Remainders above this leave nothing in doubt ...
const CLEAR: f64 = 0.02;
/// ... and are looked at again for one in so many all the same, where everyone is asked about.
const EVERY: usize = 8;

/// What `observers` (sorted) hear in `steps` steps; none if it cannot be certified.
pub(crate) fn krylov(mixing: &Mixing, observers: &[usize], steps: usize) -> Option<Space> {
    // Every round with news has a new direction: after as many as there are peers, none is left.
    let rounds = Rounds::powers(mixing, observers, steps.min(mixing.nodes()), &[]);
    space(mixing, &rounds, &hankel::of(&rounds), 1.0)
}

/// The rank of what `observers` (sorted) hear in `steps` steps.
pub(crate) fn rank(mixing: &Mixing, observers: &[usize], steps: usize) -> usize {
    let rounds = Rounds::powers(mixing, observers, steps.min(mixing.nodes()), &[]);
    hankel::of(&rounds).messages.len()
}

/// What every peer hears on its own.
pub(crate) struct AllPairs<'a> {
    mixing: &'a Mixing,
    steps: usize,
    /// The matrix, as seen by nobody yet.
    rounds: Rounds,
    /// None where they are too many.
    powers: Option<Powers>,
}

impl<'a> AllPairs<'a> {
    pub(crate) fn new(mixing: &'a Mixing, steps: usize) -> Self {
        let graph = mixing.graph();
        let neighbours = |v: usize| graph.neighbors(v).iter().map(|&w| w as usize);
        let near = |u: usize| {
            let mut near: Vec<usize> =
                neighbours(u).flat_map(neighbours).chain(neighbours(u)).chain([u]).collect();
            near.sort_unstable();
            near.dedup();
            near
        };
        let rounds = Rounds::powers(mixing, &[], 1, &[]);
        // As far as the first peer hears anything new, and two rounds more: most others will not need further.
        let steps = steps.min(mixing.nodes());
        let first = hankel::of(&rounds.seen_by(0, neighbours(0).collect(), steps));
        let enough = first.messages.last().map_or(1, |last| last.0 + 3).min(steps);
        let powers = Powers::new(&rounds, (0..mixing.nodes()).map(near).collect(), enough);
        Self { mixing, steps, rounds, powers }
    }

    /// What one peer hears; none if it cannot be certified.
    pub(crate) fn of(&self, observer: usize) -> Option<Space> {
        let senders = self.mixing.graph().neighbors(observer).iter().map(|&w| w as usize).collect();
        let rounds = self.rounds.seen_by(observer, senders, self.steps);
        let shared =
            self.powers.as_ref().and_then(|powers| powers.news(observer, rounds.senders(), self.steps));
        let news = shared.unwrap_or_else(|| hankel::of(&rounds));
        // What is far from any doubt is moved for one peer in eight only.
        space(self.mixing, &rounds, &news, if observer.is_multiple_of(EVERY) { 1.0 } else { CLEAR })
    }
}

fn space(mixing: &Mixing, rounds: &Rounds, news: &News, clear: f64) -> Option<Space> {
    certified(mixing, rounds.observers(), news, clear)
        .or_else(|| digits::space(rounds, news).filter(|space| space.is_certified(news)))
}

/// In doubles. Where no remainder is shorter than `clear`, the second computation is left out.
fn certified(mixing: &Mixing, observers: &[usize], news: &News, clear: f64) -> Option<Space> {
    let hidden = Hidden::new(mixing, observers);
    let run = |moved: f64, room: Vec<f64>| doubles(&hidden, mixing.nodes(), news, moved, room);
    let twin = |room: Vec<f64>| run(MOVED, room).map(|(space, _)| (space.leverages(), space.columns));
    // The second computation comes first where it is made in any case: its memory serves the other.
    let (before, room) = if clear >= 1.0 { twin(Vec::new()).unzip() } else { (None, None) };
    let (mut space, shortest) = run(0.0, room.unwrap_or_default())?;
    space.angle = 16.0 * f64::EPSILON / shortest;
    if !space.is_certified(news) {
        return None;
    }
    if shortest >= clear {
        return Some(space);
    }
    let moved = if clear >= 1.0 { before } else { twin(Vec::new()).map(|(losses, _)| losses) };
    space.confirmed_by(&moved?, SHARE)
}

/// The basis in doubles, round by round, in memory that may have served before, and the shortest remainder; none where too little is left of a direction.
fn doubles(hidden: &Hidden, nodes: usize, news: &News, moved: f64, room: Vec<f64>) -> Option<(Space, f64)> {
    let mut basis = Basis::within(room, nodes, news.messages.len()).units(&hidden.heard());
    let (mut last, mut previous) = (0..basis.rank(), 0);
    let (mut draws, mut shortest) = (Residues::new(nodes as u64), 1.0);
    for group in news.messages.chunk_by(|a, b| a.0 == b.0).skip(1) {
        let mut block = hidden.apply_columns(basis.columns(last.clone()));
        if moved > 0.0 {
            stir(&mut block, moved, &mut draws);
        }
        let length = basis.extend(block, group.len(), last.len() + previous)?;
        shortest = if length < shortest { length } else { shortest };
        previous = last.len();
        last = basis.rank() - group.len()..basis.rank();
    }
    let rounds = news.messages.iter().map(|(t, _)| *t).collect();
    let space = Space { dimension: nodes, rounds, columns: basis.into_columns(), angle: f64::INFINITY };
    Some((space, shortest))
}

/// Moves every number up or down by a small part of it.
fn stir(block: &mut [f64], moved: f64, draws: &mut Residues) {
    let factors = [1.0 - moved, 1.0 + moved];
    for some in block.chunks_mut(60) {
        let bits = draws.bits();
        some.iter_mut().enumerate().for_each(|(i, x)| *x *= factors[(bits >> i & 1) as usize]);
    }
}
