//! Linear views of a descent against exact fractions: losses that an independent program computed with rational numbers (messages of
//! the unreduced protocol, row reduction, projection, worst shifts), the same row reduction here on integers, and ranks modulo a prime
//! where messages agree to more digits than doubles have.

use sottovoce_topology::Graph;
use sottovoce_topology::family::{Family, generate};
use sottovoce_topology::mixing::{Mixing, Weights};
use sottovoce_views::descent::linear;

fn mixing(family: &Family) -> Mixing {
    Mixing::new(&generate(family, 0, true).unwrap(), Weights::MetropolisPlusOne)
}

fn check(name: &str, found: &[f64], expected: &[f64]) {
    for (u, (found, expected)) in found.iter().zip(expected).enumerate() {
        // Never below; above by no more than the search for the worst shifts leaves.
        let above = found - expected;
        assert!((-1e-10..1e-6).contains(&above), "{name}, peer {u}: {found} {expected} {above:e}");
    }
}

#[test]
fn losses_agree_with_exact_fractions() {
    let ring = linear::loss(&[&mixing(&Family::Ring { n: 12 })], &[0], 5, 3).unwrap();
    let half = [
        0.0,
        2.9999747038316835,
        2.999367595792093,
        2.9943083621288373,
        2.97723344851535,
        2.9487752591595378,
        0.23401500703633565,
    ];
    check("ring", &ring.losses[..7], &half);
    assert_eq!(ring.rank, Some(30));

    let path = linear::loss(&[&mixing(&Family::Path { n: 9 })], &[0], 3, 4).unwrap();
    let expected = [
        0.0,
        3.9968819139791276,
        3.972468211567609,
        3.882116308396693,
        0.29061134545915024,
        0.11286780875485862,
        0.029790295446310792,
        0.005042259395113652,
        0.0012913081130255456,
    ];
    check("path", &path.losses, &expected);

    let one_round = linear::loss(&[&mixing(&Family::Path { n: 6 })], &[0], 1, 6).unwrap();
    let expected = [
        0.0,
        5.617886007668208,
        0.9684503776119959,
        0.15139086912801958,
        0.015357528975147803,
        0.001030427198825558,
    ];
    check("path, one round", &one_round.losses, &expected);

    let (ring, star) = (mixing(&Family::Ring { n: 8 }), mixing(&Family::Star { n: 8 }));
    let changing = linear::loss(&[&ring, &star], &[1, 4], 2, 3).unwrap();
    let far = 2.9722949053409264;
    check("changing", &changing.losses, &[3.0, 0.0, far, far, 0.0, far, far, far]);
    assert_eq!(changing.rank, Some(14));

    let accelerated = linear::accelerated(&[(&mixing(&Family::Ring { n: 10 }), 1.5)], &[0], 3, 3).unwrap();
    let half = [
        0.0,
        2.98851125545601,
        2.8925844283876483,
        2.898691899097371,
        0.18755117060521323,
        0.27678471522199616,
    ];
    check("accelerated", &accelerated.losses[..6], &half);
}

/// Messages are nearly parallel, and some of the worst shifts neither all equal nor all opposite.
#[test]
fn grids_agree_with_exact_fractions() {
    let grid = linear::loss(&[&mixing(&Family::Grid { rows: 4, cols: 5 })], &[0], 6, 3).unwrap();
    let expected = [
        0.0,
        2.999992095839642,
        2.1944215328890464,
        1.3109722297827466,
        1.229235760842072,
        2.9999954064362004,
        1.7422831390966316,
        1.8725187261242744,
        1.887273716154325,
        1.5862228227674753,
        2.1958107564253058,
        2.0584060115335885,
        1.6758543278210791,
        1.454645785552416,
        2.127654530506161,
        1.6123704710461115,
        1.9833375772890127,
        2.459094412141919,
        2.6997291215272883,
        0.13761606853209304,
    ];
    check("grid of 20", &grid.losses, &expected);
    assert_eq!(grid.rank, Some(36));

    let grid = linear::loss(&[&mixing(&Family::Grid { rows: 6, cols: 6 })], &[0], 12, 2).unwrap();
    let first = [
        0.0,
        1.9999999999939533,
        1.4629834477858843,
        0.9155796383702441,
        1.003414760489946,
        1.0138413365217738,
        1.9999999999939533,
        1.1609178129991202,
        1.2772223712912871,
        1.3256988254948798,
        1.0724916232415251,
        1.4202275779922824,
    ];
    check("grid of 36", &grid.losses[..12], &first);
    assert_eq!(grid.rank, Some(48));
}

