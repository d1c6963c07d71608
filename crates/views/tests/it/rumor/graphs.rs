//! Rumours among neighbours by brute force: the computed bounds hold against every sequence of observations, and close in on them.

use sottovoce_topology::Graph;
use sottovoce_topology::family::{Family, generate};
use sottovoce_views::rumor::{OnGraph, Question};

use super::machine::Machine;

/// A graph, its curious peers, muting, losses.
fn cases() -> Vec<(Graph, Vec<usize>, f64, f64)> {
    let drawn = |family| generate(&family, 3, true).unwrap();
    let star = Graph::from_edges(5, [(0, 1), (0, 2), (0, 3), (0, 4)]).unwrap();
    let kite = Graph::from_edges(5, [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4)]).unwrap();
    vec![
        (drawn(Family::Ring { n: 5 }), vec![0], 0.4, 0.0),
        (drawn(Family::Ring { n: 5 }), vec![0, 1], 0.8, 0.0),
        (star, vec![4], 0.6, 0.0),
        (kite.clone(), vec![4], 0.0, 0.0),
        (kite.clone(), vec![4], 0.3, 0.2),
        (kite, vec![0], 1.0, 0.1),
    ]
}

/// One telling after the other; the curious notice all tellings that one of them is part of, and their own coins and losses.
fn steps(graph: &Graph, curious: &[usize], s: f64, drop: f64, starts: &[u32]) -> Machine<u32> {
    let is = |peer: usize| curious.contains(&peer);
    Machine::explore(starts, |&active: &u32| {
        if active == 0 {
            return vec![(Some(9999), 0, 1.0)];
        }
        let mut all = Vec::new();
        for from in (0..graph.nodes()).filter(|i| active >> i & 1 == 1) {
            for &to in graph.neighbors(from) {
                let to = to as usize;
                for (stays, coin) in [(true, s), (false, 1.0 - s)] {
                    let rest = if stays { active } else { active & !(1 << from) };
                    let one = coin / f64::from(active.count_ones()) / graph.degree(from) as f64;
                    let name = 10 * from + to + 100 * usize::from(is(from) && stays);
                    let heard = (is(from) || is(to)).then_some(name);
                    all.push((heard, rest | 1 << to, one * (1.0 - drop)));
                    all.push((is(from).then_some(name + 1000), rest, one * drop));
                }
            }
        }
        all.retain(|step| step.2 > 0.0);
        all
    })
}

/// All active peers at once; the label lists all that the curious notice.
fn rounds(graph: &Graph, curious: &[usize], s: f64, starts: &[u32]) -> Machine<u32> {
    let is = |peer: usize| curious.contains(&peer);
    Machine::explore(starts, |&active: &u32| {
        let mut all: Vec<(usize, u32, f64)> = vec![(0, 0, 1.0)];
        for from in (0..graph.nodes()).filter(|i| active >> i & 1 == 1) {
            let mut next = Vec::new();
            for &(seen, after, p) in &all {
                for &to in graph.neighbors(from) {
                    for (stays, coin) in [(1, s), (0, 1.0 - s)] {
                        let noticed = is(from) || is(to as usize);
                        let what = 1 + 2 * (8 * from + to as usize) + stays as usize * usize::from(is(from));
                        let seen = if noticed { seen * 128 + what } else { seen };
                        next.push((
                            seen,
                            after | 1 << to | stays << from,
                            p * coin / graph.degree(from) as f64,
                        ));
                    }
                }
            }
            all = next;
        }
        all.retain(|step| step.2 > 0.0);
        all.into_iter().map(|(seen, after, p)| ((seen > 0).then_some(seen), after, p)).collect()
    })
}

#[test]
fn no_sequence_of_tellings_exceeds_the_bounds() {
    for (graph, curious, s, drop) in cases() {
        let rumor = OnGraph::new(&graph, &curious, s, drop).unwrap();
        let honest: Vec<usize> = (0..graph.nodes()).filter(|peer| !curious.contains(peer)).collect();
        for (&u, &v) in honest.iter().zip(&honest[1..]) {
            let machine = steps(&graph, &curious, s, drop, &[1 << u, 1 << v]).without_clock();
            for epsilon in [0.0, 0.5] {
                let found = rumor.hidden(&Question { epsilon, rounds: false, pair: Some((u, v)) }).unwrap();
                let stick = |length, starts| machine.hockey_stick(&starts, length, f64::exp(epsilon));
                let both = |length| stick(length, [1 << u, 1 << v]).max(stick(length, [1 << v, 1 << u]));
                let (short, long) = (both(1), both(if curious.len() > 1 { 3 } else { 4 }));
                assert!(long <= found.at_most + 1e-11, "{curious:?} {s} {drop} {u} {v}: {long} {found:?}");
                assert!(short <= found.at_least + 1e-6, "{curious:?} {s} {drop} {u} {v}: {short} {found:?}");
                let walk = rumor.hidden(&Question { epsilon, rounds: true, pair: Some((u, v)) }).unwrap();
                assert!(found.at_most <= walk.at_most + 1e-9, "{found:?} {walk:?}");
            }
        }
    }
}

#[test]
fn no_sequence_of_rounds_exceeds_the_walk_that_is_stopped() {
    for (graph, curious, s, drop) in cases().into_iter().filter(|case| case.3 == 0.0) {
        let rumor = OnGraph::new(&graph, &curious, s, drop).unwrap();
        let honest: Vec<usize> = (0..graph.nodes()).filter(|peer| !curious.contains(peer)).collect();
        for (&u, &v) in honest.iter().zip(&honest[1..]) {
            let machine = rounds(&graph, &curious, s, &[1 << u, 1 << v]).without_clock();
            let found = rumor.hidden(&Question { rounds: true, pair: Some((u, v)), epsilon: 0.0 }).unwrap();
            let loss = machine.hockey_stick(&[1 << u, 1 << v], 2, 1.0);
            assert!(loss <= found.at_most + 1e-11, "{curious:?} {s} {u} {v}: {loss} {found:?}");
        }
    }
}
