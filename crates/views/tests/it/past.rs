//! The guarantee of an averaging run is that of the run that happened.

use sottovoce_privacy::{Adversary, limits};
use sottovoce_protocol::averaging::{AveragingTranscript, Noising};
use sottovoce_protocol::public::{AveragingPeer, Scheme};
use sottovoce_simulator::averaging::AveragingSetup;
use sottovoce_simulator::driver::Simulation;
use sottovoce_simulator::network::Network;
use sottovoce_simulator::noise::PeerNoise;
use sottovoce_topology::Graph;
use sottovoce_topology::mixing::{Mixing, Weights};
use sottovoce_views::door::{Account, Overheard, Past, Setting, Source, account};
use sottovoce_views::exact::Leakage;
use std::time::Duration;

fn star(accelerated: bool, relay: f64) -> AveragingSetup {
    let graph = Graph::from_edges(12, (1..12).map(|leaf| (0, leaf))).unwrap();
    let mixing = Mixing::new(&graph, Weights::MetropolisPlusOne);
    setup(Scheme::Gossip { mixing, rounds: 20, accelerated }, relay)
}

fn setup(scheme: Scheme, relay: f64) -> AveragingSetup {
    let noising = Noising { sensitivity: 1.0, local: 1.0, relay };
    AveragingSetup { values: vec![vec![0.5]; scheme.peers()], scheme, noising, budget: 1.0 }
}

/// One message in twenty is lost.
fn run(setup: &AveragingSetup, strict: bool, seed: u64) -> AveragingTranscript {
    let network = Network { drop: 0.05, timeout: Some(Duration::from_millis(50)), ..Network::perfect() };
    let lenient = |peer: AveragingPeer<Vec<f64>>| if strict { peer } else { peer.lenient() };
    let peers = setup.numbers().unwrap().into_iter().map(lenient).collect();
    let mut transcript = AveragingTranscript::default();
    let noises = PeerNoise::all(seed, setup.values.len());
    let simulation = Simulation::new(peers, noises, network, seed).unwrap();
    simulation.budgets(setup.allowances().unwrap()).unwrap().recorder(&mut transcript).run();
    transcript
}

fn planned(setup: &AveragingSetup) -> Setting {
    let relay_noise = setup.noising.relay / setup.noising.local;
    Setting { relay_noise, ..Setting::of(setup.scheme.clone()) }
}

fn past(setup: &AveragingSetup, strict: bool, seed: u64) -> Past {
    Past::new(planned(setup), &run(setup, strict, seed)).unwrap()
}

fn of_run(setup: &AveragingSetup, strict: bool, seed: u64, observer: usize) -> (Account, Source) {
    let past = past(setup, strict, seed);
    (account(&past, &Adversary::Peer(observer)).unwrap(), past.source(&[observer]))
}

#[test]
fn one_message_in_twenty_lost_exposes_the_leaves_of_a_star() {
    let setup = star(false, 0.0);
    let plan = planned(&setup).leakage(&[1]).unwrap();
    assert!((plan.losses[7] - 0.1).abs() < 1e-9, "{:?}", plan.losses);
    let (lenient, source) = of_run(&setup, false, 1, 1);
    assert_eq!(source, Source::Traced);
    assert!(lenient.leakage.losses[7] > 1.0 - 1e-6, "{:?}", lenient.leakage.losses);
    let (strict, source) = of_run(&setup, true, 1, 1);
    assert_eq!((source, &strict.leakage), (Source::Planned, &plan));
    let guarantee = lenient.guarantee(7, 1.0, 1.0).unwrap();
    assert!(!guarantee.not_covered.iter().any(|limit| limit == limits::LOST_MESSAGES));
}

#[test]
fn far_pairs_of_a_butterfly_lose_twenty_times_as_much() {
    let setup = setup(Scheme::Butterfly { positions: (0..256).collect() }, 0.0);
    let far = |leakage: &Leakage| leakage.losses[128..].iter().fold(0.0_f64, |most, x| most.max(*x));
    let plan = planned(&setup).leakage(&[0]).unwrap();
    assert!((far(&plan) - 2.0 / 256.0).abs() < 1e-9);
    let past = past(&setup, false, 1);
    let towards = |v: usize| {
        let leakage = past.leakage(&[v]).unwrap();
        (0..256).filter(|u| u ^ v >= 128).map(|u| leakage.losses[u]).fold(0.0, f64::max)
    };
    let worst = (0..256).map(towards).fold(0.0, f64::max);
    assert!(worst > 20.0 * 2.0 / 256.0, "{worst}");
}

#[test]
fn what_cannot_be_traced_has_local_privacy() {
    for setup in [star(true, 0.0), star(false, 0.3)] {
        let (found, source) = of_run(&setup, false, 1, 1);
        assert_eq!(source, Source::Local);
        assert!(found.leakage.losses.iter().enumerate().all(|(u, loss)| (u == 1) == (*loss == 0.0)));
        let (strict, source) = of_run(&setup, true, 1, 1);
        assert!(source == Source::Planned && strict.leakage.losses[7] < 0.2);
    }
}
