//! Times the losses of all pairs on the hypercube of 2048 peers (19 steps), and, where Python with NumPy and SciPy
//! is at hand, the same computation there; prints the ratio. Then one observer among 100,000.
//!
//! `cargo bench -p sottovoce-views --bench leakage`

use std::process::Command;
use std::time::Instant;

use sottovoce_testing::figure;
use sottovoce_topology::family::{Family, generate};
use sottovoce_topology::mixing::{Mixing, Weights};
use sottovoce_views::exact;

const STEPS: usize = 19;

fn seconds<T>(times: usize, work: impl Fn() -> T) -> (f64, T) {
    let mut best = f64::INFINITY;
    let mut result = None;
    for _ in 0..times {
        let start = Instant::now();
        result = Some(std::hint::black_box(work()));
        best = best.min(start.elapsed().as_secs_f64());
    }
    (best, result.expect("it ran"))
}

fn main() {
    let cube = generate(&Family::Hypercube { dimension: 11 }, 0, true).expect("a hypercube");
    let mixing = Mixing::new(&cube, Weights::MetropolisPlusOne);
    let (exact, leakages) =
        seconds(2, || exact::gossip_all_pairs(&mixing, STEPS, &|_| ()).expect("valid input"));
    let mean: f64 = leakages.iter().map(exact::Leakage::mean).sum::<f64>() / leakages.len() as f64;
    println!("exact, all pairs: {exact:.3} s (mean loss {mean:.6}, rank {:?})", leakages[0].rank);

    let big = generate(&Family::RandomRegular { n: 100_000, degree: 10 }, 7, true).expect("a regular graph");
    let mixing = Mixing::new(&big, Weights::MetropolisPlusOne);
    let start = Instant::now();
    let one = exact::gossip(&mixing, &[0], 20).expect("valid input");
    let took = start.elapsed().as_secs_f64();
    println!("exact, one observer of 100,000 (degree 10, 20 steps): {took:.2} s, rank {:?}", one.rank);
    figure("one observer of 100,000 peers, seconds", took);
    println!("largest resident set so far: {} MiB", peak_memory());

    let peer = format!("{}/benches/leakage_peer.py", env!("CARGO_MANIFEST_DIR"));
    let output = match Command::new("python3").arg(peer).output() {
        Ok(output) if output.status.success() => output,
        _ => return println!("Python with NumPy and SciPy is not at hand: no ratio"),
    };
    let times: serde_json::Value = serde_json::from_slice(&output.stdout).expect("the peer prints JSON");
    let (name, theirs) = ("exact, NumPy pinv per observer", times["exact_pinv"].as_f64().unwrap_or(f64::NAN));
    println!("{name}: {theirs:.2} s there, {exact:.3} s here, ratio {:.0}", theirs / exact);
    figure(&format!("all pairs of 2048 peers, {name}, times"), theirs / exact);
    let (theirs, ours) = (times["loss_0_1"].as_f64().unwrap_or(f64::NAN), leakages[0].losses[1]);
    assert!((theirs - ours).abs() < 1e-9, "the two disagree: {theirs} and {ours}");
}

/// From the kernel's account of this process, where there is one.
fn peak_memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("unknown");
    line.trim()
        .trim_end_matches(" kB")
        .parse::<u64>()
        .map_or_else(|_| line.into(), |kib| (kib / 1024).to_string())
}
