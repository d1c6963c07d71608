//! Personalised models: everyone learns a model of her own, drawn towards those of similar agents.
//!
//! Agents minimise `1/2 sum_{i<j} W_ij |T_i - T_j|² + mu sum_i D_ii c_i L_i(T_i)` together, each her own block: an agent wakes by a Poisson clock, moves
//! her model towards her neighbours' and against the gradient of her own rows, hidden under noise, and tells her neighbours where it is now
//! ([`Agent`]). One update is one function ([`update`]), for the machine and for drivers without messages.
//!
//! | file | what |
//! | --- | --- |
//! | `update.rs` | the mathematics of one wake-up |
//! | `plan.rs` | what an agent has agreed to do, and under which noise |
//! | `agent.rs` | the machine: clocks, messages, who is there and who is not |
//! | `words.rs` | what agents are told, send and note |

mod agent;
mod plan;
mod update;
mod words;

pub use agent::{Agent, State};
pub use plan::{Hidden, Plan, Warm};
pub use update::{Rule, pulled, update};
pub use words::{Command, Input, Label, Message, Note, Output, Tick};
