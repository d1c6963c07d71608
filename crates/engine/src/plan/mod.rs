//! The planner: which averaging protocol, how much noise, how many steps, for a target and the least error.
//!
//! ```text
//! graph, Delta, target ──► candidates ──► losses f (exact, independent of sigma at a fixed tau/sigma)
//!                                            │
//!                   sigma² = max over targets of f Delta² / mu²  (closed form)
//!                                            │
//!              error = sigma² share + tau² shares + Delta²/4 contraction ──► least over T and tau/sigma ──► verified
//! ```
//!
//! Losses are those of the exact accountant; no published formula is used. The error formula and its proof are in
//! `docs/theorems/averaging-error.md`. What is chosen is accounted for once more, with the noises as printed
//! ([`verify`]).
//!
//! * [`target`], [`distance`]: what must hold; [`losses`], [`pairs`]: what is lost; [`site`]: graphs to choose from;
//! * [`gossip`], [`randomised`], [`butterfly`], `cancelling`, `masked`: the candidates; [`search`]: the least error of all.

pub mod butterfly;
mod cancelling;
pub mod distance;
pub mod gossip;
pub mod losses;
mod masked;
pub mod pairs;
pub mod point;
pub mod randomised;
pub mod reason;
pub mod row;
pub mod rumor;
pub mod search;
pub mod site;
pub mod target;
#[cfg(test)]
mod tests;
pub mod verify;

use std::borrow::Cow;

use serde::Serialize;
use sottovoce_views::exact::{Leakage, Results};

use crate::learning::Secrets;
use crate::names::Names;
use crate::terms::Stated;

pub use distance::{Class, Distances, Falling, Metric};
pub use losses::Losses;
pub use masked::Sums;
pub use pairs::{Below, Quantiles, Spread};
pub use row::{Epsilons, Protocol, Row};
pub use rumor::{RumorPlan, RumorRow, rumor};
pub use search::averaging;
pub use site::Site;
pub use target::{Bound, Target};

/// What is to be planned.
#[derive(Debug, Clone)]
pub struct Problem {
    /// The graphs to choose from, all of the same size.
    pub sites: Vec<Site>,
    /// Whether the graph is given: then protocols that ignore it are shown, and not chosen.
    pub graph_is_given: bool,
    /// How far one person can move a peer's value; values lie in an interval of this width.
    pub sensitivity: f64,
    /// Numbers of each peer.
    pub columns: usize,
    /// What must hold.
    pub target: Target,
    /// Bounds of each pair that fall with a public distance.
    pub falling: Option<Falling>,
    /// Noise that cancels, to be weighed with the others, where peers share secrets.
    pub secrets: Option<Secrets>,
    /// What becomes of the results.
    pub results: Results,
    /// The observers to look at; `None` for all (above [`ALL_OBSERVERS`] peers a mean is then estimated from a sample).
    pub sample: Option<usize>,
    /// Probability with which stated epsilons may fail.
    pub delta: f64,
    /// Seed of samples and schedules.
    pub seed: u64,
}

impl Problem {
    /// What peers are called: as the graph that is given has it.
    fn names(&self) -> Names {
        let given = self.sites.first().filter(|_| self.graph_is_given);
        given.map_or_else(Names::default, |site| Names::of_graph(site.graph()))
    }

    /// What is lost by a protocol whose peers end with different values. Where those are published, they are as many equations as
    /// there are peers, and all is counted as lost.
    fn short_of_consensus<'a>(&self, leakage: &'a Leakage) -> Cow<'a, Leakage> {
        match self.results {
            Results::Kept => Cow::Borrowed(leakage),
            Results::Published => Cow::Owned(leakage.if_all_is_shown()),
        }
    }
}

/// The pair that decides how much noise there is.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Binding {
    /// Who learns.
    pub observer: usize,
    /// Of whom.
    pub peer: usize,
    /// Both, by name.
    pub names: [String; 2],
    /// What it loses, as `mu²`.
    pub mu_squared: f64,
    /// What it may lose.
    pub bound: f64,
}

/// Up to so many peers every observer is looked at, whatever the target.
pub const ALL_OBSERVERS: usize = 512;

/// Hears how far a stage is: its name, what is done, and of how much.
pub type Progress<'a> = &'a (dyn Fn(&str, usize, usize) + Sync);

/// What was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Plan {
    /// Number of peers.
    pub peers: usize,
    /// How far one person can move a peer's value.
    pub sensitivity: f64,
    /// Numbers of each peer.
    pub columns: usize,
    /// What had to hold.
    pub target: Target,
    /// What becomes of the results.
    pub results: Results,
    /// Probability with which stated epsilons may fail.
    pub delta: f64,
    /// The best of each protocol and graph, by error; baselines last.
    pub rows: Vec<Row>,
    /// Which of them is chosen.
    pub chosen: usize,
    /// Why, in a sentence or two.
    pub reason: String,
    /// The chosen plan's losses as `mu²`, computed once more with the noises as printed.
    pub verified: Losses,
    /// The pair that decides how much noise there is: that whose loss comes nearest to its bound; none where a mean decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub binding: Option<Binding>,
    /// What each class of distance got; empty where bounds do not fall with a distance.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<Class>,
    /// Which rows lose less than which others at every rank of pairs (first-order stochastic dominance).
    pub below: Vec<Below>,
    /// What the chosen plan promises, to whom and by what right.
    pub statements: Vec<String>,
    /// The same as numbers: those that are guarantees.
    pub guarantees: Vec<Stated>,
    /// What these do not speak of.
    pub not_covered: Vec<String>,
}
