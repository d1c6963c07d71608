//! Rumours among neighbours: how well a source is hidden on any graph.
//!
//! The set of active peers is a Markov chain, and whatever is heard later depends on the set alone. So two sources are told apart no better than
//! by the set at which the chain stands when it is *stopped*, together with what was heard by then:
//!
//! ```text
//! source ──► followed sets (up to K honest peers, nothing heard) ──► stopped: heard by a curious peer, grown beyond K, or died out
//!                                                                             │ where all sets are followed (few peers)
//!                                                                             └──► the next observation, and the next …
//! ```
//!
//! With `K = 1` this is a walk that is killed when it branches: a bound on every graph, one telling at a time and in rounds, and exact at `s = 0`. With
//! larger `K` the chain is stopped later and the bound is smaller, one telling at a time. Where all sets are followed, observation after observation
//! is opened where most is open, and the loss is known from both sides. Proofs: `docs/theorems/rumor-graphs.md`.
//!
//! | file | what |
//! | --- | --- |
//! | `sets` | one telling; the sets that are followed |
//! | `kernel` | from a law of sets to the law of where they stop, with what the solver may have lost |
//! | `search` | observation after observation, the worst pair first |

mod kernel;
mod search;
mod sets;

use serde::Serialize;
use sottovoce_privacy::{Adjacency, Standing, Unit};
use sottovoce_topology::Graph;

use super::{Proven, Rumor, check_epsilon};
use crate::error::check_observers;
use crate::{Result, parallel, require};
use kernel::Kernel;
use sets::{Sets, Telling};

/// Most peers who are not curious.
pub const MOST_HONEST: usize = 1000;
/// Sets that are followed at most, where more than one peer may be active.
const MOST_SETS: usize = 1100;
/// Numbers that may be compared for all pairs together.
const MOST_COMPARED: usize = 5_000_000_000;
/// Pairs that are listed at most.
const LISTED: usize = 1000;

/// What the numbers of a graph do not cover.
pub const ON_GRAPHS: [&str; 5] = [
    "a clock: whoever knows how many tellings passed knows how far the source is",
    "losses that depend on the peer, and answers that may be lost",
    "curious peers who do not follow the protocol",
    "an end of the run that shows, as when peers stop once everybody knows",
    "messages that say how far they have come or how often their sender has told",
];

/// A rumour among neighbours.
///
/// ```
/// use sottovoce_topology::family::{Family, generate};
/// use sottovoce_views::rumor::{OnGraph, Question};
/// let complete = generate(&Family::Complete { n: 10 }, 0, true)?;
/// let walk = OnGraph::new(&complete, &[8, 9], 0.0, 0.0)?.hidden(&Question::default())?;
/// assert!((walk.at_most - 0.2).abs() < 1e-9 && walk.at_least > 0.2 - 1e-9);      // f/n, as the paper's Theorem 5 has it
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct OnGraph<'g> {
    telling: Telling<'g>,
    honest: Vec<usize>,
}

/// What is asked.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Question {
    /// The epsilon at which delta is asked for.
    pub epsilon: f64,
    /// Whether all active peers tell at once.
    pub rounds: bool,
    /// Two sources; the worst of all pairs where none are named.
    pub pair: Option<(usize, usize)>,
}

/// How well the source is hidden.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Hidden {
    /// Delta at the epsilon asked for is at least this (0 where nothing is known from below).
    pub at_least: f64,
    /// And at most this.
    pub at_most: f64,
    /// The two sources that are told apart best.
    pub pair: (usize, usize),
    /// How many active peers were followed at once.
    pub followed: usize,
    /// Whether observations after the first were followed, too: then the bounds close in on the truth.
    pub all_observations: bool,
    /// By which theorem.
    pub by: &'static str,
    /// Each pair of sources, the worst first; the first thousand.
    pub pairs: Vec<PairLoss>,
}

