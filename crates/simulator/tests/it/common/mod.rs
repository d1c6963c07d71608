//! Setups that several tests share.
#![allow(dead_code, reason = "no test uses all of them")]

use std::time::Duration;

use proptest::prelude::*;
use sottovoce_protocol::averaging::Noising;
use sottovoce_protocol::public::{AveragingPeer, Scheme};
use sottovoce_protocol::{Machine, Peer};
use sottovoce_simulator::averaging::AveragingSetup;
use sottovoce_simulator::driver::Simulation;
use sottovoce_simulator::invariants;
use sottovoce_simulator::network::{Absence, Faults, Latency, Network};
use sottovoce_simulator::noise::PeerNoise;
use sottovoce_simulator::outcome::Outcome;
use sottovoce_topology::Graph;
use sottovoce_topology::mixing::{Mixing, Weights};
use sottovoce_topology::schedule::Schedule;

pub(crate) const PLAIN: Noising = Noising { sensitivity: 1.0, local: 0.5, relay: 0.0 };
pub(crate) const RELAY: Noising = Noising { sensitivity: 1.0, local: 0.5, relay: 0.25 };

pub(crate) fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// A ring with a chord from every third node, so that degrees differ.
pub(crate) fn mixing(n: usize) -> Mixing {
    let ring = (0..n).map(|u| (u, (u + 1) % n)).filter(|&(u, v)| u != v && (n > 2 || u < v));
    let chords =
        (0..n).step_by(3).map(|u| (u, u + n / 2)).filter(|&(u, v)| v < n && v > u + 1 && v - u != n - 1);
    let graph = Graph::from_edges(n, ring.chain(chords)).unwrap();
    Mixing::new(&graph, Weights::MetropolisPlusOne)
}

pub(crate) fn values(n: usize, width: usize) -> Vec<Vec<f64>> {
    (0..n).map(|u| (0..width).map(|i| ((u * 7 + i * 3) % 11) as f64 - 4.5).collect()).collect()
}

pub(crate) fn gossip(
    n: usize,
    width: usize,
    rounds: usize,
    accelerated: bool,
    noising: Noising,
) -> AveragingSetup {
    let scheme = Scheme::Gossip { mixing: mixing(n), rounds, accelerated };
    AveragingSetup { values: values(n, width), scheme, noising, budget: f64::INFINITY }
}

pub(crate) fn butterfly(n: usize, noising: Noising) -> AveragingSetup {
    let scheme = Scheme::Butterfly { positions: (0..n).rev().collect() };
    AveragingSetup { values: values(n, 2), scheme, noising, budget: f64::INFINITY }
}

pub(crate) fn pairs(n: usize, rounds: usize, noising: Noising) -> AveragingSetup {
    let schedule = Schedule::randomised(&mixing(n), rounds, 5).unwrap();
    let scheme = Scheme::Scheduled { schedule, rounds };
    AveragingSetup { values: values(n, 2), scheme, noising, budget: f64::INFINITY }
}

/// Runs a setup with all its invariants, in strict rounds.
pub(crate) fn run_strict(
    setup: &AveragingSetup,
    network: Network,
    faults: &Faults,
    seed: u64,
) -> Outcome<Vec<f64>> {
    run_peers(setup, setup.numbers().unwrap(), network, faults, seed)
}

/// The same in lenient rounds, which go on with whom they have.
pub(crate) fn run(setup: &AveragingSetup, network: Network, faults: &Faults, seed: u64) -> Outcome<Vec<f64>> {
    run_peers(setup, lenient(setup), network, faults, seed)
}

pub(crate) fn lenient(setup: &AveragingSetup) -> Vec<AveragingPeer<Vec<f64>>> {
    setup.numbers().unwrap().into_iter().map(AveragingPeer::lenient).collect()
}

