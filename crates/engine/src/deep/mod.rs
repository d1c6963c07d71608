//! Nets that agents learn together from images that stay where they are: by consensus, at a centre, or everybody alone.
//!
//! ```text
//! images ──► Holdings: who holds which        Amount: noise for a target, for each agent from her own number of rows
//!                 └──────────► Setting ──► Run: rounds, measured now and then ──► Outcome
//! ```
//!
//! | file | what |
//! | --- | --- |
//! | `holdings.rs` | who learns from which images, and what models are judged on |
//! | `hiding.rs` | the noise of each agent, and how often each may draw |
//! | `gradients.rs` | clipped gradients of lots |
//! | `run.rs` | rounds, curves, checkpoints |
//!
//! What is measured (losses, accuracies, distances) is computed without privacy, for whoever simulates. What agents say is hidden, and accounted for by
//! `views::door` (`docs/theorems/consensus-descent.md`).

mod gradients;
mod hiding;
mod holdings;
mod run;

pub use gradients::Gradients;
pub use hiding::{Amount, check, draws, hidden};
pub use holdings::Holdings;
pub use run::{Checkpoint, Outcome, POINTS, Point, Run, Setting};
