//! Strict rounds: whoever misses a neighbour says nothing more, and whatever is said is what was planned.

use crate::common;

use std::collections::BTreeMap;

use common::*;
use proptest::prelude::*;
use sottovoce_protocol::averaging::{Averager, Message, Plan};
use sottovoce_simulator::averaging::AveragingSetup;
use sottovoce_simulator::driver::Simulation;
use sottovoce_simulator::network::{Faults, Network};
use sottovoce_simulator::noise::PeerNoise;
use sottovoce_simulator::outcome::Outcome;
use sottovoce_simulator::record::Mail;

/// Everything that is ever delivered, by (round, sender, receiver).
fn said(
    setup: &AveragingSetup,
    network: Network,
    faults: &Faults,
    seed: u64,
) -> BTreeMap<(usize, usize, usize), Vec<f64>> {
    let mut transcript = Mail::default();
    let peers = setup.numbers().unwrap();
    let noises = PeerNoise::all(seed, peers.len());
    let simulation = Simulation::new(peers, noises, network, seed).unwrap();
    simulation.faults(faults).unwrap().recorder(&mut transcript).run();
    let entry = |entry: sottovoce_simulator::record::Entry<Message<Vec<f64>>>| {
        ((entry.message.round, entry.from, entry.to), entry.message.value)
    };
    transcript.0.into_iter().map(entry).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Losses, delays, crashes and sleepers: what is said in spite of them is bit for bit what is said without.
    #[test]
    fn faults_only_ever_take_messages_away((setup, network, faults, seed) in any_faulty_run()) {
        let planned = said(&setup, Network::perfect(), &Faults::default(), seed);
        let faulty = said(&setup, network, &faults, seed);
        for (key, value) in &faulty {
            prop_assert_eq!(planned.get(key), Some(value), "{:?}", key);
        }
    }

    #[test]
    fn the_silent_say_so_and_break_nothing((setup, network, faults, seed) in any_faulty_run()) {
        let outcome = run_strict(&setup, network, &faults, seed);
        prop_assert!(outcome.misses.is_empty() && outcome.violations.is_empty(), "{:?}", outcome.violations);
        let parts = setup.scheme.parts().unwrap();
        for silence in &outcome.silent {
            prop_assert!(outcome.finals[silence.peer].is_none() && !silence.missing.is_empty());
            let from: Vec<usize> = parts[silence.peer].row(silence.round).from.iter().map(|(from, _)| *from).collect();
            prop_assert!(silence.missing.iter().all(|peer| from.contains(peer)));
        }
        let dead = |peer: usize| faults.crashes.iter().any(|&(dead, _)| dead == peer);
        let stopped = |peer: usize| outcome.silent.iter().any(|silence| silence.peer == peer);
        for (peer, last) in outcome.finals.iter().enumerate() {
            prop_assert!(last.is_some() || stopped(peer) || dead(peer), "{}", peer);
        }
        if let Some(bias) = outcome.bias {
            for (measured, bound) in bias.measured.iter().zip(&bias.bound) {
                prop_assert!(measured.abs() <= bound + 1e-11, "{} > {}", measured, bound);
            }
        }
    }
}

#[test]
fn one_lost_message_silences_a_neighbourhood_and_then_everyone() {
    let setup = gossip(9, 1, 12, false, PLAIN);
    let network = Network { timeout: Some(ms(10)), ..Network::perfect() };
    let faults = Faults { crashes: vec![(4, ms(3))], ..Faults::default() };
    let outcome = run_strict(&setup, network, &faults, 3);
    assert_eq!((outcome.silent.len(), outcome.finals.iter().flatten().count()), (8, 0));
    assert!(outcome.silent[0].missing.contains(&4), "{:?}", outcome.silent);
    assert!(outcome.silent.iter().all(|silence| silence.round >= 3));
    // The lenient go on.
    assert_eq!(run(&setup, network, &faults, 3).finals.iter().flatten().count(), 8);
}

/// Peers who agreed on a range, but for peer 1, who holds what it likes and refuses nothing.
fn loud(setup: &AveragingSetup, range: f64, size: f64, seed: u64) -> Outcome<Vec<f64>> {
    let mut peers: Vec<_> =
        setup.numbers().unwrap().into_iter().map(|peer| peer.within(range).unwrap()).collect();
    let part = setup.scheme.parts().unwrap().swap_remove(1);
    peers[1] = Averager::new(vec![size, -size], part, setup.noising, None);
    let network = Network { timeout: Some(ms(10)), ..Network::perfect() };
    Simulation::new(peers, PeerNoise::all(seed, setup.values.len()), network, seed).unwrap().run()
}

/// Honest messages stay within a range that was agreed on, whatever is injected within it; what is beyond it is refused.
#[test]
fn honest_messages_are_never_out_of_range() {
    let range = 40.0;
    let relayed = gossip(9, 2, 30, false, RELAY);
    for setup in [gossip(9, 2, 30, false, PLAIN), relayed, pairs(8, 40, PLAIN), butterfly(8, PLAIN)] {
        for seed in 0..20 {
            let within = loud(&setup, range, 0.9 * range, seed);
            assert!(within.complete && within.traffic.refused.total() == 0, "{:?}", within.silent);
            let beyond = loud(&setup, range, 3.0 * range, seed);
            assert!(
                beyond.traffic.refused.range > 0 && beyond.silent[0].missing == [1],
                "{:?}",
                beyond.silent
            );
        }
    }
    let first = |setup: AveragingSetup, peer: usize| setup.numbers().unwrap().remove(peer);
    assert!(first(gossip(9, 1, 3, true, PLAIN), 0).within(range).is_none(), "accelerated");
    assert!(first(butterfly(9, PLAIN), 8).within(range).is_none(), "a host's entry row is not convex");
    assert!(first(gossip(9, 1, 3, false, PLAIN), 0).within(f64::NAN).is_none());
}
