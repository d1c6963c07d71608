//! The noise that drivers hand to peers in a simulation.
//!
//! It is a function of the seed, the peer and the draw: which event comes first, which thread runs a peer and how
//! much another peer drew change nothing.

use sottovoce_privacy::noise::simulation::{ContinuousLaw, SimulatedNoise};
use sottovoce_protocol::{Law, Noise, Peer, Uncovered};

/// Gaussian numbers of one peer: draw `k` is the noise of `(seed, peer, k)`. It protects nobody.
///
/// Nothing has to be cut at [`FAR`](sottovoce_protocol::FAR) scales: what 53 random bits can give is less than 14 of them.
///
/// ```
/// use sottovoce_protocol::Noise;
/// use sottovoce_simulator::noise::PeerNoise;
/// let (mut first, mut again) = (PeerNoise::new(7, 3), PeerNoise::new(7, 3));
/// let late = first.draw(5, 2.0, &vec![0.0; 2])?;
/// again.draw(4, 1.0, &vec![0.0; 9])?;
/// assert_eq!(late, again.draw(5, 2.0, &vec![0.0; 2])?);
/// # Ok::<(), sottovoce_protocol::Uncovered>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PeerNoise {
    seed: u64,
    peer: u64,
}

impl PeerNoise {
    /// The noise of `peer` in the run `seed`.
    pub fn new(seed: u64, peer: Peer) -> Self {
        Self { seed, peer: peer as u64 }
    }

    /// One for each of `peers` peers.
    pub fn all(seed: u64, peers: usize) -> Vec<Self> {
        (0..peers).map(|peer| Self::new(seed, peer)).collect()
    }

    /// Adds a draw of any law to a value; nothing where the scale is 0.
    pub fn add_by(&self, law: Law, draw: u64, scale: f64, value: &mut [f64]) -> Result<(), Uncovered> {
        let shape = match law {
            Law::Gaussian => ContinuousLaw::gaussian(scale),
            Law::Laplace => ContinuousLaw::laplace(scale),
            Law::Radial => ContinuousLaw::radial(scale),
        };
        // A scale that is no scale must not pass for silence.
        let shape = shape.map_err(|_| Uncovered { draw, scale })?;
        if scale != 0.0 {
            SimulatedNoise::new(self.seed, self.peer, draw).add(shape, value);
        }
        Ok(())
    }

    /// Adds a Gaussian draw to numbers of single precision; nothing where the scale is 0.
    pub fn add_single(&self, draw: u64, scale: f64, value: &mut [f32]) -> Result<(), Uncovered> {
        let law = ContinuousLaw::gaussian(scale).map_err(|_| Uncovered { draw, scale })?;
        if scale != 0.0 {
            SimulatedNoise::new(self.seed, self.peer, draw).add_single(law, value);
        }
        Ok(())
    }

    /// A draw of standard deviation 1: so many numbers.
    pub fn standard(&self, draw: u64, numbers: usize) -> Vec<f64> {
        let mut out = vec![0.0; numbers];
        SimulatedNoise::new(self.seed, self.peer, draw).fill(ContinuousLaw::STANDARD, &mut out);
        out
    }
}

impl Noise<Vec<f64>> for PeerNoise {
    #[inline]
    fn draw(&mut self, draw: u64, scale: f64, like: &Vec<f64>) -> Result<Vec<f64>, Uncovered> {
        let mut out = vec![0.0; like.len()];
        if scale != 0.0 {
            // A scale that is no scale must not pass for silence.
            let law = ContinuousLaw::gaussian(scale).map_err(|_| Uncovered { draw, scale })?;
            SimulatedNoise::new(self.seed, self.peer, draw).fill(law, &mut out);
        }
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_that_is_no_scale_covers_nothing() {
        for scale in [-1.0, f64::NAN, f64::INFINITY] {
            assert!(PeerNoise::new(1, 2).draw(0, scale, &vec![0.0]).is_err(), "{scale}");
        }
    }
}
