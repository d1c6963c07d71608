//! Integration tests of this crate, one module for each subject.
#![allow(clippy::unwrap_used)]

mod common;
mod documents;
mod papers;
mod reproduce;
mod reproduce_consensus;
mod reproduce_learning;
mod reproduce_random_walk;
mod reproduce_rumor;
