//! What gossip and a token reveal of a pair of peers on average, before noise is chosen: in units of one local release.

use sottovoce::learning::Method;
use sottovoce::learning::losses::Question;
use sottovoce::learning::method::{Gossip, Walk, usual_rounds};
use sottovoce::learning::path::Pairs;
use sottovoce_topology::mixing::Mixing;
use sottovoce_topology::spectrum::{Spectrum, chebyshev_weight};
use sottovoce_views::descent::{linear, relay};
use sottovoce_views::exact;

use super::super::graphs::Shape;
use super::ITERATIONS;
use crate::Result;
use crate::printed::gossip::{theorem1, theorem1_all_pairs};
use crate::printed::walk::PublishedWalk;

/// Paths from which the mean of a token is estimated.
const PATHS: usize = 4;

/// Independent messages that can be solved for at once.
const SOLVED: usize = 16_384;

/// The mean losses of one graph.
#[derive(Debug, Clone)]
pub(super) struct Units {
    /// Rounds of gossip after each step.
    pub(super) rounds: usize,
    pub(super) gossip_printed: f64,
    /// Rounds that the formula asks for.
    pub(super) asked: usize,
    pub(super) gossip_true: f64,
    /// How the true loss of gossip was found.
    pub(super) how: String,
    /// Truly, of plain gossip with relay noise; none where that is no gossip, or has too many messages to account for.
    pub(super) relay_true: Option<f64>,
    pub(super) walk_printed: f64,
    pub(super) walk_true: f64,
}

/// Rounds of gossip with relay noise, and its share of the noise on a gradient.
pub(super) const RELAY: (usize, f64) = (10, 0.1);

/// Plain gossip with relay noise.
pub(super) fn relayed() -> Method {
    Method::Gossip(Gossip { rounds: RELAY.0, accelerated: false, relay: RELAY.1 })
}

/// The token of table 1.
pub(super) const WALK: Method = Method::Walk(Walk { tokens: 1, burn_in: 0 });

/// Gossip of table 1. One round on the complete graph is what [`Method::Local`] does: everyone hears everyone's noisy gradient, and takes the
/// mean. (The graph's four million edges would only take time.)
pub(super) fn gossip(shape: Shape, rounds: usize) -> Method {
    match (shape, rounds) {
        (Shape::Complete, 1) => Method::Local,
        _ => Method::Gossip(Gossip { rounds, accelerated: true, relay: 0.0 }),
    }
}

impl Units {
    pub(super) fn of(shape: Shape, mixing: &Mixing, seed: u64) -> Result<Self> {
        let gap = Spectrum::of(mixing)?.gap.value.min(1.0);
        let mixings = std::slice::from_ref(mixing);
        let asked = usual_rounds(mixings, 0.0, f64::INFINITY)?;
        // On the complete graph one round is exact, and every further one only counts.
        let rounds = if shape == Shape::Complete { 1 } else { asked };
        let (gossip_true, how) = true_gossip(mixing, gap, rounds)?;
        let question = |method: Method| Question {
            method,
            mixings,
            peers: mixing.nodes(),
            iterations: ITERATIONS,
            nonexpansive: true,
            sample: PATHS,
            seed,
            network: None,
            secrets: None,
        };
        let walk = question(WALK);
        Ok(Self {
            rounds,
            gossip_printed: match shape {
                Shape::Geometric | Shape::Grid => printed_of_all_pairs(mixing, rounds)?,
                _ => printed_by_symmetry(mixing, rounds)?,
            },
            asked,
            gossip_true,
            how,
            // Where everyone hears everyone at once, noise on messages is noise on values.
            relay_true: if rounds > 1 { true_relay(mixing) } else { None },
            walk_printed: match mixing.is_symmetric() {
                true => {
                    let walk = PublishedWalk::new(mixing, ITERATIONS * mixing.nodes())?;
                    walk.with_contributions(ITERATIONS as f64)?.mean()
                }
                // The sums are for walks that are everywhere equally often (Assumption 2).
                false => f64::NAN,
            },
            walk_true: walk.ours()?.mean,
        })
    }
}

fn printed_of_all_pairs(mixing: &Mixing, rounds: usize) -> Result<f64> {
    let (n, all) = (mixing.nodes(), theorem1_all_pairs(mixing, rounds)?);
    Ok(ITERATIONS as f64 * Pairs::of(n, |v, u| all[v * n + u]).mean)
}

/// Where all peers are alike, one observer stands for all.
fn printed_by_symmetry(mixing: &Mixing, rounds: usize) -> Result<f64> {
    let losses = theorem1(mixing, &[0], rounds)?;
    Ok(ITERATIONS as f64 * losses[1..].iter().sum::<f64>() / (losses.len() - 1) as f64)
}

/// The mean over the others of what a peer in the middle learns over all iterations, if gradients do not react to what is hidden from it. Where
/// nearly every noisy value can be solved for, local DP is the bound.
fn true_gossip(mixing: &Mixing, gap: f64, rounds: usize) -> Result<(f64, String)> {
    let n = mixing.nodes();
    let observer = n / 2;
    let gamma = if rounds > 1 { chebyshev_weight(gap)? } else { 1.0 };
    let rank = exact::gossip_rank(mixing, &[observer], rounds)?;
    if rank * ITERATIONS > SOLVED {
        let how = format!("local DP: an averaging reveals {rank} combinations of {} noisy values", n - 1);
        return Ok((ITERATIONS as f64, how));
    }
    let losses = linear::accelerated(&[(mixing, gamma)], &[observer], rounds, ITERATIONS)?.losses;
    let mean = losses.iter().sum::<f64>() / (n - 1) as f64;
    Ok((mean, "linear views of all iterations, if gradients do not react".into()))
}

/// The same with relay noise, where the messages are not too many.
fn true_relay(mixing: &Mixing) -> Option<f64> {
    let (rounds, tau) = RELAY;
    let found = relay::loss(mixing, &[mixing.nodes() / 2], rounds, ITERATIONS, tau).ok()?;
    Some(found.losses.iter().sum::<f64>() / (mixing.nodes() - 1) as f64)
}
