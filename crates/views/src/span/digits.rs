//! An orthonormal basis of the messages, in as many digits as it takes, with a bound on its error.
//!
//! The messages that are news are known exactly, so that none is taken for another; what is left is to find their directions. They
//! become parallel as values mix, by a factor in every round, and each bit of that costs a bit of precision. Let `A` have the
//! independent messages as rows, each computed up to `E`, and `A = R' Q`. The space of the rows is off by an angle of at most
//! `|E| |R^-1|`, which is known when `R` is: if it is too large, the same is done with twice the digits.

use super::echelon::News;
use super::fixed::Fixed;
use super::rows::Source;
use super::{Space, larger};

/// Angles below this are good enough; they are added to the losses.
const ANGLE: f64 = 1e-10;
/// Where the coefficients themselves are in doubles, this must do.
const ROUNDED: f64 = 1e-7;

/// Most products of words to spend: some ten seconds.
const MOST_WORK: f64 = 2e10;

/// Random signs to estimate a norm with, and the factor by which none of them falls short.
const PROBES: u64 = 8;
const SAFETY: f64 = 64.0;

type Attempt<S> = fn(&S, &News) -> Option<Space>;

/// The space of the messages that are news; none if that takes too many digits.
pub(crate) fn space<S: Source>(source: &S, news: &News) -> Option<Space> {
    if !(source.growth() <= 8.0) {
        return None;
    }
    let affordable = |words: usize| work(source, news, words) <= MOST_WORK;
    let attempts: [(usize, Attempt<S>); 7] = [
        (2, attempt::<2, S>),
        (4, attempt::<4, S>),
        (8, attempt::<8, S>),
        (16, attempt::<16, S>),
        (32, attempt::<32, S>),
        (64, attempt::<64, S>),
        (128, attempt::<128, S>),
    ];
    let within = attempts.iter().take_while(|(words, _)| affordable(*words));
    within.into_iter().find_map(|(_, attempt)| attempt(source, news))
}

fn work(source: &impl Source, news: &News, words: usize) -> f64 {
    let (rank, n) = (news.messages.len() as f64, source.variables() as f64);
    let products = 0.5 * (words * words) as f64 + words as f64;
    2.0 * rank * rank * n * products
}

fn attempt<const L: usize, S: Source>(source: &S, news: &News) -> Option<Space> {
    let mut basis = Basis::<L> { directions: Vec::new(), triangle: Vec::new() };
    let mut whole = true;
    source.each::<Fixed<L>>(
        |t, w| news.messages.binary_search(&(t, w)).is_ok(),
        |_, _, row| {
            whole = whole && basis.add(row.to_vec());
            whole
        },
    );
    let (angle, rounded) = basis.angle(source);
    let found =
        whole && basis.directions.len() == news.messages.len() && angle <= ANGLE && rounded <= ROUNDED;
    found.then(|| Space {
        dimension: source.variables(),
        columns: basis.directions.iter().flatten().map(|x| x.to_f64()).collect(),
        rounds: news.messages.iter().map(|(t, _)| *t).collect(),
        angle: angle + rounded,
    })
}

/// A number of any size: a double times a power of two.
#[derive(Debug, Clone, Copy)]
struct Wide(f64, i64);

impl Wide {
    fn times(self, other: Self) -> Self {
        Self(self.0 * other.0, self.1 + other.1).normal()
    }

    fn over(self, other: Self) -> Self {
        Self(self.0 / other.0, self.1 - other.1).normal()
    }

    fn plus(self, other: Self) -> Self {
        let (large, small) = if self.1 >= other.1 || other.0 == 0.0 { (self, other) } else { (other, self) };
        if large.0 == 0.0 {
            return small;
        }
        let gap = large.1 - small.1;
        let scaled = if gap > 1000 { 0.0 } else { small.0 * 2_f64.powi(-(gap as i32)) };
        Self(large.0 + scaled, large.1).normal()
    }

    fn normal(self) -> Self {
        if self.0 == 0.0 || !self.0.is_finite() {
            return Self(self.0, if self.0 == 0.0 { i64::MIN / 4 } else { self.1 });
        }
        let exponent = i64::from(self.0.abs().log2().floor() as i32);
        Self(self.0 * 2_f64.powi(-(exponent as i32)), self.1 + exponent)
    }

