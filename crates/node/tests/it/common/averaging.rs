//! Four peers who average.

use sottovoce_node::{Cost, Price};
use sottovoce_privacy::{Adjacency, Unit};
use sottovoce_protocol::averaging::{Averager, Gossip, Noising, Row, Start};
use sottovoce_protocol::{Peer, Release};

use super::peers::{Scenario, price};

/// Gossip among all, with relay noise.
pub(crate) struct Averaging;

const NOISING: Noising = Noising { sensitivity: 1.0, local: 2.0, relay: 0.5 };

impl Scenario for Averaging {
    type Machine = Averager<Vec<f64>, Gossip>;
    const PEERS: usize = 4;

    fn machine(peer: Peer) -> Self::Machine {
        let others = (0..4).filter(|&other| other != peer);
        let row = Row::mutual(0.4, others.map(|other| (other, 0.2)));
        Averager::new([peer as f64, 0.1].repeat(4), Gossip::new(row, 3), NOISING, None)
    }

    fn cost(_: Peer) -> Cost {
        let release = Release::gaussian(NOISING.sensitivity, NOISING.local);
        Cost {
            adjacency: Adjacency::Replace,
            unit: Unit::User,
            releases: vec![(release, 1)],
            prices: price(Price::concentrated(0.2).unwrap()),
        }
    }

    fn begin(_: Peer) -> Option<Start> {
        Some(Start)
    }

    fn compute(_: Peer, _: usize, _: f64, _: &mut Vec<f64>) {}
}
