//! Certified numbers: an interval that contains the truth, and that cannot hold what is not a bound.
//!
//! There is no way to make an [`Interval`] with an end that is not a number, with its lower end above its upper end, or
//! with an infinite end for which no reason is stated. Two methods that answer the same question are intersected
//! ([`Interval::meet`]); if nothing remains, one of them is wrong, and that is an error, not an answer.
//!
//! The comparisons of floating-point numbers below carry a `NaN` on instead of dropping it: `NaN.max(0.0)` is `0`, and
//! has been a privacy loss of zero before. A test sees to it that nothing else in this crate compares by `max`.

use std::fmt;
use std::ops::Deref;

use serde::Serialize;

use crate::{Error, Result};

/// The two ends of an [`Interval`], to be read as its own fields.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Ends {
    /// The truth is not below this. (Where [`Accountant::lower_end`](crate::Accountant::lower_end) says so, the truth of the
    /// dominating pair that was composed, which a real adversary may not attain.)
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub lower: f64,
    /// The truth is not above this: the value to promise.
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub upper: f64,
}

/// Why an interval is wide, or has no upper end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(into = "String")]
pub enum Reason {
    /// The question is at the level of rounding.
    Rounding,
    /// Rare losses are very large beside the usual ones.
    Uneven,
    /// The question is about outcomes that are not kept.
    Cut,
    /// A currency that only bounds the loss from above.
    OneSided,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Rounding => "wide because the answer is so small that the rounding of doubles shows in it",
            Self::Uneven => {
                "wide because rare losses are very large beside the usual ones, more than a lattice resolves: the ends come from simpler bounds"
            }
            Self::Cut => {
                "wide because delta lies below what is cut off the support of discrete noise: the upper end comes from a simpler bound"
            }
            Self::OneSided => "no lower end: this currency only bounds the loss from above",
        })
    }
}

impl From<Reason> for String {
    fn from(reason: Reason) -> Self {
        reason.to_string()
    }
}

/// A closed interval that contains the true value.
///
/// ```
/// use sottovoce_privacy::Interval;
/// let interval = Interval::new(1.0, 1.5)?;
/// assert!(interval.lower == 1.0 && interval.upper == 1.5 && interval.contains(1.2));
/// assert!(Interval::new(f64::NAN, 1.0).is_err());
/// assert!(Interval::new(2.0, 1.0).is_err());
/// assert!(Interval::new(0.0, f64::INFINITY).is_err());      // not without a reason
/// assert!(interval.meet(Interval::new(1.6, 2.0)?).is_err());   // two methods that contradict each other
/// # Ok::<(), sottovoce_privacy::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Interval {
    #[serde(flatten)]
    ends: Ends,
    /// Why it is wide, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    reason: Option<Reason>,
}

impl Deref for Interval {
    type Target = Ends;

    fn deref(&self) -> &Ends {
        &self.ends
    }
}

impl Interval {
    /// Nothing at all: `[0, 0]`.
    pub const ZERO: Self = Self { ends: Ends { lower: 0.0, upper: 0.0 }, reason: None };
    /// Any probability: `[0, 1]`.
    pub const PROBABILITY: Self = Self { ends: Ends { lower: 0.0, upper: 1.0 }, reason: None };

    /// An interval with finite ends in their order; anything else is refused.
    pub fn new(lower: f64, upper: f64) -> Result<Self> {
        if lower <= upper && lower.is_finite() && upper.is_finite() {
            return Ok(Self { ends: Ends { lower, upper }, reason: None });
        }
        Err(Error::Accuracy {
            computation: format!("a value between {lower} and {upper}"),
            remedy: "ask for more noise, another delta, or fewer releases at once".into(),
        })
    }

    /// A single number.
    pub fn exactly(value: f64) -> Result<Self> {
        Self::new(value, value)
    }

    /// Anything from 0 on, and why no more is known.
    pub fn unknown(reason: Reason) -> Self {
        Self { ends: Ends { lower: 0.0, upper: f64::INFINITY }, reason: Some(reason) }
    }

    /// What is known only from below, and why.
    pub fn at_least(lower: f64, reason: Reason) -> Result<Self> {
        let known = Self::exactly(lower)?;
        Ok(Self { ends: Ends { lower: known.lower, upper: f64::INFINITY }, reason: Some(reason) })
    }

    /// Bounds on a probability: cut to `[0, 1]`; an end that is not a number, or ends that contradict each other, say nothing.
    pub fn of_probability(lower: f64, upper: f64) -> Self {
        let ends = Ends { lower: probability_below(lower), upper: probability_above(upper) };
        if ends.lower <= ends.upper { Self { ends, reason: None } } else { Self::PROBABILITY }
    }

    /// An interval from the lower to the upper of two computed ends that rounding may have exchanged.
    pub(crate) fn of_rounded(lower: f64, upper: f64) -> Result<Self> {
        Self::new(smaller(lower, upper), upper)
    }

    /// The same interval, with the reason for its width.
    pub fn because(self, reason: Reason) -> Self {
        Self { reason: Some(reason), ..self }
    }

    /// Why it is wide, or has no upper end.
    pub fn reason(&self) -> Option<Reason> {
        self.reason
    }

    /// An interval that contains the larger of the two values that `self` and `other` contain.
    pub fn larger(self, other: Self) -> Self {
        let ends = Ends { lower: larger(self.lower, other.lower), upper: larger(self.upper, other.upper) };
        let reason = if self.upper >= other.upper { self.reason } else { other.reason };
        Self { ends, reason: reason.or(self.reason).or(other.reason) }
    }

