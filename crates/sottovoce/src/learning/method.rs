//! Ways to learn together, and the schemes that carry them.

use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};
use sottovoce_privacy::noise::simulation::SimulationRng;
use sottovoce_simulator::averaging::Scheme;
use sottovoce_topology::mixing::Mixing;

use crate::{Error, Result, require};

/// The stream of positions; 0 is noise.
const POSITIONS: u64 = 0x706f_7369;

/// A way to learn.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Muffliato-GD: gossip after every gradient step of all, nearly to consensus.
    Gossip {
        /// Rounds of gossip after each gradient step: `K`.
        rounds: usize,
        /// Whether gossip is accelerated.
        accelerated: bool,
        /// Fresh noise on every message, as a share of the noise on a gradient.
        relay: f64,
    },
    /// The same with exact averaging in `log2 n` rounds, in fresh public positions every time. It ignores the graph.
    Butterfly,
    /// A token walks, and every holder makes a step.
    Walk {
        /// Tokens in parallel; the model is their mean.
        tokens: usize,
        /// Steps in which a token is only passed on.
        burn_in: usize,
    },
    /// Everyone's noisy gradients are public.
    Local,
    /// A trusted party adds noise to the sum of all gradients: what a server would do.
    Central,
}

impl Method {
    /// Its name for people.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Gossip { relay, .. } if *relay > 0.0 => "gossip with relay noise",
            Self::Gossip { .. } => "gossip",
            Self::Butterfly => "butterfly",
            Self::Walk { .. } => "random walk",
            Self::Local => "local",
            Self::Central => "central",
        }
    }

    /// `K = ceil(gap^(-1/2) ln n)`: the rounds of gossip that the paper asks for, where gradients differ no more than their noise.
    pub fn gossip_rounds(gap: f64, peers: usize) -> usize {
        // A gap of exactly 1 may be computed a rounding error above.
        ((peers as f64).ln() / gap.min(1.0).sqrt() - 1e-9).ceil().max(1.0) as usize
    }

    /// The averaging after each gradient step, one scheme for all iterations or one each; none for walks and servers.
    pub fn schemes(
        &self,
        mixing: Option<&Mixing>,
        peers: usize,
        iterations: usize,
        seed: u64,
    ) -> Result<Vec<Scheme>> {
        match *self {
            Self::Gossip { rounds, accelerated, relay } => {
                let Some(mixing) = mixing else {
                    return Err(Error::parameter("graph", "missing", "gossip needs one"));
                };
                require(
                    relay == 0.0 || !accelerated,
                    "relay",
                    relay,
                    "relay noise goes with plain gossip only",
                )?;
                Ok(vec![Scheme::Gossip { mixing: mixing.clone(), rounds, accelerated }])
            }
            Self::Butterfly | Self::Local => {
                let draw = |iteration| Scheme::Butterfly { positions: positions(peers, seed, iteration) };
                Ok((0..iterations).map(draw).collect())
            }
            Self::Walk { .. } | Self::Central => Ok(Vec::new()),
        }
    }
}

/// The public positions of a butterfly's peers in an iteration: a fresh permutation each time, so that nobody is always next to the same.
pub fn positions(peers: usize, seed: u64, iteration: usize) -> Vec<usize> {
    let mut positions: Vec<usize> = (0..peers).collect();
    positions.shuffle(&mut SimulationRng::new(seed, 0, iteration as u64).purpose(POSITIONS));
    positions
}
