//! The loss over random paths against all paths written out.

use sottovoce_topology::Graph;
use sottovoce_topology::mixing::{Mixing, Weights};
use sottovoce_views::walk::{Bounds, Expected, ExpectedSetup, Odometer, Sampling, Start, Trajectory, Visit};

const SIGMA: f64 = 2.0;
const ORDERS: [f64; 2] = [1.5, 3.0];

/// A triangle with a tail; everyone keeps the token now and then.
fn kite() -> Mixing {
    let graph = Graph::from_edges(4, [(0, 1), (1, 2), (2, 0), (2, 3)]).unwrap();
    Mixing::new(&graph, Weights::Metropolis).lazy(0.2).unwrap()
}

/// All sequences of `length` holders, with their probabilities.
fn paths(setup: &ExpectedSetup<'_>, length: usize) -> Vec<(f64, Vec<usize>)> {
    let n = setup.mixing.nodes();
    let begin = |v: usize| match setup.start {
        Start::Uniform => 1.0 / n as f64,
        Start::At(peer) => f64::from(u8::from(peer == v)),
    };
    let mut all: Vec<(f64, Vec<usize>)> = (0..n).map(|v| (begin(v), vec![v])).collect();
    for _ in 1..length {
        let longer = |(p, path): &(f64, Vec<usize>)| {
            let last = path[path.len() - 1];
            let next = |v: usize| (p * setup.mixing.weight(last, v), [&path[..], &[v]].concat());
            (0..n).map(next).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).filter(|(p, _)| *p > 0.0).collect();
    }
    all
}

/// What a run with these paths reveals, tokens in turn.
fn reveals(setup: &ExpectedSetup<'_>, coalition: &[usize], tokens: &[&Vec<usize>]) -> Trajectory {
    let n = setup.mixing.nodes();
    let mut counts = vec![0; n];
    let mut odometers: Vec<Odometer> =
        tokens.iter().map(|_| Odometer::new(n, &[coalition.to_vec()]).unwrap()).collect();
    for step in 0..tokens[0].len() {
        for (odometer, path) in odometers.iter_mut().zip(tokens) {
            let holder = path[step];
            let full = setup.cap.is_some_and(|cap| counts[holder] >= cap);
            let visit = match (step < setup.burn_in, full) {
                (true, _) => Visit::Relayed,
                (false, true) => Visit::NoiseOnly,
                (false, false) => Visit::Contributed,
            };
            counts[holder] += usize::from(visit == Visit::Contributed);
            odometer.visit(holder, visit).unwrap();
        }
    }
    let losses = odometers.into_iter().map(|odometer| odometer.conclude(setup.result_shown).remove(0));
    losses.reduce(|sum, other| sum.and(&other).unwrap()).unwrap()
}

/// Means of the losses, and Rényi losses by order, of both columns: exact.
type Exact = [(Vec<f64>, Vec<Vec<f64>>); 2];

fn exact(setup: &ExpectedSetup<'_>, coalition: &[usize]) -> Exact {
    let n = setup.mixing.nodes();
    let one = paths(setup, setup.burn_in + setup.steps);
    // Every choice of a path for each token, as numbers of paths.
    let mut all: Vec<(f64, Vec<usize>)> = vec![(1.0, vec![])];
    for _ in 0..setup.tokens {
        let with = |(p, chosen): &(f64, Vec<usize>)| {
            let add = |i: usize| (p * one[i].0, [&chosen[..], &[i]].concat());
            (0..one.len()).map(add).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(with).collect();
    }
    let mut means = [vec![0.0; n], vec![0.0; n]];
    let mut moments = [vec![vec![0.0; n]; ORDERS.len()], vec![vec![0.0; n]; ORDERS.len()]];
    for (p, chosen) in &all {
        let tokens: Vec<&Vec<usize>> = chosen.iter().map(|&i| &one[i].1).collect();
        let loss = reveals(setup, coalition, &tokens);
        for (column, losses) in [loss.linear, loss.convex].iter().enumerate() {
            for (u, m) in losses.iter().enumerate() {
                means[column][u] += p * m;
                for (sums, alpha) in moments[column].iter_mut().zip(ORDERS) {
                    sums[u] += p * ((alpha - 1.0) * alpha * m / (2.0 * SIGMA * SIGMA)).exp();
                }
            }
        }
    }
    let [linear, convex] = moments.map(|orders| {
        let loss = |(sums, alpha): (&Vec<f64>, f64)| sums.iter().map(|m| m.ln() / (alpha - 1.0)).collect();
        orders.iter().zip(ORDERS).map(loss).collect::<Vec<Vec<f64>>>()
    });
    let [first, second] = means;
    [(first, linear), (second, convex)]
}

fn columns(expected: &Expected) -> [&Bounds; 2] {
    [&expected.linear, &expected.convex]
}

/// Whether every bound is above the exact loss.
fn covers(expected: &Expected, exact: &Exact) -> bool {
    columns(expected).into_iter().zip(exact).all(|(bounds, (_, orders))| {
        bounds
            .orders
            .iter()
            .zip(orders)
            .all(|(at, exact)| at.upper.iter().zip(exact).all(|(upper, exact)| *upper >= exact - 1e-12))
    })
}

/// A cap, burn-in, coalitions, two tokens, results that are shown or not.
fn setups(kite: &Mixing) -> Vec<(ExpectedSetup<'_>, Vec<usize>)> {
    let plain = ExpectedSetup::new(kite, 6);
    vec![
        (ExpectedSetup { cap: Some(2), ..plain.clone() }, vec![0]),
        (ExpectedSetup { result_shown: false, ..plain.clone() }, vec![3]),
        (
            ExpectedSetup { start: Start::At(3), burn_in: 2, steps: 4, cap: Some(1), ..plain.clone() },
            vec![0, 1],
        ),
        (
            ExpectedSetup { steps: 3, tokens: 2, burn_in: 1, start: Start::At(2), cap: Some(2), ..plain },
            vec![1],
        ),
    ]
}

#[test]
fn estimates_converge_to_the_exact_loss() {
    let kite = kite();
    for (setup, coalition) in setups(&kite) {
        let exact = exact(&setup, &coalition);
        let sampling = Sampling { samples: 100_000, seed: 11, confidence: 0.999 };
        let expected = setup.expected(&coalition, SIGMA, &ORDERS, sampling).unwrap();
        assert!(covers(&expected, &exact));
        for (bounds, (means, orders)) in columns(&expected).into_iter().zip(&exact) {
            // About four deviations of the rarest.
            let near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 0.05 * b + 1e-12);
            assert!(near(&bounds.mean, means), "{:?} {means:?}", bounds.mean);
            for (at, exact) in bounds.orders.iter().zip(orders) {
                assert!(near(&at.estimate, exact), "{:?} {exact:?}", at.estimate);
                // The bound is not far off either.
                assert!(at.upper.iter().zip(exact).all(|(upper, exact)| upper <= &(1.1 * exact + 0.03)));
            }
        }
    }
}

