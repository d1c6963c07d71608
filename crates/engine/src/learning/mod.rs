//! Learning together: a task dealt out to peers, a way to learn it, the noise for a target, and a run that can be stopped and continued.
//!
//! ```text
//! Task (data, model, clipping) ─┐
//! Method (gossip, butterfly, walk, local, central) ─┼─► losses ─► sigma (calibrate) ─► Session: step by step, gated by the budget
//! Mixing (graph) ───────────────┘                                                             │
//!                                                                            guarantees, with their standing
//! ```
//!
//! * [`method`]: the ways to learn, one file each; [`engine`]: what a run of any of them is; [`losses`]: what is asked of them all; [`graphs`]: graphs
//!   that vary;
//! * [`calibrate`]: noise for a target; [`session`]: one run, step by step; [`weighted`]: a mean along it; [`path`]: where a token goes; [`mod@run`]: the whole, with checkpoints; [`transcript`]: what
//!   happened, without values, and what it revealed;
//! * [`job`]: from what a user asks for to what is reported; [`mod@account`]: what is revealed, planned or past; [`plan`]: which way is best;
//! * [`canary`]: an attack on runs.
//!
//! Guarantees speak of replacing one user's data (`docs/theorems/preparing-data.md`): how many rows there are and who holds them is public.

pub mod account;
pub mod calibrate;
pub mod canary;
pub mod engine;
pub mod graphs;
pub mod job;
mod learned;
pub mod losses;
pub mod method;
pub mod network;
pub mod path;
pub mod plan;
pub mod run;
pub mod session;
pub mod transcript;
pub mod weighted;

pub use calibrate::{Against, Promise, Target};
pub use job::{Choice, Job, Noise};
pub use learned::{Learned, STARRED};
pub use losses::Summary;
pub use method::{Gossip, Method, Walk};
pub use run::{Checkpoint, Run};
pub use session::{Session, Settings, State};
pub use sottovoce_learning::{Batch, Bounds, Data, Measures, Origin, Spread, Task, Trivial};
pub use sottovoce_views::cancelling::Secrets;
pub use transcript::Transcript;