fn run_peers(
    setup: &AveragingSetup,
    peers: Vec<AveragingPeer<Vec<f64>>>,
    network: Network,
    faults: &Faults,
    seed: u64,
) -> Outcome<Vec<f64>> {
    let noises = PeerNoise::all(seed, peers.len());
    Simulation::new(peers, noises, network, seed)
        .unwrap()
        .faults(faults)
        .unwrap()
        .budgets(setup.allowances().unwrap())
        .unwrap()
        .averaging(setup.facts().unwrap())
        .invariants(invariants::of_averaging(setup).unwrap())
        .run()
}

/// The noisy values that peers enter with, averaged.
pub(crate) fn noisy_mean(setup: &AveragingSetup, seed: u64) -> Vec<f64> {
    use sottovoce_protocol::Noise;
    let n = setup.values.len();
    let mut mean = vec![0.0; setup.values[0].len()];
    for (peer, value) in setup.values.iter().enumerate() {
        let eta = PeerNoise::new(seed, peer).draw(0, setup.noising.local, value).unwrap();
        mean.iter_mut()
            .zip(value.iter().zip(&eta))
            .for_each(|(mean, (x, eta))| *mean += (x + eta) / n as f64);
    }
    mean
}

/// Any of the schemes, with or without relay noise.
pub(crate) fn any_setup() -> impl Strategy<Value = AveragingSetup> {
    let noising = prop_oneof![Just(PLAIN), Just(RELAY)];
    (2usize..14, 1usize..9, 0..4, noising).prop_map(|(n, rounds, kind, noising)| match kind {
        0 => gossip(n, 2, rounds, false, noising),
        1 => gossip(n, 2, rounds, true, noising),
        2 => pairs(n, 6 * rounds, noising),
        _ => butterfly(n, noising),
    })
}

pub(crate) fn any_latency() -> impl Strategy<Value = Latency> {
    prop_oneof![
        Just(Latency::Constant(ms(2))),
        Just(Latency::Uniform(ms(1), ms(9))),
        Just(Latency::Exponential(ms(3))),
        Just(Latency::LogNormal { median: ms(2), sigma: 1.0 }),
    ]
}

/// A network on which messages are lost or late.
pub(crate) fn any_network() -> impl Strategy<Value = Network> {
    (any_latency(), 0.0..0.4, 0.0..0.5, 0.0..0.3, 5u64..40).prop_map(
        |(latency, drop, duplicate, reorder, timeout)| Network {
            latency,
            drop,
            duplicate,
            reorder,
            hold: ms(15),
            timeout: Some(ms(timeout)),
        },
    )
}

/// Crashes, sleepers, leavers and stragglers among `n` peers.
pub(crate) fn any_faults(n: usize) -> impl Strategy<Value = Faults> {
    let absence = move || (0..n, 0u64..60, 1u64..60);
    let absent = |(peer, from, length)| Absence { peer, from: ms(from), until: ms(from + length) };
    let crashes = prop::collection::vec((0..n, 0u64..80), 0..3);
    let stragglers = prop::collection::vec((0..n, 1.0..5.0), 0..3);
    (crashes, prop::collection::vec(absence(), 0..3), prop::collection::vec(absence(), 0..3), stragglers)
        .prop_map(move |(crashes, pauses, departures, stragglers)| Faults {
            crashes: crashes.into_iter().map(|(peer, time)| (peer, ms(time))).collect(),
            pauses: pauses.into_iter().map(absent).collect(),
            departures: departures.into_iter().map(absent).collect(),
            stragglers,
        })
}

pub(crate) fn any_faulty_run() -> impl Strategy<Value = (AveragingSetup, Network, Faults, u64)> {
    any_setup().prop_flat_map(|setup| {
        let n = setup.scheme.peers();
        (Just(setup), any_network(), any_faults(n), any::<u64>())
    })
}

/// Stores a machine as bytes after a step, and goes on with a fresh one from these.
pub(crate) fn stored<M: Machine + Clone>(fresh: Vec<M>) -> impl FnMut(Peer, &mut M) {
    move |peer, machine| {
        let bytes = postcard::to_stdvec(&machine.state()).unwrap();
        let mut next = fresh[peer].clone();
        next.resume(postcard::from_bytes(&bytes).unwrap()).unwrap();
        *machine = next;
    }
}
