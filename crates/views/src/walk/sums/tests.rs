//! Polynomials against eigenvectors, and against polynomials for the wrong interval.

use super::*;
use sottovoce_topology::Graph;
use sottovoce_topology::family::{Family, generate};
use sottovoce_topology::mixing::Weights;

fn log(x: f64) -> f64 {
    -(-x).ln_1p()
}

fn of(family: &Family) -> Mixing {
    Mixing::new(&generate(family, 5, true).unwrap(), Weights::MetropolisPlusOne)
}

/// Copies of a graph in a row, each with an edge to the next: slow, and many eigenvalues nearly the same.
fn copies(family: &Family, count: usize) -> Mixing {
    let graph = generate(family, 5, true).unwrap();
    let n = graph.nodes();
    let inside = (0..count).flat_map(|i| graph.edges().map(move |(u, v)| (i * n + u, i * n + v)));
    let between = (1..count).map(|i| (i * n - 1, i * n));
    Mixing::new(&Graph::from_edges(count * n, inside.chain(between)).unwrap(), Weights::Metropolis)
        .lazy(0.2)
        .unwrap()
}

/// The largest difference, from eigenvectors, for the logarithm and for the sum of some powers.
fn off(mixing: &Mixing) -> f64 {
    let sum = |x: f64| truncated_log(x, 300);
    let pairs = [
        (negative_log(mixing).unwrap(), by_eigenvectors(mixing, log, 0.0).unwrap()),
        (power_sums(mixing, 300).unwrap(), by_eigenvectors(mixing, sum, sum(1.0)).unwrap()),
    ];
    let differences = pairs.iter().flat_map(|(a, b)| a.iter().zip(b).map(|(a, b)| (a - b).abs()));
    differences.fold(0.0, f64::max)
}

#[test]
fn both_ways_agree_where_eigenvalues_are_multiple() {
    for family in [
        Family::Hypercube { dimension: 8 },
        Family::Torus { sides: vec![16, 16] },
        Family::Complete { n: 211 },
        Family::Star { n: 220 },
    ] {
        let off = off(&of(&family));
        assert!(off < 5e-12, "{family:?}: {off}");
    }
}

#[test]
fn both_ways_agree_where_some_are_slow() {
    for mixing in [
        copies(&Family::Complete { n: 110 }, 2),
        copies(&Family::ErdosRenyi { n: 60, p: 0.2 }, 4),
        of(&Family::Grid { rows: 15, cols: 15 }),
        of(&Family::Geometric { n: 240, radius: 0.15 }),
        of(&Family::BarabasiAlbert { n: 230, m: 2 }),
    ] {
        let off = off(&mixing);
        assert!(off < 1e-11, "{off}");
    }
}

fn with_highest(ends: &Ends, gap: f64) -> Ends {
    Ends { lowest: ends.lowest, highest: vec![1.0 - gap], slow: Vec::new() }
}

#[test]
fn wrong_ends_are_found_out() {
    for family in [Family::Hypercube { dimension: 8 }, Family::ErdosRenyi { n: 300, p: 0.03 }] {
        let mixing = of(&family);
        let right = estimate(&mixing).unwrap();
        let gap = 1.0 - right.highest[0];
        assert!(narrow(&mixing, &right, log).is_some());
        assert!(narrow(&mixing, &with_highest(&right, gap), log).is_some());
        for wrong in [
            with_highest(&right, 1.2 * gap),
            with_highest(&right, 3.0 * gap),
            Ends { lowest: 0.8 * right.lowest, ..right.clone() },
        ] {
            assert!(narrow(&mixing, &wrong, log).is_none(), "{family:?}: {wrong:?}");
        }
    }
}

/// One eigenvector of an eigenvalue with eight: the rest are missed by the interval that leaves it out, and not by the probe.
#[test]
fn an_eigenvector_of_many_does_not_stand_for_all() {
    let mixing = of(&Family::Hypercube { dimension: 8 });
    let ends = estimate(&mixing).unwrap();
    assert!(!ends.slow.is_empty());
    let off = |expansion: &Expansion| {
        let slow =
            Slow { eigenvalue: ends.highest[0], value: log(ends.highest[0]), vector: ends.slow[0].clone() };
        let apart = Polynomial::new(&mixing, expansion, vec![slow]);
        first_to_agree(vec![apart], &wide(&mixing, 1.0 - ends.highest[0], log).unwrap(), 256).is_none()
    };
    assert!(off(&expansion(&ends, 1, log).unwrap()) && !off(&expansion(&ends, 0, log).unwrap()));
}

/// One peer with one neighbour among many: one eigenvalue apart, with an eigenvector that hardly anyone has a share in.
#[test]
fn one_slow_peer_is_set_apart() {
    let dense = generate(&Family::ErdosRenyi { n: 300, p: 0.3 }, 5, true).unwrap();
    let edges = dense.edges().chain([(0, 300)]);
    let mixing = Mixing::new(&Graph::from_edges(301, edges).unwrap(), Weights::MetropolisPlusOne);
    let right = estimate(&mixing).unwrap();
    assert!(right.highest[0] > 0.98 && !right.slow.is_empty(), "{right:?}");
    assert!(cost(&expansion(&right, 1, log).unwrap()) < 0.5 * cost(&expansion(&right, 0, log).unwrap()));
    assert!(narrow(&mixing, &with_highest(&right, 0.3), log).is_none());
    assert!(off(&mixing) < 5e-12);
}
