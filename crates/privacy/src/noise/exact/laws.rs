//! The discrete Laplace and the discrete Gaussian on the integers.
//!
//! Both start from a geometric variable `X >= 0` with `P[X = x]` proportional to `exp(-x/t)`: a uniform digit `u` below
//! `t`, kept with probability `exp(-u/t)`, and a number of whole units `v`, each kept with probability `exp(-1)`, make
//! `X = u + t v`. No integer here can overflow; the bounds are written where they are used.

use num_bigint::BigUint;
use rand::CryptoRng;

use super::Rational;
use super::bernoulli::{self, WORD};
use crate::{Error, Result, require};

/// More whole units than any draw will ever have (probability `exp(-2^22)`): a draw that gets here starts again.
const MOST_UNITS: u64 = 1 << 22;

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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiscreteGaussian {
    variance: Rational,
    /// `t = floor(sigma) + 1`, the scale of the Laplace variable proposed; at most `2^31 + 1`.
    t: u64,
    /// With `variance = p/q`: `q t`, `p` and `2 p q t^2`.
    q_t: BigUint,
    p: BigUint,
    denominator: BigUint,
}

impl DiscreteGaussian {
    /// The law of this `sigma^2`.
    pub fn new(variance: Rational) -> Self {
        let (p, q) = (variance.numerator(), variance.denominator());
        // The root of the whole part is the whole part of the root.
        let t = (u128::from(p) / q).isqrt() as u64 + 1;
        let q_t = BigUint::from(q) * t;
        let p = BigUint::from(p);
        let denominator = &q_t * &p * t * 2u32;
        Self { variance, t, q_t, p, denominator }
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

    /// Keeps a proposed `y` with probability `exp(-(|y| - sigma^2/t)^2 / (2 sigma^2))`.
    fn keeps<R: CryptoRng + ?Sized>(&self, rng: &mut R, y: i64) -> bool {
        bernoulli::exp_minus::<WORD, R>(rng, &self.numerator(y), &self.denominator)
    }

    /// The exponent over the common denominator `2 p q t^2`: `(|y| q t - p)^2`.
    fn numerator(&self, y: i64) -> BigUint {
        let proposed = &self.q_t * y.unsigned_abs();
        let distance = if proposed > self.p { proposed - &self.p } else { &self.p - proposed };
        &distance * &distance
    }
}

impl sealed::Sealed for DiscreteGaussian {}

impl ExactLaw for DiscreteGaussian {
    fn sample<R: CryptoRng + ?Sized>(&self, rng: &mut R) -> i64 {
        loop {
            // X < (2^22 + 1) (2^31 + 1) < 2^54.
            let y = signed(rng, |rng| geometric(rng, self.t) as i64);
            if self.keeps(rng, y) {
                return y;
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
        while units <= MOST_UNITS && bernoulli::exp_minus_ratio(rng, 1, 1) {
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
        #[test]
        fn the_exponent_is_the_papers(mantissa in 1u64 << 52..1 << 53, exponent in -90i32..9, scales in 0f64..20.0) {
            let variance = Rational::from_f64(mantissa as f64 * 2f64.powi(exponent)).unwrap();
            let law = DiscreteGaussian::new(variance);
            let v = variance.to_f64();
            prop_assert_eq!(law.t, v.sqrt() as u64 + 1);
            let y = (scales * law.t as f64) as i64;
            let near = (y as f64 - v / law.t as f64).powi(2) / (2.0 * v);
            let ours = u128::try_from((law.numerator(-y) << 40) / &law.denominator).unwrap() as f64 / 2f64.powi(40);
            // The float formula cancels near zero; eight digits of the larger term are asked of it.
            let size = ((y as f64).powi(2) + (v / law.t as f64).powi(2)) / (2.0 * v);
            prop_assert!((ours - near).abs() <= 1e-8 * size + 2f64.powi(-40), "{ours} against {near}");
        }
    }
}
