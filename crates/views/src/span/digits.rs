//! An orthonormal basis of the messages, in as many digits as it takes, with a bound on its error.
//!
//! The messages that are news are known exactly, so that none is taken for another; what is left is to find their directions. They
//! become parallel as values mix, by a factor in every round, and each bit of that costs a bit of precision. Let `A` have the
//! independent messages as rows, each computed up to `E`, and `A = R' Q`. The space of the rows is off by an angle of at most
//! `|E| |R^-1|`, which is known when `R` is: if it is too large, the same is done with twice the digits.

use super::Space;
use super::echelon::News;
use super::fixed::Fixed;
use super::orthonormal::Basis;
use super::rows::Source;

/// Angles below this are good enough; they are added to the losses.
const ANGLE: f64 = 1e-10;
/// Where the coefficients themselves are in doubles, this must do.
const ROUNDED: f64 = 1e-7;

/// Most products of words to spend: some ten seconds.
const MOST_WORK: f64 = 2e10;

type Attempt<S> = fn(&S, &News) -> Option<Space>;

/// The space of the messages that are news; none if that takes too many digits.
pub(crate) fn space<S: Source>(source: &S, news: &News) -> Option<Space> {
    // Numbers in fixed point end at 128, and so do sums of squares; a NaN fits nowhere.
    Some(source.growth()).filter(|growth| *growth <= 8.0)?;
    let attempts: [(usize, Attempt<S>); 7] = [
        (2, attempt::<2, S>),
        (4, attempt::<4, S>),
        (8, attempt::<8, S>),
        (16, attempt::<16, S>),
        (32, attempt::<32, S>),
        (64, attempt::<64, S>),
        (128, attempt::<128, S>),
    ];
    // Where the coefficients themselves are rounded, more digits do not help.
    let useful = if source.error().1 > 0.0 { 2 } else { attempts.len() };
    let within = attempts[..useful].iter().take_while(|(words, _)| affordable(source, news, *words));
    // Within the pool: its threads are then awake for every row.
    rayon::scope(|_| within.into_iter().find_map(|(_, attempt)| attempt(source, news)))
}

/// Whether so many words a number are within reach.
pub(crate) fn affordable(source: &impl Source, news: &News, words: usize) -> bool {
    let (rank, n) = (news.messages.len() as f64, source.variables() as f64);
    let products = 0.5 * (words * words) as f64 + words as f64;
    (2.0 * rank * rank * n + source.products()) * products <= MOST_WORK
}

fn attempt<const L: usize, S: Source>(source: &S, news: &News) -> Option<Space> {
    let mut basis = Basis::<L>::new();
    let mut whole = true;
    source.each::<Fixed<L>>(
        |t, w| news.messages.binary_search(&(t, w)).is_ok(),
        |_, _, row| {
            whole = whole && basis.add(row.to_vec());
            whole
        },
    );
    if whole { conclude(&basis, source, news) } else { None }
}

/// The space of a basis of all that is news, if it is known well enough.
pub(crate) fn conclude<const L: usize>(basis: &Basis<L>, source: &impl Source, news: &News) -> Option<Space> {
    if basis.directions.len() != news.messages.len() {
        return None;
    }
    let (angle, rounded) = basis.angle(source);
    (angle <= ANGLE && rounded <= ROUNDED).then(|| Space {
        dimension: source.variables(),
        columns: basis.directions.iter().flatten().map(|x| x.to_f64()).collect(),
        rounds: news.messages.iter().map(|(t, _)| *t).collect(),
        angle: angle + rounded,
    })
}
