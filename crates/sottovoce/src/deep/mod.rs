//! A net learned together, from experiment to report.
//!
//! | file | what |
//! | --- | --- |
//! | `ready.rs` | images read or drawn, dealt out, noise calibrated: what every command begins with |
//! | `run.rs` | the run, and what came of it |
//! | `account.rs` | what a run reveals, planned or past |
//! | `membership.rs` | attacks: is an image among those that were learned from? |
//! | `checkpoint.rs` | a run as bytes, to go on from |
//! | `words.rs` | the same in sentences |
//! | `page.rs` | the report |

mod account;
mod checkpoint;
mod membership;
mod page;
mod ready;
mod run;
mod words;

pub(crate) use account::reveal;
pub use account::{Lost, Revealed, account};
pub use membership::{Attacked, Images, MEMBERSHIP, Membership, MembershipFound, attack, membership};
pub use ready::Ready;
pub use run::{Agent, Found};
pub use sottovoce_engine::deep::{Gradients, Point, Run, SideBySide};
pub use sottovoce_simulator::consensus::Trainer;
pub(crate) use words::called;
