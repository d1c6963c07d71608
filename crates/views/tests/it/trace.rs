//! What the accountant is told: coefficients agree with powers of the matrix, and with the numbers of a run.

use sottovoce_protocol::Coefficients;
use sottovoce_protocol::averaging::{Noising, listen};
use sottovoce_protocol::public::Scheme;
use sottovoce_simulator::averaging::AveragingSetup;
use sottovoce_topology::Graph;
use sottovoce_topology::mixing::{Mixing, Weights};
use sottovoce_topology::schedule::{Ending, Schedule};
use sottovoce_views::trace::{Tracer, trace};

const PLAIN: Noising = Noising { sensitivity: 1.0, local: 2.0, relay: 0.0 };
const RELAY: Noising = Noising { sensitivity: 1.0, local: 2.0, relay: 0.5 };

fn ring(n: usize) -> Mixing {
    let graph = Graph::from_edges(n, (0..n).map(|u| (u, (u + 1) % n))).unwrap();
    Mixing::new(&graph, Weights::MetropolisPlusOne)
}

fn gossip(n: usize, rounds: usize, accelerated: bool) -> Scheme {
    Scheme::Gossip { mixing: ring(n), rounds, accelerated }
}

fn padded(coefficients: &Coefficients, length: usize) -> Vec<f64> {
    let mut all = coefficients.0.clone();
    assert!(all.len() <= length);
    all.resize(length, 0.0);
    all
}

#[test]
fn messages_of_gossip_are_rows_of_powers() {
    let (n, rounds) = (7, 5);
    let trace = trace(&gossip(n, rounds, false), PLAIN, &[2]).unwrap();
    assert_eq!((trace.heard.len(), trace.variables), (2 * rounds, n));
    for heard in &trace.heard {
        let mut column = vec![0.0; n];
        column[heard.from] = PLAIN.local;
        for _ in 0..heard.round {
            let mut next = vec![0.0; n];
            ring(n).apply(&column, &mut next);
            column = next;
        }
        for (a, b) in padded(&heard.coefficients, n).iter().zip(&column) {
            assert!((a - b).abs() < 1e-15, "round {} from {}", heard.round, heard.from);
        }
    }
    let order: Vec<_> = trace.heard.iter().map(|heard| (heard.round, heard.to, heard.from)).collect();
    assert!(order.is_sorted());
}

#[test]
fn relay_noise_has_variables_of_its_own() {
    let (n, rounds) = (5, 3);
    let trace = trace(&gossip(n, rounds, false), RELAY, &[0, 3]).unwrap();
    assert_eq!(trace.variables, n * (1 + rounds));
    for heard in &trace.heard {
        let fresh = (heard.round + 1) * n + heard.from;
        let all = padded(&heard.coefficients, trace.variables);
        assert_eq!(all[fresh], RELAY.relay);
        // Nothing of this round but one's own, and nothing of later ones.
        let others = (heard.round + 1) * n..trace.variables;
        assert!(others.filter(|&i| i != fresh).all(|i| all[i] == 0.0));
    }
}

#[test]
fn rows_sum_to_one_with_and_without_acceleration() {
    for accelerated in [false, true] {
        let trace = trace(&gossip(9, 12, accelerated), PLAIN, &[]).unwrap();
        assert!(trace.heard.is_empty());
        for last in &trace.finals {
            assert!((last.0.iter().sum::<f64>() - PLAIN.local).abs() < 1e-12);
        }
    }
}

#[test]
fn a_schedule_of_pairs_is_traced_pair_by_pair() {
    let schedule = Schedule::pairwise(3, [(0, 1), (1, 2)], Ending::Stop).unwrap();
    let trace = trace(&Scheme::Scheduled { schedule, rounds: 2 }, PLAIN, &[0, 1, 2]).unwrap();
    let heard: Vec<_> = trace.heard.iter().map(|h| (h.round, h.from, h.to)).collect();
    assert_eq!(heard, [(0, 1, 0), (0, 0, 1), (1, 2, 1), (1, 1, 2)]);
    assert_eq!(trace.heard[3].coefficients.0, [1.0, 1.0]);
    assert_eq!(trace.finals[2].0, [0.5, 0.5, 1.0]);
}

#[test]
fn every_size_of_butterfly_ends_with_the_mean() {
    for n in 1..=20 {
        let scheme = Scheme::Butterfly { positions: (0..n).rev().collect() };
        let trace = trace(&scheme, PLAIN, &[]).unwrap();
        for last in &trace.finals {
            for coefficient in padded(last, n) {
                assert!((coefficient - PLAIN.local / n as f64).abs() < 1e-15, "{n} peers");
            }
        }
    }
}

