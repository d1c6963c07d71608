//! Noise that cancels: closed forms against a plain inverse, and against the messages over all noises, pairs' among them.

use proptest::prelude::*;
use sottovoce_privacy::{Adversary, limits};
use sottovoce_protocol::public::{Cancelling, Scheme};
use sottovoce_topology::Graph;
use sottovoce_topology::family::{Family, generate};
use sottovoce_topology::mixing::{Mixing, Weights};
use sottovoce_views::cancelling::{cut, everything};
use sottovoce_views::door::{Overheard, Setting, account};
use sottovoce_views::exact;

/// The diagonal of `(I + kappa² L)^-1` on honest peers, by Gauss-Jordan elimination.
fn inverse_diagonal(keys: &Graph, kappa: f64, coalition: &[usize]) -> Vec<f64> {
    let n = keys.nodes();
    let honest = |v: usize| !coalition.contains(&v);
    let mut rows = vec![vec![0.0; 2 * n]; n];
    for (v, row) in rows.iter_mut().enumerate() {
        (row[v], row[n + v]) = (1.0, 1.0);
        for &w in keys.neighbors(v).iter().filter(|&&w| honest(v) && honest(w as usize)) {
            row[v] += kappa * kappa;
            row[w as usize] -= kappa * kappa;
        }
    }
    for pivot in 0..n {
        let scale = rows[pivot][pivot];
        rows[pivot].iter_mut().for_each(|x| *x /= scale);
        let row = rows[pivot].clone();
        for other in (0..n).filter(|&other| other != pivot) {
            let factor = rows[other][pivot];
            rows[other].iter_mut().zip(&row).for_each(|(x, y)| *x -= factor * y);
        }
    }
    (0..n).map(|v| if honest(v) { rows[v][n + v] } else { 0.0 }).collect()
}

fn random_keys(n: usize, seed: u64, share: f64) -> Graph {
    generate(&Family::ErdosRenyi { n, p: share }, seed, false).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn a_wire_tapper_learns_the_diagonal_of_the_inverse(
        n in 2_usize..40, seed in 0_u64..1000, share in 0.02_f64..0.6, power in -3.0_f64..4.0, members in prop::collection::vec(0_usize..40, 0..4)
    ) {
        let (keys, kappa) = (random_keys(n, seed, share), 10_f64.powf(power));
        let coalition: Vec<usize> = members.into_iter().filter(|v| *v < n).collect();
        let truth = inverse_diagonal(&keys, kappa, &coalition);
        let found = everything(&Cancelling::new(keys, kappa).unwrap(), &coalition).unwrap();
        // What elimination in doubles is good for.
        let slack = 1e-15 * (1.0 + 2.0 * kappa * kappa * n as f64);
        for (loss, true_loss) in found.losses.iter().zip(&truth) {
            prop_assert!(*loss >= true_loss - slack && *loss <= true_loss * (1.0 + 1e-9) + slack, "{loss} {true_loss}");
        }
        prop_assert!(found.certified);
    }

    /// Every message over the own noises and the pairs': another way to the same losses.
    #[test]
    fn peers_learn_what_their_messages_say(
        n in 4_usize..12, seed in 0_u64..500, kappa in 0.1_f64..20.0, steps in 1_usize..4, relay in prop::bool::ANY, lone in prop::bool::ANY
    ) {
        let graph = generate(&Family::Ring { n }, 0, true).unwrap();
        let mixing = Mixing::new(&graph, Weights::Metropolis).lazy(0.1).unwrap();
        let keys = random_keys(n, seed, 0.4);
        let observers: Vec<usize> = if lone { vec![0] } else { vec![0, 2] };
        let tau = if relay { 0.3 } else { 0.0 };
        let scheme = Scheme::Gossip { mixing: mixing.clone(), rounds: steps, accelerated: false };
        let pairs = Cancelling::new(keys.clone(), kappa).unwrap();
        let setting = Setting { relay_noise: tau, cancelling: Some(pairs), ..Setting::of(scheme.clone()) };
        let found = setting.leakage(&observers).unwrap();
        let noising = sottovoce_protocol::averaging::Noising { sensitivity: 1.0, local: 1.0, relay: tau };
        let trace = sottovoce_views::trace::trace(&scheme, noising, &observers).unwrap();
        let edges: Vec<(usize, usize)> = keys.edges().collect();
        let rows: Vec<Vec<f64>> = trace.heard.iter().map(|heard| {
            let own = |v: usize| heard.coefficients.0.get(v).copied().unwrap_or(0.0);
            let pairs = edges.iter().map(|&(v, w)| kappa * (own(v) - own(w)));
            (0..trace.variables).map(own).chain(pairs).collect()
        }).collect();
        let knows = |i: usize| match i.checked_sub(trace.variables) {
            None => observers.contains(&(i % n)),
            Some(pair) => observers.contains(&edges[pair].0) || observers.contains(&edges[pair].1),
        };
        let rows: Vec<&[f64]> = rows.iter().map(|row| &row[..]).collect();
        let traced = exact::traced(&rows, &observers, n, knows).unwrap();
        prop_assume!(traced.certified && found.certified);
        for (a, b) in found.losses.iter().zip(&traced.losses) {
            prop_assert!((a - b).abs() < 1e-7, "{:?} {:?}", found.losses, traced.losses);
        }
        // Neither more than without pairs, nor more than someone learns who hears everything.
        let plain = Setting { cancelling: None, ..setting.clone() }.leakage(&observers).unwrap();
        let all = setting.everything(&observers).unwrap();
        for u in 0..n {
            prop_assert!(found.losses[u] <= plain.losses[u] + 1e-7 && found.losses[u] <= all.losses[u] + 1e-7);
        }
    }
}

