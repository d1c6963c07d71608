//! So many mutants for each decoder (or one of them), with the speed and the memory: `cargo run --release -p sottovoce-node --example mutants -- 100000000 frame`.

mod mutate;

use std::time::Instant;

use sottovoce_node::probe::{DECODERS, seeds};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let count: u64 = words.first().and_then(|word| word.parse().ok()).unwrap_or(1_000_000);
    let chosen = words.get(1);
    for (place, (name, decode)) in DECODERS.into_iter().enumerate() {
        if chosen.is_some_and(|chosen| chosen != name) {
            continue;
        }
        let (seeds, mut dice) = (&seeds()[place], mutate::Dice::new(count + place as u64));
        let began = Instant::now();
        for _ in 0..count {
            decode(&mutate::mutant(seeds, &mut dice));
        }
        let seconds = began.elapsed().as_secs_f64();
        println!("{name}: {count} mutants in {seconds:.1} s, {:.0} a second", count as f64 / seconds);
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status.lines().filter(|line| line.starts_with("VmHWM")).for_each(|line| println!("{line}"));
}
