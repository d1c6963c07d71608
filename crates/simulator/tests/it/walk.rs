//! Walks: both drivers take the same way, faults lose no token, and the numbers are those of the algorithm.

use std::time::Duration;

use sottovoce_protocol::walk::{Course, Patience, Steps, Visit};
use sottovoce_simulator::network::{Faults, Network};
use sottovoce_simulator::walk::{FastWalk, Passage, WalkRun, WalkSetup, copies, lineage, passages};
use sottovoce_topology::family::{Family, generate};
use sottovoce_topology::mixing::{Mixing, Weights};

const PEERS: usize = 12;

fn mixing() -> Mixing {
    let graph = generate(&Family::ErdosRenyi { n: PEERS, p: 0.4 }, 3, true).unwrap();
    Mixing::new(&graph, Weights::MetropolisPlusOne)
}

fn course() -> Course {
    Course { steps: 200, burn_in: 10, sizes: Steps::Constant(0.1), sensitivity: 1.0, noise: 0.5, cap: 12 }
}

fn setup(mixing: &Mixing, tokens: usize) -> WalkSetup<'_> {
    let launch = (0..tokens).map(|token| token % PEERS).collect();
    WalkSetup {
        mixing,
        course: course(),
        launch,
        budget: f64::INFINITY,
        start: vec![3.0, -1.0],
        worth: vec![],
    }
}

/// Draws a token to the peer's own point.
fn descend(peer: usize) -> impl FnMut(usize, f64, &mut Vec<f64>) {
    move |_, gamma, token| token.iter_mut().for_each(|x| *x -= gamma * (*x - peer as f64))
}

fn run<'a>(mixing: &'a Mixing, tokens: usize, network: Network, faults: Faults) -> WalkRun<'a> {
    let deadline = Duration::from_secs(100_000);
    WalkRun {
        setup: setup(mixing, tokens),
        network,
        faults,
        patience: Patience { attempts: 3 },
        deadline,
        seed: 7,
    }
}

fn path(setup: WalkSetup<'_>) -> (Vec<(usize, Visit)>, Vec<f64>) {
    let mut walk = FastWalk::new(setup, 7, descend).unwrap();
    let mut path = Vec::new();
    walk.run(|_, holder, visit| path.push((holder, visit))).unwrap();
    (path, walk.mean())
}

#[test]
fn a_fast_walk_is_what_state_machines_do() {
    let mixing = mixing();
    let (path, last) = path(setup(&mixing, 1));
    let outcome = run(&mixing, 1, Network::perfect(), Faults::default()).run(descend).unwrap();
    assert_eq!(outcome.path(0), path);
    assert_eq!(outcome.finals[0].as_ref().unwrap().value, last);
    assert_eq!((path.len(), outcome.reroutings()), (200, 0));
    // Burn-in, then contributions up to the cap, then noise only.
    assert!(path[..10].iter().all(|(_, visit)| *visit == Visit::Relayed));
    for peer in 0..PEERS {
        let visits: Vec<Visit> =
            path[10..].iter().filter(|(holder, _)| *holder == peer).map(|(_, v)| *v).collect();
        let contributed = visits.iter().filter(|visit| **visit == Visit::Contributed).count();
        assert_eq!(contributed, visits.len().min(12));
        assert!(visits.iter().skip(12).all(|visit| *visit == Visit::NoiseOnly));
    }
}

#[test]
fn without_noise_the_token_is_the_algorithm_s() {
    let mixing = mixing();
    let mut setup = setup(&mixing, 1);
    setup.course = Course { noise: 0.0, burn_in: 0, cap: usize::MAX, ..course() };
    let (path, last) = path(setup);
    let mut x = 3.0;
    path.iter().for_each(|(peer, _)| x -= 0.1 * (x - *peer as f64));
    assert!((x - last[0]).abs() < 1e-12);
}

/// Random-walk averaging: the token is the mean of what its holders said.
#[test]
fn running_steps_give_the_mean_of_the_contributions() {
    let mixing = mixing();
    let mut setup = setup(&mixing, 1);
    setup.course = Course { noise: 0.0, sizes: Steps::Running, cap: usize::MAX, ..course() };
    let (path, last) = path(setup);
    let mean = path[10..].iter().map(|(peer, _)| *peer as f64).sum::<f64>() / 190.0;
    assert!((mean - last[0]).abs() < 1e-12, "{mean} {last:?}");
}

#[test]
fn holders_are_visited_equally_often() {
    let mixing = mixing();
    let mut setup = setup(&mixing, 1);
    setup.course.steps = 60_000;
    let (path, _) = path(setup);
    let mut counts = [0.0; PEERS];
    path.iter().for_each(|(peer, _)| counts[*peer] += 1.0);
    // 5000 each; the walk mixes in a few steps, so that six standard deviations of independent draws times two is ample.
    assert!(counts.iter().all(|count: &f64| (count - 5000.0).abs() < 850.0), "{counts:?}");
}

#[test]
fn a_walk_continued_is_the_walk_uninterrupted() {
    let mixing = mixing();
    let mut whole = FastWalk::new(setup(&mixing, 3), 7, descend).unwrap();
    let mut first = FastWalk::new(setup(&mixing, 3), 7, descend).unwrap();
    (0..77).for_each(|_| assert!(first.step(|_, _, _| {}).unwrap()));
    let state = first.state().clone();
    let mut second = FastWalk::new(setup(&mixing, 3), 7, descend).unwrap();
    second.resume(state.clone()).unwrap();
    whole.run(|_, _, _| {}).unwrap();
    second.run(|_, _, _| {}).unwrap();
    assert_eq!(whole.state(), second.state());
    assert_eq!(whole.spent(), second.spent());
    let mut other = FastWalk::new(setup(&mixing, 2), 7, descend).unwrap();
    assert!(other.resume(state).is_err());
}

