//! Integration tests of this crate, one module for each subject.
#![allow(clippy::unwrap_used)]

mod deep;
mod weighted_output;
