//! Linear views of a descent: the structured computation against the state machines' own messages, against plain gossip, against exact
//! fractions, and in shape. What breaks when gradients react is in `descent_reaction.rs`.

use proptest::prelude::*;
use sottovoce_privacy::Standing;
use sottovoce_protocol::Coefficients;
use sottovoce_protocol::averaging::{Noising, listen};
use sottovoce_protocol::public::Scheme;
use sottovoce_simulator::descent::DescentSetup;
use sottovoce_topology::family::{Family, generate};
use sottovoce_topology::mixing::{Mixing, Weights};
use sottovoce_views::descent::traced::{linear_view, step_variables};
use sottovoce_views::descent::{DescentLoss, linear, relay, wire_tapper};
use sottovoce_views::exact;
use sottovoce_views::trace::Tracer;

/// The machines themselves on coefficients; their gradients are zero, so that nothing but noise enters.
fn by_tracing(schemes: Vec<Scheme>, observers: &[usize], iterations: usize, tau: f64) -> DescentLoss {
    let noising = Noising { sensitivity: 1.0, local: 1.0, relay: tau };
    let setup = DescentSetup {
        schemes,
        iterations,
        noising,
        cancelling: None,
        budget: f64::INFINITY,
        start: vec![0.0],
    };
    let (peers, rounds) = (setup.peers(), setup.rounds());
    let mut machines = setup.machines(&Coefficients::default()).unwrap();
    let mut rows = Vec::new();
    listen(&mut machines, &mut Tracer::all(peers), |_, to, message| {
        if observers.contains(&to) {
            rows.push(message.value.0.clone());
        }
    })
    .unwrap();
    let rows: Vec<&[f64]> = rows.iter().map(|row| &row[..]).collect();
    let steps = step_variables(peers, rounds, iterations);
    linear_view(&rows, observers, &steps, |i| observers.contains(&(i % peers))).unwrap()
}

fn gossip(mixing: &Mixing, rounds: usize, accelerated: bool) -> Scheme {
    Scheme::Gossip { mixing: mixing.clone(), rounds, accelerated }
}

fn mixing(family: &Family, seed: u64) -> Mixing {
    Mixing::new(&generate(family, seed, true).unwrap(), Weights::MetropolisPlusOne)
}

fn random_mixing(n: usize, seed: u64) -> Mixing {
    mixing(&Family::ErdosRenyi { n, p: 0.55 }, seed)
}

fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn the_structure_agrees_with_the_machines(
        n in 4_usize..=8, rounds in 1_usize..=3, iterations in 1_usize..=4, kind in 0..4, both: bool, seed: u64,
    ) {
        let (one, other) = (random_mixing(n, seed), random_mixing(n, seed ^ 1));
        let observers = if both { vec![0, n - 1] } else { vec![0] };
        let (found, schemes) = match kind {
            0 => (linear::loss(&[&one], &observers, rounds, iterations), vec![gossip(&one, rounds, false)]),
            1 => (
                linear::loss(&[&one, &other], &observers, rounds, iterations),
                vec![gossip(&one, rounds, false), gossip(&other, rounds, false)],
            ),
            2 => {
                let schemes = vec![gossip(&one, rounds, true), gossip(&other, rounds, true)];
                let gammas: Vec<f64> = schemes.iter().map(|scheme| scheme.gamma().unwrap().unwrap()).collect();
                let gossips = [(&one, gammas[0]), (&other, gammas[1])];
                (linear::accelerated(&gossips, &observers, rounds, iterations), schemes)
            }
            _ => {
                let scheme = gossip(&one, rounds, true);
                let gamma = scheme.gamma().unwrap().unwrap();
                (linear::accelerated(&[(&one, gamma)], &observers, rounds, iterations), vec![scheme])
            }
        };
        let (found, traced) = (found.unwrap(), by_tracing(schemes, &observers, iterations, 0.0));
        // Where doubles cannot tell the machines' messages apart, nothing is compared.
        prop_assume!(traced.rank.is_some());
        prop_assert_eq!(found.rank, traced.rank);
        prop_assert!(largest_difference(&found.losses, &traced.losses) < 1e-7, "{:?} {:?}", found, traced);
    }

    #[test]
    fn one_iteration_is_plain_gossip(n in 4_usize..30, rounds in 1_usize..12, seed: u64) {
        let mixing = random_mixing(n, seed);
        let (gossip, descent) = (exact::gossip(&mixing, &[1, 2], rounds), linear::loss(&[&mixing], &[1, 2], rounds, 1));
        let (gossip, descent) = (gossip.unwrap(), descent.unwrap());
        prop_assert!(largest_difference(&gossip.losses, &descent.losses) < 1e-10);
        prop_assert_eq!(gossip.rank, descent.rank);
        prop_assert_eq!(descent.standing, Standing::Proven);
        // With relay noise too, by the machines.
        let scheme = Scheme::Gossip { mixing: mixing.clone(), rounds: rounds.min(5), accelerated: false };
        let relayed = exact::relay_gossip(&mixing, &[1], rounds.min(5), 0.2).unwrap();
        prop_assert!(largest_difference(&by_tracing(vec![scheme], &[1], 1, 0.2).losses, &relayed.losses) < 1e-7);
    }

    /// More iterations, more observers and less noise never tell less; nothing is worse than local releases.
    #[test]
    fn losses_grow_with_what_is_heard(n in 4_usize..=9, rounds in 1_usize..=3, iterations in 1_usize..=4, seed: u64) {
        let mixing = random_mixing(n, seed);
        let loss = |observers: &[usize], iterations| linear::loss(&[&mixing], observers, rounds, iterations).unwrap();
        let one = loss(&[0], iterations);
        let (longer, both) = (loss(&[0], iterations + 1), loss(&[0, 1], iterations));
        let relayed = by_tracing(vec![gossip(&mixing, rounds, false)], &[0], iterations, 0.3);
        let structured = relay::loss(&mixing, &[0], rounds, iterations, 0.3).unwrap();
        prop_assert!(largest_difference(&structured.losses, &relayed.losses) < 1e-7, "{:?} {:?}", structured, relayed);
        for u in 2..n {
            prop_assert!((0.0..=iterations as f64).contains(&one.losses[u]));
            prop_assert!(one.losses[u] <= longer.losses[u] + 1e-9, "{u}: {:?} {:?}", one, longer);
            prop_assert!(one.losses[u] <= both.losses[u] + 1e-9, "{u}: {:?} {:?}", one, both);
            prop_assert!(relayed.losses[u] <= one.losses[u] + 1e-9, "{u}: {:?} {:?}", relayed, one);
        }
        let exact = exact::gossip(&mixing, &[0], rounds).unwrap();
        prop_assert_eq!(one.rank, exact.rank.map(|rank| rank * iterations));
    }
}

