//! How many samples a second a card clips, hides and learns from, beside PyTorch on the same card.
//!
//! `cargo bench -p sottovoce-gpu --bench card [-- RUNS]`
//!
//! So many runs (300 unless told) of ten agents, lots of 256 drawn pictures, whole iterations: coins, gradients, clipping, noise, mixing, steps. Where `python3`
//! has PyTorch, the same batch is timed there (`benches/peer.py`): one plain step under noise for every agent, by ghost clipping and a CUDA graph.
//!
//! `cargo bench -p sottovoce-gpu --bench card -- table FOLDER [TRIALS]`
//!
//! All runs of the consensus paper's Table 1 in one go, from a folder with MNIST, under the paper's noise and rates: mean accuracy over agents and trials, with its
//! spread, and how long it took.
//!
//! `cargo bench -p sottovoce-gpu --bench card -- against FOLDER [ROUNDS]`
//!
//! DSGT at an epsilon of 10 on the complete graph, with the same lots and the same noise, once with gradients of the processor and once with the card's: accuracies
//! and times.

use std::error::Error;
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use sottovoce_gpu::{Card, Course, Gradients, Together};
use sottovoce_learning::net::{Net, Scratch};
use sottovoce_learning::{Images, images};
use sottovoce_privacy::Lots;
use sottovoce_protocol::consensus::{At, Hidden, Method, Optimiser, Plan, Rates, Rule};
use sottovoce_simulator::consensus::{BulkConsensus, ConsensusSetup, Trainer};
use sottovoce_topology::Graph;
use sottovoce_topology::family::{Family, generate};
use sottovoce_topology::mixing::Mixing;
use sottovoce_topology::spectrum::normalized_fiedler;

type Done<T> = Result<T, Box<dyn Error>>;

const AGENTS: usize = 10;
const LOT: usize = 256;

fn main() -> Done<()> {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let card = match Card::open() {
        Ok(card) => card,
        Err(error) => {
            println!("skipped: {error}");
            return Ok(());
        }
    };
    println!("{}", card.name());
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["table", folder] => table(&card, Path::new(folder), 5),
        ["table", folder, trials] => table(&card, Path::new(folder), trials.parse()?),
        ["against", folder] => against(&card, Path::new(folder), ROUNDS),
        ["against", folder, rounds] => against(&card, Path::new(folder), rounds.parse()?),
        [] => speed(&card, 300),
        [runs] => speed(&card, runs.parse()?),
        _ => Err("give a number of runs, or `table FOLDER [TRIALS]`, or `against FOLDER [ROUNDS]`".into()),
    }
}

fn complete() -> Done<Graph> {
    let pairs = (0..AGENTS).flat_map(|u| (0..u).map(move |v| (v, u)));
    Ok(Graph::from_edges(AGENTS, pairs)?)
}

fn speed(card: &Card, runs: usize) -> Done<()> {
    let (train, test) = (images::drawn(6000, 1)?.normalised(&images::MNIST)?, images::drawn(1000, 2)?);
    let test = test.normalised(&images::MNIST)?;
    let mixing = Mixing::neighbourhoods(&complete()?);
    let rows = train.similarity(AGENTS, 0.0, 1)?;
    let hide = |rows: &Vec<usize>| Some(Hidden::new(Lots::of_size(rows.len(), LOT as f64).ok()?, 10.0, 1.3));
    let hidden: Vec<_> = rows.iter().map(hide).collect();
    let plan = Plan {
        method: Method::Dsgd { at: At::Own },
        iterations: 1000,
        rates: Rates::constant(0.05),
        optimiser: Optimiser::new(Rule::Sgd),
    };
    let course = |run: usize| {
        let (rows, hidden) = (rows.clone(), hidden.clone());
        Course { mixing: &mixing, plan, rows, hidden, draws: vec![1000; AGENTS], seed: run as u64 }
    };
    let courses: Vec<Course<'_>> = (0..runs).map(course).collect();
    let mut together = Together::new(card, &train, &test, &courses)?;
    together.advance(3)?;
    together.measure()?;
    let samples = (runs * AGENTS * LOT) as f64;
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        let (start, rounds) = (Instant::now(), 4);
        together.advance(rounds)?;
        together.diverged()?;
        let second = start.elapsed().as_secs_f64() / rounds as f64;
        best = if second < best { second } else { best };
    }
    println!(
        "{runs} runs of {AGENTS} agents: {:.2} ms an iteration, {:.2} million samples/s",
        1e3 * best,
        samples / best / 1e6
    );
    let start = Instant::now();
    together.measure()?;
    let second = start.elapsed().as_secs_f64();
    println!("losses alone: {:.2} million samples/s", (runs * AGENTS * test.len()) as f64 / second / 1e6);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/peer.py");
    let script = if script.exists() { script } else { "peer.py".into() };
    let peer = Command::new("python3").arg(script).arg((runs * AGENTS).to_string()).output();
    match peer {
        Ok(output) if output.status.success() => {
            let text = String::from_utf8_lossy(&output.stdout);
            print!("{text}");
            let fastest = text.lines().filter_map(|line| line.split_whitespace().next()?.parse::<f64>().ok());
            let fastest = fastest.fold(0.0, |most, speed| if speed > most { speed } else { most });
            println!("{:.1} times the fastest of them", samples / best / fastest / 1e6);
        }
        Ok(output) => println!("no peer: {}", String::from_utf8_lossy(&output.stderr)),
        Err(error) => println!("no peer: {error}"),
    }
    Ok(())
}

