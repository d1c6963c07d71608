//! Public descriptions of runs: who talks with whom, and how loud. From them the machines of all peers are made, and accounts are computed.
//!
//! | file | what |
//! | --- | --- |
//! | `scheme` | an averaging: graphs, schedules or a butterfly, and everybody's part in it |
//! | `rows` | from graphs and schedules to the rows that peers know |
//! | `pairs` | noise that cancels: who shares a secret with whom |
//! | `sums` | sums on a ring |
//! | `rumor` | who can tell whom, who listens |
//! | `check` | what users can get wrong about averaging |
//!
//! No machine reads them: graphs are named in this folder and nowhere else in this crate (a test).

pub mod check;
mod pairs;
mod rows;
mod rumor;
mod scheme;
mod sums;

pub use pairs::{Cancelling, LOUDEST};
pub use rumor::{Among, Curious, Rules, check_source};
pub use scheme::{AveragingPeer, Facts, Part, Scheme};
pub use sums::Sums;
