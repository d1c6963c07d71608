//! The protocols: what a peer does, and nothing else.
//!
//! A peer is a [`Machine`]. Whoever drives it hands it an [`Input`], then drains its [`Output`]s; randomness, noise and the budget are lent to
//! it as [`Means`]. It does no input or output, reads no clock, starts no task, draws no entropy of its own, computes nothing that its driver could
//! not compute elsewhere, and knows its neighbours but never the graph.
//!
//! | module | machine |
//! | --- | --- |
//! | [`averaging`] | [`Averager`](averaging::Averager): a private value, or gradient steps, averaged in rounds |
//! | [`walk`] | [`Walker`](walk::Walker): tokens that learn on a random walk |
//! | [`personal`] | [`Agent`](personal::Agent): a model of her own, drawn towards those of similar agents |
//! | [`consensus`] | [`Agent`](consensus::Agent): one model for all, by private gradients and talk among neighbours |
//! | [`rumor`] | [`Teller`](rumor::Teller): news whose source is hidden |
//!
//! What a peer computes with is a [`Value`]: numbers (or many of them, [`Shared`]) in a simulation or on a network, and *coefficients* over the noises that
//! were drawn when the accountant wants to know what a message is made of. The code is the same: what is run is what is
//! accounted for. Under masks that cancel they are integers on a [`ring`].
//!
//! Descriptions of whole runs, by graphs, are [`public`]; machines never see them.
//!
//! Nothing private leaves a peer before its [`Release`] was admitted by the budget, which the driver keeps. What a machine stores, sends and notes are
//! serde types; a run is written down, without values, as a [`Transcript`].

pub mod averaging;
mod chance;
pub mod consensus;
mod error;
mod machine;
mod means;
pub mod personal;
pub mod public;
mod release;
pub mod ring;
pub mod rumor;
mod transcript;
mod value;
pub mod walk;

pub use chance::Chance;
pub use error::{Error, Result, require};
pub use machine::{Data, Input, InputOf, Machine, Mismatch, Output, OutputOf, Peer, Refusal, Span};
pub use means::{FAR, Means, Noise, Overspent, Uncovered, Withheld};
pub use release::{Law, Release};
pub use transcript::{Heard, Transcript};
pub use value::{Coefficients, Shared, Value};
