//! Whether noise that is correlated over time learns better at the same epsilon.
//!
//! `cargo bench -p sottovoce-gpu --bench band -- FOLDER`
//!
//! From the first 6000 training images of MNIST: at a centre, and by DSGD of ten agents with 600 images each, on the complete graph and on a ring. Everywhere an image is in a
//! lot with probability 1/100, 100 times, or with probability 1/20, 200 times, at delta 1e-5. For every epsilon and every band the rates and the memory are chosen on 5000 further training images by three trials; then ten new trials with
//! what was chosen are judged on the test images. Noise is the least that is certified.

use std::error::Error;
use std::path::Path;

use rayon::prelude::*;
use sottovoce_engine::deep::SideBySide;
use sottovoce_gpu::Card;
use sottovoce_learning::net::Tally;
use sottovoce_learning::{Images, Spread, images};
use sottovoce_privacy::Lots;
use sottovoce_privacy::calibrate::Method as By;
use sottovoce_protocol::consensus::{At, Band, Hidden, Method, Optimiser, Plan, Rates, Rule};
use sottovoce_simulator::consensus::Course;
use sottovoce_topology::Graph;
use sottovoce_topology::mixing::{Mixing, Weights};

type Done<T> = Result<T, Box<dyn Error>>;

const IMAGES: usize = 6000;
const HELD: usize = 5000;
/// How likely an image is in a lot, and how many lots there are.
const LOTS: [(f64, usize); 2] = [(0.01, 100), (0.05, 200)];
const DELTA: f64 = 1e-5;
const EPSILONS: [f64; 4] = [1.0, 3.0, 10.0, 30.0];
const WIDTHS: [usize; 5] = [1, 2, 4, 8, 16];
const MEMORIES: [f64; 3] = [0.9, 0.97, 1.0];
const CHOOSING: u64 = 3;
const TRIALS: u64 = 10;

/// What is chosen: first and last rate, and the band's memory.
type Choice = (f64, f64, f64);

/// Where it is learned.
struct Place {
    name: &'static str,
    mixing: Mixing,
    rows: Vec<Vec<usize>>,
}

fn main() -> Done<()> {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let [folder] = &arguments[..] else {
        println!("skipped: give a folder with MNIST");
        return Ok(());
    };
    let card = match Card::open() {
        Ok(card) => card,
        Err(error) => {
            println!("skipped: {error}");
            return Ok(());
        }
    };
    let images::Found { train: all, test, .. } = images::open(Path::new(folder))?;
    let part = |from: usize, to: usize| all.gather(&(from..to).collect::<Vec<_>>());
    let (train, held) = (part(0, IMAGES)?, part(IMAGES, IMAGES + HELD)?);
    let asked: Vec<(f64, usize)> = EPSILONS.iter().flat_map(|&e| WIDTHS.map(|width| (e, width))).collect();
    let all = places(&train)?;
    for (lots, place) in LOTS.into_iter().flat_map(|lots| all.iter().map(move |place| (lots, place))) {
        let noises = asked.par_iter().map(|&(epsilon, width)| multiplier(lots, epsilon, width));
        let noises = noises.collect::<Result<Vec<f64>, _>>()?;
        println!(
            "{}, {} lots at rate {}: mean accuracy and its standard error over {TRIALS} trials",
            place.name, lots.1, lots.0
        );
        let all: Vec<Vec<Choice>> = asked.iter().map(|(_, width)| choices(*width)).collect();
        let tried = asked.iter().zip(&noises).zip(&all).flat_map(|((&(_, width), &noise), choices)| {
            choices
                .iter()
                .flat_map(move |&choice| (0..CHOOSING).map(move |seed| (width, noise, choice, seed)))
        });
        let tried: Vec<_> = tried.collect();
        let found = learned(&card, (&train, &held), place, lots, &tried)?;
        let mut found = found.chunks_exact(CHOOSING as usize);
        let mut best = Vec::new();
        for choices in &all {
            let mut most = (choices[0], f64::NEG_INFINITY);
            for &choice in choices {
                let mean = found.next().map_or(f64::NAN, |three| Spread::of(three).mean);
                most = if mean > most.1 { (choice, mean) } else { most };
            }
            best.push(most.0);
        }
        let last = asked.iter().zip(&noises).zip(&best).flat_map(|((&(_, width), &noise), &choice)| {
            (0..TRIALS).map(move |seed| (width, noise, choice, 1000 + seed))
        });
        let found = learned(&card, (&train, &test), place, lots, &last.collect::<Vec<_>>())?;
        let rows = asked.iter().zip(&noises).zip(&best).zip(found.chunks_exact(TRIALS as usize));
        for (((&(epsilon, width), noise), (first, last, memory)), trials) in rows {
            let Spread { mean, deviation, .. } = Spread::of(trials);
            let error = deviation / (TRIALS as f64).sqrt();
            println!(
                "epsilon {epsilon:>5} band {width:>2}: {mean:6.2} ± {error:.2}   noise {noise:.3}, rates {first:.3} to {last:.4}, memory {memory}"
            );
        }
    }
    Ok(())
}

