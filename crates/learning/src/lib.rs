//! Learning tasks on dense data, as far as they do not know about peers talking to each other.
//!
//! ```text
//! read, houses, personal ──► Table ──► Shards (split) ──► Shard ──► Model::gradient(clip) ──► (noise and protocols: elsewhere)
//! ```
//!
//! A [`Table`] holds rows and labels, [`Shards`] deals them out to peers, and a [`Model`] is a loss whose gradients are clipped
//! **before** any noise is added. This crate adds none: it says how far a user's data can move what leaves here
//! ([`Model::sensitivity`]), and the privacy core says what noise makes of that. It knows no graph, no protocol and no budget.
//!
//! ```
//! use sottovoce_learning::{Clip, Loss, Model, Shards, Table};
//! let table = Table::new(vec![1.0, 0.5, -0.5, 1.0, 2.0, 0.0, -1.0, -1.0], 2, vec![1.0, -1.0, 1.0, -1.0])?;
//! let model = Model { loss: Loss::Logistic, width: table.width(), ridge: 0.01 };
//! model.check(&table)?;
//! let shards = Shards::even(&table, 2)?;
//! let mut gradient = vec![0.0; model.parameters()];
//! model.gradient(&[0.0, 0.0], shards.shard(1), Clip::Example(1.0), &mut gradient);
//! assert!(gradient.iter().map(|g| g * g).sum::<f64>() <= 1.0);
//! // That rows are at most 3 long is promised, and not read off them.
//! Model::require_radius(&table, 3.0)?;
//! assert_eq!(model.sensitivity(Clip::Example(1.0), 3.0)?, 2.0);
//! # Ok::<(), sottovoce_learning::Error>(())
//! ```

pub mod bounds;
pub mod cholesky;
pub mod data;
pub mod houses;
pub mod images;
pub mod net;
pub mod personal;
pub mod read;
pub mod split;

mod error;
mod exponential;
mod gradients;
mod linear;
mod measures;
mod model;
pub mod outside;
mod shards;
mod spread;
mod table;
pub mod task;
mod trivial;
mod widest;

pub use bounds::Bounds;
pub use data::Data;
pub(crate) use error::require;
pub use error::{Error, Result};
pub use gradients::Gradients;
pub use images::Images;
pub use measures::Measures;
pub use model::{Clip, Loss, Model};
pub use net::Net;
pub use outside::Oracle;
pub use shards::{Shard, Shards};
pub use spread::Spread;
pub use table::Table;
pub use task::{Batch, Origin, Task};
pub use trivial::Trivial;
