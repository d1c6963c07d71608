//! Random paths of a token: fast, and a function of the seed and the path's number alone.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use sottovoce_protocol::Chance;
use sottovoce_protocol::walk::Transition;
use sottovoce_simulator::rows;
use sottovoce_topology::mixing::Mixing;

use crate::Result;

/// xoshiro256++ (Blackman and Vigna, 2019), begun by SplitMix64. For simulations; it protects nobody.
#[derive(Debug, Clone)]
pub(super) struct Random(Xoshiro256PlusPlus);

/// The step of SplitMix64.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// SplitMix64's mixture of a counter: one to one.
fn mix(z: u64) -> u64 {
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Random {
    /// Stream number `stream` of `seed`.
    pub(super) fn new(seed: u64, stream: u64) -> Self {
        let begin = mix(seed.wrapping_add(GOLDEN)).wrapping_add(mix(!stream));
        Self(Xoshiro256PlusPlus::seed_from_u64(begin))
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
    mixing.check()?;
    Ok((0..mixing.nodes()).map(|peer| rows::transition(mixing, peer)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The state is SplitMix64's next four numbers, and the output that of the authors' own code.
    #[test]
    fn the_generator_is_pinned() {
        let first = |seed, stream| {
            let mut random = Random::new(seed, stream);
            [random.bits(), random.bits()]
        };
        let begin = mix(7u64.wrapping_add(GOLDEN)).wrapping_add(mix(!3));
        let state = [1, 2, 3, 4].map(|i: u64| mix(begin.wrapping_add(i.wrapping_mul(GOLDEN))).to_le_bytes());
        let mut key = [0; 32];
        key.as_chunks_mut().0.copy_from_slice(&state);
        let mut same = Xoshiro256PlusPlus::from_seed(key);
        assert_eq!(first(7, 3), [same.next_u64(), same.next_u64()]);
        let [a, .., d] = state.map(u64::from_le_bytes);
        assert_eq!(first(7, 3)[0], a.wrapping_add(d).rotate_left(23).wrapping_add(a));
    }

    #[test]
    fn streams_differ_and_repeat() {
        let first = |seed, stream| Random::new(seed, stream).bits();
        assert_eq!(first(1, 2), first(1, 2));
        assert!(first(1, 2) != first(2, 1) && first(1, 2) != first(1, 3) && first(0, 0) != 0);
    }
}
