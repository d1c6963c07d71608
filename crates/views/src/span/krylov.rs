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
use super::{Rounds, Space, digits, larger};
use crate::basis::Basis;
use crate::exact::gossip::Hidden;

/// Of a product, this is moved in the second computation: four thousand times the rounding.
const MOVED: f64 = 4096.0 * f64::EPSILON;

/// So much the losses may differ then.
const AGREE: f64 = 1e-7;

/// The share of that difference that rounding alone may make, with room to spare.
const SHARE: f64 = 1.0 / 256.0;

/// What `observers` (sorted) hear in `steps` steps; none if it cannot be certified.
pub(crate) fn krylov(mixing: &Mixing, observers: &[usize], steps: usize) -> Option<Space> {
    let rounds = Rounds::powers(mixing, observers, steps, &[]);
    let news = News::of(&rounds);
    certified(mixing, observers, &news)
        .or_else(|| digits::space(&rounds, &news).filter(|space| space.is_certified(&news)))
}

fn certified(mixing: &Mixing, observers: &[usize], news: &News) -> Option<Space> {
    let hidden = Hidden::new(mixing, observers);
    let mut space = doubles(&hidden, mixing.nodes(), news, 0.0)?;
    if !space.is_certified(news) {
        return None;
    }
    let moved = doubles(&hidden, mixing.nodes(), news, MOVED)?;
    let pairs = space.leverages().into_iter().zip(moved.leverages());
    let difference = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, larger);
    space.angle = SHARE * difference + 16.0 * f64::EPSILON;
    (difference <= AGREE).then_some(space)
}

/// The basis in doubles, round by round; none where too little is left of a direction.
fn doubles(hidden: &Hidden, nodes: usize, news: &News, moved: f64) -> Option<Space> {
    let mut basis = Basis::new(nodes).units(hidden.heard());
    let (mut last, mut previous) = (0..basis.rank(), 0);
    let mut draws = super::field::Residues::new(nodes as u64);
    for group in news.messages.chunk_by(|a, b| a.0 == b.0).skip(1) {
        let mut block = hidden.apply_columns(basis.columns(last.clone()));
        if moved > 0.0 {
            block.iter_mut().for_each(|x| *x *= if draws.odd() { 1.0 + moved } else { 1.0 - moved });
        }
        basis.extend(block, group.len(), last.len() + previous)?;
        previous = last.len();
        last = basis.rank() - group.len()..basis.rank();
    }
    Some(Space {
        dimension: nodes,
        rounds: news.messages.iter().map(|(t, _)| *t).collect(),
        columns: basis.into_columns(),
        angle: f64::INFINITY,
    })
}
