//! Drivers for the protocols. They run peers, and contain no protocol of their own.
//!
//! | driver | for |
//! | --- | --- |
//! | [`events`] | peers in virtual time on a faulty network, with [`invariants`] checked at every step |
//! | [`bulk`] | a million peers on a perfect network, the same numbers bit for bit, at the speed of memory |
//! | [`trace`] | the same peers on coefficients: what every message is made of, for the accountant |
//!
//! [`descent`] is averaging with a gradient step before each. [`rumor`] and [`walk`] have drivers of their own, since rumours and tokens are
//! no values to be averaged. [`happened`] says what peers really did in a run with faults. [`averaging`] sets up the peers of an averaging run. Everything is a function of its arguments and the seed.

pub mod averaging;
pub mod bias;
pub mod bulk;
pub mod descent;
mod error;
pub mod events;
pub mod happened;
mod hull;
pub mod invariants;
mod mass;
pub mod network;
pub mod noise;
pub mod outcome;
mod presence;
mod queue;
pub mod record;
pub mod rumor;
mod tiles;
pub mod trace;
pub mod walk;

pub use error::{Error, Result};
pub use mass::MassConserved;
