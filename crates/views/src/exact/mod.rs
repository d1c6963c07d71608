//! Exact losses: leverages of what was heard.
//!
//! Ways to the same number, each where it is at its best:
//!
//! | | |
//! | --- | --- |
//! | [`gossip`] | a fixed symmetric matrix: block Krylov, one orthonormal block after the other |
//! | [`relay_gossip`] | the same with fresh noise on every message: the Gram matrix of the messages |
//! | [`scheduled`] | a matrix per step: the coefficients of the messages, in as many digits as it takes |
//! | [`coupled`] | pairs with a second value each (accelerated randomised gossip): the same |
//! | [`executed()`] | rounds as they were executed ([`replay()`]), lost messages and all |
//! | [`traced`] | any linear protocol: the coefficients of the messages themselves |
//!
//! [`by_steps`] gives the first two after every number of steps at once. Without relay noise acceleration
//! spans the same space as plain gossip and costs nothing; *with* relay noise it reveals more, and [`traced`] must be asked.

mod by_steps;
mod coalition;
mod coupled;
pub(crate) mod gossip;
mod local;
pub(crate) mod relay;
mod replay;
mod scheduled;
mod traced;

pub use by_steps::by_steps;
pub use coalition::{WorstCoalition, worst_coalition};
pub use coupled::coupled;
pub use gossip::{gossip, gossip_all_pairs, gossip_published, gossip_rank};
pub use local::local;
pub use relay::{relay_gossip, relay_gossip_all_pairs, relay_gossip_beside, relay_scheduled};
pub use replay::{ExecutedRound, executed, replay};
pub(crate) use scheduled::{check as check_schedule, heard};
pub use scheduled::{scheduled, scheduled_each, scheduled_published};
pub(crate) use traced::span;
pub use traced::traced;

use serde::{Deserialize, Serialize};
use sottovoce_privacy::{Adjacency, Adversary, Gdp, Guarantee, Loss, Standing, Unit, limits};

use crate::span::Space;
use crate::{Error, Result};

/// What becomes of the results.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Results {
    /// Peers keep them to themselves.
    #[default]
    Kept,
    /// Peers publish them, or hand them on: observers know them all.
    Published,
}

impl std::str::FromStr for Results {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "kept" => Ok(Self::Kept),
            "published" => Ok(Self::Published),
            _ => Err(Error::parameter("results", name, "give kept or published")),
        }
    }
}

impl Results {
    /// Whose results are known, among so many peers.
    pub fn of(self, nodes: usize) -> Vec<usize> {
        match self {
            Self::Kept => Vec::new(),
            Self::Published => (0..nodes).collect(),
        }
    }
}

/// Room for rounding when a loss becomes a guarantee.
const ROUNDING: f64 = 1e-9;

/// What a set of observers learns about every peer.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Leakage {
    /// The observers, in increasing order.
    pub observers: Vec<usize>,
    /// For each peer the loss in units of local DP, between 0 and 1; 0 for the observers themselves.
    pub losses: Vec<f64>,
    /// Number of independent things the observers learn: the sum of all losses. None with relay noise, or where it is not known.
    pub rank: Option<usize>,
    /// Whether the losses were certified to be exact. Otherwise they are those without relay noise, or 1, as without any
    /// amplification: true, but not sharp.
    pub certified: bool,
    /// By how much rounding may have moved a loss; added where a loss becomes a guarantee.
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub rounding: f64,
}

impl Leakage {
    /// From an orthonormal basis of what was heard; without one everyone's loss is 1.
    pub(crate) fn of(space: Option<&Space>, observers: Vec<usize>, nodes: usize) -> Self {
        match space {
            Some(space) => {
                let losses = space.leverages().into_iter().map(at_most_one).collect();
                Self { observers, losses, rank: Some(space.rank()), certified: true, rounding: space.angle }
            }
            None => Self::local(observers, nodes),
        }
    }

    /// From what was heard within so many steps, for each of these numbers, which never fall.
    pub(crate) fn until(
        space: Option<&Space>,
        observers: &[usize],
        nodes: usize,
        cuts: impl Iterator<Item = usize>,
    ) -> Vec<Self> {
        let (mut sums, mut known) = (vec![0.0; nodes], 0);
        let mut one = |steps: usize| {
            let Some(space) = space else { return Self::local(observers.to_vec(), nodes) };
            let rank = space.rounds.partition_point(|&round| round < steps);
            for column in (known..rank).map(|i| space.column(i)) {
                sums.iter_mut().zip(column).for_each(|(sum, x)| *sum += x * x);
            }
            known = rank;
            let losses = sums.iter().copied().map(at_most_one).collect();
            let (observers, rounding) = (observers.to_vec(), space.angle);
            Self { observers, losses, rank: Some(rank), certified: true, rounding }
        };
        cuts.map(&mut one).collect()
    }

    /// What is true whatever else is shown: every peer but the observers loses everything.
    pub fn if_all_is_shown(&self) -> Self {
        Self::local(self.observers.clone(), self.losses.len())
    }

    /// To someone who sees every message: everyone loses everything.
    pub(crate) fn everything(nodes: usize) -> Self {
        Self { certified: true, ..Self::local(Vec::new(), nodes) }
    }

    /// Everyone but the observers loses everything.
    fn local(observers: Vec<usize>, nodes: usize) -> Self {
        let hidden = |u: usize| if observers.binary_search(&u).is_ok() { 0.0 } else { 1.0 };
        Self {
            losses: (0..nodes).map(hidden).collect(),
            observers,
            rank: None,
            certified: false,
            rounding: 0.0,
        }
    }

    /// The same where another bound on the same losses is known: the smaller one of each peer.
    pub(crate) fn at_most(mut self, other: &Self) -> Self {
        for (loss, bound) in self.losses.iter_mut().zip(&other.losses) {
            *loss = if bound < loss { *bound } else { *loss };
        }
        let rounding = if other.rounding > self.rounding { other.rounding } else { self.rounding };
        Self { rank: None, rounding, ..self }
    }

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
    /// and exact but for a hair, or that of local privacy.
    pub fn guarantee(&self, u: usize, sensitivity: f64, sigma: f64) -> Result<Guarantee> {
        let loss = at_most_one(self.losses[u] + self.rounding + ROUNDING);
        let adversary = match self.observers[..] {
            [one] => Adversary::Peer(one),
            _ => Adversary::Coalition(self.observers.clone()),
        };
        Ok(Guarantee {
            adversary,
            unit: Unit::User,
            adjacency: Adjacency::Replace,
            loss: Loss::Gdp(Gdp::of_square(loss * (sensitivity / sigma).powi(2))?),
            standing: Standing::Proven,
            not_covered: limits::of_a_protocol(),
        })
    }
}

/// A sum of squares that is at most 1, but for rounding; anything else counts as 1.
pub(crate) fn at_most_one(sum: f64) -> f64 {
    if sum < 1.0 { sum } else { 1.0 }
}