/// Every message over all noises, times a power of three, as integers: the protocol as it is, on a graph whose weights are thirds.
fn integer_rows(graph: &Graph, observer: usize, rounds: usize, iterations: usize) -> Vec<Vec<i128>> {
    let n = graph.nodes();
    let mut states = vec![vec![0_i128; n * iterations]; n];
    let (mut scale, mut rows) = (1_i128, Vec::new());
    for t in 0..iterations {
        (0..n).for_each(|i| states[i][t * n + i] += scale);
        for _ in 0..rounds {
            for &w in graph.neighbors(observer) {
                let row = states[w as usize].iter().enumerate();
                rows.push(row.map(|(i, &x)| if i % n == observer { 0 } else { x }).collect());
            }
            let mixed = |i: usize| {
                let lacking = 3 - graph.degree(i) as i128;
                let mut sum: Vec<i128> = states[i].iter().map(|x| lacking * x).collect();
                for &j in graph.neighbors(i) {
                    sum.iter_mut().zip(&states[j as usize]).for_each(|(sum, x)| *sum += x);
                }
                sum
            };
            states = (0..n).map(mixed).collect();
            scale *= 3;
        }
    }
    rows
}

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a.abs() } else { gcd(b, a % b) }
}

/// `row` without its entry at the pivot of `by`, over the common divisor of all entries.
fn reduce(row: &[i128], by: &[i128], pivot: usize) -> Vec<i128> {
    let (a, b) = (by[pivot], row[pivot]);
    let term = |(x, y): (&i128, &i128)| a.checked_mul(*x).unwrap() - b.checked_mul(*y).unwrap();
    let row: Vec<i128> = row.iter().zip(by).map(term).collect();
    let common = row.iter().fold(0, |common, x| gcd(common, *x)).max(1);
    row.into_iter().map(|x| x / common).collect()
}

/// The reduced basis of the span, without rounding; each row over its pivot.
fn reduced_basis(rows: &[Vec<i128>]) -> Vec<Vec<f64>> {
    let mut basis: Vec<(usize, Vec<i128>)> = Vec::new();
    for row in rows {
        let row = basis.iter().fold(row.clone(), |row, (pivot, by)| reduce(&row, by, *pivot));
        let Some(pivot) = row.iter().position(|x| *x != 0) else { continue };
        basis.iter_mut().for_each(|(_, other)| *other = reduce(other, &row, pivot));
        basis.push((pivot, row));
    }
    let real = |(pivot, row): (usize, Vec<i128>)| row.iter().map(|&x| x as f64 / row[pivot] as f64).collect();
    basis.into_iter().map(real).collect()
}

/// Orthonormal, twice over: a reduced basis is well conditioned.
fn orthonormal(mut rows: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
    for i in 0..rows.len() {
        let (before, rest) = rows.split_at_mut(i);
        for _ in 0..2 {
            for other in before.iter() {
                let along = dot(&rest[0], other);
                rest[0].iter_mut().zip(other).for_each(|(x, y)| *x -= along * y);
            }
        }
        let length = dot(&rest[0], &rest[0]).sqrt();
        rest[0].iter_mut().for_each(|x| *x /= length);
    }
    rows
}

