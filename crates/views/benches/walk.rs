//! Times the matrix logarithm and the sum of powers for all pairs of 2048 peers, and, where Python with NumPy is at hand, the same by
//! eigenvectors there; prints the ratios.
//!
//! `cargo bench -p sottovoce-views --bench walk`

use std::process::Command;
use std::time::Instant;

use sottovoce_testing::figure;
use sottovoce_topology::family::{Family, generate};
use sottovoce_topology::io::{self, Format};
use sottovoce_topology::mixing::{Mixing, Weights};
use sottovoce_views::walk::{negative_log, power_sums};

fn seconds<T>(work: impl Fn() -> T) -> (f64, T) {
    let mut best = f64::INFINITY;
    let mut result = None;
    for _ in 0..3 {
        let start = Instant::now();
        result = Some(std::hint::black_box(work()));
        best = best.min(start.elapsed().as_secs_f64());
    }
    (best, result.expect("it ran"))
}

fn main() {
    let graphs = [
        ("hypercube", Family::Hypercube { dimension: 11 }, 1150),
        ("Erdős–Rényi", Family::ErdosRenyi { n: 2048, p: 1.2 * 2048_f64.ln() / 2048.0 }, 2450),
    ];
    for (name, family, steps) in graphs {
        let graph = generate(&family, 1, true).expect("a graph");
        let mixing = Mixing::new(&graph, Weights::MetropolisPlusOne);
        let (log, matrix) = seconds(|| negative_log(&mixing).expect("valid input"));
        let (sums, _) = seconds(|| power_sums(&mixing, steps).expect("valid input"));
        println!("{name}: logarithm {log:.3} s, sum of {steps} powers {sums:.3} s");
        compare(name, &graph, log, matrix[1]);
    }
}

fn compare(name: &str, graph: &sottovoce_topology::Graph, ours: f64, entry: f64) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("graph.txt");
    let write = std::fs::File::create(&file).map(|file| io::write(graph, Format::EdgeList, file));
    let peer = format!("{}/benches/walk_peer.py", env!("CARGO_MANIFEST_DIR"));
    let output = match (write, Command::new("python3").arg(peer).arg(&file).output()) {
        (Ok(Ok(())), Ok(output)) if output.status.success() => output,
        _ => return println!("Python with NumPy is not at hand: no ratio"),
    };
    let times: serde_json::Value = serde_json::from_slice(&output.stdout).expect("the peer prints JSON");
    let theirs = times["seconds"].as_f64().unwrap_or(f64::NAN);
    let off = (times["entry"].as_f64().unwrap_or(f64::NAN) - entry).abs();
    println!(
        "{name}: {theirs:.2} s by NumPy's eigh, {ours:.3} s here, ratio {:.0} (entries differ by {off:.0e})",
        theirs / ours
    );
    figure(&format!("matrix logarithm of 2048 peers, {name}, times NumPy's eigh"), theirs / ours);
}