impl Hidden {
    /// As what is proven about one run; `at_zero` is the delta of the worst pair at `epsilon = 0`.
    pub fn proven(&self, at_zero: f64) -> Proven {
        Proven {
            delta: self.at_most,
            at_zero,
            posterior: None,
            by: self.by,
            unit: Unit::Source,
            adjacency: Adjacency::Replace,
            standing: Standing::Proven,
        }
    }
}

/// How well two sources are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PairLoss {
    /// If this one is the source,
    pub source: usize,
    /// how much more likely are some observations than if this one is?
    pub other: usize,
    /// Delta is at least this.
    pub at_least: f64,
    /// Delta is at most this.
    pub at_most: f64,
}

impl<'g> OnGraph<'g> {
    /// A rumour on a connected graph; the curious are named, `drop` is the probability that a telling is lost.
    pub fn new(graph: &'g Graph, curious: &[usize], muting: f64, drop: f64) -> Result<Self> {
        graph.require_connected("add the missing edges, or account for a rumour in each part")?;
        require(
            graph.nodes() <= usize::from(u16::MAX),
            "graph",
            format_args!("{} peers", graph.nodes()),
            "give 65535 at most",
        )?;
        let curious = if curious.is_empty() { Vec::new() } else { check_observers(curious, graph.nodes())? };
        // The ranges are those of every rumour.
        Rumor::new(graph.nodes(), curious.len(), muting)?;
        require((0.0..1.0).contains(&drop), "drop", drop, "give a probability from 0 to below 1")?;
        let mut is_curious = vec![false; graph.nodes()];
        curious.iter().for_each(|&peer| is_curious[peer] = true);
        let honest: Vec<usize> = (0..graph.nodes()).filter(|&peer| !is_curious[peer]).collect();
        let remedy = format!("at most {MOST_HONEST} can be followed: give a smaller graph");
        let value = format_args!("{} peers who are not curious", honest.len());
        require(honest.len() <= MOST_HONEST, "graph", value, remedy)?;
        Ok(Self { telling: Telling { graph, curious: is_curious, muting, drop }, honest })
    }

    /// Delta at an epsilon: of all pairs of sources, or of one.
    pub fn hidden(&self, question: &Question) -> Result<Hidden> {
        check_epsilon(question.epsilon)?;
        let pairs = self.pairs(question)?;
        if pairs.is_empty() || self.honest.len() == self.telling.graph.nodes() {
            return Ok(self.nothing(&pairs));
        }
        let sets = self.followed(question.rounds);
        let all = sets.is_all() && self.telling.muting > 0.0;
        let mut found = match all {
            true => search::search(&self.telling, &sets, &pairs, question.epsilon),
            false => self.stopped(&sets, &pairs, question.epsilon)?,
        };
        found.sort_by(|a, b| {
            b.at_most.total_cmp(&a.at_most).then((a.source, a.other).cmp(&(b.source, b.other)))
        });
        let (worst, least) = (found[0], found.iter().map(|pair| pair.at_least).fold(0.0, larger));
        found.truncate(LISTED);
        Ok(Hidden {
            at_least: least,
            at_most: worst.at_most,
            pair: (worst.source, worst.other),
            followed: sets.largest(),
            all_observations: all,
            by: self.theorem(all, sets.largest()),
            pairs: found,
        })
    }

    /// Ordered pairs of sources; at epsilon 0 both orders are alike.
    fn pairs(&self, question: &Question) -> Result<Vec<(usize, usize)>> {
        let both = question.epsilon > 0.0;
        let all = |u: usize, v: usize| if both { vec![(u, v), (v, u)] } else { vec![(u, v)] };
        let Some((u, v)) = question.pair else {
            let honest = &self.honest;
            let later = |i: usize| honest[i + 1..].iter().flat_map(move |&v| all(honest[i], v));
            return Ok((0..honest.len()).flat_map(later).collect());
        };
        for peer in [u, v] {
            let remedy = "name two peers who are not curious";
            require(self.honest.binary_search(&peer).is_ok(), "pair", format_args!("{u},{v}"), remedy)?;
        }
        require(u != v, "pair", format_args!("{u},{v}"), "name two different peers")?;
        Ok(all(u, v))
    }