/// A connected random graph whose normalised Fiedler value is within 0.05 of the target (0.02 of small ones).
fn graph(target: f64, seed: u64) -> Done<Graph> {
    if target == 1.0 {
        return complete();
    }
    let near = if target < 0.1 { 0.02 } else { 0.05 };
    for draw in 0..100_000u64 {
        let p = 0.2 + 0.7 * (draw % 50) as f64 / 50.0;
        let Ok(graph) = generate(&Family::ErdosRenyi { n: AGENTS, p }, 1000 * seed + draw, true) else {
            continue;
        };
        if (normalized_fiedler(&graph)? - target).abs() < near {
            return Ok(graph);
        }
    }
    Err("no such graph was drawn".into())
}

/// Noise of an agent and of the centre, and rates: central, DSGD, DSGT, DiNNO.
type Column = (&'static str, f64, f64, [(f64, f64); 4]);

const COLUMNS: [Column; 5] = [
    ("none", 0.0, 0.0, [(0.05, 0.05), (0.1, 0.0005), (0.0792, 0.005), (0.005, 0.0005)]),
    ("100", 0.483, 0.2579, [(0.317, 0.317), (0.2, 0.0005), (0.4, 0.05), (0.008, 0.0005)]),
    ("10", 1.296, 0.5075, [(0.317, 0.317), (0.113, 0.005), (0.174, 0.005), (0.0075, 0.0005)]),
    ("1", 8.36, 1.126, [(0.194, 0.194), (0.0365, 0.005), (0.0602, 0.005), (0.01, 0.0005)]),
    ("0.5", 15.78, 1.68, [(0.1, 0.1), (0.02, 0.005), (0.03, 0.005), (0.03, 0.0005)]),
];

const ROUNDS: usize = 2000;

fn table(card: &Card, folder: &Path, trials: usize) -> Done<()> {
    let began = Instant::now();
    let images::Found { train, test, .. } = images::open(folder)?;
    let methods = ["central", "DSGD", "DSGT", "DiNNO"];
    let mut cells: Vec<(f64, usize)> = vec![(1.0, 0)];
    cells.extend(
        [1.0, 0.7, 0.39, 0.06].iter().flat_map(|&fiedler| (1..4).map(move |method| (fiedler, method))),
    );
    let mut kept = Vec::new();
    for &(fiedler, method) in &cells {
        for trial in 0..trials as u64 {
            let graph = if method == 0 { Graph::from_edges(1, [])? } else { graph(fiedler, trial)? };
            kept.push(Mixing::neighbourhoods(&graph));
        }
    }
    let everything: Vec<Vec<usize>> = vec![(0..train.len()).collect()];
    let dealt = (0..trials as u64).map(|trial| train.similarity(AGENTS, 1.0, trial));
    let dealt = dealt.collect::<Result<Vec<_>, _>>()?;
    let mut courses = Vec::new();
    for (cell, &(_, method)) in cells.iter().enumerate() {
        for (_, agent, centre, rates) in COLUMNS {
            for trial in 0..trials {
                let rows = if method == 0 { &everything } else { &dealt[trial] };
                let (clip, noise) = if method == 0 { (1.0, centre) } else { (10.0, agent) };
                let clip = if noise == 0.0 { f64::INFINITY } else { clip };
                let hide = |rows: &Vec<usize>| {
                    let lots = Lots::new(rows.len(), 1.0 / rows.len().div_ceil(LOT) as f64).ok()?;
                    Some(Hidden::new(lots, clip, noise))
                };
                let (start, finish) = rates[method];
                let (rule, decay, kept_moments) = match method {
                    0 => (Rule::Momentum { beta: 0.9 }, 1e-4, true),
                    3 => (Rule::ADAM, 0.0, false),
                    _ => (Rule::Sgd, 1e-4, true),
                };
                let plan = Plan {
                    method: match method {
                        2 => Method::Dsgt,
                        3 => Method::Dinno { primal: 1, rho: 0.5, growth: 1.0003 },
                        _ => Method::Dsgd { at: At::Own },
                    },
                    iterations: ROUNDS,
                    rates: Rates { start, finish },
                    optimiser: Optimiser { rule, decay, kept: kept_moments },
                };
                courses.push(Course {
                    mixing: &kept[cell * trials + trial],
                    plan,
                    hidden: rows.iter().map(hide).collect(),
                    draws: vec![ROUNDS; rows.len()],
                    rows: rows.clone(),
                    seed: 1 + trial as u64,
                });
            }
        }
    }
    let mut together = Together::new(card, &train, &test, &courses)?;
    println!("{} runs, ready after {:.1} s", courses.len(), began.elapsed().as_secs_f64());
    let start = Instant::now();
    while together.remaining() > 0 {
        together.advance(100)?;
        together.diverged()?;
        eprintln!("{:5} rounds, {:.1} s", together.round(), start.elapsed().as_secs_f64());
    }
    let second = start.elapsed().as_secs_f64();
    let samples: f64 = courses.iter().map(|course| (course.rows.len() * LOT * ROUNDS) as f64).sum();
    let told = together.measure()?;
    let lost = together.diverged()?;
    println!("{:<14}{}", "", COLUMNS.map(|(name, ..)| format!("{name:>15}")).concat());
    for (cell, (fiedler, method)) in cells.iter().enumerate() {
        print!("{:<14}", format!("{fiedler} {}", methods[*method]));
        for column in 0..COLUMNS.len() {
            let first = (cell * COLUMNS.len() + column) * trials;
            let of = |run: usize| {
                let all = told[run].iter().map(|tally| 100.0 * tally.accuracy());
                all.sum::<f64>() / told[run].len() as f64
            };
            let found: Vec<f64> = (first..first + trials).filter(|run| !lost[*run]).map(of).collect();
            let mean = found.iter().sum::<f64>() / found.len() as f64;
            let spread = found.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (found.len() as f64 - 1.0);
            // A run that diverged has no accuracy: such cells are marked.
            let mark =
                if found.len() < trials { format!(" -{}", trials - found.len()) } else { String::new() };
            print!("{:>15}", format!("{mean:.2} ± {:.2}{mark}", spread.sqrt()));
        }
        println!();
    }
    println!("{} of {} runs diverged", lost.iter().filter(|lost| **lost).count(), lost.len());
    println!(
        "{second:.1} s, {:.2} million samples/s; whole command {:.1} s",
        samples / second / 1e6,
        began.elapsed().as_secs_f64()
    );
    Ok(())
}

/// Gradients of the processor; every thread has room of its own.
struct Processor<'a> {
    net: &'a Net,
    rows: &'a [Images],
    rooms: Mutex<Vec<Scratch>>,
}

