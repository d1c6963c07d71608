//! Learning, planned or past: which accountant fits it.
//!
//! | way | accountant | standing |
//! | --- | --- | --- |
//! | gossip after every step, on one graph or on others each time | linear views of all iterations, with relay noise or momentum | conditional from the second step on |
//! | butterfly, in positions of its own after every step | consensus: losses of iterations add | proven |
//! | tokens that walk | their paths | proven if losses are convex and steps small |
//! | gossip or butterfly with noise that cancels | every model is seen, losses of steps add | proven |
//! | everything is public | every release is lost | proven |
//!
//! A run that is over is asked about in the same words: the positions and paths are those that were.

use sottovoce_privacy::{Adversary, Standing};
use sottovoce_protocol::public::{Cancelling, Scheme};
use sottovoce_protocol::walk::TokenPath;
use sottovoce_topology::mixing::Mixing;

use super::Overheard;
use crate::cancelling;
use crate::descent::{self, Currency, DescentLoss, ROUNDING, consensus, linear, relay};
use crate::error::check_observers;
use crate::exact::{Leakage, at_most_one};
use crate::walk::{Trajectory, along};
use crate::{Error, Result, parallel};

/// What a loss along a path rests on, where no task says whether it is so.
const CONVEX: &str = "losses are convex, and steps so small that they move no two models apart";

/// All that is public of a learning run and decides what it reveals, but for the noise.
#[derive(Debug, Clone, PartialEq)]
pub enum Learning<'a> {
    /// Gossip after every step of all, on one graph, or on one after the other.
    Gossip {
        /// Who mixes with whom after each step, in turn.
        mixings: &'a [Mixing],
        /// Rounds after each step.
        rounds: usize,
        /// Whether gossip is accelerated.
        accelerated: bool,
        /// Noise on every message, as a share of that on a gradient.
        relay_noise: f64,
        /// Steps.
        iterations: usize,
    },
    /// A butterfly after every step of all.
    Butterfly {
        /// The peers' positions after each step.
        positions: Vec<Vec<usize>>,
    },
    /// Tokens that walk, shown to everyone in the end.
    Walk {
        /// Number of peers.
        peers: usize,
        /// Contributions of each peer, at most.
        iterations: usize,
        /// Where they went.
        tokens: Vec<TokenPath>,
        /// After how many steps they were shown on the way.
        shown: Vec<usize>,
    },
    /// Pairs of peers add noise that cancels to every release, and nothing else is counted on: what the model is made of is seen by all.
    Cancelling {
        /// Who shares a secret with whom.
        pairs: &'a Cancelling,
        /// Releases of each.
        iterations: usize,
    },
    /// Everyone sees every release.
    Public {
        /// Number of peers.
        peers: usize,
        /// Releases of each.
        iterations: usize,
    },
}

impl Learning<'_> {
    /// Releases of each peer, at most.
    pub fn iterations(&self) -> usize {
        match self {
            Self::Butterfly { positions } => positions.len(),
            Self::Gossip { iterations, .. }
            | Self::Walk { iterations, .. }
            | Self::Cancelling { iterations, .. }
            | Self::Public { iterations, .. } => *iterations,
        }
    }

    /// What every single peer loses to every other: by observer, then by peer.
    pub fn all_pairs(&self) -> Result<Vec<Vec<f64>>> {
        if let Self::Walk { peers, tokens, shown, .. } = self {
            let everyone: Vec<Vec<usize>> = (0..*peers).map(|peer| vec![peer]).collect();
            let all = along(*peers, tokens, &everyone, usize::MAX, shown)?;
            return Ok(all.into_iter().map(|losses| losses.convex).collect());
        }
        let one = |observer| Ok(self.leakage(&[observer])?.losses);
        parallel::map(self.peers(), one, |_| {}).into_iter().collect()
    }
}

/// Releases of all steps, each with fresh noise: losses add (`docs/theorems/cancelling.md`).
fn cancelled(found: Leakage, adversary: Adversary, iterations: usize) -> Result<DescentLoss> {
    descent::check_iterations(iterations)?;
    // Whoever is lost to has no loss; all others a hair more, half of which the guarantee adds. So a run's own tally is the same, but for the last bits.
    let more = found.rounding + (cancelling::HAIR - ROUNDING);
    let all = |loss: f64| if loss == 0.0 { 0.0 } else { iterations as f64 * at_most_one(loss + more) };
    Ok(DescentLoss {
        adversary,
        iterations,
        losses: found.losses.into_iter().map(all).collect(),
        rank: None,
        standing: Standing::Proven,
        currency: Currency::Gaussian,
    })
}

