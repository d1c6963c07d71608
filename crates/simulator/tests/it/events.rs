//! Runs in virtual time: what faults do, and what they cannot do.

use crate::common;

use common::*;
use proptest::prelude::*;
use sottovoce_protocol::averaging::{Averager, Noising};
use sottovoce_protocol::public::AveragingPeer;
use sottovoce_simulator::Allowance;
use sottovoce_simulator::averaging::AveragingSetup;
use sottovoce_simulator::driver::Simulation;
use sottovoce_simulator::network::{Absence, Faults, Latency, Network};
use sottovoce_simulator::noise::PeerNoise;
use sottovoce_simulator::outcome::Outcome;
use sottovoce_simulator::record::Mail;

fn close(a: &[f64], b: &[f64], tolerance: f64) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= tolerance)
}

fn calm(setup: &AveragingSetup, seed: u64) -> Outcome<Vec<f64>> {
    run(setup, Network::perfect(), &Faults::default(), seed)
}

#[test]
fn butterflies_of_every_size_end_with_the_exact_mean() {
    for n in 1..=40 {
        let setup = butterfly(n, PLAIN);
        let outcome = calm(&setup, n as u64);
        assert!(outcome.complete && outcome.violations.is_empty() && outcome.misses.is_empty());
        for last in outcome.finals.iter().flatten() {
            assert!(close(last, &noisy_mean(&setup, n as u64), 1e-13), "{n} peers");
        }
        let bias = outcome.bias.unwrap();
        assert!(bias.measured.iter().all(|x| x.abs() < 1e-13));
        assert_eq!(bias.bound, [0.0, 0.0]);
    }
}

#[test]
fn a_perfect_run_has_perfect_books() {
    let setup = gossip(9, 1, 4, false, PLAIN);
    let outcome = calm(&setup, 1);
    let edges: usize = mixing(9).graph().edge_count();
    assert_eq!((outcome.traffic.sent, outcome.traffic.delivered), (8 * edges as u64, 8 * edges as u64));
    assert_eq!(outcome.traffic.refused.total(), 0);
    assert_eq!((outcome.duration, outcome.rounds), (ms(4), vec![4; 9]));
}

#[test]
fn sleepers_find_their_mail_and_leavers_do_not() {
    let setup = gossip(6, 1, 3, false, PLAIN);
    let network = Network { timeout: Some(ms(50)), ..Network::perfect() };
    let absence = Absence { peer: 2, from: ms(1), until: ms(20) };
    let asleep = run(&setup, network, &Faults { pauses: vec![absence], ..Faults::default() }, 3);
    assert_eq!(asleep.finals, calm(&setup, 3).finals, "late, but nothing was lost");
    assert_eq!((asleep.misses.len(), asleep.traffic.lost), (0, 0));
    assert!(asleep.duration >= ms(20));
    let away = run(&setup, network, &Faults { departures: vec![absence], ..Faults::default() }, 3);
    assert!(away.complete && away.traffic.lost > 0 && !away.misses.is_empty());
}

#[test]
fn the_crashed_have_no_result_and_the_others_do() {
    let setup = gossip(6, 1, 5, false, PLAIN);
    let network = Network { timeout: Some(ms(10)), ..Network::perfect() };
    // Round 1 opens at 1 ms; what peer 4 then says arrives at 2 ms.
    let outcome = run(&setup, network, &Faults { crashes: vec![(4, ms(2))], ..Faults::default() }, 3);
    assert!(!outcome.complete && outcome.finals[4].is_none());
    assert_eq!(outcome.finals.iter().flatten().count(), 5);
    let of_the_dead: Vec<_> = outcome.misses.iter().filter(|miss| miss.from == 4).collect();
    assert!(!of_the_dead.is_empty() && of_the_dead.iter().all(|miss| miss.round >= 2), "{of_the_dead:?}");
    assert!(outcome.violations.is_empty());
}

