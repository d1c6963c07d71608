//! Real numbers of as many digits as it takes: fixed point in `L` words, seven bits before the point.
//!
//! Entries of orthonormal vectors and of mixing matrices are at most about 1, so that a point which does not float is all there is to
//! precision: every sum is exact, and every product is off by less than a unit of the last place.

use std::cmp::Ordering;

use super::weight::Weight;

/// Bits before the point, the sign among them.
const WHOLE: u32 = 8;

/// A number in `(-128, 128)`: words from the lowest, in two's complement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fixed<const L: usize>([u64; L]);

impl<const L: usize> Fixed<L> {
    pub(crate) const ZERO: Self = Self([0; L]);

    /// Bits after the point.
    pub(crate) const DIGITS: u32 = 64 * L as u32 - WHOLE;

    /// A small whole number.
    pub(crate) fn whole(x: u8) -> Self {
        let mut words = [0; L];
        words[L - 1] = u64::from(x) << (64 - WHOLE);
        Self(words)
    }

    #[inline(always)]
    pub(crate) fn is_negative(&self) -> bool {
        self.0[L - 1] >> 63 == 1
    }

    #[inline(always)]
    pub(crate) fn plus(mut self, other: &Self) -> Self {
        let mut carry = false;
        for (a, b) in self.0.iter_mut().zip(&other.0) {
            let (sum, first) = a.overflowing_add(*b);
            let (sum, second) = sum.overflowing_add(u64::from(carry));
            (*a, carry) = (sum, first | second);
        }
        self
    }

    #[inline(always)]
    pub(crate) fn negated(mut self) -> Self {
        let mut carry = true;
        for a in &mut self.0 {
            let (sum, over) = (!*a).overflowing_add(u64::from(carry));
            (*a, carry) = (sum, over);
        }
        self
    }

    #[inline(always)]
    pub(crate) fn minus(self, other: &Self) -> Self {
        self.plus(&other.negated())
    }

    #[inline(always)]
    fn size(self) -> Self {
        if self.is_negative() { self.negated() } else { self }
    }

    /// Whether it is 32 or more in size. Below that, `x - m u` of three such numbers fits as long as `u` is at most 2.
    #[inline(always)]
    pub(crate) fn is_large(&self) -> bool {
        // The sign and the two bits below it are alike in all others.
        let top = (self.0[L - 1] as i64) >> (64 - 3);
        top != 0 && top != -1
    }

    /// Compares sizes, to the last digit.
    pub(crate) fn compare_sizes(&self, other: &Self) -> Ordering {
        self.size().0.iter().rev().cmp(other.size().0.iter().rev())
    }

    /// The product, rounded down; words that only matter below the last place are left out.
    #[inline(always)]
    pub(crate) fn times(&self, other: &Self) -> Self {
        let (a, b) = (&self.0, &other.0);
        // Words L to 2L-1 of the product of both as if they had no sign, after one more below.
        let (mut words, mut below) = ([0_u64; L], 0_u64);
        // Column by column: the present word, and what goes on.
        let (mut low, mut high) = (0_u128, 0_u128);
        for column in L.saturating_sub(2)..2 * L - 1 {
            for i in column.saturating_sub(L - 1)..=column.min(L - 1) {
                let product = u128::from(a[i]) * u128::from(b[column - i]);
                low += product & u128::from(u64::MAX);
                high += product >> 64;
            }
            match column.checked_sub(L - 1) {
                Some(0) => below = low as u64,
                Some(place) => words[place - 1] = low as u64,
                None => {}
            }
            (low, high) = (high + (low >> 64), 0);
        }
        words[L - 1] = low as u64;
        // A negative factor stood for one that is 2^64L larger.
        let product = Self(words).less_if(self.is_negative(), other).less_if(other.is_negative(), self);
        // The point stands WHOLE bits below the top: shift left by that, the bits of the word below coming in.
        let (mut words, mut carry) = (product.0, below >> (64 - WHOLE));
        for word in &mut words {
            let next = *word >> (64 - WHOLE);
            *word = (*word << WHOLE) | carry;
            carry = next;
        }
        Self(words)
    }

