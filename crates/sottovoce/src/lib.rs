//! Private peer-to-peer learning: the door for library users, and the command line.
//!
//! Everything a command prints is computed by a function of the crates re-exported here.

pub mod averaging;
mod error;
pub mod experiment;
pub mod learning;
pub mod plan;

pub mod rumor;
pub mod terms;
pub mod transcript;

pub use error::{Error, Result, require};
pub use sottovoce_audit as audit;
pub use sottovoce_learning as tasks;
pub use sottovoce_privacy as privacy;
pub use sottovoce_protocol as protocol;
pub use sottovoce_report as report;
pub use sottovoce_simulator as simulator;
pub use sottovoce_topology as topology;
pub use sottovoce_views as views;

/// Said beside every guarantee that comes with a simulated run.
pub const SIMULATED: &str = "These guarantees are the protocol's. This run is a simulation: its noise follows from its seed, which is public, so its own output \
                             hides nothing.";
