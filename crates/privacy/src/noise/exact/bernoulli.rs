//! Random integers and exact Bernoulli variables, from raw random bits.
//!
//! A Bernoulli of probability `n/d` compares a uniform real, revealed digit by digit, with the digits of `n/d` in base
//! `2^B`: the first digit that differs decides. That is exact whatever `B`; with `B = 64` it costs one random word and
//! the probability that a second digit is needed is `2^-64`. The base is a parameter so that tests can take `B = 2` and
//! see the second digit all the time.

use std::cmp::Ordering;

use num_bigint::BigUint;
use rand::CryptoRng;

/// Digits used by every sampler: whole random words.
pub(super) const WORD: u32 = 64;

/// A fraction `n/d` in `[0, 1]` with its first digit worked out: `head = floor(2^B n/d)`.
///
/// Only a tie on the first digit needs `n` and `d` themselves, so they are kept behind a closure and usually never built.
pub(super) struct Fraction<F: Fn() -> (BigUint, BigUint)> {
    pub(super) head: u128,
    pub(super) exact: F,
}

/// One random digit in base `2^B`, for `B` from 1 to 64.
fn digit<const B: u32, R: CryptoRng + ?Sized>(rng: &mut R) -> u64 {
    rng.next_u64() >> (64 - B)
}

/// A fair coin.
pub(super) fn coin<R: CryptoRng + ?Sized>(rng: &mut R) -> bool {
    digit::<1, R>(rng) == 1
}

/// A uniform integer in `0..bound`, by rejection from just enough random bits; `bound` must not be 0.
pub(super) fn below<R: CryptoRng + ?Sized>(rng: &mut R, bound: u64) -> u64 {
    let unused = (bound - 1).leading_zeros();
    if unused == 64 {
        return 0;
    }
    loop {
        let candidate = rng.next_u64() >> unused;
        if candidate < bound {
            return candidate;
        }
    }
}

/// True with probability `n/(d k)`.
fn bernoulli<const B: u32, R, F>(rng: &mut R, fraction: &Fraction<F>, k: u64) -> bool
where
    R: CryptoRng + ?Sized,
    F: Fn() -> (BigUint, BigUint),
{
    // floor(floor(2^B n/d) / k) = floor(2^B n/(d k)): the head of n/d gives every first digit without a big division.
    let first = fraction.head / u128::from(k);
    if first >> B != 0 {
        return true; // only for n = d and k = 1
    }
    match u128::from(digit::<B, R>(rng)).cmp(&first) {
        Ordering::Less => true,
        Ordering::Greater => false,
        Ordering::Equal => {
            let (n, d) = (fraction.exact)();
            let d = d * k;
            let remainder = (n << B) - &d * first;
            later_digits::<B, R>(rng, remainder, &d)
        }
    }
}

/// True with probability `remainder / d`, where `remainder < d`: the digits after a tie.
fn later_digits<const B: u32, R: CryptoRng + ?Sized>(
    rng: &mut R,
    mut remainder: BigUint,
    d: &BigUint,
) -> bool {
    // An expansion that ends here leaves nothing for the uniform real to be below.
    while remainder != BigUint::ZERO {
        let shifted = remainder << B;
        let next = &shifted / d;
        remainder = shifted - &next * d;
        match BigUint::from(digit::<B, R>(rng)).cmp(&next) {
            Ordering::Less => return true,
            Ordering::Greater => return false,
            Ordering::Equal => {}
        }
    }
    false
}

/// True with probability `exp(-n/d)`, for `n <= d`.
///
/// Of Bernoulli draws with probabilities `g, g/2, g/3, ...`, the first `k - 1` succeed with probability `g^(k-1)/(k-1)!`,
/// so the first failure falls on an odd rank with probability `1 - g + g^2/2! - g^3/3! + ... = exp(-g)`.
pub(super) fn exp_minus_fraction<const B: u32, R, F>(rng: &mut R, fraction: &Fraction<F>) -> bool
where
    R: CryptoRng + ?Sized,
    F: Fn() -> (BigUint, BigUint),
{
    let mut k = 1;
    while bernoulli::<B, R, F>(rng, fraction, k) {
        k += 1;
    }
    k % 2 == 1
}

