//! Noise that cancels in learning: who shares a secret with whom, how many may collude, and what everybody loses then, in units of one local release.
//!
//! Someone who sees every message knows every model, so that releases of all steps compose, each under fresh noise of the pairs
//! (`docs/theorems/cancelling.md`). Peers are no better: each of them is one of those who may collude.

use serde::{Deserialize, Serialize};
use sottovoce_privacy::{Adversary, Standing};
use sottovoce_simulator::cancelling::Cancelling;
use sottovoce_topology::Graph;
use sottovoce_views::cancelling::with_any;

use super::calibrate::Currency;
use super::losses::{Revealed, Summary};
use super::path::Pairs;
use crate::{Error, Result, require};

/// What rounding adds to a loss, at most.
const HAIR: f64 = 2e-9;

/// Who shares secrets, and how many of them may tell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct Secrets {
    pairs: Cancelling,
    colluders: usize,
    /// Of each peer's releases one by one, with those colluders who are worst for it.
    losses: Vec<f64>,
    worst: f64,
}

/// As a file has it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    peers: usize,
    kappa: f64,
    keys: Vec<(usize, usize)>,
    colluders: usize,
}

impl From<Secrets> for Stored {
    fn from(secrets: Secrets) -> Self {
        let Secrets { pairs, colluders, .. } = secrets;
        let (peers, kappa, keys) = (pairs.peers(), pairs.kappa(), pairs.keys().edges().collect());
        Self { peers, kappa, keys, colluders }
    }
}

impl TryFrom<Stored> for Secrets {
    type Error = Error;

    fn try_from(stored: Stored) -> Result<Self> {
        let keys = Graph::from_edges(stored.peers, stored.keys)?;
        Self::new(Cancelling::new(keys, stored.kappa)?, stored.colluders)
    }
}

impl Secrets {
    /// Pairs, and how many peers may collude: at least one, since each of them holds secrets.
    pub fn new(pairs: Cancelling, colluders: usize) -> Result<Self> {
        let remedy = "every peer holds its own secrets, and sees every model; give at least 1";
        require(colluders > 0, "colluders", colluders, remedy)?;
        let found = with_any(&pairs, colluders)?;
        // A hair more, as is added where a loss becomes a guarantee.
        let upward =
            |loss: f64| if loss + found.rounding + HAIR < 1.0 { loss + found.rounding + HAIR } else { 1.0 };
        let losses: Vec<f64> = found.losses.iter().map(|loss| upward(*loss)).collect();
        let worst = upward(found.worst().1);
        Ok(Self { pairs, colluders, losses, worst })
    }

    /// The pairs.
    pub fn pairs(&self) -> &Cancelling {
        &self.pairs
    }

    /// How many may collude.
    pub fn colluders(&self) -> usize {
        self.colluders
    }

    /// Who attacks: someone who sees every message, with the help of so many.
    pub fn adversary(&self) -> Adversary {
        Adversary::WireTapperWithAny(self.colluders)
    }

    /// What the peer that loses most loses by a release, in units of a local one.
    pub fn worst(&self) -> f64 {
        self.worst
    }

    /// The same of one peer.
    pub fn of(&self, peer: usize) -> f64 {
        self.losses[peer]
    }

    /// What so many releases of everybody reveal.
    pub(super) fn revealed(&self, iterations: usize) -> Revealed {
        let pairs = Pairs::of(self.losses.len(), |_, u| iterations as f64 * self.losses[u]);
        Revealed { pairs, currency: Currency::Gaussian, standing: Standing::Proven }
    }

    /// The same in short.
    pub(super) fn summary(&self, iterations: usize) -> Summary {
        let Revealed { pairs, currency, .. } = self.revealed(iterations);
        Summary { mean: pairs.mean, worst: pairs.worst, ..Summary::local(iterations, currency) }
    }
}
