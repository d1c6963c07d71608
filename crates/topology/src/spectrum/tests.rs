//! Closed forms, for both solvers, and numbers made elsewhere.

use super::*;
use crate::mixing::Weights;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::f64::consts::PI;

fn circulant(n: usize, jumps: &[usize]) -> Graph {
    let edges = jumps.iter().flat_map(|&jump| (0..n).map(move |u| (u, (u + jump) % n)));
    Graph::from_edges(n, edges).unwrap()
}

fn path(n: usize) -> Graph {
    Graph::from_edges(n, (1..n).map(|u| (u - 1, u))).unwrap()
}

fn complete(n: usize) -> Graph {
    Graph::from_edges(n, (0..n).flat_map(|u| (0..u).map(move |v| (u, v)))).unwrap()
}

fn bipartite(a: usize, b: usize) -> Graph {
    Graph::from_edges(a + b, (0..a).flat_map(|u| (a..a + b).map(move |v| (u, v)))).unwrap()
}

fn hypercube(dimension: usize) -> Graph {
    let n = 1 << dimension;
    let edges =
        (0..n).flat_map(|u| (0..dimension).map(move |bit| (u, u ^ (1 << bit)))).filter(|&(u, v)| u < v);
    Graph::from_edges(n, edges).unwrap()
}

fn torus(rows: usize, columns: usize) -> Graph {
    let right = (0..rows * columns).map(|u| (u, u / columns * columns + (u + 1) % columns));
    let down = (0..rows * columns).map(|u| (u, (u + columns) % (rows * columns)));
    Graph::from_edges(rows * columns, right.chain(down)).unwrap()
}

fn random(n: usize, probability: f64, seed: u64) -> Graph {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let pairs = (0..n).flat_map(|u| (0..u).map(move |v| (u, v)));
    Graph::from_edges(n, pairs.filter(|_| rng.random::<f64>() < probability)).unwrap()
}

/// The truth lies in the interval, and the interval is short.
#[track_caller]
fn close(found: Eigenvalue, truth: f64) {
    // The closed form itself is rounded.
    assert!((found.value - truth).abs() <= found.error_bound + 1e-15, "{found:?} is not {truth}");
    assert!(found.error_bound <= 1e-8, "{found:?}");
}

#[track_caller]
fn both_solvers(graph: &Graph, fiedler: f64, lambda_2: f64, lambda_n: f64) {
    let mixing = Mixing::new(graph, Weights::Metropolis);
    for dense in [true, false] {
        let spectrum = Spectrum::by(&mixing, dense).unwrap();
        close(spectrum.lambda_2, lambda_2);
        close(spectrum.lambda_n, lambda_n);
        close(spectrum.gap, 1.0 - lambda_2.abs().max(lambda_n.abs()));
        close(smallest(EdgeForm::laplacian(graph), dense).unwrap(), fiedler);
    }
}

#[test]
fn complete_graphs() {
    for n in [2, 3, 10, 60] {
        let lambda = -1.0 / (n as f64 - 1.0);
        both_solvers(&complete(n), n as f64, lambda, lambda);
    }
}

#[test]
fn rings() {
    for n in [3, 8, 9, 100, 301] {
        let step = PI / n as f64;
        let lambda_n = if n % 2 == 0 { -1.0 } else { -step.cos() };
        both_solvers(&circulant(n, &[1]), 2.0 - 2.0 * (2.0 * step).cos(), (2.0 * step).cos(), lambda_n);
    }
}

#[test]
fn paths() {
    for n in [3, 10, 200] {
        let step = PI / n as f64;
        both_solvers(&path(n), 2.0 - 2.0 * step.cos(), step.cos(), -step.cos());
    }
}

#[test]
fn stars() {
    for leaves in [3, 20, 150] {
        let d = leaves as f64;
        both_solvers(&bipartite(1, leaves), 1.0, 1.0 - 1.0 / d, -1.0 / d);
    }
}

