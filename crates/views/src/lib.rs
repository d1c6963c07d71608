//! What peers overhear: how much of each peer's value every other peer, or a coalition, learns from an averaging protocol.
//!
//! ```text
//! who heard what (graph, schedule, traced messages) ──► view: a linear map of Gaussian noises
//!                                                          │
//!                                                          ▼
//!                                      loss f(u) in [0, 1], in units of local DP:  mu² = f Delta² / sigma²
//! ```
//!
//! Everything an observer hears is linear in independent Gaussians, so what it learns about peer `u` is exactly a *leverage*:
//! the squared length of the projection of `u`'s variable onto the span of the messages (`docs/theorems/linear-views.md`).
//! `f = 1` is no protection beyond the peer's own noise, and the mean over all peers is `rank / n`.
//!
//! * [`door`]: where everyone asks: what does this adversary learn from that run?
//! * [`trace`]: what messages are made of, from the protocols' own code on coefficients;
//! * [`exact`]: that number, for fixed weights, for schedules, with relay noise, for any coalition;
//! * [`cancelling`]: the same where pairs of peers add noise that cancels;
//! * [`ring`]: what is learnt where masks on a ring cancel: sums of groups;
//! * [`descent`]: the same over all steps of a descent with an averaging after each;
//! * [`utility`]: how far the result is from the mean.
//!
//! Formulas as papers print them, which are no bounds, are not here: the crate `papers` has them, and what refutes them.

mod basis;
pub mod cancelling;
pub mod descent;
pub mod door;
mod error;
pub mod exact;
pub mod grid;
pub mod parallel;
mod powers;
pub mod ring;
pub mod rumor;
mod span;
pub mod trace;
pub mod utility;
pub mod walk;

use error::check_observers;
pub(crate) use error::require;
pub use error::{Error, Result};
