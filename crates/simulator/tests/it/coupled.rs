//! Accelerated randomised gossip: its mean, its rate, and what it gains (docs/theorems/accelerated-randomised.md).

use proptest::prelude::*;
use sottovoce_protocol::averaging::{Coupling, Noising, listen};
use sottovoce_protocol::public::Scheme;
use sottovoce_simulator::averaging::AveragingSetup;
use sottovoce_simulator::driver::Simulation;
use sottovoce_simulator::invariants;
use sottovoce_simulator::network::Network;
use sottovoce_simulator::noise::PeerNoise;
use sottovoce_topology::family::{Family, generate};
use sottovoce_topology::mixing::{Mixing, Weights};
use sottovoce_topology::schedule::Schedule;
use sottovoce_topology::spectrum::Exchanges;

/// Noise that cannot be seen beside the values.
const HARDLY: Noising = Noising { sensitivity: 1.0, local: 1e-12, relay: 0.0 };

fn mixing(family: &Family, weights: Weights) -> Mixing {
    Mixing::new(&generate(family, 5, true).unwrap(), weights)
}

fn coupling(mixing: &Mixing) -> Coupling {
    let found = Exchanges::of(mixing).unwrap();
    Coupling::new(found.rate, found.resistance)
}

fn scheme(mixing: &Mixing, rounds: usize, seed: u64) -> Scheme {
    let schedule = Schedule::randomised(mixing, rounds, seed).unwrap();
    Scheme::Coupled { schedule, rounds, coupling: coupling(mixing) }
}

fn plain(mixing: &Mixing, rounds: usize, seed: u64) -> Scheme {
    Scheme::Scheduled { schedule: Schedule::randomised(mixing, rounds, seed).unwrap(), rounds }
}

fn from_mean(x: &[f64]) -> f64 {
    let mean = x.iter().sum::<f64>() / x.len() as f64;
    x.iter().map(|x| (x - mean).powi(2)).sum()
}

/// What is left of the squared distance from the mean, in the mean over schedules.
fn left(scheme: impl Fn(u64) -> Scheme, start: &[f64], seeds: u64) -> f64 {
    let one = |seed: u64| {
        let mut peers = scheme(seed).machines(|_| HARDLY, |peer| vec![start[peer]]).unwrap();
        let ends = listen(&mut peers, &mut PeerNoise::all(seed, start.len()), |_, _, _| ()).unwrap();
        from_mean(&ends.concat()) / from_mean(start)
    };
    (0..seeds).map(one).sum::<f64>() / seeds as f64
}

/// Values that mix as slowly as any: waves as long as the graph.
fn slowest(family: &Family) -> Vec<f64> {
    let wave = |part: f64| (std::f64::consts::TAU * part).cos();
    match *family {
        Family::Ring { n } => (0..n).map(|i| wave(i as f64 / n as f64)).collect(),
        Family::Grid { rows, cols } => {
            (0..rows * cols).map(|i| wave(((i % cols) as f64 + 0.5) / (2 * cols) as f64)).collect()
        }
        _ => unreachable!("no wave is known"),
    }
}

/// The theorem's one step, with the expectation taken over all edges: `|x|² + mu |z|²` in the norm of `H^+` falls by the contraction. Values are relative
/// to the mean.
fn one_step(mixing: &Mixing, x: &[f64], z: &[f64]) -> (f64, f64) {
    let (n, coupling) = (mixing.nodes() as f64, coupling(mixing));
    let mu = Exchanges::of(mixing).unwrap().rate;
    let size = |x: &[f64], z: &[f64]| from_mean(x) + mu * inverse_norm(mixing, z);
    let (mut leant, mut ahead) = (x.to_vec(), z.to_vec());
    coupling.approach(&mut leant, &mut ahead);
    let (mut expected, mut idle) = (0.0, 1.0);
    for (u, v) in mixing.graph().edges() {
        let p = 2.0 * mixing.weight(u, v) / n;
        let mut mixed = leant.clone();
        mixed[u] = (leant[u] + leant[v]) / 2.0;
        mixed[v] = mixed[u];
        let mut after = ahead.clone();
        coupling.follow(leant.clone(), &mixed, &mut after);
        expected += p * size(&mixed, &after);
        idle -= p;
    }
    (expected + idle * size(&leant, &ahead), coupling.contraction() * size(x, z))
}

/// `z' H^+ z` for `H = (I - W)/n` and `z` that sums to nothing: by conjugate gradients.
fn inverse_norm(mixing: &Mixing, z: &[f64]) -> f64 {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let n = z.len();
    let apply = |y: &[f64]| {
        let mut mixed = vec![0.0; n];
        mixing.apply(y, &mut mixed);
        y.iter().zip(&mixed).map(|(y, w)| (y - w) / n as f64).collect::<Vec<f64>>()
    };
    let (mut y, mut rest) = (vec![0.0; n], z.to_vec());
    let mut way = rest.clone();
    for _ in 0..4 * n {
        let square = dot(&rest, &rest);
        if square < 1e-26 * dot(z, z) {
            break;
        }
        let image = apply(&way);
        let step = square / dot(&way, &image);
        y.iter_mut().zip(&way).for_each(|(y, way)| *y += step * way);
        rest.iter_mut().zip(&image).for_each(|(rest, image)| *rest -= step * image);
        let turn = dot(&rest, &rest) / square;
        way.iter_mut().zip(&rest).for_each(|(way, rest)| *way = rest + turn * *way);
    }
    dot(z, &y)
}

