//! Lots: the rows that enter one private gradient, each by a coin of its own.
//!
//! One value says how lots are drawn, what they are divided by, and what is accounted for: no sampler can differ from the rate in its account. A lot may be
//! empty, and is then released like any other: a draw that is left out because nobody came would tell that nobody came.
//!
//! The rate and the divisor are *public* numbers, fixed beforehand. Under add/remove adjacency the number of rows is not: where the two were computed from
//! it, it is taken for public, and the guarantee says so ([`limits::ROWS`](crate::limits::ROWS)).

use rand::Rng;
use serde::{Deserialize, Serialize};

use crate::noise::simulation::{Seed, Stream};
use crate::{Error, Mechanism, Result};

/// How lots are drawn from so many rows.
///
/// ```
/// use sottovoce_privacy::Lots;
/// use sottovoce_privacy::noise::simulation::Seed;
/// let lots = Lots::of_size(1000, 50.0)?;
/// let (mut first, mut second) = (Vec::new(), Vec::new());
/// lots.draw(Seed(7), 3, 0, &mut first);
/// lots.draw(Seed(7), 3, 1, &mut second);
/// assert!(first != second && first.is_sorted());
/// assert_eq!((lots.rate(), lots.expected()), (0.05, 50.0));
/// # Ok::<(), sottovoce_privacy::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct Lots {
    rows: u32,
    rate: f64,
}

/// As it is stored: not yet checked.
#[derive(Serialize, Deserialize)]
struct Stored {
    rows: u32,
    rate: f64,
}

impl TryFrom<Stored> for Lots {
    type Error = Error;

    fn try_from(Stored { rows, rate }: Stored) -> Result<Self> {
        Self::new(rows as usize, rate)
    }
}

impl From<Lots> for Stored {
    fn from(Lots { rows, rate }: Lots) -> Self {
        Self { rows, rate }
    }
}

impl Lots {
    /// Each of `rows` rows with probability `rate`.
    pub fn new(rows: usize, rate: f64) -> Result<Self> {
        let count = u32::try_from(rows).ok().filter(|rows| *rows > 0);
        let count = count.ok_or_else(|| Error::parameter("rows", rows, "give from 1 to 4294967295 rows"))?;
        if !(rate > 0.0 && rate <= 1.0) {
            return Err(Error::parameter("rate", rate, "give a probability above 0 and at most 1"));
        }
        Ok(Self { rows: count, rate })
    }

    /// Lots of so many rows on average.
    pub fn of_size(rows: usize, expected: f64) -> Result<Self> {
        if !(expected > 0.0 && expected <= rows as f64) {
            let remedy = format!("lots are drawn from {rows} rows; give more than 0 and at most as many");
            return Err(Error::parameter("lot", expected, remedy));
        }
        let rate = expected / rows as f64;
        Self::new(rows, if rate < 1.0 { rate } else { 1.0 })
    }

    /// How many rows there are to draw from.
    pub fn rows(&self) -> usize {
        self.rows as usize
    }

    /// The probability of each row.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// The mean size: what sums are divided by, whatever the size of the lot. (Its true size would tell who is in it.)
    pub fn expected(&self) -> f64 {
        f64::from(self.rows) * self.rate
    }

    /// The release of a lot's sum under Gaussian noise, so many times as wide as one row's part: what is accounted for.
    pub fn mechanism(&self, multiplier: f64) -> Result<Mechanism> {
        Mechanism::gaussian(multiplier)?.poisson(self.rate)
    }

    /// The rows of an agent's draw in a simulated run, in order, written to `picked`.
    pub fn draw(&self, seed: Seed, agent: u64, draw: u64, picked: &mut Vec<u32>) {
        self.draw_by(&mut seed.stream(Stream::Lots, agent, draw), picked);
    }

