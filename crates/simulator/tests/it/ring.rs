//! Sums on a ring: what comes out is the sum of integers, bit for bit, and what is said on the way is uniform.

use std::time::Duration;

use proptest::prelude::*;
use sottovoce_privacy::noise::exact::{ExactNoise, Secret};
use sottovoce_protocol::Value;
use sottovoce_protocol::averaging::Message;
use sottovoce_protocol::public::Sums;
use sottovoce_protocol::ring::{Agreed, Residues, Ring};
use sottovoce_simulator::driver::Simulation;
use sottovoce_simulator::network::{Faults, Network};
use sottovoce_simulator::record::{Entry, Mail};
use sottovoce_simulator::ring::RingSetup;
use sottovoce_topology::Graph;
use sottovoce_topology::family::{Family, generate};

fn values(peers: usize, width: usize) -> Vec<Vec<f64>> {
    (0..peers).map(|u| (0..width).map(|j| ((u * 37 + j * 11) % 101) as f64 / 50.0 - 1.0).collect()).collect()
}

fn setup(peers: usize, width: usize, keys: Graph, sums: Sums) -> RingSetup {
    let ring = Ring::fitting(peers, width, 1.0, 0.25).unwrap();
    RingSetup { values: values(peers, width), ring, keys, sums, sensitivity: 1.0, round: 3 }
}

fn butterfly(peers: usize) -> Sums {
    Sums::Butterfly { positions: (0..peers).rev().collect() }
}

fn complete(n: usize) -> Graph {
    generate(&Family::Complete { n }, 0, true).unwrap()
}

/// The integers of a peer, with its share of noise.
fn noised(setup: &RingSetup, peer: usize, seed: u64) -> Residues {
    let Agreed { width, bits, .. } = *setup.ring.agreed();
    let mut noise = ExactNoise::simulated(seed, peer as u64, setup.round);
    let shares = (0..width).map(|_| noise.sample(setup.ring.share())).collect();
    let mut value = setup.ring.encode(&setup.values[peer]).unwrap();
    value.add(1.0, &Residues::new(shares, bits));
    value
}

/// Everybody's added up without any mask, one after the other.
fn plain(setup: &RingSetup, peers: impl IntoIterator<Item = usize>, seed: u64) -> Residues {
    let Agreed { width, bits, .. } = *setup.ring.agreed();
    let mut sum = Residues::new(vec![0; width], bits);
    peers.into_iter().for_each(|peer| sum.add(1.0, &noised(setup, peer, seed)));
    sum
}

/// What every peer says in the first round of a butterfly of a power of two: its value under its cover.
fn first_messages(setup: &RingSetup, seed: u64) -> Vec<Residues> {
    let mut mail = Mail::default();
    let simulation =
        Simulation::new(setup.peers().unwrap(), setup.noises(seed), Network::perfect(), seed).unwrap();
    simulation.recorder(&mut mail).run();
    let mut said = vec![Residues::new(vec![], 1); setup.values.len()];
    let first = |entry: &Entry<Message<Residues>>| entry.message.round == 0;
    mail.0.into_iter().filter(first).for_each(|entry| said[entry.from] = entry.message.value);
    said
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn sums_are_those_of_the_integers_bit_for_bit(n in 2usize..40, width in 1usize..5, seed in any::<u64>(), tree in any::<bool>(), root in 0usize..40) {
        let keys = generate(&Family::Ring { n: n.max(3) }, 0, true).unwrap();
        let keys = if n < 3 { complete(n) } else { keys };
        let sums = if tree { Sums::Tree { graph: keys.clone(), root: root % n } } else { butterfly(n) };
        let setup = setup(n, width, keys, sums);
        let outcome = setup.run(Network::perfect(), seed).unwrap();
        prop_assert!(outcome.complete);
        let known = plain(&setup, 0..n, seed);
        for result in outcome.finals.iter().flatten() {
            prop_assert_eq!(result, &known);
        }
        // And that is the sum of the values, but for rounding and noise.
        for (j, sum) in setup.ring.decode(&known).into_iter().enumerate() {
            let exact: f64 = setup.values.iter().map(|value| value[j]).sum();
            prop_assert!((sum - exact).abs() < 10.0 * 0.25 * (n as f64).sqrt(), "{} {}", sum, exact);
        }
    }
}

/// Fifteen degrees of freedom are above 60 once in four million times.
fn chi_square(words: impl Iterator<Item = u64>, bits: u32) -> f64 {
    let mut counts = [0.0; 16];
    words.for_each(|word| counts[(word >> (bits - 4)) as usize] += 1.0);
    let expected = counts.iter().sum::<f64>() / 16.0;
    counts.iter().map(|count| (count - expected).powi(2) / expected).sum()
}

