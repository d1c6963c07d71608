//! The space that messages span, exactly: which of them are news is decided in exact arithmetic, where they point in as many digits as
//! it takes, and what cannot be certified is not returned.
//!
//! ```text
//! rounds (weights as fractions) ──► residues modulo a prime: which messages are news, who is exposed      echelon.rs
//!                              └──► digits: directions of these messages, with a bound on their error     digits.rs
//! ```
//!
//! The mixing matrix of a fixed graph has a faster way, in doubles ([`krylov`]), which is checked against the first and falls back to the
//! second.

mod alike;
mod coupled;
mod digits;
mod doubled;
mod echelon;
mod elimination;
mod field;
mod fixed;
mod hankel;
mod krylov;
mod rows;
mod together;
mod weight;
mod wide;

pub(crate) use coupled::Coupled;
pub(crate) use krylov::{AllPairs, krylov, rank};
pub(crate) use rows::Rounds;
pub(crate) use together::together;

use crate::parallel;

/// Variables that are looked at together: what the first cache holds.
const PIECE: usize = 2048;

/// An orthonormal basis of what was heard, in order of time.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Space {
    pub(crate) dimension: usize,
    /// Columns one after the other.
    pub(crate) columns: Vec<f64>,
    /// The round in which each direction was first heard, never falling.
    pub(crate) rounds: Vec<usize>,
    /// The angle to the true space is at most this.
    pub(crate) angle: f64,
}

impl Space {
    /// What messages from anywhere span; none if it cannot be certified.
    pub(crate) fn of(source: &impl rows::Source) -> Option<Self> {
        let news = echelon::News::of(source);
        digits::space(source, &news).filter(|space| space.is_certified(&news))
    }

    /// What messages span that are given by their coefficients; none if it cannot be certified.
    pub(crate) fn given(variables: usize, rows: Vec<Vec<f64>>) -> Option<Self> {
        Self::of(&rows::Given::new(variables, rows))
    }

    /// Forgets all but the first variables.
    pub(crate) fn keep(&mut self, variables: usize) {
        let kept = self.columns.chunks_exact(self.dimension.max(1)).flat_map(|column| &column[..variables]);
        self.columns = kept.copied().collect();
        self.dimension = variables;
    }

    /// Number of columns.
    pub(crate) fn rank(&self) -> usize {
        self.rounds.len()
    }

    pub(crate) fn column(&self, i: usize) -> &[f64] {
        &self.columns[i * self.dimension..(i + 1) * self.dimension]
    }

    /// The squared length of the projection of each unit vector: how much of each variable is seen.
    pub(crate) fn leverages(&self) -> Vec<f64> {
        let (mut sums, n) = (vec![0.0; self.dimension], self.dimension.max(1));
        parallel::fill(&mut sums, PIECE, |i, sums| {
            for column in self.columns.chunks_exact(n) {
                sums.iter_mut().zip(&column[i * PIECE..]).for_each(|(sum, x)| *sum += x * x);
            }
        });
        sums
    }

    /// The same, if these are the losses of its twin, computed with all products moved by far more than their rounding; `share` of
    /// the difference is what rounding alone may have made of it, and widens the angle.
    fn confirmed_by(mut self, twin: &[f64], share: f64) -> Option<Self> {
        const AGREE: f64 = 1e-7;
        let pairs = self.leverages().into_iter().zip(twin);
        let difference = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, larger);
        self.angle += share * difference;
        (difference <= AGREE).then_some(self)
    }

    /// What must hold of a true answer: losses are at most 1, sum to the rank, and are 1 for those who are exposed.
    fn is_certified(&self, news: &echelon::News) -> bool {
        const TOLERANCE: f64 = 1e-9;
        let losses = self.leverages();
        let sum: f64 = losses.iter().sum();
        let rank = news.messages.len();
        self.rank() == rank
            && (sum - rank as f64).abs() <= TOLERANCE * (1.0 + rank as f64)
            && losses.iter().all(|loss| *loss <= 1.0 + TOLERANCE)
            && news.exposed.iter().all(|&u| losses[u] >= 1.0 - TOLERANCE)
    }
}

/// The larger; a NaN is larger than all.
fn larger(a: f64, b: f64) -> f64 {
    if b.is_nan() || b > a { b } else { a }
}
