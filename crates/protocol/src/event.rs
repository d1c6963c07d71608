//! The narrow waist between a protocol and whatever drives it.

use crate::{Overspent, Release};

/// The number of a peer.
pub type Peer = usize;

/// What one peer tells another: its value in a round.
#[derive(Debug, Clone, PartialEq)]
pub struct Message<V> {
    /// The round it belongs to, from 0.
    pub round: usize,
    /// The value.
    pub value: V,
}

/// What a driver hands to a peer.
#[derive(Debug, Clone, PartialEq)]
pub enum Input<V> {
    /// Begin.
    Start,
    /// A message has arrived. Networks may repeat and reorder messages.
    Message {
        /// Its sender, as the network vouches for it.
        from: Peer,
        /// The message.
        message: Message<V>,
    },
    /// The timer set for `round` has run out: whoever has not been heard by now is not waited for.
    Timeout {
        /// The round.
        round: usize,
    },
}

/// What a peer asks of its driver.
#[derive(Debug, Clone, PartialEq)]
pub enum Output<V> {
    /// Something new was released under noise (once per private value, before the first message that depends on it).
    Release(Release),
    /// Send a message.
    Send {
        /// To whom.
        to: Peer,
        /// What.
        message: Message<V>,
    },
    /// Start a timer for `round`; a driver without clocks may ignore it as long as every message arrives.
    Timer {
        /// The round.
        round: usize,
    },
    /// A neighbour was not heard in time in lenient rounds; its weight went to the peer's own value.
    Missed {
        /// The round.
        round: usize,
        /// The silent neighbour.
        from: Peer,
        /// The weight that moved.
        weight: f64,
    },
    /// Somebody was not heard in time in strict rounds: the peer sends nothing more, and has no result.
    Silent {
        /// The round.
        round: usize,
        /// Who was not heard.
        missing: Vec<Peer>,
    },
    /// A message was refused, and nothing of it was used.
    Refused {
        /// The sender.
        from: Peer,
        /// Why.
        reason: Refusal,
    },
    /// The budget does not allow the release: nothing was sent, and nothing will be.
    Stopped(Overspent),
    /// The peer is done, and this is its result.
    Finished(V),
}

/// Why a message was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Not a number, or infinite: it must not spread.
    #[error("the value is not finite")]
    NotFinite,
    /// Beyond the range that was agreed on beforehand.
    #[error("the value is beyond the range that was agreed on")]
    Range,
    /// The vector has another length.
    #[error("the vector has another length than ours")]
    Shape,
    /// The sender does not mix with this peer in that round.
    #[error("the sender is no neighbour in that round")]
    Stranger,
    /// It was heard before, or its round is over.
    #[error("a repeated or late message")]
    Late,
    /// Too many messages for later rounds.
    #[error("too many messages for later rounds")]
    Flood,
}

/// Fresh noise, from whoever drives the peer.
pub trait Noise<V> {
    /// Independent noise of standard deviation `scale` in every coordinate of a value shaped `like` this one; `draw` numbers
    /// the draws of a peer: no two may share a number.
    fn draw(&mut self, draw: usize, scale: f64, like: &V) -> V;
}

/// A peer's state machine.
pub trait Protocol<V> {
    /// Takes an input. Outputs wait to be drained by [`Self::poll`].
    fn handle(&mut self, input: Input<V>, noise: &mut dyn Noise<V>);

    /// The next output, in the order they arose.
    fn poll(&mut self) -> Option<Output<V>>;

    /// The peer's present value.
    fn value(&self) -> &V;
}