/// Where there is too little time to be exact, bounds hold, and the gap of the graph makes them sharp.
#[test]
fn large_graphs_are_bounded_from_above() {
    // Vertices of a complete graph are alike: their losses sum to the trace.
    let keys = generate(&Family::Hypercube { dimension: 15 }, 0, true).unwrap();
    let (n, kappa) = (keys.nodes() as f64, 3.0_f64);
    let choose = |k: u32| (0..k).fold(1.0, |product, i| product * f64::from(15 - i) / f64::from(i + 1));
    let truth = (0..=15).map(|k| choose(k) / (1.0 + kappa * kappa * 2.0 * f64::from(k))).sum::<f64>() / n;
    let found = everything(&Cancelling::new(keys, kappa).unwrap(), &[]).unwrap();
    for loss in [found.losses[0], found.losses[12_345]] {
        assert!(loss >= truth && loss <= 1.1 * truth, "{loss} {truth}");
    }
}

#[test]
fn coalitions_that_cut_are_named() {
    // Two triangles that only peer 3 connects, and a peer without secrets.
    let edges = [(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (4, 5), (5, 6), (4, 6)];
    let pairs = Cancelling::new(Graph::from_edges(8, edges).unwrap(), 1000.0).unwrap();
    let whole = cut(&pairs, &[]).unwrap();
    assert_eq!((whole.groups, &whole.smallest[..]), (2, &[7][..]));
    let found = everything(&pairs, &[3]).unwrap();
    assert!((found.losses[0] - 1.0 / 3.0).abs() < 1e-5 && (found.losses[7] - 1.0).abs() < 1e-12);
    assert_eq!(found.losses[3], 0.0);
    assert!(everything(&pairs, &[8]).is_err());
}

#[test]
fn guarantees_name_the_secrets() {
    let keys = generate(&Family::Complete { n: 8 }, 0, true).unwrap();
    let scheme = Scheme::Butterfly { positions: (0..8).collect() };
    let setting = Setting { cancelling: Some(Cancelling::new(keys, 5.0).unwrap()), ..Setting::of(scheme) };
    let found = account(&setting, &Adversary::WireTapperWith(vec![1, 2])).unwrap();
    let guarantee = found.guarantee(0, 1.0, 1.0).unwrap();
    assert!(guarantee.adversary.to_string().contains("holds the secrets of peers 1, 2"));
    assert!(guarantee.not_covered.iter().any(|limit| limit == limits::SECRETS));
    let alone = account(&setting, &Adversary::WireTapper).unwrap();
    assert!(alone.leakage.losses[0] < found.leakage.losses[0]);
    for kappa in [-1.0, f64::NAN, f64::INFINITY, 2e6] {
        assert!(Cancelling::new(Graph::from_edges(2, [(0, 1)]).unwrap(), kappa).is_err(), "{kappa}");
    }
}
