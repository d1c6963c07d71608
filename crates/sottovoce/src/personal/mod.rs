//! Personalised models from experiment to report: everyone learns her own, with help from similar agents.
//!
//! | file | what |
//! | --- | --- |
//! | `ready.rs` | files read, agents drawn, noise calibrated: what every command begins with |
//! | `run.rs` | the run, and what it is held against |
//! | `people.rs` | what came of it for each agent, and by how many rows she has |
//! | `account.rs` | what a run reveals, planned or past |
//! | `plan.rs` | which plan to take for a budget |
//! | `attack.rs` | someone who sees every message bets on a row |
//! | `losses.rs` | what everybody loses, at a delta that may be 0 |
//! | `words.rs` | the same in sentences |
//! | `page.rs` | the report |

mod account;
mod attack;
mod page;
mod people;
mod plan;
mod ready;
mod run;
mod words;

pub(crate) use account::reveal;
pub use account::{Reading, Revealed, account};
pub use attack::{Another, Attacked, attack, attacks};
pub use people::{BySize, Person};
pub use plan::{Choice, Planned, Suggestion, choices, plan};
pub use ready::Ready;
pub use run::{Found, Way, run};
pub use sottovoce_engine::personal::CanaryFound;
pub(crate) use words::promised_of;
