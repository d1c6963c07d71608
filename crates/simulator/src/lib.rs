//! Drivers for the protocols: they run peers, and contain no mathematics of their own.

pub mod averaging;
mod error;
pub mod noise;
pub mod trace;

pub use error::{Error, Result};
