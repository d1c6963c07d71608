//! Every case of the reference files: exact losses with and without relay noise, ranks.
//!
//! `averaging_hard.json` was computed with 400 digits: cases in which orthogonalising the messages themselves would lose
//! directions and understate the loss.

use serde_json::Value;
use sottovoce_topology::Graph;
use sottovoce_topology::mixing::{Mixing, Weights};
use sottovoce_topology::schedule::{Ending, Schedule};
use sottovoce_views::exact::{Leakage, gossip, relay_gossip, scheduled};

const EXACT: f64 = 1e-7;

fn cases(text: &str) -> Vec<Value> {
    let cases: Vec<Value> = serde_json::from_str(text).unwrap();
    assert!(!cases.is_empty());
    cases
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

fn observers(case: &Value) -> Vec<usize> {
    numbers(&case["observers"]).iter().map(|x| *x as usize).collect()
}

fn name(case: &Value) -> String {
    format!("{} after {} steps, observers {}", case["graph"], case["steps"], case["observers"])
}

/// The largest difference over the peers that do not observe.
fn far(ours: &[f64], reference: &Value, observers: &[usize]) -> f64 {
    let reference = numbers(reference);
    assert_eq!(ours.len(), reference.len());
    let others = (0..ours.len()).filter(|u| !observers.contains(u));
    others.map(|u| (ours[u] - reference[u]).abs()).fold(0.0, f64::max)
}

fn fixed(case: &Value) -> Option<Mixing> {
    let edges: Vec<(usize, usize)> = serde_json::from_value(case.get("edges")?.clone()).unwrap();
    let graph = Graph::from_edges(case["n"].as_u64().unwrap() as usize, edges).unwrap();
    Some(Mixing::new(&graph, Weights::Metropolis).lazy(case["lazy"].as_f64().unwrap()).unwrap())
}

fn varying(case: &Value) -> Option<Schedule> {
    let n = case["n"].as_u64().unwrap() as usize;
    let text = match (case.get("edges_per_step"), case.get("schedule")) {
        (Some(steps), _) => format!("{{\"edges_per_step\": {steps}}}"),
        (_, Some(pairs)) => format!("{{\"pairwise\": {pairs}}}"),
        _ => return None,
    };
    Some(Schedule::from_json(&text, n, Weights::Metropolis, Ending::Stop).unwrap())
}

fn check_exact(case: &Value, leakage: &Leakage) {
    let off = far(&leakage.losses, &case["exact"], &observers(case));
    assert!(off < EXACT, "{}: exact off by {off:e}", name(case));
    assert_eq!(leakage.rank, Some(case["rank"].as_u64().unwrap() as usize), "{}", name(case));
    assert!(leakage.certified, "{}", name(case));
    assert!(
        (leakage.losses.iter().sum::<f64>() - leakage.rank.unwrap() as f64).abs() < 1e-9,
        "{}",
        name(case)
    );
}

#[test]
fn fixed_weights() {
    let mut seen = 0;
    let hard = cases(include_str!("reference/averaging_hard.json"));
    for case in cases(include_str!("reference/averaging_leakage.json")).iter().chain(&hard) {
        let Some(mixing) = fixed(case) else { continue };
        let (observers, steps) = (observers(case), case["steps"].as_u64().unwrap() as usize);
        check_exact(case, &gossip(&mixing, &observers, steps).unwrap());
        for (tau, reference) in case.get("exact_relay").and_then(Value::as_object).into_iter().flatten() {
            let ours = relay_gossip(&mixing, &observers, steps, tau.parse().unwrap()).unwrap();
            let off = far(&ours.losses, reference, &observers);
            assert!(off < EXACT, "{} relay {tau}: off by {off:e}", name(case));
        }
        seen += 1;
    }
    assert!(seen > 40, "{seen}");
}

#[test]
fn schedules() {
    let mut seen = 0;
    for case in &cases(include_str!("reference/averaging_leakage.json")) {
        let Some(schedule) = varying(case) else { continue };
        let (observers, steps) = (observers(case), case["steps"].as_u64().unwrap() as usize);
        check_exact(case, &scheduled(&schedule, &observers, steps).unwrap());
        seen += 1;
    }
    assert!(seen >= 4, "{seen}");
}
