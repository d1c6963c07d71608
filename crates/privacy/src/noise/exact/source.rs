//! Where exact noise comes from, and what a deployed peer holds.
//!
//! [`ExactNoise`] works with any cryptographic generator, so that tests can fix a seed. [`DeployedNoise`] is the one whose
//! generator can only be keyed by the operating system; code that sends asks for it by name.

use std::convert::Infallible;
use std::fmt;

use rand::rngs::SysRng;
use rand::{CryptoRng, Rng, SeedableRng, TryCryptoRng, TryRng};
use rand_chacha::ChaCha20Rng;

use super::masks::labelled;
use super::{ExactLaw, Grid};
use crate::{Error, Result};

/// ChaCha20 under a 256-bit key from the operating system.
///
/// There is no other constructor: it cannot be given a seed, and it cannot be cloned, because two copies would add the
/// same noise twice.
///
/// ```compile_fail
/// use rand::SeedableRng;
/// let rng = sottovoce_privacy::noise::exact::OsSeededRng::seed_from_u64(1);
/// ```
///
/// ```compile_fail
/// let rng = sottovoce_privacy::noise::exact::OsSeededRng::from_os().unwrap();
/// let copy = rng.clone();
/// ```
pub struct OsSeededRng(ChaCha20Rng);

impl OsSeededRng {
    /// Asks the operating system for a key; refuses to go on without one.
    ///
    /// ```
    /// use rand::Rng;
    /// let mut rng = sottovoce_privacy::noise::exact::OsSeededRng::from_os()?;
    /// assert_ne!(rng.next_u64(), rng.next_u64());
    /// # Ok::<(), sottovoce_privacy::Error>(())
    /// ```
    pub fn from_os() -> Result<Self> {
        Self::keyed_by(&mut SysRng)
    }

    /// Apart from [`Self::from_os`] so that a source that fails can be tested.
    fn keyed_by<S: TryCryptoRng>(source: &mut S) -> Result<Self> {
        ChaCha20Rng::try_from_rng(source).map(Self).map_err(|cause| Error::Accuracy {
            computation: "noise without entropy from the operating system".into(),
            remedy: format!("its random source said \"{cause}\"; make getrandom or /dev/urandom available"),
        })
    }
}

// Written by hand: a derived one could print the key.
impl fmt::Debug for OsSeededRng {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OsSeededRng(..)")
    }
}

impl TryRng for OsSeededRng {
    type Error = Infallible;

    #[inline]
    fn try_next_u32(&mut self) -> std::result::Result<u32, Infallible> {
        Ok(self.0.next_u32())
    }

    #[inline]
    fn try_next_u64(&mut self) -> std::result::Result<u64, Infallible> {
        Ok(self.0.next_u64())
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> std::result::Result<(), Infallible> {
        self.0.fill_bytes(bytes);
        Ok(())
    }
}

impl TryCryptoRng for OsSeededRng {}

/// The noise of a deployed peer: exact, and from the operating system's entropy.
pub type DeployedNoise = ExactNoise<OsSeededRng>;

/// A source of exact noise; never a simulation's.
///
/// ```
/// use sottovoce_privacy::noise::exact::{DeployedNoise, DiscreteGaussian, Grid};
/// let grid = Grid::new(1.0 / 1024.0)?;
/// let law = DiscreteGaussian::at_least(grid.units_of(2.0))?; // sigma = 2, in grid steps
/// let message: Vec<i64> = DeployedNoise::from_os()?.release(&grid, &law, &[0.25, -1.5])?;
/// assert!((grid.value(message[0]) - 0.25).abs() < 40.0);
/// # Ok::<(), sottovoce_privacy::Error>(())
/// ```
pub struct ExactNoise<R: CryptoRng> {
    rng: R,
}

impl DeployedNoise {
    /// Keys a generator from the operating system; refuses to go on without entropy.
    pub fn from_os() -> Result<Self> {
        OsSeededRng::from_os().map(Self::new)
    }
}

impl ExactNoise<ChaCha20Rng> {
    /// The exact noise of one peer in one round of a simulated run: whoever knows the seed knows it. It is no [`DeployedNoise`].
    pub fn simulated(seed: u64, peer: u64, round: u64) -> Self {
        Self::new(ChaCha20Rng::from_seed(labelled([seed, peer, round], b"sv-exact")))
    }
}

impl<R: CryptoRng> ExactNoise<R> {
    /// Draws from this generator, which must be seeded by something the adversary cannot know.
    pub fn new(rng: R) -> Self {
        Self { rng }
    }