#[test]
fn without_a_timeout_silence_is_waited_for_until_the_deadline() {
    let setup = gossip(5, 1, 3, false, PLAIN);
    let network = Network { drop: 1.0, ..Network::perfect() };
    let outcome = run(&setup, network, &Faults::default(), 3);
    assert!(!outcome.complete && outcome.finals.iter().all(Option::is_none) && outcome.bias.is_none());
    assert_eq!(outcome.traffic.lost, outcome.traffic.sent);
    let peers = setup.numbers().unwrap();
    let outcome = Simulation::new(peers, PeerNoise::all(3, 5), Network::perfect(), 3).unwrap();
    let outcome = outcome.deadline(ms(2) - std::time::Duration::from_nanos(1)).run();
    assert_eq!((outcome.complete, outcome.rounds), (false, vec![2; 5]));
    assert_eq!(outcome.traffic.underway, outcome.traffic.sent / 2);
}

#[test]
fn a_budget_that_is_too_small_stops_everyone_before_the_first_word() {
    let mut setup = gossip(5, 1, 3, false, PLAIN);
    setup.budget = 3.9; // One release costs (1 / 0.5)² = 4.
    let outcome = calm(&setup, 3);
    assert_eq!((outcome.stopped.len(), outcome.traffic.sent), (5, 0));
    assert!(outcome.violations.is_empty(), "{:?}", outcome.violations);
    setup.budget = 4.0;
    assert!(calm(&setup, 3).complete);
}

/// Budgets and noises are each peer's own: whoever has too little of the one for the other says nothing, and nobody else is stopped.
#[test]
fn budgets_and_noises_may_differ() {
    let setup = gossip(6, 1, 3, false, PLAIN);
    let noising = |peer: usize| Noising { local: [0.5, 1.0][peer % 2], ..PLAIN };
    let peers = setup.scheme.machines(noising, |peer| setup.values[peer].clone()).unwrap();
    let peers = peers.into_iter().map(AveragingPeer::lenient).collect();
    // Releases cost 4 and 1.
    let budgets = [4.0, 1.0, 3.9, 0.9, f64::INFINITY, 4.0].map(|budget| Allowance::gaussian(budget).unwrap());
    let network = Network { timeout: Some(ms(10)), ..Network::perfect() };
    let mut transcript = sottovoce_protocol::averaging::AveragingTranscript::default();
    let simulation = Simulation::new(peers, PeerNoise::all(1, 6), network, 1).unwrap();
    let outcome = simulation.budgets(budgets.to_vec()).unwrap().recorder(&mut transcript).run();
    let stopped: Vec<usize> = outcome.stopped.iter().map(|(peer, _)| *peer).collect();
    assert_eq!(stopped, [2, 3]);
    let released: Vec<(usize, f64)> =
        transcript.releases.iter().map(|(peer, release)| (*peer, release.scale)).collect();
    assert_eq!(released, [(0, 0.5), (1, 1.0), (4, 0.5), (5, 1.0)]);
    assert!(transcript.messages.iter().all(|heard| !stopped.contains(&heard.from)));
}

#[test]
fn progress_is_reported() {
    let setup = gossip(12, 1, 2500, false, PLAIN);
    let mut calls = Vec::new();
    Simulation::new(setup.numbers().unwrap(), PeerNoise::all(1, 12), Network::perfect(), 1)
        .unwrap()
        .run_with(|progress| calls.push(progress));
    assert!(!calls.is_empty() && calls.is_sorted_by_key(|progress| (progress.time, progress.events)));
}

#[test]
fn noise_is_wanted_for_every_peer() {
    let peers = gossip(5, 1, 3, false, PLAIN).numbers().unwrap();
    let error =
        Simulation::new(peers, PeerNoise::all(3, 4), Network::perfect(), 3).err().unwrap().to_string();
    assert_eq!(error, "`noises` is 4: give one for each of the 5 peers");
}

