//! A disk that forgets, and peers who use it.

#![allow(clippy::unwrap_used)]
// Every file of tests uses a part of it.
#![allow(dead_code)]

pub(crate) mod averaging;
pub(crate) mod disk;
pub(crate) mod parts;
pub(crate) mod peers;
pub(crate) mod ports;
pub(crate) mod real;
pub(crate) mod village;