#[test]
fn a_budget_leaves_noise_only() {
    let mixing = mixing();
    // Four per contribution.
    let mut walk = FastWalk::new(WalkSetup { budget: 9.0, ..setup(&mixing, 1) }, 7, descend).unwrap();
    let mut contributions = [0; PEERS];
    walk.run(|_, holder, visit| contributions[holder] += usize::from(visit == Visit::Contributed)).unwrap();
    assert!(contributions.iter().all(|&count| count <= 2) && contributions.contains(&2));
    assert!(walk.stopped().is_some() && walk.spent() >= 8.0 && walk.spent() < 8.0 + 1e-13);
}

#[test]
fn lost_messages_and_crashed_peers_lose_no_token() {
    let mixing = mixing();
    let network =
        Network { drop: 0.2, duplicate: 0.1, timeout: Some(Duration::from_secs(1)), ..Network::perfect() };
    let faults = Faults { crashes: vec![(5, Duration::from_secs(20))], ..Faults::default() };
    let run = run(&mixing, 3, network, faults);
    let outcome = run.run(descend).unwrap();
    assert!(outcome.finals.iter().all(|token| token.as_ref().is_some_and(|token| token.step == 200)));
    assert!(outcome.reroutings() > 0 && outcome.lost > 0 && outcome.violations.is_empty());
    assert_eq!(outcome, run.run(descend).unwrap(), "a run is a function of its arguments");
    // Contributions stay capped, whatever the detours.
    for peer in 0..PEERS {
        let contributed = |passage: &&Passage| matches!(passage, Passage::Held { peer: holder, visit: Visit::Contributed, .. } if *holder == peer);
        assert!(passages(&outcome.transcript).iter().filter(contributed).count() <= 12);
    }
}

/// On a perfect network a token has one path; answers that get lost make two of some, which hold all that was contributed.
#[test]
fn copies_that_arrive_twice_are_two_paths() {
    let mixing = mixing();
    let whole = run(&mixing, 2, Network::perfect(), Faults::default()).run(descend).unwrap();
    let paths = copies(&whole.transcript);
    assert_eq!(paths.len(), 2);
    (0..2).for_each(|token| assert_eq!(paths[token].iter().collect::<Vec<_>>(), whole.path(token)));
    let network = Network { drop: 0.3, timeout: Some(Duration::from_secs(1)), ..Network::perfect() };
    let lossy = run(&mixing, 2, network, Faults::default()).run(descend).unwrap();
    let paths = copies(&lossy.transcript);
    assert!(paths.len() > 2 && paths.iter().any(|path| !path.forks().is_empty()), "{}", paths.len());
    assert_eq!(paths.iter().filter(|path| path.start() == 0).count(), 2);
    let contributed = |visit: &Visit| *visit == Visit::Contributed;
    let told = paths.iter().flat_map(|path| path.iter()).filter(|(_, visit)| contributed(visit)).count();
    assert_eq!(told, lossy.transcript.releases.len());
    // Every copy is followed to its end: swallowed, or arrived.
    for token in lossy.finals.iter().flatten() {
        assert_eq!(lineage(&lossy.transcript, token.sent()).unwrap().len(), 200);
    }
}

/// A plain random walk visits by degree, and noise is as large as a contribution is worth.
#[test]
fn a_plain_walk_visits_by_degree() {
    let graph = generate(&Family::ErdosRenyi { n: PEERS, p: 0.4 }, 3, true).unwrap();
    let mixing = Mixing::new(&graph, Weights::Uniform);
    let mut setup = setup(&mixing, 1);
    setup.course.steps = 60_000;
    let (path, _) = path(setup);
    let law = mixing.stationary().unwrap();
    let mut counts = [0.0; PEERS];
    path.iter().for_each(|(peer, _)| counts[*peer] += 1.0 / 60_000.0);
    // As where visits are equal: six standard deviations of independent draws times two.
    assert!(
        counts.iter().zip(&law).all(|(count, share): (&f64, _)| (count - share).abs() < 0.0142),
        "{counts:?} {law:?}"
    );
}

#[test]
fn bad_input_is_refused() {
    let mixing = mixing();
    let good = setup(&mixing, 1);
    let with = |course: Course| WalkSetup { course, ..good.clone() };
    for (bad, words) in [
        (WalkSetup { launch: vec![99], ..good.clone() }, "`launch` is 99"),
        (WalkSetup { launch: vec![], ..good.clone() }, "`launch` is empty"),
        (with(Course { steps: 10, ..course() }), "`steps` is 10"),
        (with(Course { sizes: Steps::Constant(-1.0), ..course() }), "`step` is -1"),
        (WalkSetup { budget: -1.0, ..good.clone() }, "`budget` is -1"),
        (WalkSetup { budget: 1.0, ..with(Course { noise: 0.0, ..course() }) }, "`sigma` is 0"),
    ] {
        let error = bad.check().unwrap_err().to_string();
        assert!(error.starts_with(words), "{error}");
    }
    let network = Network { drop: 0.5, ..Network::perfect() };
    let error = run(&mixing, 1, network, Faults::default()).run(descend).unwrap_err().to_string();
    assert!(error.starts_with("`timeout` is none"), "{error}");
}
