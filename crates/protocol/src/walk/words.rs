//! What peers of a walk are told, send and note.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Visit;
use crate::{Overspent, Peer, Refusal, Uncovered};

/// How often a token was rerouted, and by whom the last time: of two copies the greater is the valid one.
pub type Epoch = (usize, Peer);

/// How long a sender waits for an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// How often a token is sent to one peer.
    pub attempts: usize,
}

/// Be the first holder of a token.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Launch<V> {
    /// Which one.
    pub id: usize,
    /// The model to start from.
    pub value: V,
}

/// A token under way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Token<V> {
    /// Which one.
    pub id: usize,
    /// Which copy of it.
    pub epoch: Epoch,
    /// Holders so far.
    pub step: usize,
    /// The model.
    pub value: V,
}

impl<V> Token<V> {
    /// Which token, which copy and at which step.
    pub fn sent(&self) -> Sent {
        Sent { id: self.id, epoch: self.epoch, step: self.step }
    }
}

/// A token without its model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sent {
    /// Which one.
    pub id: usize,
    /// Which copy of it.
    pub epoch: Epoch,
    /// Holders so far.
    pub step: usize,
}

/// What peers send each other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Message<V> {
    /// A token.
    Token(Token<V>),
    /// It has arrived.
    Received(Sent),
}

/// What a message is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Label {
    /// A token.
    Token(Sent),
    /// The answer to one.
    Received(Sent),
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, Sent { id, step, .. }) = match self {
            Self::Token(sent) => ("", sent),
            Self::Received(sent) => ("the answer to ", sent),
        };
        write!(f, "{what}step {step} of token {id}")
    }
}

/// The wait for an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timer {
    /// The token.
    pub id: usize,
    /// The number of the timer: only a token's last one counts.
    pub number: u64,
}

/// What happened to a peer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Note {
    /// What was done to a token.
    Visited {
        /// The token, as it came.
        token: Sent,
        /// What was done.
        visit: Visit,
    },
    /// A peer did not answer, and the token went another way: there may be two copies from here on.
    Rerouted {
        /// The copy that was not answered for, and the step that both make next.
        token: Sent,
        /// The copy that takes the detour.
        detour: Epoch,
        /// Who did not answer.
        silent: Peer,
    },
    /// Nobody answers: the token stays here, and will be offered again.
    Stranded {
        /// The token.
        id: usize,
    },
    /// The budget forbids further contributions; from now on there is noise only.
    Stopped(Overspent),
    /// There was no noise for a token: it ends here.
    Uncovered(Uncovered),
    /// A message was refused, and nothing of it was used.
    Refused {
        /// The sender.
        from: Peer,
        /// Why.
        reason: Refusal,
    },
    /// A token has made its last step, and can be had from its holder.
    Finished(Sent),
}

/// What a peer of a walk is handed.
pub type Input<V> = crate::Input<Launch<V>, Message<V>, Timer, V>;

/// What a peer of a walk asks for.
pub type Output<V> = crate::Output<Message<V>, Timer, Note, V>;
