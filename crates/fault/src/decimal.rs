//! Numbers in decimal, rounded in a stated direction: the one place where a privacy loss is shortened.
//!
//! A number is rounded from the shortest decimal that reads as it, so that a loss of 0.1 is shown as 0.1. Whatever is rounded up
//! reads as at least the number.

use std::fmt;

/// Which way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rounding {
    /// Never below the number.
    Up,
    /// Never above it.
    Down,
    /// To the nearest, halves away from zero.
    Nearest,
}

/// A number in decimal.
///
/// ```
/// use sottovoce_fault::decimal::{Decimal, Rounding};
/// let third = Decimal::significant(1.0 / 3.0, 3, Rounding::Up).expect("finite");
/// assert_eq!((third.to_string(), third.scientific()), ("0.334".into(), "3.34e-1".into()));
/// assert_eq!(Decimal::places(2.5e-9, 4, Rounding::Up).expect("finite").to_string(), "0.0001");
/// assert_eq!(Decimal::significant(f64::NAN, 3, Rounding::Up), None);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decimal {
    negative: bool,
    /// The first is not 0, unless the number is.
    digits: Vec<u8>,
    /// Of the first digit.
    exponent: i32,
}

impl Decimal {
    /// So many significant digits; none of what is not finite.
    pub fn significant(value: f64, digits: usize, rounding: Rounding) -> Option<Self> {
        let shortest = Self::shortest(value)?;
        Some(shortest.keep(digits.max(1), rounding))
    }

    /// So many digits after the point; none of what is not finite.
    pub fn places(value: f64, places: usize, rounding: Rounding) -> Option<Self> {
        let mut shortest = Self::shortest(value)?;
        let places = i32::try_from(places).ok()?;
        // Zeros before the first digit, where the number is below the last place.
        let zeros = (-places - shortest.exponent).max(0);
        shortest.exponent += zeros;
        shortest.digits.splice(0..0, std::iter::repeat_n(0, zeros.unsigned_abs() as usize));
        let (exponent, kept) =
            (shortest.exponent, (shortest.exponent + 1 + places).max(1).unsigned_abs() as usize);
        let mut rounded = shortest.keep(kept, rounding);
        // Nines that became ten have one place less.
        if rounded.exponent > exponent {
            rounded.digits.push(0);
        }
        Some(rounded)
    }

    /// The shortest decimal that reads as the number.
    fn shortest(value: f64) -> Option<Self> {
        let text = value.is_finite().then(|| format!("{:e}", value.abs()))?;
        let (mantissa, exponent) = text.split_once('e')?;
        let digits = mantissa.bytes().filter(u8::is_ascii_digit).map(|digit| digit - b'0').collect();
        Some(Self { negative: value < 0.0, digits, exponent: exponent.parse().ok()? })
    }

    /// The first digits, at least one.
    fn keep(mut self, digits: usize, rounding: Rounding) -> Self {
        let rest = self.digits.split_off(digits.min(self.digits.len()));
        let longer = match rounding {
            Rounding::Up => !self.negative && rest.iter().any(|digit| *digit > 0),
            Rounding::Down => self.negative && rest.iter().any(|digit| *digit > 0),
            Rounding::Nearest => rest.first().is_some_and(|digit| *digit >= 5),
        };
        self.digits.resize(digits, 0);
        if longer {
            match self.digits.iter().rposition(|digit| *digit < 9) {
                Some(at) => {
                    self.digits[at] += 1;
                    self.digits[at + 1..].fill(0);
                }
                None => {
                    self.digits.fill(0);
                    self.digits[0] = 1;
                    self.exponent += 1;
                }
            }
        }
        self
    }

    /// The exponent of its first digit.
    pub fn exponent(&self) -> i32 {
        self.exponent
    }

    /// Its first digit, a point, and the rest.
    pub fn mantissa(&self) -> String {
        let digits: String = self.digits.iter().map(|digit| char::from(b'0' + digit)).collect();
        let sign = if self.negative && !self.is_zero() { "-" } else { "" };
        let (first, rest) = digits.split_at(1);
        if rest.is_empty() { format!("{sign}{first}") } else { format!("{sign}{first}.{rest}") }
    }

    /// With a power of ten, such as `3.34e-1`.
    pub fn scientific(&self) -> String {
        format!("{}e{}", self.mantissa(), self.exponent)
    }

    /// The double that it reads as.
    pub fn value(&self) -> f64 {
        self.scientific().parse().unwrap_or(f64::NAN)
    }

    fn is_zero(&self) -> bool {
        self.digits.iter().all(|digit| *digit == 0)
    }
}

/// Without a power of ten. Digits after the point are those that were kept.
impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        let last = self.digits.len() as i32 - 1; // at most 400
        let lowest = (self.exponent - last).min(0);
        for place in (lowest..=self.exponent.max(0)).rev() {
            let digit = usize::try_from(self.exponent - place).ok().and_then(|at| self.digits.get(at));
            text.push(char::from(b'0' + digit.copied().unwrap_or(0)));
            if place == 0 && lowest < 0 {
                text.push('.');
            }
        }
        f.pad(&if self.negative && !self.is_zero() { format!("-{text}") } else { text })
    }
}

/// So many significant digits, rounded up; very small and very large numbers with a power of ten.
pub fn up(value: f64, digits: usize) -> String {
    shown(value, digits, Rounding::Up)
}

