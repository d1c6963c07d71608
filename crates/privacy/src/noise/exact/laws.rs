//! The discrete Laplace and the discrete Gaussian on the integers.
//!
//! The Laplace starts from a geometric variable `X >= 0` with `P[X = x]` proportional to `exp(-x/t)`: a uniform digit `u` below
//! `t`, kept with probability `exp(-u/t)`, and a number of whole units `v`, each kept with probability `exp(-1)`, make
//! `X = u + t v`. The Gaussian is cut into narrow blocks, each under a flat top; a block is drawn by its weight, a magnitude in it by
//! bits, and kept with the share of the top that the law has there, which the block's last magnitude mostly decides. No integer here can overflow; the bounds are written where they are used.

use std::sync::Arc;

use num_bigint::BigUint;
use rand::CryptoRng;

use super::Rational;
use super::bernoulli::{self, Probability, WORD};
use crate::{Error, Result, require};

/// More whole units than any draw will ever have (probability `exp(-2^22)`): a draw that gets here starts again.
const MOST_UNITS: u64 = 1 << 22;

/// Blocks of a Gaussian, at most.
const MOST_BLOCKS: usize = 340;

/// A sigma has at least two to this power of blocks: hardly a magnitude that is proposed is not kept.
const FINE: u32 = 4;

/// So many bits of a word say where in the list of blocks to look.
const GUIDE: u32 = 9;

/// So many bits of the word that a magnitude's place is drawn from say whether it is kept; the place has fewer than the others.
const DIGIT: u32 = 32;

/// By how much the tops of blocks are raised: more than floats are off by there.
const HAIR: f64 = 1.0 / (1u64 << 30) as f64;

/// Weights of blocks sum to less than this.
const WHOLE: f64 = (1u64 << 63) as f64;

mod sealed {
    pub trait Sealed {}
}

/// A law on the integers that can be sampled exactly. Sealed: a law of floats cannot be passed off as one.
pub trait ExactLaw: sealed::Sealed {
    /// Draws one integer. The generator must be cryptographic, which a simulation's is not.
    fn sample<R: CryptoRng + ?Sized>(&self, rng: &mut R) -> i64;
}

/// The discrete Laplace: `P[x]` proportional to `exp(-|x| / scale)`.
///
/// For a release of integers of L1 sensitivity `D` it gives pure `(D / scale)`-DP.
///
/// ```
/// use rand::SeedableRng;
/// use sottovoce_privacy::noise::exact::{DiscreteLaplace, ExactLaw, Rational};
/// let law = DiscreteLaplace::new(Rational::new(7, 2)?)?;
/// let mut rng = rand_chacha::ChaCha20Rng::seed_from_u64(1);
/// assert!((0..100).all(|_| law.sample(&mut rng).abs() < 200));
/// # Ok::<(), sottovoce_privacy::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiscreteLaplace {
    scale: Rational,
}

impl DiscreteLaplace {
    /// The law of this scale, at most `2^40`: larger ones could leave 64 bits.
    pub fn new(scale: Rational) -> Result<Self> {
        // n > 2^40 d, without the shift to the left that could overflow.
        if u128::from(scale.numerator() - 1) >> 40 >= scale.denominator() {
            let remedy = "give at most 2^40 grid steps, or use a coarser grid";
            return Err(Error::parameter("scale", scale, remedy));
        }
        Ok(Self { scale })
    }

    /// The scale, exactly.
    pub fn scale(&self) -> Rational {
        self.scale
    }
}

impl sealed::Sealed for DiscreteLaplace {}

impl ExactLaw for DiscreteLaplace {
    fn sample<R: CryptoRng + ?Sized>(&self, rng: &mut R) -> i64 {
        signed(rng, |rng| {
            // exp(-x s/t) is the law of floor(X/s) for X with P[X = x] ~ exp(-x/t). As X < (2^22 + 1) t, the quotient
            // is at most (2^22 + 1) 2^40 < 2^63.
            (geometric(rng, self.scale.numerator()) / self.scale.denominator()) as i64
        })
    }
}

