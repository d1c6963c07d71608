//! How many others are in a lot of limited size.
//!
//! Of `rows` records all but one are *others*; each is drawn with probability `rate`, so their number has a binomial law.
//! Either there is room for one more among at most `most`, or the others alone fill the lot. Then the record is kept with
//! probability `most / (number + 1)`, if it was drawn at all. Proofs: `docs/theorems/truncated-lots.md`.

use crate::special::UNIT;

/// What becomes of a record in a lot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Truncation {
    /// The probability that the others leave room, where they may. Never rounded to 0.
    pub(crate) room: Option<f64>,
    /// The probability that they fill the lot; with the other one it adds up to 1. Never rounded to 0.
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
            return Self { room: None, full: 1.0, in_place, error: 0.0 };
        }
        let others = Binomial::new(rows - 1, rate);
        let (room, full) = others.split(most);
        let error = others.error();
        // `E[most / (number + 1); full]`, times the rate: the others and the record are more than `most` together.
        let (_, beyond) = Binomial::new(rows, rate).split(most + 1);
        let in_place =
            most as f64 / rows as f64 * ((beyond + LOST) / full) * (1.0 + 4.0 * error + 8.0 * UNIT);
        // Never more than when there was room; and so much where the quotient is of numbers that have lost their digits.
        let in_place = if full > DIGITS && in_place < rate { in_place } else { rate };
        Self { room: Some(room + LOST), full: full + LOST, in_place, error }
    }
}

/// More than what is missing of a probability: terms beyond `reach`, and those that underflow.
const LOST: f64 = 1e-300;
/// Probabilities above this have all their digits.
const DIGITS: f64 = 1e-280;

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
        let end = at.min(n + 1); // whole numbers
        ((0..end).map(term).sum(), (at..=n).map(term).sum())
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
        assert!((small.full - 0.25).abs() < 1e-15 && (small.room.unwrap() - 0.75).abs() < 1e-15);
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
            assert!((lots.room.unwrap() - below).abs() < 1e-12, "{lots:?}");
            assert!((lots.full * lots.in_place - kept).abs() < 1e-11, "{lots:?} {kept}");
        }
    }

    #[test]
    fn a_billion_rows_are_no_trouble() {
        let lots = Truncation::new(1e-3, 1_000_000_000, 1_003_000);
        assert!(lots.full > 1.2e-3 && lots.full < 1.5e-3 && lots.error < 1e-10, "{lots:?}");
        let never = Truncation::new(1e-3, 1_000_000_000, 2_000_000);
        assert!(never.full == LOST && never.room == Some(1.0) && never.in_place == 1e-3, "{never:?}");
    }

    /// However rare a full lot, it is not impossible; nor is one with room. Between, digits go one by one.
    #[test]
    fn what_underflows_is_bounded_from_above() {
        for (rate, rows, most) in
            [(1e-200, 10, 2), (1e-160, 10, 2), (1.04e-156, 3, 2), (1e-3, 1 << 30, 1 << 29)]
        {
            let lots = Truncation::new(rate, rows, most);
            assert!(lots.full > 0.0 && lots.full < 1e-290 && lots.in_place == rate, "{lots:?}");
        }
        let crowded = Truncation::new(1.0 - 1e-12, 1000, 1);
        assert!(
            crowded.room.is_some_and(|room| room > 0.0) && crowded.in_place <= 1.0 / 999.0,
            "{crowded:?}"
        );
        // From all digits to none: in place at most as often as drawn, and never less than the definition says.
        for i in 0..400 {
            let rate = 10.0_f64.powf(-130.0 - 0.1 * f64::from(i));
            let lots = Truncation::new(rate, 3, 2);
            let least = 2.0 / 3.0 * rate;
            assert!((least..=rate).contains(&lots.in_place) && lots.full >= rate * rate, "{lots:?}");
        }
    }
}
