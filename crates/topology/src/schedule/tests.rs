//! Schedules stop, repeat, are drawn with the right frequencies, and locate the mistakes of a file.

use super::*;

fn star() -> Graph {
    Graph::from_edges(4, [(0, 1), (0, 2), (0, 3)]).unwrap()
}

#[test]
fn sequences_stop_or_repeat() {
    let [a, b] =
        [Weights::Metropolis, Weights::MetropolisPlusOne].map(|weights| Mixing::new(&star(), weights));
    let stop = Schedule::sequence(vec![a.clone(), b.clone()], Ending::Stop).unwrap();
    assert_eq!((stop.step(1), stop.step(2), stop.steps()), (Some(Step::Mixing(&b)), None, Some(2)));
    let repeat = Schedule::sequence(vec![a.clone(), b.clone()], Ending::Repeat).unwrap();
    assert_eq!(
        (repeat.step(3), repeat.step(4), repeat.steps()),
        (Some(Step::Mixing(&b)), Some(Step::Mixing(&a)), None)
    );
    assert_eq!(Schedule::constant(a.clone()).step(usize::MAX), Some(Step::Mixing(&a)));
}

#[test]
fn sequences_of_different_sizes_or_none_are_refused() {
    let two = Graph::from_edges(2, [(0, 1)]).unwrap();
    let mixings = [star(), two].map(|graph| Mixing::new(&graph, Weights::Metropolis)).to_vec();
    let error = Schedule::sequence(mixings, Ending::Stop).unwrap_err().to_string();
    assert_eq!(error, "`mixings` is 2 nodes at step 1: give 4 nodes at every step, as at step 0");
    let error = Schedule::sequence(vec![], Ending::Repeat).unwrap_err().to_string();
    assert_eq!(error, "`mixings` is empty: give at least one step");
    assert!(Schedule::pairwise(4, [], Ending::Repeat).is_err());
    assert!(Schedule::random_edges(&star(), &[0.1; 3], 0, 1).is_err());
}

#[test]
fn drawn_edges_have_the_frequencies_asked_for() {
    let steps = 40_000;
    let schedule = Schedule::random_edges(&star(), &[0.5, 0.25, 0.0], steps, 7).unwrap();
    let count =
        |wanted| (0..steps).filter(|&t| schedule.step(t) == Some(wanted)).count() as f64 / steps as f64;
    // Five standard deviations of a frequency are at most 5 sqrt(1/4 / 40,000) = 0.0125.
    for (step, p) in
        [(Step::Pair(0, 1), 0.5), (Step::Pair(0, 2), 0.25), (Step::Pair(0, 3), 0.0), (Step::Idle, 0.25)]
    {
        assert!((count(step) - p).abs() < 0.0125, "{step:?} {}", count(step));
    }
    assert_eq!(schedule, Schedule::random_edges(&star(), &[0.5, 0.25, 0.0], steps, 7).unwrap());
    assert_ne!(schedule, Schedule::random_edges(&star(), &[0.5, 0.25, 0.0], steps, 8).unwrap());
}

#[test]
fn the_diagonal_becomes_idle_time() {
    // Metropolis weights of the star on 4: diagonal 0, 2/3, 2/3, 2/3, so half of the steps are idle.
    let mixing = Mixing::new(&star(), Weights::Metropolis);
    let schedule = Schedule::randomised(&mixing, 40_000, 3).unwrap();
    let idle = (0..40_000).filter(|&t| schedule.step(t) == Some(Step::Idle)).count();
    assert!((idle as f64 / 40_000.0 - 0.5).abs() < 0.0125, "{idle}");
    assert!(Schedule::randomised(&Mixing::new(&star(), Weights::Uniform), 1, 3).is_err());
}

#[test]
fn bad_probabilities_are_refused() {
    for (probabilities, expected) in [
        (vec![0.5], "`probabilities` is 1: give one for each of the 3 edges"),
        (vec![0.5, -0.1, 0.0], "`probabilities` is -0.1 for edge (0, 2): give a number from 0 to 1"),
        (vec![0.5, 0.5, 0.5], "`probabilities` is 1.5 in sum: they must sum to at most 1; rescale them"),
    ] {
        assert_eq!(Schedule::random_edges(&star(), &probabilities, 5, 1).unwrap_err().to_string(), expected);
    }
}

