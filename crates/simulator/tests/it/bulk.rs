//! The bulk driver gives the numbers of the event driver, bit for bit.

use crate::common;

use common::*;
use proptest::prelude::*;
use sottovoce_protocol::averaging::Noising;
use sottovoce_protocol::public::Scheme;
use sottovoce_simulator::averaging::AveragingSetup;
use sottovoce_simulator::bulk::Bulk;
use sottovoce_simulator::network::{Faults, Network};
use sottovoce_topology::family::{Family, generate};
use sottovoce_topology::mixing::{Mixing, Weights};

fn in_bulk(setup: &AveragingSetup, seed: u64, threads: usize) -> Vec<f64> {
    let Scheme::Gossip { mixing, rounds, .. } = &setup.scheme else { panic!("gossip only") };
    let gamma = setup.scheme.gamma().unwrap();
    let mut bulk = Bulk::new(mixing, setup.values.concat(), setup.noising, gamma, seed, threads).unwrap();
    bulk.run(*rounds);
    bulk.values().to_vec()
}

fn by_events(setup: &AveragingSetup, seed: u64) -> Vec<f64> {
    let outcome = run(setup, Network::perfect(), &Faults::default(), seed);
    assert!(outcome.violations.is_empty());
    outcome.finals.into_iter().flat_map(Option::unwrap).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn bulk_and_events_agree_bit_for_bit(
        (n, rounds, accelerated, relay, seed) in (2usize..40, 1usize..12, any::<bool>(), any::<bool>(), any::<u64>())
    ) {
        let noising = if relay { RELAY } else { PLAIN };
        for width in [1, 3] {
            let setup = gossip(n, width, rounds, accelerated, noising);
            let bits = |values: Vec<f64>| values.into_iter().map(f64::to_bits).collect::<Vec<_>>();
            prop_assert_eq!(bits(in_bulk(&setup, seed, 3)), bits(by_events(&setup, seed)));
        }
    }
}

/// Large enough for threads and for tiles; rows are summed by `Mixing::apply`, which is neither.
#[test]
fn threads_and_tiles_change_nothing() {
    let family = Family::RandomRegular { n: 200_000, degree: 4 };
    let mixing = Mixing::new(&generate(&family, 1, false).unwrap(), Weights::MetropolisPlusOne);
    let noising = Noising { sensitivity: 1.0, local: 1.0, relay: 0.0 };
    let values: Vec<f64> = (0..200_000).map(|u| f64::from(u % 1000)).collect();
    let bulk = |threads, relay, gamma| {
        let noising = Noising { relay, ..noising };
        let mut bulk = Bulk::new(&mixing, values.clone(), noising, gamma, 7, threads).unwrap();
        bulk.run(3);
        bulk.values().to_vec()
    };
    for (relay, gamma) in [(0.0, None), (0.5, Some(1.4))] {
        assert!(bulk(1, relay, gamma) == bulk(5, relay, gamma));
    }
    let mut expected = Bulk::new(&mixing, values.clone(), noising, None, 7, 2).unwrap().values().to_vec();
    let mut next = expected.clone();
    for _ in 0..3 {
        mixing.apply(&expected, &mut next);
        std::mem::swap(&mut expected, &mut next);
    }
    assert!(bulk(2, 0.0, None) == expected);
}
