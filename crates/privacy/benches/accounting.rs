//! Times every privacy-loss and Rényi point of the reference file, and, where Python with `dp-accounting` 0.6 is at hand,
//! the same points there, one after the other on one thread; prints the ratios.
//!
//! `cargo bench -p sottovoce-privacy --bench accounting`; set `SOTTOVOCE_SLOWEST=1` to see our slowest points.

use std::process::Command;
use std::time::Instant;

use serde_json::Value;
use sottovoce_privacy::{Accountant, Adjacency, Mechanism};
use sottovoce_testing::figure;

const DATA: &str = include_str!("../tests/it/reference/accounting.json");

/// The accountant of a row, if the row is of one of the timed kinds.
fn accountant(row: &Value) -> Option<Accountant> {
    let number = |key: &str| row[key].as_f64();
    let kind = row["kind"].as_str()?;
    let (noise, rate) = match kind {
        "poisson_gaussian" => (Mechanism::gaussian(number("noise_multiplier")?), number("q")?),
        "gaussian" => (Mechanism::gaussian(number("noise_multiplier")?), 1.0),
        "poisson_laplace" => (Mechanism::laplace(number("scale")?), number("q")?),
        "laplace" => (Mechanism::laplace(number("scale")?), 1.0),
        _ => return None,
    };
    let mut accountant = Accountant::new(Adjacency::AddRemove);
    accountant.compose(noise.ok()?.poisson(rate).ok()?, row["steps"].as_u64()?).ok()?;
    Some(accountant)
}

fn deltas(row: &Value, key: &str) -> Vec<f64> {
    row[key]
        .as_object()
        .map(|object| object.keys().filter_map(|delta| delta.parse().ok()).collect())
        .unwrap_or_default()
}

/// Seconds for all points of one currency, the best of three passes.
fn ours(rows: &[Value], key: &str, work: impl Fn(&Accountant, &[f64])) -> f64 {
    let points: Vec<(Accountant, Vec<f64>, &Value)> = rows
        .iter()
        .filter_map(|row| Some((accountant(row)?, deltas(row, key), row)))
        .filter(|(_, deltas, _)| !deltas.is_empty())
        .collect();
    let mut best = f64::INFINITY;
    for _ in 0..3 {
        let mut each: Vec<(f64, String)> = Vec::new();
        for (accountant, deltas, row) in &points {
            let start = Instant::now();
            work(accountant, deltas);
            let name = format!("{} {} {} x{}", row["kind"], row["noise_multiplier"], row["q"], row["steps"]);
            each.push((start.elapsed().as_secs_f64(), name));
        }
        best = best.min(each.iter().map(|point| point.0).sum());
        if std::env::var_os("SOTTOVOCE_SLOWEST").is_some() {
            each.sort_by(|a, b| b.0.total_cmp(&a.0));
            each.iter().take(12).for_each(|(seconds, name)| println!("    {seconds:.4} s {name}"));
        }
    }
    println!("{key}: {} points in {best:.4} s", points.len());
    best
}

fn main() {
    let file: Value = serde_json::from_str(DATA).expect("the reference file is part of this crate");
    let rows = file["points"].as_array().cloned().unwrap_or_default();
    let pld = ours(&rows, "pld", |accountant, deltas| {
        std::hint::black_box(accountant.epsilons(deltas)).expect("reference rows are valid");
    });
    let rdp = ours(&rows, "rdp", |accountant, deltas| {
        for &delta in deltas {
            std::hint::black_box(accountant.rdp_epsilon(delta)).expect("reference rows are valid");
        }
    });
    let here = env!("CARGO_MANIFEST_DIR");
    let peer = Command::new("python3")
        .args([
            format!("{here}/benches/accounting_peer.py"),
            format!("{here}/tests/it/reference/accounting.json"),
        ])
        .output();
    match peer {
        Ok(output) if output.status.success() => {
            let times: Value = serde_json::from_slice(&output.stdout).expect("the peer prints JSON");
            for (name, ours, key) in
                [("privacy-loss distributions", pld, "pld"), ("Rényi divergences", rdp, "rdp")]
            {
                let theirs = times[key].as_f64().unwrap_or(f64::NAN);
                println!(
                    "{name}: dp-accounting {} {theirs:.2} s, ratio {:.0}",
                    times["version"],
                    theirs / ours
                );
                figure(&format!("{name}, times dp-accounting"), theirs / ours);
            }
        }
        _ => println!("Python with dp-accounting is not at hand: no ratio"),
    }
}
