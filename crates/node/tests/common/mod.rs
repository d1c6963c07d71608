//! A disk that forgets, and peers who use it.

pub mod disk;
pub mod peers;
