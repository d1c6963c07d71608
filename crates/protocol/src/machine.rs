//! The narrow waist between a protocol and whatever drives it: one trait, for every protocol and every driver.
//!
//! ```text
//!              Input: command, message, timer, computed value
//!   driver ─────────────────────────────────────────────────────►  machine
//!          ◄─────────────────────────────────────────────────────
//!              Output: release, send, wait, compute, note
//! ```
//!
//! **The driver's part.** It hands in one [`Input`], then drains [`Machine::poll`] and does what it is asked, in order. It lends the machine its
//! [`Means`]: random bits, the budget, noise. Whatever it has drained and not yet done is its own to keep: a state holds only what was
//! not drained.
//!
//! **The machine's part.** It reads no clock, starts no task, draws no entropy of its own, knows its neighbours and never the graph. It
//! computes nothing private by itself: a gradient step leaves as [`Output::Compute`] and comes back as [`Input::Computed`], so that a machine can
//! be stored in between, and the work be done elsewhere. Where something private is released the order is: compute, admit, cover,
//! send. It refuses strangers and impossible steps, and bounds everything that others can make it keep.

use std::borrow::Cow;
use std::fmt::{Debug, Display};
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::{Means, Release, Value};

/// The number of a peer.
pub type Peer = usize;

/// What can be stored, sent and compared.
pub trait Data: Clone + Debug + PartialEq + Serialize + DeserializeOwned {}

impl<T: Clone + Debug + PartialEq + Serialize + DeserializeOwned> Data for T {}

/// A peer's state machine.
pub trait Machine {
    /// What is hidden under noise.
    type Value: Value;
    /// What its user asks of it.
    type Command: Data;
    /// What peers send each other.
    type Message: Data;
    /// What a timer is for.
    type Timer: Data;
    /// What a message is called in a [`Transcript`](crate::Transcript): everything but its values.
    type Label: Data + Display;
    /// What happened, for whoever watches. Never a value: results are read from the machine.
    type Note: Data;
    /// All that must survive a crash.
    type State: Data;

    /// Takes an input. Outputs wait to be drained by [`Self::poll`].
    fn handle(&mut self, input: InputOf<Self>, means: &mut dyn Means<Self::Value>);

    /// The next output, in the order they arose.
    fn poll(&mut self) -> Option<OutputOf<Self>>;

    /// What a message is called in a transcript.
    fn label(message: &Self::Message) -> Self::Label;

    /// Where it stands.
    fn state(&self) -> Self::State;

    /// The same for who only looks: large values need not be copied where the machine has its state as such.
    fn stands(&self) -> Cow<'_, Self::State> {
        Cow::Owned(self.state())
    }

    /// Goes on from where a machine of the same making stood. A state that does not fit is refused, and changes nothing.
    fn resume(&mut self, state: Self::State) -> Result<(), Mismatch>;
}

/// The inputs of a machine.
pub type InputOf<M> =
    Input<<M as Machine>::Command, <M as Machine>::Message, <M as Machine>::Timer, <M as Machine>::Value>;

/// The outputs of a machine.
pub type OutputOf<M> =
    Output<<M as Machine>::Message, <M as Machine>::Timer, <M as Machine>::Note, <M as Machine>::Value>;

/// What a driver hands to a machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Input<C, M, T, V> {
    /// The user asks for something.
    Command(C),
    /// A message has arrived. Networks may repeat and reorder messages.
    Message {
        /// Its sender, as the network vouches for it.
        from: Peer,
        /// The message; those who received the same one share it.
        message: Arc<M>,
    },
    /// The time asked for by [`Output::Wait`] has passed.
    Timer(T),
    /// What [`Output::Compute`] asked for.
    Computed {
        /// The ticket of the question.
        ticket: u64,
        /// The answer.
        value: V,
    },
}

impl<C, M, T, V> Input<C, M, T, V> {
    /// A message from a peer.
    pub fn heard(from: Peer, message: M) -> Self {
        Self::Message { from, message: Arc::new(message) }
    }
}

/// What a machine asks of its driver.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Output<M, T, N, V> {
    /// Something private was released under noise: once per private value, before the first message that depends on it.
    Release(Release),
    /// Send a message. It is one message, however many receive it.
    Send {
        /// To whom, in this order.
        to: Vec<Peer>,
        /// What.
        message: M,
    },
    /// Hand the timer back when the time has passed. A driver without clocks may ignore it as long as every message arrives.
    Wait {
        /// The timer.
        timer: T,
        /// How long.
        span: Span,
    },
    /// Make the private step of an iteration, and hand the moved value back.
    Compute {
        /// Names the question.
        ticket: u64,
        /// Which of the peer's private steps.
        iteration: usize,
        /// The step size, where the protocol sets it (1 where the driver does).
        size: f64,
        /// From where.
        value: V,
    },
    /// Something happened.
    Note(N),
}

/// How long a peer waits, in units that its driver maps to time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Span {
    /// As long as an answer may take.
    Answer,
    /// To the end of a round, counted from the start of the run, and as long as an answer may take at the least.
    Round(usize),
    /// So many periods: rounds, or mean times between two events of a clock.
    Periods(f64),
}

/// Why a message was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "kebab-case")]
pub enum Refusal {
    /// Not a number, or infinite: it must not spread.
    #[error("the value is not finite")]
    NotFinite,
    /// Beyond the range that was agreed on beforehand.
    #[error("the value is beyond the range that was agreed on")]
    Range,
    /// The vector or the text has another length.
    #[error("the value has another length than was agreed on")]
    Shape,
    /// The sender is no neighbour, or not in that round.
    #[error("the sender is no neighbour")]
    Stranger,
    /// It was heard before, or its round is over.
    #[error("a repeated or late message")]
    Late,
    /// Too many messages for later rounds, or too many rumours.
    #[error("too many messages to keep")]
    Flood,
    /// No peer who follows the protocol sends it: a step beyond the course, a token that was never launched.
    #[error("a step that nobody makes")]
    Impossible,
}

/// A state that belongs to another machine. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{field}` is {value}: the state belongs to another run; begin anew")]
pub struct Mismatch {
    /// Which part of the state.
    pub field: &'static str,
    /// What it says.
    pub value: String,
}

impl Mismatch {
    /// A part of a state that does not fit.
    pub fn new(field: &'static str, value: impl Display) -> Self {
        Self { field, value: value.to_string() }
    }
}
