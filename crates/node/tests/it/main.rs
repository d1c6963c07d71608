//! Integration tests of this crate, one module for each subject.
#![allow(clippy::unwrap_used)]

mod agreed;
mod canaries;
mod common;
mod crashes;
mod deep;
mod descents;
mod kills;
mod loopback;
mod mutations;
mod namespaces;
mod page_browser;
mod personal;
mod programs;
mod refusals;
mod rogues;
mod rumors;
mod transcripts;
mod walks;