/// True with probability `exp(-n/d)` for `n <= d`, both machine words; `d` must not be 0.
pub(super) fn exp_minus_ratio<R: CryptoRng + ?Sized>(rng: &mut R, n: u64, d: u64) -> bool {
    let head = (u128::from(n) << WORD) / u128::from(d);
    let exact = || (BigUint::from(n), BigUint::from(d));
    exp_minus_fraction::<WORD, R, _>(rng, &Fraction { head, exact })
}

/// True with probability `exp(-n/d)`, for any `n >= 0` and `d > 0`: the whole part one unit at a time, then the rest.
pub(super) fn exp_minus<const B: u32, R: CryptoRng + ?Sized>(rng: &mut R, n: &BigUint, d: &BigUint) -> bool {
    let (mut whole, head) = split::<B>(n, d);
    let units = whole.clone();
    while whole != BigUint::ZERO {
        if !exp_minus_ratio(rng, 1, 1) {
            return false;
        }
        whole -= 1u32;
    }
    exp_minus_fraction::<B, R, _>(rng, &Fraction { head, exact: || (n - &units * d, d.clone()) })
}

/// `floor(n/d)`, and the first digit of what is left: `floor(2^B (n/d - floor(n/d)))`.
fn split<const B: u32>(n: &BigUint, d: &BigUint) -> (BigUint, u128) {
    let scaled = (n << B) / d;
    let whole = &scaled >> B;
    // The low B <= 64 bits of `scaled`.
    let low = scaled.iter_u64_digits().next().unwrap_or(0) & (u64::MAX >> (64 - B));
    (whole, u128::from(low))
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use proptest::prelude::*;
    use rand::{SeedableRng, TryCryptoRng, TryRng};
    use rand_chacha::ChaCha20Rng;

    use super::*;

    /// Plays back the bits of `script`, highest first, one per word (for `B = 1`), then zeros.
    struct Scripted(u64);

    impl TryRng for Scripted {
        type Error = Infallible;
        fn try_next_u32(&mut self) -> Result<u32, Infallible> {
            self.try_next_u64().map(|word| (word >> 32) as u32)
        }
        fn try_next_u64(&mut self) -> Result<u64, Infallible> {
            let word = self.0 & (1 << 63);
            self.0 <<= 1;
            Ok(word)
        }
        fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
            bytes.fill(0);
            Ok(())
        }
    }

    impl TryCryptoRng for Scripted {}

    fn big(n: u64) -> BigUint {
        BigUint::from(n)
    }

    fn fraction<const B: u32>(n: u64, d: u64) -> Fraction<impl Fn() -> (BigUint, BigUint)> {
        Fraction { head: (u128::from(n) << B) / u128::from(d), exact: move || (big(n), big(d)) }
    }

    #[test]
    fn every_string_of_digits_is_judged_rightly() {
        // Not statistics: over all strings of ten bits, a Bernoulli n/(dk) is true for n/(dk) of them, to the last one.
        for (n, d, k) in [
            (0, 5, 1),
            (1, 3, 1),
            (1, 2, 1),
            (3, 4, 1),
            (1, 1, 1),
            (1, 1, 2),
            (5, 7, 3),
            (99, 100, 1),
            (1, 1, 13),
        ] {
            let fraction = fraction::<1>(n, d);
            let yes = (0..1024u64)
                .filter(|s| bernoulli::<1, _, _>(&mut Scripted(s << 54), &fraction, k))
                .count() as u64;
            let (low, high) = (1024 * n / (d * k), (1024 * n).div_ceil(d * k));
            assert!(low <= yes && yes <= high, "{n}/({d}*{k}): {yes} of 1024");
        }
    }

    /// Whether `exp(-n/d)` is within five standard errors (p < 6e-7) of its frequency, for digits of `B` bits.
    fn frequency_fits<const B: u32>(n: u64, d: u64, claimed: f64) -> bool {
        let (trials, mut rng) = (200_000, ChaCha20Rng::seed_from_u64(n * 1000 + d + u64::from(B)));
        let yes = (0..trials).filter(|_| exp_minus::<B, _>(&mut rng, &big(n), &big(d))).count();
        let (mean, spread) =
            (f64::from(trials) * claimed, (f64::from(trials) * claimed * (1.0 - claimed)).sqrt());
        (yes as f64 - mean).abs() <= 5.0 * spread
    }

    #[test]
    fn exponentials_have_their_frequencies() {
        let near =
            [(1, 3, 0.95), (1, 2, 0.95), (7, 8, 0.95), (1, 1, 0.95), (5, 4, 0.95), (7, 2, 0.9), (3, 1, 0.9)];
        for (n, d, wrong) in near.into_iter().chain([(0, 1, 0.999), (1, 1000, 0.999), (6, 1, 0.6)]) {
            let p = libm::exp(-(n as f64) / d as f64);
            assert!(frequency_fits::<64>(n, d, p), "{n}/{d}");
            // One- and three-bit digits tie all the time, so this is the path that words take once in 2^64.
            assert!(frequency_fits::<1>(n, d, p) && frequency_fits::<3>(n, d, p), "{n}/{d} in short digits");
            assert!(!frequency_fits::<64>(n, d, p * wrong), "{n}/{d} off by {wrong} was not seen");
        }
    }

    #[test]
    fn uniform_integers_are_uniform() {
        let mut rng = ChaCha20Rng::seed_from_u64(3);
        for bound in [1u64, 2, 3, 5, 8, 17] {
            let mut bins = vec![(0u64, 60_000.0 / bound as f64); bound as usize];
            (0..60_000).for_each(|_| bins[below(&mut rng, bound) as usize].0 += 1);
            assert!(bound == 1 || crate::noise::statistics::chi_square(&bins) > 1e-6, "{bound}: {bins:?}");
        }
        assert!((0..100).all(|_| below(&mut rng, u64::MAX) < u64::MAX));
    }

    /// Long division of bytes, one bit at a time, with nothing of the big-number crate: the independent check.
    fn long_division(n: &[u8], d: &[u8]) -> Vec<u8> {
        // The remainder has one byte more than `d`, big-endian, so that doubling it cannot overflow.
        let d: Vec<u8> = std::iter::once(0).chain(d.iter().copied()).collect();
        let mut remainder = vec![0u8; d.len()];
        let step = |remainder: &mut Vec<u8>, bit: u8| {
            remainder.iter_mut().rev().fold(bit, |carry, byte| {
                let out = *byte >> 7;
                *byte = *byte << 1 | carry;
                out
            });
            let fits = *remainder >= d;
            if fits {
                remainder.iter_mut().zip(&d).rev().fold(false, |borrow, (byte, &d)| {
                    let (less, one) = byte.overflowing_sub(d);
                    let (less, two) = less.overflowing_sub(u8::from(borrow));
                    *byte = less;
                    one || two
                });
            }
            u8::from(fits)
        };
        n.iter()
            .map(|byte| (0..8).rev().fold(0, |q, i| q << 1 | step(&mut remainder, byte >> i & 1)))
            .collect()
    }

    proptest! {
        #[test]
        fn big_division_agrees_with_long_division(
            n in prop::collection::vec(any::<u8>(), 0..60), d in prop::collection::vec(any::<u8>(), 1..30),
        ) {
            prop_assume!(d.iter().any(|&byte| byte != 0));
            let scaled: Vec<u8> = n.iter().copied().chain([0; 8]).collect();
            let expected = BigUint::from_bytes_be(&long_division(&scaled, &d));
            let (n, d) = (BigUint::from_bytes_be(&n), BigUint::from_bytes_be(&d));
            let (whole, head) = split::<64>(&n, &d);
            prop_assert_eq!((&whole << 64) + head, expected);
            prop_assert!(&whole * &d <= n && (whole + 1u32) * &d > n);
        }

        #[test]
        fn big_arithmetic_agrees_with_machine_words(n in any::<u64>(), d in 1u64.., k in 1u64..1 << 20) {
            let (wide, e) = (u128::from(n), u128::from(d));
            let (whole, head) = split::<64>(&big(n), &big(d));
            prop_assert_eq!(whole, BigUint::from(wide / e));
            prop_assert_eq!(head, ((wide % e) << 64) / e);
            // The identity on which every later digit rests.
            prop_assert_eq!(BigUint::from(head / u128::from(k)), (big(n % d) << 64) / (big(d) * k));
            prop_assert_eq!((big(n) * d).cmp(&(big(d) * k)), (wide * e).cmp(&(e * u128::from(k))));
            prop_assert_eq!(split::<7>(&big(n), &big(d)).1, ((wide % e) << 7) / e);
        }
    }
}
