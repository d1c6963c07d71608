//! Learning together: a task dealt out to peers, a way to learn it, the noise for a target, and a run that can be stopped and continued.
//!
//! ```text
//! Task (data, model, clipping) ─┐
//! Method (gossip, butterfly, walk, local, central) ─┼─► UnitLosses ─► sigma (calibrate) ─► Session: step by step, gated by the budget
//! Mixing (graph) ───────────────┘                                                             │
//!                                                                            guarantees, with their standing
//! ```
//!
//! * [`data`]: rows prepared one by one from public [`bounds`]; [`task`]: what is learned; [`method`]: how, and in which scheme; [`losses`]: what each way reveals, as published and truly;
//! * [`calibrate`]: noise for a target; [`session`]: one run, step by step; [`path`]: where a token goes; [`mod@run`]: the whole, with checkpoints;
//!   [`plan`]: which way is best; [`trivial`] and [`spread`]: what an accuracy is to be held against, and how it varies.
//!
//! Guarantees speak of replacing one user's data (`docs/theorems/preparing-data.md`): how many rows there are and who holds them is public.

pub mod calibrate;
pub mod losses;
pub mod method;
pub mod path;
pub mod plan;
pub mod report;
pub mod run;
pub mod session;

pub use calibrate::{Against, Target};
pub use losses::{Summary, UnitLosses};
pub use method::Method;
pub use run::{Checkpoint, Promise, Run};
pub use session::{Session, Settings, State};
pub use sottovoce_learning::{Batch, Bounds, Data, Measures, Origin, Spread, Task, Trivial};
