//! Integration tests of this crate, one module for each subject.
#![allow(clippy::unwrap_used)]

mod coverage;
mod mechanisms;
mod reconstruct;
mod reference;
