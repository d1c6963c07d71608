//! Private averaging by gossip (Muffliato; Cyffers, Even, Bellet and Massoulié 2022), in rounds.
//!
//! ```text
//! x^0 = x + N(0, sigma²)                                   once, admitted by the budget
//! round t:   m^t = x^t + N(0, tau²)                        relay noise, if any: fresh, the same to all
//!            send m^t to those the row names
//!            x^(t+1) = own * m^t + Σ weight_w * m_w^t      summed in the order of peers, one's own first
//!            x^(t+1) = gamma * that + (1-gamma) * x^(t-1)  if accelerated, from the second round on
//! ```
//!
//! *Who* mixes with whom, and how, is a [`Plan`], one file per algorithm: [`Gossip`] over a fixed row, [`Varying`] rows from a
//! schedule (fresh graphs, single pairs), [`Butterfly`] for exact consensus, [`InTurn`] one after the other, [`Tree`] for sums along a tree; single pairs are accelerated by a
//! second value ([`Coupling`]). *What* is averaged
//! is a private value once ([`Averager::new`]), or a private gradient step before every averaging ([`Averager::descending`], Algorithm 3).
//!
//! **Privacy.** Towards someone who sees everything, the loss is that of the first noise: `mu = sensitivity / sigma`. Towards a
//! peer or a coalition it is that times the square root of a leverage, which the accountant computes from the very same code
//! (`docs/theorems/linear-views.md`).
//!
//! **When a peer vanishes.** Rounds are [*strict*](Rounds::Strict): whoever misses a neighbour sends nothing more, and says so. What peers
//! say is then what was planned, or nothing, and the planned losses hold (`docs/theorems/malicious-peers.md`).
//!
//! *Lenient* rounds go on: a neighbour that is not heard before the timeout is left out of that round, and its weight goes to the peer's own value.
//! Rows still sum to one, so values stay within the range of the first ones (without acceleration); the mean moves by at most
//! `weight * range / n` per miss, and every miss is reported. The one exception is a butterfly with guests, whose entry rows scale: a host
//! lost there takes its guest's share along. But later messages are other combinations than planned, which may reveal everything: a lenient run
//! with misses has the losses of what it really sent.

mod averager;
mod butterfly;
mod coupled;
mod descent;
mod gossip;
mod listen;
mod state;
mod tree;
mod varying;
mod words;

pub use averager::Averager;
pub use butterfly::Butterfly;
pub use coupled::Coupling;
pub use descent::InTurn;
pub use gossip::Gossip;
pub use listen::{Averages, listen};
pub use state::State;
pub use tree::Tree;
pub use varying::Varying;
pub use words::{AveragingTranscript, Input, Message, Noising, Note, Output, Round, Rounds, Start};

use crate::Peer;

/// What a peer does in one round.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Row {
    /// The weight of its own value.
    pub own: f64,
    /// Whom it hears, in increasing order, and with what weight.
    pub from: Vec<(Peer, f64)>,
    /// Whom it tells, in increasing order.
    pub to: Vec<Peer>,
}

impl Row {
    /// A row in which the peer keeps its value and nobody speaks.
    pub fn idle() -> Self {
        Self { own: 1.0, ..Self::default() }
    }

    /// A row in which everyone who is heard is told as well.
    pub fn mutual(own: f64, neighbours: impl IntoIterator<Item = (Peer, f64)>) -> Self {
        let from: Vec<(Peer, f64)> = neighbours.into_iter().collect();
        let to = from.iter().map(|&(peer, _)| peer).collect();
        Self { own, from, to }
    }
}

/// One peer's part in an averaging algorithm.
pub trait Plan {
    /// Number of rounds.
    fn rounds(&self) -> usize;

    /// The row of a round below [`Self::rounds`].
    fn row(&self, round: usize) -> &Row;

    /// Whether all rows together conserve the sum of all values in every round.
    fn conserves_mass(&self) -> bool {
        true
    }
}

impl Plan for Box<dyn Plan> {
    fn rounds(&self) -> usize {
        (**self).rounds()
    }

    fn row(&self, round: usize) -> &Row {
        (**self).row(round)
    }

    fn conserves_mass(&self) -> bool {
        (**self).conserves_mass()
    }
}