#[test]
fn one_message_alone_is_uniform() {
    let setup = setup(4, 2000, complete(4), butterfly(4));
    let bits = setup.ring.agreed().bits;
    for said in first_messages(&setup, 5) {
        let statistic = chi_square(said.words().iter().copied(), bits);
        assert!(statistic < 60.0, "{statistic}");
        // The lowest bits too.
        let low = chi_square(said.words().iter().map(|word| word & 15), 4);
        assert!(low < 60.0, "{low}");
    }
    // Without masks it is far from that.
    let bare = noised(&setup, 0, 5);
    assert!(chi_square(bare.words().iter().copied(), bits) > 1000.0);
}

/// Peers 0 to 3 have keys along a line, 3 and 4 with 5, and 4 with 6 and 7: without 4 and 5 the groups are {0, 1, 2, 3}, {6} and {7}.
#[test]
fn a_coalition_has_the_sum_of_each_group_and_no_single_value() {
    let edges = [(0, 1), (1, 2), (2, 3), (3, 5), (4, 5), (4, 6), (4, 7)];
    let keys = Graph::from_edges(8, edges).unwrap();
    let (setup, seed, coalition) = (setup(8, 1, keys, butterfly(8)), 9, [4usize, 5]);
    let said = first_messages(&setup, seed);
    let without_known = |peer: usize| {
        let mut words = vec![0];
        for &member in coalition.iter().filter(|&&member| setup.keys.has_edge(peer, member)) {
            let secret = Secret::simulated(seed, peer as u64, member as u64);
            // What a smaller peer added is taken away, and the other way round.
            if peer < member {
                secret.subtract(setup.round, &mut words);
            } else {
                secret.add(setup.round, &mut words);
            }
        }
        let mut rest =
            Residues::new(words.into_iter().map(|word| word as i64).collect(), setup.ring.agreed().bits);
        rest.add(1.0, &said[peer]);
        rest
    };
    for group in [vec![0, 1, 2, 3], vec![6], vec![7]] {
        let mut sum = Residues::new(vec![0], setup.ring.agreed().bits);
        group.iter().for_each(|&peer| sum.add(1.0, &without_known(peer)));
        assert_eq!(sum, plain(&setup, group, seed));
    }
    assert!((0..4).all(|peer| without_known(peer) != noised(&setup, peer, seed)));
}

#[test]
fn runs_under_one_round_give_the_difference_of_values_away() {
    let one = setup(4, 50, complete(4), butterfly(4));
    let mut other = one.clone();
    other.values[2].iter_mut().for_each(|x| *x = -*x);
    let differences = |a: &RingSetup, b: &RingSetup| {
        let mut difference = first_messages(b, 11)[2].clone();
        difference.add(-1.0, &first_messages(a, 11)[2]);
        a.ring.decode(&difference)
    };
    let moved: Vec<f64> = one.values[2].iter().zip(&other.values[2]).map(|(x, y)| y - x).collect();
    let away =
        |found: &[f64], least: f64| found.iter().zip(&moved).filter(|(a, b)| (*a - *b).abs() > least).count();
    assert_eq!(away(&differences(&one, &other), one.ring.agreed().step), 0);
    let later = RingSetup { round: other.round + 1, ..other };
    assert!(away(&differences(&one, &later), 1.0) > 25);
}

#[test]
fn who_vanishes_leaves_the_others_without_a_result() {
    let setup = setup(8, 1, complete(8), butterfly(8));
    let network = Network { timeout: Some(Duration::from_secs(10)), ..Network::perfect() };
    let faults = Faults { crashes: vec![(3, Duration::ZERO)], ..Faults::default() };
    let simulation = Simulation::new(setup.peers().unwrap(), setup.noises(1), network, 1).unwrap();
    let outcome = simulation.faults(&faults).unwrap().run();
    assert!(outcome.finals.iter().all(Option::is_none));
    assert!(!outcome.silent.is_empty());
}

#[test]
fn bad_input_is_refused() {
    let good = setup(8, 1, complete(8), butterfly(8));
    let line = Graph::from_edges(8, (0..6).map(|u| (u, u + 1))).unwrap();
    for (setup, expected) in [
        (RingSetup { keys: complete(7), ..good.clone() }, "`keys` is of 7 peers"),
        (RingSetup { keys: line.clone(), ..good.clone() }, "`keys` is without a secret of peer 7"),
        (RingSetup { sums: butterfly(9), ..good.clone() }, "`sums` is of 9 peers"),
        (
            RingSetup { sums: Sums::Tree { graph: line, root: 0 }, ..good.clone() },
            "the graph is not connected",
        ),
        (RingSetup { sums: Sums::Tree { graph: complete(8), root: 8 }, ..good.clone() }, "`"),
        (RingSetup { values: values(8, 2), ..good.clone() }, "`values` is 8 vectors of 2"),
        (RingSetup { sensitivity: f64::NAN, ..good.clone() }, "`sensitivity` is NaN"),
    ] {
        let error = setup.peers().map(|_| ()).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}
