//! A disk that forgets, and peers who use it.

// Every file of tests uses a part of it.
#![allow(dead_code)]

pub(crate) mod averaging;
pub(crate) mod canary;
pub(crate) mod disk;
pub(crate) mod forwarder;
pub(crate) mod life;
pub(crate) mod parts;
pub(crate) mod peers;
pub(crate) mod real;
pub(crate) mod sites;
pub(crate) mod village;

use std::path::PathBuf;

/// The program that tests start: `examples/child`, which `cargo test` builds beside the tests.
pub(crate) fn child() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let path = tests.ancestors().nth(2).unwrap().join("examples/child");
    assert!(
        path.exists(),
        "{} is missing: build it by `cargo build --release --workspace --example child`",
        path.display()
    );
    path
}
