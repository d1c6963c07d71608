//! Drivers for the protocols. They run peers, and contain no protocol of their own.
//!
//! | driver | for |
//! | --- | --- |
//! | [`driver`] | any machine in virtual time on a faulty network, with [`invariants`] checked at every step |
//! | [`bulk`] | a million peers on a perfect network, the same numbers bit for bit, at the speed of memory |
//!
//! [`averaging`], [`descent`], [`walk`], [`rumor`], [`personal`] and [`consensus`] set up the peers of a run and are the protocols' worlds for the first; they also have the fast drivers
//! of large runs on perfect networks. [`ring`] runs sums under masks that cancel. Everything is a function of its arguments
//! and the seed.

pub mod averaging;
pub mod bias;
mod budget;
pub mod bulk;
pub mod consensus;
pub mod descent;
pub mod driver;
mod ear;
mod hull;
pub mod invariants;
mod mass;
pub mod network;
pub mod noise;
pub mod outcome;
pub mod paired;
pub mod personal;
mod presence;
mod queue;
pub mod record;
pub mod ring;
pub mod rumor;
mod tiles;
pub mod walk;

pub use budget::Allowance;
pub use mass::MassConserved;

use sottovoce_protocol::{Error, Result, require};
