//! Numbers modulo the prime `2^61 - 1`: exact arithmetic that never grows.
//!
//! Whether a rational number is zero is decided by its residue: a zero has residue 0 always, anything else only if the prime divides its
//! numerator, which happens to about one number in `2^61`.
//!
//! Sums in the innermost loops wrap: each has a bound beside it, which `sums_of_the_largest_residues_do_not_overflow` tests. A check
//! of every addition would keep them from vector registers.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::weight::Weight;

const P: u64 = (1 << 61) - 1;

/// A residue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Residue(u64);

impl Residue {
    pub(crate) const ZERO: Self = Self(0);
    pub(crate) const ONE: Self = Self(1);

    /// The residue of a whole number.
    pub(crate) fn new(x: u64) -> Self {
        Self(x % P)
    }

    #[inline(always)]
    pub(crate) fn reduced(wide: u128) -> Self {
        // 2^61 = 1: fold the high bits onto the low ones, twice.
        let folded = (wide & u128::from(P)).wrapping_add(wide >> 61);
        let folded = (folded as u64 & P).wrapping_add((folded >> 61) as u64);
        Self(if folded >= P { folded.wrapping_sub(P) } else { folded })
    }

    /// The product, not reduced.
    #[inline(always)]
    fn product(self, other: Self) -> u128 {
        u128::from(self.0).wrapping_mul(u128::from(other.0))
    }

    /// As a number from which a sum begins.
    #[inline(always)]
    pub(crate) fn wide(self) -> u128 {
        u128::from(self.0)
    }

    #[inline(always)]
    pub(crate) fn plus(self, other: Self) -> Self {
        let sum = self.0.wrapping_add(other.0);
        Self(if sum >= P { sum.wrapping_sub(P) } else { sum })
    }

    #[inline(always)]
    pub(crate) fn minus(self, other: Self) -> Self {
        let difference = self.0.wrapping_sub(other.0);
        Self(if self.0 >= other.0 { difference } else { difference.wrapping_add(P) })
    }

    #[inline(always)]
    pub(crate) fn times(self, other: Self) -> Self {
        Self::reduced(self.product(other))
    }

    /// `self + factor * other`.
    #[inline(always)]
    pub(crate) fn plus_times(self, factor: Self, other: Self) -> Self {
        Self::reduced(u128::from(self.0).wrapping_add(factor.product(other)))
    }

    /// The sum of products.
    #[inline]
    pub(crate) fn dot(x: &[Self], y: &[Self]) -> Self {
        let chunk = |(x, y): (&[Self], &[Self])| {
            // Thirty-two products of numbers below 2^61 fit.
            let products = x.iter().zip(y).map(|(x, y)| x.product(*y));
            Self::reduced(products.fold(0, u128::wrapping_add))
        };
        x.chunks(32).zip(y.chunks(32)).map(chunk).fold(Self::ZERO, Self::plus)
    }

    /// One product, and those of weights with the values they belong to.
    #[inline(always)]
    pub(crate) fn sum_of_products(
        (own, x): (&Self, &Self),
        others: &[(usize, Self)],
        values: &[Self],
    ) -> Self {
        let mut sum = own.product(*x);
        for some in others.chunks(32) {
            sum = u128::from(Self::reduced(sum).0);
            for (v, weight) in some {
                sum = sum.wrapping_add(weight.product(values[*v]));
            }
        }
        Self::reduced(sum)
    }

    /// Adds `factor` times the sum of values to sums that are not reduced yet, side by side; at most 32 times.
    #[inline(always)]
    pub(crate) fn add_multiple<const W: usize>(
        sums: &mut [u128; W],
        factor: Self,
        places: &[u32],
        values: &[[Self; W]],
    ) {
        let mut total = [0_u64; W];
        // Seven numbers below 2^61 and what is left of others fit.
        for some in places.chunks(7) {
            for &place in some {
                let value = &values[place as usize];
                for i in 0..W {
                    total[i] = total[i].wrapping_add(value[i].0);
                }
            }
            total = total.map(|total| (total & P).wrapping_add(total >> 61));
        }
        for i in 0..W {
            sums[i] = sums[i].wrapping_add(factor.product(Self(total[i])));
        }
    }

    fn power(self, mut exponent: u64) -> Self {
        let (mut base, mut product) = (self, Self::ONE);
        while exponent > 0 {
            if exponent & 1 == 1 {
                product = product.times(base);
            }
            base = base.times(base);
            exponent >>= 1;
        }
        product
    }

