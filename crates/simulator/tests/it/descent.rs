//! Descent: state machines on a network and the driver in bulk give the same numbers, and gradients get where they should.

use proptest::prelude::*;
use sottovoce_protocol::averaging::Noising;
use sottovoce_protocol::public::{Cancelling, Scheme};
use sottovoce_simulator::descent::{Descending, DescentSetup};
use sottovoce_simulator::driver::Simulation;
use sottovoce_simulator::network::Network;
use sottovoce_simulator::paired::Paired;
use sottovoce_topology::family::{Family, generate};
use sottovoce_topology::mixing::{Mixing, Weights};

const PEERS: usize = 8;

fn mixing(seed: u64) -> Mixing {
    let graph = generate(&Family::ErdosRenyi { n: PEERS, p: 0.6 }, seed, true).unwrap();
    Mixing::new(&graph, Weights::MetropolisPlusOne)
}

fn gossip(seed: u64, accelerated: bool) -> Scheme {
    Scheme::Gossip { mixing: mixing(seed), rounds: 3, accelerated }
}

fn setup(schemes: Vec<Scheme>, noising: Noising, budget: f64) -> DescentSetup {
    DescentSetup { schemes, iterations: 4, noising, cancelling: None, budget, start: vec![1.0, -2.0] }
}

/// Each peer is drawn towards a point of its own.
fn descend(peer: usize, iteration: usize, value: &mut [f64]) {
    for (i, x) in value.iter_mut().enumerate() {
        *x -= 0.3 * (*x - (peer + i) as f64) / (1 + iteration) as f64;
    }
}

fn by_events(setup: &DescentSetup, seed: u64) -> Vec<f64> {
    let machines = setup.machines(&setup.start).unwrap();
    let simulation = Simulation::new(
        machines,
        Paired::all(seed, PEERS, setup.cancelling.as_ref()),
        Network::perfect(),
        seed,
    )
    .unwrap();
    let simulation = simulation.budgets(setup.allowances().unwrap()).unwrap();
    let step = |peer, iteration, value: &mut Vec<f64>| descend(peer, iteration, value);
    simulation.descending(step).run().finals.into_iter().flat_map(Option::unwrap).collect()
}

fn in_bulk(setup: &DescentSetup, seed: u64, threads: usize) -> Vec<f64> {
    let mut run = Descending::new(setup.clone(), seed, threads).unwrap();
    while run.iterate(&descend).unwrap() {}
    run.values().to_vec()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn both_drivers_agree_bit_for_bit(seed in any::<u64>(), relay in any::<bool>(), cancel in any::<bool>(), kind in 0..5) {
        let noising = Noising { sensitivity: 1.0, local: 0.5, relay: if relay { 0.1 } else { 0.0 } };
        let schemes = match kind {
            0 => vec![gossip(1, true)],
            1 => vec![gossip(1, false), gossip(2, false), gossip(3, false)],
            2 => vec![Scheme::Butterfly { positions: (0..PEERS).collect() }, Scheme::Butterfly { positions: (0..PEERS).rev().collect() }],
            3 => vec![gossip(4, false)],
            _ => vec![gossip(1, true), gossip(2, true), gossip(3, true)],
        };
        // One kind runs out of budget after two of four steps.
        let budget = if kind == 3 { 9.0 } else { f64::INFINITY };
        let keys = sottovoce_topology::Graph::from_edges(PEERS, (1..PEERS).map(|v| (v / 2, v))).unwrap();
        let cancelling = cancel.then(|| Cancelling::new(keys, 3.0).unwrap());
        let setup = DescentSetup { cancelling, ..setup(schemes, noising, budget) };
        prop_assert_eq!(in_bulk(&setup, seed, 3), by_events(&setup, seed));
    }
}

#[test]
fn without_noise_consensus_descent_is_gradient_descent_on_the_mean() {
    let noising = Noising { sensitivity: 1.0, local: 0.0, relay: 0.0 };
    let setup = setup(vec![Scheme::Butterfly { positions: (0..PEERS).collect() }], noising, f64::INFINITY);
    let values = in_bulk(&setup, 1, 1);
    let mut expected = [1.0, -2.0];
    for iteration in 0..4 {
        for (i, x) in expected.iter_mut().enumerate() {
            *x -= 0.3 * (*x - (3.5 + i as f64)) / f64::from(1 + iteration);
        }
    }
    assert!(
        values.chunks(2).flatten().zip(expected.iter().cycle()).all(|(x, y)| (x - y).abs() < 1e-12),
        "{values:?} {expected:?}"
    );
}

#[test]
fn the_budget_ends_contributions_and_a_resumed_run_is_the_same() {
    let noising = Noising { sensitivity: 1.0, local: 0.5, relay: 0.0 };
    let setup = setup(vec![gossip(1, false)], noising, 9.0);
    let mut whole = Descending::new(setup.clone(), 5, 1).unwrap();
    let mut checkpoint = None;
    while whole.iterate(&descend).unwrap() {
        if whole.iteration() == 3 {
            checkpoint = Some((whole.iteration(), whole.values().to_vec()));
        }
    }
    // The sum is rounded up.
    assert!(whole.spent() >= 8.0 && whole.spent() < 8.0 + 1e-13);
    assert!(whole.stopped().is_some_and(|overspent| (overspent.left - 1.0).abs() < 1e-13));
    let (iteration, values) = checkpoint.unwrap();
    let mut again = Descending::new(setup.clone(), 5, 2).unwrap();
    again.resume(iteration, values).unwrap();
    while again.iterate(&descend).unwrap() {}
    assert_eq!((again.values(), again.spent()), (whole.values(), whole.spent()));
    let mut poor = Descending::new(DescentSetup { budget: 3.0, ..setup }, 5, 1).unwrap();
    assert!(!poor.iterate(&descend).unwrap() && poor.stopped().is_some());
    assert!(poor.resume(9, vec![]).is_err());
}

#[test]
fn bad_input_is_refused() {
    let noising = Noising { sensitivity: 1.0, local: 0.5, relay: 0.0 };
    let good = setup(vec![gossip(1, false)], noising, 9.0);
    let other = Scheme::Gossip { mixing: mixing(1), rounds: 4, accelerated: false };
    for (bad, words) in [
        (DescentSetup { schemes: vec![], ..good.clone() }, "`schemes` is empty"),
        (
            DescentSetup { schemes: vec![gossip(1, false), other], ..good.clone() },
            "`schemes` is of 8 peers and 4 rounds",
        ),
        (DescentSetup { iterations: 0, ..good.clone() }, "`iterations` is 0"),
        (DescentSetup { noising: Noising { local: 0.0, ..noising }, ..good.clone() }, "`sigma` is 0"),
        (DescentSetup { start: vec![f64::NAN], ..good.clone() }, "`values` is NaN"),
    ] {
        let error = bad.check().unwrap_err().to_string();
        assert!(error.starts_with(words), "{error}");
    }
}
