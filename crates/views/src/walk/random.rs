//! Random paths of a token: fast, and a function of the seed and the path's number alone.

use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rand_xoshiro::{SplitMix64, Xoshiro256PlusPlus};
use sottovoce_protocol::Chance;
use sottovoce_protocol::walk::Transition;
use sottovoce_topology::mixing::Mixing;

use crate::Result;

/// xoshiro256++ (Blackman and Vigna, 2019), begun by SplitMix64. For simulations; it protects nobody.
#[derive(Debug, Clone)]
pub(super) struct Random(Xoshiro256PlusPlus);

/// Where the counter of streams begins, backwards.
const STREAM: u64 = 0x61c8_8646_80b5_83ea;

impl Random {
    /// Stream number `stream` of `seed`.
    pub(super) fn new(seed: u64, stream: u64) -> Self {
        // Both are mixed before they are added: seeds and streams are small numbers, whose sums would meet.
        let [seed, stream] =
            [seed, STREAM.wrapping_sub(stream)].map(|x| SplitMix64::seed_from_u64(x).next_u64());
        Self(Xoshiro256PlusPlus::seed_from_u64(seed.wrapping_add(stream)))
    }
}

impl Chance for Random {
    #[inline]
    fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }
}

/// Where the token goes from each peer.
pub(super) fn transitions(mixing: &Mixing) -> Result<Vec<Transition>> {
    mixing.check_walk()?;
    Ok((0..mixing.nodes()).map(|peer| Transition::of(mixing, peer)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_is_pinned() {
        let mut random = Random::new(7, 3);
        assert_eq!([random.bits(), random.bits()], [2_369_432_654_037_544_240, 6_783_929_138_194_035_900]);
    }

    #[test]
    fn streams_differ_and_repeat() {
        let first = |seed, stream| Random::new(seed, stream).bits();
        assert_eq!(first(1, 2), first(1, 2));
        assert!(first(1, 2) != first(2, 1) && first(1, 2) != first(1, 3) && first(0, 0) != 0);
    }
}
