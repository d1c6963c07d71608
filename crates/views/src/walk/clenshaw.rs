//! Sums of Chebyshev polynomials of a mixing matrix times a few columns, by Clenshaw's recurrence.
//!
//! `Σ c_k T_k(B) X = c_0 X + B b_1 - b_2` for `b_k = c_k X + 2 B b_(k+1) - b_(k+2)`: two blocks and no running sum, for `X` has one entry per
//! column.
//!
//! The recurrence starts at the highest degree, whose coefficients are the smallest: as long as what is left is small ([`SINGLE`]), single
//! precision is precise enough, and takes half the time.
//!
//! The constant vector belongs to the eigenvalue 1 outside the interval, where polynomials grow. For the logarithm they grow just as fast as
//! the coefficients fall. Where they grow faster, columns are centred on the way: the constant part keeps to itself, so that it can be
//! taken out at any time, and the caller puts the right one in at the end. Other eigenvectors outside the interval, if they are known, get
//! their right part where single precision ends ([`Slow`]).

use sottovoce_topology::mixing::Mixing;

use super::chebyshev::Expansion;
use super::kernel::{Matrix, Real, Row, centre, convert, dots, set_part, step};

/// Single precision errs by `6e-8` of what is left, and by as many times more as there are degrees to go. Where the product of these two is
/// below this, that is `6e-12`, and in practice less.
const SINGLE: f64 = 1e-4;

/// So many times larger the constant part may grow.
const GROWTH: f64 = 1e3;

/// Up to so many peers nothing is gained by single precision.
pub(super) const FEW_PEERS: usize = 200;

/// Where the recurrence takes its columns from.
#[derive(Clone, Copy)]
pub(super) enum Start<'a, const N: usize> {
    /// Columns of the identity: the first, and how many.
    Identity(usize, usize),
    /// These.
    Block(&'a [Row<f64, N>]),
}

impl<const N: usize> Start<'_, N> {
    /// Adds `c` times the columns.
    fn add<T: Real>(self, c: f64, to: &mut [Row<T, N>]) {
        match self {
            Self::Identity(first, count) => {
                (0..count).for_each(|i| to[first + i].0[i] += T::of(c));
            }
            Self::Block(rows) => {
                for (to, row) in to.iter_mut().zip(rows) {
                    to.0.iter_mut().zip(row.0).for_each(|(to, x)| *to += T::of(c * x));
                }
            }
        }
    }

    /// The columns' inner products with a vector.
    fn along(self, vector: &[f64]) -> [f64; N] {
        match self {
            Self::Identity(first, count) => {
                std::array::from_fn(|i| if i < count { vector[first + i] } else { 0.0 })
            }
            Self::Block(rows) => dots(rows, vector),
        }
    }
}

/// `b_(k+1)` and `b_(k+2)`.
#[derive(Default)]
struct Pair<T, const N: usize> {
    now: Vec<Row<T, N>>,
    other: Vec<Row<T, N>>,
}

impl<T: Real, const N: usize> Pair<T, N> {
    /// Starts with the terms given, the last first.
    fn begin(&mut self, matrix: &Matrix<T>, start: Start<N>, terms: &[Term]) {
        for block in [&mut self.now, &mut self.other] {
            block.clear();
            block.resize(matrix.nodes(), Row([T::default(); N]));
        }
        if let Some((last, rest)) = terms.split_last() {
            start.add(last.coefficient, &mut self.now);
            self.descend(matrix, start, rest);
        }
    }

    /// Goes on with the terms given, the last first.
    fn descend(&mut self, matrix: &Matrix<T>, start: Start<N>, terms: &[Term]) {
        for term in terms.iter().rev() {
            self.step::<false>(matrix);
            start.add(term.coefficient, &mut self.now);
            if term.centre {
                centre(&mut self.now);
                centre(&mut self.other);
            }
        }
    }

    /// One product; `LAST` for `B now - other` instead of `2 B now - other`.
    fn step<const LAST: bool>(&mut self, matrix: &Matrix<T>) {
        step::<T, N, LAST>(matrix, &self.now, &mut self.other);
        std::mem::swap(&mut self.now, &mut self.other);
    }
}

/// Room for the recurrence, to be used again.
#[derive(Default)]
pub(super) struct Scratch<const N: usize> {
    single: Pair<f32, N>,
    double: Pair<f64, N>,
}

