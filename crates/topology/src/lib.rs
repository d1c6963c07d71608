//! Graphs, mixing matrices, schedules and spectra for peer-to-peer protocols.
//!
//! A [`Graph`] is plain, immutable data: sorted compressed sparse rows of an undirected simple graph. Everything else
//! is a function of it: who mixes with whom and by how much ([`mixing`]), how that varies over time ([`schedule`]),
//! and how fast it converges ([`spectrum`]). Nothing here knows about privacy or protocols.

pub mod family;
pub mod io;

pub mod centrality;
mod connectivity;
mod error;
mod graph;
pub mod mixing;
pub mod paths;
pub mod schedule;
mod similarity;
pub mod spectrum;

pub use connectivity::Components;
pub(crate) use error::require;
pub use error::{Error, Result};
pub use graph::{Graph, GraphBuilder, MOST_NODES};
pub use similarity::Similarity;
