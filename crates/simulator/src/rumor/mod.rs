//! Drivers for rumours.
//!
//! | file | what |
//! | --- | --- |
//! | `bits` | sets of peers |
//! | `crowd` | millions of peers and tellings on sets of bits: the next active peer at random, or round by round |
//! | `run` | what the event driver needs for tellers: their dice, who learned when |
//! | `dice` | the randomness of both |
//!
//! Both decide on a telling by the same function, [`sottovoce_protocol::rumor::tell`]; a test drives state machines with the dice of a
//! crowd and sees the same tellings.

mod bits;
mod crowd;
mod dice;
mod run;

pub use crowd::{Crowd, Told};
pub use dice::Dice;
pub use run::{RumorOutcome, RumorRun, RumorTranscript, RumorWorld};

/// A telling that reached a curious peer.
///
/// In the model of the theorems (Assumption 2) observers know the senders in their order and nothing else; by whom it was heard and
/// when, only a stronger observer uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    /// Who told.
    pub sender: u32,
    /// Which curious peer was told.
    pub receiver: u32,
    /// How many tellings there had been, or rounds: a stronger observer's clock.
    pub time: u64,
}
