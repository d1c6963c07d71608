//! Elimination in any number of digits: rows that lie well apart, from messages that are nearly parallel.
//!
//! Each message is freed of what it has of the earlier ones at their pivots, scaled to the digits it has left, and divided by its largest entry, which
//! becomes its pivot. So `A + E = L U`, where `U` has ones at its pivots and nothing larger anywhere, `L` is lower triangular, and `E`, the rounding of
//! the products, is a few units of the last place whatever the condition of `A`. The space of the messages is that of `U`, which doubled
//! doubles can make orthonormal ([`doubled`](super::doubled)).

use rayon::prelude::*;
use sottovoce_fault::stop;

use super::fixed::Fixed;
use super::wide::Wide;

/// Messages that are freed of the earlier ones side by side.
const TOGETHER: usize = 32;

/// Digits that a message must have left, at least.
const LEFT: u32 = 16;

/// Messages, eliminated.
pub(crate) struct Elimination<const L: usize> {
    /// `U`: row `i` has its pivot, a one, at place `i`, and zeros before.
    rows: Vec<Vec<Fixed<L>>>,
    /// The variable at each place.
    places: Vec<usize>,
    /// `L`, row by row.
    pub(crate) lower: Vec<Vec<Wide>>,
    /// Messages that wait.
    waiting: Vec<Message<L>>,
    /// The sum of squares of all coefficients.
    pub(crate) square: f64,
}

/// A message under way: what is left of it, and what was taken out.
struct Message<const L: usize> {
    rest: Vec<Fixed<L>>,
    taken: Vec<Wide>,
}

impl<const L: usize> Elimination<L> {
    pub(crate) fn new(variables: usize) -> Self {
        let places = (0..variables).collect();
        Self { rows: Vec::new(), places, lower: Vec::new(), waiting: Vec::new(), square: 0.0 }
    }

    /// Takes a message in; false once no digit is left of one, or it grew too large.
    pub(crate) fn add(&mut self, row: &[Fixed<L>]) -> bool {
        if row.iter().any(Fixed::is_large) {
            return false;
        }
        self.square += row.iter().map(|x| x.to_f64() * x.to_f64()).sum::<f64>();
        let rest = self.places.iter().map(|&variable| row[variable]).collect();
        self.waiting.push(Message { rest, taken: Vec::new() });
        self.waiting.len() < TOGETHER || self.work()
    }

    /// The rows of `U` as pairs of doubles, by variables; none if not every message has one.
    pub(crate) fn finish(&mut self) -> Option<Vec<(Vec<f64>, Vec<f64>)>> {
        if !self.work() {
            return None;
        }
        let row = |row: &Vec<Fixed<L>>| {
            let (mut high, mut low) = (vec![0.0; row.len()], vec![0.0; row.len()]);
            for (x, &variable) in row.iter().zip(&self.places) {
                (high[variable], low[variable]) = x.to_doubles();
            }
            (high, low)
        };
        Some(self.rows.iter().map(row).collect())
    }

    /// Frees those that wait of all rows, side by side, and then of each other, in their order.
    fn work(&mut self) -> bool {
        let mut waiting = std::mem::take(&mut self.waiting);
        let known = self.rows.len();
        let here = stop::here();
        let free = |message: &mut Message<L>| here.go_on(|| message.free(&self.rows, 0));
        if !waiting.par_iter_mut().map(free).reduce(|| true, |a, b| a && b) {
            return false;
        }
        for i in 0..waiting.len() {
            let (message, later) = waiting[i..].split_first_mut().expect("i is below the length");
            if !(message.free(&self.rows, known) && self.push(message, later)) {
                return false;
            }
        }
        true
    }

    /// Makes a row of what is left of a message.
    fn push(&mut self, message: &mut Message<L>, later: &mut [Message<L>]) -> bool {
        let place = self.rows.len();
        let rest = &message.rest;
        // The first of the largest, to the last digit: no entry of the row is above 1 then.
        let Some(largest) = (place..rest.len()).rev().max_by(|&a, &b| rest[a].compare_sizes(&rest[b])) else {
            return false;
        };
        let room = rest[largest].room();
        if room + LEFT >= Fixed::<L>::DIGITS {
            return false;
        }
        let swapped = self.rows.iter_mut().chain([&mut message.rest]);
        swapped
            .chain(later.iter_mut().map(|message| &mut message.rest))
            .for_each(|row| row.swap(place, largest));
        self.places.swap(place, largest);
        let pivot = message.rest[place].doubled(room);
        let inverse = pivot.inverse();
        let mut row = std::mem::take(&mut message.rest);
        row[..place].fill(Fixed::ZERO);
        row[place] = Fixed::whole(1);
        row[place + 1..].iter_mut().for_each(|x| *x = x.doubled(room).times(&inverse));
        let (fraction, exponent) = pivot.split();
        message.taken.push(Wide::new(fraction, exponent - i64::from(room)));
        self.lower.push(std::mem::take(&mut message.taken));
        self.rows.push(row);
        true
    }
}

