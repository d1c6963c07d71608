//! Integration tests of this crate, one module for each subject.
#![allow(clippy::unwrap_used)]

mod adversarial;
mod cancelling;
mod descent_consensus;
mod descent_linear;
mod descent_reaction;
mod descent_reference;
/// Setups, networks and faults as the simulator's own tests have them.
#[path = "../../../simulator/tests/it/common/mod.rs"]
mod faulty;
mod malicious;
mod past;
mod reference;
mod replay;
mod rumor;
mod trace;
mod tracing;
mod walk_clipping;
mod walk_expected;
mod walk_odometer;
