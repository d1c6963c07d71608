//! Noise that two simulated peers draw alike: the streams of their secret.
//!
//! One of the two adds it to what it first sends, the other takes it away (`docs/theorems/cancelling.md`). In a simulation the secret follows from the seed
//! and hides nothing from whoever knows that.

use rand_distr::{Distribution, StandardNormal};

use super::lanes::{Ahead, Keys, LANES};
use super::simulation::SimulationRng;

/// The last quarter of every secret: no other key in this project ends so.
const TAG: &[u8; 8] = b"sv-pairs";

/// The secret of two peers of a simulated run.
///
/// It is the 256-bit key `seed || smaller peer || larger peer || "sv-pairs"` of ChaCha8; rounds are numbered streams under it. So the noise of a pair in a
/// round has the same bits at both ends, and no two rounds share any.
///
/// ```
/// use sottovoce_privacy::noise::simulation::PairSecret;
/// let (mut mine, mut hers) = ([1.0; 3], [2.0; 3]);
/// PairSecret::new(7, 4, 9).add(5, 0.5, &mut mine);
/// PairSecret::new(7, 9, 4).add(5, -0.5, &mut hers);
/// assert!(mine.iter().zip(hers).all(|(mine, hers)| (mine + hers - 3.0).abs() < 1e-12));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PairSecret([u64; 4]);

impl PairSecret {
    /// The secret of two peers, whichever is named first, in the run `seed`.
    pub fn new(seed: u64, a: u64, b: u64) -> Self {
        Self([seed, a.min(b), a.max(b), u64::from_le_bytes(*TAG)]) // whole numbers
    }

    /// Adds `scale` times the pair's Gaussians of a round, one for each coordinate; the other peer adds them with the opposite scale.
    pub fn add(&self, round: u64, scale: f64, values: &mut [f64]) {
        let mut rng = self.stream(round);
        for value in values {
            let noise: f64 = StandardNormal.sample(&mut rng);
            *value += scale * noise;
        }
    }

    /// The same for numbers of single precision, each noise rounded before it is added.
    pub fn add_single(&self, round: u64, scale: f64, values: &mut [f32]) {
        let mut rng = self.stream(round);
        for value in values {
            let noise: f64 = StandardNormal.sample(&mut rng);
            *value += (scale * noise) as f32;
        }
    }

    /// The noises of several pairs one after the other, each with its scale: the bits of as many calls of [`Self::add`]. For single numbers the streams
    /// are computed side by side.
    ///
    /// ```
    /// use sottovoce_privacy::noise::simulation::PairSecret;
    /// let pairs: Vec<(PairSecret, f64)> = (1..50).map(|b| (PairSecret::new(7, 0, b), 2.0)).collect();
    /// let (mut at_once, mut in_turn) = ([1.0], [1.0]);
    /// PairSecret::add_all(&pairs, 3, &mut at_once);
    /// pairs.iter().for_each(|(secret, scale)| secret.add(3, *scale, &mut in_turn));
    /// assert_eq!(at_once, in_turn);
    /// ```
    pub fn add_all(pairs: &[(Self, f64)], round: u64, values: &mut [f64]) {
        let [value] = values else {
            return pairs.iter().for_each(|(secret, scale)| secret.add(round, *scale, values));
        };
        for pairs in pairs.chunks(LANES) {
            let words = Keys::new(pairs.iter().map(|(secret, _)| secret.0)).first_words(round);
            for ((secret, scale), word) in pairs.iter().zip(words) {
                let noise: f64 = StandardNormal.sample(&mut Ahead::new(word, || secret.stream(round)));
                *value += scale * noise;
            }
        }
    }

    fn stream(&self, round: u64) -> SimulationRng {
        SimulationRng::keyed(self.0).numbered(round)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(secret: PairSecret, round: u64) -> [f64; 4] {
        let mut out = [0.0; 4];
        secret.add(round, 1.0, &mut out);
        out
    }

    #[test]
    fn pairs_rounds_and_seeds_have_streams_of_their_own() {
        let base = noise(PairSecret::new(1, 2, 3), 4);
        assert_eq!(base, noise(PairSecret::new(1, 3, 2), 4));
        for (secret, round) in [((1, 2, 3), 5), ((1, 2, 4), 4), ((1, 1, 3), 4), ((2, 2, 3), 4)] {
            assert_ne!(base, noise(PairSecret::new(secret.0, secret.1, secret.2), round));
        }
        let mut own = [0.0; 4];
        super::super::simulation::SimulatedNoise::new(1, 2, 3)
            .fill(super::super::simulation::ContinuousLaw::STANDARD, &mut own);
        assert_ne!(base, own, "noises of pairs are nobody's own");
    }

    #[test]
    fn streams_side_by_side_have_the_same_bits() {
        for (count, round) in [(1, 0), (31, 1), (32, u64::MAX), (33, 1 << 40), (1000, 7)] {
            let pairs: Vec<_> =
                (0..count).map(|b| (PairSecret::new(5, 77, b), 0.1 * b as f64 - 3.0)).collect();
            let (mut at_once, mut in_turn) = ([0.25], [0.25]);
            PairSecret::add_all(&pairs, round, &mut at_once);
            pairs.iter().for_each(|(secret, scale)| secret.add(round, *scale, &mut in_turn));
            assert_eq!(at_once, in_turn, "{count} pairs, round {round}");
        }
    }
}
