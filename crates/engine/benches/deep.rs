//! How long a cell of the consensus paper's table takes beside its bare gradient steps: ten agents with one figure each, lots of 256, its net.
//!
//! `cargo bench -p sottovoce-engine --bench deep`
//!
//! The two take turns in one run, so that their ratio means something on a noisy machine, and the fastest turn of each counts. Bare steps are clipped sums of the very lots that
//! the cell draws, side by side on the same threads; the cell draws them, adds noise, tells neighbours and mixes besides. A whole cell is 2000 iterations and one measurement of all
//! models on 10,000 images, which is timed apart.

use std::time::Instant;

use rayon::prelude::*;
use sottovoce_engine::deep::{Amount, Gradients, Holdings, Run, Setting, hidden};
use sottovoce_learning::images;
use sottovoce_learning::net::Net;
use sottovoce_privacy::noise::simulation::Seed;
use sottovoce_protocol::consensus::{At, Band, Hidden, Method, Optimiser, Plan, Rates, Rule};
use sottovoce_simulator::consensus::Trainer;
use sottovoce_topology::Graph;
use sottovoce_topology::mixing::Mixing;

const AGENTS: usize = 10;
const LOT: f64 = 256.0;
/// Iterations of a turn, and turns.
const TURN: usize = 50;
const TURNS: usize = 5;
/// Iterations of a cell.
const CELL: usize = 2000;
const SEED: u64 = 1;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcome<()> {
    let (train, test) = (images::drawn(60_000, 1)?, images::drawn(10_000, 2)?);
    let holdings = Holdings::dealt(&train, test, AGENTS, 1.0, SEED)?;
    println!("{AGENTS} agents, lots of {LOT}, {} threads", rayon::current_num_threads());
    for (name, method) in [
        ("DSGD", Method::Dsgd { at: At::Own }),
        ("DSGT", Method::Dsgt),
        ("DiNNO", Method::Dinno { primal: 1, rho: 0.5, growth: 1.0003 }),
    ] {
        let adam = Optimiser { rule: Rule::ADAM, decay: 0.0, kept: true };
        let optimiser = if name == "DiNNO" { adam } else { Optimiser::new(Rule::Sgd) };
        let plan = Plan { method, iterations: TURN * TURNS, rates: Rates::constant(0.005), optimiser };
        compare(name, &setting(holdings.clone(), plan)?)?;
    }
    Ok(())
}

/// A complete graph, noise of about epsilon 10.
fn setting(holdings: Holdings, plan: Plan) -> Outcome<Setting> {
    let pairs = (0..AGENTS).flat_map(|u| (u + 1..AGENTS).map(move |v| (u, v)));
    let mixing = Mixing::neighbourhoods(&Graph::from_edges(AGENTS, pairs)?);
    let hidden =
        hidden(&holdings.sizes(), (LOT, 10.0), Band::NONE, (Amount::Multiplier(1.3), plan.draws()), None)?;
    let draws = vec![plan.draws(); AGENTS];
    let net = Net::consensus_cnn();
    Ok(Setting {
        net,
        holdings,
        mixing,
        plan,
        hidden,
        secrets: None,
        draws,
        delta: 1e-5,
        seed: SEED,
        points: 0,
    })
}

fn compare(name: &str, setting: &Setting) -> Outcome<()> {
    let gradients = Gradients::new(&setting.net, &setting.holdings.rows);
    let mut run = Run::new(setting, &gradients)?;
    let start = setting.net.start(SEED);
    let (mut bare, mut cell) = (f64::INFINITY, f64::INFINITY);
    for turn in 0..TURNS {
        let lots = lots(&setting.hidden, turn);
        let began = Instant::now();
        lots.iter().for_each(|lots| steps(&gradients, lots, &start));
        bare = bare.min(began.elapsed().as_secs_f64());
        let began = Instant::now();
        run.go((turn + 1) * TURN)?;
        cell = cell.min(began.elapsed().as_secs_f64());
    }
    let began = Instant::now();
    run.outcome()?;
    let told = began.elapsed().as_secs_f64();
    let whole = |turn: f64| turn * CELL as f64 / TURN as f64;
    println!(
        "{name:<6} bare steps {:6.1} s, cell {:6.1} s and {told:.1} s of measuring: {:.3} times",
        whole(bare),
        whole(cell),
        (whole(cell) + told) / whole(bare)
    );
    Ok(())
}

/// The rows of everybody's draws in a turn, iteration by iteration.
fn lots(hidden: &[Option<Hidden>], turn: usize) -> Vec<Vec<Vec<u32>>> {
    let one = |draw: usize| {
        let of = |(agent, hidden): (usize, &Hidden)| {
            let mut picked = Vec::new();
            hidden.lots.draw(Seed(SEED), agent as u64, draw as u64, &mut picked);
            picked
        };
        hidden.iter().flatten().enumerate().map(of).collect()
    };
    (turn * TURN..(turn + 1) * TURN).map(one).collect()
}

/// Everybody's gradient, and nothing else.
fn steps(gradients: &Gradients<'_>, lots: &[Vec<u32>], model: &[f32]) {
    lots.par_iter().enumerate().for_each(|(agent, picked)| {
        let mut sum = vec![0.0; model.len()];
        gradients.add_clipped(agent, picked, 10.0, model, &mut sum);
        std::hint::black_box(&sum);
    });
}
