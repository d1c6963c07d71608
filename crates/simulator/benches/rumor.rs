//! Nanoseconds for a telling, beside the same protocol in Python and NumPy.
//!
//! `cargo bench -p sottovoce-simulator --bench rumor`
//!
//! Both sides spread rumours among 65,536 peers until everyone knows, with the same muting parameters, and time is divided by
//! tellings. *Steps* is Algorithm 1: any active peer tells. *Rounds* lets every active peer tell once. The ratios printed are time per
//! telling there over time per telling here.

use std::process::Command;
use std::time::Instant;

use sottovoce_protocol::Result;
use sottovoce_protocol::public::{Among, Rules};
use sottovoce_simulator::rumor::{Crowd, Dice};
use sottovoce_testing::figure;

const PEERS: usize = 1 << 16;

/// Nanoseconds per telling, the best of several runs: other work on the machine can only slow them down.
fn nanoseconds(peers: usize, s: f64, runs: u64, go: impl Fn(&mut Crowd<'_>)) -> Result<(f64, u64, u64)> {
    let mut crowd = Crowd::new(Among::Everyone(peers), Rules::new(s)?, 0, Dice::new(1, 0, 0))?;
    let mut best = (f64::INFINITY, 0, 0);
    for run in 0..runs {
        crowd.again(0, Dice::new(1, run, 0))?;
        let start = Instant::now();
        while crowd.informed() < peers {
            go(&mut crowd);
        }
        let nanoseconds = start.elapsed().as_nanos() as f64 / crowd.tellings() as f64;
        if nanoseconds < best.0 {
            best = (nanoseconds, crowd.tellings(), crowd.rounds());
        }
    }
    Ok(best)
}

fn main() -> Result<()> {
    println!("{:<28}{:>12} {:>12} {:>8}", "", "ns/telling", "tellings", "rounds");
    let mut ours = Vec::new();
    for s in [0.1, 0.5, 1.0] {
        let steps = nanoseconds(PEERS, s, 100, |crowd| {
            crowd.step();
        })?;
        let rounds = nanoseconds(PEERS, s, 300, |crowd| crowd.silent_round())?;
        for (name, (time, tellings, rounds)) in [("steps", steps), ("rounds", rounds)] {
            println!(
                "{:<28}{time:>12.2} {tellings:>12} {rounds:>8}",
                format!("65,536 peers, {name}, s = {s}")
            );
            ours.push((format!("{name} {s}"), time));
        }
    }
    let (time, tellings, rounds) = nanoseconds(10_000_000, 0.5, 1, |crowd| crowd.silent_round())?;
    println!("{:<28}{time:>12.2} {tellings:>12} {rounds:>8}", "10^7 peers, rounds, s = 0.5");
    compare(&ours);
    Ok(())
}

fn compare(ours: &[(String, f64)]) {
    let peer = format!("{}/benches/rumor_peer.py", env!("CARGO_MANIFEST_DIR"));
    let output = match Command::new("python3").arg(peer).output() {
        Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stdout).into_owned(),
        _ => return println!("Python with NumPy is not at hand: no ratio"),
    };
    // One line for each: name, s, nanoseconds.
    for line in output.lines() {
        let Some((name, theirs)) = line.rsplit_once(' ') else { continue };
        let theirs: f64 = theirs.parse().unwrap_or(f64::NAN);
        if let Some((_, time)) = ours.iter().find(|(key, _)| key == name) {
            println!("{name}: {theirs:.0} ns there, {time:.2} ns here, ratio {:.1}", theirs / time);
            figure(&format!("a push, {name}, times NumPy"), theirs / time);
        }
    }
}
