//! `NaN.max(0.0)` is `0`: a loss that could not be computed would be none. Floating-point numbers are compared by the functions of
//! `interval.rs`, which carry what is not a number on; `max`, `min` and `clamp` are for whole numbers, and say so on their line.

use std::path::{Path, PathBuf};

const WORDS: [&str; 7] = [".max(", ".min(", ".clamp(", "f64::max", "f64::min", ".max_by(", ".min_by("];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Whether a line compares by a function that drops what is not a number.
fn drops(line: &str) -> bool {
    let code = line.split("//").next().unwrap_or("");
    WORDS.iter().any(|word| code.contains(word)) && !line.contains("// whole numbers")
}

#[test]
fn no_floating_point_number_is_compared_by_max() {
    let mut files = Vec::new();
    sources(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src")), &mut files);
    assert!(files.len() > 20);
    let mut wrong = Vec::new();
    for file in files {
        for (number, line) in std::fs::read_to_string(&file).unwrap().lines().enumerate() {
            if drops(line) {
                wrong.push(format!("{}:{}: {}", file.display(), number + 1, line.trim()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(drops("let x = value.max(0.0);") && !drops("let n = a.min(b); // whole numbers"));
}
