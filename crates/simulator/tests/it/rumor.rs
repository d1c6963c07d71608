//! Rumours on faulty networks, and how far the drivers agree.

use std::time::Duration;

use sottovoce_protocol::public::{Among, Curious, Rules};
use sottovoce_protocol::rumor::{Clock, Muting, RumorRules, Start};
use sottovoce_simulator::network::{Absence, Faults, Latency, Network};
use sottovoce_simulator::rumor::{Crowd, Dice, RumorOutcome, RumorRun};
use sottovoce_topology::family::{Family, generate};

const SECOND: Duration = Duration::from_secs(1);

fn instant() -> Network {
    Network { latency: Latency::Constant(Duration::ZERO), ..Network::perfect() }
}

fn run(s: f64, clock: Clock, seed: u64) -> RumorRun<'static> {
    let muting = Muting::new(s).unwrap();
    RumorRun {
        among: Among::Everyone(60),
        rules: RumorRules { muting, clock, start: Start::Alike, acknowledged: false },
        network: instant(),
        faults: Faults::default(),
        rumors: vec![(0, b"news".to_vec())],
        curious: None,
        period: SECOND,
        deadline: 100_000 * SECOND,
        seed,
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// State machines with clocks and the crowd of bits are two drivers of one protocol: the same number of tellings on average. The seeds
/// are fixed; five standard errors are allowed.
#[test]
fn machines_and_crowds_take_equally_long() {
    for (s, clock) in
        [(0.3, Clock::Rounds), (1.0, Clock::Rounds), (0.3, Clock::Poisson), (0.0, Clock::Poisson)]
    {
        let machines: Vec<f64> =
            (0..300).map(|seed| run(s, clock, seed).run().unwrap().duration / SECOND.as_secs_f64()).collect();
        let crowds: Vec<f64> = (0..300).map(|seed| crowd_time(s, clock, seed)).collect();
        let spread: f64 =
            machines.iter().chain(&crowds).map(|x| (x - mean(&machines)).powi(2)).sum::<f64>() / 600.0;
        let error = (2.0 * spread / 300.0).sqrt();
        let difference = mean(&machines) - mean(&crowds);
        assert!(difference.abs() < 5.0 * error, "{s} {clock:?}: {} and {}", mean(&machines), mean(&crowds));
    }
}

/// Rounds, or the expected time of so many steps: with `a` active peers the next tells after `1/a` on average.
fn crowd_time(s: f64, clock: Clock, seed: u64) -> f64 {
    let mut crowd =
        Crowd::new(Among::Everyone(60), Rules::new(s).unwrap(), 0, Dice::new(seed, 9, 9)).unwrap();
    let mut time = 0.0;
    while crowd.informed() < 60 {
        match clock {
            Clock::Rounds => {
                crowd.silent_round();
                time += 1.0;
            }
            Clock::Poisson => {
                time += 1.0 / crowd.active() as f64;
                crowd.step();
            }
        }
    }
    time
}

fn lossy(acknowledged: bool, seed: u64) -> RumorOutcome {
    let mut run = run(0.0, Clock::Poisson, seed);
    run.network.drop = 0.1;
    run.rules.acknowledged = acknowledged;
    run.run().unwrap()
}

#[test]
fn a_walk_dies_of_a_lost_message_and_lives_by_acknowledgements() {
    let dead = (0..20).filter(|&seed| lossy(false, seed).died(0)).count();
    assert_eq!(dead, 20);
    for seed in 0..20 {
        let outcome = lossy(true, seed);
        assert!(!outcome.died(0) && outcome.informed(0) == 60 && outcome.lost > 0, "{seed}");
    }
}

#[test]
fn some_muting_survives_some_losses() {
    let alive = |s| {
        let survived = |seed: &u64| {
            let mut run = run(s, Clock::Rounds, *seed);
            run.network.drop = 0.1;
            run.run().unwrap().informed(0) == 60
        };
        (0..50).filter(survived).count()
    };
    // Lost at the very beginning a rumour dies with probability about 0.1 * 0.5.
    assert!(alive(0.5) >= 40, "{}", alive(0.5));
    assert_eq!(alive(1.0), 50);
}

#[test]
fn several_rumours_are_told_apart_and_arrive_whole() {
    let mut run = run(0.5, Clock::Poisson, 3);
    run.rumors = vec![(0, vec![1]), (7, vec![2]), (0, vec![])];
    let outcome = run.run().unwrap();
    assert!((0..3).all(|rumor| outcome.informed(rumor) == 60));
    assert_eq!(outcome.learned[1][7], Some(0.0));
}

#[test]
fn churn_delays_and_crashes_leave_gaps() {
    let ring = generate(&Family::Ring { n: 12 }, 0, true).unwrap();
    let mut run = RumorRun { among: Among::Graph(&ring), ..run(1.0, Clock::Rounds, 1) };
    run.deadline = 1000 * SECOND;
    run.faults.departures = vec![Absence { peer: 6, from: Duration::ZERO, until: 100 * SECOND }];
    let outcome = run.run().unwrap();
    assert!(outcome.informed(0) == 12 && outcome.learned[0][6].unwrap() >= 100.0);
    // Both neighbours dead: nobody can tell peer 6.
    run.faults.crashes = vec![(5, Duration::ZERO), (7, Duration::ZERO)];
    let outcome = run.run().unwrap();
    assert!(outcome.learned[0][6].is_none() && outcome.informed(0) == 9, "{outcome:?}");
}

#[test]
fn curious_peers_log_senders_in_order() {
    let curious = Curious::last(12, 60).unwrap();
    let mut run = RumorRun { curious: Some(&curious), ..run(0.5, Clock::Poisson, 4) };
    let outcome = run.run().unwrap();
    let seen = &outcome.seen[&0];
    assert!(seen.iter().all(|seen| curious.has(seen.receiver as usize)));
    assert!(seen.is_sorted_by_key(|seen| seen.time) && !seen.is_empty());
    run.rumors = vec![(59, vec![])];
    assert!(run.run().is_err(), "a curious source");
}

#[test]
fn a_run_is_a_function_of_its_seed() {
    let outcome = |seed| {
        let mut run = run(0.4, Clock::Poisson, seed);
        run.network =
            Network { latency: Latency::Exponential(SECOND), drop: 0.05, duplicate: 0.1, ..run.network };
        run.run().unwrap()
    };
    assert_eq!(outcome(5), outcome(5));
    assert_ne!(outcome(5), outcome(6));
}

#[test]
fn impossible_runs_are_refused() {
    let good = run(0.5, Clock::Rounds, 1);
    let two = generate(&Family::Ring { n: 3 }, 0, true).unwrap();
    assert!(RumorRun { among: Among::Everyone(1), ..good.clone() }.run().is_err());
    assert!(RumorRun { rumors: vec![(60, vec![])], ..good.clone() }.run().is_err());
    assert!(RumorRun { among: Among::Graph(&two), rumors: vec![(3, vec![])], ..good.clone() }.run().is_err());
    assert!(RumorRun { period: Duration::ZERO, ..good.clone() }.run().is_err());
    for s in [-0.1, 1.5, f64::NAN] {
        assert!(Rules::new(s).is_err());
    }
    let empty = sottovoce_topology::Graph::from_edges(4, [(0, 1), (2, 3)]).unwrap();
    assert!(Among::Graph(&empty).check().is_err(), "two parts");
    assert!(
        Curious::new(&[0, 1, 2, 3], 4).is_err()
            && Curious::last(4, 4).is_err()
            && Curious::new(&[4], 4).is_err()
    );
}
