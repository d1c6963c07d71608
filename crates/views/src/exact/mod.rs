//! Exact losses: leverages of what was heard.
//!
//! Four ways to the same number, each where it is at its best:
//!
//! | | |
//! | --- | --- |
//! | [`gossip`] | a fixed symmetric matrix: block Krylov, one orthonormal block after the other |
//! | [`relay_gossip`] | the same with fresh noise on every message: the Gram matrix of the messages |
//! | [`scheduled`] | a matrix per step: the observable subspace, backwards |
//! | [`traced`] | any linear protocol: the coefficients of the messages themselves |
//!
//! [`by_steps`] gives the first two after every number of steps at once. Without relay noise acceleration
//! spans the same space as plain gossip and costs nothing; *with* relay noise it reveals more, and [`traced`] must be asked.

mod by_steps;
mod coalition;
pub(crate) mod gossip;
mod happened;
mod local;
pub(crate) mod relay;
mod scheduled;
mod traced;

pub use by_steps::by_steps;
pub use coalition::{WorstCoalition, worst_coalition};
pub use gossip::{gossip, gossip_all_pairs};
pub use happened::{Mixed, Round, happened};
pub use local::local;
pub use relay::{relay_gossip, relay_gossip_all_pairs};
pub(crate) use scheduled::heard;
pub use scheduled::scheduled;
pub use traced::traced;

use serde::Serialize;
use sottovoce_privacy::{Adjacency, Adversary, Gdp, Guarantee, Loss, Standing, Unit, limits};

use crate::Result;

/// Room for rounding when a loss becomes a guarantee.
const ROUNDING: f64 = 1e-9;

/// What a loss rests on where doubles leave a doubt.
const DOUBT: &str = "messages that agree to 13 digits are the same message";

/// What a set of observers learns about every peer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Leakage {
    /// The observers, in increasing order.
    pub observers: Vec<usize>,
    /// For each peer the loss in units of local DP, between 0 and 1; 0 for the observers themselves.
    pub losses: Vec<f64>,
    /// Number of independent things the observers learn: the sum of all losses.
    pub rank: Option<usize>,
    /// Directions that doubles cannot tell from rounding. They count as seen wherever that is possible.
    pub ambiguous: usize,
}

impl Leakage {
    /// Mean over all peers, as the papers define it (observers lose nothing to themselves, and are counted).
    pub fn mean(&self) -> f64 {
        self.losses.iter().sum::<f64>() / self.losses.len() as f64
    }

    /// The largest loss, and whose it is.
    pub fn worst(&self) -> (usize, f64) {
        let all = self.losses.iter().copied().enumerate();
        all.fold((0, 0.0), |worst, next| if next.1 > worst.1 { next } else { worst })
    }

    /// The guarantee of peer `u` towards these observers, for a value of sensitivity `sensitivity` under noise `sigma`: proven,
    /// and exact but for a hair; conditional where a direction is in doubt.
    pub fn guarantee(&self, u: usize, sensitivity: f64, sigma: f64) -> Result<Guarantee> {
        let loss = (self.losses[u] + ROUNDING).min(1.0);
        let adversary = match self.observers[..] {
            [one] => Adversary::Peer(one),
            _ => Adversary::Coalition(self.observers.clone()),
        };
        Ok(Guarantee {
            adversary,
            unit: Unit::User,
            adjacency: Adjacency::Replace,
            loss: Loss::Gdp(Gdp::of_square(loss * (sensitivity / sigma).powi(2))?),
            standing: match self.ambiguous {
                0 => Standing::Proven,
                _ => Standing::Conditional(vec![DOUBT.into()]),
            },
            not_covered: limits::of_a_protocol(),
        })
    }
}