    /// Less `other`, on a condition that is not worth a jump.
    #[inline(always)]
    fn less_if(mut self, condition: bool, other: &Self) -> Self {
        let (mask, mut borrow) = (0_u64.wrapping_sub(u64::from(condition)), false);
        for (a, b) in self.0.iter_mut().zip(&other.0) {
            let (rest, first) = a.overflowing_sub(*b & mask);
            let (rest, second) = rest.overflowing_sub(u64::from(borrow));
            (*a, borrow) = (rest, first | second);
        }
        self
    }

    /// `self * 2^bits`; the caller knows that it fits.
    pub(crate) fn doubled(mut self, bits: u32) -> Self {
        let (words, bits) = ((bits / 64) as usize, bits % 64);
        self.0.rotate_right(words.min(L));
        self.0[..words.min(L)].fill(0);
        if bits > 0 {
            let mut carry = 0;
            for word in &mut self.0 {
                let next = *word >> (64 - bits);
                *word = (*word << bits) | carry;
                carry = next;
            }
        }
        self
    }

    /// The number of bits by which the size can be doubled before it passes 1; all of them for 0.
    pub(crate) fn room(self) -> u32 {
        let size = self.size();
        let zeros: u32 = match size.0.iter().rposition(|&word| word != 0) {
            Some(top) => 64 * (L - 1 - top) as u32 + size.0[top].leading_zeros(),
            None => 64 * L as u32,
        };
        zeros.saturating_sub(WHOLE)
    }

    /// As a fraction in `[1/2, 1)` (or 0) and a power of two.
    pub(crate) fn split(self) -> (f64, i64) {
        let room = self.room();
        if room >= Self::DIGITS {
            return (0.0, 0);
        }
        let top = self.size().doubled(room);
        let mut sum = 0.0;
        for (i, &word) in top.0.iter().enumerate() {
            sum += word as f64 * 2_f64.powi(64 * i as i32 - Self::DIGITS as i32);
        }
        (if self.is_negative() { -sum } else { sum }, -i64::from(room))
    }

    pub(crate) fn to_f64(self) -> f64 {
        let (fraction, exponent) = self.split();
        fraction * 2_f64.powi(i32::try_from(exponent).unwrap_or(i32::MIN))
    }

    /// As the sum of two doubles, to 120 bits after the point.
    pub(crate) fn to_doubles(self) -> (f64, f64) {
        let below = if L > 1 { self.0[L - 2] } else { 0 };
        let top = (i128::from(self.0[L - 1] as i64) << 64) | i128::from(below);
        let high = top as f64;
        let low = (top - high as i128) as f64;
        let unit = 1.0 / (1_u128 << (128 - WHOLE)) as f64;
        (high * unit, low * unit)
    }

    /// `1 / self` of a number from 1/4 to 32 in size, by Newton's iteration from a double: off by at most four units, and two for each one of the
    /// quotient.
    pub(crate) fn inverse(&self) -> Self {
        let mut y = Self::from(Weight::of(1.0 / self.to_f64()));
        let (two, mut digits) = (Self::whole(2), 48);
        while digits < 2 * Self::DIGITS {
            y = y.times(&two.minus(&self.times(&y)));
            digits *= 2;
        }
        y
    }
}

