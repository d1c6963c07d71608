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
///
/// Stored and sent, every word takes as many bytes as the ring has, whatever its value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "Packed", try_from = "Packed")]
pub struct Residues {
    words: Vec<u64>,
    bits: u32,
}

/// Words of fixed width, one after the other, the lowest byte first.
#[derive(Serialize, Deserialize)]
struct Packed {
    bits: u32,
    #[serde(with = "packed")]
    bytes: Vec<u8>,
}

/// Bytes as bytes, and not as a list of small numbers.
mod packed {
    use serde::de::{Error, SeqAccess, Visitor};
    use serde::{Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(bytes)
    }

    struct Bytes;

    impl<'de> Visitor<'de> for Bytes {
        type Value = Vec<u8>;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("bytes")
        }

        fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
            Ok(bytes.to_vec())
        }

        fn visit_byte_buf<E: Error>(self, bytes: Vec<u8>) -> Result<Vec<u8>, E> {
            Ok(bytes)
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> Result<Vec<u8>, A::Error> {
            let mut bytes = Vec::new();
            while let Some(byte) = all.next_element()? {
                bytes.push(byte);
            }
            Ok(bytes)
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        deserializer.deserialize_byte_buf(Bytes)
    }
}

/// Bytes of a word; of a ring that there is none of, as many as a word can have.
fn width(bits: u32) -> usize {
    if (1..=64).contains(&bits) { bits.div_ceil(8) as usize } else { 8 }
}

impl From<Residues> for Packed {
    fn from(Residues { words, bits }: Residues) -> Self {
        let width = width(bits);
        // A word that is not of the ring must not be cut to one that is: then all are written in full, and fit nothing.
        let whole = width == 8 || words.iter().all(|word| word >> (8 * width) == 0);
        let (bits, width) = if whole { (bits, width) } else { (u32::MAX, 8) };
        Self {
            bits,
            bytes: words.iter().flat_map(|word| word.to_le_bytes().into_iter().take(width)).collect(),
        }
    }
}

impl TryFrom<Packed> for Residues {
    type Error = &'static str;

    fn try_from(Packed { bits, bytes }: Packed) -> Result<Self, Self::Error> {
        let width = width(bits);
        if !bytes.len().is_multiple_of(width) {
            return Err("words of another width");
        }
        let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
        Ok(Self { words: bytes.chunks_exact(width).map(word).collect(), bits })
    }
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

    proptest! {
        #[test]
        fn words_come_back_as_they_were(words in prop::collection::vec(any::<u64>(), 0..20), bits in 0u32..=66) {
            let whole = Residues::of_words(words.clone(), bits);
            let back = |value: &Residues| postcard::from_bytes::<Residues>(&postcard::to_stdvec(value).unwrap()).unwrap();
            prop_assert_eq!(&back(&whole), &whole);
            prop_assert!(postcard::to_stdvec(&whole).unwrap().len() <= width(bits) * words.len() + 4);
            let wild = Residues { words, bits };
            prop_assert!(back(&wild).is_finite() == wild.is_finite() || !wild.is_finite());
            prop_assert!(!back(&wild).same_shape(&whole) || back(&wild) == wild);
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