#[test]
fn whoever_is_heard_may_speak() {
    let schedule = Schedule::randomised(&ring(6), 15, 3).unwrap();
    let butterflies = [1, 2, 6, 8, 13].map(|n| Scheme::Butterfly { positions: (0..n).rev().collect() });
    let others = [gossip(6, 4, true), Scheme::Scheduled { schedule, rounds: 15 }];
    for scheme in butterflies.into_iter().chain(others) {
        let n = scheme.peers();
        let trace = trace(&scheme, PLAIN, &(0..n).collect::<Vec<_>>()).unwrap();
        let spoken: Vec<_> = trace.heard.iter().map(|h| (h.round, h.to, h.from)).collect();
        for round in 0..scheme.rounds() {
            for (to, from) in (0..n).flat_map(|to| (0..n).map(move |from| (to, from))) {
                let spoke = spoken.binary_search(&(round, to, from)).is_ok();
                assert_eq!(scheme.may_speak(round, from, to), spoke, "{from} to {to} in {round} of {n}");
            }
        }
    }
}

#[test]
fn strangers_cannot_observe_and_mismatched_parts_are_found_stuck() {
    let error = trace(&gossip(5, 2, false), PLAIN, &[5]).unwrap_err().to_string();
    assert_eq!(error, "`observers` is 5: there are 5 peers, numbered from 0 to 4");
    let machines = |scheme: &Scheme| scheme.machines(|_| PLAIN, |_| Coefficients::default()).unwrap();
    let mut mixed = machines(&gossip(5, 2, false));
    mixed[1] = machines(&gossip(5, 1, false)).swap_remove(1);
    let error = listen(&mut mixed, &mut Tracer::all(5), |_, _, _| {}).unwrap_err().to_string();
    assert!(error.starts_with("peer 0 never finishes"), "{error}");
}

#[test]
fn what_cannot_be_run_is_refused_with_field_value_and_remedy() {
    let good = AveragingSetup {
        values: vec![vec![1.0, 2.0]; 5],
        scheme: gossip(5, 3, true),
        noising: PLAIN,
        budget: f64::INFINITY,
    };
    assert_eq!(good.numbers().unwrap()[4].value(), &[1.0, 2.0]);
    let with = |change: &dyn Fn(&mut AveragingSetup)| {
        let mut setup = good.clone();
        change(&mut setup);
        setup.numbers().unwrap_err().to_string()
    };
    let star = Graph::from_edges(5, (1..5).map(|v| (0, v))).unwrap();
    let pieces = Graph::from_edges(5, [(0, 1), (2, 3)]).unwrap();
    let mix = |graph: &Graph, weights, accelerated| Scheme::Gossip {
        mixing: Mixing::new(graph, weights),
        rounds: 3,
        accelerated,
    };
    let short = Schedule::pairwise(5, [(0, 1)], Ending::Stop).unwrap();
    let cases = [
        (with(&|s| s.values.clear()), "`values` is empty"),
        (with(&|s| s.values = vec![vec![]; 5]), "`values` is of length 0"),
        (with(&|s| s.values[3] = vec![1.0]), "`values` is 1 numbers at peer 3: give 2 numbers"),
        (with(&|s| s.values[2][1] = f64::NAN), "`values` is NaN at coordinate 1 of peer 2"),
        (with(&|s| s.values[2][0] = f64::INFINITY), "`values` is inf at coordinate 0 of peer 2"),
        (
            with(&|s| s.values.truncate(4)),
            "`values` is 4 vectors: give one vector for each of the scheme's 5",
        ),
        (with(&|s| s.noising.local = 0.0), "`sigma` is 0: give a positive"),
        (with(&|s| s.noising.local = f64::NAN), "`sigma` is NaN"),
        (with(&|s| s.noising.relay = -0.5), "`tau` is -0.5"),
        (with(&|s| s.noising.sensitivity = 0.0), "`sensitivity` is 0"),
        (with(&|s| s.budget = -1.0), "`budget` is -1"),
        (with(&|s| s.budget = f64::NAN), "`budget` is NaN"),
        (with(&|s| s.scheme = gossip(5, 0, false)), "`rounds` is 0: give at least 1"),
        (with(&|s| s.scheme = mix(&star, Weights::Uniform, false)), "`mixing` is 0.25 at (0, 1)"),
        (with(&|s| s.scheme = mix(&pieces, Weights::Metropolis, false)), "the graph is not connected"),
        (with(&|s| s.scheme = gossip(6, 3, false)), "`values` is 5 vectors"),
        (
            with(&|s| s.scheme = Scheme::Scheduled { schedule: short.clone(), rounds: 2 }),
            "`rounds` is 2: the schedule ends after 1",
        ),
        (
            with(&|s| s.scheme = Scheme::Butterfly { positions: vec![0, 1, 1, 2, 3] }),
            "`positions` is 1 at position 2: 1 has two",
        ),
        (
            with(&|s| s.scheme = Scheme::Butterfly { positions: vec![0, 1, 5, 2, 3] }),
            "`positions` is 5 at position 2: 5 is no peer",
        ),
    ];
    for (error, expected) in cases {
        assert!(error.starts_with(expected), "{error}\nshould start with\n{expected}");
    }
    // An even ring without laziness is bipartite: acceleration has no gap to work with.
    let even = Graph::from_edges(4, (0..4).map(|u| (u, (u + 1) % 4))).unwrap();
    let error = mix(&even, Weights::Metropolis, true).gamma().unwrap_err().to_string();
    assert!(error.starts_with("`gap` is 0: "), "{error}");
}
