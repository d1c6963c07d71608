//! Driver 2: a real peer. The same machines as in a simulation, behind a ledger that cannot overspend.
//!
//! ```text
//!            frame                input                 outputs
//!   network ───────► Host::hear ────────► Machine::handle ────────► one transaction: state, what is to be sent, releases, prices, chain
//!      ▲                                                                   │ durable, or nothing
//!      └───────────────────────────── dues: send, wait, compute ◄──────────┘
//! ```
//!
//! **The contract.** Nothing of a step leaves before its transaction is durable. A message has a number with each of its receivers, and is said under it in one way, however
//! often; what a protocol says again under a new number is a message of its own. An answer says that a message is durable with its receiver. A price is debited before
//! the first release that it pays for, towards everybody for whom a budget is declared (someone who sees every message among them), and is never given back. Noise is drawn from the
//! operating system, on a grid, once for every number of a draw; after a crash none is drawn again for what was stored, and what was not stored never left. Who cannot commit sends
//! nothing more.
//!
//! **Who remembers.** Every step is a record in a chain of hashes, signed. Messages carry the mark of the step that says them: a salted hash, signed, that tells nothing else.
//! Neighbours keep the last mark of each run and show it when they meet again, and before all of them have, nothing is released and nothing is taken up: a peer whose ledger does not hold what
//! others have seen of it (a backup, a clone) sends nothing, then and ever after ([`Error::Doubted`]). A neighbour who hears one message in two ways says so.
//!
//! **What is not found.** A copy whose steps no neighbour of the present run has seen: two clones that begin at the same time with different neighbours, a backup among strangers, neighbours
//! who lost their own ledgers or lie. Data that is given another label after it was changed. A new key begins a new ledger; who makes one for old data must know what was spent, and say so ([`Spending`]).
//!
//! | file | what |
//! | --- | --- |
//! | `agreement.rs` | what peers agree on, hash and sign |
//! | `averaging.rs`, `descent.rs`, `walk.rs`, `rumor.rs`, `personal.rs`, `deep.rs` | from it to a peer and what it costs: one file a protocol |
//! | `place.rs` | a node's folder: key, ledger, what it holds |
//! | `host.rs` | one machine and its ledger: frames in, dues out; no network, no clock |
//! | `ledger.rs`, `splice.rs`, `book.rs`, `account.rs` | what is stored; what a run may still release; what each observer has cost |
//! | `chain.rs`, `identity.rs` | records and who signs them |
//! | `frame.rs` | what goes over a wire |
//! | `noise.rs` | exact noise on the grid, drawn ahead |
//! | `part.rs`, `company.rs` | the seam between what was agreed on and whatever drives a peer; who takes part, and what everybody costs |
//! | `holding.rs`, `gradients.rs`, `suggested.rs`, `program.rs` | what a peer brings along; gradients of it; what a function or a program suggests |
//! | `bounded.rs`, `price.rs` | private vectors, shortened and rounded; what they cost |
//! | `drive.rs` | runs one peer to its end: events in, frames out, alarms; no network |
//! | `network/` | the network: an endpoint that dials neighbours by their keys |
//! | `run.rs` | from a folder and a signed agreement to a run and its end |
//! | `transcript/` | a peer's record of a run as a file, and how it is judged |
//! | `recording.rs`, `replay.rs` | what noise made of values, if its user asks for it; the run once more in the simulator |
//! | `spent.rs` | what was spent under another key |
//! | `status.rs` | how a peer stands, for whoever looks |
//! | `probe.rs` | every decoder, for bytes that anybody may have written |
//! | `page/` | the same as a page and as metrics, for this machine only |
//! | `memory.rs` | peers in one process, for tests and rehearsals |

mod account;
mod agreement;
pub mod averaging;
mod book;
mod bounded;
mod bulletin;
mod chain;
mod company;
pub mod deep;
pub mod descent;
pub mod drive;
mod error;
mod frame;
mod gradients;
mod hash;
mod holding;
mod host;
mod identity;
mod ledger;
pub mod memory;
pub mod network;
mod noise;
pub mod page;
mod part;
pub mod personal;
mod place;
mod price;
pub mod probe;
mod program;
mod quiet;
mod recording;
mod replay;
pub mod rumor;
mod run;
mod spent;
mod splice;
mod status;
mod suggested;
pub mod transcript;
pub mod walk;

pub use account::{Allowed, Cost, Observer, Price};
pub use agreement::{Agreement, Edges, Member};
pub use bulletin::{Cause, Notice, Says};
pub use chain::{Head, Link, Mark, Receipt, Record, Shown, Signed};
pub use error::{Error, Result};
pub use frame::{Frame, Hello, Parcel, VERSION, Vouched};
pub use hash::Hash;
pub use host::{Due, DueOf, Host, Terms};
pub use identity::{Key, Name, guard_memory};
pub use ledger::{Before, Ledger, Standing};
pub use noise::{Hiding, OnGrid, OnRing};
pub use part::{Course, Forecast, Holding, HostOf, Opened, Part, Priced, Role, Stands, Steps, ValueOf};
pub use place::{Budgets, Config, Place, Signatures, write_private};
pub use recording::{Recorder, Recording};
pub use replay::replay;
pub use run::{Bill, Hand, Options, Ready, check, run, run_by};
pub use spent::{Exact, Set, Spending};
pub use status::{Board, Neighbour, Phase, Spent, Status};
pub use suggested::{Function, Shared as SharedFunction};
