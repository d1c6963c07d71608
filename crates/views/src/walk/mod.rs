//! Tokens that walk: how much a peer learns about another's contributions when it sees the token again.
//!
//! A token goes from peer to peer along a random walk with transitions `W`; every holder adds its contribution and fresh noise. Losses
//! are in units of `alpha / (2 sigma²)` Rényi loss of order `alpha`.
//!
//! ```text
//! a path     ──► gaps between the observer's visits ──► trajectory, odometer     what this run reveals
//! W, steps   ──► random paths ──► trajectories ──► expected                      what a run will reveal, with a confidence
//! ```
//!
//! | file | what | standing |
//! | --- | --- | --- |
//! | `trajectory`, `odometer`, `gap`, `tokens` | what one *path* of the token reveals, exactly (linear losses) or as a bound (convex losses) | given its assumptions, proven |
//! | `expected`, `bounds`, `moments`, `random` | the Rényi loss over random paths, from simulated ones | the same, with a stated confidence |
//! | `average` | the same where the token is an average: exactly, whatever the steps | proven |
//! | `error` | how far such an average is from the mean, over all paths | exact |
//! | `ergodic` | which walks forget where they began | |
//!
//! Statements, proofs and counterexamples: `docs/theorems/random-walks.md`.

mod average;
mod bounds;
mod ergodic;
mod error;
mod expected;
mod gap;
mod moments;
mod odometer;
mod random;
mod tokens;
mod trajectory;

pub use average::Average;
pub use bounds::{AtOrder, Bounds, Expected, Sampling};
pub use ergodic::require_ergodic;
pub use error::{Mean, squared_error};
pub use expected::{ExpectedSetup, Start};
pub use odometer::Odometer;
pub use sottovoce_protocol::walk::Visit;
pub use tokens::{along, along_averages, contributions};
pub use trajectory::{Trajectory, trajectory};
