//! Descents whose averagings end in consensus: the closed form for butterflies against the machines' messages, the sum over iterations
//! against the linear view of the whole run, and what is refused.

use proptest::prelude::*;
use sottovoce_privacy::{Adversary, Standing};
use sottovoce_protocol::Coefficients;
use sottovoce_protocol::averaging::{Noising, listen};
use sottovoce_protocol::public::Scheme;
use sottovoce_simulator::descent::DescentSetup;
use sottovoce_topology::family::{Family, generate};
use sottovoce_topology::mixing::{Mixing, Weights};
use sottovoce_topology::schedule::{Ending, Schedule};
use sottovoce_views::Result;
use sottovoce_views::descent::consensus::{Averaging, check_consensus, loss, pair_law};
use sottovoce_views::descent::traced::{linear_view, step_variables};
use sottovoce_views::trace::{Trace, Tracer, trace};

fn noising(relay: f64) -> Noising {
    Noising { sensitivity: 1.0, local: 2.0, relay }
}

fn traced(scheme: &Scheme, observers: &[usize], relay: f64) -> Result<Averaging> {
    let Trace { heard, finals, .. } = trace(scheme, noising(relay), observers).unwrap();
    let heard: Vec<&[f64]> = heard.iter().map(|message| &message.coefficients.0[..]).collect();
    let finals: Vec<&[f64]> = finals.iter().map(|last| &last.0[..]).collect();
    Averaging::traced(&heard, &finals, observers, |i| observers.contains(&(i % scheme.peers())))
}

/// A permutation: every position is exchanged with one drawn from a simple generator.
fn shuffled(n: usize, seed: u64) -> Vec<usize> {
    let mut positions: Vec<usize> = (0..n).collect();
    let mut state = seed;
    for i in 1..n {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        positions.swap(i, (state >> 33) as usize % (i + 1));
    }
    positions
}

fn coalition(n: usize, size: usize, seed: u64) -> Vec<usize> {
    shuffled(n, !seed).into_iter().take(size.clamp(1, n - 1)).collect()
}

fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(80))]

    #[test]
    fn butterflies_in_closed_form(n in 2_usize..40, size in 1_usize..8, seed: u64) {
        let (positions, observers) = (shuffled(n, seed), coalition(n, size, seed));
        let closed = Averaging::butterfly(&positions, &observers).unwrap();
        let found = traced(&Scheme::Butterfly { positions }, &observers, 0.0).unwrap();
        prop_assert!(largest_difference(&closed.leakage().losses, &found.leakage().losses) < 1e-9);
        prop_assert_eq!(closed.leakage().rank, found.leakage().rank);
    }

    /// The whole run at once, by its messages: iterations have nothing in common but what the observers know.
    #[test]
    fn the_sum_over_iterations_is_the_linear_view(
        n in 2_usize..12, size in 1_usize..3, iterations in 1_usize..5, seed: u64,
    ) {
        let observers = coalition(n, size, seed);
        let schemes: Vec<Scheme> =
            [seed, seed ^ 7].map(|seed| Scheme::Butterfly { positions: shuffled(n, seed) }).to_vec();
        let averagings: Vec<Averaging> =
            schemes.iter().map(|scheme| traced(scheme, &observers, 0.0).unwrap()).collect();
        let summed = loss(&averagings, iterations).unwrap();
        prop_assert_eq!(&summed.standing, &Standing::Proven);

        let rounds = schemes[0].rounds();
        let setup = DescentSetup {
            schemes, iterations, noising: noising(0.0), cancelling: None, budget: f64::INFINITY, start: vec![0.0],
        };
        let mut machines = setup.machines(&Coefficients::default()).unwrap();
        let mut rows = Vec::new();
        listen(&mut machines, &mut Tracer::all(n), |_, to, message| {
            if observers.contains(&to) {
                rows.push(message.value.0.clone());
            }
        }).unwrap();
        let rows: Vec<&[f64]> = rows.iter().map(|row| &row[..]).collect();
        let steps = step_variables(n, rounds, iterations);
        let whole = linear_view(&rows, &observers, &steps, |i| observers.contains(&(i % n))).unwrap();
        // Shares that are no powers of two leave rounding in the messages; then everything may count as lost.
        if whole.rank.is_some() {
            let difference = largest_difference(&summed.losses, &whole.losses);
            prop_assert!(difference < 1e-9, "{:?} {:?}", summed, whole);
        } else {
            prop_assert!(!n.is_power_of_two(), "{:?}", whole);
            prop_assert!(summed.losses.iter().zip(&whole.losses).all(|(sum, whole)| *sum < whole + 1e-9));
        }
    }

    /// Over all pairs of positions.
    #[test]
    fn the_law_of_a_pair_in_random_positions(n in 2_usize..48) {
        let natural: Vec<usize> = (0..n).collect();
        let losses: Vec<f64> = (0..n)
            .flat_map(|v| {
                let averaging = Averaging::butterfly(&natural, &[v]).unwrap();
                let others = averaging.leakage().losses.clone().into_iter().enumerate();
                others.filter(move |(u, _)| *u != v).map(|(_, loss)| loss).collect::<Vec<_>>()
            })
            .collect();
        let law = pair_law(n).unwrap();
        prop_assert!((law.iter().map(|(_, p)| p).sum::<f64>() - 1.0).abs() < 1e-12);
        let mean = losses.iter().sum::<f64>() / losses.len() as f64;
        prop_assert!((pair_mean(n) - mean).abs() < 1e-12);
        for (value, probability) in law {
            let share = losses.iter().filter(|loss| **loss == value).count() as f64 / losses.len() as f64;
            prop_assert!((share - probability).abs() < 1e-12, "{n} {value}");
        }
        if n.is_power_of_two() {
            prop_assert!((mean - f64::from(n.ilog2()) / (n - 1) as f64).abs() < 1e-12);
        }
    }
}

