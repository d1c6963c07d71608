//! Fast, repeatable noise for simulations; it protects nobody.
//!
//! The generator is counter-based: the bits of a triple `(seed, peer, round)` are ChaCha8 under a key that *is* that
//! triple, so they do not depend on which thread asked first or on how much another peer drew. Floating-point Gaussian and
//! Laplace variables are then as good as exact ones, because nobody attacks the low bits of a simulation.

use std::convert::Infallible;

use rand::{Rng, SeedableRng, TryRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Exp1, StandardNormal};

use super::lanes::{Ahead, Keys, LANES};
pub use super::pairs::PairSecret;
pub use super::seed::{Seed, Stream};
use crate::{Result, require};

/// The last quarter of every key: no other use of ChaCha8 in this project has it.
const TAG: &[u8; 8] = b"sv-noise";

/// The random bits of one peer in one round of a simulated run.
///
/// The 256-bit key is `seed || peer || round || "sv-noise"`, each number in eight little-endian bytes. Distinct triples
/// have distinct keys, with no hash to collide, and streams under distinct keys are independent as far as ChaCha8 is a
/// pseudorandom function. One stream has `2^64` blocks of 64 bytes, more than any run draws.
///
/// It implements [`Rng`] and deliberately not [`rand::CryptoRng`]: anyone who knows the seed knows the noise. Exact
/// samplers ask for the latter, so it does not fit them (see [`super::exact`]). For the same reason it must never
/// dereference to the generator inside, which would lend it that trait.
///
/// ```
/// use rand::Rng;
/// use sottovoce_privacy::noise::simulation::SimulationRng;
/// let first = |peer, round| SimulationRng::new(7, peer, round).next_u64();
/// assert_eq!(first(1, 2), first(1, 2));
/// assert_ne!(first(1, 2), first(2, 1));
/// ```
#[derive(Debug, Clone)]
pub struct SimulationRng(ChaCha8Rng);

impl SimulationRng {
    /// The stream of `peer` in `round` of the run `seed`.
    pub fn new(seed: u64, peer: u64, round: u64) -> Self {
        Self::keyed(key(seed, peer, round))
    }

    pub(super) fn keyed(words: [u64; 4]) -> Self {
        let mut key = [0; 32];
        key.as_chunks_mut().0.copy_from_slice(&words.map(u64::to_le_bytes));
        Self(ChaCha8Rng::from_seed(key))
    }

    /// The same triple for another purpose: a stream apart, from its beginning. [`Seed::stream`] gives them by name.
    pub(super) fn numbered(mut self, number: u64) -> Self {
        self.0.set_stream(number);
        self.0.set_word_pos(0);
        self
    }
}

/// The key of a triple.
fn key(seed: u64, peer: u64, round: u64) -> [u64; 4] {
    [seed, peer, round, u64::from_le_bytes(*TAG)]
}

impl TryRng for SimulationRng {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> std::result::Result<u32, Infallible> {
        Ok(self.0.next_u32())
    }

    fn try_next_u64(&mut self) -> std::result::Result<u64, Infallible> {
        Ok(self.0.next_u64())
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> std::result::Result<(), Infallible> {
        self.0.fill_bytes(bytes);
        Ok(())
    }
}

/// A continuous law, centred at zero, for simulations.
///
/// ```
/// use sottovoce_privacy::noise::simulation::ContinuousLaw;
/// assert!(ContinuousLaw::gaussian(1.5).is_ok());
/// assert!(ContinuousLaw::laplace(-1.0).is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ContinuousLaw {
    shape: Shape,
    scale: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Gaussian,
    Laplace,
    Radial,
}

impl ContinuousLaw {
    /// The Gaussian of standard deviation 1.
    pub const STANDARD: Self = Self { shape: Shape::Gaussian, scale: 1.0 };

    /// The Gaussian of this standard deviation: finite, zero (no noise, the baseline of a sweep) or more.
    pub fn gaussian(std_dev: f64) -> Result<Self> {
        Self::scaled(Shape::Gaussian, "std_dev", std_dev)
    }

    /// The Laplace of this scale (standard deviation `sqrt(2)` times that): finite, zero or more.
    pub fn laplace(scale: f64) -> Result<Self> {
        Self::scaled(Shape::Laplace, "scale", scale)
    }

