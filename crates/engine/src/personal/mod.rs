//! Personalised models as a problem: what agents minimise together, its exact solution, and what one gets without collaboration.
//!
//! ```text
//! learning::personal::Agents ─► Problem: Q, its gradients and constants ─┬─► optimum: what coordinate descent converges to
//!                                                                        ├─► admm: the same by another algorithm, to compare costs
//!                                                                        ├─► own: a block by itself, after the last release
//!                                                                        └─► Clipped: what the drivers of `simulator::personal` are given
//! Hiding: the noise of every update for a budget, and how many updates;   Canary: the attack on it
//! local, tuned, global: without collaboration, or with one model for all;   warm: a local model to be released
//! ```
//!
//! Nothing here adds noise: [`warm`] says how much it takes. What is computed without noise is what one holds a private run against.

mod admm;
mod baselines;
mod block;
mod canary;
mod clipped;
mod optimum;
mod private;
mod problem;
mod suggested;
mod warm;

pub use admm::Admm;
pub use baselines::{RIDGES, chosen, constant, global, home, local, tuned};
pub use block::{Block, Solved};
pub use canary::{Canary, CanaryFound};
pub use clipped::Clipped;
pub use optimum::{Optimum, optimum};
pub use private::{Amount, Budgets, Hiding, Hidings, WarmStart, own_factor};
pub use problem::{Problem, Terms};
pub use warm::{Warm, warm};
