//! Privacy accounting.
mod accountant;
mod contour;
mod error;
mod gdp;
mod mechanism;
pub mod noise;
mod pld;
mod quadrature;
pub mod rdp;
mod special;

pub use accountant::Accountant;
pub use error::{Error, Result};
pub use gdp::Gdp;
pub use mechanism::{Adjacency, Mechanism, Noise, Sampling};
pub use special::{Interval, normal_quantile};
