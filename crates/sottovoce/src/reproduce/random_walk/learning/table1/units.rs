//! What gossip and a token reveal of a pair of peers on average, before noise is chosen: in units of one local release.

use sottovoce_topology::mixing::Mixing;
use sottovoce_topology::spectrum::{Spectrum, chebyshev_weight};
use sottovoce_views::descent::linear;
use sottovoce_views::exact;
use sottovoce_views::published::{self, Formula};

use super::super::graphs::Shape;
use super::ITERATIONS;
use crate::learning::Method;
use crate::learning::losses::Question;

/// Paths from which the mean of a token is estimated.
const PATHS: usize = 4;

/// The mean losses of one graph.
#[derive(Debug, Clone)]
pub(super) struct Units {
    /// Rounds of gossip after each step.
    pub(super) rounds: usize,
    pub(super) gossip_printed: f64,
    /// With as many rounds as the formula asks for, where that is more than needed.
    pub(super) by_formula: (usize, f64),
    pub(super) gossip_true: f64,
    /// How the true loss of gossip was found.
    pub(super) how: &'static str,
    pub(super) walk_printed: f64,
    pub(super) walk_true: f64,
}

/// The token of table 1.
pub(super) const WALK: Method = Method::Walk { tokens: 1, burn_in: 0 };

/// Gossip of table 1.
pub(super) fn gossip(rounds: usize) -> Method {
    Method::Gossip { rounds, accelerated: true, relay: 0.0 }
}

impl Units {
    pub(super) fn of(shape: Shape, mixing: &Mixing, seed: u64) -> anyhow::Result<Self> {
        let gap = Spectrum::of(mixing)?.gap.value.min(1.0);
        let asked = Method::gossip_rounds(gap, mixing.nodes());
        // On the complete graph one round is exact, and every further one only counts.
        let rounds = if shape == Shape::Complete { 1 } else { asked };
        let (gossip_true, how) = true_gossip(mixing, gap, rounds)?;
        let question = |method: Method| Question {
            method,
            mixing: Some(mixing),
            peers: mixing.nodes(),
            iterations: ITERATIONS,
            nonexpansive: true,
            sample: PATHS,
            seed,
        };
        let walk = question(WALK);
        let printed = |question: Question| -> anyhow::Result<f64> {
            Ok(question.published()?.map_or(f64::NAN, |summary| summary.mean))
        };
        Ok(Self {
            rounds,
            gossip_printed: match shape {
                Shape::Geometric | Shape::Grid => printed(question(gossip(rounds)))?,
                _ => printed_by_symmetry(mixing, rounds)?,
            },
            by_formula: match shape {
                Shape::Complete => (asked, printed_by_symmetry(mixing, asked)?),
                _ => (asked, f64::NAN),
            },
            gossip_true,
            how,
            walk_printed: printed(walk)?,
            walk_true: walk.ours()?.mean,
        })
    }
}

/// Where all peers are alike, one observer stands for all.
fn printed_by_symmetry(mixing: &Mixing, rounds: usize) -> anyhow::Result<f64> {
    let losses = published::gossip(Formula::Theorem1, mixing, &[0], rounds)?;
    Ok(ITERATIONS as f64 * losses[1..].iter().sum::<f64>() / (losses.len() - 1) as f64)
}

/// The mean over the others of what a peer in the middle learns over all iterations, if gradients do not react to what is hidden from it.
fn true_gossip(mixing: &Mixing, gap: f64, rounds: usize) -> anyhow::Result<(f64, &'static str)> {
    let n = mixing.nodes();
    let observer = n / 2;
    let one = exact::gossip(mixing, &[observer], rounds)?;
    if one.rank.is_some_and(|rank| rank + 1 >= n) {
        return Ok((ITERATIONS as f64, "every noisy value is solved for: local DP"));
    }
    let gamma = if rounds > 1 { chebyshev_weight(gap)? } else { 1.0 };
    let losses = linear::accelerated(&[(mixing, gamma)], &[observer], rounds, ITERATIONS)?.losses;
    let sum: f64 = losses.iter().enumerate().filter(|(u, _)| *u != observer).map(|(_, loss)| loss).sum();
    Ok((sum / (n - 1) as f64, "linear views of all iterations, if gradients do not react"))
}
