//! How many samples a second a card clips, hides and learns from, beside PyTorch on the same card.
//!
//! `cargo bench -p sottovoce-gpu --bench card [-- RUNS]`
//!
//! So many runs (300 unless told) of ten agents, lots of 256 drawn pictures, whole iterations: coins, gradients, clipping, noise, mixing, steps. Where `python3`
//! has PyTorch, the same batch is timed there (`benches/peer.py`): one plain step under noise for every agent, by ghost clipping and a CUDA graph.
//!
//! `cargo bench -p sottovoce-gpu --bench card -- resnet`
//!
//! Clipped gradients of ResNet-9 on generated images of CIFAR's form, lots of 250: against the processor's, samples a second, and how long the paper's Table 4 would take.
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

use sottovoce_gpu::{Card, Gradients, Layers, Together};
use sottovoce_learning::net::{Net, Scratch, Shape};
use sottovoce_learning::{Images, images};
use sottovoce_privacy::Lots;
use sottovoce_protocol::consensus::{At, Hidden, Method, Optimiser, Plan, Rates, Rule};
use sottovoce_simulator::consensus::{BulkConsensus, ConsensusSetup, Course, Trainer};
use sottovoce_topology::Graph;
use sottovoce_topology::mixing::Mixing;

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
        ["resnet"] => resnet(&card),
        ["against", folder] => against(&card, Path::new(folder), ROUNDS),
        ["against", folder, rounds] => against(&card, Path::new(folder), rounds.parse()?),
        [] => speed(&card, 300),
        [runs] => speed(&card, runs.parse()?),
        _ => Err("give a number of runs, or `resnet`, or `against FOLDER [ROUNDS]`".into()),
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
        let (mixing, seed) = (mixing.clone(), run as u64);
        let draws = vec![1000; AGENTS];
        Course { mixing, plan, rows, absent: None, hidden, draws, start: seed, seed }
    };
    let courses: Vec<Course> = (0..runs).map(course).collect();
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

const ROUNDS: usize = 2000;

fn resnet(card: &Card) -> Done<()> {
    let shape = Shape { channels: 3, height: 32, width: 32 };
    let pixel = |at: usize| ((at * 7919) ^ (at >> 7) ^ (at / 3072 * 31)) as u8;
    let labels = (0..1000).map(|image| (image % 100) as u8).collect();
    let rows = [Images::new(shape, (0..1000 * 3072).map(pixel).collect(), labels, 100)?];
    let net = Net::resnet9(shape, 100)?;
    let (layers, model) = (Layers::new(card, &net, &rows)?, net.start(1));
    let (mut scratch, mut apart) = (Scratch::new(&net), [Vec::new(), Vec::new()]);
    // What rounding does: a slope that changes at 0, or the largest of two, is another for a few numbers.
    let moved: Vec<f32> =
        model.iter().enumerate().map(|(n, x)| if n % 2 == 0 { x.next_up() } else { *x }).collect();
    let length = |numbers: &mut dyn Iterator<Item = f64>| numbers.map(|x| x * x).sum::<f64>().sqrt();
    let mut there = vec![0.0; net.parameters()];
    for image in (0..1000).step_by(200) {
        let [mut here, mut beside] = [vec![0.0; net.parameters()], vec![0.0; net.parameters()]];
        there.fill(0.0);
        net.clipped_sum(&model, &rows[0], &[image], 1.0, &mut scratch, &mut here)?;
        net.clipped_sum(&moved, &rows[0], &[image], 1.0, &mut scratch, &mut beside)?;
        layers.add(0, &[image], 1.0, &model, &mut there)?;
        for (apart, other) in apart.iter_mut().zip([&there, &beside]) {
            let off = length(&mut here.iter().zip(other).map(|(x, y)| f64::from(*x) - f64::from(*y)));
            apart.push(off / length(&mut here.iter().map(|x| f64::from(*x))));
        }
    }
    for (mut apart, of) in
        apart.into_iter().zip(["the card's", "the processor's own at a model whose last bits are others"])
    {
        apart.sort_by(f64::total_cmp);
        let (middle, most) = (apart[apart.len() / 2], apart[apart.len() - 1]);
        println!(
            "ResNet-9: gradients of {} images and {of} are {middle:.1e} of their length apart in the median, {most:.1e} at most",
            apart.len()
        );
    }
    layers.time(250, 1.0, 2)?;
    let second = layers.time(250, 1.0, 20)?;
    let start = Instant::now();
    layers.add(0, &(0..250).collect::<Vec<_>>(), 1.0, &model, &mut there)?;
    println!(
        "lots of 250: {:.1} ms, {:.0} samples/s; with a model there and a sum back {:.1} ms",
        1e3 * second,
        250.0 / second,
        1e3 * start.elapsed().as_secs_f64()
    );
    // Three methods and five splits, with noise and without, by ten agents, DiNNO with two gradients; the centre twice.
    let gradients = 20_000.0 * (2.0 * 5.0 * 10.0 * (1.0 + 1.0 + 2.0) + 2.0);
    println!(
        "a trial of DSGT (20,000 iterations of ten agents) is {:.1} hours of gradients, all of Table 4 {:.0}",
        20_000.0 * 10.0 * second / 3600.0,
        gradients * second / 3600.0
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
