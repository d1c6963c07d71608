//! Mutants of everything that is read from others, for every decoder: no panic, and no more memory than was agreed on. (`cargo run --release -p sottovoce-node --example mutants`
//! goes on for as long as one likes; `fuzz/` has the same decoders for a fuzzer that sees the code.)

#[path = "../../examples/mutants/mutate.rs"]
mod mutate;

use mutate::Dice;
use sottovoce_node::probe::{DECODERS, seeds};

#[test]
fn whatever_is_read_is_refused_or_whole() {
    for (place, (name, decode)) in DECODERS.into_iter().enumerate() {
        let seeds = &seeds()[place];
        // What is meant to be read can be.
        seeds.iter().for_each(|seed| decode(seed));
        // Texts take a hundred times as long to read.
        let count = if name == "agreement" { 3_000 } else { 150_000 };
        let mut dice = Dice::new(place as u64);
        for _ in 0..count {
            decode(&mutate::mutant(seeds, &mut dice));
        }
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak =
        status.lines().find(|line| line.starts_with("VmHWM")).and_then(|line| line.split_whitespace().nth(1));
    let peak: u64 = peak.map_or(0, |kilobytes| kilobytes.parse().unwrap());
    assert!(peak < 256 * 1024, "{peak} kB");
}

/// The mutants reach what they are meant to: some are read, most are refused, and they are not all the same.
#[test]
fn mutants_differ() {
    let seeds = &seeds()[0];
    let mut dice = Dice::new(1);
    let all: std::collections::BTreeSet<Vec<u8>> =
        (0..10_000).map(|_| mutate::mutant(seeds, &mut dice)).collect();
    assert!(all.len() > 8_000, "{}", all.len());
    let read =
        all.iter().filter(|bytes| sottovoce_node::network::wire::decode(bytes, 1 << 12).is_ok()).count();
    assert!(read > 500 && read < 9_000, "{read}");
}