    /// In a uniform direction of all coordinates together, with a density proportional to `exp(-|b|/scale)`: finite, zero or more.
    pub fn radial(scale: f64) -> Result<Self> {
        Self::scaled(Shape::Radial, "scale", scale)
    }

    fn scaled(shape: Shape, field: &'static str, scale: f64) -> Result<Self> {
        require(scale.is_finite() && scale >= 0.0, field, scale, "give a finite number, zero or more")?;
        Ok(Self { shape, scale })
    }
}

/// The noise of one peer in one round of a simulated run; of no use to a deployed one, by type.
///
/// ```
/// use sottovoce_privacy::noise::simulation::{ContinuousLaw, SimulatedNoise};
/// let law = ContinuousLaw::gaussian(2.0)?;
/// let mut values = [10.0; 3];
/// SimulatedNoise::new(7, 1, 2).add(law, &mut values);
/// let mut again = [0.0; 3];
/// SimulatedNoise::new(7, 1, 2).fill(law, &mut again);
/// assert!(values.iter().zip(again).all(|(value, noise)| *value == 10.0 + noise));
/// # Ok::<(), sottovoce_privacy::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct SimulatedNoise {
    rng: SimulationRng,
}

impl SimulatedNoise {
    /// The noise of `peer` in `round` of the run `seed`.
    pub fn new(seed: u64, peer: u64, round: u64) -> Self {
        Self { rng: SimulationRng::new(seed, peer, round) }
    }

    /// Writes independent draws over `out`.
    pub fn fill(&mut self, law: ContinuousLaw, out: &mut [f64]) {
        self.each(law, out, |value, noise| *value = noise);
    }

    /// Adds independent draws to `values`.
    pub fn add(&mut self, law: ContinuousLaw, values: &mut [f64]) {
        self.each(law, values, |value, noise| *value += noise);
    }

    /// The same for numbers of single precision: the draws of [`Self::fill`], each rounded before it is added.
    pub fn add_single(&mut self, law: ContinuousLaw, values: &mut [f32]) {
        self.each(law, values, |value, noise| *value += noise as f32);
    }

    /// Adds to value `i` what `Self::new(seed, first + i, round).add` adds to a single value: the same bits for many peers with one number each, computed
    /// side by side.
    ///
    /// ```
    /// use sottovoce_privacy::noise::simulation::{ContinuousLaw, SimulatedNoise};
    /// let (mut all, mut alone) = ([1.0; 100], [1.0]);
    /// SimulatedNoise::add_to_each(ContinuousLaw::STANDARD, 7, 5, 2, &mut all);
    /// SimulatedNoise::new(7, 5 + 99, 2).add(ContinuousLaw::STANDARD, &mut alone);
    /// assert_eq!(all[99], alone[0]);
    /// ```
    pub fn add_to_each(law: ContinuousLaw, seed: u64, first: u64, round: u64, values: &mut [f64]) {
        let mut peer = first;
        for values in values.chunks_mut(LANES) {
            let peers = (0..LANES as u64).map(|lane| peer.wrapping_add(lane));
            if law.shape == Shape::Gaussian {
                let words = Keys::new(peers.map(|peer| key(seed, peer, round))).first_words(0);
                for (i, (value, word)) in values.iter_mut().zip(words).enumerate() {
                    let stream = || SimulationRng::new(seed, peer.wrapping_add(i as u64), round);
                    *value += law.scale * gaussian(&mut Ahead::new(word, stream));
                }
            } else {
                for (value, peer) in values.iter_mut().zip(peers) {
                    Self::new(seed, peer, round).add(law, std::slice::from_mut(value));
                }
            }
            peer = peer.wrapping_add(LANES as u64);
        }
    }

    fn each<V>(&mut self, law: ContinuousLaw, values: &mut [V], apply: impl Fn(&mut V, f64)) {
        // The shape is matched once and not in the loop.
        match law.shape {
            Shape::Gaussian => values.iter_mut().for_each(|v| apply(v, law.scale * gaussian(&mut self.rng))),
            Shape::Laplace => values.iter_mut().for_each(|v| apply(v, law.scale * laplace(&mut self.rng))),
            Shape::Radial => {
                let noise = radial(&mut self.rng, values.len());
                values.iter_mut().zip(noise).for_each(|(v, noise)| apply(v, law.scale * noise));
            }
        }
    }
}