/// A degree's coefficient, and whether the columns are to be centred after it.
#[derive(Debug, Clone, Copy)]
struct Term {
    coefficient: f64,
    centre: bool,
}

/// An eigenvector of unit length whose eigenvalue is above the interval, and what the function is there.
#[derive(Debug, Clone)]
pub(super) struct Slow {
    pub(super) eigenvalue: f64,
    pub(super) value: f64,
    pub(super) vector: Vec<f64>,
}

impl Slow {
    /// What `b_s` must be along the vector, if `b_(s+1)` is 0, to end at the right value:
    /// `value = c_0 T_0 + ... + c_(s-1) T_(s-1) + b_s T_s`.
    fn share(&self, expansion: &Expansion, switch: usize) -> f64 {
        let y = (self.eigenvalue - expansion.centre) / expansion.radius;
        let (mut now, mut next, mut sum) = (1.0, y, 0.0);
        for c in &expansion.coefficients[..switch] {
            sum += c * now;
            (now, next) = (next, 2.0 * y * next - now);
        }
        (self.value - sum) / now
    }
}

/// An expansion of a function of one matrix, ready to be applied.
pub(super) struct Polynomial {
    single: Matrix<f32>,
    double: Matrix<f64>,
    terms: Vec<Term>,
    /// The lowest degree in single precision.
    switch: usize,
    /// Eigenvectors that are taken care of at the switch, and their shares.
    slow: Vec<(f64, Vec<f64>)>,
}

impl Polynomial {
    pub(super) fn new(mixing: &Mixing, expansion: &Expansion, slow: Vec<Slow>) -> Self {
        let terms = terms(expansion);
        let switch = if mixing.nodes() <= FEW_PEERS { terms.len() } else { switch(&expansion.coefficients) };
        let (single, double) = (Matrix::new(mixing, expansion), Matrix::new(mixing, expansion));
        let slow = slow.into_iter().map(|slow| (slow.share(expansion, switch), slow.vector)).collect();
        Self { single, double, terms, switch, slow }
    }

    /// The polynomial of the matrix, times the columns; along the constant vector it is of no use.
    pub(super) fn apply<'a, const N: usize>(
        &self,
        start: Start<N>,
        scratch: &'a mut Scratch<N>,
    ) -> &'a [Row<f64, N>] {
        let Scratch { single, double } = scratch;
        let (low, high) = self.terms.split_at(self.switch);
        let (constant, low) = low.split_first().map_or((0.0, low), |(term, low)| (term.coefficient, low));
        single.begin(&self.single, start, high);
        convert(&single.now, &mut double.now);
        convert(&single.other, &mut double.other);
        for (share, vector) in &self.slow {
            set_part(&mut double.now, vector, start.along(vector).map(|along| share * along));
            set_part(&mut double.other, vector, [0.0; N]);
        }
        double.descend(&self.double, start, low);
        double.step::<true>(&self.double);
        start.add(constant, &mut double.now);
        &double.now
    }
}

/// Follows the constant part of a column that has nothing else, as if all coefficients were positive, relative to what is left of them.
fn terms(expansion: &Expansion) -> Vec<Term> {
    let outside = (1.0 - expansion.centre) / expansion.radius;
    let (mut now, mut other, mut left) = (0.0, 0.0, 0.0);
    let mut terms: Vec<Term> = Vec::with_capacity(expansion.coefficients.len());
    for &coefficient in expansion.coefficients.iter().rev() {
        (now, other) = (2.0 * outside * now - other + coefficient.abs(), now);
        left += coefficient.abs();
        let centre = now > GROWTH * left;
        if centre {
            (now, other) = (0.0, 0.0);
        }
        terms.push(Term { coefficient, centre });
    }
    terms.reverse();
    terms
}

/// Roughly what a column costs, in products in double precision.
pub(super) fn cost(expansion: &Expansion) -> f64 {
    let switch = switch(&expansion.coefficients);
    0.5 * (switch + expansion.coefficients.len()) as f64
}

/// The lowest degree for which single precision will do.
fn switch(coefficients: &[f64]) -> usize {
    let mut rest = 0.0;
    let single = coefficients.iter().enumerate().rev().take_while(|(k, c)| {
        rest += c.abs();
        rest * *k as f64 <= SINGLE
    });
    (coefficients.len() - single.count()).max(1)
}
