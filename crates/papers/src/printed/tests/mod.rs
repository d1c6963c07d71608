//! That formulas are what was printed, and that they are exceeded.

mod descent_published;
mod gossip_published;
mod sums;
mod walk_published;
