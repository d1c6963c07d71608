//! What each way to learn reveals, before any noise is chosen: in units of one local release.
//!
//! A unit loss `m` becomes `mu² = m / sigma²` where views are exactly Gaussian, and a Rényi loss of `order m / (2 sigma²)` in any case, with
//! `sigma` in sensitivities ([`Currency`]).
//!
//! | method | published | ours |
//! | --- | --- | --- |
//! | gossip | Theorem 6 (refuted) | neighbours lose as much as to a wire-tapper (proven); the mean by linear views of all iterations, if gradients do not react |
//! | butterfly | | consensus after every iteration: losses of iterations add (proven) |
//! | walk | Theorem 3 by its sum (refuted) | trajectories: of convex losses and small steps (proven); the mean over paths |
//! | local, central | | one per iteration (proven) |

use serde::Serialize;
use sottovoce_privacy::Standing;
use sottovoce_privacy::noise::simulation::SimulationRng;
use sottovoce_simulator::averaging::Scheme;
use sottovoce_topology::mixing::Mixing;
use sottovoce_views::descent::{DescentLoss, consensus, linear, relay};
use sottovoce_views::parallel;
use sottovoce_views::published::{self, Formula};
use sottovoce_views::walk::PublishedWalk;

use super::calibrate::Currency;
use super::method::{Method, positions};
use super::path::{Pairs, Path, PathSetup, pairs};
use crate::{Error, Result};

/// The stream of sampled observers; 0 is noise.
const SAMPLE: u64 = 0x7361_6d70;

/// Losses of all pairs, in short.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// Mean over all pairs.
    pub mean: f64,
    /// The worst pair, over everything that may happen: an upper bound, but where the standing is published or refuted.
    pub worst: f64,
    /// The currency both are paid in.
    pub currency: Currency,
    /// By what right the worst is stated.
    pub standing: Standing,
    /// By what right the mean is stated, where that differs.
    pub mean_standing: Standing,
}

/// What a method reveals.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct UnitLosses {
    /// As printed.
    pub published: Option<Summary>,
    /// Ours.
    pub ours: Summary,
    /// Of every peer to someone who sees every message (for the central method: who sees the result).
    pub wire_tapper: f64,
}

/// The question.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// Which method.
    pub method: Method,
    /// The graph, where the method has one.
    pub mixing: Option<&'a Mixing>,
    /// Number of peers.
    pub peers: usize,
    /// Contributions of each peer.
    pub iterations: usize,
    /// Whether a gradient step moves no two models apart.
    pub nonexpansive: bool,
    /// Observers (of gossip) or paths (of walks) from which means are estimated.
    pub sample: usize,
    /// Seed of the sample, and of the butterfly's positions.
    pub seed: u64,
}

