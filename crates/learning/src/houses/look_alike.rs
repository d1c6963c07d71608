//! A synthetic set like Houses, for examples and tests that come without data.
//!
//! **No row of it is real.** Blocks of houses are drawn as follows, with independent standard normal numbers `size`, `wealth`, `east`
//! and one for each column's own variation:
//!
//! * A block lies in the south (latitude about 33.9), in the north (about 37.9), or anywhere between, with fixed probabilities.
//! * The coast runs north-west: longitude falls by 0.86 degrees for each degree of latitude, plus 0.6 times `east`.
//! * Rooms, bedrooms, population and households are log-normal around a common `size`, so they are strongly correlated; income is
//!   log-normal in `wealth`; large and wealthy blocks are younger.
//! * Value is log-normal: it rises with `wealth` and falls towards the east and the north. It is capped, as in the original.
//!
//! The constants were chosen so that medians, spreads and correlations are near those of the real set, and so are the share of positive
//! labels (about 0.43) and the accuracy of the best linear classifier (about 0.96). Labels and preparation are those of
//! [`read`](super::read), and so is the split into 16512 and 4128 rows.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use super::{Block, Constants, Houses, ROWS, Split, prepare};

/// Blocks in the south, and in the south or between.
const SOUTH: f64 = 0.545;
const SOUTH_OR_BETWEEN: f64 = 0.625;
/// The mean place of the original, around which ours is laid out.
const CENTRE: (f64, f64) = (-119.57, 35.63);
/// The value at which the original is cut off.
const MOST_VALUE: f64 = 500_001.0;

/// Mean longitude, and means and deviations of the columns, of the law that blocks are drawn from (to three digits or more): the same
/// whatever is drawn.
const DRAWN: Constants = Constants {
    longitude: -119.516,
    columns: [
        (202_200.0, 108_700.0),
        (3.865, 1.921),
        (28.51, 12.02),
        (2_799.0, 2_412.0),
        (559.8, 466.8),
        (1_507.0, 1_278.0),
        (527.3, 439.9),
        (35.567, 2.028),
    ],
};

/// Draws the synthetic set.
pub fn look_alike(seed: u64) -> Houses {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let blocks: Vec<Block> = (0..ROWS).map(|_| block(&mut rng)).collect();
    let table = prepare(&blocks, &DRAWN);
    let cut = Split::Eighty.train_rows();
    let part = |rows: std::ops::Range<usize>| table.gather(&rows.collect::<Vec<_>>());
    Houses { train: part(0..cut), test: part(cut..ROWS), assumes: None }
}

fn normal(rng: &mut ChaCha8Rng) -> f64 {
    StandardNormal.sample(rng)
}

fn latitude(rng: &mut ChaCha8Rng) -> f64 {
    match rng.random::<f64>() {
        place if place < SOUTH => 33.9 + 0.55 * normal(rng),
        place if place < SOUTH_OR_BETWEEN => 34.8 + 2.4 * rng.random::<f64>(),
        _ => 37.9 + 0.95 * normal(rng),
    }
}

fn block(rng: &mut ChaCha8Rng) -> Block {
    let latitude = latitude(rng);
    let north = latitude - CENTRE.1;
    let (size, wealth, east) = (normal(rng), normal(rng), normal(rng));
    let mut around = |median: f64, spread: f64, common: f64, own: f64| {
        median * (spread * (common + own * normal(rng))).exp()
    };
    let value = around(176_000.0, 0.57, 0.7 * wealth - 0.35 * east - 0.1 * north, 0.55);
    Block {
        longitude: CENTRE.0 - 0.86 * north + 0.6 * east,
        latitude,
        rooms: around(2120.0, 0.75, 0.93 * size + 0.25 * wealth, 0.25),
        bedrooms: around(430.0, 0.73, 0.98 * size, 0.18),
        population: around(1150.0, 0.74, 0.92 * size, 0.38),
        households: around(405.0, 0.73, 0.985 * size, 0.15),
        income: around(3.46, 0.47, wealth, 0.0),
        value: value.min(MOST_VALUE),
        age: (28.6 + 12.6 * (0.94 * normal(rng) - 0.3 * size - 0.12 * wealth)).clamp(1.0, 52.0),
    }
}