    /// What two answers to the same question leave; an error if they contradict each other.
    pub fn meet(self, other: Self) -> Result<Self> {
        let (lower, upper) = (larger(self.lower, other.lower), smaller(self.upper, other.upper));
        if lower > upper {
            return Err(Error::Contradiction { one: self.shown(), other: other.shown() });
        }
        let reason = if upper.is_finite() { None } else { self.reason.or(other.reason) };
        Ok(Self { ends: Ends { lower, upper }, reason })
    }

    fn shown(&self) -> String {
        format!("[{}, {}]", self.lower, self.upper)
    }

    /// Whether `value` lies inside.
    pub fn contains(self, value: f64) -> bool {
        self.lower <= value && value <= self.upper
    }

    /// Length of the interval.
    pub fn width(self) -> f64 {
        self.upper - self.lower
    }

    /// Whether its width is at most this share of its upper end.
    pub fn is_within(self, share: f64) -> bool {
        self.upper.is_finite() && self.width() <= share * self.upper
    }
}

/// The larger of two numbers; not a number if one of them is not.
pub(crate) fn larger(a: f64, b: f64) -> f64 {
    if a >= b || a.is_nan() { a } else { b }
}

/// The smaller of two numbers; not a number if one of them is not.
pub(crate) fn smaller(a: f64, b: f64) -> f64 {
    if a <= b || a.is_nan() { a } else { b }
}

/// The number of `[low, high]` that is nearest to `value`; not a number if that is not.
pub(crate) fn within(value: f64, low: f64, high: f64) -> f64 {
    smaller(larger(value, low), high)
}

/// The largest of some numbers (`least`, if there are none); not a number if one of them is not.
pub(crate) fn largest(least: f64, values: impl IntoIterator<Item = f64>) -> f64 {
    values.into_iter().fold(least, larger)
}

/// The smallest of some numbers (`most`, if there are none); not a number if one of them is not.
pub(crate) fn smallest(most: f64, values: impl IntoIterator<Item = f64>) -> f64 {
    values.into_iter().fold(most, smaller)
}

/// The smallest of some upper bounds: one that could not be computed bounds nothing.
pub(crate) fn best_bound(bounds: impl IntoIterator<Item = f64>) -> f64 {
    smallest(f64::INFINITY, bounds.into_iter().filter(|bound| !bound.is_nan()))
}

/// A probability from above: whatever could not be computed counts as 1, and nothing that is positive vanishes.
pub(crate) fn probability_above(value: f64) -> f64 {
    if value.is_nan() { 1.0 } else { within(value, 0.0, 1.0) }
}

/// A probability from below: whatever could not be computed counts as 0.
pub(crate) fn probability_below(value: f64) -> f64 {
    if value.is_nan() { 0.0 } else { within(value, 0.0, 1.0) }
}

/// `a + b`, rounded up (exact where the sum is).
pub(crate) fn add_up(a: f64, b: f64) -> f64 {
    let sum = a + b;
    let (part, rest) = if a.abs() >= b.abs() { (a, b) } else { (b, a) };
    // What rounding took away is itself a double.
    if rest - (sum - part) > 0.0 { sum.next_up() } else { sum }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_carry_what_is_not_a_number() {
        for (a, b) in [(f64::NAN, 0.0), (0.0, f64::NAN)] {
            assert!(larger(a, b).is_nan() && smaller(a, b).is_nan());
        }
        assert!(within(f64::NAN, 0.0, 1.0).is_nan() && largest(0.0, [1.0, f64::NAN, 2.0]).is_nan());
        assert_eq!((probability_above(f64::NAN), probability_below(f64::NAN)), (1.0, 0.0));
        assert_eq!(best_bound([f64::NAN, 3.0]), 3.0);
    }

    #[test]
    fn no_interval_holds_what_is_not_a_bound() {
        for (lower, upper) in [(f64::NAN, 1.0), (0.0, f64::NAN), (1.0, 0.5), (0.0, f64::INFINITY)] {
            assert!(Interval::new(lower, upper).is_err(), "{lower} {upper}");
        }
        assert!(Interval::at_least(f64::NAN, Reason::Uneven).is_err());
        assert!(Interval::at_least(1.0, Reason::Uneven).unwrap().reason().is_some());
        assert!(
            !Interval::at_least(1.0, Reason::Uneven).unwrap().is_within(0.01),
            "infinity is not 1 % wide"
        );
    }

    #[test]
    fn contradictions_are_errors() {
        let (one, other) = (Interval::new(1.0, 2.0).unwrap(), Interval::new(1.5, 3.0).unwrap());
        assert_eq!(one.meet(other).unwrap(), Interval::new(1.5, 2.0).unwrap());
        let error = one.meet(Interval::new(2.5, 3.0).unwrap()).unwrap_err().to_string();
        assert!(error.contains("[1, 2]") && error.contains("[2.5, 3]"), "{error}");
    }

    #[test]
    fn sums_are_rounded_up_and_exact_where_they_can_be() {
        assert_eq!(add_up(0.5, 0.25), 0.75);
        assert_eq!(add_up(1.0, 1e-30), 1.0_f64.next_up());
        assert_eq!(add_up(1e-30, 1.0), 1.0_f64.next_up());
    }
}