/// The order of threads and pieces changes nothing.
#[test]
fn losses_are_the_same_every_time() {
    let mixing = random_mixing(150, 3);
    let loss = || linear::loss(&[&mixing], &[0], 4, 3).unwrap();
    assert_eq!(loss(), loss());
}

#[test]
fn guarantees_are_typed_and_bad_input_is_refused() {
    let mixing = random_mixing(6, 1);
    let loss = linear::loss(&[&mixing], &[0], 2, 3).unwrap();
    let Standing::Conditional(assumptions) = loss.standing.clone() else { panic!("{:?}", loss.standing) };
    assert!(assumptions[0].contains("the protected peer's own included"), "{assumptions:?}");
    let guarantee = loss.guarantee(1, 1.0, 2.0).unwrap();
    assert_eq!(guarantee.standing, loss.standing);
    assert_eq!(wire_tapper(6, 3).unwrap().guarantee(5, 1.0, 2.0).unwrap().standing, Standing::Proven);
    let other = random_mixing(7, 1);
    for (error, words) in [
        (loss.guarantee(6, 1.0, 1.0).unwrap_err(), "`peer` is 6: there are 6 peers"),
        (loss.guarantee(1, 1.0, 0.0).unwrap_err(), "`sigma` is 0"),
        (linear::loss(&[], &[0], 2, 3).unwrap_err(), "`mixings` is empty"),
        (linear::loss(&[&mixing, &other], &[0], 2, 3).unwrap_err(), "`mixings` is one of 7 peers"),
        (linear::loss(&[&mixing], &[6], 2, 3).unwrap_err(), "`observers` is 6"),
        (linear::loss(&[&mixing], &[0, 1, 2, 3, 4, 5], 2, 3).unwrap_err(), "`observers` is all 6 peers"),
        (linear::loss(&[&mixing], &[0], 0, 3).unwrap_err(), "`rounds` is 0"),
        (linear::loss(&[&mixing], &[0], 2, 0).unwrap_err(), "`iterations` is 0"),
        (linear::loss(&[&mixing], &[0], 5, 100_000).unwrap_err(), "`iterations` is 100000"),
        (linear::accelerated(&[(&mixing, 2.5)], &[0], 2, 3).unwrap_err(), "`gamma` is 2.5"),
        (wire_tapper(3, 0).unwrap_err(), "`iterations` is 0"),
        (linear_view(&[&[f64::NAN]], &[0], &[vec![0], vec![1]], |_| false).unwrap_err(), "`messages` is NaN"),
        (linear_view(&[], &[0], &[vec![], vec![]], |_| false).unwrap_err(), "`iterations` is 0"),
    ] {
        assert!(error.to_string().starts_with(words), "{error}");
    }
    assert_eq!(linear_view(&[], &[0], &[vec![0], vec![1]], |_| false).unwrap().losses, [0.0, 0.0]);
}

/// The size of the published experiments. `cargo test --release -p sottovoce-views --test descent_linear -- --ignored`
#[test]
#[ignore = "takes seconds where optimised, minutes where not"]
fn the_hypercube_of_the_published_experiments() {
    let cube = mixing(&Family::Hypercube { dimension: 11 }, 0);
    let sparse: Vec<Mixing> =
        (0..10).map(|seed| mixing(&Family::RandomRegular { n: 200, degree: 4 }, seed)).collect();
    let (one, fresh) = (&sparse[..1], &sparse[..]);
    for (mixings, rounds, iterations) in
        [(&[cube][..], 19, 10), (one, 10, 10), (fresh, 10, 10), (one, 10, 100), (fresh, 10, 100)]
    {
        let mixings: Vec<&Mixing> = mixings.iter().collect();
        let start = std::time::Instant::now();
        let loss = linear::loss(&mixings, &[0], rounds, iterations).unwrap();
        let (time, n, rank) = (start.elapsed().as_secs_f64(), loss.losses.len(), loss.rank.unwrap());
        let (mean, kinds) = (loss.mean(), mixings.len());
        println!(
            "{n} peers, {kinds} graphs, {iterations} iterations: {time:.2} s, rank {rank}, mean {mean:.4}"
        );
        assert!(loss.losses.iter().all(|x| (0.0..=iterations as f64).contains(x)));
    }
}