/// The least noise that is certified.
fn multiplier((rate, rounds): (f64, usize), epsilon: f64, width: usize) -> sottovoce_privacy::Result<f64> {
    let plain = Hidden::new(Lots::new(IMAGES, rate)?, 1.0, 0.0);
    let banded = Hidden { band: Band { width, memory: 1.0 }, ..plain };
    Ok(banded.calibrated(rounds, (epsilon, DELTA), By::Pld)?.multiplier)
}

fn places(train: &Images) -> Done<Vec<Place>> {
    let agents = 10;
    let dealt = train.similarity(agents, 0.0, 1)?;
    let centre = Mixing::new(&Graph::from_edges(1, [])?, Weights::Metropolis);
    let pairs = (0..agents).flat_map(|u| (0..u).map(move |v| (v, u)));
    let complete = Mixing::neighbourhoods(&Graph::from_edges(agents, pairs)?);
    let ring = Graph::from_edges(agents, (0..agents).map(|u| (u, (u + 1) % agents)))?;
    Ok(vec![
        Place { name: "centre", mixing: centre, rows: vec![(0..train.len()).collect()] },
        Place { name: "DSGD, complete graph", mixing: complete, rows: dealt.clone() },
        Place { name: "DSGD, ring", mixing: Mixing::neighbourhoods(&ring), rows: dealt },
    ])
}

fn choices(width: usize) -> Vec<Choice> {
    let memories = if width == 1 { &MEMORIES[2..] } else { &MEMORIES[..] };
    let firsts = (0..8).map(|k| 0.125 * f64::from(1 << k));
    let shapes = firsts.flat_map(|first| [1.0, 0.1].map(|share| (first, first * share)));
    let shapes: Vec<(f64, f64)> = shapes.collect();
    memories.iter().flat_map(|&memory| shapes.iter().map(move |&(a, z)| (a, z, memory))).collect()
}

/// Mean accuracies in percent; one that diverged guesses.
fn learned(
    card: &Card,
    (train, test): (&Images, &Images),
    place: &Place,
    (rate, rounds): (f64, usize),
    tried: &[(usize, f64, Choice, u64)],
) -> Done<Vec<f64>> {
    let course =
        |&(width, noise, (start, finish, memory), seed): &(usize, f64, Choice, u64)| -> Done<Course> {
            let hide = |rows: &Vec<usize>| -> Done<Option<Hidden>> {
                let plain = Hidden::new(Lots::new(rows.len(), rate)?, 1.0, noise);
                Ok(Some(Hidden { band: Band { width, memory }, ..plain }))
            };
            let plan = Plan {
                method: Method::Dsgd { at: At::Own },
                iterations: rounds,
                rates: Rates { start, finish },
                optimiser: Optimiser::new(Rule::Sgd),
            };
            Ok(Course {
                mixing: place.mixing.clone(),
                plan,
                hidden: place.rows.iter().map(hide).collect::<Done<_>>()?,
                draws: vec![rounds; place.rows.len()],
                rows: place.rows.clone(),
                absent: None,
                start: seed,
                seed,
            })
        };
    let courses = tried.iter().map(course).collect::<Done<Vec<_>>>()?;
    let found = card.learn(train, test, &courses, &|_, _| ())?;
    let mean = |all: Vec<Tally>| 100.0 * all.iter().map(Tally::accuracy).sum::<f64>() / all.len() as f64;
    Ok(found.into_iter().map(|one| one.map_or(10.0, mean)).collect())
}
