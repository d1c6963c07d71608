//! One of two laws, and it is known which: a coin that no record has a part in decides, and it is told.

use super::law::{Law, Masses};
use crate::interval::{larger, smaller};

/// Two laws and their probabilities.
#[derive(Debug, Clone)]
pub(crate) struct Either {
    one: (f64, Law),
    other: (f64, Law),
    /// Relative error of the probabilities.
    error: f64,
}

impl Either {
    /// The law. Both occur, however rarely: neither probability may have been rounded to 0.
    pub(super) fn of(one: (f64, Law), other: (f64, Law), error: f64) -> Law {
        debug_assert!(one.0 > 0.0 && other.0 > 0.0);
        Law::Either(Box::new(Self { one, other, error }))
    }

    fn each<T>(&self, f: impl Fn(&Law) -> T) -> [(f64, T); 2] {
        [&self.one, &self.other].map(|(weight, law)| (*weight, f(law)))
    }

    pub(super) fn split(&self, y: f64) -> (Masses, Masses) {
        let [(w, (up, down)), (v, (other_up, other_down))] = self.each(|law| law.split(y));
        let both = |a: Masses, b: Masses| Masses { p: w * a.p + v * b.p, q: w * a.q + v * b.q };
        (both(up, other_up), both(down, other_down))
    }

    pub(super) fn curve(&self, y: f64) -> (f64, f64) {
        let [(w, (value, error)), (v, (other, other_error))] = self.each(|law| law.curve(y));
        let total = w * value + v * other;
        (total, w * error + v * other_error + (self.error + 1e-15) * total)
    }

    pub(super) fn slip(&self, y: f64) -> f64 {
        larger(self.one.1.slip(y), self.other.1.slip(y))
    }

    pub(super) fn landmarks(&self, first: f64, last: f64, count: usize) -> Vec<f64> {
        let mut all: Vec<f64> = self
            .each(|law| law.landmarks(first, last, count / 2))
            .into_iter()
            .flat_map(|(_, all)| all)
            .collect();
        all.retain(|y| (first..=last).contains(y));
        all.sort_by(f64::total_cmp);
        all.dedup();
        all
    }

    pub(super) fn left_out(&self) -> f64 {
        self.each(Law::left_out).iter().map(|(weight, out)| weight * out).sum()
    }

    pub(super) fn bounded(&self) -> Option<f64> {
        Some(larger(self.one.1.bounded()?, self.other.1.bounded()?))
    }

    pub(super) fn range(&self) -> (f64, f64) {
        let [(_, (low, high)), (_, (other_low, other_high))] = self.each(Law::range);
        (smaller(low, other_low), larger(high, other_high))
    }

    pub(super) fn error(&self) -> f64 {
        self.error
    }
}