/// One peer holds a NaN, which the setup would have refused.
fn poisoned(setup: &AveragingSetup, victim: usize, seed: u64, timeout: u64) -> Outcome<Vec<f64>> {
    let mut peers = lenient(setup);
    let part = setup.scheme.parts().unwrap().swap_remove(victim);
    let gamma = setup.scheme.gamma().unwrap();
    let mut value = setup.values[victim].clone();
    value[0] = f64::NAN;
    peers[victim] = Averager::new(value, part, setup.noising, gamma);
    assert!(peers[victim].value()[0].is_nan());
    let network = Network { timeout: Some(ms(timeout)), ..Network::perfect() };
    Simulation::new(peers, PeerNoise::all(seed, setup.values.len()), network, seed).unwrap().run()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_run_is_a_function_of_its_seed(
        ((setup, network, faults, seed), strict) in (any_faulty_run(), any::<bool>())
    ) {
        let once = || {
            let mut transcript = Mail::default();
            let peers = if strict { setup.numbers().unwrap() } else { lenient(&setup) };
            let noises = PeerNoise::all(seed, peers.len());
            let outcome = Simulation::new(peers, noises, network, seed).unwrap()
                .faults(&faults).unwrap().recorder(&mut transcript).run();
            (outcome, transcript)
        };
        let (first, second) = (once(), once());
        prop_assert_eq!(&first, &second);
        prop_assert_eq!(first.1.0.len() as u64, first.0.traffic.delivered);
        let elsewhere = std::thread::scope(|scope| scope.spawn(once).join().unwrap());
        prop_assert_eq!(&first, &elsewhere);
    }

    #[test]
    fn repeated_and_reordered_messages_change_nothing(
        (setup, latency, seed) in (any_setup(), any_latency(), any::<u64>())
    ) {
        let network = Network {
            latency, drop: 0.0, duplicate: 0.7, reorder: 0.3, hold: ms(25), timeout: None,
        };
        let (calm, wild) = (calm(&setup, seed), run(&setup, network, &Faults::default(), seed));
        prop_assert!(calm.complete && wild.complete);
        prop_assert_eq!(calm.finals, wild.finals);
        prop_assert_eq!(wild.traffic.refused.total(), wild.traffic.repeated);
        prop_assert!(wild.violations.is_empty(), "{:?}", wild.violations);
    }

    #[test]
    fn faults_break_no_invariant_and_the_books_balance((setup, network, faults, seed) in any_faulty_run()) {
        let outcome = run(&setup, network, &faults, seed);
        prop_assert!(outcome.violations.is_empty(), "{}", outcome.violations[0]);
        let traffic = outcome.traffic;
        prop_assert_eq!(traffic.sent + traffic.repeated, traffic.delivered + traffic.lost + traffic.underway);
        let survivors = (0..setup.values.len()).filter(|&peer| faults.crashes.iter().all(|&(dead, _)| dead != peer));
        prop_assert!(survivors.into_iter().all(|peer| outcome.finals[peer].is_some()));
    }

    #[test]
    fn the_bias_stays_below_its_bound((setup, network, faults, seed) in any_faulty_run()) {
        let outcome = run(&setup, network, &faults, seed);
        let expected = outcome.finals.iter().any(Option::is_some)
            && (setup.noising.relay == 0.0 || setup.facts().unwrap().conserves_mass);
        prop_assert_eq!(outcome.bias.is_some(), expected);
        if let Some(bias) = outcome.bias {
            for (measured, bound) in bias.measured.iter().zip(&bias.bound) {
                prop_assert!(measured.abs() <= bound + 1e-11, "{} > {}", measured, bound);
            }
        }
    }

    #[test]
    fn without_faults_there_is_no_bias((setup, seed) in (any_setup(), any::<u64>())) {
        // Relay noise moves the mean, with momentum where there is some: that is no bias, and is known exactly.
        if let Some(bias) = calm(&setup, seed).bias {
            prop_assert!(bias.measured.iter().all(|x| x.abs() < 1e-12), "{:?}", bias);
            prop_assert_eq!(bias.bound, [0.0, 0.0]);
        }
    }

    #[test]
    fn a_number_that_is_none_never_spreads(
        (setup, victim, seed) in any_setup().prop_flat_map(|setup| {
            let n = setup.values.len();
            (Just(setup), 0..n, any::<u64>())
        })
    ) {
        let outcome = poisoned(&setup, victim, seed, 30);
        for (peer, last) in outcome.finals.iter().enumerate() {
            let finite = last.as_ref().unwrap().iter().all(|x| x.is_finite());
            prop_assert!(finite || peer == victim, "peer {} caught it from {}", peer, victim);
        }
    }

    #[test]
    fn gossip_converges_to_the_mean((n, accelerated, seed) in (2usize..14, any::<bool>(), any::<u64>())) {
        let setup = gossip(n, 2, 400, accelerated, PLAIN);
        let outcome = calm(&setup, seed);
        for last in outcome.finals.iter().flatten() {
            prop_assert!(close(last, &noisy_mean(&setup, seed), 1e-9), "{:?}", last);
        }
    }
}