impl<const L: usize> From<Weight> for Fixed<L> {
    /// Long division, towards zero; the weight is below 128.
    fn from(weight: Weight) -> Self {
        let mut words = [0_u64; L];
        let mut above = 0;
        match Self::DIGITS.checked_sub(weight.halvings) {
            Some(bits) => {
                let (word, bits) = ((bits / 64) as usize, bits % 64);
                let wide = u128::from(weight.numerator) << bits;
                words[word] = wide as u64;
                *words.get_mut(word + 1).unwrap_or(&mut above) = (wide >> 64) as u64;
            }
            None => words[0] = weight.numerator.checked_shr(weight.halvings - Self::DIGITS).unwrap_or(0),
        }
        let divisor = u128::from(weight.denominator.max(1));
        let mut rest = u128::from(above) % divisor;
        for word in words.iter_mut().rev() {
            let wide = (rest << 64) | u128::from(*word);
            (*word, rest) = ((wide / divisor) as u64, wide % divisor);
        }
        let number = Self(words);
        if weight.negative { number.negated() } else { number }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fixed<const L: usize>(x: f64) -> Fixed<L> {
        Weight::of(x).into()
    }

    fn agrees<const L: usize>(x: f64, y: f64) -> Result<(), TestCaseError> {
        let (a, b) = (fixed::<L>(x), fixed::<L>(y));
        let close = |found: Fixed<L>, expected: f64| {
            prop_assert!(
                (found.to_f64() - expected).abs() <= 1e-15 * (1.0 + expected.abs()),
                "{found:?} {expected}"
            );
            Ok(())
        };
        close(a, x)?;
        close(a.plus(&b), x + y)?;
        close(a.minus(&b), x - y)?;
        close(a.times(&b), x * y)?;
        prop_assert_eq!(a.times(&b), b.times(&a));
        let one = Fixed::<L>::whole(1);
        let off = a.times(&one).minus(&a).to_f64().abs();
        prop_assert!(off <= 2_f64.powi(1 - Fixed::<L>::DIGITS as i32), "{off:e}");
        Ok(())
    }

    proptest! {
        #[test]
        fn it_counts_as_doubles_do(x in -(8 << 20)..(8 << 20), y in -(8 << 20)..(8 << 20)) {
            let part = |x: i32| f64::from(x) / f64::from(1 << 20);
            let (x, y) = (part(x), part(y));
            agrees::<2>(x, y)?;
            agrees::<4>(x, y)?;
            agrees::<16>(x, y)?;
        }

        #[test]
        fn fractions_and_inverses_are_right_to_the_last_digits(q in 1_u64..100_000, x in 0.25_f64..32.0) {
            let part = Fixed::<8>::from(Weight { negative: false, numerator: 1, denominator: q, halvings: 0 });
            let mut sum = Fixed::<8>::ZERO;
            // q times 1/q, by doubling.
            for bit in (0..17).rev() {
                sum = sum.doubled(1);
                if q >> bit & 1 == 1 {
                    sum = sum.plus(&part);
                }
            }
            prop_assert!(Fixed::whole(1).minus(&sum).to_f64() * 2_f64.powi(480) < 1.0);
            for number in [fixed::<8>(x), fixed::<8>(-x)] {
                let off = number.inverse().times(&number).minus(&Fixed::whole(1)).to_f64().abs();
                prop_assert!(off * 2_f64.powi(504) <= 1.0 + x * (4.0 + 2.0 / x), "{x} {off:e}");
            }
        }
    }

    #[test]
    fn small_numbers_keep_their_digits() {
        let x = fixed::<4>(1e-60);
        assert!((x.to_f64() / 1e-60 - 1.0).abs() < 1e-12);
        assert_eq!(x.doubled(x.room()).room(), 0);
        let (fraction, exponent) = x.negated().split();
        assert!(fraction < 0.0 && (fraction * 2_f64.powi(exponent as i32) / -1e-60 - 1.0).abs() < 1e-12);
        assert_eq!(fixed::<2>(1e-60), Fixed::ZERO);
    }

    #[test]
    fn two_doubles_hold_what_two_words_do() {
        let third = Fixed::<2>::from(Weight::of(-1.0 / 3.0));
        let (high, low) = third.to_doubles();
        assert_eq!(high, -1.0 / 3.0);
        // 3 high is not -1 exactly, and low is what it lacks.
        let off = 3.0_f64.mul_add(high, 1.0) + 3.0 * low;
        assert!(off.abs() < 2_f64.powi(-104) && low != 0.0, "{off:e} {low:e}");
    }

    #[test]
    fn large_numbers_are_noticed_before_they_turn_round() {
        let [small, large, twice] = [31, 32, 64].map(Fixed::<4>::whole);
        assert!(!small.is_large() && !small.negated().is_large());
        for large in [large, twice, large.plus(&twice)] {
            assert!(large.is_large() && large.plus(&Fixed::whole(1)).negated().is_large());
        }
    }
}