    /// `1 / self`; 0 has none, and gives 0.
    pub(crate) fn inverse(self) -> Self {
        self.power(P - 2)
    }

    pub(crate) fn negated(self) -> Self {
        Self::ZERO.minus(self)
    }
}

impl From<Weight> for Residue {
    fn from(weight: Weight) -> Self {
        let size = Self::new(weight.numerator).times(Self::new(weight.denominator).inverse());
        let halved = size.times(Self::new(2).inverse().power(u64::from(weight.halvings)));
        if weight.negative { halved.negated() } else { halved }
    }
}

/// Residues that depend on nothing but a number: for sketches that may be anything, as long as they were chosen beforehand.
pub(crate) struct Residues(SplitMix64);

impl Residues {
    pub(crate) fn new(seed: u64) -> Self {
        Self(SplitMix64::seed_from_u64(seed))
    }

    /// The next one.
    pub(crate) fn draw(&mut self) -> Residue {
        Residue::new(self.0.next_u64() >> 3)
    }

    /// Whether the next one is odd.
    pub(crate) fn odd(&mut self) -> bool {
        self.draw().0 & 1 == 1
    }

    /// Sixty bits.
    pub(crate) fn bits(&mut self) -> u64 {
        self.draw().0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_a_field(a in 0..P, b in 0..P, c in 0..P) {
            let (x, y, z) = (Residue::new(a), Residue::new(b), Residue::new(c));
            prop_assert_eq!(u128::from(x.times(y).0), u128::from(a) * u128::from(b) % u128::from(P));
            prop_assert_eq!(x.plus(y).times(z), x.times(z).plus(y.times(z)));
            prop_assert_eq!(x.minus(y).plus(y), x);
            prop_assert_eq!(z.plus_times(x, y), z.plus(x.times(y)));
            prop_assert_eq!(Residue::dot(&[x; 70], &[y; 70]), x.times(y).times(Residue::new(70)));
            if a > 0 {
                prop_assert_eq!(x.times(x.inverse()), Residue::ONE);
            }
        }
    }

    #[test]
    fn sums_of_the_largest_residues_do_not_overflow() {
        let largest = Residue(P - 1);
        // (-1)(-1) = 1, so that a sum of products counts them.
        assert_eq!(Residue::dot(&[largest; 64], &[largest; 64]), Residue::new(64));
        let others: Vec<(usize, Residue)> = (0..64).map(|i| (i, largest)).collect();
        assert_eq!(Residue::sum_of_products((&largest, &largest), &others, &[largest; 64]), Residue::new(65));
        for (groups, values) in [(1, 70), (32, 7), (32, 100)] {
            let (mut sums, places) = ([largest.wide(); 3], (0..values as u32).collect::<Vec<_>>());
            for _ in 0..groups {
                Residue::add_multiple(&mut sums, largest, &places, &vec![[largest; 3]; values]);
            }
            let expected = Residue::new(groups * values as u64).minus(Residue::ONE);
            assert_eq!(sums.map(Residue::reduced), [expected; 3]);
        }
        assert_eq!(Residue::reduced(u128::MAX), Residue::new((u128::MAX % u128::from(P)) as u64));
    }

    /// The first two numbers of the generator's authors from 0, without their last three bits.
    #[test]
    fn draws_are_pinned() {
        let mut draws = Residues::new(0);
        let expected = [0xe220_a839_7b1d_cdaf_u64, 0x6e78_9e6a_a1b9_65f4];
        assert_eq!([draws.draw(), draws.draw()], expected.map(|bits| Residue::new(bits >> 3)));
    }

    #[test]
    fn fractions_are_what_they_stand_for() {
        let third = Residue::from(Weight::of(1.0 / 3.0));
        assert_eq!(third.plus(third).plus(third), Residue::ONE);
        let tenth = Residue::from(Weight::of(-0.1));
        assert_eq!(tenth.times(Residue::new(10)), Residue::ONE.negated());
        // Not a simple fraction: the double itself.
        let odd = 0.123_456_789_012_345_67;
        assert_eq!(
            Residue::from(Weight::of(odd)).times(Residue::new(1 << 60)),
            Residue::new((odd * (1_u64 << 60) as f64) as u64)
        );
    }
}