/// At 95 % ten of 200 may fail; this bound is more careful than that.
#[test]
fn bounds_hold_in_nearly_all_of_200_runs() {
    let kite = kite();
    for (setup, coalition) in setups(&kite) {
        let exact = exact(&setup, &coalition);
        for samples in [20, 300] {
            let fails = (0..200).filter(|&seed| {
                let sampling = Sampling { samples, seed, confidence: 0.95 };
                !covers(&setup.expected(&coalition, SIGMA, &ORDERS, sampling).unwrap(), &exact)
            });
            assert!(fails.count() <= 4);
        }
    }
}

#[test]
fn bounds_are_ordered_and_repeatable() {
    let kite = kite();
    let setup = ExpectedSetup { cap: Some(3), ..ExpectedSetup::new(&kite, 40) };
    let sampling = Sampling { samples: 1000, seed: 4, confidence: 0.99 };
    let expected = setup.expected(&[2], SIGMA, &ORDERS, sampling).unwrap();
    assert_eq!(expected, setup.expected(&[2, 2], SIGMA, &ORDERS, sampling).unwrap());
    for bounds in columns(&expected) {
        for at in &bounds.orders {
            let unit = at.order / (2.0 * SIGMA * SIGMA);
            for u in [0, 1, 3] {
                // Jensen; the bound; three contributions without amplification.
                assert!(unit * bounds.mean[u] <= at.estimate[u] && at.estimate[u] < at.upper[u]);
                assert!(at.upper[u] <= 3.0 * unit * (1.0 + 1e-12));
            }
            assert_eq!((at.upper[2], bounds.mean[2]), (0.0, 0.0));
        }
        assert_eq!(bounds.points(1), [(1.5, bounds.orders[0].upper[1]), (3.0, bounds.orders[1].upper[1])]);
    }
    // Without a cap, what is certain is all steps: the bound falls back to it when samples are few.
    let open = ExpectedSetup { cap: None, ..setup };
    let few = open.expected(&[2], SIGMA, &[40.0], Sampling { samples: 2, ..sampling }).unwrap();
    assert_eq!(few.linear.orders[0].upper[0], 40.0 * 40.0 / (2.0 * SIGMA * SIGMA));
}

#[test]
fn bad_input_is_refused() {
    let kite = kite();
    let setup = ExpectedSetup::new(&kite, 5);
    let sampling = Sampling { samples: 10, seed: 0, confidence: 0.9 };
    let refused =
        |setup: &ExpectedSetup<'_>, coalition: &[usize], sigma, orders: &[f64], sampling, says: &str| {
            let error = setup.expected(coalition, sigma, orders, sampling).unwrap_err().to_string();
            assert!(error.starts_with(says), "{error}");
        };
    refused(&setup, &[4], 1.0, &[2.0], sampling, "`observers` is 4");
    refused(&setup, &[0], 0.0, &[2.0], sampling, "`sigma` is 0");
    refused(&setup, &[0], 1.0, &[1.0], sampling, "`alpha` is 1");
    refused(&setup, &[0], 1.0, &[], sampling, "`orders` is empty");
    refused(&setup, &[0], 1.0, &[2.0], Sampling { samples: 1, ..sampling }, "`samples` is 1");
    refused(&setup, &[0], 1.0, &[2.0], Sampling { confidence: 1.0, ..sampling }, "`confidence` is 1");
    let none = ExpectedSetup { tokens: 0, ..setup.clone() };
    refused(&none, &[0], 1.0, &[2.0], sampling, "`tokens` is 0");
    let still = ExpectedSetup { steps: 0, ..setup.clone() };
    refused(&still, &[0], 1.0, &[2.0], sampling, "`steps` is 0");
    let lost = ExpectedSetup { start: Start::At(4), ..setup };
    refused(&lost, &[0], 1.0, &[2.0], sampling, "`start` is 4");
}
