//! A peer's own noise together with that of its pairs: what one end adds the other takes away (`docs/theorems/cancelling.md`).
//!
//! A pair's noise is a function of `(secret, draw, coordinate)`, so both ends draw the same bits without a word. Here the secrets come of the seed.

use sottovoce_privacy::noise::simulation::PairSecret;
use sottovoce_protocol::public::{Cancelling, LOUDEST};
use sottovoce_protocol::{Law, Noise, Peer, Shared, Uncovered, Value};

use crate::noise::PeerNoise;

/// A peer's own noise, and that of its pairs on private values.
///
/// ```
/// use sottovoce_protocol::public::Cancelling;
/// use sottovoce_protocol::Noise;
/// use sottovoce_simulator::paired::Paired;
/// use sottovoce_topology::Graph;
/// let pairs = Cancelling::new(Graph::from_edges(2, [(0, 1)])?, 10.0)?;
/// let mut both = Paired::all(7, 2, Some(&pairs));
/// let (mut one, mut other) = (vec![0.0; 3], vec![0.0; 3]);
/// both[0].share(0, 2.0, &mut one)?;
/// both[1].share(0, 2.0, &mut other)?;
/// assert!(one.iter().zip(other).all(|(x, y)| *x != 0.0 && *x == -y));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Paired {
    own: PeerNoise,
    /// The peer's secrets, with the share of the own noise that a pair has, and its sign at this end.
    secrets: Vec<(PairSecret, f64)>,
}

/// The secret of two peers of the run `seed`, whoever asks.
pub fn secret(seed: u64, one: Peer, other: Peer) -> PairSecret {
    PairSecret::new(seed, one as u64, other as u64)
}

impl Paired {
    /// One for each of `peers` peers of the run `seed`.
    pub fn all(seed: u64, peers: usize, cancelling: Option<&Cancelling>) -> Vec<Self> {
        let secrets = |peer: Peer| match cancelling {
            Some(pairs) => {
                (pairs.ends(peer)).map(|(other, share)| (secret(seed, peer, other), share)).collect()
            }
            None => Vec::new(),
        };
        (0..peers).map(|peer| Self { own: PeerNoise::new(seed, peer), secrets: secrets(peer) }).collect()
    }

    /// Hides a private value as a machine does: in its own noise and that of the pairs together.
    pub fn hide(&self, draw: u64, scale: f64, value: &mut [f64]) -> Result<(), Uncovered> {
        let mut noise = vec![0.0; value.len()];
        self.own.add_by(Law::Gaussian, draw, scale, &mut noise)?;
        self.add(draw, scale, &mut noise)?;
        value.iter_mut().zip(noise).for_each(|(x, noise)| *x += noise);
        Ok(())
    }

    /// Adds the pairs' noise of a draw, for an own noise of this scale, to numbers.
    pub fn add(&self, draw: u64, scale: f64, noise: &mut [f64]) -> Result<(), Uncovered> {
        PairSecret::add_all(&self.scaled(draw, scale)?, draw, noise);
        Ok(())
    }

    /// Hides a private value of single precision: in its own noise and in that of the pairs, which has a scale of its own, the same for everybody.
    pub fn hide_single(
        &self,
        draw: u64,
        (scale, loud): (f64, f64),
        value: &mut Shared,
    ) -> Result<(), Uncovered> {
        if self.secrets.is_empty() {
            return self.own.add_single(draw, scale, value.to_mut());
        }
        let mut noise = Shared::zeros(value.len());
        self.own.add_single(draw, scale, noise.to_mut())?;
        self.add_single(draw, loud, noise.to_mut())?;
        value.add(1.0, &noise);
        Ok(())
    }

    /// The peer's own noise.
    pub fn own(&self) -> &PeerNoise {
        &self.own
    }

    /// Adds the pairs' noise to numbers of single precision.
    pub fn add_single(&self, draw: u64, scale: f64, noise: &mut [f32]) -> Result<(), Uncovered> {
        self.scaled(draw, scale)?.iter().for_each(|(secret, scale)| secret.add_single(draw, *scale, noise));
        Ok(())
    }

    /// Each pair's scale; none where there is no noise.
    fn scaled(&self, draw: u64, scale: f64) -> Result<Vec<(PairSecret, f64)>, Uncovered> {
        // A scale that is no scale must not pass for silence.
        if !(scale >= 0.0 && (LOUDEST * scale).is_finite()) {
            return Err(Uncovered { draw, scale });
        }
        let loud = self.secrets.iter().filter(|_| scale > 0.0);
        Ok(loud.map(|(secret, share)| (*secret, share * scale)).collect())
    }
}

impl Noise<Vec<f64>> for Paired {
    fn draw(&mut self, draw: u64, scale: f64, like: &Vec<f64>) -> Result<Vec<f64>, Uncovered> {
        self.own.draw(draw, scale, like)
    }

    fn share(&mut self, draw: u64, scale: f64, noise: &mut Vec<f64>) -> Result<(), Uncovered> {
        self.add(draw, scale, noise)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sottovoce_topology::family::{Family, generate};

    #[test]
    fn pairs_vanish_from_the_sum_and_differ_from_draw_to_draw() {
        let keys = generate(&Family::Complete { n: 6 }, 0, true).unwrap();
        let pairs = Cancelling::new(keys, 3.0).unwrap();
        let drawn = |draw| {
            let mut all = vec![vec![0.0; 50]; 6];
            for (noise, peer) in all.iter_mut().zip(Paired::all(1, 6, Some(&pairs))) {
                peer.add(draw, 2.0, noise).unwrap();
            }
            all
        };
        let (first, second) = (drawn(0), drawn(1));
        for i in 0..50 {
            let sum: f64 = first.iter().map(|noise| noise[i]).sum();
            assert!(sum.abs() < 1e-12, "{sum}");
        }
        assert_ne!(first, second);
        // Five pairs of deviation 6 each: the mean square of 300 numbers is 180, give or take 5 standard errors.
        let square = first.iter().flatten().map(|x| x * x).sum::<f64>() / 300.0;
        assert!((square - 180.0).abs() < 5.0 * 180.0 * (2.0_f64 / 150.0).sqrt(), "{square}");
    }

    #[test]
    fn a_scale_that_is_no_scale_covers_nothing() {
        let keys = generate(&Family::Complete { n: 2 }, 0, true).unwrap();
        let pairs = Cancelling::new(keys, 1.0).unwrap();
        for scale in [f64::NAN, -1.0, f64::INFINITY] {
            assert!(Paired::all(1, 2, Some(&pairs))[0].add(0, scale, &mut [0.0]).is_err(), "{scale}");
        }
    }
}
