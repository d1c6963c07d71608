//! Integers modulo a power of two, as a value that a protocol adds up.

use serde::{Deserialize, Serialize};

use crate::Value;

/// Integers modulo `2^bits`.
///
/// Weights are whole numbers. One that is not has no meaning on the ring: the value then loses all its coordinates, and fits no other any more.
///
/// ```
/// use sottovoce_protocol::{Value, ring::Residues};
/// let mut sum = Residues::new(vec![100, -3], 8);
/// sum.add(1.0, &Residues::new(vec![100, 5], 8));
/// assert_eq!(sum.centred().collect::<Vec<_>>(), [200 - 256, 2]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Residues {
    words: Vec<u64>,
    bits: u32,
}

impl Residues {
    /// These integers, reduced.
    pub fn new(integers: Vec<i64>, bits: u32) -> Self {
        Self::of_words(integers.into_iter().map(|x| x as u64).collect(), bits)
    }

    pub(super) fn of_words(mut words: Vec<u64>, bits: u32) -> Self {
        words.iter_mut().for_each(|word| *word &= largest(bits));
        Self { words, bits }
    }

    /// Each as a number from `0` to `2^bits - 1`.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Each as the nearest to 0 of the integers that it stands for.
    pub fn centred(&self) -> impl Iterator<Item = i64> + '_ {
        let unused = 64 - self.bits.clamp(1, 64); // whole numbers
        self.words.iter().map(move |&word| (word << unused) as i64 >> unused)
    }
}

/// All ones; 0 for a ring that there is none of.
fn largest(bits: u32) -> u64 {
    if (1..=64).contains(&bits) { u64::MAX >> (64 - bits) } else { 0 }
}

/// A whole weight, modulo `2^64`.
fn whole(weight: f64) -> Option<u64> {
    (weight.fract() == 0.0 && weight.abs() < 1e15).then_some(weight as i64 as u64)
}

impl Value for Residues {
    fn scale(&mut self, weight: f64) {
        let Some(by) = whole(weight) else { return self.words.clear() };
        let largest = largest(self.bits);
        self.words.iter_mut().for_each(|word| *word = word.wrapping_mul(by) & largest);
    }

    fn add(&mut self, weight: f64, other: &Self) {
        let Some(by) = whole(weight) else { return self.words.clear() };
        let largest = largest(self.bits);
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            *word = word.wrapping_add(other.wrapping_mul(by)) & largest;
        }
    }

    /// Whether every word is of the ring.
    fn is_finite(&self) -> bool {
        self.words.iter().all(|&word| word <= largest(self.bits))
    }

    fn same_shape(&self, other: &Self) -> bool {
        (self.bits, self.words.len()) == (other.bits, other.words.len())
    }

    /// On a ring nothing is far out.
    fn is_within(&self, _: f64) -> bool {
        true
    }

    fn clamp(&mut self, _: f64) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sums_are_those_of_the_integers(
            pairs in prop::collection::vec((any::<i32>(), any::<i32>()), 1..20), weight in -5i32..6, bits in 1u32..=64,
        ) {
            let (a, b): (Vec<i64>, Vec<i64>) = pairs.iter().map(|&(a, b)| (i64::from(a), i64::from(b))).unzip();
            let mut sum = Residues::new(a.clone(), bits);
            sum.add(f64::from(weight), &Residues::new(b.clone(), bits));
            let known: Vec<i64> = a.iter().zip(&b).map(|(a, b)| a + i64::from(weight) * b).collect();
            prop_assert_eq!(&sum, &Residues::new(known.clone(), bits));
            prop_assert!(sum.is_finite());
            if bits >= 36 {
                prop_assert_eq!(sum.centred().collect::<Vec<_>>(), known);
            }
            sum.scale(0.0);
            prop_assert!(sum.words().iter().all(|&word| word == 0));
        }
    }

    #[test]
    fn what_is_not_of_the_ring_fits_nowhere() {
        let like = Residues::new(vec![1, 2], 16);
        assert!(like.same_shape(&Residues::new(vec![5, 6], 16)));
        assert!(
            !like.same_shape(&Residues::new(vec![5, 6], 17)) && !like.same_shape(&Residues::new(vec![5], 16))
        );
        assert!(!Residues { words: vec![1 << 16, 0], bits: 16 }.is_finite());
        for bits in [0, 65, u32::MAX] {
            let odd = Residues { words: vec![1], bits };
            assert!(!odd.is_finite() && odd.centred().count() == 1, "{bits}");
        }
        for weight in [0.5, f64::NAN, f64::INFINITY, 1e300] {
            let (mut scaled, mut added) = (like.clone(), like.clone());
            scaled.scale(weight);
            added.add(weight, &like);
            assert!(!scaled.same_shape(&like) && !added.same_shape(&like), "{weight}");
        }
    }
}