impl Trainer for Processor<'_> {
    fn add_clipped(&self, agent: usize, picked: &[u32], clip: f64, model: &[f32], sum: &mut [f32]) {
        let kept = || self.rooms.lock().unwrap_or_else(PoisonError::into_inner);
        let room = kept().pop();
        let mut room = room.unwrap_or_else(|| Scratch::new(self.net));
        if self.net.clipped_sum(model, &self.rows[agent], picked, clip as f32, &mut room, sum).is_err() {
            sum.fill(f32::NAN);
        }
        kept().push(room);
    }
}

fn against(card: &Card, folder: &Path, rounds: usize) -> Done<()> {
    let images::Found { train, test, .. } = images::open(folder)?;
    let (net, mixing) = (Net::consensus_cnn(), Mixing::neighbourhoods(&complete()?));
    let lists = train.similarity(AGENTS, 1.0, 0)?;
    let rows = lists.iter().map(|list| train.gather(list)).collect::<Result<Vec<_>, _>>()?;
    let hide = |rows: &Images| Some(Hidden::new(Lots::of_size(rows.len(), LOT as f64).ok()?, 10.0, 1.296));
    let hidden: Vec<_> = rows.iter().map(hide).collect();
    let (rates, optimiser) = (Rates { start: 0.174, finish: 0.005 }, Optimiser::new(Rule::Sgd));
    let plan = Plan { method: Method::Dsgt, iterations: rounds, rates, optimiser };
    let processor = Processor { net: &net, rows: &rows, rooms: Mutex::default() };
    let on_card = Gradients::new(card, &net, &rows)?;
    let all: Vec<u32> = (0..test.len() as u32).collect();
    let trainers: [(&str, &dyn Trainer); 2] = [("processor", &processor), ("card", &on_card)];
    for (name, trainer) in trainers {
        let start = Instant::now();
        let setup = ConsensusSetup::new(&mixing, net.start(1).into(), plan, &hidden, 1)?;
        let by = By(trainer);
        let mut bulk = BulkConsensus::new(setup, &by)?;
        bulk.advance(rounds)?;
        let second = start.elapsed().as_secs_f64();
        let mut scratch = Scratch::new(&net);
        let mut sum = 0.0;
        for model in bulk.models() {
            sum += 100.0 * net.measure(model, &test, &all, &mut scratch)?.accuracy();
        }
        println!("{name:<10} {:.2} % on average, {second:.1} s", sum / AGENTS as f64);
    }
    Ok(())
}

/// Whoever computes.
struct By<'a>(&'a dyn Trainer);

impl Trainer for By<'_> {
    fn add_clipped(&self, agent: usize, picked: &[u32], clip: f64, model: &[f32], sum: &mut [f32]) {
        self.0.add_clipped(agent, picked, clip, model, sum);
    }
}
