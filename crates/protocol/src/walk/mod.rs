//! Learning with a token that walks (private random-walk gradient descent; Cyffers, Bellet and Upadhyay 2024, Algorithm 1).
//!
//! ```text
//! the holder at step t:   x <- x - gamma_t (g(x) + N(0, Delta² sigma²))     g: the holder's gradient, clipped
//!                         next holder ~ its row of W                        itself included, where the row says so
//! ```
//!
//! | file | what |
//! | --- | --- |
//! | `host` | one visit: what is done to the token, and who holds it next. Every driver of walks uses this function |
//! | `walker` | a peer as a state machine: several tokens, acknowledgements, tokens that got lost |
//! | `words` | what peers are told, send and note |
//! | `transition` | a row of `W` to draw from |
//! | `path` | where a token went, as it is written down |
//!
//! **Contributions are capped** (Remark 5): a peer that has made its last contribution, or has no budget left for another, adds noise only, so that
//! a visit looks the same from outside. During **burn-in** holders pass the token on untouched, so that the first contributor is (nearly) anyone.
//!
//! **Privacy.** What an observer learns is a function of the token's path: `docs/theorems/random-walks.md`.

mod host;
mod path;
mod transition;
mod walker;
mod words;

pub use host::{Course, Gradient, Host, Markov, Steps, Tally, Visit};
pub use path::TokenPath;
pub use transition::Transition;
pub use walker::{State, Walker};
pub use words::{Epoch, Input, Label, Launch, Message, Note, Output, Patience, Sent, Timer, Token};
