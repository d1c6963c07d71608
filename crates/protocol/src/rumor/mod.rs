//! Spreading news so that nobody can tell who began.
//!
//! Whoever knows a rumour and is *active* tells it, again and again, to a peer chosen at random, and after each telling stays active
//! only with probability `s`, the muting parameter; whoever is told becomes active (again). At `s = 1` this is the usual push, which
//! soon gives the source away; at `s = 0` the rumour walks from peer to peer and the source is as hidden as can be, but it takes long.
//!
//! The source does what everyone does: a special first step would betray it ([`Start::Delayed`] is kept as the proof of that).
//!
//! ```text
//!            ┌── told ──────────────────────────────┐
//!            ▼                                      │
//!   silent ──────► active ── tick: tell a peer ─────┤ stays active with probability s
//!            ▲                                      │
//!            └── else ──────────────────────────────┘
//! ```
//!
//! | file | what |
//! | --- | --- |
//! | `choice` | one telling: whom, and whether to stay active. Every driver of rumours uses this function |
//! | `teller` | a peer as a state machine: rumours by id, clocks, acknowledgements |
//! | `words` | what peers are told, send and note |

mod choice;
mod teller;
mod words;

#[cfg(test)]
pub(crate) use choice::tests;

pub use crate::Chance;
pub use choice::{BadMuting, Contacts, Muting, Telling, tell};
pub use teller::{LONGEST, MOST_RUMORS, REMEMBERED, State, Teller};
pub use words::{Begin, Clock, Id, Input, Label, Message, Note, Output, RumorRules, Start, Tick, Told};