#[inline]
fn gaussian(rng: &mut impl Rng) -> f64 {
    StandardNormal.sample(rng)
}

/// A uniform direction, as long as so many exponentials together: the radius of `exp(-|b|)` has the density `r^(d - 1) exp(-r)`.
fn radial(rng: &mut SimulationRng, dimension: usize) -> Vec<f64> {
    let mut noise: Vec<f64> = (0..dimension).map(|_| gaussian(rng)).collect();
    let norm = noise.iter().map(|x| x * x).sum::<f64>().sqrt();
    let length: f64 = (0..dimension).map(|_| -> f64 { Exp1.sample(rng) }).sum();
    noise.iter_mut().for_each(|x| *x *= length / norm);
    noise
}

/// An exponential with a fair sign.
fn laplace(rng: &mut SimulationRng) -> f64 {
    let magnitude: f64 = Exp1.sample(rng);
    if rng.next_u32() & 1 == 0 { magnitude } else { -magnitude }
}

#[cfg(test)]
mod tests {
    use super::super::statistics::{REJECT, kolmogorov_smirnov};
    use super::*;

    fn draws(law: ContinuousLaw, seed: u64, count: usize) -> Vec<f64> {
        let mut out = vec![0.0; count];
        SimulatedNoise::new(seed, 2, 3).fill(law, &mut out);
        out
    }

    #[test]
    fn the_gaussian_is_gaussian() {
        let below = |x: f64| 0.5 * libm::erfc(-x / (1.5 * std::f64::consts::SQRT_2));
        let mut samples = draws(ContinuousLaw::gaussian(1.5).unwrap(), 1, 400_000);
        assert!(kolmogorov_smirnov(&mut samples, below) > REJECT);
        for factor in [0.97, 1.03] {
            assert!(
                kolmogorov_smirnov(&mut samples, |x| below(x * factor)) < REJECT,
                "{factor} was not seen"
            );
        }
    }

    #[test]
    fn the_laplace_is_laplace() {
        let below = |x: f64| if x < 0.0 { 0.5 * libm::exp(x / 0.7) } else { 1.0 - 0.5 * libm::exp(-x / 0.7) };
        let mut samples = draws(ContinuousLaw::laplace(0.7).unwrap(), 1, 400_000);
        assert!(kolmogorov_smirnov(&mut samples, below) > REJECT);
        for factor in [0.96, 1.04] {
            assert!(
                kolmogorov_smirnov(&mut samples, |x| below(x * factor)) < REJECT,
                "{factor} was not seen"
            );
        }
    }

    /// In one coordinate it is a Laplace law; in three, `P(|b| <= r) = 1 - exp(-r)(1 + r + r²/2)`, and each direction's share of the length is uniform.
    #[test]
    fn radial_noise_has_its_length_and_no_preferred_direction() {
        let law = ContinuousLaw::radial(0.7).unwrap();
        let vectors = |dimension: usize| {
            (0..100_000u64).map(move |k| {
                let mut out = vec![0.0; dimension];
                SimulatedNoise::new(5, 1, k).fill(law, &mut out);
                out
            })
        };
        let below = |x: f64| if x < 0.0 { 0.5 * libm::exp(x / 0.7) } else { 1.0 - 0.5 * libm::exp(-x / 0.7) };
        let mut single: Vec<f64> = vectors(1).map(|one| one[0]).collect();
        assert!(kolmogorov_smirnov(&mut single, below) > REJECT);
        let length = |one: &[f64]| one.iter().map(|x| x * x).sum::<f64>().sqrt();
        let mut lengths: Vec<f64> = vectors(3).map(|one| length(&one) / 0.7).collect();
        assert!(kolmogorov_smirnov(&mut lengths, |r| 1.0 - libm::exp(-r) * (1.0 + r + r * r / 2.0)) > REJECT);
        for axis in 0..3 {
            let mut shares: Vec<f64> = vectors(3).map(|one| one[axis] / length(&one)).collect();
            assert!(kolmogorov_smirnov(&mut shares, |z| (1.0 + z) / 2.0) > REJECT);
        }
    }

