//! Pictures and self-contained pages from plain data.
//!
//! This crate knows no protocol and no accountant: it is given numbers and shows them, so that a report can be drawn
//! again from its data alone. Two rules hold everywhere:
//!
//! * a privacy loss is rounded up, never down, wherever it is shortened for display or storage ([`text::up`],
//!   `averaging/pack.rs`);
//! * all text is untrusted and escaped where it is written (`svg.rs`, `shell.rs`), and a page's security policy names
//!   its one script by hash, so that a label which slipped through could still not run.
//!
//! From data to file: a [`Chart`] or a [`GraphPicture`] is turned into a [`Picture`] (shapes in a frame), which writes
//! itself as a stand-alone SVG, as an SVG whose colours follow the page around it, or as a PNG. [`Page`] is a page of
//! such figures; [`AveragingReport`] and [`RumorReport`] are the interactive pages of one experiment.

mod averaging;
mod blocks;
mod chart;
mod colour;
mod error;
mod font;
mod frame;
mod graph_picture;
mod layout;
pub mod live;
mod matrix_picture;
mod page;
mod png;
mod provenance;
pub mod rumor;
mod scene;
mod shell;
pub mod store;
pub mod structure;
mod svg;
pub mod text;
mod thin;
mod ticks;

pub use averaging::{Attack, AttackRow, AveragingReport, Cell, Promised, Traded};
pub use blocks::GuaranteeLine;
pub use chart::{Chart, Curve, Mark, Series, Spread};
pub use colour::{Ink, Rgb, scale};
pub use error::{Error, Result};
pub use frame::{Axis, Scale};
pub use graph_picture::{ColourBar, GraphPicture};
pub use layout::layout;
pub use matrix_picture::MatrixPicture;
pub use page::{Figure, Label, Page, Section, Table};
pub use provenance::{Provenance, hash};
pub use rumor::RumorReport;
pub use scene::Picture;
