//! Random paths of a token: fast, and a function of the seed and the path's number alone.

use sottovoce_topology::mixing::Mixing;

use crate::Result;

/// xoshiro256++ (Blackman and Vigna, 2019), begun by SplitMix64. For simulations; it protects nobody.
#[derive(Debug, Clone)]
pub(super) struct Random([u64; 4]);

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
        Self([1, 2, 3, 4].map(|i: u64| mix(begin.wrapping_add(i.wrapping_mul(GOLDEN)))))
    }

    fn bits(&mut self) -> u64 {
        let Self([a, b, c, d]) = self;
        let result = a.wrapping_add(*d).rotate_left(23).wrapping_add(*a);
        let shifted = *b << 17;
        *c ^= *a;
        *d ^= *b;
        *b ^= *c;
        *a ^= *d;
        *c ^= shifted;
        *d = d.rotate_left(45);
        result
    }

    /// A multiple of `2^-53` from 0 to below 1.
    pub(super) fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A number below `count`.
    pub(super) fn below(&mut self, count: usize) -> usize {
        ((self.uniform() * count as f64) as usize).min(count.saturating_sub(1))
    }
}

/// Where the token goes from each peer, prepared for drawing.
#[derive(Debug, Clone)]
pub(super) struct Transitions {
    /// Peer `u` has the entries from `offsets[u]` to `offsets[u + 1]`.
    offsets: Vec<usize>,
    /// A peer that is gone to, and the probability to go to it or to one before it.
    entries: Vec<(f64, usize)>,
}

impl Transitions {
    pub(super) fn new(mixing: &Mixing) -> Result<Self> {
        mixing.check()?;
        let (mut offsets, mut entries) = (vec![0], Vec::new());
        for u in 0..mixing.nodes() {
            let mut sum = 0.0;
            let own = [(u, mixing.diagonal()[u])];
            for (v, weight) in own.into_iter().chain(mixing.row(u)).filter(|(_, weight)| *weight > 0.0) {
                sum += weight;
                entries.push((sum, v));
            }
            offsets.push(entries.len());
        }
        Ok(Self { offsets, entries })
    }

    /// The next holder.
    pub(super) fn next(&self, holder: usize, random: &mut Random) -> usize {
        let row = &self.entries[self.offsets[holder]..self.offsets[holder + 1]];
        let x = random.uniform();
        // The sum may fall short of 1 by rounding: the last one takes what is missing.
        let i = row.partition_point(|(sum, _)| *sum <= x).min(row.len() - 1);
        row[i].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sottovoce_topology::family::{Family, generate};
    use sottovoce_topology::mixing::Weights;

    /// The first numbers of the authors' own code from the state 1, 2, 3, 4.
    #[test]
    fn the_generator_is_xoshiro() {
        let mut random = Random([1, 2, 3, 4]);
        let expected = [41_943_041, 58_720_359, 3_588_806_011_781_223, 3_591_011_842_654_386];
        assert_eq!([(); 4].map(|()| random.bits()), expected);
    }

    #[test]
    fn steps_have_the_weights_of_the_matrix() {
        let mixing = Mixing::new(&generate(&Family::Star { n: 5 }, 0, true).unwrap(), Weights::Metropolis);
        let transitions = Transitions::new(&mixing).unwrap();
        let mut random = Random::new(7, 0);
        for u in 0..5 {
            let mut counts = [0.0; 5];
            (0..40_000).for_each(|_| counts[transitions.next(u, &mut random)] += 1.0 / 40_000.0);
            for (v, count) in counts.into_iter().enumerate() {
                let weight = mixing.weight(u, v);
                // Five deviations.
                assert!(
                    (count - weight).abs() <= 5.0 * (weight * (1.0 - weight) / 40_000.0).sqrt(),
                    "{u} {v}"
                );
            }
        }
    }

    #[test]
    fn streams_differ_and_repeat() {
        let first = |seed, stream| Random::new(seed, stream).bits();
        assert_eq!(first(1, 2), first(1, 2));
        assert!(first(1, 2) != first(2, 1) && first(1, 2) != first(1, 3) && first(0, 0) != 0);
    }
}
