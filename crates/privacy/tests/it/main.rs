//! Integration tests of this crate, one module for each subject.
#![allow(clippy::unwrap_used)]

mod comparisons;
mod composition;
mod corners;
mod events;
mod properties;
mod reference;
mod slow;
mod truth;
