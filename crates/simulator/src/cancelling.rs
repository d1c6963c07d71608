//! Noise that cancels: who shares a secret with whom, and how loud the pairs are.
//!
//! Two peers who share a secret draw the same Gaussian; one adds it to what it first sends, the other takes it away. Sums of all peers know nothing of it,
//! and everybody else hears it (`docs/theorems/cancelling.md`).

use sottovoce_topology::Graph;

use crate::{Result, require};

/// Beyond this, doubles would lose the values under the noise of the pairs.
pub const LOUDEST: f64 = 1e6;

/// Who shares a secret with whom, and the scale of a pair's noise.
#[derive(Debug, Clone, PartialEq)]
pub struct Cancelling {
    keys: Graph,
    kappa: f64,
}

impl Cancelling {
    /// Pairs are the edges of `keys`; their noise is `kappa` times the own one.
    pub fn new(keys: Graph, kappa: f64) -> Result<Self> {
        let remedy = format!(
            "give a number from 0 to {LOUDEST:e}, in units of sigma: beyond, doubles lose the values in the noise of the pairs"
        );
        require((0.0..=LOUDEST).contains(&kappa), "cancel", kappa, remedy)?;
        Ok(Self { keys, kappa })
    }

    /// Number of peers.
    pub fn peers(&self) -> usize {
        self.keys.nodes()
    }

    /// The graph of the secrets.
    pub fn keys(&self) -> &Graph {
        &self.keys
    }

    /// The scale of a pair's noise, in units of the own one.
    pub fn kappa(&self) -> f64 {
        self.kappa
    }
}
