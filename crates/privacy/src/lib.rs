//! Typed privacy guarantees whose numbers are true: certified accountants, calibration, budgets and exact noise.
//!
//! ```text
//! Mechanism (plain data) ──► Accountant ──► Interval [lower, upper] that contains epsilon
//!                               │ Loss, in some currency
//!                               ▼
//!                           Guarantee: adversary, unit, adjacency, loss, standing
//! ```
//!
//! The contract:
//! * an epsilon is an upper bound in floating point too, down to delta = 1e-14;
//! * what an accountant does not know it refuses; nothing counts as zero;
//! * deployed noise ([`noise::exact`]) and simulated noise ([`noise::simulation`]) are different types;
//! * nothing here knows a protocol, a graph, or a private value.
//!
//! Start at [`Accountant`], or at [`Composition`] for unlike releases, given guarantees, groups and delta 0; the proofs are in
//! `docs/theorems`.

mod accountant;
pub mod allotment;
mod batches;
pub mod calibrate;
mod composition;
mod contour;
mod currencies;
mod decay;
mod error;
mod event;
mod filter;
mod gdp;
mod group;
mod guarantee;
mod interval;
pub mod kov;
pub mod limits;
mod loss;
mod lot_sizes;
mod lots;
mod mechanism;
mod memo;
mod mixture;
pub mod most;
pub mod noise;
mod pld;
mod pure;
mod quadrature;
pub mod rdp;
mod repeated;
mod risk;
mod shares;
mod special;
mod threshold;
mod trade_off;

pub use accountant::{Accountant, LowerEnd};
pub use allotment::Law;
pub use composition::{Composition, Epsilon, Plain, Release};
pub use currencies::{GaussianBound, Kind};
pub(crate) use error::require;
pub use error::{Error, Result};
pub use event::Event;
pub use filter::{Budget, Filter, Odometer};
pub use gdp::Gdp;
pub use group::{Group, Route};
pub use guarantee::{Adversary, Guarantee, Standing, Unit, outward, round_up};
pub use interval::{Ends, Interval, Reason};
pub use loss::Loss;
pub use lots::Lots;
pub use mechanism::{Adjacency, Mechanism, Noise, Sampling};
pub use mixture::Mixture;
pub use repeated::{Bound, Number};
pub use risk::Risk;
pub use shares::{Moved, Shares};
pub use special::normal_quantile;
pub use trade_off::{Curve, TradeOff};