impl<'a> Overheard for Learning<'a> {
    type Learnt = DescentLoss;

    fn peers(&self) -> usize {
        match self {
            Self::Gossip { mixings, .. } => mixings.first().map_or(0, Mixing::nodes),
            Self::Butterfly { positions } => positions.first().map_or(0, Vec::len),
            Self::Cancelling { pairs, .. } => pairs.peers(),
            Self::Walk { peers, .. } | Self::Public { peers, .. } => *peers,
        }
    }

    fn everything(&self, coalition: &[usize]) -> Result<DescentLoss> {
        match self {
            Self::Cancelling { pairs, iterations } if coalition.is_empty() => {
                cancelled(cancelling::everything(pairs, &[])?, Adversary::WireTapper, *iterations)
            }
            Self::Cancelling { pairs, iterations } => {
                let who = Adversary::WireTapperWith(coalition.to_vec());
                cancelled(cancelling::everything(pairs, coalition)?, who, *iterations)
            }
            _ => descent::wire_tapper(self.peers(), self.iterations()),
        }
    }

    fn everything_with_any(&self, colluders: usize) -> Result<DescentLoss> {
        match self {
            Self::Cancelling { pairs, iterations } => {
                let who = Adversary::WireTapperWithAny(colluders);
                cancelled(cancelling::with_any(pairs, colluders)?, who, *iterations)
            }
            _ => self.everything(&[]),
        }
    }

    fn cancels(&self) -> bool {
        matches!(self, Self::Cancelling { .. })
    }

    fn leakage(&self, observers: &[usize]) -> Result<DescentLoss> {
        match self {
            Self::Gossip { mixings, rounds, accelerated, relay_noise, iterations } => {
                // Relay noise on graphs that vary is not counted: more noise never reveals more.
                if let ([mixing], false) = (mixings, *accelerated) {
                    return relay::loss(mixing, observers, *rounds, *iterations, *relay_noise);
                }
                let weighted = |mixing: &'a Mixing| {
                    let (rounds, accelerated) = (*rounds, *accelerated);
                    let gamma = Scheme::Gossip { mixing: mixing.clone(), rounds, accelerated }.gamma()?;
                    Ok((mixing, gamma.unwrap_or(1.0)))
                };
                let gossips = mixings.iter().map(weighted).collect::<Result<Vec<_>>>()?;
                linear::accelerated(&gossips, observers, *rounds, *iterations)
            }
            Self::Butterfly { positions } => {
                descent::check_iterations(positions.len())?;
                let averaging =
                    |positions: &Vec<usize>| consensus::Averaging::butterfly(positions, observers);
                let averagings = positions.iter().map(averaging).collect::<Result<Vec<_>>>()?;
                consensus::loss(&averagings, positions.len())
            }
            Self::Walk { peers, iterations, tokens, shown } => {
                let seen = along(*peers, tokens, &[observers.to_vec()], usize::MAX, shown)?;
                let Some(Trajectory { convex, .. }) = seen.into_iter().next() else {
                    return Err(Error::parameter("tokens", 0, "give the path of at least one token"));
                };
                Ok(DescentLoss {
                    adversary: descent::adversary(observers),
                    iterations: *iterations,
                    losses: convex,
                    rank: None,
                    standing: Standing::Conditional(vec![CONVEX.to_owned()]),
                    currency: Currency::Concentrated,
                })
            }
            Self::Cancelling { pairs, iterations } => {
                let observers = check_observers(observers, pairs.peers())?;
                cancelled(
                    cancelling::everything(pairs, &observers)?,
                    descent::adversary(&observers),
                    *iterations,
                )
            }
            Self::Public { peers, iterations } => {
                let mut all = descent::wire_tapper(*peers, *iterations)?;
                all.adversary = descent::adversary(observers);
                check_observers(observers, *peers)?.into_iter().for_each(|peer| all.losses[peer] = 0.0);
                Ok(all)
            }
        }
    }
}
