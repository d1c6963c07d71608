//! Losses small enough to travel in the page.
//!
//! A grid of experiments holds a matrix of losses for each cell. Each loss becomes one byte: its place in a list of
//! at most 256 values that are spread evenly by their logarithm, each with three digits. A loss is always given the
//! first value of the list that is *at least* as large, so that the page never shows less than the truth; it shows at
//! most a few per cent more.

use serde::Serialize;

use super::{AveragingReport, Cell, NO_PATH, Promised, honest};
use crate::colour::scale;
use crate::shell::base64;
use crate::text::{digits, short, up};
use sottovoce_fault::decimal::up_value;

/// Losses below this are shown as this: smaller ones would spread the list too thin.
pub(super) const SMALLEST: f64 = 1e-4;

/// How many bytes of losses a page carries at most; beyond that it carries fewer observers.
const BUDGET: usize = 12 << 20;

/// The values that stand for all others.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Book {
    values: Vec<f64>,
}

impl Book {
    /// A list that holds every one of these values from above.
    pub(super) fn new(values: impl Iterator<Item = f64>) -> Self {
        let (mut low, mut high, mut endless) = (f64::INFINITY, 0.0f64, false);
        for value in values {
            match value {
                v if v.is_finite() && v > 0.0 => (low, high) = (low.min(v), high.max(v)),
                v => endless |= !v.is_finite(),
            }
        }
        let mut list = vec![0.0];
        if high > 0.0 {
            let low = low.max(SMALLEST).min(high);
            list.extend((0..=252).map(|i| up_value(low * (high / low).powf(f64::from(i) / 252.0), 3)));
            list.push(up_value(high, 3));
        }
        if endless {
            list.push(f64::INFINITY);
        }
        list.sort_by(f64::total_cmp);
        list.dedup();
        Self { values: list }
    }

    /// The place of the first value that is at least as large; what is not a number is the largest.
    pub(super) fn code(&self, value: f64) -> u8 {
        let place = if value.is_nan() { usize::MAX } else { self.values.partition_point(|v| *v < value) };
        place.min(self.values.len() - 1) as u8
    }

    /// The value that stands for this one.
    #[cfg(test)]
    pub(super) fn decode(&self, code: u8) -> f64 {
        self.values[usize::from(code)]
    }
}

/// What the page's script is given. Numbers to be read come as text, so that they are written in one place only.
#[derive(Debug, Serialize)]
struct Data {
    peers: usize,
    observer: usize,
    chosen: (usize, usize),
    relays: Vec<String>,
    steps: Vec<String>,
    names: Vec<String>,
    /// The observers whose losses are in the page, in the order of the rows below.
    observers: Vec<usize>,
    /// The value, its text and its colour for each code.
    losses: Vec<(f64, String, String)>,
    cells: Vec<PackedCell>,
    /// Two bytes each, the larger first; all ones where there is no path.
    distance_rows: String,
}

#[derive(Debug, Serialize)]
struct PackedCell {
    error: String,
    mean: String,
    worst: String,
    headline: String,
    /// What changes of each guarantee, in the order of the table's columns.
    guaranteed: Vec<[String; 4]>,
    rows: String,
}

impl AveragingReport {
    /// The data of the page's script, as JSON.
    pub(super) fn data(&self) -> String {
        let observers = self.carried();
        let book = Book::new(self.cells.iter().flat_map(|c| c.losses.iter().flatten().map(|l| honest(*l))));
        let shade = self.shade();
        let data = Data {
            peers: self.positions.len(),
            observer: self.observer,
            chosen: self.chosen,
            relays: self.relay_noises.iter().map(|r| short(*r, 4)).collect(),
            steps: self.steps.iter().map(usize::to_string).collect(),
            names: (0..self.positions.len()).map(|i| self.name(i)).collect(),
            losses: book.values.iter().map(|v| (*v, up(*v, 3), scale(shade.part(*v)).hex())).collect(),
            cells: self.cells.iter().map(|c| self.pack_cell(c, &book, &observers)).collect(),
            distance_rows: pack(&observers, |o| {
                self.distances[o].iter().flat_map(|d| d.to_be_bytes()).collect()
            }),
            observers,
        };
        // Plain text and finite numbers only, which always have a JSON form.
        serde_json::to_string(&data).unwrap_or_default()
    }

    fn pack_cell(&self, cell: &Cell, book: &Book, observers: &[usize]) -> PackedCell {
        let line = |p: &Promised| [&p.statement, &p.loss, &p.risk, &p.adversary].map(String::clone);
        PackedCell {
            error: digits(cell.error, 3),
            mean: up(cell.mean, 3),
            worst: up(cell.worst_far, 3),
            headline: cell.headline.clone(),
            guaranteed: cell.promised.iter().map(line).collect(),
            rows: pack(observers, |o| cell.losses[o].iter().map(|l| book.code(honest(*l))).collect()),
        }
    }

    /// The observers whose losses the page carries: all where they fit, otherwise as many as do, spread evenly, and
    /// always the one shown first.
    fn carried(&self) -> Vec<usize> {
        carried(self.positions.len(), self.cells.len(), self.observer, BUDGET)
    }

    /// The most distant pair that has a path.
    pub(super) fn farthest(&self) -> u16 {
        self.distances.iter().flatten().copied().filter(|d| *d != NO_PATH).max().unwrap_or(0)
    }
}

fn carried(peers: usize, cells: usize, first: usize, budget: usize) -> Vec<usize> {
    let room = (budget / (peers * (cells + 3)).max(1)).max(1);
    if room >= peers {
        return (0..peers).collect();
    }
    let mut list: Vec<usize> = (0..room).map(|i| i * peers / room).collect();
    if !list.contains(&first) {
        list[0] = first;
        list.sort_unstable();
    }
    list
}

fn pack(observers: &[usize], row: impl Fn(usize) -> Vec<u8>) -> String {
    base64(&observers.iter().flat_map(|o| row(*o)).collect::<Vec<u8>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_stored_loss_is_never_below_the_truth(losses in prop::collection::vec(0.0f32..=1.0, 1..200)) {
            let book = Book::new(losses.iter().map(|l| honest(*l)));
            prop_assert!(book.values.len() <= 256);
            for loss in losses.iter().map(|l| f64::from(*l)) {
                let stored = book.decode(book.code(loss));
                prop_assert!(stored >= loss, "{stored} < {loss}");
                prop_assert!(stored <= (1.06 * loss).max(SMALLEST * 1.01), "{stored} for {loss}");
            }
        }
    }

    #[test]
    fn what_is_unknown_is_the_largest() {
        let book = Book::new([0.2, 7.5, f64::INFINITY].into_iter());
        assert_eq!(book.decode(book.code(f64::NAN)), f64::INFINITY);
        assert_eq!(book.decode(book.code(f64::INFINITY)), f64::INFINITY);
        assert_eq!((book.decode(book.code(0.0)), book.decode(book.code(7.5))), (0.0, 7.5));
        assert_eq!((honest(f32::NAN), honest(-0.1), honest(0.5)), (1.0, 1.0, 0.5));
        assert_eq!(Book::new([0.0].into_iter()).values, [0.0]);
    }

    #[test]
    fn large_reports_carry_fewer_observers_but_always_the_first() {
        assert_eq!(carried(4, 9, 1, 1 << 20), [0, 1, 2, 3]);
        let some = carried(1000, 36, 777, BUDGET);
        assert!(some.len() > 100 && some.len() < 1000 && some.contains(&777));
        assert_eq!(carried(1000, 36, 5, 10), [5]);
    }
}
