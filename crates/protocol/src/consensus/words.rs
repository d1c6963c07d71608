//! What agents are told, send and note.

use serde::{Deserialize, Serialize};

use super::Said;
use crate::averaging::{Round, Start};
use crate::{Overspent, Peer, Refusal, Shared};

/// What agents send each other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// The round it belongs to, from 0.
    pub round: usize,
    /// What is said.
    pub said: Said,
}

/// What happened to an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Note {
    /// A neighbour was not heard in time, and is left out of the round.
    Missed {
        /// The round.
        round: usize,
        /// The silent neighbour.
        from: Peer,
    },
    /// The budget does not allow another draw: from here on she has no gradient, and goes on with what her neighbours say.
    Stopped(Overspent),
    /// Nothing could be hidden: there is no such noise, or nothing that is a number. She says nothing more.
    Unhidden,
    /// Her model is no longer made of numbers: the rates are too large. She says nothing more.
    Diverged {
        /// The iteration.
        round: usize,
    },
    /// A message was refused, and nothing of it was used.
    Refused {
        /// The sender.
        from: Peer,
        /// Why.
        reason: Refusal,
    },
    /// She is done, and her model is her result.
    Finished,
}

/// What an agent is handed.
pub type Input = crate::Input<Start, Message, Round, Shared>;

/// What an agent asks for.
pub type Output = crate::Output<Message, Round, Note, Shared>;
