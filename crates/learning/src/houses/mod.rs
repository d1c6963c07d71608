//! The Houses task of the papers: on which side of California's mean longitude does a block of houses lie?
//!
//! The file is `cal_housing.data` of StatLib: 20,640 rows of longitude, latitude, age, rooms, bedrooms, population,
//! households, income and value. The task is the one that OpenML publishes in binary form as set 823. Its label is **not** the value of
//! the houses: it is +1 where the longitude is below the mean (8914 rows) and -1 elsewhere (11726), and the other columns
//! are the features, in this order:
//!
//! ```text
//! value, income, age, rooms, bedrooms, population, households, latitude, and 1 (the intercept)
//! ```
//!
//! They are standardised over all rows, each row is divided by its 2-norm, and the intercept is appended: nine parameters, rows of
//! norm `sqrt(2)`. [`read`] does that to a user's copy of the data, and [`look_alike`] makes a synthetic set of the same shape.

mod files;
mod look_alike;

pub use files::read;
pub use look_alike::look_alike;

use crate::Table;

/// Rows of the set.
const ROWS: usize = 20_640;

/// Which rows are for training.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Split {
    /// The random-walk paper's: 16512 rows to train and 4128 to test (`train_idx_0.8.txt`, `test_idx_0.8.txt`).
    Eighty,
    /// That of Muffliato's published code: 16006 and 4634 (`train_idx_0.7755.txt`, `test_idx_0.7755.txt`).
    Authors,
}

impl Split {
    /// Rows to train on.
    pub fn train_rows(self) -> usize {
        match self {
            Self::Eighty => 16_512,
            Self::Authors => 16_006,
        }
    }

    /// How the index files call it.
    fn name(self) -> &'static str {
        match self {
            Self::Eighty => "0.8",
            Self::Authors => "0.7755",
        }
    }
}

/// The task, ready to learn.
#[derive(Debug, Clone, PartialEq)]
pub struct Houses {
    /// Rows to train on, in the order of the split.
    pub train: Table,
    /// Rows to test on.
    pub test: Table,
}

/// A row of the file, of finite numbers.
#[derive(Debug, Clone, Copy)]
struct Block {
    longitude: f64,
    latitude: f64,
    age: f64,
    rooms: f64,
    bedrooms: f64,
    population: f64,
    households: f64,
    income: f64,
    value: f64,
}

/// The label and the features of the papers, prepared as they do.
fn prepare(blocks: &[Block]) -> Table {
    let mean = blocks.iter().map(|block| block.longitude).sum::<f64>() / blocks.len() as f64;
    let labels = blocks.iter().map(|block| if block.longitude < mean { 1.0 } else { -1.0 }).collect();
    let features = blocks.iter().flat_map(|b| {
        [b.value, b.income, b.age, b.rooms, b.bedrooms, b.population, b.households, b.latitude]
    });
    let mut table = Table::of_finite(features.collect(), 8, labels);
    table.standardise();
    table.normalise_rows();
    table.with_intercept()
}
