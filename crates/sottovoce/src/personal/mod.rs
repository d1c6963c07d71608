//! Personalised models from experiment to report: everyone learns her own, with help from similar agents.
//!
//! | file | what |
//! | --- | --- |
//! | `ready.rs` | files read, agents drawn, noise calibrated: what every command begins with |
//! | `run.rs` | the run, and what it is held against |
//! | `people.rs` | what came of it for each agent, and by how many rows she has |
//! | `account.rs` | what a plan would reveal, and how far its models would be from the best |
//! | `words.rs` | the same in sentences |
//! | `page.rs` | the report |

mod account;
mod page;
mod people;
mod ready;
mod run;
mod words;

pub use account::{Choice, Planned, Revealed, account, attack, choices, plan};
pub use page::{FILES, files};
pub use people::{BySize, Person};
pub use ready::Ready;
pub use run::{Found, Way, run};
pub use sottovoce_engine::personal::CanaryFound;
pub(crate) use words::statement;