#[test]
fn complete_bipartite_graphs() {
    both_solvers(&bipartite(3, 7), 3.0, 1.0 - 3.0 / 7.0, -3.0 / 7.0);
    both_solvers(&bipartite(20, 20), 20.0, 0.0, -1.0);
}

#[test]
fn hypercubes() {
    for dimension in [3, 6, 8] {
        both_solvers(&hypercube(dimension), 2.0, 1.0 - 2.0 / dimension as f64, -1.0);
    }
}

#[test]
fn tori() {
    let cos = |n: f64| (2.0 * PI / n).cos();
    both_solvers(&torus(6, 10), 2.0 - 2.0 * cos(10.0), (1.0 + cos(10.0)) / 2.0, -1.0);
    let lambda_n = (-(PI / 7.0).cos() - (PI / 9.0).cos()) / 2.0;
    both_solvers(&torus(7, 9), 2.0 - 2.0 * cos(9.0), (1.0 + cos(9.0)) / 2.0, lambda_n);
}

/// Krackhardt's kite, with networkx 3.6.1 and `numpy.linalg.eigvalsh` (numpy 2.4.6).
#[test]
fn numbers_from_numpy() {
    let edges = "0-1 0-2 0-3 0-5 1-3 1-4 1-6 2-3 2-5 3-4 3-5 3-6 4-6 5-6 5-7 6-7 7-8 8-9";
    let end = |text: &str| text.parse::<usize>().unwrap();
    let edges = edges.split(' ').map(|edge| edge.split_once('-').map(|(u, v)| (end(u), end(v))).unwrap());
    let kite = Graph::from_edges(10, edges).unwrap();
    both_solvers(&kite, 0.337_320_089_020_832_9, 0.905_713_201_194_993, -0.367_046_671_935_951);
    let plus_one = Spectrum::of(&Mixing::new(&kite, Weights::MetropolisPlusOne)).unwrap();
    close(plus_one.lambda_2, 0.926_052_587_905_041_2);
    close(plus_one.lambda_n, -0.112_835_300_221_462_7);
    assert!((normalized_fiedler(&kite).unwrap() - 0.033_732_008_902_083_29).abs() < 1e-14);
}

#[test]
fn lanczos_agrees_with_dense_on_random_graphs() {
    for seed in 0..12 {
        let graph = random(60 + 20 * seed as usize, 0.09, seed);
        for mixing in [
            Mixing::new(&graph, Weights::Metropolis),
            Mixing::new(&graph, Weights::MetropolisPlusOne).lazy(0.3).unwrap(),
        ] {
            let [dense, lanczos] = [true, false].map(|dense| Spectrum::by(&mixing, dense).unwrap());
            for (a, b) in [
                (dense.lambda_2, lanczos.lambda_2),
                (dense.lambda_n, lanczos.lambda_n),
                (dense.gap, lanczos.gap),
            ] {
                assert!(
                    (a.value - b.value).abs() <= a.error_bound + b.error_bound,
                    "seed {seed}: {a:?} {b:?}"
                );
                assert!(a.error_bound < 1e-12 && b.error_bound < 1e-8, "seed {seed}: {a:?} {b:?}");
            }
        }
    }
}

#[test]
fn similarity_weights_over_many_scales() {
    // Weights from 1 to 1e-8: the small eigenvalues are tiny and the plain iteration alone would not find them.
    let graph = random(300, 0.03, 5);
    let similarities: Vec<f64> = (0..graph.edge_count()).map(|i| 10f64.powi(-((i % 9) as i32))).collect();
    let mixing = Mixing::from_similarities(&graph, &similarities).unwrap();
    let [dense, lanczos] = [true, false].map(|dense| Spectrum::by(&mixing, dense).unwrap());
    assert!((dense.gap.value - lanczos.gap.value).abs() <= dense.gap.error_bound + lanczos.gap.error_bound);
    assert!(lanczos.gap.error_bound < 1e-3 * lanczos.gap.value, "{lanczos:?}");
}

