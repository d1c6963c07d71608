//! Closed forms, series, direct solves and numbers made with scipy.

use super::*;
use sottovoce_dense::Lu;

fn complete(n: usize) -> Graph {
    Graph::from_edges(n, (0..n).flat_map(|u| (0..u).map(move |v| (u, v)))).unwrap()
}

fn path(n: usize) -> Graph {
    Graph::from_edges(n, (1..n).map(|u| (u - 1, u))).unwrap()
}

fn kite() -> Graph {
    let edges = [
        [(0, 1), (0, 2), (0, 3), (0, 5), (1, 3), (1, 4)],
        [(1, 6), (2, 3), (2, 5), (3, 4), (3, 5), (3, 6)],
        [(4, 6), (5, 6), (5, 7), (6, 7), (7, 8), (8, 9)],
    ];
    Graph::from_edges(10, edges.concat()).unwrap()
}

#[track_caller]
fn relative(found: f64, truth: f64, tolerance: f64) {
    assert!((found / truth - 1.0).abs() < tolerance, "{found} is not {truth}");
}

#[test]
fn complete_graphs_have_a_closed_form() {
    for n in [2usize, 7, 40] {
        let (m, all) = (n as f64, communicability(&complete(n)).unwrap());
        relative(all[1][0], ((m - 1.0).exp() - (-1f64).exp()) / m, 1e-13);
        relative(all[1][1], ((m - 1.0).exp() + (m - 1.0) * (-1f64).exp()) / m, 1e-13);
    }
}

/// Krackhardt's kite with `scipy.linalg.expm` and `numpy.linalg.solve` (numpy 2.4.6).
#[test]
fn numbers_from_scipy() {
    let row = [
        10.254197421126314,
        9.097438001203724,
        8.193124753162367,
        12.672311038330033,
        6.824825881153774,
        10.565249468771935,
        9.543825332085955,
        4.482758924559994,
        0.903542111071792,
        0.1584589831879963,
    ];
    let full = communicability(&kite()).unwrap();
    full[0].iter().zip(row).for_each(|(found, truth)| relative(*found, truth, 1e-13));
    relative(full[9][9], 1.5930945812056345, 1e-13);
    let values = [
        1.7175936092473882,
        1.7175936092473885,
        1.561448735679444,
        2.0293226820789805,
        1.5614487356794438,
        1.86757106546807,
        1.86757106546807,
        1.4997745622068144,
        1.2626034911320012,
        1.1262603491132002,
    ];
    let found = katz(&kite(), Some(0.1)).unwrap().centrality;
    found.values.iter().zip(values).for_each(|(found, truth)| relative(*found, truth, 1e-13));
    let (low, high) = largest_eigenvalue(&kite());
    assert!(low <= 4.306403794615759 && 4.306403794615759 <= high && high - low < 1e-10, "{low} {high}");
    let usual = katz(&kite(), None).unwrap();
    relative(usual.alpha, 0.9 / 4.306403794615759, 1e-11);
    relative(usual.centrality.values[3], 13.143387833878435, 1e-9);
}

#[test]
fn tiny_entries_keep_their_digits() {
    // On a path, exp(A) at distance d is the Bessel function I_d(2), up to reflections at the ends, which are far
    // away here. I_25(2) = 6.70e-26, from its series: sum of 1 / (k! (k + 25)!).
    let series = (0..12).map(|k| 1.0 / (factorial(k) * factorial(k + 25))).sum::<f64>();
    let all = communicability(&path(120)).unwrap();
    relative(all[50][75], series, 1e-12);
    let row = communicability_row(&path(120), 50).unwrap();
    assert!((row.values[75] - series).abs() < row.error_bound && row.error_bound < 1e-12);
}

fn factorial(k: u32) -> f64 {
    (1..=k).map(f64::from).product()
}

#[test]
fn rows_agree_with_the_full_matrix_and_the_plain_series() {
    for graph in [kite(), complete(30), path(40), Graph::from_edges(4, [(0, 1)]).unwrap()] {
        let full = communicability(&graph).unwrap();
        for node in [0, graph.nodes() - 1] {
            let row = communicability_row(&graph, node).unwrap();
            let plain = taylor(&graph, node);
            for v in 0..graph.nodes() {
                assert!((row.values[v] - full[node][v]).abs() <= row.error_bound + 1e-12 * full[node][v]);
                assert!(
                    (row.values[v] - plain[v]).abs() <= 2.0 * row.error_bound,
                    "{} {}",
                    row.values[v],
                    plain[v]
                );
            }
        }
    }
}

