//! Pages for this machine only: what a node shows of itself (`page` in its configuration), and a folder of runs (`sottovoce serve`).
//!
//! ```text
//!   connection ──► Few: so many at once, none for ever ──► guard: only GET, only under a name of this machine ──► a page
//!                                                                 every answer: nothing kept, framed or guessed; scripts by hash
//! ```
//!
//! **Who can read it.** A loopback address is read by whoever has an account on this machine, and by nobody else. A request that names another host is refused, so that
//! a web site cannot reach it by a name that it lets point here. Nothing is written: there is only GET.

mod few;
mod guard;

pub use few::Few;
pub use guard::{Policy, guard};