/// The discrete Gaussian: `P[x]` proportional to `exp(-x^2 / (2 variance))`.
///
/// `variance` is the parameter `sigma^2`; the law's own variance is below it, and equal to it for all purposes once it is
/// above 1 or so. For a release of integers of L2 sensitivity `D` it gives `D^2 / (2 sigma^2)`-concentrated DP, as the
/// continuous Gaussian does. Two things that hold for the continuous one are only nearly true of this one: it is not
/// `(D / sigma)`-GDP (at equal epsilon, and as long as the Gaussian's delta is at least 1e-6, delta is larger by up to 82 % at `sigma = D = 1`,
/// 3 % at 5, 0.03 % at 50; more further out), and a sum
/// of draws is not a draw of the same family. Accounts that need either must add a margin or use a fine grid.
///
/// ```
/// use rand::SeedableRng;
/// use sottovoce_privacy::noise::exact::{DiscreteGaussian, ExactLaw, Rational};
/// let law = DiscreteGaussian::new(Rational::from_f64(30.25)?);
/// let mut rng = rand_chacha::ChaCha20Rng::seed_from_u64(1);
/// assert!((0..100).all(|_| law.sample(&mut rng).abs() < 60));
/// # Ok::<(), sottovoce_privacy::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct DiscreteGaussian {
    variance: Rational,
    /// Magnitudes are proposed in blocks of `2^width`, of which a sigma has 16 to 32 (or each is alone in one).
    width: u32,
    /// The block of 0 and the next ones, to beyond ten sigmas. Copies share them: a million peers have one law.
    blocks: Arc<[Block]>,
    /// For every first [`GUIDE`] bits of a word the first block that words like it can choose.
    guide: Arc<[u16]>,
    /// What stands for 1 in the blocks' weights.
    one: u64,
    /// `1/(2 sigma^2)`, rounded.
    half_precision: f64,
}

/// Magnitudes of one block. Each is proposed with a weight that is at least `exp(-y^2/(2 sigma^2))`, for all of them the same.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Block {
    weight: u64,
    /// The weights of this block and of those before it.
    end: u64,
    /// `one / weight`, rounded.
    share: f64,
    /// So much of the top is kept of every magnitude: what is kept of the next block's first one.
    sure: f64,
}

impl DiscreteGaussian {
    /// The law of this `sigma^2`.
    pub fn new(variance: Rational) -> Self {
        let v = variance.to_f64();
        let sigma = (u128::from(variance.numerator()) / variance.denominator()).isqrt();
        let width = (sigma >> FINE).max(1).ilog2(); // whole numbers
        let side = (1u64 << width) as f64;
        let law = |y: f64| libm::exp(-y * y * 0.5 / v);
        // The tops of blocks, each a hair too high, whatever floats did to it. A sigma has 32 blocks at most, so that there are 321; below 16 there are fewer.
        let tops: Vec<f64> = (0..=MOST_BLOCKS)
            .map(|block| block as f64 * side)
            .take_while(|near| *near <= 10.0 * v.sqrt() + side)
            .map(|near| law(near) * (1.0 + HAIR) + HAIR * HAIR)
            .collect();
        let sum: f64 = tops.iter().sum();
        let one = (WHOLE / (sum * (1.0 + HAIR))) as u64;
        let mut end = 0;
        let block = |(number, top): (usize, f64)| {
            let weight = (top * one as f64) as u64 + 1;
            end += weight;
            let share = one as f64 / weight as f64;
            Block { weight, end, share, sure: law((number + 1) as f64 * side) * share }
        };
        let blocks: Arc<[Block]> = tops.into_iter().enumerate().map(block).collect();
        let first =
            |bits: u64| blocks.partition_point(|block| block.end <= bits << (WORD - 1 - GUIDE)) as u16;
        let guide = (0..1 << GUIDE).map(first).collect();
        Self { variance, width, blocks, guide, one, half_precision: 0.5 / v }
    }

