//! Noise that cancels in learning: who shares a secret with whom, how many may collude, and what everybody loses then by one release, in units of a local one.
//!
//! Someone who sees every message knows every model, so that releases of all steps compose, each under fresh noise of the pairs
//! (`docs/theorems/cancelling.md`). Peers are no better: each of them is one of those who may collude.

use serde::{Deserialize, Serialize};
use sottovoce_privacy::Adversary;
use sottovoce_protocol::public::Cancelling;
use sottovoce_topology::Graph;

use super::with_any;
use crate::descent::ROUNDING;
use crate::exact::{Leakage, at_most_one};
use crate::{Error, Result};

/// What rounding adds to a loss, at most. (A descent's guarantee adds half of it by itself.)
pub(crate) const HAIR: f64 = 2.0 * ROUNDING;

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
        if colluders == 0 {
            let remedy = "every peer holds its own secrets, and sees every model; give at least 1";
            return Err(Error::parameter("colluders", colluders, remedy));
        }
        let losses = upward(&with_any(&pairs, colluders)?);
        // (Each is at most 1, and what is no number was counted as 1.)
        let worst = losses.iter().fold(0.0, |worst, &loss| if loss > worst { loss } else { worst });
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

    /// The same of everybody.
    pub fn losses(&self) -> &[f64] {
        &self.losses
    }

    /// The same of one peer.
    pub fn of(&self, peer: usize) -> f64 {
        self.losses[peer]
    }
}

/// The losses, each a hair more, as is added where a loss becomes a guarantee; a local release loses no more than itself.
pub(crate) fn upward(found: &Leakage) -> Vec<f64> {
    found.losses.iter().map(|loss| at_most_one(loss + found.rounding + HAIR)).collect()
}
