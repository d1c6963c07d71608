//! What tests of several crates share: a browser, free ports, documents held against schemas, and skips that are counted.
#![allow(clippy::unwrap_used)]

pub mod chromium;
mod held;
mod ports;

use std::io::Write;
use std::path::PathBuf;

pub use held::held;
pub use ports::ports;

/// Prints a figure of a benchmark for `benches/record`, which keeps the last ones: a name without tabs, and a number.
pub fn figure(name: &str, value: f64) {
    println!("figure\t{name}\t{value:.3}");
}

/// Names a file to which each skip is appended, in a line: what is missing, which test, why.
pub const SKIPS: &str = "SOTTOVOCE_SKIPS";

/// Reports that this test cannot run here. `missing` is one word (`data`, `browser`, `card`); the line is seen although tests are captured.
pub fn skipped(missing: &str, why: &str) {
    let thread = std::thread::current();
    let line = format!("{missing}\t{}\t{why}\n", thread.name().unwrap_or("?"));
    // Not `eprintln!`, which the test runner captures.
    let _ = std::io::stderr().write_all(format!("skipped: {line}").as_bytes());
    if let Some(path) = std::env::var_os(SKIPS) {
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
        file.write_all(line.as_bytes()).unwrap();
    }
}

/// The folder of real data, `SOTTOVOCE_DATA`, where it has this set; otherwise this test is skipped.
#[must_use]
pub fn data(set: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("SOTTOVOCE_DATA").map(PathBuf::from);
    let folder = folder.filter(|folder| folder.join(set).exists());
    if folder.is_none() {
        skipped("data", &format!("set SOTTOVOCE_DATA to a folder with {set}"));
    }
    folder
}