/// The bound is not idle: one lost message alone comes close to what is charged for it.
#[test]
fn the_bound_is_within_a_factor_of_what_happens() {
    let noising = Noising { sensitivity: 1.0, local: 1e-9, relay: 0.0 };
    let mut setup = gossip(4, 1, 1, false, noising);
    setup.values = vec![vec![0.0], vec![10.0], vec![0.0], vec![10.0]];
    // Peer 0 hears nobody, being away while all messages arrive; the others hear it.
    let away = Absence { peer: 0, from: ms(1), until: ms(3) };
    let network = Network { timeout: Some(ms(5)), latency: Latency::Constant(ms(2)), ..Network::perfect() };
    let outcome = run(&setup, network, &Faults { departures: vec![away], ..Faults::default() }, 1);
    let bias = outcome.bias.unwrap();
    assert!(
        bias.measured[0].abs() <= bias.bound[0] && bias.measured[0].abs() > 0.4 * bias.bound[0],
        "{bias:?}"
    );
}

/// One error, in round 0: momentum makes it grow as the header of `bias` says, and beyond the bound without that growth.
#[test]
fn momentum_makes_an_error_grow() {
    let noising = Noising { sensitivity: 1.0, local: 1e-9, relay: 0.0 };
    let (n, rounds) = (8, 12);
    let mut setup = gossip(n, 1, rounds, true, noising);
    setup.values = vec![vec![10.0]; n];
    setup.values[1] = vec![0.0];
    let away = Absence { peer: 1, from: ms(1), until: ms(3) };
    // Its own messages are fast, or its neighbours would in turn not wait for it.
    let faults = Faults { departures: vec![away], stragglers: vec![(1, 0.5)], ..Faults::default() };
    let network = Network { timeout: Some(ms(5)), latency: Latency::Constant(ms(2)), ..Network::perfect() };
    let outcome = run(&setup, network, &faults, 1);
    assert!(outcome.complete && outcome.misses.iter().all(|miss| (miss.peer, miss.round) == (1, 0)));
    let missed: f64 = outcome.misses.iter().map(|miss| miss.weight).sum();
    let gamma = setup.scheme.gamma().unwrap().unwrap();
    let growth = (1.0 - (gamma - 1.0).powi(rounds as i32)) / (2.0 - gamma);
    let bias = outcome.bias.unwrap();
    assert!((bias.measured[0] + missed * 10.0 * growth / n as f64).abs() < 1e-6, "{bias:?}");
    assert!(growth > 1.1 && bias.measured[0].abs() <= bias.bound[0], "{bias:?}");
}
