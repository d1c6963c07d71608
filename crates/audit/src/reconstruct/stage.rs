//! The very same peers on numbers, over a perfect network, with somebody listening.

use sottovoce_protocol::Peer;
use sottovoce_protocol::averaging::{Message, Noising, Plan, listen};
use sottovoce_protocol::public::{AveragingPeer, Cancelling, Part, Scheme};
use sottovoce_simulator::paired::Paired;
use sottovoce_views::door::Setting;

use super::Result;

type Numbers = Vec<f64>;

/// Everything that is the same in all runs, worked out once.
pub(super) struct Stage {
    scheme: Scheme,
    cancelling: Option<Cancelling>,
    parts: Vec<Part>,
    gamma: Option<f64>,
    noising: Noising,
}

impl Stage {
    pub(super) fn new(setting: &Setting, noising: Noising) -> Result<Self> {
        let Setting { scheme, cancelling, .. } = setting.clone();
        Ok(Self { parts: scheme.parts()?, gamma: scheme.gamma()?, scheme, cancelling, noising })
    }

    /// Number of rounds.
    pub(super) fn rounds(&self) -> usize {
        self.parts.first().map_or(0, Plan::rounds)
    }

    /// Runs all peers on these values and shows every message (sender, receiver, message) to `hear`; returns the results.
    ///
    /// Coordinates have independent noises: a vector of them is as many independent runs on numbers.
    pub(super) fn perform(
        &self,
        seed: u64,
        values: &[Numbers],
        hear: impl FnMut(Peer, Peer, &Message<Numbers>),
    ) -> Result<Vec<Numbers>> {
        let machine = |(part, value): (&Part, &Numbers)| {
            self.scheme.peer(value.clone(), part.clone(), self.noising, self.gamma)
        };
        let mut peers: Vec<AveragingPeer<Numbers>> = self.parts.iter().zip(values).map(machine).collect();
        let mut noises = Paired::all(seed, peers.len(), self.cancelling.as_ref());
        Ok(listen(&mut peers, &mut noises, hear)?)
    }
}
