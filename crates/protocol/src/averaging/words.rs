//! What peers of an averaging run are told, send and note.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Overspent, Peer, Refusal, Transcript, Uncovered};

/// The noises of an averaging run, and what they protect.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Noising {
    /// How far one person can move a peer's value.
    pub sensitivity: f64,
    /// `sigma`: standard deviation of the noise on the private value.
    pub local: f64,
    /// `tau`: standard deviation of the fresh noise on every message; 0 for none.
    pub relay: f64,
}

/// What a peer does when a neighbour was not heard in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Rounds {
    /// It sends nothing more and says so. Whatever is sent is then what was planned, or nothing, and what was accounted for holds of runs with
    /// faults, and against peers who deviate (`docs/theorems/malicious-peers.md`).
    #[default]
    Strict,
    /// It goes on without: the neighbour's weight goes to its own value, and later messages are other combinations than planned. Such
    /// a run must be traced as it happened, and promises nothing beforehand.
    Lenient,
}

/// The one command: begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Start;

/// A round, from 0: what a timer waits for, and what a message is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Round(pub usize);

impl fmt::Display for Round {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "round {}", self.0)
    }
}

/// What one peer tells another: its value in a round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message<V> {
    /// The round it belongs to, from 0.
    pub round: usize,
    /// The value.
    pub value: V,
}

/// What happened to a peer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Note {
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
    /// The budget does not allow the release. If it was the first, nothing was sent, and nothing will be; if not, the peer goes on mixing
    /// what it has.
    Stopped(Overspent),
    /// There was no noise for a value: the peer sends nothing more.
    Uncovered(Uncovered),
    /// The peer is done, and its value is its result.
    Finished,
}

/// What a peer of an averaging run is handed.
pub type Input<V> = crate::Input<Start, Message<V>, Round, V>;

/// What a peer of an averaging run asks for.
pub type Output<V> = crate::Output<Message<V>, Round, Note, V>;

/// The transcript of an averaging run.
pub type AveragingTranscript = Transcript<Round, Note>;
