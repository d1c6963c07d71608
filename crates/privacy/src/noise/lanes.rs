//! The first word of many ChaCha8 streams side by side: the bits of [`SimulationRng`], several times as fast.
//!
//! A peer with one number needs eight bytes of a stream that is its own. A generator for each computes four blocks of 64 bytes first. Here one block is
//! computed for as many streams at once as vector instructions hold, and of its last round only what the first word needs.

use std::convert::Infallible;

use pulp::{Simd, WithSimd};
use rand::{Rng, TryRng};

use super::simulation::SimulationRng;

/// Streams computed side by side: a multiple of what a vector register holds.
pub(super) const LANES: usize = 32;

type Word = [u32; LANES];

/// "expand 32-byte k".
const CONSTANTS: [u32; 4] = [0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574];

/// Keys of 256 bits, at most [`LANES`] of them.
pub(super) struct Keys {
    /// Word `i` of the key of a lane is `words[i][lane]`.
    words: [Word; 8],
    count: usize,
}

impl Keys {
    /// A key for each lane, of four numbers in little-endian bytes.
    pub(super) fn new(keys: impl Iterator<Item = [u64; 4]>) -> Self {
        let mut all = Self { words: [[0; LANES]; 8], count: 0 };
        for (lane, key) in (0..LANES).zip(keys) {
            for (i, word) in key.into_iter().enumerate() {
                all.words[2 * i][lane] = word as u32;
                all.words[2 * i + 1][lane] = (word >> 32) as u32;
            }
            all.count = lane + 1;
        }
        all
    }

    /// The first 64 bits under every key, in the streams of this number; anything beyond the last key.
    pub(super) fn first_words(&self, stream: u64) -> [u64; LANES] {
        pulp::Arch::new().dispatch(FirstWords { keys: self, stream })
    }
}

struct FirstWords<'a> {
    keys: &'a Keys,
    stream: u64,
}

impl WithSimd for FirstWords<'_> {
    type Output = [u64; LANES];

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> [u64; LANES] {
        let mut out = [[0; LANES]; 2];
        let [low, high] = &mut out;
        let keys = self.keys.words.each_ref().map(|word| S::as_simd_u32s(word).0);
        let outputs = S::as_mut_simd_u32s(low).0.iter_mut().zip(S::as_mut_simd_u32s(high).0);
        let groups = self.keys.count.div_ceil(S::U32_LANES);
        for (group, (low, high)) in outputs.enumerate().take(groups) {
            (*low, *high) = block(simd, keys.map(|word| word[group]), self.stream);
        }
        std::array::from_fn(|lane| u64::from(out[0][lane]) | u64::from(out[1][lane]) << 32)
    }
}

/// The first two words of the first block under a vector of keys.
#[inline(always)]
fn block<S: Simd>(simd: S, key: [S::u32s; 8], stream: u64) -> (S::u32s, S::u32s) {
    let splat = |word: u32| simd.splat_u32s(word);
    let mut state = [splat(0); 16];
    for (word, constant) in state.iter_mut().zip(CONSTANTS) {
        *word = splat(constant);
    }
    state[4..12].copy_from_slice(&key);
    (state[14], state[15]) = (splat(stream as u32), splat((stream >> 32) as u32));
    for _ in 0..4 {
        quarter(simd, &mut state, [0, 4, 8, 12]);
        quarter(simd, &mut state, [1, 5, 9, 13]);
        quarter(simd, &mut state, [2, 6, 10, 14]);
        quarter(simd, &mut state, [3, 7, 11, 15]);
        quarter(simd, &mut state, [0, 5, 10, 15]);
        quarter(simd, &mut state, [1, 6, 11, 12]);
        quarter(simd, &mut state, [2, 7, 8, 13]);
        quarter(simd, &mut state, [3, 4, 9, 14]);
    }
    (simd.add_u32s(state[0], splat(CONSTANTS[0])), simd.add_u32s(state[1], splat(CONSTANTS[1])))
}

#[inline(always)]
fn quarter<S: Simd>(simd: S, state: &mut [S::u32s; 16], [a, b, c, d]: [usize; 4]) {
    half(simd, state, [a, b, d], 16);
    half(simd, state, [c, d, b], 12);
    half(simd, state, [a, b, d], 8);
    half(simd, state, [c, d, b], 7);
}

/// `a += b; d = (d ^ a) <<< by`.
#[inline(always)]
fn half<S: Simd>(simd: S, state: &mut [S::u32s; 16], [a, b, d]: [usize; 3], by: u32) {
    state[a] = simd.add_u32s(state[a], state[b]);
    let mixed = simd.xor_u32s(state[d], state[a]);
    let (left, right) = (simd.splat_u32s(by), simd.splat_u32s(32 - by));
    state[d] =
        simd.or_u32s(simd.wrapping_dyn_shl_u32s(mixed, left), simd.wrapping_dyn_shr_u32s(mixed, right));
}

/// A stream whose first word is known; the generator is made if more is asked for, which ziggurats do once in eighty draws.
pub(super) struct Ahead<F> {
    first: Option<u64>,
    make: F,
    made: Option<SimulationRng>,
}

impl<F: Fn() -> SimulationRng> Ahead<F> {
    pub(super) fn new(first: u64, make: F) -> Self {
        Self { first: Some(first), make, made: None }
    }

    #[cold]
    fn later(&mut self) -> u64 {
        let make = &self.make;
        let made = self.made.get_or_insert_with(|| {
            let mut made = make();
            made.next_u64();
            made
        });
        made.next_u64()
    }
}

impl<F: Fn() -> SimulationRng> TryRng for Ahead<F> {
    type Error = Infallible;

    /// Nobody asks for half a word: that would be another stream than the generator's.
    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(self.next_u64() as u32)
    }

    #[inline]
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(match self.first.take() {
            Some(word) => word,
            None => self.later(),
        })
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        for part in bytes.chunks_mut(8) {
            part.copy_from_slice(&self.next_u64().to_le_bytes()[..part.len()]);
        }
        Ok(())
    }
}
