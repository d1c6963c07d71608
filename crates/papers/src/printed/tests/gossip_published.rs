//! The printed losses of gossip: every case of the reference files, and the ring of twelve, where they are refuted.

use serde_json::Value;
use sottovoce_protocol::averaging::Noising;
use sottovoce_protocol::public::Scheme;
use sottovoce_topology::Graph;
use sottovoce_topology::family::{Family, generate};
use sottovoce_topology::mixing::{Mixing, Weights};
use sottovoce_topology::schedule::{Ending, Schedule};
use sottovoce_views::exact::{self, traced};
use sottovoce_views::trace::trace;

use crate::printed::each_iterate;
use crate::printed::gossip::{scheduled, theorem1};

/// The authors' later correction: `Σ_w Σ_s (T-s) (W^s)_uw / |(W^s)_w|²`, at most 1.
fn corrected(mixing: &Mixing, observer: usize, steps: usize) -> Vec<f64> {
    let mut losses = vec![0.0; mixing.nodes()];
    for &w in mixing.graph().neighbors(observer) {
        each_iterate(mixing, None, w as usize, steps, |s, x| {
            let x = x.as_slice();
            let length: f64 = x.iter().map(|x| x * x).sum();
            losses.iter_mut().zip(x).for_each(|(loss, x)| *loss += (steps - s) as f64 * x / length);
        });
    }
    losses.into_iter().map(|loss| loss.min(1.0)).collect()
}

#[test]
fn the_correction_is_clipped_to_local_dp() {
    let ring = generate(&Family::Ring { n: 9 }, 0, true).unwrap();
    let losses = corrected(&Mixing::new(&ring, Weights::MetropolisPlusOne), 4, 8);
    assert!(losses.iter().all(|loss| (0.0..=1.0).contains(loss)));
    assert_eq!(losses[3], 1.0);
}

/// The counterexample: opposite peers on a ring of twelve (docs/theorems/muffliato-refuted.md).
#[test]
fn the_published_formulas_are_refuted_on_the_ring_of_twelve() {
    let ring = generate(&Family::Ring { n: 12 }, 0, true).unwrap();
    let mixing = Mixing::new(&ring, Weights::Metropolis).lazy(1.0 / 3.0).unwrap();
    let exact = exact::gossip(&mixing, &[0], 6).unwrap();
    let printed = theorem1(&mixing, &[0], 6).unwrap();
    let corrected = corrected(&mixing, 0, 6);
    assert!((exact.losses[6] - 1.0).abs() < 1e-12);
    assert!(printed[6] < 0.000_3, "{}", printed[6]);
    assert!(corrected[6] < 0.06, "{}", corrected[6]);
    // The protocol's own messages say so too.
    let scheme = Scheme::Gossip { mixing, rounds: 6, accelerated: false };
    let noising = Noising { sensitivity: 1.0, local: 1.0, relay: 0.0 };
    let heard = trace(&scheme, noising, &[0]).unwrap().heard;
    let messages: Vec<&[f64]> = heard.iter().map(|message| &message.coefficients.0[..]).collect();
    assert!((traced(&messages, &[0], 12, |i| i == 0).unwrap().losses[6] - 1.0).abs() < 1e-9);
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

#[test]
fn printed_losses_are_those_of_the_reference() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../views/tests/it/reference");
    let mut seen = [0, 0];
    for file in ["averaging_hard.json", "averaging_leakage.json"] {
        let text = std::fs::read_to_string(format!("{folder}/{file}")).unwrap();
        for case in serde_json::from_str::<Vec<Value>>(&text).unwrap() {
            let Some(reference) = case.get("published").map(numbers) else { continue };
            let observers: Vec<usize> = numbers(&case["observers"]).iter().map(|x| *x as usize).collect();
            let (n, steps) = (case["n"].as_u64().unwrap() as usize, case["steps"].as_u64().unwrap() as usize);
            let ours = if let Some(edges) = case.get("edges") {
                let edges: Vec<(usize, usize)> = serde_json::from_value(edges.clone()).unwrap();
                let graph = Graph::from_edges(n, edges).unwrap();
                let mixing =
                    Mixing::new(&graph, Weights::Metropolis).lazy(case["lazy"].as_f64().unwrap()).unwrap();
                seen[0] += 1;
                theorem1(&mixing, &observers, steps).unwrap()
            } else {
                let text = match (case.get("edges_per_step"), case.get("schedule")) {
                    (Some(steps), _) => format!("{{\"edges_per_step\": {steps}}}"),
                    (_, pairs) => format!("{{\"pairwise\": {}}}", pairs.unwrap()),
                };
                let schedule = Schedule::from_json(&text, n, Weights::Metropolis, Ending::Stop).unwrap();
                seen[1] += 1;
                scheduled(&schedule, &observers, steps).unwrap()
            };
            let others = (0..n).filter(|u| !observers.contains(u));
            let off = others.map(|u| (ours[u] - reference[u]).abs()).fold(0.0, f64::max);
            assert!(off < 1e-9, "{} after {steps} steps: {off:e}", case["graph"]);
        }
    }
    assert!(seen[0] > 40 && seen[1] >= 4, "{seen:?}");
}