#[test]
fn no_direction_is_lost_against_integers() {
    let families =
        [Family::Ring { n: 5 }, Family::Ring { n: 9 }, Family::Ring { n: 14 }, Family::Path { n: 7 }];
    for family in families {
        let graph = generate(&family, 0, true).unwrap();
        let n = graph.nodes();
        for (rounds, iterations) in [(1, 4), (2, 3), (4, 2), (5, 2), (6, 1)] {
            let basis = orthonormal(reduced_basis(&integer_rows(&graph, 0, rounds, iterations)));
            let found = linear::loss(&[&mixing(&family)], &[0], rounds, iterations).unwrap();
            assert_eq!(found.rank, Some(basis.len()), "{family}, {rounds} rounds");
            for u in 1..n {
                let entry = |s: usize, t: usize| -> f64 {
                    basis.iter().map(|row| row[s * n + u] * row[t * n + u]).sum()
                };
                let all = (0..iterations).flat_map(|s| (0..iterations).map(move |t| (s, t)));
                let (sum, trace) = all.fold((0.0, 0.0), |(sum, trace), (s, t)| {
                    (sum + entry(s, t).abs(), trace + if s == t { entry(s, t) } else { 0.0 })
                });
                let loss = found.losses[u];
                // At most the sum of sizes; not below what orthogonal shifts show.
                assert!(
                    loss <= sum + 1e-9 && loss >= trace - 1e-9,
                    "{family}, peer {u}: {loss} {sum} {trace}"
                );
                if (0..iterations).all(|s| (0..iterations).all(|t| entry(s, t) > -1e-12)) {
                    assert!((loss - sum).abs() < 1e-9, "{family}, peer {u}: {loss} {sum}");
                }
            }
        }
    }
}

const PRIME: u128 = (1 << 61) - 1;

fn power(base: u128, exponent: u128) -> u128 {
    let square = |half: u128| half * half % PRIME;
    match exponent {
        0 => 1,
        e if e % 2 == 0 => square(power(base, e / 2)),
        e => base * power(base, e - 1) % PRIME,
    }
}

/// The rank of all messages modulo a prime: never above the true one.
fn rank_modulo(graph: &Graph, observer: usize, rounds: usize, iterations: usize) -> usize {
    let n = graph.nodes();
    let inverse: Vec<u128> = (0..8).map(|d| power(d, PRIME - 2)).collect();
    let weight = |i: usize, j: usize| inverse[graph.degree(i).max(graph.degree(j)) + 1];
    let mut states = vec![vec![0_u128; n * iterations]; n];
    let mut basis: Vec<(usize, Vec<u128>)> = Vec::new();
    for t in 0..iterations {
        (0..n).for_each(|i| states[i][t * n + i] = 1);
        for _ in 0..rounds {
            for &w in graph.neighbors(observer) {
                let mut row = states[w as usize].clone();
                (0..iterations).for_each(|s| row[s * n + observer] = 0);
                for (pivot, other) in &basis {
                    let along = PRIME - row[*pivot];
                    row.iter_mut().zip(other).for_each(|(x, y)| *x = (*x + along * y) % PRIME);
                }
                if let Some(pivot) = row.iter().position(|x| *x != 0) {
                    let scale = power(row[pivot], PRIME - 2);
                    row.iter_mut().for_each(|x| *x = *x * scale % PRIME);
                    basis.push((pivot, row));
                }
            }
            let mixed = |i: usize| {
                let others: Vec<usize> = graph.neighbors(i).iter().map(|&j| j as usize).collect();
                let own = others.iter().fold(1, |own, &j| (own + PRIME - weight(i, j)) % PRIME);
                let mut sum: Vec<u128> = states[i].iter().map(|x| own * x % PRIME).collect();
                for j in others {
                    sum.iter_mut()
                        .zip(&states[j])
                        .for_each(|(sum, x)| *sum = (*sum + weight(i, j) * x) % PRIME);
                }
                sum
            };
            states = (0..n).map(mixed).collect();
        }
    }
    basis.len()
}

#[test]
fn ranks_are_right_where_messages_agree_to_all_digits() {
    for (family, observer, rounds, iterations) in [
        (Family::Grid { rows: 8, cols: 8 }, 0, 30, 3),
        (Family::Grid { rows: 7, cols: 6 }, 9, 20, 3),
        (Family::Path { n: 30 }, 0, 29, 2),
        (Family::Ring { n: 40 }, 0, 25, 2),
    ] {
        let graph = generate(&family, 0, true).unwrap();
        let found = linear::loss(&[&mixing(&family)], &[observer], rounds, iterations).unwrap();
        let (rank, exact) = (found.rank.unwrap(), rank_modulo(&graph, observer, rounds, iterations));
        assert!(rank == exact, "{family}: {rank} {exact} {found:?}");
    }
}
