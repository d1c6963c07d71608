//! The weighted mean of models on a small quadratic problem: how far it is from the optimum, in the mean over many runs, beside what is proven of it (of
//! averagings to consensus) and what Theorems 5 and 10 of the Muffliato paper print (up to constants).

use sottovoce_engine::learning::method::usual_rounds;
use sottovoce_engine::learning::{Batch, Gossip, Method, Session, Settings, Task};
use sottovoce_learning::{Clip, Loss, Model, Shards, Table};
use sottovoce_topology::family::{Family, generate};
use sottovoce_topology::mixing::{Mixing, Weights};
use sottovoce_views::utility::weighted_output;

const PEERS: usize = 8;
const RUNS: u64 = 400;
const RIDGE: f64 = 0.2;
const ITERATIONS: usize = 60;
/// No gradient is as long as this: nothing is clipped.
const CLIP: f64 = 20.0;
/// Noise on a coordinate of a gradient.
const NOISE: f64 = 1.5;

/// Every peer holds two rows in directions of its own.
fn task() -> Task {
    let angle = |i: usize| i as f64 * 0.7;
    let rows: Vec<f64> = (0..2 * PEERS).flat_map(|i| [angle(i).cos(), angle(i).sin()]).collect();
    let labels = (0..2 * PEERS).map(|i| if i < PEERS { 0.9 } else { -0.4 * angle(i).cos() }).collect();
    let table = Table::new(rows, 2, labels).unwrap();
    let model = Model { loss: Loss::Squared, width: 2, ridge: RIDGE };
    let shards = Shards::even(&table, PEERS).unwrap();
    Task::new("plane", shards, table, model, Clip::Example(CLIP), Batch::All).unwrap()
}

/// The optimum, by so many exact gradient steps that nothing moves, and the smoothness: rows have length 1.
fn optimum(task: &Task) -> (Vec<f64>, f64) {
    let settings =
        Settings { step: 0.8, sigma: 0.0, iterations: 2000, weighted: false, ..settings(Method::Central) };
    let mut session = Session::new(task, &[], settings, 1).unwrap();
    session.finish(None).unwrap();
    (session.model(), 1.0 + RIDGE)
}

fn settings(method: Method) -> Settings {
    let sigma = NOISE / (2.0 * CLIP);
    Settings {
        method,
        iterations: ITERATIONS,
        step: 0.1,
        sigma,
        budget: None,
        seed: 0,
        weighted: true,
        network: None,
        secrets: None,
    }
}

/// The excess loss of the mean model: weighted, and last; in the mean over runs.
fn measured(task: &Task, mixings: &[Mixing], settings: &Settings, best: f64) -> (f64, f64) {
    let (mut weighted, mut last) = (0.0, 0.0);
    for seed in 0..RUNS {
        let mut session = Session::new(task, mixings, Settings { seed, ..settings.clone() }, 1).unwrap();
        session.finish(None).unwrap();
        weighted += task.objective(&session.model()) - best;
        last += task.objective(&session.last().0) - best;
    }
    (weighted / RUNS as f64, last / RUNS as f64)
}

#[test]
fn the_weighted_mean_is_as_near_to_the_optimum_as_is_proven() {
    let task = task();
    assert!((task.sensitivity() - 2.0 * CLIP).abs() < 1e-12);
    let (best, smooth) = optimum(&task);
    let (least, n) = (task.objective(&best), PEERS as f64);
    let distance = best.iter().map(|x| x * x).sum::<f64>();
    let squared = 2.0 * NOISE * NOISE;
    let ring =
        Mixing::new(&generate(&Family::Ring { n: PEERS }, 0, true).unwrap(), Weights::MetropolisPlusOne);
    let mixings = [ring];
    let rounds = usual_rounds(&mixings, 0.0, f64::INFINITY).unwrap();
    let gossip = Method::Gossip(Gossip { rounds, accelerated: true, relay: 0.0 });
    for step in [0.05, 0.1, 0.4] {
        assert!(step <= 0.5 / smooth);
        let proven = weighted_output(RIDGE, step, ITERATIONS, distance, squared / n);
        let settings = |method| Settings { step, ..settings(method) };
        let (weighted, last) = measured(&task, &[], &settings(Method::Butterfly), least);
        let (by_gossip, _) = measured(&task, &mixings, &settings(gossip), least);
        assert!(weighted > 0.0 && weighted <= proven, "{step}: {weighted} {proven}");
        // Gossip stops short of consensus; what it adds is small beside what noise does.
        assert!(by_gossip <= proven, "{step}: {by_gossip} {proven}");
        // Where steps are large, the last model is as noisy as one step is; a mean is not.
        assert!(step < 0.4 || weighted < last, "{step}: {weighted} {last}");
    }
    // The rate as printed, (rho² + sigma²)/(n mu T) + L |theta_0 - theta*|² exp(-T/(2 kappa)), without its constants.
    let kappa = smooth / RIDGE;
    let printed = squared / (n * RIDGE * ITERATIONS as f64)
        + smooth * distance * (-(ITERATIONS as f64) / (2.0 * kappa)).exp();
    let (by_gossip, _) = measured(&task, &mixings, &Settings { step: 0.1, ..settings(gossip) }, least);
    assert!(by_gossip <= printed, "{by_gossip} {printed}");
}
