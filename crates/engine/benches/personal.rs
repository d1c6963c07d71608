//! How many updates of personalised models a second: 100,000 agents with 20 neighbours and 10 to 100 rows of 20 features, ten updates each.
//!
//! `cargo bench -p sottovoce-engine --bench personal`
//!
//! In one run: one thread, two threads, and a NumPy loop (`personal_peer.py`, where Python has NumPy) that makes the same updates, so that ratios mean
//! something on a noisy machine. Features are numbers that 32 bits hold, as those of drawn tasks are, so that rows are read in half the memory with the same
//! bits (`learning/src/gradients.rs`); NumPy has them in 64 bits, in which it is faster. What bounds it: each update reads 55 rows of 80 bytes on average,
//! which nothing else reads, and 20 models of 160.

use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use sottovoce_learning::{Clip, Gradients, Loss, Model, Shards, Table};
use sottovoce_protocol::personal::{Hidden, Plan, Rule};
use sottovoce_protocol::{Law, Peer};
use sottovoce_simulator::personal::{FastPersonal, PersonalSetup, Rows};
use sottovoce_testing::figure;
use sottovoce_topology::family::{Family, generate};
use sottovoce_topology::{Graph, Similarity};

const AGENTS: usize = 100_000;
const WIDTH: usize = 20;
const UPDATES: usize = 10;
const CLIP: f64 = 0.5;

struct Own<'a> {
    model: Model,
    gradients: Gradients<'a>,
}

impl Rows for Own<'_> {
    fn gradient(&self, agent: Peer, update: usize, model: &[f64], out: &mut [f64]) {
        self.gradient_while(agent, update, model, out, |_| ());
    }

    fn gradient_while(
        &self,
        agent: Peer,
        _: usize,
        model: &[f64],
        out: &mut [f64],
        meanwhile: impl FnMut(usize),
    ) {
        self.gradients.of(agent, &self.model, model, out, meanwhile);
    }

    fn expect(&self, agent: Peer) {
        self.gradients.expect(agent);
    }

    fn fetch(&self, agent: Peer, turn: usize) {
        self.gradients.fetch(agent, turn);
    }

    fn local(&self, _: Peer, _: &mut [f64]) {}
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let graph: Graph = generate(&Family::RandomRegular { n: AGENTS, degree: 20 }, 1, true)?;
    let similarity = Similarity::of_graph(graph, |_, _| 1.0)?;
    let shards = rows()?;
    let model = Model { loss: Loss::Logistic, width: WIDTH, ridge: 0.0 };
    let own = Own { model, gradients: Gradients::new(&shards, Clip::Example(CLIP))? };
    let size = |agent| shards.rows_of(agent) as f64;
    let multipliers: Arc<[f64]> = vec![1.0; UPDATES].into();
    let plan = |agent| {
        let m = size(agent);
        let hidden =
            Hidden { law: Law::Gaussian, sensitivity: 2.0 * CLIP / m, multipliers: multipliers.clone() };
        let rule = Rule::step(0.5 * m / 100.0, 0.0, 0.25);
        Plan { rule, updates: UPDATES, hidden: Some(hidden), warm: None, repeats: 0, patience: None }
    };
    let plans: Vec<Plan> = (0..AGENTS).map(plan).collect();
    let (one, bits) = timed(1, &similarity, &plans, &own)?;
    let (two, same) = timed(2, &similarity, &plans, &own)?;
    assert_eq!(bits, same, "the bits do not depend on the threads");
    println!("one thread   {:>12.0} updates a second", one);
    println!("two threads  {:>12.0} updates a second, {:.2} times one", two, two / one);
    match peer() {
        Some(numpy) => {
            println!(
                "NumPy loop   {numpy:>12.0} updates a second; two threads are {:.1} times as fast",
                two / numpy
            );
            figure("a personalised update on two threads, times NumPy", two / numpy);
        }
        None => println!("NumPy loop   not here: give a Python with NumPy"),
    }
    Ok(())
}

/// Updates a second, the best of three runs, and what came of it.
fn timed(
    threads: usize,
    similarity: &Similarity,
    plans: &[Plan],
    own: &Own<'_>,
) -> Result<(f64, Vec<f64>), Box<dyn std::error::Error>> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    let (mut best, mut models) = (0.0_f64, Vec::new());
    for _ in 0..3 {
        let setup = PersonalSetup::new(similarity, vec![0.0; WIDTH], plans, 7)?;
        models = pool.install(|| -> Result<_, sottovoce_protocol::Error> {
            let start = Instant::now();
            let mut fast = FastPersonal::new(setup, own)?;
            fast.advance(usize::MAX);
            best = best.max((AGENTS * UPDATES) as f64 / start.elapsed().as_secs_f64());
            Ok(fast.models().to_vec())
        })?;
    }
    Ok((best, models))
}

fn rows() -> sottovoce_learning::Result<Shards> {
    let mut state = 1_u64;
    let mut number = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let sizes: Vec<usize> = (0..AGENTS).map(|_| 10 + (number() * 91.0) as usize).collect();
    let all: usize = sizes.iter().sum();
    let mut feature = || f64::from(((2.0 * number() - 1.0) / (WIDTH as f64).sqrt()) as f32);
    let features: Vec<f64> = (0..all * WIDTH).map(|_| feature()).collect();
    let labels: Vec<f64> = (0..all).map(|_| if number() < 0.5 { -1.0 } else { 1.0 }).collect();
    let table = Table::new(features, WIDTH, labels)?;
    let mut first = 0;
    let lists: Vec<Vec<usize>> = sizes
        .iter()
        .map(|&m| {
            first += m;
            (first - m..first).collect()
        })
        .collect();
    Shards::by_lists(&table, &lists)
}

fn peer() -> Option<f64> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/personal_peer.py");
    let output = Command::new("python3").arg(script).output().ok()?;
    String::from_utf8(output.stdout).ok()?.trim().parse().ok()
}