#[test]
fn a_circulant_of_a_hundred_thousand_nodes() {
    let n = 100_000;
    let lambda = |k: usize| {
        (1..=2).map(|j| (2.0 * PI * ((k * [1, 317][j - 1]) % n) as f64 / n as f64).cos()).sum::<f64>() / 2.0
    };
    let second = (1..n).map(lambda).fold(-1.0, f64::max);
    let mixing = Mixing::new(&circulant(n, &[1, 317]), Weights::Metropolis).lazy(0.25).unwrap();
    let spectrum = Spectrum::of(&mixing).unwrap();
    assert_eq!(spectrum.lambda_2.method, Method::Lanczos);
    close(spectrum.lambda_2, 0.25 + 0.75 * second);
    // Both jumps are odd and n is even: the graph is bipartite, and -1 would be an eigenvalue without laziness.
    close(spectrum.lambda_n, -0.5);
    assert!((spectrum.gap.value / (0.75 * (1.0 - second)) - 1.0).abs() < 1e-8);
}

#[test]
fn a_tiny_gap_keeps_its_digits() {
    // On an odd ring both 1 - lambda_2 = 2 sin²(pi/n) and 1 + lambda_n = 2 sin²(pi/2n) are tiny: the latter is
    // 4.9e-10.
    let n = 100_001;
    let spectrum = Spectrum::of(&Mixing::new(&circulant(n, &[1]), Weights::Metropolis)).unwrap();
    let truth = 2.0 * (PI / (2.0 * n as f64)).sin().powi(2);
    assert!((spectrum.gap.value / truth - 1.0).abs() < 1e-9, "{:?} is not {truth:e}", spectrum.gap);
    assert!(spectrum.gap.error_bound < 1e-4 * truth, "{:?}", spectrum.gap);
    let plain = fiedler_value(&circulant(n, &[1])).unwrap();
    assert!((plain.value / (4.0 * (PI / n as f64).sin().powi(2)) - 1.0).abs() < 1e-9, "{plain:?}");
}

#[test]
fn graphs_in_pieces_have_a_gap_of_exactly_zero() {
    let pieces = Graph::from_edges(7, [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)]).unwrap();
    for dense in [true, false] {
        let spectrum = Spectrum::by(&Mixing::new(&pieces, Weights::Metropolis), dense).unwrap();
        assert_eq!((spectrum.gap.value, spectrum.gap.method), (0.0, Method::Structure));
        assert_eq!((spectrum.lambda_2.value, spectrum.relaxation_time()), (1.0, f64::INFINITY));
        close(spectrum.lambda_n, -0.5);
    }
    assert_eq!(fiedler(&pieces).unwrap(), 0.0);
    // An edge of weight zero connects nothing.
    let cut = Mixing::from_entries(&path(3), [(0, 1, 0.5)]).unwrap();
    assert_eq!(Spectrum::of(&cut).unwrap().lambda_2.value, 1.0);
}

#[test]
fn laziness_makes_an_even_ring_mix() {
    let plain = Mixing::new(&circulant(10, &[1]), Weights::Metropolis);
    let spectrum = Spectrum::of(&plain).unwrap();
    assert_eq!((spectrum.lambda_n.value, spectrum.gap.value), (-1.0, 0.0));
    for mixing in [plain.lazy(0.1).unwrap(), Mixing::new(&circulant(10, &[1]), Weights::MetropolisPlusOne)] {
        assert!(Spectrum::of(&mixing).unwrap().gap.lower() > 0.1);
    }
}

#[test]
fn asymmetric_and_trivial_matrices_are_refused() {
    let error = Spectrum::of(&Mixing::new(&path(3), Weights::Uniform)).unwrap_err().to_string();
    assert!(error.starts_with("`mixing` is 1 at (0, 1) but 0.5 at (1, 0)"), "{error}");
    let one = Graph::from_edges(1, []).unwrap();
    let expected = "`nodes` is 1: a spectrum has a second eigenvalue only from 2 nodes on; add nodes";
    assert_eq!(fiedler(&one).unwrap_err().to_string(), expected);
    assert_eq!(Spectrum::of(&Mixing::new(&one, Weights::Metropolis)).unwrap_err().to_string(), expected);
}
