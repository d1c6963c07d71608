//! Privacy accounting.
mod error;
pub use error::{Error, Result};
