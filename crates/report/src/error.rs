//! What can go wrong when a report is written: its data do not fit together, or its folder does not accept it.

use std::path::PathBuf;

/// Results of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a report was not written. Nothing is half-written when one is returned.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Two fields of a report contradict each other.
    #[error("`{field}` {problem}")]
    Inconsistent {
        /// The field at fault.
        field: &'static str,
        /// What it is and what it should have been.
        problem: String,
    },
    /// Files cannot go there: nothing was done yet.
    #[error("`{field}` is {}: {problem}", .path.display())]
    Place {
        /// The option that named the place.
        field: String,
        /// The file or folder concerned.
        path: PathBuf,
        /// What stands in the way, and the remedy.
        problem: String,
    },
    /// The file system refused; what was there is there still.
    #[error("`{field}` is {}: cannot write in {}; choose another folder", .path.display(), .folder.display())]
    Write {
        /// The option that named the place.
        field: String,
        /// The file or folder concerned.
        path: PathBuf,
        /// The folder that refused.
        folder: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A picture could not be turned into a bitmap.
    #[error("cannot draw a bitmap of {width} by {height} pixels: {problem}")]
    Bitmap {
        /// Width asked for, in pixels.
        width: f64,
        /// Height asked for, in pixels.
        height: f64,
        /// What stood in the way.
        problem: String,
    },
    /// The data could not be written as JSON.
    #[error("cannot write the data as JSON: {0}")]
    Json(#[from] serde_json::Error),
}
