//! What experiments are made of: ways to learn together, run step by step and accounted for, and planners that choose among protocols.
//!
//! ```text
//! learning, simulator, views, audit ──► learning: methods, sessions, calibration, checkpoints ─┐
//!                                  ├──► deep: nets learned from images by consensus ─────────────────────────────────────┤
//!                                  ├──► personal: models of one's own, their joint optimum and what one gets without it ──┤
//!                                  └──► plan: the protocol, noise and steps for a target ───────┴──► sottovoce: experiments, commands
//! ```
//!
//! It knows tasks, graphs and targets; it reads no experiment and no command line.

pub mod deep;
mod error;
pub mod learning;
pub mod names;
pub mod origin;
pub mod personal;
pub mod plan;
pub mod terms;

pub use error::{Error, Result, require};

/// Said beside every guarantee that comes with a simulated run.
pub const SIMULATED: &str = "These guarantees are the protocol's. This run is a simulation: its noise follows from its seed, which is public, so its own output \
                             hides nothing.";
