//! How close a gossip step comes to the speed of memory.
//!
//! `cargo bench -p sottovoce-simulator --bench gossip [-- nodes degree threads]`
//!
//! **Counted** as the compulsory traffic of a step, every byte once whatever caches do:
//!
//! ```text
//! each directed edge   place 4 + weight 8        or 4 + 1 where few weights are different: they are stored as codes then
//! each node            own weight 8 + value read 8 + value written 8 (+ 8 for the value before, if accelerated;
//!                      + 16 for the message written and read, with relay noise)
//! ```
//!
//! Neighbours' values count once a node and not once an edge: that a cache holds them is the kernel's concern. The *copy*
//! moves as many bytes between large arrays, on as many threads, and counts 8 read and 8 written a number. The line that a store
//! may fetch first is in neither count. A step is nearly all reading, which on many machines is slower than a copy so counted:
//! *read* does nothing but read as many bytes. All are timed alternately, and the best of many counts, since other work on the machine
//! can only slow them down. `rows` is the same step in compressed rows (4 + 8 an edge), by one thread, for comparison.

use std::time::Instant;

use sottovoce_protocol::averaging::Noising;
use sottovoce_simulator::bulk::Bulk;
use sottovoce_testing::figure;
use sottovoce_topology::family::{Family, generate};
use sottovoce_topology::mixing::{Mixing, Weights};
use sottovoce_topology::{Graph, Result};

const REPEATS: usize = 40;
const PLAIN: Noising = Noising { sensitivity: 1.0, local: 1.0, relay: 0.0 };

/// What a step is made of.
struct Case<'a> {
    name: &'static str,
    mixing: &'a Mixing,
    gamma: Option<f64>,
    relay: f64,
    per_edge: usize,
    per_node: usize,
}

fn main() -> Result<()> {
    let numbers: Vec<usize> = std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    let given = |i: usize, default| numbers.get(i).copied().unwrap_or(default);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let (n, degree, threads) = (given(0, 1_000_000), given(1, 20), given(2, cores));
    let graph = generate(&Family::RandomRegular { n, degree }, 1, false)?;
    println!("{n} nodes, {} edges, {threads} threads", graph.edge_count());
    println!(
        "{:<34}{:>8} {:>9} {:>9} {:>9} {:>9} {:>9}",
        "step", "ms", "GB/s", "copy", "read", "of copy", "of read"
    );
    let equal = Mixing::new(&graph, Weights::MetropolisPlusOne);
    let rows = best(|| equal.apply(&vec![1.0; n], &mut vec![0.0; n]));
    let different = different(&graph)?;
    let case = |name, mixing, gamma, relay, per_edge, per_node| Case {
        name,
        mixing,
        gamma,
        relay,
        per_edge,
        per_node,
    };
    for case in [
        case("all weights different", &different, None, 0.0, 12, 24),
        case("all weights different, accelerated", &different, Some(1.5), 0.0, 12, 32),
        case("few weights", &equal, None, 0.0, 5, 24),
        case("few weights, accelerated", &equal, Some(1.5), 0.0, 5, 32),
        case("few weights, relay noise", &equal, None, 0.1, 5, 40),
    ] {
        report(&case, threads);
    }
    println!("{:<34}{:>8.1}", "rows", rows * 1e3);
    Ok(())
}

/// A matrix without equal weights.
fn different(graph: &Graph) -> Result<Mixing> {
    let similarity = |i: usize| 1.0 + (i as f64 * 0.618_033_988_749_895).fract();
    Mixing::from_similarities(graph, &(0..graph.edge_count()).map(similarity).collect::<Vec<_>>())
}

fn report(case: &Case<'_>, threads: usize) {
    let (nodes, edges) = (case.mixing.nodes(), 2 * case.mixing.graph().edge_count());
    let bytes = case.per_edge * edges + case.per_node * nodes;
    let values = (0..nodes).map(|i| i as f64).collect();
    let noising = Noising { relay: case.relay, ..PLAIN };
    let mut bulk = match Bulk::new(case.mixing, values, noising, case.gamma, 1, threads) {
        Ok(bulk) => bulk,
        Err(error) => return println!("{error}"),
    };
    let (from, mut to) = (vec![1.0; bytes / 16], vec![0.0; bytes / 16]);
    let (mut step, mut copy, mut read) = (f64::INFINITY, f64::INFINITY, f64::INFINITY);
    for _ in 0..REPEATS {
        step = step.min(seconds(|| bulk.step()));
        copy = copy.min(seconds(|| parallel_copy(&from, &mut to, threads)));
        read = read.min(seconds(|| parallel_read(&[&from, &to], threads)));
    }
    let speed = |seconds: f64| bytes as f64 / seconds / 1e9;
    let (name, ms) = (case.name, step * 1e3);
    println!(
        "{name:<34}{ms:>8.1} {:>9.2} {:>9.2} {:>9.2} {:>9.2} {:>9.2}",
        speed(step),
        speed(copy),
        speed(read),
        copy / step,
        read / step
    );
    figure(&format!("a gossip step of {nodes} peers, {name}, of a read"), read / step);
}

fn parallel_read(arrays: &[&[f64]], threads: usize) {
    let sum = |part: &[f64]| {
        let mut sums = [0.0; 16];
        for chunk in part.chunks_exact(16) {
            sums.iter_mut().zip(chunk).for_each(|(sum, x)| *sum += x);
        }
        std::hint::black_box(sums);
    };
    std::thread::scope(|scope| {
        for array in arrays {
            array.chunks(array.len().div_ceil(threads)).take(threads).for_each(|part| {
                scope.spawn(move || sum(part));
            });
        }
    });
}

fn parallel_copy(from: &[f64], to: &mut [f64], threads: usize) {
    let chunk = from.len().div_ceil(threads);
    std::thread::scope(|scope| {
        for (to, from) in to.chunks_mut(chunk).zip(from.chunks(chunk)) {
            scope.spawn(|| to.copy_from_slice(from));
        }
    });
    std::hint::black_box(to);
}

fn best(mut work: impl FnMut()) -> f64 {
    (0..5).map(|_| seconds(&mut work)).fold(f64::INFINITY, f64::min)
}

fn seconds(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}
