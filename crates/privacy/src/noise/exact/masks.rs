//! Masks of two peers who share a secret: uniform words that one adds and the other takes away (`docs/theorems/ring.md`).
//!
//! Modulo a power of two a uniform word hides whatever it is added to, perfectly; what remains of all masks in a sum of all peers is nothing, bit for bit.

use std::fmt;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha20Rng;

use super::ExactNoise;

/// What two peers share and nobody else may know: a key of ChaCha20.
///
/// Rounds are numbered streams under the key, and coordinates words of a stream. Whoever uses a round twice gives away the difference of what it hid.
///
/// ```
/// use sottovoce_privacy::noise::exact::Secret;
/// let (mut mine, mut hers) = ([5u64, 6], [7u64, 8]);
/// Secret::new([9; 32]).add(3, &mut mine);
/// Secret::new([9; 32]).subtract(3, &mut hers);
/// assert_ne!(mine, [5, 6]);
/// assert_eq!(mine[1].wrapping_add(hers[1]), 6 + 8);
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Secret([u8; 32]);

impl Secret {
    /// These bytes, which two peers agreed on out of everybody's hearing.
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The secret of two peers, whichever is named first, in a simulated run: whoever knows the seed knows it.
    pub fn simulated(seed: u64, a: u64, b: u64) -> Self {
        Self(labelled([seed, a.min(b), a.max(b)], b"sv-masks")) // whole numbers
    }

    /// Adds the words of a round, modulo `2^64`.
    pub fn add(&self, round: u64, words: &mut [u64]) {
        let mut stream = self.stream(round);
        words.iter_mut().for_each(|word| *word = word.wrapping_add(stream.next_u64()));
    }

    /// Takes them away again.
    pub fn subtract(&self, round: u64, words: &mut [u64]) {
        let mut stream = self.stream(round);
        words.iter_mut().for_each(|word| *word = word.wrapping_sub(stream.next_u64()));
    }

    /// The source of noise that the two share in a round: both draw the same. A round has masks or noise, never both.
    pub fn noise(&self, round: u64) -> ExactNoise<ChaCha20Rng> {
        ExactNoise::new(self.stream(round))
    }

    fn stream(&self, round: u64) -> ChaCha20Rng {
        let mut stream = ChaCha20Rng::from_seed(self.0);
        stream.set_stream(round);
        stream
    }
}

/// Three numbers and eight letters as 32 bytes.
pub(super) fn labelled(numbers: [u64; 3], label: &[u8; 8]) -> [u8; 32] {
    let [a, b, c] = numbers.map(u64::to_le_bytes);
    let mut all = [0; 32];
    all.as_chunks_mut().0.copy_from_slice(&[a, b, c, *label]);
    all
}

// Written by hand: a derived one would print the key.
impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_are_a_function_of_secret_and_round() {
        let mask = |secret: &Secret, round| {
            let mut words = [0; 4];
            secret.add(round, &mut words);
            words
        };
        let base = mask(&Secret::simulated(1, 2, 3), 4);
        assert_eq!(base, mask(&Secret::simulated(1, 3, 2), 4));
        for (other, round) in [((1, 2, 3), 5), ((1, 2, 4), 4), ((2, 2, 3), 4)] {
            assert_ne!(base, mask(&Secret::simulated(other.0, other.1, other.2), round));
        }
        assert_eq!(format!("{:?}", Secret::new([1; 32])), "Secret(..)");
    }
}
