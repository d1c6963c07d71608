//! An orthonormal basis of the messages, in as many digits as it takes, with a bound on its error.
//!
//! The messages that are news are known exactly, so that none is taken for another; what is left is to find their directions. They
//! become parallel as values mix, by a factor in every round, and each bit of that costs a bit of precision. Let `A` have the
//! independent messages as rows, each computed up to `E`. Elimination gives `A + E = L U`, with `E` as small as the digits, and doubled doubles
//! `U = T Q`. The space of the rows is off by an angle of at most `|E| |(L T)^-1|`, which is known when `L` and `T` are: if it is too large, the same is
//! done with twice the digits.

use super::Space;
use super::doubled::{self, orthonormal};
use super::echelon::News;
use super::elimination::Elimination;
use super::field::Residues;
use super::fixed::Fixed;
use super::larger;
use super::rows::Source;
use super::wide::Wide;

/// Angles below this are good enough; they are added to the losses.
const ANGLE: f64 = 1e-10;
/// Where the coefficients themselves are in doubles, this must do.
const ROUNDED: f64 = 1e-7;

/// Most products of words to spend: some ten seconds.
const MOST_WORK: f64 = 2e10;

/// Units by which dividing a row by its pivot may put `L U` off: 32 (the pivot) times the 32 (an entry) times the quotient's 6 and the product's 2.
const DIVISION: f64 = 8192.0;

/// Random signs to estimate a norm with, and the factor by which none of them falls short.
const PROBES: u64 = 8;
const SAFETY: f64 = 64.0;

type Attempt<S> = fn(&S, &News) -> Option<Space>;

/// The space of the messages that are news; none if that takes too many digits.
pub(crate) fn space<S: Source>(source: &S, news: &News) -> Option<Space> {
    // Numbers in fixed point end at 128; a NaN fits nowhere.
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
    within.into_iter().find_map(|(_, attempt)| attempt(source, news))
}

/// Whether so many words a number are within reach.
pub(crate) fn affordable(source: &impl Source, news: &News, words: usize) -> bool {
    let (rank, n) = (news.messages.len() as f64, source.variables() as f64);
    let products = 0.5 * (words * words) as f64 + words as f64;
    (0.5 * rank * rank * n - rank * rank * rank / 6.0 + source.products()) * products <= MOST_WORK
}

fn attempt<const L: usize, S: Source>(source: &S, news: &News) -> Option<Space> {
    let mut messages = Elimination::<L>::new(source.variables());
    let mut whole = true;
    source.each::<Fixed<L>>(
        |t, w| news.messages.binary_search(&(t, w)).is_ok(),
        |_, _, row| {
            whole = whole && messages.add(row);
            whole
        },
    );
    if whole { conclude(messages, source, news) } else { None }
}

/// The space of all messages that are news, if it is known well enough.
pub(crate) fn conclude<const L: usize>(
    mut messages: Elimination<L>,
    source: &impl Source,
    news: &News,
) -> Option<Space> {
    let rows = messages.finish().filter(|rows| rows.len() == news.messages.len())?;
    let (n, rank) = (source.variables() as f64, rows.len() as f64);
    let (directions, triangle) = orthonormal(rows)?;
    // Logarithms: the last place may be below all doubles.
    let entries = 0.5 * (n * rank + 1.0).log2();
    let (units, relative) = source.error();
    let last = (units + 2.0 * rank + DIVISION).log2() - f64::from(Fixed::<L>::DIGITS);
    let norm = norm(&[&messages.lower, &triangle]);
    let exact = (last + entries + norm).exp2();
    let doubled = doubled::ROUNDING * n * rank * (entries + self::norm(&[&triangle])).exp2();
    let rounded = (relative.log2() + 0.5 * messages.square.log2() + norm).exp2();
    (exact + doubled <= ANGLE && rounded <= ROUNDED).then(|| Space {
        dimension: source.variables(),
        columns: directions.into_iter().flat_map(|(high, _)| high).collect(),
        rounds: news.messages.iter().map(|(t, _)| *t).collect(),
        angle: exact + doubled + rounded,
    })
}

/// `log2` of a bound on the norm of the inverse of a product of lower triangles: in the mean over random signs `s`, the square of `|R^-1 s|` is that of the
/// Frobenius norm.
fn norm(factors: &[&Vec<Vec<Wide>>]) -> f64 {
    let solved = |seed: u64| {
        let mut draws = Residues::new(seed);
        let rank = factors[0].len();
        let mut x: Vec<Wide> =
            (0..rank).map(|_| Wide::new(if draws.odd() { 1.0 } else { -1.0 }, 0)).collect();
        for triangle in factors {
            for i in 0..rank {
                let (own, others) = triangle[i].split_last().expect("a triangle has a diagonal");
                let known = others.iter().zip(&x).fold(x[i], |rest, (t, x)| rest.plus(t.times(x.negated())));
                x[i] = known.over(*own);
            }
        }
        0.5 * x.iter().fold(Wide::ZERO, |sum, x| sum.plus(x.times(*x))).log2()
    };
    (0..PROBES).map(solved).fold(f64::NEG_INFINITY, larger) + SAFETY.log2()
}