    /// The law whose `sigma^2` is the float just above `std_dev^2` (in grid steps): what was proved for `std_dev` holds.
    ///
    /// ```
    /// use sottovoce_privacy::noise::exact::DiscreteGaussian;
    /// let law = DiscreteGaussian::at_least(5.5)?;
    /// assert!(law.variance().to_f64() >= 30.25 && law.variance().to_f64() < 30.2500001);
    /// assert!(DiscreteGaussian::at_least(-5.5).is_err());
    /// # Ok::<(), sottovoce_privacy::Error>(())
    /// ```
    pub fn at_least(std_dev: f64) -> Result<Self> {
        require(std_dev > 0.0, "std_dev", std_dev, "give a positive number of grid steps")?;
        Ok(Self::new(Rational::from_f64((std_dev * std_dev).next_up())?))
    }

    /// The parameter `sigma^2`, exactly: what an accountant must be given.
    pub fn variance(&self) -> Rational {
        self.variance
    }

    /// A proposed magnitude, if it is kept. The bits of a word choose the block; of all words some choose none.
    #[inline]
    fn proposed<R: CryptoRng + ?Sized>(&self, rng: &mut R, word: u64) -> Option<u64> {
        let first = usize::from(self.guide[(word >> (WORD - 1 - GUIDE)) as usize]);
        let Some(further) = self.blocks[first..].iter().position(|block| word < block.end) else {
            return self.beyond(rng, word);
        };
        let (number, bits) = (first + further, rng.next_u64());
        let place = if self.width == 0 { 0 } else { bits >> (WORD - self.width) };
        let (block, y) = (&self.blocks[number], ((number as u64) << self.width) + place);
        // Up to 11 sigmas the exponent is at most 61, and relatively off by 2^-50: so is the probability by 2^-44.
        let near = || libm::exp(-(y as f64 * y as f64) * self.half_precision) * block.share;
        let digit = bits & ((1 << DIGIT) - 1);
        let exact = || self.kept(y, block.weight, 0);
        bernoulli::at_least::<DIGIT, R>(rng, digit, block.sure, near, exact).then_some(y)
    }

    /// Beyond all blocks: the least weight there is, half of it for the next sixteen blocks, a quarter for as many after these, and so on.
    #[cold]
    fn beyond<R: CryptoRng + ?Sized>(&self, rng: &mut R, word: u64) -> Option<u64> {
        if word != self.blocks.last()?.end {
            return None;
        }
        let mut further = 0;
        while bernoulli::coin(rng) {
            further += 1;
            if further > MOST_UNITS {
                return None;
            }
        }
        let y = self.start_beyond(further) + (rng.next_u64() >> (WORD - self.width - FINE));
        bernoulli::bernoulli::<WORD, R>(rng, f64::NAN, || self.kept(y, 1, further + 1 + u64::from(FINE)))
            .then_some(y)
    }

    /// Where sixteen blocks begin, so many times sixteen beyond the last that has a weight.
    fn start_beyond(&self, further: u64) -> u64 {
        ((self.blocks.len() as u64) << self.width) + (further << (self.width + FINE))
    }

    /// Of a magnitude that was proposed with this weight over `2^halved`.
    fn kept(&self, y: u64, weight: u64, halved: u64) -> Probability {
        let (p, q) = (self.variance.numerator(), self.variance.denominator());
        let square = BigUint::from(y) * y;
        Probability {
            exponent: (square * q, BigUint::from(p) * 2u32),
            factor: (self.one, weight),
            doubled: halved,
        }
    }
}

impl sealed::Sealed for DiscreteGaussian {}

impl ExactLaw for DiscreteGaussian {
    fn sample<R: CryptoRng + ?Sized>(&self, rng: &mut R) -> i64 {
        loop {
            // One bit is the sign; one of the two zeros is drawn again, or zero would count twice. Magnitudes are below (2^22 + 23) 2^32.
            let word = rng.next_u64();
            match (word & 1, self.proposed(rng, word >> 1)) {
                (_, None) | (1, Some(0)) => {}
                (1, Some(y)) => return -(y as i64),
                (_, Some(y)) => return y as i64,
            }
        }
    }
}