impl Question<'_> {
    /// The losses as printed, where a paper prints some.
    pub fn published(&self) -> Result<Option<Summary>> {
        let times = self.iterations as f64;
        let (mean, worst) = match (self.method, self.mixing) {
            (Method::Gossip { rounds, relay: 0.0, .. }, Some(mixing)) => {
                let all = published::gossip_all_pairs(Formula::Theorem1, mixing, rounds)?;
                let pairs = Pairs::of(self.peers, |v, u| all[v * self.peers + u]);
                (times * pairs.mean, times * pairs.worst)
            }
            (Method::Walk { tokens, burn_in }, Some(mixing)) => {
                let steps = (self.iterations * self.peers).div_ceil(tokens) + burn_in;
                let walk = PublishedWalk::new(mixing, steps)?.with_contributions(times)?;
                (walk.mean(), walk.worst().map_or(0.0, |pair| pair.loss))
            }
            _ => return Ok(None),
        };
        let standing = Standing::Refuted;
        Ok(Some(Summary {
            mean,
            worst,
            currency: Currency::Concentrated,
            standing: standing.clone(),
            mean_standing: standing,
        }))
    }

    /// Everything.
    pub fn losses(&self) -> Result<UnitLosses> {
        Ok(UnitLosses {
            published: self.published()?,
            ours: self.ours()?,
            wire_tapper: self.iterations as f64,
        })
    }

    /// Our own losses.
    pub fn ours(&self) -> Result<Summary> {
        let local = self.iterations as f64;
        let proven = |mean, worst, currency| Summary {
            mean,
            worst,
            currency,
            standing: Standing::Proven,
            mean_standing: Standing::Proven,
        };
        match self.method {
            Method::Gossip { .. } => {
                let mixing = self.mixing.ok_or_else(|| Error::missing("graph", "gossip needs one"))?;
                let mut summary = proven(local, local, Currency::Gaussian);
                (summary.mean, summary.mean_standing) = self.gossip_mean(mixing)?;
                Ok(summary)
            }
            Method::Butterfly => {
                let pairs = butterfly(self.peers, self.iterations, self.seed)?;
                Ok(proven(pairs.mean, pairs.worst, Currency::Gaussian))
            }
            Method::Walk { tokens, burn_in } => {
                let mixing = self.mixing.ok_or_else(|| Error::missing("graph", "a walk needs one"))?;
                let mut summary = proven(local, local, Currency::Concentrated);
                if self.nonexpansive {
                    (summary.mean, summary.worst) = self.walk(mixing, tokens, burn_in)?;
                    let stopped = "the walk ends before its odometer passes this";
                    summary.standing = Standing::Conditional(vec![stopped.to_owned()]);
                    let sampled =
                        format!("the mean over {} random paths is that over all", self.sample.max(1));
                    summary.mean_standing = Standing::Conditional(vec![sampled]);
                }
                Ok(summary)
            }
            Method::Local | Method::Central => Ok(proven(local, local, Currency::Gaussian)),
        }
    }

    /// Mean over sampled observers of the linear views of all iterations.
    fn gossip_mean(&self, mixing: &Mixing) -> Result<(f64, Standing)> {
        let observers = self.sampled_peers();
        let mut sum = 0.0;
        let mut standing = Standing::Proven;
        for &observer in &observers {
            let loss = self.gossip(mixing, observer)?;
            sum += loss.losses.iter().sum::<f64>();
            standing = loss.standing;
        }
        Ok((sum / (observers.len() * (self.peers - 1)).max(1) as f64, standing))
    }

    /// What one observer learns from gossip; its own entry is 0.
    fn gossip(&self, mixing: &Mixing, observer: usize) -> Result<DescentLoss> {
        let Method::Gossip { rounds, accelerated, relay: tau } = self.method else {
            return Err(Error::parameter("method", self.method.name(), "gossip was asked for"));
        };
        let scheme = Scheme::Gossip { mixing: mixing.clone(), rounds, accelerated };
        Ok(match scheme.gamma()? {
            Some(gamma) => linear::accelerated(&[(mixing, gamma)], &[observer], rounds, self.iterations)?,
            None => relay::loss(mixing, &[observer], rounds, self.iterations, tau)?,
        })
    }

    fn sampled_peers(&self) -> Vec<usize> {
        use rand::seq::index;
        let mut rng = SimulationRng::new(self.seed, 0, 0).purpose(SAMPLE);
        index::sample(&mut rng, self.peers, self.sample.clamp(1, self.peers)).into_vec()
    }

    /// Over sampled paths: the mean over pairs of what a path reveals, and the worst pair of all.
    fn walk(&self, mixing: &Mixing, tokens: usize, burn_in: usize) -> Result<(f64, f64)> {
        let paths = self.sample.max(1);
        let (mut sum, mut worst) = (0.0, 0.0_f64);
        for path in 0..paths {
            let course = PathSetup {
                tokens,
                burn_in,
                cap: self.iterations,
                seed: self.seed.wrapping_add(path as u64),
            };
            let losses = Path::draw(mixing, course)?.losses(usize::MAX)?;
            let pairs = pairs(&losses);
            (sum, worst) = (sum + pairs.mean, worst.max(pairs.worst));
        }
        Ok((sum / paths as f64, worst))
    }
}

/// Losses of all pairs over a butterfly's iterations, each in fresh positions.
pub fn butterfly(peers: usize, iterations: usize, seed: u64) -> Result<Pairs> {
    let all: Vec<Vec<usize>> = (0..iterations).map(|iteration| positions(peers, seed, iteration)).collect();
    let to = |observer: usize| -> Result<Vec<f64>> {
        let averaging = |positions: &Vec<usize>| consensus::Averaging::butterfly(positions, &[observer]);
        let averagings = all.iter().map(averaging).collect::<Result<Vec<_>, _>>()?;
        Ok(consensus::loss(&averagings, iterations)?.losses)
    };
    let losses = parallel::map(peers, to, |_| {}).into_iter().collect::<Result<Vec<_>>>()?;
    Ok(Pairs::of(peers, |v, u| losses[v][u]))
}