fn centred(mut x: Vec<f64>) -> Vec<f64> {
    let mean = x.iter().sum::<f64>() / x.len() as f64;
    x.iter_mut().for_each(|x| *x -= mean);
    x
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn every_step_contracts_in_expectation(
        n in 3_usize..14, p in 0.3..0.9, seed: u64, own in any::<bool>(),
        x in prop::collection::vec(-1.0..1.0, 14), z in prop::collection::vec(-1.0..1.0, 14)
    ) {
        let weights = if own { Weights::MetropolisPlusOne } else { Weights::Metropolis };
        let graph = generate(&Family::ErdosRenyi { n, p }, seed, true).unwrap();
        let mixing = Mixing::new(&graph, weights);
        let (x, z) = (centred(x[..n].to_vec()), centred(z[..n].to_vec()));
        let (expected, bound) = one_step(&mixing, &x, &z);
        prop_assert!(expected <= bound * (1.0 + 1e-9), "{expected} {bound}");
    }

    /// Results have the mean that the noisy values had, and all that must hold of a run does.
    #[test]
    fn the_mean_is_kept(n in 2_usize..12, rounds in 1_usize..120, seed: u64) {
        let mixing = mixing(&Family::Path { n }, Weights::MetropolisPlusOne);
        let values: Vec<Vec<f64>> = (0..n).map(|u| vec![(u * 7 % 11) as f64, u as f64]).collect();
        let noising = Noising { local: 0.5, ..HARDLY };
        let setup = AveragingSetup { values, scheme: scheme(&mixing, rounds, seed), noising, budget: f64::INFINITY };
        let outcome = Simulation::new(setup.numbers().unwrap(), PeerNoise::all(seed, n), Network::perfect(), seed)
            .unwrap()
            .budgets(setup.allowances().unwrap())
            .unwrap()
            .averaging(setup.facts().unwrap())
            .invariants(invariants::of_averaging(&setup).unwrap())
            .run();
        prop_assert!(outcome.complete && outcome.violations.is_empty(), "{:?}", outcome.violations);
        // The bias is measured against the noisy values.
        let bias = outcome.bias.unwrap();
        prop_assert!(bias.measured.iter().all(|off| off.abs() < 1e-10), "{:?}", bias.measured);
        prop_assert!(bias.bound.iter().all(|bound| *bound == 0.0));
    }
}

/// On a ring of 32 a quarter of the exchanges is enough, on a grid of 6 by 6 half of them; and the theorem's bound holds on the way.
#[test]
fn fewer_exchanges_are_enough() {
    for (family, steps, times) in
        [(Family::Ring { n: 32 }, 1200, 4), (Family::Grid { rows: 6, cols: 6 }, 600, 2)]
    {
        let (mixing, start) = (mixing(&family, Weights::Metropolis), slowest(&family));
        let bound = |steps: usize| 2.0 * coupling(&mixing).contraction().powi(steps as i32);
        for steps in [steps / 4, steps / 2, steps] {
            let found = left(|seed| scheme(&mixing, steps, seed), &start, 20);
            assert!(found <= bound(steps), "{family}, {steps}: {found} {}", bound(steps));
        }
        let fast = left(|seed| scheme(&mixing, steps, seed), &start, 20);
        let slow = left(|seed| plain(&mixing, times * steps, seed), &start, 20);
        assert!(fast < slow, "{family}: {fast} after {steps}, {slow} after {times} times as many");
    }
}

#[test]
fn what_cannot_be_coupled_is_refused() {
    let mixing = mixing(&Family::Ring { n: 5 }, Weights::Metropolis);
    let good = scheme(&mixing, 9, 1);
    let relayed = good.machines(|_| Noising { relay: 0.1, ..HARDLY }, |_| vec![0.0]).unwrap_err().to_string();
    assert!(relayed.contains("`relay-noise` is 0.1"), "{relayed}");
    let Scheme::Coupled { schedule, rounds, coupling } = good else { unreachable!() };
    let wild = Coupling { lean: 0.7, ..coupling };
    let error = Scheme::Coupled { schedule, rounds, coupling: wild }.check().unwrap_err().to_string();
    assert!(error.contains("`coupling` is lean 0.7"), "{error}");
    let schedule = Schedule::constant(mixing);
    let error = Scheme::Coupled { schedule, rounds, coupling }.check().unwrap_err().to_string();
    assert!(error.contains("`schedule` is one of graphs"), "{error}");
}
