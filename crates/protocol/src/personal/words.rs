//! What agents are told, send and note.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Overspent, Peer, Refusal};

/// What an agent is asked to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Command {
    /// Begin with everybody else, from the same public model.
    Begin,
    /// Join those who have begun: from the models of the neighbours who answer.
    Join,
}

/// What agents send each other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Message {
    /// Where the sender's model is now.
    Model {
        /// How many times it was moved; a later one counts.
        count: u64,
        /// Whether this is where it stays.
        done: bool,
        /// The model.
        model: Vec<f64>,
    },
    /// Where are you? From a newcomer.
    Hello,
}

/// What a message is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Label {
    /// A model, moved so many times.
    Model(u64),
    /// A question for it.
    Hello,
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Model(count) => write!(f, "a model after {count} updates"),
            Self::Hello => write!(f, "the question of a newcomer"),
        }
    }
}

/// The number of a wake-up: only the last one planned counts.
pub type Tick = u64;

/// What happened to an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Note {
    /// Her model was moved, so many times by now.
    Moved(u64),
    /// Her model stays where it is: as agreed, or because of her budget.
    Done {
        /// What the budget would not admit.
        overspent: Option<Overspent>,
    },
    /// Nothing could be hidden: there is no such noise, or nothing that is a number. She is done.
    Unhidden,
    /// A neighbour was silent too long and is left out.
    Left(Peer),
    /// A neighbour came, or came back.
    Came(Peer),
    /// A message was refused, and nothing of it was used.
    Refused {
        /// The sender.
        from: Peer,
        /// Why.
        reason: Refusal,
    },
}

/// What an agent is handed.
pub type Input = crate::Input<Command, Message, Tick, Vec<f64>>;

/// What an agent asks for.
pub type Output = crate::Output<Message, Tick, Note, Vec<f64>>;
