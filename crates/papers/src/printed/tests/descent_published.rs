//! The printed losses of descent: that they are what was printed, and that they are exceeded.

use sottovoce_topology::Graph;
use sottovoce_topology::family::{Family, generate};
use sottovoce_topology::mixing::{Mixing, Weights};
use sottovoce_views::descent::linear;
use sottovoce_views::exact;

use crate::printed::descent as published;

fn mixing(family: &Family, weights: Weights) -> Mixing {
    Mixing::new(&generate(family, 4, true).unwrap(), weights)
}

/// Written out with full matrices.
fn by_hand(mixing: &Mixing, observer: usize, rounds: usize) -> Vec<f64> {
    let n = mixing.nodes();
    let mut power: Vec<Vec<f64>> =
        (0..n).map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect()).collect();
    let mut losses = vec![0.0; n];
    for _ in 0..rounds {
        for &w in mixing.graph().neighbors(observer) {
            let row = &power[w as usize];
            let length: f64 = row.iter().map(|x| x * x).sum();
            (0..n).for_each(|u| losses[u] += row[u] * row[u] / length);
        }
        let entry = |i: usize, j: usize| (0..n).map(|k| power[i][k] * mixing.weight(k, j)).sum();
        power = (0..n).map(|i| (0..n).map(|j| entry(i, j)).collect()).collect();
    }
    losses
}

#[test]
fn theorems_6_and_11_are_the_printed_sums() {
    let family = Family::ErdosRenyi { n: 11, p: 0.4 };
    let (one, other) =
        (mixing(&family, Weights::MetropolisPlusOne), mixing(&Family::Ring { n: 11 }, Weights::Metropolis));
    let (first, second) = (by_hand(&one, 3, 4), by_hand(&other, 3, 4));
    let (six, eleven) = (
        published::theorem6(&one, &[3], 4, 5).unwrap(),
        published::theorem11(&[&one, &other], &[3], 4, 5).unwrap(),
    );
    for u in (0..11).filter(|u| *u != 3) {
        assert!((six[u] - 5.0 * first[u]).abs() < 1e-12);
        assert!((eleven[u] - 3.0 * first[u] - 2.0 * second[u]).abs() < 1e-12);
    }
    assert_eq!((six[3], eleven[3]), (0.0, 0.0));
}

/// Within an averaging: the peer opposite on a ring of twelve. From one to the next: a peer two steps away, with one round.
#[test]
fn theorem_6_is_refuted_within_iterations_and_between_them() {
    let ring = mixing(&Family::Ring { n: 12 }, Weights::MetropolisPlusOne);
    let (printed, truth) =
        (published::theorem6(&ring, &[0], 6, 3).unwrap(), linear::loss(&[&ring], &[0], 6, 3).unwrap());
    assert!(printed[6] < 0.000_7, "{printed:?}");
    assert!((truth.losses[6] - 3.0).abs() < 1e-9, "{truth:?}");

    // One iteration tells nothing of peer 2, exactly; two do.
    let path = mixing(&Family::Path { n: 3 }, Weights::Metropolis);
    assert_eq!(exact::gossip(&path, &[0], 1).unwrap().losses[2], 0.0);
    for (iterations, at_least) in [(2, 0.19), (10, 2.0)] {
        let printed = published::theorem6(&path, &[0], 1, iterations).unwrap();
        let truth = linear::loss(&[&path], &[0], 1, iterations).unwrap();
        assert_eq!(printed[2], 0.0);
        assert!(truth.losses[2] > at_least, "{iterations}: {truth:?}");
    }
}

