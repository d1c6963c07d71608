#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use sottovoce_topology::family::{Family, generate};

use super::*;
use crate::rumor::Rumor;

fn complete(n: usize) -> Graph {
    generate(&Family::Complete { n }, 0, true).unwrap()
}

fn hidden(graph: &Graph, curious: &[usize], s: f64, question: &Question) -> Hidden {
    OnGraph::new(graph, curious, s, 0.0).unwrap().hidden(question).unwrap()
}

/// On the complete graph a walk has the loss of Theorem 4, at every epsilon.
#[test]
fn a_walk_among_all_is_the_walk_of_the_paper() {
    for epsilon in [0.0, 0.3, 1.0] {
        let found = hidden(&complete(12), &[9, 10, 11], 0.0, &Question { epsilon, ..Question::default() });
        let exact = (4.0 - epsilon.exp()) / 12.0;
        assert!(
            (found.at_most - exact).abs() < 1e-11 && found.at_least > exact - 1e-11,
            "{epsilon}: {found:?}"
        );
    }
}

/// Where everyone can tell everyone, the loss lies between what those who only hear learn and the proven bound.
#[test]
fn all_sets_of_a_crowd_agree_with_the_chain_of_counts() {
    for (n, f, s) in [(4, 1, 0.7), (5, 1, 0.5), (5, 2, 0.9), (6, 1, 0.3), (5, 1, 1.0)] {
        let curious: Vec<usize> = (n - f..n).collect();
        let found = hidden(&complete(n), &curious, s, &Question::default());
        let rumor = Rumor::new(n, f, s).unwrap();
        let (heard, knows) = (rumor.heard().unwrap().at_zero, rumor.sharp().unwrap().at_zero);
        assert!(found.all_observations && found.at_most >= heard.lower, "{n} {f} {s}: {found:?} {heard:?}");
        assert!(found.at_least <= knows.upper + 1e-12, "{n} {f} {s}: {found:?} {knows:?}");
        assert!(found.at_most - found.at_least < 0.02, "{n} {f} {s}: {found:?}");
    }
}

/// A curious peer that separates two sources knows which side it hears.
#[test]
fn nobody_is_mistaken_for_somebody_behind_a_curious_peer() {
    let path = generate(&Family::Path { n: 5 }, 0, true).unwrap();
    for s in [0.0, 0.4] {
        let found = hidden(&path, &[2], s, &Question { pair: Some((0, 4)), ..Question::default() });
        assert!(found.at_least > 1.0 - 1e-9 && found.at_most == 1.0, "{s}: {found:?}");
    }
    // Peer 0 tells peer 1 whoever began, and a walk is heard from peer 1.
    let beside = hidden(&path, &[2], 0.0, &Question { pair: Some((0, 1)), ..Question::default() });
    assert!(beside.at_most < 1e-11, "{beside:?}");
}

#[test]
fn following_more_sets_and_telling_one_at_a_time_lose_less() {
    let ring = generate(&Family::Ring { n: 14 }, 0, true).unwrap();
    let steps = hidden(&ring, &[0], 0.3, &Question::default());
    let rounds = hidden(&ring, &[0], 0.3, &Question { rounds: true, ..Question::default() });
    assert!(
        steps.followed > 1 && rounds.followed == 1 && steps.at_most < rounds.at_most,
        "{steps:?} {rounds:?}"
    );
}

#[test]
fn what_makes_no_sense_is_refused() {
    let ring = generate(&Family::Ring { n: 6 }, 0, true).unwrap();
    assert!(OnGraph::new(&ring, &[6], 0.5, 0.0).is_err() && OnGraph::new(&ring, &[0], 1.5, 0.0).is_err());
    assert!(
        OnGraph::new(&ring, &[0], 0.5, 1.0).is_err() && OnGraph::new(&ring, &[0], f64::NAN, 0.0).is_err()
    );
    let rumor = OnGraph::new(&ring, &[0], 0.5, 0.0).unwrap();
    for pair in [(0, 1), (1, 1), (2, 9)] {
        assert!(rumor.hidden(&Question { pair: Some(pair), ..Question::default() }).is_err(), "{pair:?}");
    }
    let nobody = OnGraph::new(&ring, &[], 0.5, 0.0).unwrap().hidden(&Question::default()).unwrap();
    assert_eq!(nobody.at_most, 0.0);
    let alone =
        OnGraph::new(&ring, &[0, 1, 2, 3, 4], 0.5, 0.0).unwrap().hidden(&Question::default()).unwrap();
    assert_eq!(alone.at_most, 1.0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    /// Stopping later never loses more, larger epsilons lose less, and bounds do not cross.
    #[test]
    fn bounds_are_in_order(n in 4usize..8, seed in 0u64..50, s in 0.0f64..1.0, drop in 0.0f64..0.4, epsilon in 0.01f64..1.5) {
        let graph = generate(&Family::ErdosRenyi { n, p: 0.6 }, seed, true).unwrap();
        let rumor = OnGraph::new(&graph, &[n - 1], s, drop).unwrap();
        let at = |epsilon, rounds| rumor.hidden(&Question { epsilon, rounds, pair: None }).unwrap();
        let (steps, rounds, later) = (at(0.0, false), at(0.0, true), at(epsilon, false));
        prop_assert!(steps.at_least <= steps.at_most && later.at_least <= later.at_most);
        prop_assert!(steps.at_most <= rounds.at_most + 1e-9, "{:?} {:?}", steps, rounds);
        prop_assert!(later.at_least <= steps.at_most + 1e-9);
    }
}
