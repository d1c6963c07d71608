//! Integration tests of this crate, one module for each subject.
#![allow(clippy::unwrap_used)]

mod bulk;
mod cancelling;
mod common;
mod consensus;
mod coupled;
mod descent;
mod events;
mod invariants;
mod personal;
mod resume;
mod ring;
mod rumor;
mod strict;
mod toy;
mod walk;