    #[test]
    fn neighbouring_streams_are_not_correlated() {
        let stream = |seed, peer, round, purpose| {
            let mut rng = SimulationRng::new(seed, peer, round).numbered(purpose);
            (0..100_000).map(|_| gaussian(&mut rng)).collect::<Vec<f64>>()
        };
        let base = stream(1, 2, 3, 0);
        for other in [
            stream(2, 2, 3, 0),
            stream(1, 3, 3, 0),
            stream(1, 2, 4, 0),
            stream(2, 1, 3, 0),
            stream(1, 2, 3, 1),
        ] {
            let correlation = base.iter().zip(&other).map(|(a, b)| a * b).sum::<f64>() / 100_000f64.sqrt();
            assert!(correlation.abs() < 5.0, "{correlation} standard errors");
        }
    }

    #[test]
    fn streams_are_pinned() {
        let first = |mut rng: SimulationRng| [rng.next_u64(), rng.next_u64()];
        // The words were also computed by a ChaCha8 written apart from this, in another language, from the key above.
        assert_eq!(
            first(SimulationRng::new(0, 0, 0)),
            [4_034_805_105_535_814_954, 14_271_170_533_332_789_547]
        );
        assert_eq!(
            first(SimulationRng::new(1, 2, 3)),
            [6_375_458_083_730_503_052, 13_913_175_015_713_059_417]
        );
        let other = first(SimulationRng::new(1, 2, 3).numbered(1));
        assert_eq!(other, [15_980_096_634_344_239_244, 4_401_554_758_372_186_441]);
        let gaussians = [-0.44913341784475636, 0.9227211399880282, -0.4846533973473637];
        assert_eq!(draws(ContinuousLaw::gaussian(1.0).unwrap(), 1, 3), gaussians);
        let laplaces = [-0.5268201536548855, 0.11722792714217983, -1.3165742424367681];
        assert_eq!(draws(ContinuousLaw::laplace(1.0).unwrap(), 1, 3), laplaces);
        let mut used = SimulationRng::new(1, 2, 3);
        used.next_u32();
        assert_eq!(first(used.numbered(1)), other, "from its beginning");
        let mut bytes = [0; 8];
        SimulationRng::new(1, 2, 3).fill_bytes(&mut bytes);
        assert_eq!(u64::from_le_bytes(bytes), first(SimulationRng::new(1, 2, 3))[0]);
    }

    #[test]
    fn a_draw_depends_on_nothing_but_the_triple() {
        let law = ContinuousLaw::gaussian(1.0).unwrap();
        let forwards: Vec<Vec<f64>> = (0..4).map(|seed| draws(law, seed, 10)).collect();
        let threads: Vec<_> =
            (0..4).rev().map(|seed| std::thread::spawn(move || draws(law, seed, 10))).collect();
        let backwards: Vec<Vec<f64>> =
            threads.into_iter().rev().map(|thread| thread.join().unwrap()).collect();
        assert_eq!(forwards, backwards);
    }

    #[test]
    fn single_precision_has_the_same_draws() {
        let law = ContinuousLaw::gaussian(1.5).unwrap();
        let (mut single, mut known) = ([2.0f32; 50], [0.0; 50]);
        SimulatedNoise::new(3, 4, 5).add_single(law, &mut single);
        SimulatedNoise::new(3, 4, 5).fill(law, &mut known);
        assert!(single.iter().zip(known).all(|(x, noise)| *x == 2.0 + noise as f32));
    }

    #[test]
    fn many_peers_at_once_have_the_bits_of_each() {
        let laws = [ContinuousLaw::gaussian(1.5), ContinuousLaw::laplace(0.7), ContinuousLaw::radial(0.7)];
        for law in laws.map(Result::unwrap) {
            for (first, count) in [(0, 5000), (7, 1), (1 << 40, 31), (u64::MAX - 9, 33)] {
                let mut all = vec![0.25; count];
                SimulatedNoise::add_to_each(law, 9, first, 3, &mut all);
                for (i, value) in all.into_iter().enumerate() {
                    let mut alone = [0.25];
                    SimulatedNoise::new(9, first.wrapping_add(i as u64), 3).add(law, &mut alone);
                    assert_eq!(value, alone[0], "{law:?} of peer {first} + {i}");
                }
            }
        }
    }

    #[test]
    fn parameters_are_checked() {
        for bad in [-1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(ContinuousLaw::gaussian(bad).is_err() && ContinuousLaw::laplace(bad).is_err(), "{bad}");
        }
        assert_eq!(draws(ContinuousLaw::gaussian(0.0).unwrap(), 1, 5), [0.0; 5]);
    }
}
