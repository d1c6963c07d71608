//! Private peer-to-peer learning: the door for library users, and the command line.
//!
//! Everything a command prints is computed by a function of the crates re-exported here.

pub mod averaging;
pub mod deep;
pub mod experiment;
mod learn;
pub mod personal;
pub mod rumor;
pub mod spine;
pub mod training;
pub mod transcript;

pub use sottovoce_audit as audit;
pub use sottovoce_engine::{Error, Result, SIMULATED, learning, names, origin, plan, require, terms};
pub use sottovoce_learning as tasks;
pub use sottovoce_privacy as privacy;
pub use sottovoce_protocol as protocol;
pub use sottovoce_report as report;
pub use sottovoce_simulator as simulator;
pub use sottovoce_topology as topology;
pub use sottovoce_views as views;
