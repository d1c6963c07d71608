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
//! | `own.rs` | the same where gradients come from outside |
//! | `side.rs` | many runs at once, by a graphics card |
//! | `canary.rs`, `planted.rs`, `heard.rs`, `adam.rs` | an attack in one run: canaries in place of an agent's rows, and what messages tell of them |
//! | `threshold.rs` | an attack by many runs: with one image and without it |
//! | `trials.rs` | bets by a threshold that is fixed beforehand |
//!
//! What is measured (losses, accuracies, distances) is computed without privacy, for whoever simulates. What agents say is hidden, and accounted for by
//! `views::door` (`docs/theorems/consensus-descent.md`).

mod adam;
mod canary;
mod gradients;
mod heard;
mod hiding;
mod holdings;
mod own;
mod planted;
mod run;
mod side;
mod threshold;
mod trials;

pub use canary::{CanariesFound, Closest, canaries, target};
pub use gradients::Gradients;
pub use hiding::{Amount, check, draws, hidden};
pub use holdings::Holdings;
pub use own::{Asking, Own, OwnRun};
pub use planted::{Mistake, Planted};
pub use run::{Checkpoint, Outcome, POINTS, Point, Run, Setting};
pub use side::SideBySide;
pub use threshold::{Histogram, ThresholdFound, threshold};
