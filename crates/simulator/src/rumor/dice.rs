//! The randomness of a simulation: fast, portable, and a function of the seed, the run and the peer.

use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use sottovoce_privacy::noise::simulation::{Seed, Stream};
use sottovoce_protocol::rumor::Chance;

/// Xoshiro, begun from a stream of its own for each `(seed, run, peer)`. It protects nobody: a real peer draws from the system.
#[derive(Debug, Clone)]
pub struct Dice(Xoshiro256PlusPlus);

impl Dice {
    /// The dice of `peer` (or of all, as peer 0) in `run`.
    pub fn new(seed: u64, run: u64, peer: u64) -> Self {
        let mut key = [0; 32];
        Seed(seed).stream(Stream::Rumor, peer, run).fill_bytes(&mut key);
        Self(Xoshiro256PlusPlus::from_seed(key))
    }
}

impl Chance for Dice {
    #[inline]
    fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }
}