/// `sum of A^k e / k!` with two hundred terms, from dense powers.
fn taylor(graph: &Graph, node: usize) -> Vec<f64> {
    let n = graph.nodes();
    let dense: Vec<Vec<f64>> = (0..n)
        .map(|u| (0..n).map(|v| f64::from(u8::from(u != v && graph.has_edge(u, v)))).collect())
        .collect();
    let mut term = vec![0.0; n];
    term[node] = 1.0;
    let mut sum = term.clone();
    for k in 1..200 {
        term = dense
            .iter()
            .map(|row| row.iter().zip(&term).map(|(a, t)| a * t).sum::<f64>() / f64::from(k))
            .collect();
        sum.iter_mut().zip(&term).for_each(|(sum, term)| *sum += term);
    }
    sum
}

#[test]
fn katz_agrees_with_a_direct_solve() {
    let pieces = Graph::from_edges(9, [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 6)]).unwrap();
    for graph in [kite(), path(50), complete(12), pieces] {
        let n = graph.nodes();
        for share in [0.2, 0.9, 0.999] {
            let alpha = share / largest_eigenvalue(&graph).1;
            let entry = |u: usize, v: usize| {
                if u == v { 1.0 } else { f64::from(u8::from(graph.has_edge(u, v))) * -alpha }
            };
            let mut direct = Mat::from_fn(n, 1, |_, _| 1.0);
            Lu::new(&Mat::from_fn(n, n, entry)).solve(&mut direct);
            let found = katz(&graph, Some(alpha)).unwrap().centrality;
            for u in 0..n {
                assert!(
                    (found.values[u] - direct[(u, 0)]).abs() <= found.error_bound + 1e-11 * direct[(u, 0)]
                );
            }
            assert!(found.error_bound <= 1e-8 * found.values[0], "{}", found.error_bound);
        }
    }
}

#[test]
fn eigenvalue_bounds_hold_on_every_kind_of_graph() {
    let root = |leaves: usize| (leaves as f64).sqrt();
    let star = Graph::from_edges(10, (1..10).map(|v| (0, v))).unwrap();
    let cases = [
        (complete(9), 8.0),
        (star, root(9)),
        (path(30), 2.0 * (std::f64::consts::PI / 31.0).cos()),
        (Graph::from_edges(7, [(0, 1), (1, 2), (2, 0), (3, 4)]).unwrap(), 2.0),
        (Graph::from_edges(3, []).unwrap(), 0.0),
    ];
    for (graph, truth) in cases {
        let (low, high) = largest_eigenvalue(&graph);
        // The closed forms are rounded too.
        assert!(low <= truth + 1e-15 && truth <= high + 1e-15 && high - low < 1e-6, "{low} {truth} {high}");
    }
}

#[test]
fn refusals_name_the_remedy() {
    let error = katz(&complete(5), Some(0.25)).unwrap_err().to_string();
    assert!(
        error
            .starts_with("`alpha` is 0.25: give a number from 0 to below 1/lambda_max, which is between 0.2"),
        "{error}"
    );
    assert!(katz(&complete(5), Some(-0.1)).is_err() && katz(&complete(5), Some(f64::NAN)).is_err());
    let error = communicability_row(&path(3), 3).unwrap_err().to_string();
    assert_eq!(error, "`node` is 3: node numbers must be below 3");
    let error = communicability(&path(FULL_LIMIT + 1)).unwrap_err().to_string();
    assert!(error.starts_with("`nodes` is 4097") && error.contains("communicability_row"), "{error}");
    for error in
        [communicability(&complete(800)).map(|_| ()), communicability_row(&complete(800), 0).map(|_| ())]
    {
        assert!(error.unwrap_err().to_string().starts_with("`graph` is degrees up to 799: exp(A) exceeds"));
    }
    assert_eq!(katz(&Graph::from_edges(3, []).unwrap(), None).unwrap().centrality.values, [1.0; 3]);
}
