//! The very same peers on numbers, over a perfect network, with somebody listening.

use std::collections::VecDeque;

use sottovoce_protocol::averaging::{Averager, Noising};
use sottovoce_protocol::{Gate, Input, Message, Output, Peer, Protocol};
use sottovoce_simulator::averaging::{AveragingPeer, Part, Scheme};
use sottovoce_simulator::noise::PeerNoise;

use super::Result;

type Numbers = Vec<f64>;
type Wire = VecDeque<(Peer, Peer, Message<Numbers>)>;

/// Everything that is the same in all runs, worked out once.
pub(super) struct Stage {
    parts: Vec<Part>,
    gamma: Option<f64>,
    noising: Noising,
}

impl Stage {
    pub(super) fn new(scheme: &Scheme, noising: Noising) -> Result<Self> {
        Ok(Self { parts: scheme.parts()?, gamma: scheme.gamma()?, noising })
    }

    /// Runs all peers on these values and shows every message (sender, receiver, message) to `hear`.
    ///
    /// Coordinates have independent noises: a vector of them is as many independent runs on numbers.
    pub(super) fn perform(
        &self,
        seed: u64,
        values: &[Numbers],
        mut hear: impl FnMut(Peer, Peer, &Message<Numbers>),
    ) {
        let machine = |(part, value): (&Part, &Numbers)| {
            Averager::new(value.clone(), part.clone(), self.noising, self.gamma, Gate::new(f64::INFINITY))
        };
        let mut peers: Vec<AveragingPeer<Numbers>> = self.parts.iter().zip(values).map(machine).collect();
        let mut noises = PeerNoise::all(seed, peers.len());
        let mut wire = Wire::new();
        for (peer, (machine, noise)) in peers.iter_mut().zip(&mut noises).enumerate() {
            machine.handle(Input::Start, noise);
            drain(peer, machine, &mut wire);
        }
        while let Some((from, to, message)) = wire.pop_front() {
            hear(from, to, &message);
            peers[to].handle(Input::Message { from, message }, &mut noises[to]);
            drain(to, &mut peers[to], &mut wire);
        }
    }
}

/// Takes what a peer has to say. Nobody is silent on this network, so timers are not needed.
fn drain(from: Peer, machine: &mut AveragingPeer<Numbers>, wire: &mut Wire) {
    while let Some(output) = machine.poll() {
        if let Output::Send { to, message } = output {
            wire.push_back((from, to, message));
        }
    }
}
