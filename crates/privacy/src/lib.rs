//! Privacy accounting.
mod contour;
mod error;
mod mechanism;
pub mod noise;
mod pld;
mod quadrature;
pub mod rdp;
mod special;
pub use error::{Error, Result};
pub use mechanism::{Adjacency, Mechanism, Noise, Sampling};
pub use special::{Interval, normal_quantile};
