//! How many others are in a lot of limited size.
//!
//! Of `rows` records all but one are *others*; each is drawn with probability `rate`, so their number has a binomial law.
//! Either there is room for one more among at most `most`, or the others alone fill the lot. Then the record is kept with
//! probability `most / (number + 1)`, if it was drawn at all. Proofs: `docs/theorems/truncated-lots.md`.

use crate::special::UNIT;

/// What becomes of a record in a lot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Truncation {
    /// The probability that the others leave room.
    pub(crate) room: f64,
    /// The probability that they fill the lot; with the other one it adds up to 1.
    pub(crate) full: f64,
    /// The probability that the record is in the lot nevertheless (in somebody's place), given that they do. Rounded up.
    pub(crate) in_place: f64,
    /// Relative error of both probabilities.
    pub(crate) error: f64,
}

impl Truncation {
    /// Lots of at most `most` out of `rows > most`, drawn at `rate`.
    pub(crate) fn new(rate: f64, rows: u64, most: u64) -> Self {
        if rate >= 1.0 {
            let in_place = (most as f64 / rows as f64).next_up();
            return Self { room: 0.0, full: 1.0, in_place, error: 0.0 };
        }
        let others = Binomial::new(rows - 1, rate);
        let (room, full) = others.split(most);
        // `E[most / (number + 1); full]`, times the rate: the others and the record are more than `most` together.
        let (_, beyond) = Binomial::new(rows, rate).split(most + 1);
        let in_place = if full > 0.0 { most as f64 / rows as f64 * (beyond / full) } else { 0.0 };
        let error = others.error();
        let in_place = in_place * (1.0 + 4.0 * error + 8.0 * UNIT);
        // Never more than when there was room.
        Self { room, full, in_place: if in_place < rate { in_place } else { rate }, error }
    }
}

/// The number of successes among `count` trials.
struct Binomial {
    count: u64,
    rate: f64,
    /// Terms on either side of the likeliest number that are not nothing.
    reach: u64,
}

impl Binomial {
    fn new(count: u64, rate: f64) -> Self {
        let (n, mean) = (count as f64, count as f64 * rate);
        // By Bernstein's inequality what is farther from the mean than this has less than e^-740.
        let reach = (2.0 * 740.0 * mean * (1.0 - rate)).sqrt() + 2.0 * 740.0 / 3.0 + 2.0;
        Self { count, rate, reach: if reach < n { reach as u64 + 1 } else { count } }
    }

    /// Each term comes from its neighbour by a few operations.
    fn error(&self) -> f64 {
        (16.0 + 6.0 * self.reach as f64) * UNIT
    }

    /// `P[number < at]` and `P[number >= at]`: sums of terms, each relative to the likeliest, divided by the sum of all.
    fn split(&self, at: u64) -> (f64, f64) {
        let (n, odds) = (self.count, self.rate / (1.0 - self.rate));
        let centre = (((n + 1) as f64 * self.rate) as u64).min(n); // whole numbers
        let (mut below, mut above) = (Sum::default(), Sum::default());
        let mut add = |k: u64, term: f64| if k < at { below.add(term) } else { above.add(term) };
        let (mut term, mut k) = (1.0, centre);
        while term > 0.0 {
            add(k, term);
            if k == n || k - centre > self.reach {
                break;
            }
            term *= (n - k) as f64 * odds / (k + 1) as f64;
            k += 1;
        }
        (term, k) = (1.0, centre);
        while k > 0 && centre - k <= self.reach {
            term *= k as f64 / ((n - k + 1) as f64 * odds);
            k -= 1;
            add(k, term);
        }
        let (below, above) = (below.total(), above.total());
        (below / (below + above), above / (below + above))
    }
}

/// A sum that keeps what rounding drops (Neumaier).
#[derive(Default)]
struct Sum {
    sum: f64,
    rest: f64,
}

impl Sum {
    fn add(&mut self, term: f64) {
        let next = self.sum + term;
        self.rest += if self.sum >= term { (self.sum - next) + term } else { (term - next) + self.sum };
        self.sum = next;
    }

    fn total(&self) -> f64 {
        self.sum + self.rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All terms, each from factorials.
    fn plain(n: u64, rate: f64, at: u64) -> (f64, f64) {
        let term = |k: u64| {
            let choose: f64 = (0..k).map(|i| (n - i) as f64 / (i + 1) as f64).product();
            choose * rate.powi(k as i32) * (1.0 - rate).powi((n - k) as i32)
        };
        ((0..at.min(n + 1)).map(term).sum(), (at..=n).map(term).sum())
    }

    #[test]
    fn tails_are_sums_of_terms() {
        for (n, rate) in [(3, 0.5), (40, 0.1), (60, 0.93), (1, 0.2), (50, 1e-6)] {
            for at in 0..=n + 1 {
                let ((below, above), (plain_below, plain_above)) =
                    (Binomial::new(n, rate).split(at), plain(n, rate, at));
                assert!((below - plain_below).abs() <= 1e-13 * plain_below + 1e-300, "{n} {rate} {at}");
                assert!((above - plain_above).abs() <= 1e-13 * plain_above + 1e-300, "{n} {rate} {at}");
            }
        }
    }

    /// Numbers from another library's binomial tails (of 50 digits): P[Bin(999, 0.02) >= 20].
    #[test]
    fn the_record_is_kept_as_often_as_the_lots_say() {
        // Three records, at most two: the two others are both drawn with 1/4; then the record is kept with 1/2 * 2/3.
        let small = Truncation::new(0.5, 3, 2);
        assert!((small.full - 0.25).abs() < 1e-15 && (small.room - 0.75).abs() < 1e-15);
        assert!((small.in_place - 1.0 / 3.0).abs() < 1e-13 && small.in_place >= 1.0 / 3.0);
        // All are drawn: as in a batch.
        let all = Truncation::new(1.0, 10, 4);
        assert!(all.full == 1.0 && all.in_place > 0.4 && all.in_place < 0.4 + 1e-15);
        // By simulation of the definition, term by term.
        for (rate, rows, most) in [(0.3, 20, 6), (0.02, 500, 20), (0.9, 30, 1), (0.5, 8, 7)] {
            let n = rows - 1;
            let (below, _) = plain(n, rate, most);
            let kept: f64 = (most..=n)
                .map(|k| {
                    let (upto, _) = (plain(n, rate, k + 1).0, 0.0);
                    (upto - plain(n, rate, k).0) * rate * most as f64 / (k + 1) as f64
                })
                .sum();
            let lots = Truncation::new(rate, rows, most);
            assert!((lots.room - below).abs() < 1e-12, "{lots:?}");
            assert!((lots.full * lots.in_place - kept).abs() < 1e-11, "{lots:?} {kept}");
        }
    }

    #[test]
    fn a_billion_rows_are_no_trouble() {
        let lots = Truncation::new(1e-3, 1_000_000_000, 1_003_000);
        assert!(lots.full > 1.2e-3 && lots.full < 1.5e-3 && lots.error < 1e-10, "{lots:?}");
        let never = Truncation::new(1e-3, 1_000_000_000, 2_000_000);
        assert!(never.full == 0.0 && never.room == 1.0 && never.in_place == 0.0, "{never:?}");
    }
}