    /// As many active peers as can be followed. In rounds they are followed as long as only one is active: from then on several tell at once. A walk has no more.
    fn followed(&self, rounds: bool) -> Sets {
        let most = if rounds || self.telling.muting == 0.0 { 1 } else { self.honest.len() };
        Sets::new(&self.honest, most, MOST_SETS)
    }

    /// Where nobody listens; or where there is nobody to hide among, and so no pair of sources: then everything counts as lost.
    fn nothing(&self, pairs: &[(usize, usize)]) -> Hidden {
        let pair = pairs.first().copied().unwrap_or((self.honest[0], self.honest[0]));
        let (at_most, by) = match self.honest.len() == self.telling.graph.nodes() {
            true => (0.0, "nobody listens"),
            false => (1.0, "only one peer is honest: there is nobody to hide among"),
        };
        Hidden { at_least: 0.0, at_most, pair, followed: 0, all_observations: true, by, pairs: Vec::new() }
    }

    fn theorem(&self, all: bool, largest: usize) -> &'static str {
        match (all, largest, self.telling.muting == 0.0) {
            (true, ..) => "the chain of all active sets, observation by observation",
            (_, _, true) => "the walk until a curious peer is told, exactly",
            (_, 1, _) => "the walk until it branches or a curious peer is told",
            _ => "the chain of small active sets until it grows or a curious peer is told",
        }
    }

    /// The chain is stopped when somebody curious is told, or when it is no longer followed.
    fn stopped(&self, sets: &Sets, pairs: &[(usize, usize)], epsilon: f64) -> Result<Vec<PairLoss>> {
        let kernel = Kernel::new(&self.telling, sets, &[]);
        let compared = pairs.len().saturating_mul(kernel.outcomes.len());
        let remedy = "too many to compare for all pairs: name two sources with --pair U,V";
        let value = format_args!("{} edges", self.telling.graph.edge_count());
        require(compared <= MOST_COMPARED, "graph", value, remedy)?;
        let mut sources: Vec<usize> = pairs.iter().flat_map(|&(one, other)| [one, other]).collect();
        sources.sort_unstable();
        sources.dedup();
        let law = |i: usize| {
            let single = sets.find(&[sources[i] as u16]).unwrap_or(0);
            kernel.stopped(&kernel.unit(single))
        };
        let laws = parallel::map(sources.len(), law, |_| ());
        // A walk is stopped where it is heard first, or dies unheard: the log says which, and nothing is lost in the bound.
        let heard = self.telling.muting == 0.0;
        let place = |peer: usize| sources.binary_search(&peer).unwrap_or(0);
        let ratio = epsilon.exp();
        let one = |i: usize| {
            let (source, other) = pairs[i];
            let ((p, lost), (q, more)) = (&laws[place(source)], &laws[place(other)]);
            let sum: f64 = p.iter().zip(q).map(|(p, q)| positive(p - ratio * q)).sum();
            let lost = lost + ratio * more + 8.0 * f64::EPSILON * (1.0 + ratio);
            let at_least = if heard { positive(sum - lost) } else { 0.0 };
            PairLoss { source, other, at_least, at_most: capped(sum + lost) }
        };
        Ok(parallel::map(pairs.len(), one, |_| ()))
    }
}

/// The positive part; what is not a number stays so.
fn positive(value: f64) -> f64 {
    if value <= 0.0 { 0.0 } else { value }
}

/// A probability; what is not a number is 1.
fn capped(value: f64) -> f64 {
    if value < 1.0 { value } else { 1.0 }
}

fn larger(a: f64, b: f64) -> f64 {
    if b > a { b } else { a }
}

#[cfg(test)]
mod tests;
