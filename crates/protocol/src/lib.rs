//! The protocols: what a peer does, and nothing else.
//!
//! A peer is a state machine. Whoever drives it hands it an [`Input`], then drains its [`Output`]s; time and randomness are
//! arguments. It does no input or output, reads no clock, starts no task, draws no entropy of its own, and knows its
//! neighbours but never the graph.
//!
//! ```text
//!            Input: start, message, timeout                 Output: send, timer, silent, refused, finished
//!  driver ──────────────────────────────────►  peer  ──────────────────────────────────────────────────►  driver
//!            Noise: fresh noise on demand
//! ```
//!
//! What a peer computes with is a [`Value`]: numbers in a simulation or on a network, and *coefficients* over the noises that
//! were drawn when the accountant wants to know what a message is made of. The code is the same: what is run is what is
//! accounted for.
//!
//! Every message passes the [`Gate`], which knows the budget: nothing leaves a peer before its release was admitted.

pub mod averaging;
mod chance;
mod event;
mod gate;
pub mod rumor;
mod value;
pub mod walk;

pub use chance::Chance;
pub use event::{Input, Message, Noise, Output, Peer, Protocol, Refusal};
pub use gate::{Gate, Overspent, Release};
pub use value::{Coefficients, Value};