fn pair_mean(n: usize) -> f64 {
    pair_law(n).unwrap().iter().map(|(loss, probability)| loss * probability).sum()
}

#[test]
fn large_butterflies_take_no_time() {
    let n = 1_000_000;
    let positions: Vec<usize> = (0..n).collect();
    let one = Averaging::butterfly(&positions, &[3]).unwrap();
    assert_eq!(one.leakage().losses[2], 0.5); // with its guest
    assert!(pair_mean(n) < 3e-5);
}

/// Everyone tells everyone: exact after one step, and no secret is left.
#[test]
fn exact_sequences_are_accepted() {
    let complete =
        Mixing::new(&generate(&Family::Complete { n: 6 }, 0, true).unwrap(), Weights::MetropolisPlusOne);
    let averaging = Averaging::scheduled(&Schedule::constant(complete), &[2], 1).unwrap();
    let total = loss(&[averaging], 7).unwrap();
    assert!(total.losses.iter().enumerate().all(|(u, x)| (x - if u == 2 { 0.0 } else { 7.0 }).abs() < 1e-9));
    // A butterfly of four as a schedule of pairs: two at a time, one after the other.
    let pairs = Schedule::pairwise(4, [(0, 1), (2, 3), (0, 2), (1, 3)], Ending::Stop).unwrap();
    let averaging = Averaging::scheduled(&pairs, &[0], 4).unwrap();
    assert!(largest_difference(&averaging.leakage().losses, &[0.0, 1.0, 0.5, 0.5]) < 1e-12);
    let total = loss(&[averaging], 2).unwrap();
    assert_eq!((total.adversary, total.standing), (Adversary::Peer(0), Standing::Proven));
}

/// Neither far from consensus nor nearly there: gradients may react to what is left.
#[test]
fn gossip_is_refused_however_long() {
    let cube = Mixing::new(
        &generate(&Family::Hypercube { dimension: 3 }, 0, true).unwrap(),
        Weights::MetropolisPlusOne,
    );
    for (steps, words) in [
        (3, "`finals` is not the mean"),
        (40, "`averaging` is a consensus up to"),
        (200, "`averaging` is a consensus up to"),
    ] {
        let error =
            Averaging::scheduled(&Schedule::constant(cube.clone()), &[0], steps).unwrap_err().to_string();
        assert!(error.starts_with(words), "{steps}: {error}");
        let scheme = Scheme::Gossip { mixing: cube.clone(), rounds: steps, accelerated: false };
        let error = traced(&scheme, &[0], 0.0).unwrap_err().to_string();
        assert!(error.starts_with("`finals` is") || error.starts_with(words), "{steps}: {error}");
    }
}

/// With relay noise two who hold the same send different messages, and consensus is lost on the way; among two peers it is not.
#[test]
fn relay_noise_forgoes_consensus() {
    for n in [4, 6, 8] {
        let error = traced(&Scheme::Butterfly { positions: (0..n).collect() }, &[0], 0.5).unwrap_err();
        assert!(error.to_string().starts_with("`finals` is different at peers 0 and 1"), "{n}: {error}");
    }
    let two = traced(&Scheme::Butterfly { positions: vec![0, 1] }, &[0], 0.5).unwrap();
    assert!((two.leakage().losses[1] - 1.0 / (1.0 + 0.25 * 0.25)).abs() < 1e-12); // 0.5 beside a local noise of 2
}

#[test]
fn bad_input_is_refused() {
    let (here, there) =
        (Averaging::butterfly(&[0, 1, 2], &[0]).unwrap(), Averaging::butterfly(&[0, 1, 2], &[1]).unwrap());
    let larger = Averaging::butterfly(&[0, 1, 2, 3], &[0]).unwrap();
    for (error, words) in [
        (Averaging::butterfly(&[0, 1, 1], &[0]).unwrap_err(), "`positions` is 1 at position 2"),
        (Averaging::butterfly(&[0, 1, 3], &[0]).unwrap_err(), "`positions` is 3 at position 2"),
        (Averaging::butterfly(&[0, 1, 2], &[3]).unwrap_err(), "`observers` is 3"),
        (Averaging::butterfly(&[], &[0]).unwrap_err(), "`observers` is 0"),
        (loss(&[], 3).unwrap_err(), "`averagings` is empty"),
        (loss(std::slice::from_ref(&here), 0).unwrap_err(), "`iterations` is 0"),
        (loss(&[here.clone(), there], 3).unwrap_err(), "`averagings` is seen by [1]"),
        (loss(&[here, larger], 3).unwrap_err(), "`averagings` is one of 4 peers"),
        (pair_law(1).unwrap_err(), "`nodes` is 1"),
        (check_consensus(&[]).unwrap_err(), "`finals` is empty"),
        (
            check_consensus(&[&[0.5, 0.5], &[0.25, 0.75]]).unwrap_err(),
            "`finals` is different at peers 0 and 1",
        ),
        (check_consensus(&[&[0.5], &[0.5]]).unwrap_err(), "`finals` is not the mean"),
        (check_consensus(&[&[], &[]]).unwrap_err(), "`finals` is not the mean"),
        (check_consensus(&[&[0.5, 0.5], &[f64::NAN; 2]]).unwrap_err(), "`finals` is NaN"),
    ] {
        assert!(error.to_string().starts_with(words), "{error}");
    }
    // Relay noise may stay, if everyone holds the same share of it.
    check_consensus(&[&[0.5, 0.5, 0.1], &[0.5, 0.5, 0.1]]).unwrap();
    assert!(check_consensus(&[&[0.5, 0.5, 0.1], &[0.5, 0.5]]).is_err());
}
