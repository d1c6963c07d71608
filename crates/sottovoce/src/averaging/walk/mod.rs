//! Averaging by tokens that walk (random-walk averaging).
//!
//! ```text
//! Averaging ─► ReadyWalk ─► the walkers' machines on a network with faults ─► transcript: the path of every copy ─► losses, guarantees
//!                                                     └─► last values / their public mass ─► estimate, beside the predicted error
//! ```
//!
//! A token's holder makes it `(1 - gamma) x + gamma r (y + noise)`: with `gamma = 1/t` the mean of what was contributed. Where a long walk is not everywhere
//! equally often, contributions are worth `r`, the share a peer ought to have over the share it has. Tokens that get lost are sent again; what two copies show is
//! counted. Statements: `docs/theorems/random-walks.md`, Theorems 5 and 6.

mod reveal;
mod run;

pub use reveal::{Public, WalkRevealed, reveal};
pub use run::{Walked, account, run};
pub(crate) use run::{calibrated, happens, outcome};
