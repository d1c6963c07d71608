//! The random draws that families are made of.
//!
//! Written out here, on top of the raw ChaCha words, rather than taken from `rand`'s distributions: those may change
//! their algorithm between releases, and a graph must stay a function of its family and seed alone.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::Result;

/// A stream of draws for one attempt at one family.
pub(super) struct Draw(ChaCha8Rng);

impl Draw {
    /// The stream for `purpose` (a constant of the family) and `attempt`; distinct ones are independent.
    pub(super) fn new(seed: u64, purpose: u32, attempt: u32) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(u64::from(purpose) << 32 | u64::from(attempt));
        Self(rng)
    }

    /// Uniform in `[0, 1)`, a multiple of 2^-53.
    pub(super) fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (0.5f64).powi(53)
    }

    /// True with probability `p`.
    pub(super) fn chance(&mut self, p: f64) -> bool {
        self.unit() < p
    }

    /// Uniform in `0..bound` (which must be positive), without bias: the high half of a 128-bit product, redrawn
    /// where the low half falls into the part that would favour some results.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        let bound = bound as u64;
        let unfair = bound.wrapping_neg() % bound;
        loop {
            let product = u128::from(self.0.next_u64()) * u128::from(bound);
            if product as u64 >= unfair {
                return (product >> 64) as usize;
            }
        }
    }

    /// Puts the items in uniformly random order.
    pub(super) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }

    /// Calls `visit` with each index of `0..total` independently with probability `p`, in increasing order.
    ///
    /// Jumps from one success to the next (the gap is geometric), so the cost is linear in the successes.
    pub(super) fn bernoulli(
        &mut self,
        total: u64,
        p: f64,
        mut visit: impl FnMut(u64) -> Result<()>,
    ) -> Result<()> {
        if p >= 1.0 {
            return (0..total).try_for_each(visit);
        }
        if p <= 0.0 {
            return Ok(());
        }
        let log_failure = (-p).ln_1p();
        let mut index = 0u64;
        loop {
            // 1 - unit() is in (0, 1], so the logarithm is finite; a huge gap saturates in the cast.
            let gap = (1.0 - self.unit()).ln() / log_failure;
            index = index.saturating_add(gap as u64);
            if index >= total {
                return Ok(());
            }
            visit(index)?;
            index += 1;
        }
    }
}

/// A set of undirected edges, for membership only (it is never iterated, so its order cannot matter).
#[derive(Default)]
pub(super) struct EdgeSet(HashSet<u64, BuildHasherDefault<Mix>>);

impl EdgeSet {
    pub(super) fn with_capacity(edges: usize) -> Self {
        Self(HashSet::with_capacity_and_hasher(edges, BuildHasherDefault::default()))
    }

    /// Adds `{u, v}`; false if it was there.
    pub(super) fn insert(&mut self, u: u32, v: u32) -> bool {
        self.0.insert(key(u, v))
    }

    pub(super) fn contains(&self, u: u32, v: u32) -> bool {
        self.0.contains(&key(u, v))
    }

    pub(super) fn remove(&mut self, u: u32, v: u32) {
        self.0.remove(&key(u, v));
    }
}

fn key(u: u32, v: u32) -> u64 {
    u64::from(u.min(v)) << 32 | u64::from(u.max(v))
}

/// Hashes one word by multiplication: our own node numbers need no defence against chosen keys, only speed.
#[derive(Default)]
pub(super) struct Mix(u64);

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(self.0 ^ u64::from(byte)));
    }

    fn write_u64(&mut self, word: u64) {
        let product = (word ^ word >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = (product ^ product >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn below_is_uniform() {
        // 60,000 draws in 6 cells: the chi-square statistic (5 degrees) exceeds 25.7 once in 10,000 seeds.
        let mut draw = Draw::new(1, 0, 0);
        let mut counts = [0f64; 6];
        (0..60_000).for_each(|_| counts[draw.below(6)] += 1.0);
        let statistic: f64 = counts.iter().map(|count| (count - 1e4).powi(2) / 1e4).sum();
        assert!(statistic < 25.7, "{counts:?}");
    }

    #[test]
    fn streams_differ_by_seed_purpose_and_attempt() {
        let mut first: Vec<_> = [(1, 0, 0), (2, 0, 0), (1, 1, 0), (1, 0, 1)]
            .map(|(s, p, a)| Draw::new(s, p, a).below(1 << 60))
            .into();
        first.sort_unstable();
        first.dedup();
        assert_eq!(first.len(), 4);
    }

    #[test]
    fn the_stream_is_pinned() {
        // A change here would silently change every generated graph.
        let mut draw = Draw::new(7, 3, 1);
        assert_eq!([draw.below(1000), draw.below(1000), draw.below(1000)], [666, 559, 759]);
    }

    #[test]
    fn bernoulli_hits_each_index_with_the_same_probability() {
        // 20 indices, 10,000 rounds at p = 0.3: each count has mean 3000 and deviation 45.8; 5 sigma = 230.
        let mut draw = Draw::new(5, 0, 0);
        let mut counts = [0i64; 20];
        for _ in 0..10_000 {
            let count = |index| {
                counts[index as usize] += 1;
                Ok(())
            };
            draw.bernoulli(20, 0.3, count).unwrap();
        }
        assert!(counts.iter().all(|count| (count - 3000).abs() < 230), "{counts:?}");
    }

    #[test]
    fn bernoulli_at_the_ends() {
        let mut draw = Draw::new(5, 0, 0);
        let mut visited = |p: f64| {
            let mut all = Vec::new();
            let visit = |index| {
                all.push(index);
                Ok(())
            };
            draw.bernoulli(4, p, visit).unwrap();
            all
        };
        assert_eq!(visited(1.0), [0, 1, 2, 3]);
        assert!(visited(0.0).is_empty());
        assert!(visited(1e-300).is_empty());
    }
}
