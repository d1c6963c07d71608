//! Tokens that walk: how much a peer learns about another's contribution when it sees the token again.
//!
//! A token goes from peer to peer along a random walk with transitions `W`; every holder adds its contribution and fresh noise. Losses
//! are in units of `alpha / (2 sigma²)` Rényi loss of order `alpha`.
//!
//! | file | what | standing |
//! | --- | --- | --- |
//! | `trajectory` | what one *path* of the token reveals, exactly (linear losses) or as a bound (convex losses) | given its assumptions, proven |
//! | `sums` | the printed sums over all paths, `Σ_i W^i / i`, and the matrix logarithm that replaces them | refuted in general |

mod chebyshev;
mod sums;
mod trajectory;

pub use sums::{negative_log, power_sums};
pub use trajectory::{Trajectory, trajectory};
