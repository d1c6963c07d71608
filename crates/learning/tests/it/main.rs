//! Integration tests of this crate, one module for each subject.
#![allow(clippy::unwrap_used)]

mod clipping;
mod gradient;
mod houses;
mod images;
mod movielens;
mod net;
mod read;
mod splits;
mod table;
mod tensors;