#[test]
fn proposition_1_is_the_printed_sum() {
    // Observer 0 hears 1 and 2, then only 4.
    let graphs = [
        Graph::from_edges(5, [(0, 1), (0, 2), (2, 3)]).unwrap(),
        Graph::from_edges(5, [(0, 4), (1, 2)]).unwrap(),
    ];
    let printed = published::proposition1(&[&graphs[0], &graphs[1]], &[0], 3).unwrap();
    let (first, second) = (3.0 * 2.0 / 3.0, 3.0 / 4.0);
    let expected = [0.0, 1.0 + second, 1.0 + second, first + second, first + 1.0].map(|loss| 2.0 * loss);
    assert_eq!(printed, expected);
    // Neighbours are charged twice what a local release costs.
    assert_eq!(published::proposition1(&[&graphs[0]], &[0], 3).unwrap()[1], 2.0);
}

/// Over all graphs of five peers.
#[test]
fn the_expectation_of_proposition_1() {
    let (n, q) = (5, 0.3_f64);
    let pairs: Vec<(usize, usize)> = (0..n).flat_map(|u| (u + 1..n).map(move |v| (u, v))).collect();
    for observers in [vec![0], vec![0, 1]] {
        let mut mean = 0.0;
        for which in 0_u32..1 << pairs.len() {
            let edges = pairs.iter().enumerate().filter(|(i, _)| which >> i & 1 == 1).map(|(_, pair)| *pair);
            let graph = Graph::from_edges(n, edges).unwrap();
            let present = which.count_ones();
            let probability = q.powi(present as i32) * (1.0 - q).powi(pairs.len() as i32 - present as i32);
            mean += probability * published::proposition1(&[&graph], &observers, 2).unwrap()[4];
        }
        let expected = published::proposition1_expected(n, q, observers.len(), 2, 7).unwrap();
        assert!((expected - 7.0 * mean).abs() < 1e-12, "{expected} {mean}");
    }
}

/// The printed denominator counts the colluders among those who are alike. 97 of 100 collude; of the three others, peer 98 is heard,
/// and 97 and 99 are alike. The graph is secret and connected: of its three edges among these, each is there with the same
/// probability. A coalition that knows the others' values, if they are far apart, sees from what it hears which edges
/// there are; and the Rényi loss of an average over what is seen is at least the average loss.
#[test]
fn proposition_1_is_refuted_for_large_coalitions() {
    let (n, rounds, q) = (100, 2, 2.0 * 100_f64.ln() / 100.0);
    let observers: Vec<usize> = (0..97).collect();
    let (mut mean, mut total, mut printed) = (0.0, 0.0, 0.0_f64);
    for which in [0b011, 0b101, 0b110, 0b111_u32] {
        let inside = [(97, 98), (98, 99), (97, 99)].into_iter().enumerate();
        let inside = inside.filter(|(i, _)| which >> i & 1 == 1).map(|(_, pair)| pair);
        let graph = Graph::from_edges(n, (1..97).map(|v| (0, v)).chain([(0, 98)]).chain(inside)).unwrap();
        let present = which.count_ones() as i32;
        let probability = q.powi(present) * (1.0 - q).powi(3 - present);
        let mixing = Mixing::new(&graph, Weights::MetropolisPlusOne);
        mean += probability * exact::gossip(&mixing, &observers, rounds).unwrap().losses[97];
        total += probability;
        printed = printed.max(published::proposition1(&[&graph], &observers, rounds).unwrap()[97]);
    }
    mean /= total;
    assert!(printed < 0.041, "{printed}");
    assert!(mean > 0.49, "{mean}");
}

#[test]
fn bad_input_is_refused() {
    let ring = mixing(&Family::Ring { n: 5 }, Weights::Metropolis);
    for (error, words) in [
        (published::theorem6(&ring, &[5], 1, 1).unwrap_err(), "`observers` is 5"),
        (published::theorem6(&ring, &[0], 0, 1).unwrap_err(), "`steps` is 0"),
        (published::proposition1_expected(5, 1.5, 1, 1, 1).unwrap_err(), "`q` is 1.5"),
        (published::proposition1_expected(5, 0.5, 5, 1, 1).unwrap_err(), "`observers` is 5"),
    ] {
        assert!(error.to_string().starts_with(words), "{error}");
    }
}