    /// The same by other coins. In a deployment nobody may be able to predict them.
    pub fn draw_by(&self, coins: &mut impl Rng, picked: &mut Vec<u32>) {
        picked.clear();
        if self.rate == 1.0 {
            return picked.extend(0..self.rows);
        }
        // Exact: a double times a power of two. The cast rounds down, so that no row comes more often than is accounted for.
        let below = (self.rate * (1u128 << 64) as f64) as u64;
        picked.extend((0..self.rows).filter(|_| coins.next_u64() < below));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Standard errors that are allowed: fair and independent coins exceed them less than once in a million checks, and the seed is fixed.
    const ERRORS: f64 = 5.0;

    fn drawn(lots: Lots, agent: u64, draws: u64) -> Vec<Vec<bool>> {
        let mut picked = Vec::new();
        let one = |draw| {
            lots.draw(Seed(11), agent, draw, &mut picked);
            let mut coins = vec![false; lots.rows()];
            picked.iter().for_each(|row| coins[*row as usize] = true);
            coins
        };
        (0..draws).map(one).collect()
    }

    /// Rows come as often as is accounted for; two rows of a lot, one row in two draws, and one row of two agents are independent: each
    /// pair comes together as often as the product of the rates says, within five standard errors.
    #[test]
    fn coins_are_fair_and_pairwise_independent() {
        let (rows, draws, rate) = (40, 4_000u64, 0.07);
        let lots = Lots::new(rows, rate).unwrap();
        let (mine, hers) = (drawn(lots, 0, draws), drawn(lots, 1, draws));
        let check = |what: &str, hits: usize, trials: usize, expected: f64| {
            let (trials, hits) = (trials as f64, hits as f64);
            let error = (trials * expected * (1.0 - expected)).sqrt();
            assert!((hits - trials * expected).abs() < ERRORS * error, "{what}: {hits} of {trials}");
        };
        let count = |lots: &[Vec<bool>]| lots.iter().flatten().filter(|coin| **coin).count();
        check("rate", count(&mine), rows * draws as usize, rate);
        let pairs = |one: &[Vec<bool>], other: &[Vec<bool>], shift: usize| {
            let lots = one.iter().zip(other);
            lots.map(|(a, b)| (0..rows).filter(|&row| a[row] && b[(row + shift) % rows]).count()).sum()
        };
        for shift in [1, 2, 7, 20] {
            check("two rows of a lot", pairs(&mine, &mine, shift), rows * draws as usize, rate * rate);
        }
        for lag in [1, 2, 3, 64] {
            let trials = rows * (draws as usize - lag);
            check("two draws", pairs(&mine, &mine[lag..], 0), trials, rate * rate);
        }
        check("two agents", pairs(&mine, &hers, 0), rows * draws as usize, rate * rate);
        // Sizes have the variance of independent coins: its relative standard error is about sqrt(2/draws).
        let sizes: Vec<f64> = mine.iter().map(|lot| count(std::slice::from_ref(lot)) as f64).collect();
        let mean = sizes.iter().sum::<f64>() / draws as f64;
        let variance = sizes.iter().map(|size| (size - mean).powi(2)).sum::<f64>() / draws as f64;
        let expected = rows as f64 * rate * (1.0 - rate);
        assert!((variance / expected - 1.0).abs() < ERRORS * (2.5 / draws as f64).sqrt(), "{variance}");
        // Nobody comes in (1 - rate)^rows of all draws.
        let empty = sizes.iter().filter(|size| **size == 0.0).count();
        check("empty lots", empty, draws as usize, (1.0 - rate).powi(rows as i32));
    }

    #[test]
    fn certain_rows_all_come_and_rare_ones_hardly_ever() {
        let mut picked = vec![9];
        Lots::new(5, 1.0).unwrap().draw(Seed(1), 0, 0, &mut picked);
        assert_eq!(picked, [0, 1, 2, 3, 4]);
        Lots::new(5, 1e-18).unwrap().draw(Seed(1), 0, 0, &mut picked);
        assert!(picked.is_empty());
    }

    #[test]
    fn what_is_accounted_for_is_what_is_drawn() {
        let lots = Lots::of_size(5421, 256.0).unwrap();
        assert!((lots.expected() - 256.0).abs() < 1e-12);
        let known = Mechanism::gaussian(2.0).unwrap().poisson(256.0 / 5421.0).unwrap();
        assert_eq!(lots.mechanism(2.0).unwrap(), known);
        let text = serde_json::to_string(&lots).unwrap();
        assert_eq!(serde_json::from_str::<Lots>(&text).unwrap(), lots);
    }

    #[test]
    fn what_are_no_lots_is_refused() {
        for (rows, rate) in [(0, 0.5), (usize::MAX, 0.5), (5, 0.0), (5, 1.5), (5, f64::NAN), (5, -0.1)] {
            assert!(Lots::new(rows, rate).is_err(), "{rows} {rate}");
        }
        for size in [0.0, 5.5, f64::NAN, f64::INFINITY] {
            assert!(Lots::of_size(5, size).unwrap_err().to_string().contains("`lot`"), "{size}");
        }
        assert!(serde_json::from_str::<Lots>(r#"{"rows":5,"rate":7.0}"#).is_err());
    }
}