/// The same, rounded down.
pub fn down(value: f64, digits: usize) -> String {
    shown(value, digits, Rounding::Down)
}

/// So many digits after the point, rounded up.
pub fn up_to_places(value: f64, places: usize) -> String {
    Decimal::places(value, places, Rounding::Up).map_or_else(|| value.to_string(), |shown| shown.to_string())
}

/// Six significant digits with a power of ten, rounded up.
pub fn scientific(value: f64) -> String {
    Decimal::significant(value, 6, Rounding::Up).map_or_else(|| value.to_string(), |shown| shown.scientific())
}

/// The double that [`up`] shows.
pub fn up_value(value: f64, digits: usize) -> f64 {
    Decimal::significant(value, digits, Rounding::Up).map_or(value, |shown| shown.value())
}

fn shown(value: f64, digits: usize, rounding: Rounding) -> String {
    match Decimal::significant(value, digits, rounding) {
        None => value.to_string(),
        Some(_) if value == 0.0 => "0".into(),
        Some(shown) if (-4..15).contains(&shown.exponent) => shown.to_string(),
        Some(shown) => shown.scientific(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// All digits of a double: its sign, digits and the place of the first.
    fn exact(value: f64) -> Decimal {
        let text = format!("{:.1074}", value.abs());
        let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_digit).map(|digit| digit - b'0').collect();
        let point = text.find('.').unwrap() as i32;
        let first = digits.iter().position(|digit| *digit > 0).unwrap_or(0);
        Decimal {
            negative: value < 0.0,
            exponent: point - 1 - first as i32,
            digits: digits[first..].to_vec(),
        }
    }

    /// Compares sizes of positive decimals.
    fn at_least(a: &Decimal, b: &Decimal) -> bool {
        let digit = |x: &Decimal, place: i32| {
            usize::try_from(x.exponent - place).ok().and_then(|at| x.digits.get(at)).copied().unwrap_or(0)
        };
        let different = (-1080..=310).rev().find(|place| digit(a, *place) != digit(b, *place));
        different.is_none_or(|place| digit(a, place) > digit(b, place))
    }

    /// Doubles of every size, on grid points, just above and just below them, and anywhere.
    fn cases() -> impl Iterator<Item = f64> {
        let mut bits = 0x9e37_79b9_7f4a_7c15_u64;
        (0..6000_i32)
            .flat_map(move |i| {
                bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let any = f64::from_bits(bits >> 1);
                let grid = f64::from(i % 1500 + 1) * 10_f64.powi(i % 13 - 8);
                [grid, grid.next_up(), grid.next_down(), grid * (1.0 + 1e-13), any]
            })
            .filter(|value| value.is_finite())
    }

    #[test]
    fn what_is_shown_is_never_less_and_the_next_below_would_be() {
        for value in cases() {
            for digits in [1, 3, 6, 12] {
                let shown = Decimal::significant(value, digits, Rounding::Up).unwrap();
                assert!(shown.value() >= value, "{value:e} {digits} {shown}");
                // Less than one digit above the exact value, which differs from the shortest decimal by half a spacing.
                let below = Decimal::significant(value, digits, Rounding::Down).unwrap();
                assert!(below.value() <= value && at_least(&shown, &below));
                let exact = exact(value);
                if !at_least(&shown, &exact) || !at_least(&exact, &below) {
                    assert_eq!(shown.value(), value, "only the double's own decimal lies on the other side");
                }
                let unit = Decimal {
                    negative: false,
                    digits: vec![1],
                    exponent: shown.exponent + 1 - digits as i32,
                };
                if shown != below && shown.exponent == below.exponent {
                    let apart = (shown.digits.last().unwrap() + 10 - below.digits.last().unwrap()) % 10;
                    assert_eq!(apart, 1, "{value:e}: {shown} and {below} are {unit} apart");
                }
            }
            for places in [0, 4, 6] {
                let shown = up_to_places(value, places);
                assert!(shown.parse::<f64>().unwrap() >= value, "{value:e} {shown}");
                let after = shown.split_once('.').map_or(0, |(_, after)| after.len());
                assert_eq!(after, places, "{value:e} {shown}");
            }
            assert_eq!(up_value(value, 6), up(value, 6).parse::<f64>().unwrap());
            let negative = Decimal::significant(-value, 3, Rounding::Up).unwrap();
            assert!(negative.value() >= -value);
        }
    }

    #[test]
    fn numbers_are_written_as_people_write_them() {
        let cases =
            [(0.25, "0.250"), (0.1, "0.100"), (0.999_9, "1.00"), (12_345.2, "12400"), (0.000_04, "4.00e-5")];
        cases.iter().for_each(|(value, shown)| assert_eq!(up(*value, 3), *shown));
        assert_eq!(up(0.250_000_000_000_5, 6), "0.250001");
        let odd =
            [(0.0, "0"), (f64::INFINITY, "inf"), (f64::NAN, "NaN"), (1e15, "1.00e15"), (-0.5, "-0.500")];
        odd.iter().for_each(|(value, shown)| assert_eq!(up(*value, 3), *shown));
        assert_eq!([9.99, -1e-9, 0.0, f64::NAN].map(|x| up_to_places(x, 1)), ["10.0", "0.0", "0.0", "NaN"]);
        assert_eq!(down(0.1239, 3), "0.123");
        assert_eq!(Decimal::significant(0.125, 2, Rounding::Nearest).unwrap().to_string(), "0.13");
    }
}
