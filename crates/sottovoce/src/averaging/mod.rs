//! Private averaging, from an experiment to a report.
//!
//! ```text
//! Experiment ─► Ready ─► run: the machines on a network with faults ─► transcript ─► the accountant's door ─► guarantees
//!                  │                                                                          │
//!                  └─► losses on a grid of noises and steps, errors, an attack on the same values ─► page
//! ```
//!
//! * [`walk`]: the same by tokens that walk;
//! * `revealed.rs`: what is revealed, for flags, files and transcripts alike;
//! * `run.rs`: one experiment, run and judged; `pairs.rs`: losses of all pairs; `grid.rs`: what other noises and steps would give; `trade.rs`: what hiding from everyone would cost; `masked.rs`: sums under masks; `page.rs`: the report.

mod account;
mod grid;
mod masked;
mod page;
mod pairs;
mod revealed;
mod run;
mod trade;
pub mod walk;
mod words;

pub use account::{Judgeable, Public};
pub use masked::MaskedSums;
pub use pairs::Pairs;
pub use revealed::{Asked, Cancelled, Coalitions, Group, Revealed, reveal, told};
pub(crate) use run::happens;
pub use run::{Averaged, Coordinate, question, run};
pub use trade::Trade;
pub use words::STARRED;
