//! Integration tests of this crate, one module for each subject.
#![allow(clippy::unwrap_used)]

mod browser;
mod rumor_browser;

use std::path::{Path, PathBuf};

/// Writes a report and gives the browser and the page's address; without a browser, the test is skipped.
fn prepare(folder: &Path, files: &[(String, Vec<u8>)]) -> Option<(PathBuf, String)> {
    let program = sottovoce_testing::chromium::program()?;
    sottovoce_report::store::write(folder, files, false).unwrap();
    Some((program, format!("file://{}", folder.join("report.html").display())))
}
