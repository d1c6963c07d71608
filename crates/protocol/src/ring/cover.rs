//! What hides a value on the ring: a share of exact noise, and the masks of all pairs, or noise of theirs that cancels.

use rand::CryptoRng;
use sottovoce_privacy::noise::exact::{DiscreteGaussian, ExactNoise, Secret};

use super::{Residues, Ring};
use crate::Peer;

/// One peer's cover.
///
/// Rounds are used once, in increasing order: a stream that hid two values gives away their difference.
#[derive(Debug, Clone)]
pub struct Cover {
    ring: Ring,
    /// The secrets, and whether this peer is the one who adds.
    pairs: Vec<(Secret, bool)>,
    /// The law of what pairs add and take away, where it is no mask.
    loud: Option<DiscreteGaussian>,
    /// The last round that was used, by this peer, ever.
    last: Option<u64>,
}

/// A round was asked for whose streams may have been used before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "`round` is {round}: streams up to round {last} are used, and one that hides two values gives away their difference; take a later round"
)]
pub struct Reused {
    /// The round that was asked for.
    pub round: u64,
    /// The last that was used.
    pub last: u64,
}

impl Cover {
    /// The cover of `peer`, who shares these secrets, each with another peer. `last` is the last round that any of them was used in: it must be kept as long
    /// as the secrets are.
    pub fn new(
        ring: Ring,
        peer: Peer,
        secrets: impl IntoIterator<Item = (Peer, Secret)>,
        last: Option<u64>,
    ) -> Self {
        let pairs = secrets.into_iter().map(|(other, secret)| (secret, peer < other)).collect();
        Self { ring, pairs, loud: None, last }
    }

    /// The same with noise of this law in place of masks (`docs/theorems/grid.md`).
    pub fn loud(self, law: DiscreteGaussian) -> Self {
        Self { loud: Some(law), ..self }
    }

    /// A fresh share of the noise, from this source.
    pub fn share<R: CryptoRng>(&self, noise: &mut ExactNoise<R>) -> Residues {
        let share = |_| noise.sample(self.ring.share());
        Residues::new((0..self.ring.agreed().width).map(share).collect(), self.ring.agreed().bits)
    }

    /// Adds the masks of a round, or the pairs' noise.
    pub fn mask(&mut self, round: u64, value: &mut Residues) -> Result<(), Reused> {
        if let Some(last) = self.last.filter(|&last| round <= last) {
            return Err(Reused { round, last });
        }
        self.last = Some(round);
        let mut words = value.words().to_vec();
        for (secret, adds) in &self.pairs {
            match (&self.loud, *adds) {
                (Some(law), adds) => {
                    let mut noise = secret.noise(round);
                    for word in &mut words {
                        let drawn = noise.sample(law).cast_unsigned();
                        *word = if adds { word.wrapping_add(drawn) } else { word.wrapping_sub(drawn) };
                    }
                }
                (None, true) => secret.add(round, &mut words),
                (None, false) => secret.subtract(round, &mut words),
            }
        }
        *value = Residues::of_words(words, self.ring.agreed().bits);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Value;
    use rand::SeedableRng;
    use rand_chacha::ChaCha20Rng;

    fn noise(seed: u64) -> ExactNoise<ChaCha20Rng> {
        ExactNoise::new(ChaCha20Rng::seed_from_u64(seed))
    }

    /// What peer 0 sends of this value, with fresh noise.
    fn message(ring: &Ring, value: f64, round: u64, seed: u64) -> Residues {
        let secrets = (1..4).map(|other| (other, Secret::simulated(7, 0, other as u64)));
        let mut cover = Cover::new(ring.clone(), 0, secrets, None);
        let mut said = ring.encode(&[value]).unwrap();
        said.add(1.0, &cover.share(&mut noise(seed)));
        cover.mask(round, &mut said).unwrap();
        said
    }

    #[test]
    fn a_stream_that_is_used_twice_gives_the_difference_away() {
        let ring = Ring::fitting(4, 1, 1.0, 1e-3).unwrap();
        let difference = |a: &Residues, b: &Residues| {
            let mut difference = a.clone();
            difference.add(-1.0, b);
            ring.decode(&difference)[0]
        };
        let first = message(&ring, 0.75, 3, 1);
        let again = message(&ring, -0.25, 3, 2);
        assert!((difference(&first, &again) - 1.0).abs() < 0.02, "two values in one round");
        let next = message(&ring, -0.25, 4, 2);
        assert!((difference(&first, &next) - 1.0).abs() > 0.1, "and in two");
    }

    #[test]
    fn so_it_is_refused() {
        let ring = Ring::fitting(4, 1, 1.0, 1e-3).unwrap();
        let mut said = ring.encode(&[0.5]).unwrap();
        let mut cover = Cover::new(ring, 0, [(1, Secret::new([1; 32]))], Some(5));
        assert_eq!(cover.mask(5, &mut said), Err(Reused { round: 5, last: 5 }));
        assert!(cover.mask(6, &mut said).is_ok());
        let before = said.clone();
        let error = cover.mask(6, &mut said).unwrap_err().to_string();
        assert!(error.starts_with("`round` is 6: streams up to round 6 are used"), "{error}");
        assert_eq!(said, before);
    }

    #[test]
    fn masks_of_all_peers_cancel_and_so_does_their_noise() {
        let ring = Ring::fitting(5, 3, 1.0, 0.5).unwrap();
        let zero = Residues::new(vec![0; 3], ring.agreed().bits);
        for law in [None, Some(DiscreteGaussian::at_least(40.0).unwrap())] {
            let mut sum = zero.clone();
            for peer in 0..5 {
                let others = (0..5).filter(|&other| other != peer);
                let secrets = others.map(|other| (other, Secret::simulated(7, peer as u64, other as u64)));
                let mut mask = zero.clone();
                let mut cover = Cover { loud: law.clone(), ..Cover::new(ring.clone(), peer, secrets, None) };
                cover.mask(0, &mut mask).unwrap();
                assert_ne!(mask, zero);
                sum.add(1.0, &mask);
            }
            assert_eq!(sum, zero);
        }
    }

    /// Noise of two secrets together has the variance of both, within five standard errors.
    #[test]
    fn noise_of_pairs_has_its_law() {
        let ring = Ring::fitting(3, 20_000, 1e6, 0.5).unwrap();
        let secrets = [1, 2].map(|other| (other, Secret::simulated(7, 0, other as u64)));
        let law = DiscreteGaussian::at_least(40.0).unwrap();
        let mut noise = Residues::new(vec![0; 20_000], ring.agreed().bits);
        Cover::new(ring.clone(), 0, secrets, None).loud(law).mask(0, &mut noise).unwrap();
        let steps: Vec<f64> = ring.decode(&noise).iter().map(|x| x / ring.agreed().step).collect();
        let variance = steps.iter().map(|x| x * x).sum::<f64>() / 20_000.0;
        assert!((variance / 3200.0 - 1.0).abs() < 5.0 * (2.0_f64 / 20_000.0).sqrt(), "{variance}");
    }
}
