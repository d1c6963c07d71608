//! An orthonormal basis in any number of digits, and how far off it may be.

use rayon::prelude::*;

use super::field::Residues;
use super::fixed::Fixed;
use super::larger;
use super::rows::Source;

/// Random signs to estimate a norm with, and the factor by which none of them falls short.
const PROBES: u64 = 8;
const SAFETY: f64 = 64.0;

/// A number of any size: a double times a power of two.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wide(f64, i64);

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

/// Orthonormal directions of messages.
pub(crate) struct Basis<const L: usize> {
    pub(crate) directions: Vec<Vec<Fixed<L>>>,
    /// `R`: for each message its components along the directions up to its own.
    triangle: Vec<Vec<Wide>>,
}

impl<const L: usize> Basis<L> {
    pub(crate) fn new() -> Self {
        Self { directions: Vec::new(), triangle: Vec::new() }
    }

    /// Takes a message in; false if no digit is left of it.
    pub(crate) fn add(&mut self, mut row: Vec<Fixed<L>>) -> bool {
        let components = self.remove(&mut row);
        self.push(row, components)
    }

    /// Takes in what is left of a message after its components were taken out; false if that is no digit.
    pub(crate) fn push(&mut self, mut row: Vec<Fixed<L>>, mut components: Vec<Wide>) -> bool {
        // What is left, with the digits it has, is brought near length one, and cleaned of what rounding put back.
        let room = room(&row);
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

    /// Takes the components along the directions from number `from` on out.
    pub(crate) fn remove_from(&self, from: usize, row: &mut [Fixed<L>]) {
        remove(&self.directions[from..], row);
    }

    /// Takes the components along all directions out, and returns them.
    fn remove(&self, row: &mut [Fixed<L>]) -> Vec<Wide> {
        let wide = |along: Fixed<L>| {
            let (fraction, exponent) = along.split();
            Wide(fraction, exponent).normal()
        };
        remove(&self.directions, row).into_iter().map(wide).collect()
    }

    /// Bounds on the angle between this space and the true one, due to the arithmetic and to the coefficients.
    pub(crate) fn angle(&self, source: &impl Source) -> (f64, f64) {
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
        let mut draws = Residues::new(seed);
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

/// Takes the components along orthonormal directions out, on all cores, and returns them. All are measured before any is taken out: a direction has no
/// component along another but what rounding left, and whoever calls does it twice.
fn remove<const L: usize>(directions: &[Vec<Fixed<L>>], row: &mut [Fixed<L>]) -> Vec<Fixed<L>> {
    let take = |components: &[Fixed<L>], first: usize, part: &mut [Fixed<L>]| {
        for (along, direction) in components.iter().zip(directions) {
            part.iter_mut().zip(&direction[first..]).for_each(|(x, d)| *x = x.minus(&along.times(d)));
        }
    };
    if directions.len() * row.len() * L * L < WORTH {
        let components: Vec<_> = directions.iter().map(|direction| dot(direction, row)).collect();
        take(&components, 0, row);
        return components;
    }
    let components: Vec<_> = directions.par_iter().map(|direction| dot(direction, row)).collect();
    let parts = row.par_chunks_mut(PART).enumerate();
    parts.for_each(|(part, x)| take(&components, part * PART, x));
    components
}

/// Products of words below which it is not worth waking another thread.
const WORTH: usize = 1_000_000;
/// Entries of a row that one thread takes at a time.
const PART: usize = 64;

/// By how many bits all entries can be doubled before one passes 1.
pub(crate) fn room<const L: usize>(row: &[Fixed<L>]) -> u32 {
    row.iter().map(|x| x.room()).min().unwrap_or(Fixed::<L>::DIGITS)
}

pub(crate) fn dot<const L: usize>(x: &[Fixed<L>], y: &[Fixed<L>]) -> Fixed<L> {
    x.iter().zip(y).fold(Fixed::ZERO, |sum, (x, y)| sum.plus(&x.times(y)))
}