impl<const L: usize> Message<L> {
    /// Takes out what there is of the rows from number `from` on; false if it grew too large.
    fn free(&mut self, rows: &[Vec<Fixed<L>>], from: usize) -> bool {
        for (place, row) in rows.iter().enumerate().skip(from) {
            stop::look();
            let factor = self.rest[place];
            let (fraction, exponent) = factor.split();
            self.taken.push(Wide::new(fraction, exponent));
            if factor == Fixed::ZERO {
                continue;
            }
            let (factor, mut large) = (factor.negated(), false);
            for (x, u) in self.rest[place + 1..].iter_mut().zip(&row[place + 1..]) {
                *x = x.plus(&factor.times(u));
                large |= x.is_large();
            }
            self.rest[place] = Fixed::ZERO;
            if large {
                return false;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::span::weight::Weight;
    use proptest::prelude::*;

    /// Eliminates rows; what `U` and `L U - A` have as their largest entries, or none where it gives up.
    fn eliminated(rows: &[Vec<f64>]) -> Option<(f64, f64)> {
        let mut elimination = Elimination::<4>::new(rows[0].len());
        for row in rows {
            if !elimination.add(&row.iter().map(|&x| Weight::of(x).into()).collect::<Vec<Fixed<4>>>()) {
                return None;
            }
        }
        let upper: Vec<Vec<f64>> = elimination.finish()?.into_iter().map(|(high, _)| high).collect();
        let (mut largest, mut off) = (0.0, 0.0);
        for (row, lower) in rows.iter().zip(&elimination.lower) {
            for (k, &x) in row.iter().enumerate() {
                let product = lower
                    .iter()
                    .zip(&upper)
                    .fold(Wide::new(-x, 0), |sum, (l, u)| sum.plus(l.times(Wide::new(u[k], 0))));
                off = f64::max(off, product.log2().exp2());
            }
        }
        upper.iter().flatten().for_each(|u| largest = f64::max(largest, u.abs()));
        Some((largest, off))
    }

    proptest! {
        #[test]
        fn rows_of_any_size_are_rebuilt_or_refused(
            rows in (1_usize..9, 0_i32..5).prop_flat_map(|(rank, size)| {
                prop::collection::vec(prop::collection::vec(-31.9_f64 * 0.1_f64.powi(size)..31.9, 9), rank)
            })
        ) {
            if let Some((largest, off)) = eliminated(&rows) {
                prop_assert!(largest <= 1.0 && off <= 1e-12, "{largest} {off:e}");
            }
        }
    }

    #[test]
    fn growth_is_refused_before_numbers_turn_round() {
        // Pivots are all 1, and the last column doubles with each row.
        let row = |n: usize, i: usize| -> Vec<f64> {
            (0..n)
                .map(|k| {
                    if k == i || k + 1 == n {
                        1.0
                    } else if k < i {
                        -1.0
                    } else {
                        0.0
                    }
                })
                .collect()
        };
        let grown = |n: usize| {
            let rows: Vec<Vec<f64>> = (0..n).map(|i| row(n, i)).collect();
            let columns: Vec<Vec<f64>> = (0..n).map(|k| rows.iter().map(|row| row[k]).collect()).collect();
            (eliminated(&rows), eliminated(&columns))
        };
        for n in 2..12 {
            for found in <[_; 2]>::from(grown(n)).into_iter().flatten() {
                assert!(found.0 <= 1.0 && found.1 <= 1e-12, "{n} {found:?}");
            }
        }
        assert!(eliminated(&[vec![40.0, 1.0]]).is_none());
        assert!(eliminated(&[vec![1.0, -1.0, 1.0], vec![31.0, 31.0, 31.0]]).is_none());
    }
}
