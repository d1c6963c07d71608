//! What each way to learn reveals, before any noise is chosen: in units of one local release.
//!
//! A unit loss `m` becomes `mu² = m / sigma²` where views are exactly Gaussian, and a Rényi loss of `order m / (2 sigma²)` in any case, with
//! `sigma` in sensitivities ([`Currency`]).
//!
//! | method | losses |
//! | --- | --- |
//! | gossip | neighbours lose as much as to a wire-tapper (proven); the mean by linear views of all iterations, if gradients do not react |
//! | butterfly | consensus after every iteration: losses of iterations add (proven) |
//! | walk | trajectories: of convex losses and small steps (proven); the mean over paths |
//! | local, central | one per iteration (proven) |

use serde::Serialize;
use sottovoce_privacy::{Adversary, Standing};
use sottovoce_protocol::walk::TokenPath;
use sottovoce_topology::mixing::Mixing;
use sottovoce_views::descent::with_room;
use sottovoce_views::door::Learning;

use super::calibrate::Currency;
use super::network::Faulty;
use super::path::Pairs;
use super::{Method, Secrets, Settings, Task};
use crate::{Result, require};

/// Losses of all pairs, in short.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// Mean over all pairs.
    pub mean: f64,
    /// The worst pair, over everything that may happen: an upper bound.
    pub worst: f64,
    /// The currency both are paid in.
    pub currency: Currency,
    /// By what right the worst is stated.
    pub standing: Standing,
    /// By what right the mean is stated, where that differs.
    pub mean_standing: Standing,
}

impl Summary {
    /// Everyone sees everything: one unit for each contribution.
    pub(super) fn local(iterations: usize, currency: Currency) -> Self {
        let (all, standing) = (iterations as f64, Standing::Proven);
        Self { mean: all, worst: all, currency, standing: standing.clone(), mean_standing: standing }
    }
}

/// What was revealed to peers, or will be, by a run of a certain seed: of all pairs.
#[derive(Debug, Clone, PartialEq)]
pub struct Revealed {
    /// Unit losses.
    pub pairs: Pairs,
    /// The currency they are paid in.
    pub currency: Currency,
    /// By what right.
    pub standing: Standing,
}

impl Revealed {
    /// Everyone sees everything.
    pub(super) fn local(peers: usize, iterations: usize) -> Self {
        let pairs = Pairs::of(peers, |_, _| iterations as f64);
        Self { pairs, currency: Currency::Gaussian, standing: Standing::Proven }
    }

    /// With the room for rounding that every guarantee of it has. Where nobody learns anything there is nothing to round, and no noise can be chosen for it.
    fn with_room(self, iterations: usize) -> Self {
        let room = |loss| if loss == 0.0 { 0.0 } else { with_room(loss, iterations, self.currency) };
        let pairs = Pairs { mean: room(self.pairs.mean), worst: room(self.pairs.worst), ..self.pairs };
        Self { pairs, ..self }
    }
}

/// How far a run went, and where.
#[derive(Debug, Clone, Copy)]
pub struct Past<'a> {
    /// Steps that were made.
    pub steps: usize,
    /// After how many of them the state was shown.
    pub shown: &'a [usize],
    /// Where tokens went; empty where nothing walked, or has not yet: then paths are those of the seed.
    pub paths: &'a [TokenPath],
}

impl Past<'_> {
    /// All of a run to come.
    pub const PLANNED: Self = Self { steps: usize::MAX, shown: &[], paths: &[] };
}

/// All of a run that decides what it reveals: no data, no noise.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// Which method.
    pub method: Method,
    /// The graphs after each step, in turn: one, or none, or others each time.
    pub mixings: &'a [Mixing],
    /// Number of peers.
    pub peers: usize,
    /// Contributions of each peer.
    pub iterations: usize,
    /// Whether a gradient step moves no two models apart.
    pub nonexpansive: bool,
    /// Observers (of gossip) or paths (of walks) from which means are estimated.
    pub sample: usize,
    /// Seed of the sample, of paths, and of the butterfly's positions.
    pub seed: u64,
    /// The network under a walk; none: a perfect one.
    pub network: Option<&'a Faulty>,
    /// Noise that cancels, where there is some.
    pub secrets: Option<&'a Secrets>,
}

impl<'a> Question<'a> {
    /// Of a run.
    pub fn of(task: &Task, mixings: &'a [Mixing], settings: &'a Settings) -> Self {
        Self {
            method: settings.method,
            mixings,
            peers: task.peers(),
            iterations: settings.iterations,
            nonexpansive: task.is_nonexpansive(settings.step),
            sample: 1,
            seed: settings.seed,
            network: settings.network.as_ref(),
            secrets: settings.secrets.as_ref(),
        }
    }

    /// The losses of all pairs, in short.
    pub fn ours(&self) -> Result<Summary> {
        match self.secrets()? {
            Some(secrets) => {
                let Revealed { pairs, currency, .. } = hidden_by(secrets, self.iterations);
                Ok(Summary {
                    mean: pairs.mean,
                    worst: pairs.worst,
                    ..Summary::local(self.iterations, currency)
                })
            }
            None => self.method.way().ours(self),
        }
    }

    /// What pairs lose by the whole run of this seed.
    pub fn revealed(&self) -> Result<Revealed> {
        self.revealed_by(&Past::PLANNED)
    }

    /// The same of a run that is over.
    pub(super) fn revealed_by(&self, past: &Past) -> Result<Revealed> {
        match self.secrets()? {
            Some(secrets) => Ok(hidden_by(secrets, self.iterations)),
            None => Ok(self.method.way().revealed(self, past)?.with_room(self.iterations)),
        }
    }

    /// Noise that cancels, refused where the method has no use for it.
    pub(super) fn secrets(&self) -> Result<Option<&'a Secrets>> {
        if let Some(secrets) = self.secrets {
            let remedy = "only gossip and butterfly have a use for noise that cancels; leave it out";
            require(self.method.way().cancels(), "cancel", secrets.pairs().kappa(), remedy)?;
        }
        Ok(self.secrets)
    }

    /// What is overheard of it, planned or past.
    pub(super) fn overheard(&self, past: &Past) -> Result<Learning<'a>> {
        match self.secrets()? {
            Some(secrets) => Ok(Learning::Cancelling { pairs: secrets.pairs(), iterations: self.iterations }),
            None => self.method.way().overheard(self, past),
        }
    }

    /// What a release costs the peer that loses most, in units of a local one.
    pub fn share(&self) -> f64 {
        self.secrets.map_or(1.0, Secrets::worst)
    }

    /// Who sees all there is to see.
    pub fn sees_all(&self) -> Adversary {
        self.secrets.map_or_else(|| self.method.way().sees_all(), Secrets::adversary)
    }
}

/// What so many releases of everybody reveal where pairs hide them.
fn hidden_by(secrets: &Secrets, iterations: usize) -> Revealed {
    let pairs = Pairs::of(secrets.pairs().peers(), |_, u| iterations as f64 * secrets.of(u));
    Revealed { pairs, currency: Currency::Gaussian, standing: Standing::Proven }
}
