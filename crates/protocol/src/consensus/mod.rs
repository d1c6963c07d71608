//! Consensus learning: agents who each hold rows agree on one model, by private gradients and talk among neighbours (Bayrooti, Gao and Prorok 2023).
//!
//! ```text
//! round k:  send what I have to all neighbours        theta, and with DSGT the tracker y
//!           hear them                                  Learner::hear
//!           gradient of a lot, clipped: leaves, comes back, is admitted, is covered     once, with DiNNO once for each primal step
//!           step                                       Learner::step
//! ```
//!
//! | file | what |
//! | --- | --- |
//! | `plan.rs` | what everybody has agreed to do, and under which noise each agent's gradients leave |
//! | `dsgd.rs`, `dsgt.rs`, `dinno.rs` | one algorithm each: what is done with neighbours' words and with a gradient |
//! | `learner.rs` | any of the three, for the machine and for drivers without messages |
//! | `optimiser.rs` | plain steps, momentum, Adam |
//! | `draws.rs`, `band.rs` | how gradients are admitted, covered and counted; noise that is correlated over time |
//! | `agent.rs` | the machine: rounds, messages, releases |
//! | `words.rs` | what agents are told, send and note |
//!
//! An agent without neighbours learns alone; if she holds everybody's rows, she is the centre. Neither needs a file.
//!
//! **Privacy.** All that leaves an agent is computed from her noisy gradients and from what was public before. So whoever sees all messages loses about a row
//! what the composition of her draws loses, however many vectors a message has (`docs/theorems/consensus-descent.md`).

mod agent;
mod band;
mod dinno;
mod draws;
mod dsgd;
mod dsgt;
mod learner;
mod optimiser;
mod plan;
mod words;

pub use agent::{Agent, State};
pub use band::Band;
pub use draws::Draws;
pub use learner::{Learner, Said};
pub use optimiser::{Moments, Optimiser, Rule};
pub use plan::{At, Hidden, Method, Plan, Rates, loudness};
pub use words::{Input, Message, Note, Output};
