//! Sums over paths against the same sums written out.

use sottovoce_topology::family::{Family, generate};
use sottovoce_topology::mixing::{Mixing, Weights};

use crate::printed::sums::{negative_log, power_sums};

fn mixing(family: &Family, lazy: f64) -> Mixing {
    Mixing::new(&generate(family, 3, true).unwrap(), Weights::Metropolis).lazy(lazy).unwrap()
}

fn written_out(mixing: &Mixing, steps: usize) -> Vec<f64> {
    let n = mixing.nodes();
    let mut sums = vec![0.0; n * n];
    for v in 0..n {
        let mut x = vec![0.0; n];
        x[v] = 1.0;
        for i in 1..=steps {
            let mut next = vec![0.0; n];
            mixing.apply(&x, &mut next);
            x = next;
            x.iter().enumerate().for_each(|(u, x)| sums[u * n + v] += x / i as f64);
        }
    }
    sums
}

fn difference(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[test]
fn sums_of_powers_are_those_written_out() {
    for (family, lazy, steps) in [
        (Family::Ring { n: 12 }, 1.0 / 3.0, 72),
        (Family::Hypercube { dimension: 5 }, 0.2, 1),
        (Family::Hypercube { dimension: 5 }, 0.0, 40),
        (Family::Star { n: 9 }, 0.05, 200),
        // All eigenvalues are far from 0.
        (Family::Complete { n: 9 }, 0.95, 400),
        (Family::ErdosRenyi { n: 50, p: 0.15 }, 0.05, 300),
        // A small gap, and more rows than are computed at a time.
        (Family::Ring { n: 300 }, 0.1, 50),
    ] {
        let mixing = mixing(&family, lazy);
        let off = difference(&power_sums(&mixing, steps).unwrap(), &written_out(&mixing, steps));
        assert!(off < 1e-10, "{family:?}: {off}");
    }
}

/// For long walks `Σ_i W^i/i` is `-ln(I - W + 11ᵀ/n)` and `H_T/n`.
#[test]
fn the_logarithm_is_the_limit_of_the_sums() {
    for (family, lazy) in [
        (Family::Hypercube { dimension: 5 }, 0.2),
        (Family::Complete { n: 7 }, 0.3),
        (Family::Ring { n: 60 }, 0.1),
    ] {
        let mixing = mixing(&family, lazy);
        let (n, steps) = (mixing.nodes() as f64, 40_000);
        let harmonic: f64 = (1..=steps).map(|i| 1.0 / i as f64).sum();
        let sums: Vec<f64> =
            power_sums(&mixing, steps).unwrap().iter().map(|sum| sum - harmonic / n).collect();
        let off = difference(&negative_log(&mixing).unwrap(), &sums);
        assert!(off < 1e-9, "{family:?}: {off}");
    }
}

#[test]
fn what_does_not_mix_is_refused() {
    let pieces = sottovoce_topology::Graph::from_edges(4, [(0, 1), (2, 3)]).unwrap();
    let pieces = Mixing::new(&pieces, Weights::MetropolisPlusOne);
    assert!(negative_log(&pieces).is_err() && power_sums(&pieces, 3).is_err());
    assert!(power_sums(&mixing(&Family::Ring { n: 5 }, 0.1), 0).is_err());
}