#[test]
fn fresh_graphs_differ_from_step_to_step_and_depend_on_the_seed_alone() {
    let draw = |seed| Schedule::fresh_erdos_renyi(30, 0.3, Weights::MetropolisPlusOne, 3, seed).unwrap();
    let schedule = draw(5);
    assert_eq!(schedule.steps(), Some(3));
    assert_ne!(schedule.step(0), schedule.step(1));
    assert_eq!(schedule, draw(5));
    assert_ne!(schedule, draw(6));
    // 435 pairs, three steps: 391.5 edges expected, standard deviation 16.6.
    let edges = |step| if let Some(Step::Mixing(mixing)) = step { mixing.graph().edge_count() } else { 0 };
    let total: usize = (0..3).map(|t| edges(schedule.step(t))).sum();
    assert!((total as f64 - 391.5).abs() < 83.0, "{total}");
}

#[test]
fn files_are_read_and_their_mistakes_located() {
    let read = |text: &str| Schedule::from_json(text, 3, Weights::Metropolis, Ending::Stop);
    let pairs = read(r#"{"pairwise": [[0, 1], [2, 1]]}"#).unwrap();
    assert_eq!((pairs.step(1), pairs.step(2)), (Some(Step::Pair(2, 1)), None));
    let graphs = read(r#"{"edges_per_step": [[[0, 1]], []]}"#).unwrap();
    assert!(matches!(graphs.step(0), Some(Step::Mixing(mixing)) if mixing.weight(1, 0) == 1.0));
    assert!(matches!(graphs.step(1), Some(Step::Mixing(mixing)) if mixing.diagonal() == [1.0; 3]));
    for (text, expected) in [
        (
            r#"{"pairwise": [[0, 1], [1, 1]]}"#,
            "`pairwise` is [1, 1] at step 1: give two different nodes below 3",
        ),
        (r#"{"pairwise": [[0, 3]]}"#, "`pairwise` is [0, 3] at step 0: give two different nodes below 3"),
        (
            r#"{"edges_per_step": [[], [[0, 7]]]}"#,
            "edges_per_step, step 1: `edge` is 0 7: node numbers must be below 3",
        ),
        (
            r#"{"edges_per_step": [[], [[0, 1], [1, 0]]]}"#,
            "edges_per_step, step 1: `edge` is 0 1: it is listed twice",
        ),
        (
            r#"{"steps": []}"#,
            "the schedule is not {\"edges_per_step\": ...} or {\"pairwise\": ...}: unknown variant `steps`",
        ),
        (r#"{"pairwise": [[0, -1]]}"#, "the schedule is not"),
    ] {
        let error = read(text).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn wild_node_numbers_are_refused() {
    let nodes = |text: &str| Schedule::nodes_in_json(text);
    for number in ["4294967295", "18446744073709551615", "99999999", "5000"] {
        let message = nodes(&format!("{{\"pairwise\": [[0, 1], [1, {number}]]}}")).unwrap_err().to_string();
        assert_eq!(message, format!("`node` is {number}: 3 nodes are named; number them 0, 1, 2, ..."));
    }
    assert!(nodes("{\"edges_per_step\": [[[0, 18446744073709551616]]]}").is_err());
    assert_eq!(nodes("{\"edges_per_step\": [[], [[0, 9]]]}").unwrap(), 10);
}

#[test]
fn what_would_not_fit_in_memory_is_refused() {
    let text = r#"{"edges_per_step": [[[0, 1]], [[0, 1]]]}"#;
    for nodes in [60_000_000, usize::MAX] {
        assert!(Schedule::from_json(text, nodes, Weights::Metropolis, Ending::Stop).is_err());
        assert!(Schedule::pairwise(2 * nodes.min(usize::MAX / 2), [(0, 1)], Ending::Stop).is_err());
    }
    let far = usize::MAX;
    assert!(Schedule::fresh_erdos_renyi(100_000, 1e-5, Weights::Metropolis, far, 0).is_err());
    let ring = Graph::from_edges(3, [(0, 1), (1, 2), (2, 0)]).unwrap();
    assert!(Schedule::random_edges(&ring, &[0.1; 3], far, 0).is_err());
}
