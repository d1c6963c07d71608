//! Noise that cancels: who shares a secret with whom, and how loud the pairs are.
//!
//! Two peers who share a secret draw the same Gaussian; one adds it to what it first sends, the other takes it away. Sums of all peers know nothing of it,
//! and everybody else hears it (`docs/theorems/cancelling.md`).

use sottovoce_topology::Graph;

use crate::consensus::{Hidden, loudness};
use crate::{Error, Result, require};

/// Beyond this, doubles would lose the values under the noise of the pairs.
pub const LOUDEST: f64 = 1e6;

/// The same for numbers of single precision.
const LOUDEST_SINGLE: f64 = 1e3;

/// Who shares a secret with whom, and the scale of a pair's noise.
#[derive(Debug, Clone, PartialEq)]
pub struct Cancelling {
    keys: Graph,
    kappa: f64,
}

impl Cancelling {
    /// Pairs are the edges of `keys`; their noise is `kappa` times the own one.
    pub fn new(keys: Graph, kappa: f64) -> Result<Self> {
        Self::check(kappa)?;
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

    /// A peer's pairs: the other end, and what this one adds of their noise, in units of the own one. The smaller number adds, the larger takes away.
    pub fn ends(&self, peer: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let share = move |other: usize| if peer < other { self.kappa } else { -self.kappa };
        self.keys.neighbors(peer).iter().map(move |&other| (other as usize, share(other as usize)))
    }

    /// The scale of a pair's noise, in units of the own one.
    pub fn kappa(&self) -> f64 {
        self.kappa
    }

    /// Refuses scales of a pair's noise that are none, or so loud that nothing else is heard.
    pub fn check(kappa: f64) -> Result<()> {
        let remedy = format!(
            "give a number from 0 to {LOUDEST:e}, in units of sigma: beyond, doubles lose the values in the noise of the pairs"
        );
        require((0.0..=LOUDEST).contains(&kappa), "cancel", kappa, remedy)
    }

    /// Refuses pairs whose noise on these agents' gradients would not cancel, or cover nothing.
    pub fn check_gradients(&self, hidden: &[Option<Hidden>]) -> Result<()> {
        let (kappa, agents) = (self.kappa, hidden.len());
        if self.peers() != agents {
            return Err(Error::parameter(
                "keys",
                self.peers(),
                format!("there are {agents} agents; name each of them"),
            ));
        }
        if !(0.0..=LOUDEST_SINGLE).contains(&kappa) {
            let remedy = format!(
                "give at most {LOUDEST_SINGLE:e}: beyond, single precision loses the values in the noise of the pairs"
            );
            return Err(Error::parameter("cancel", kappa, remedy));
        }
        if let Some(agent) = hidden.iter().position(Option::is_none) {
            let remedy = "who has no rows adds no noise, so that her pairs would not cancel; leave her out";
            return Err(Error::parameter(
                "cancel",
                format!("asked for, and agent {agent} has no rows"),
                remedy,
            ));
        }
        let bands = hidden.iter().flatten().map(|hidden| hidden.band);
        if let Some(other) = bands.clone().zip(bands.skip(1)).find(|(one, other)| one != other) {
            let remedy = "what one end takes back over time the other must, too; give everybody the same";
            return Err(Error::parameter("band", format!("{:?}", other.1), remedy));
        }
        let loud = loudness(hidden);
        if !(loud > 0.0 && loud.is_finite()) {
            return Err(Error::parameter(
                "cancel",
                kappa,
                "pairs are as loud as there is noise; give everybody some",
            ));
        }
        Ok(())
    }
}