    fn log2(self) -> f64 {
        self.0.abs().log2() + self.1 as f64
    }
}

struct Basis<const L: usize> {
    directions: Vec<Vec<Fixed<L>>>,
    /// `R`: for each message its components along the directions up to its own.
    triangle: Vec<Vec<Wide>>,
}

impl<const L: usize> Basis<L> {
    /// Takes a message in; false if no digit is left of it.
    fn add(&mut self, mut row: Vec<Fixed<L>>) -> bool {
        let mut components = self.remove(&mut row);
        // What is left, with the digits it has, is brought near length one, and cleaned of what rounding put back.
        let room = row.iter().map(|x| x.room()).min().unwrap_or(Fixed::<L>::DIGITS);
        if room + 16 >= Fixed::<L>::DIGITS {
            return false;
        }
        // So that even if all entries are as large as the largest, the length is at most 1.
        let mut shift = room.saturating_sub((row.len().max(1).ilog2() + 2) / 2);
        row.iter_mut().for_each(|x| *x = x.doubled(shift));
        for (sum, more) in components.iter_mut().zip(self.remove(&mut row)) {
            *sum = sum.plus(Wide(more.0, more.1 - i64::from(shift)).normal());
        }
        let mut square = dot(&row, &row);
        let more = square.room() / 2;
        if more + 16 >= Fixed::<L>::DIGITS / 2 {
            return false;
        }
        shift += more;
        row.iter_mut().for_each(|x| *x = x.doubled(more));
        square = square.doubled(2 * more);
        let inverse = square.inverse_root();
        row.iter_mut().for_each(|x| *x = x.times(&inverse));
        components.push(Wide(square.to_f64().sqrt(), -i64::from(shift)).normal());
        self.directions.push(row);
        self.triangle.push(components);
        true
    }

    /// Takes the components along all directions out, and returns them.
    fn remove(&self, row: &mut [Fixed<L>]) -> Vec<Wide> {
        let component = |direction: &Vec<Fixed<L>>| {
            let along = dot(direction, row);
            row.iter_mut().zip(direction).for_each(|(x, d)| *x = x.minus(&along.times(d)));
            let (fraction, exponent) = along.split();
            Wide(fraction, exponent).normal()
        };
        self.directions.iter().map(component).collect()
    }

    /// Bounds on the angle between this space and the true one, due to the arithmetic and to the coefficients.
    fn angle(&self, source: &impl Source) -> (f64, f64) {
        let (n, rank) = (source.variables() as f64, self.directions.len() as f64);
        let (units, relative) = source.error();
        // Projecting twice adds a unit for each product. In logarithms: the last place may be below all doubles.
        let entry = (units + 4.0 * rank * n + 64.0).log2() - f64::from(Fixed::<L>::DIGITS);
        let norm = (0..PROBES).map(|seed| self.solved(seed)).fold(f64::NEG_INFINITY, larger) + SAFETY.log2();
        let size = self.triangle.iter().flatten().fold(Wide(0.0, 0).normal(), |sum, x| sum.plus(x.times(*x)));
        let arithmetic = (entry + 0.5 * (n * rank + 1.0).log2() + norm).exp2();
        (arithmetic, (relative.log2() + 0.5 * size.log2() + norm).exp2())
    }

    /// `log2 |R^-1 s|` for random signs `s`: in the mean over signs, its square is that of the Frobenius norm.
    fn solved(&self, seed: u64) -> f64 {
        let rank = self.triangle.len();
        let mut draws = super::field::Residues::new(seed);
        let mut x: Vec<Wide> = (0..rank).map(|_| Wide(if draws.odd() { 1.0 } else { -1.0 }, 0)).collect();
        // Rows of the transpose are lower triangular: forwards.
        let mut square = Wide(0.0, 0).normal();
        for i in 0..rank {
            let row = &self.triangle[i];
            let known = (0..i).fold(x[i], |rest, j| rest.plus(row[j].times(Wide(-x[j].0, x[j].1))));
            x[i] = known.over(row[i]);
            square = square.plus(x[i].times(x[i]));
        }
        0.5 * square.log2()
    }
}

fn dot<const L: usize>(x: &[Fixed<L>], y: &[Fixed<L>]) -> Fixed<L> {
    x.iter().zip(y).fold(Fixed::ZERO, |sum, (x, y)| sum.plus(&x.times(y)))
}