/// `X >= 0` with `P[X = x]` proportional to `exp(-x/t)`, below `(2^22 + 1) t`, hence below `2^87`.
fn geometric<R: CryptoRng + ?Sized>(rng: &mut R, t: u64) -> u128 {
    loop {
        let u = bernoulli::below(rng, t);
        if !bernoulli::exp_minus_ratio(rng, u, t) {
            continue;
        }
        let mut units = 0;
        while units <= MOST_UNITS && bernoulli::exp_minus_one(rng) {
            units += 1;
        }
        if units <= MOST_UNITS {
            return u128::from(u) + u128::from(t) * u128::from(units);
        }
    }
}

/// Gives a magnitude a fair sign; one of the two zeros is drawn again, or zero would count twice.
fn signed<R: CryptoRng + ?Sized>(rng: &mut R, mut magnitude: impl FnMut(&mut R) -> i64) -> i64 {
    loop {
        let y = magnitude(rng);
        match (bernoulli::coin(rng), y) {
            (true, 0) => {}
            (true, y) => return -y,
            (false, y) => return y,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// No weight is below what it must cover, what is sure is no more than what is kept, and together they leave room for one word more.
        #[test]
        fn blocks_cover_the_law(mantissa in 1u64 << 52..1 << 53, exponent in -92i32..9, scales in 0f64..11.0) {
            let variance = Rational::from_f64(mantissa as f64 * 2f64.powi(exponent)).unwrap();
            let (law, sigma) = (DiscreteGaussian::new(variance), variance.to_f64().sqrt());
            let side = (1u64 << law.width) as f64;
            prop_assert!(law.width == 0 && sigma < 32.0 || 16.0 * side <= sigma && sigma < 32.0 * side);
            prop_assert!(law.width + DIGIT <= WORD);
            let (last, count) = (law.blocks[law.blocks.len() - 1], law.blocks.len());
            prop_assert!(last.end < 1 << 63 && last.end > 1 << 62 && count as f64 * side > 10.0 * sigma);
            let y = (scales * sigma) as u64;
            if let Some(block) = law.blocks.get((y >> law.width) as usize) {
                let first = y & !((1 << law.width) - 1);
                prop_assert!(bernoulli::at_most_one(&law.kept(first, block.weight, 0)));
                for y in [first, y, first + (1 << law.width) - 1] {
                    let kept = libm::exp(-(y as f64 * y as f64) * law.half_precision) * block.share;
                    prop_assert!(block.sure < kept, "{} of {kept}", block.sure);
                }
            }
            for further in [0, 1, 2, 50] {
                let y = law.start_beyond(further);
                prop_assert!(bernoulli::at_most_one(&law.kept(y, 1, further + 1 + u64::from(FINE))));
            }
        }

        /// The guide never begins behind the block that a word chooses.
        #[test]
        fn the_guide_finds_the_block(mantissa in 1u64 << 52..1 << 53, exponent in -92i32..9, word in 0u64..1 << 63) {
            let law = DiscreteGaussian::new(Rational::from_f64(mantissa as f64 * 2f64.powi(exponent)).unwrap());
            let chosen = |word: u64| law.blocks.iter().position(|block| word < block.end);
            let last = law.blocks[law.blocks.len() - 1].end;
            let edges = law.blocks.iter().flat_map(|block| [block.end - 1, block.end]);
            for word in edges.chain([word, 0, last, (1 << 63) - 1]) {
                let first = usize::from(law.guide[(word >> (WORD - 1 - GUIDE)) as usize]);
                let found = law.blocks[first..].iter().position(|block| word < block.end).map(|more| first + more);
                prop_assert_eq!(found, chosen(word));
            }
        }
    }
}
