//! What peers who spread rumours are told, send and note.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::choice::Muting;
use crate::{Peer, Refusal};

/// The name of a rumour; two rumours of one name are one rumour.
pub type Id = u64;

/// When an active peer tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clock {
    /// Once in every round.
    Rounds,
    /// After exponential times of mean one: the next to tell is then any active peer, all equally likely.
    Poisson,
}

/// How the source begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// Like everyone who has just been told.
    Alike,
    /// It tells once and falls silent; only then the others begin. **Not private**: the source is the one who spoke once.
    Delayed,
}

/// How a peer spreads rumours.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RumorRules {
    /// Whether it stays active after a telling.
    pub muting: Muting,
    /// When it tells.
    pub clock: Clock,
    /// How it begins a rumour of its own.
    pub start: Start,
    /// Whether tellings are acknowledged and repeated.
    pub acknowledged: bool,
}

/// Spread this.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Begin {
    /// Its name.
    pub id: Id,
    /// Its text.
    pub payload: Vec<u8>,
}

/// A telling, without the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    /// The rumour.
    pub id: Id,
    /// A random name of this telling: a repetition has that of the first. (A count would say how often its sender has told.)
    pub number: u64,
    /// How many attempts went before; in an answer, before the first that arrived.
    pub attempt: u64,
}

/// What peers send each other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Message {
    /// A rumour.
    Tell {
        /// Which telling.
        told: Told,
        /// Its text.
        payload: Vec<u8>,
    },
    /// A telling has arrived.
    Heard(Told),
}

/// What a message is called: all that a wire-tapper sees of it but the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Label {
    /// A rumour is told.
    Tell(Told),
    /// The answer to a telling.
    Heard(Told),
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tell(told) => write!(f, "a telling of rumour {}", told.id),
            Self::Heard(told) => write!(f, "the answer to a telling of rumour {}", told.id),
        }
    }
}

/// When an active peer tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tick {
    /// The rumour.
    pub id: Id,
    /// The number of the tick: only a rumour's last one counts.
    pub tick: u64,
}

/// What happened to a peer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Note {
    /// A rumour is known from now on; its text can be had from the peer.
    Learned {
        /// Its name.
        id: Id,
    },
    /// A message was refused, and nothing of it was used.
    Refused {
        /// The sender.
        from: Peer,
        /// Why.
        reason: Refusal,
    },
}

/// What a peer who spreads rumours is handed.
pub type Input = crate::Input<Begin, Message, Tick, ()>;

/// What a peer who spreads rumours asks for.
pub type Output = crate::Output<Message, Tick, Note, ()>;