    /// 64 bits of the generator, for choices.
    pub fn bits(&mut self) -> u64 {
        self.rng.next_u64()
    }

    /// One draw.
    pub fn sample(&mut self, law: &impl ExactLaw) -> i64 {
        law.sample(&mut self.rng)
    }

    /// The units with independent noise added. All or nothing: a sum outside 64 bits refuses the whole message.
    pub fn noised(&mut self, law: &impl ExactLaw, units: &[i64]) -> Result<Vec<i64>> {
        units.iter().map(|&unit| unit.checked_add(self.sample(law)).ok_or_else(|| overflow(unit))).collect()
    }

    /// The values on the grid with independent noise added, in grid steps. Nothing is drawn if a value is refused.
    pub fn release(&mut self, grid: &Grid, law: &impl ExactLaw, values: &[f64]) -> Result<Vec<i64>> {
        let units = grid.round(values)?;
        self.noised(law, &units)
    }
}

impl<R: CryptoRng> fmt::Debug for ExactNoise<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ExactNoise(..)")
    }
}

fn overflow(unit: i64) -> Error {
    Error::parameter(
        "value",
        format!("{unit} grid steps"),
        "its noised value leaves 64 bits; use a coarser grid",
    )
}

#[cfg(test)]
mod tests {
    use super::super::{DiscreteLaplace, Rational};
    use super::*;

    /// An operating system without entropy.
    struct Dry;

    impl TryRng for Dry {
        type Error = fmt::Error;
        fn try_next_u32(&mut self) -> std::result::Result<u32, fmt::Error> {
            Err(fmt::Error)
        }
        fn try_next_u64(&mut self) -> std::result::Result<u64, fmt::Error> {
            Err(fmt::Error)
        }
        fn try_fill_bytes(&mut self, _: &mut [u8]) -> std::result::Result<(), fmt::Error> {
            Err(fmt::Error)
        }
    }

    impl TryCryptoRng for Dry {}

    #[test]
    fn no_entropy_is_an_error_and_not_a_default_seed() {
        let error = OsSeededRng::keyed_by(&mut Dry).unwrap_err();
        assert!(error.to_string().contains("entropy"), "{error}");
    }

    #[test]
    fn two_sources_differ_and_neither_prints_its_key() {
        let law = DiscreteLaplace::new(Rational::new(1 << 30, 1).unwrap()).unwrap();
        let draw = || DeployedNoise::from_os().unwrap().noised(&law, &[0; 8]).unwrap();
        assert_ne!(draw(), draw());
        assert_eq!(format!("{:?}", DeployedNoise::from_os().unwrap()), "ExactNoise(..)");
        assert_eq!(format!("{:?}", OsSeededRng::from_os().unwrap()), "OsSeededRng(..)");
    }

    #[test]
    fn a_sum_outside_64_bits_is_refused_whole() {
        let law = DiscreteLaplace::new(Rational::new(1 << 40, 1).unwrap()).unwrap();
        let mut noise = ExactNoise::new(ChaCha20Rng::seed_from_u64(1));
        // Of 64 draws at either edge, the chance that none points outwards is 2^-64.
        assert!(noise.noised(&law, &[i64::MAX; 64]).is_err());
        assert!(noise.noised(&law, &[i64::MIN; 64]).is_err());
        assert_eq!(noise.noised(&law, &[0; 64]).unwrap().len(), 64);
    }
}
