//! How averaging, masked sums and rumours grow with the number of peers: rounds, bytes, time and memory, as rows of a table (`docs/scale.md`).
//!
//! `cargo run --release -p sottovoce-simulator --example scale` measures 10^2 to 10^7 peers, each in a process of its own, one after the other;
//! `-- averaging 1000`, `-- masks 1000` or `-- rumor 1000` one of them. Masked sums are measured to 10^6: each of their peers is the machine that a real one runs.
//! Memory is the largest of the process (Linux), with the graph.

use std::error::Error;
use std::process::{Command, ExitCode};
use std::time::Instant;

use sottovoce_protocol::averaging::Noising;
use sottovoce_protocol::public::{Among, Rules, Sums};
use sottovoce_protocol::ring::{Agreed, Ring};
use sottovoce_simulator::bulk::Bulk;
use sottovoce_simulator::network::Network;
use sottovoce_simulator::ring::RingSetup;
use sottovoce_simulator::rumor::{Crowd, Dice};
use sottovoce_topology::family::{Family, generate};
use sottovoce_topology::mixing::{Mixing, Weights};

/// Neighbours of each peer who averages.
const DEGREE: usize = 8;
/// Bytes of a number.
const NUMBER: usize = 8;
/// Secrets of each peer who adds up under masks.
const KEYS: usize = 16;
/// Noise for epsilon 4 at delta 1e-5, in units of what one person moves: what a trusted server would add.
const SERVER: f64 = 1.08117;
/// How likely a peer stays active after a telling.
const MUTING: f64 = 0.5;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words[..] {
        [] => all(),
        [kind, peers] => one(kind, peers).map(|row| println!("{row}")),
        _ => Err("give nothing, or `averaging`, `masks` or `rumor` and a number of peers".into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::from(2)
        }
    }
}

/// All rows, each from a process of its own, so that its memory is its own.
fn all() -> Result<(), Box<dyn Error>> {
    for (kind, most, head) in [
        ("averaging", 7, "| peers | steps | kB a peer sends | error of the mean | time of a step | memory |"),
        (
            "masks",
            6,
            "| peers | rounds | messages a peer sends | bits of a message | error by law | error here | time | memory |",
        ),
        ("rumor", 7, "| peers | rounds | tellings a peer | bytes a peer sends | time | memory |"),
    ] {
        println!("\n{head}\n{}", "| ---: ".repeat(head.matches('|').count() - 1) + "|");
        for power in 2..=most {
            let peers = 10_usize.pow(power).to_string();
            let run = Command::new(std::env::current_exe()?).args([kind, &peers]).output()?;
            print!("{}{}", String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
        }
    }
    Ok(())
}

fn one(kind: &str, peers: &str) -> Result<String, Box<dyn Error>> {
    let peers: usize = peers.parse().map_err(|_| format!("`peers` is {peers}: give a number"))?;
    match kind {
        "averaging" => averaging(peers),
        "masks" => masks(peers),
        "rumor" => rumor(peers),
        other => Err(format!("`kind` is {other}: give averaging, masks or rumor").into()),
    }
}

/// Gossip on a random graph, until the peers' values differ by no more than what noise leaves in their mean.
fn averaging(peers: usize) -> Result<String, Box<dyn Error>> {
    let graph = generate(&Family::RandomRegular { n: peers, degree: DEGREE }, 1, true)?;
    let mixing = Mixing::new(&graph, Weights::MetropolisPlusOne);
    // Everybody holds 0, so that what is left is noise.
    let noising = Noising { sensitivity: 1.0, local: 1.0, relay: 0.0 };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut bulk = Bulk::new(&mixing, vec![0.0; peers], noising, None, 1, threads)?;
    // The best step counts: other work on the machine can only slow it down.
    let (mut steps, mut time) = (0, f64::INFINITY);
    let n = peers as f64;
    let (mean, spread) = loop {
        let start = Instant::now();
        bulk.step();
        time = time.min(start.elapsed().as_secs_f64());
        steps += 1;
        let mean = bulk.values().iter().sum::<f64>() / n;
        let spread = (bulk.values().iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n).sqrt();
        if spread <= 1.0 / n.sqrt() || steps == 1000 {
            break (mean, spread);
        }
    };
    let error = mean.hypot(spread);
    let sent = (steps * DEGREE * NUMBER) as f64 / 1000.0;
    Ok(format!("| {peers} | {steps} | {sent:.2} | {error:.2e} | {} | {} |", seconds(time), memory()))
}

/// A sum on a ring under masks, by a butterfly, each peer with [`KEYS`] secrets; a tenth of the peers may collude. Every message is a message of the simulator.
fn masks(peers: usize) -> Result<String, Box<dyn Error>> {
    let n = peers as f64;
    let sigma = SERVER / (0.9 * n).sqrt();
    let step = Ring::step(peers, sigma, 1.0);
    let ring = Ring::smallest(Agreed { peers, width: 1, range: 1.0, sigma, step, bits: 64 })?;
    let setup = RingSetup {
        values: vec![vec![0.5]; peers],
        keys: generate(&Family::RandomRegular { n: peers, degree: KEYS }, 1, true)?,
        sums: Sums::Butterfly { positions: (0..peers).collect() },
        sensitivity: 1.0,
        ring,
        round: 0,
    };
    let start = Instant::now();
    let outcome = setup.run(Network::perfect(), 1)?;
    let time = start.elapsed().as_secs_f64();
    let sum = outcome.finals[0].as_ref().ok_or("nobody has a result")?;
    if !outcome.complete || outcome.finals.iter().any(|other| other.as_ref() != Some(sum)) {
        return Err("not everybody has the same sum".into());
    }
    let error = (setup.ring.mean(sum)[0] - 0.5).abs();
    let (rounds, bits) = (outcome.rounds[0], setup.ring.agreed().bits);
    let messages = outcome.traffic.sent as f64 / n;
    let law = n.sqrt() * sigma / n;
    let (time, memory) = (seconds(time), memory());
    Ok(format!(
        "| {peers} | {rounds} | {messages:.1} | {bits} | {law:.2e} | {error:.1e} | {time} | {memory} |"
    ))
}

/// A rumour among all, until everybody knows it.
fn rumor(peers: usize) -> Result<String, Box<dyn Error>> {
    let mut crowd = Crowd::new(Among::Everyone(peers), Rules::new(MUTING)?, 0, Dice::new(1, 0, 0))?;
    let start = Instant::now();
    while crowd.informed() < peers {
        crowd.silent_round();
    }
    let time = start.elapsed().as_secs_f64();
    let tellings = crowd.tellings() as f64 / peers as f64;
    let sent = tellings * NUMBER as f64;
    Ok(format!(
        "| {peers} | {} | {tellings:.2} | {sent:.1} | {} | {} |",
        crowd.rounds(),
        seconds(time),
        memory()
    ))
}

fn seconds(time: f64) -> String {
    match time {
        time if time < 1e-3 => format!("{:.0} µs", time * 1e6),
        time if time < 1.0 => format!("{:.1} ms", time * 1e3),
        time => format!("{time:.1} s"),
    }
}

/// The largest memory of this process so far.
fn memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").trim().parse::<f64>().ok());
    kilobytes.map_or("unknown".to_owned(), |kb| format!("{:.0} MB", kb * 1.024 / 1000.0))
}
