//! Integration tests of this crate, one module for each subject.
#![allow(clippy::unwrap_used)]

mod adversarial;
mod cancelling;
mod descent_consensus;
mod descent_linear;
mod descent_published;
mod descent_reaction;
mod descent_reference;
mod malicious;
mod past;
mod reference;
mod rumor;
mod tracing;
mod walk;
mod walk_clipping;
mod walk_expected;
mod walk_odometer;
mod walk_published;
