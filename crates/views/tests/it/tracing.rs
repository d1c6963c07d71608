//! The accountant against the protocols' own code: messages traced through the state machines must give the same losses as the
//! formulas for fixed graphs and schedules; and what holds for every view.

use proptest::prelude::*;
use sottovoce_protocol::averaging::{Coupling, Noising};
use sottovoce_protocol::public::Scheme;
use sottovoce_topology::family::{Family, generate};
use sottovoce_topology::mixing::{Mixing, Weights};
use sottovoce_topology::schedule::{Ending, Schedule};
use sottovoce_topology::spectrum::Exchanges;
use sottovoce_views::door::{Overheard, Setting};
use sottovoce_views::exact::{self, Leakage, Results, traced};
use sottovoce_views::trace::trace;

fn by_tracing(scheme: &Scheme, nodes: usize, observers: &[usize], tau: f64) -> Leakage {
    let noising = Noising { sensitivity: 1.0, local: 1.0, relay: tau };
    let heard = trace(scheme, noising, observers).unwrap();
    let messages: Vec<&[f64]> = heard.heard.iter().map(|message| &message.coefficients.0[..]).collect();
    traced(&messages, observers, nodes, |i| observers.contains(&(i % nodes))).unwrap()
}

fn largest_difference(a: &Leakage, b: &Leakage) -> f64 {
    a.losses.iter().zip(&b.losses).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

fn coupled(mixing: &Mixing, rounds: usize, seed: u64) -> Scheme {
    let Exchanges { rate, resistance } = Exchanges::of(mixing).unwrap();
    let schedule = Schedule::randomised(mixing, rounds, seed).unwrap();
    Scheme::Coupled { schedule, rounds, coupling: Coupling::new(rate, resistance) }
}

/// Long runs are certified as well; a stride beyond what numbers hold counts as lost.
#[test]
fn accelerated_pairs_are_certified_or_lost() {
    let ring = |n: usize| Mixing::new(&generate(&Family::Ring { n }, 0, true).unwrap(), Weights::Metropolis);
    let leakage = Setting::of(coupled(&ring(16), 700, 3)).leakage(&[0]).unwrap();
    assert!(leakage.certified && leakage.rounding < 1e-9);
    assert_eq!(leakage.rank, Some(15));
    let early = Setting::of(coupled(&ring(16), 60, 3)).leakage(&[0]).unwrap();
    assert!(early.certified && early.rank < Some(15) && early.losses[8] < 0.9, "{early:?}");
    let Scheme::Coupled { schedule, rounds, .. } = coupled(&ring(8), 40, 3) else { unreachable!() };
    let wild = Scheme::Coupled { schedule, rounds, coupling: Coupling { lean: 0.1, stride: 1e9 } };
    let lost = Setting::of(wild).leakage(&[0]).unwrap();
    assert!(!lost.certified && lost.losses[1..].iter().all(|loss| *loss == 1.0));
}

fn random_mixing(n: usize, p: f64, lazy: f64, seed: u64) -> Mixing {
    let graph = generate(&Family::ErdosRenyi { n, p }, seed, true).unwrap();
    Mixing::new(&graph, Weights::Metropolis).lazy(lazy).unwrap()
}

#[test]
fn butterflies_leak_what_the_reference_says() {
    let cases: Vec<serde_json::Value> =
        serde_json::from_str(include_str!("reference/butterfly.json")).unwrap();
    for case in cases {
        let n = case["n"].as_u64().unwrap() as usize;
        let observer = case["observer"].as_u64().unwrap() as usize;
        let leakage = by_tracing(&Scheme::Butterfly { positions: (0..n).collect() }, n, &[observer], 0.0);
        for (u, reference) in case["exact"].as_array().unwrap().iter().enumerate() {
            let (ours, reference) = (leakage.losses[u], reference.as_f64().unwrap());
            assert!((ours - reference).abs() < 1e-9, "n {n}, peer {u}: {ours} {reference}");
            let bit = (u ^ observer).checked_ilog2();
            assert!((ours - bit.map_or(0.0, |bit| 0.5_f64.powi(bit as i32))).abs() < 1e-9);
        }
        assert_eq!(leakage.rank, case["rank"].as_u64().map(|rank| rank as usize));
    }
}

/// For any number of peers: a guest's host learns its value, guests learn the mean only, and nobody is exposed to many.
#[test]
fn butterflies_of_any_size() {
    for n in 2_usize..=40 {
        let core = 1 << n.ilog2();
        for observer in 0..n {
            let leakage = by_tracing(&Scheme::Butterfly { positions: (0..n).collect() }, n, &[observer], 0.0);
            let exposed = leakage.losses.iter().filter(|loss| **loss > 1.0 - 1e-9).count();
            assert!(exposed <= 2, "n {n}, observer {observer}: {exposed} exposed");
            if observer >= core {
                // A guest knows its own variable and hears the mean: the others share one direction.
                let others = leakage.losses.iter().enumerate().filter(|(u, _)| *u != observer);
                others.for_each(|(_, loss)| assert!((loss - 1.0 / (n - 1) as f64).abs() < 1e-9, "n {n}"));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Few steps, so that doubles can tell the messages apart.
    #[test]
    fn tracing_agrees_with_krylov(n in 4_usize..24, p in 0.2..0.8, lazy in 0.0..0.5, steps in 1_usize..5, seed: u64) {
        let mixing = random_mixing(n, p, lazy, seed);
        let observers = [0, n / 2];
        let krylov = exact::gossip(&mixing, &observers, steps).unwrap();
        for accelerated in [false, true] {
            let scheme = Scheme::Gossip { mixing: mixing.clone(), rounds: steps, accelerated };
            let found = by_tracing(&scheme, n, &observers, 0.0);
            // What doubles leave in doubt counts as lost.
            if found.certified {
                prop_assert_eq!(found.rank, krylov.rank);
                prop_assert!(largest_difference(&found, &krylov) < 1e-6);
            } else {
                prop_assert!((0..n).all(|u| observers.contains(&u) || found.losses[u] == 1.0));
            }
        }
    }

    #[test]
    fn tracing_agrees_with_the_gram_matrix(n in 4_usize..20, p in 0.2..0.8, steps in 1_usize..7, tau in 0.03..2.0, seed: u64) {
        let mixing = random_mixing(n, p, 0.1, seed);
        let scheme = Scheme::Gossip { mixing: mixing.clone(), rounds: steps, accelerated: false };
        let gram = exact::relay_gossip(&mixing, &[1], steps, tau).unwrap();
        prop_assert!(largest_difference(&by_tracing(&scheme, n, &[1], tau), &gram) < 1e-7);
        // More noise never reveals more, and more steps never less.
        let louder = exact::relay_gossip(&mixing, &[1], steps, 1.3 * tau).unwrap();
        let longer = exact::relay_gossip(&mixing, &[1], steps + 1, tau).unwrap();
        let silent = exact::gossip(&mixing, &[1], steps).unwrap();
        for u in 0..n {
            prop_assert!(louder.losses[u] <= gram.losses[u] + 1e-9);
            prop_assert!(gram.losses[u] <= longer.losses[u] + 1e-9);
            prop_assert!(gram.losses[u] <= silent.losses[u] + 1e-9);
        }
    }

    #[test]
    fn tracing_agrees_with_schedules(n in 4_usize..16, p in 0.2..0.8, steps in 1_usize..40, seed: u64) {
        let mixing = random_mixing(n, p, 0.2, seed);
        let schedule = Schedule::randomised(&mixing, steps, seed).unwrap();
        let backwards = exact::scheduled(&schedule, &[0], steps).unwrap();
        let found = by_tracing(&Scheme::Scheduled { schedule, rounds: steps }, n, &[0], 0.0);
        prop_assert!(backwards.certified);
        if found.certified {
            prop_assert_eq!(found.rank, backwards.rank);
            prop_assert!(largest_difference(&found, &backwards) < 1e-6);
        } else {
            prop_assert!(found.losses[1..].iter().all(|loss| *loss == 1.0));
        }
    }

    /// Accelerated pairs: the machines' own messages, and the same in as many digits as it takes; and results that are published.
    #[test]
    fn tracing_agrees_with_coupled_pairs(n in 3_usize..12, p in 0.3..0.8, steps in 1_usize..60, seed: u64, shown in any::<bool>()) {
        let mixing = random_mixing(n, p, 0.1, seed);
        let scheme = coupled(&mixing, steps, seed);
        let results = if shown { Results::Published } else { Results::Kept };
        let setting = Setting { results, ..Setting::of(scheme.clone()) };
        let digits = setting.leakage(&[0, 1]).unwrap();
        let trace = trace(&scheme, Noising { sensitivity: 1.0, local: 1.0, relay: 0.0 }, &[0, 1]).unwrap();
        let heard = trace.heard.iter().map(|message| &message.coefficients.0[..]);
        let known = trace.finals.iter().map(|last| &last.0[..]).filter(|_| shown);
        let messages: Vec<&[f64]> = heard.chain(known).collect();
        let found = traced(&messages, &[0, 1], n, |i| i < 2).unwrap();
        prop_assert!(digits.certified);
        if found.certified {
            prop_assert_eq!(found.rank, digits.rank);
            prop_assert!(largest_difference(&found, &digits) < 1e-6);
        } else {
            prop_assert!(found.losses[2..].iter().all(|loss| *loss == 1.0));
        }
    }

    /// The sum of losses is the rank; losses lie between 0 and 1; a coalition learns at least what each member does.
    #[test]
    fn views_obey_their_algebra(n in 4_usize..30, p in 0.15..0.6, steps in 1_usize..12, seed: u64) {
        let mixing = random_mixing(n, p, 0.3, seed);
        let one = exact::gossip(&mixing, &[0], steps).unwrap();
        let both = exact::gossip(&mixing, &[0, 1], steps).unwrap();
        let more = exact::gossip(&mixing, &[0], steps + 1).unwrap();
        prop_assert!((one.losses.iter().sum::<f64>() - one.rank.unwrap() as f64).abs() < 1e-9);
        let heard = mixing.graph().degree(0) * steps;
        prop_assert!(one.mean() <= heard as f64 / n as f64 + 1e-12);
        for u in 2..n {
            prop_assert!((0.0..=1.0).contains(&one.losses[u]));
            prop_assert!(one.losses[u] <= both.losses[u] + 1e-9);
            prop_assert!(one.losses[u] <= more.losses[u] + 1e-9);
        }
        // A fixed graph as a schedule.
        let schedule = Schedule::constant(mixing);
        let backwards = exact::scheduled(&schedule, &[0, 1], steps).unwrap();
        prop_assert!(largest_difference(&backwards, &both) < 1e-7);
        prop_assert_eq!(backwards.rank, both.rank);
    }
}

/// A weight may be tiny and still give everything away: what is small beside other *peers'* shares is not small beside rounding.
/// Three groups of three peers, each connected with the other groups: twins have the same row. After two steps of accelerated gossip results tell them apart.
#[test]
fn results_of_accelerated_gossip_are_not_powers() {
    let edges = (0..9).flat_map(|u: usize| (u + 1..9).filter(move |v| u / 3 != v / 3).map(move |v| (u, v)));
    let graph = sottovoce_topology::Graph::from_edges(9, edges).unwrap();
    let mixing = Mixing::new(&graph, Weights::Metropolis).lazy(0.0).unwrap();
    for accelerated in [false, true] {
        let scheme = Scheme::Gossip { mixing: mixing.clone(), rounds: 2, accelerated };
        let setting = Setting { results: Results::Published, ..Setting::of(scheme) };
        let found = setting.leakage(&[0]).unwrap();
        let twins = if accelerated { 1.0 } else { 0.5 };
        assert!((found.losses[1] - twins).abs() < 1e-9, "{accelerated} {:?}", found.losses);
        assert!(found.losses[3] > 0.999_999);
    }
}

#[test]
fn tiny_weights_hide_nothing() {
    let path = generate(&Family::Path { n: 4 }, 0, true).unwrap();
    for tiny in [1e-3, 1e-8, 1e-11, 1e-14, 1e-20, 1e-100] {
        let entries = [
            (0, 1, 0.25),
            (1, 0, 0.25),
            (1, 2, tiny),
            (2, 1, tiny),
            (2, 3, 0.5),
            (3, 2, 0.5),
            (0, 0, 0.75),
            (1, 1, 0.75 - tiny),
            (2, 2, 0.5 - tiny),
            (3, 3, 0.5),
        ];
        let mixing = Mixing::from_entries(&path, entries).unwrap();
        let schedule = Schedule::constant(mixing.clone());
        let scheme = Scheme::Gossip { mixing: mixing.clone(), rounds: 2, accelerated: false };
        let exact = [exact::gossip(&mixing, &[0], 2).unwrap(), exact::scheduled(&schedule, &[0], 2).unwrap()];
        let traced = by_tracing(&scheme, 4, &[0], 0.0);
        assert!(traced.losses.iter().zip(&exact[0].losses).all(|(traced, exact)| *traced > exact - 1e-9));
        for found in exact {
            assert!((found.losses[2] - 1.0).abs() < 1e-9, "weight {tiny:e}: {found:?}");
            assert!(found.losses[3] < 1e-9, "weight {tiny:e}: {found:?}");
            assert_eq!(found.rank, Some(2), "weight {tiny:e}");
        }
        assert!((exact::gossip(&mixing, &[0], 3).unwrap().losses[3] - 1.0).abs() < 1e-9);
    }
}

/// As relay noise fades the Gram matrix is nothing but rounding, and its factor knows nothing of that: losses once came out ten thousand
/// times too small. True values by balls of 1000 bits.
#[test]
fn hardly_any_relay_noise_hides_hardly_anything() {
    let path = generate(&Family::Path { n: 8 }, 0, true).unwrap();
    for (weights, lazy, steps, tau, peer, truth) in [
        (Weights::Metropolis, 0.9995, 4, 1e-12, 4, 0.976),
        (Weights::MetropolisPlusOne, 0.9992, 4, 1e-12, 4, 0.9836),
        (Weights::Metropolis, 0.998, 4, 1e-10, 4, 0.9436),
        (Weights::Metropolis, 0.998, 4, 1e-9, 4, 0.1433),
        (Weights::Metropolis, 0.992, 5, 1e-11, 5, 0.9711),
        (Weights::Metropolis, 0.98, 6, 1e-12, 6, 0.9936),
        (Weights::Metropolis, 0.96, 6, 1e-10, 6, 0.945),
        (Weights::Metropolis, 0.99999, 3, 1e-11, 3, 0.7576),
    ] {
        let mixing = Mixing::new(&path, weights).lazy(lazy).unwrap();
        let found = exact::relay_gossip(&mixing, &[0], steps, tau).unwrap();
        assert!((found.losses[peer] - truth).abs() < 2e-3 && found.certified, "{lazy} {tau}: {found:?}");
        let all = exact::by_steps(&mixing, &[0], steps, &[tau]).unwrap();
        assert!(all[0][steps - 1].losses[peer] > truth - 2e-3, "{lazy} {tau}");
        let pairs = exact::relay_gossip_all_pairs(&mixing, steps, tau, &|_| ()).unwrap();
        assert_eq!(pairs[0], found);
    }
}

/// Published results with relay noise, and schedules with hardly any: by exact fractions, and never more than without.
#[test]
fn relay_noise_on_schedules_and_results() {
    let ring = generate(&Family::Ring { n: 8 }, 0, true).unwrap();
    let mixing = Mixing::new(&ring, Weights::Metropolis).lazy(1.0 / 3.0).unwrap();
    let everyone: Vec<usize> = (0..8).collect();
    let found = exact::relay_scheduled(&Schedule::constant(mixing), &[0], 10, 0.3, &everyone).unwrap();
    let truth = [0.0, 0.917431, 0.554819, 0.20247, 0.13197, 0.20247, 0.554819, 0.917431];
    assert!(
        found.certified && found.losses.iter().zip(truth).all(|(a, b)| (a - b).abs() < 1e-5),
        "{found:?}"
    );
    let pairs = "{\"pairwise\":[[0,1],[2,3],[0,1],[1,2]]}";
    let schedule = Schedule::from_json(pairs, 4, Weights::Metropolis, Ending::Stop).unwrap();
    for tau in [1e-12, 1e-7, 1e-3, 1.0, 1e6] {
        let found = exact::relay_scheduled(&schedule, &[0], 4, tau, &[]).unwrap();
        assert!(
            found.certified && found.losses[2..] == [0.0, 0.0] && found.losses[1] <= 1.0,
            "{tau}: {found:?}"
        );
        let traced = by_tracing(&Scheme::Scheduled { schedule: schedule.clone(), rounds: 4 }, 4, &[0], tau);
        if traced.certified {
            assert!(largest_difference(&traced, &found) < 1e-6, "{tau}: {traced:?} {found:?}");
        }
    }
}
