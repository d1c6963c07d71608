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
//! They are standardised, each row is divided by its 2-norm, and the intercept is appended: nine parameters, rows of norm `sqrt(2)`.
//! [`read`] does that to a user's copy of the data, and [`look_alike`] makes a synthetic set of the same shape.
//!
//! The mean longitude, and the means and deviations by which columns are standardised, are constants of this file and not computed
//! from the rows at hand: whoever replaces one row changes no other. Those of the real set were computed from it once, long after it was
//! published; that they are public is an assumption of whoever speaks of its rows as private, and [`Houses::assumes`] says so.

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
    /// What has to be public for its rows to be private; nothing, for synthetic ones.
    pub assumes: Option<&'static str>,
}

/// What the label and the scaling of the real set assume.
pub const PUBLIC: &str = "the means and deviations of the published Houses set, from which labels and scaling are made, are public";

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

/// The numbers that labels and scaling are made from.
struct Constants {
    /// Below it labels are +1.
    longitude: f64,
    /// Centre and unit of each feature, in their order.
    columns: [(f64, f64); 8],
}

/// Means and standard deviations (of the population) of the 20,640 rows of StatLib's file.
const REAL: Constants = Constants {
    longitude: -119.569_704_457_364_34,
    columns: [
        (206_855.816_908_914_74, 115_392.820_404_122_53),
        (3.870_671_002_906_976_6, 1.899_775_694_574_873_6),
        (28.639_486_434_108_527, 12.585_252_725_724_605),
        (2_635.763_081_395_348_8, 2_181.562_401_735_972_3),
        (537.898_013_565_891_5, 421.237_701_170_641_8),
        (1_425.476_744_186_046_5, 1_132.434_687_757_615),
        (499.539_680_232_558_1, 382.320_490_855_257_1),
        (35.631_861_434_108_53, 2.135_900_653_797_483),
    ],
};

/// The label and the features of the papers, prepared as they do.
fn prepare(blocks: &[Block], constants: &Constants) -> Table {
    let label = |block: &Block| if block.longitude < constants.longitude { 1.0 } else { -1.0 };
    let features = blocks.iter().flat_map(|b| {
        [b.value, b.income, b.age, b.rooms, b.bedrooms, b.population, b.households, b.latitude]
    });
    let mut table = Table::of_finite(features.collect(), 8, blocks.iter().map(label).collect());
    table.rescale(&constants.columns);
    table.normalise_rows();
    table.with_intercept()
}
