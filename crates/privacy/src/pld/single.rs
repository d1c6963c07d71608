//! Single releases: the hockey-stick curve itself, without lattice or transform.
//!
//! Sampling maps the curve `H` of a law to one in closed form (`rate H(..)` and the like), which is free of the
//! cancellation that the difference of two mixed tails suffers where sampling is rare.

use super::law::{Law, base_threshold};
use super::pairs::laws_of;
use crate::event::Event;
use crate::gdp::VANISHING;
use crate::interval::{larger, probability_above, probability_below, smaller};
use crate::mechanism::Adjacency;
use crate::special::{Interval, UNIT, crossing, tail_error};
use crate::{Error, Result};

/// Epsilons are searched for up to this.
const LARGEST: f64 = 1e9;

/// Delta of a single release.
pub(crate) fn single_delta(event: &Event, adjacency: Adjacency, epsilon: f64) -> Result<Interval> {
    laws_of(event, adjacency)?.iter().try_fold(Interval::ZERO, |known, law| {
        let (lower, upper) = hockey_stick(law, epsilon);
        Ok(known.larger(Interval::new(lower, upper)?))
    })
}

/// Epsilon of a single release.
pub(crate) fn single_epsilon(event: &Event, adjacency: Adjacency, delta: f64) -> Result<Interval> {
    laws_of(event, adjacency)?
        .iter()
        .try_fold(Interval::ZERO, |known, law| Ok(known.larger(law_epsilon(law, delta)?)))
}

fn law_epsilon(law: &Law, delta: f64) -> Result<Interval> {
    const TOLERANCE: f64 = 1e-14;
    let (lower, upper) = (|epsilon| hockey_stick(law, epsilon).0, |epsilon| hockey_stick(law, epsilon).1);
    if upper(0.0) <= delta {
        return Ok(Interval::ZERO);
    }
    let mut top = 1e-12;
    while upper(top) > delta {
        top *= 2.0;
        if top > LARGEST {
            return Err(Error::Accuracy {
                computation: format!("epsilon at a delta of {delta:e}, below what was cut off the support"),
                remedy: "give a larger delta".into(),
            });
        }
    }
    let high = crossing((0.0, top), delta, TOLERANCE, upper).1;
    let low = if lower(0.0) <= delta { 0.0 } else { crossing((0.0, top), delta, TOLERANCE, lower).0 };
    Interval::of_rounded(low, high)
}

/// Bounds on `P[Y > epsilon] - e^epsilon Q[Y > epsilon]`: with the rounding of the tails and of the threshold.
fn hockey_stick(law: &Law, epsilon: f64) -> (f64, f64) {
    let slip = law.slip(epsilon);
    let ((high, high_error), (low, low_error)) =
        (law.curve(larger(epsilon - slip, 0.0)), law.curve(epsilon + slip));
    let upper = high + high_error + law.left_out();
    // Beyond the largest loss nothing is lost; before it something is, however little.
    let certain = law.bounded().is_some_and(|largest| epsilon >= largest + slip);
    let upper = if certain { 0.0 } else { probability_above(upper + VANISHING) };
    (smaller(probability_below(low - low_error), upper), upper)
}

impl Law {
    /// The curve at `y >= 0`, and its error but for that of the threshold.
    pub(super) fn curve(&self, y: f64) -> (f64, f64) {
        match self {
            Self::Laplace { shift } if y >= *shift => (0.0, 0.0),
            Self::Laplace { shift } => {
                let value = -(0.5 * (y - shift)).exp_m1();
                (value, 8.0 * UNIT * value)
            }
            Self::Gaussian { shift } => {
                let tails = self.above(y);
                let error = 64.0 * UNIT + 2.0 * tail_error(y / shift + 0.5 * shift);
                (tails.p - tails.q, error * (tails.p + tails.q * (1.0 + y)))
            }
            Self::Atoms(_) => {
                let tails = self.above(y);
                (tails.p - tails.q, 64.0 * UNIT * (tails.p + tails.q * (1.0 + y)))
            }
            Self::Remove { base, rate } => scaled(base.curve(base_threshold(y, *rate)), *rate),
            Self::Add { base, rate } => {
                // What of `Q` may exceed: 1 - e^y (1 - rate).
                let room = larger(rate - (1.0 - rate) * y.exp_m1(), 0.0);
                let threshold = -base_threshold(-y, *rate);
                // Beyond the largest loss there is only the rounding of it.
                let (value, error) =
                    if threshold == f64::INFINITY { (0.0, 0.0) } else { base.curve(threshold) };
                (room * value, room * error + 16.0 * UNIT * rate * (1.0 + y))
            }
            Self::Symmetric { one_sided } => one_sided.curve(y),
            Self::Range(range) => range.curve(y),
            Self::Mixture { bells, added: false } => bells.removed(y),
            Self::Mixture { bells, added: true } => bells.added(y),
            Self::Either(either) => either.curve(y),
            Self::Shifts(shifts) => shifts.curve(y),
            Self::Opposite { noise, rate } => {
                let x = noise.outcome(y, *rate);
                // Beyond the largest loss there is only the rounding of it.
                if x == f64::INFINITY {
                    return (0.0, 16.0 * UNIT * (1.0 + y + noise.exponent()));
                }
                let error = 64.0 * UNIT + 2.0 * noise.tail_error(x + 1.0);
                if y > 300.0 || noise.is_far(x + 1.0) {
                    let tails = noise.three_above(x, y, *rate);
                    return (tails.p - tails.lifted, error * (tails.p + tails.lifted * (1.0 + y)));
                }
                let gain = rate * noise.above(x - 1.0);
                let cost = rate * y.exp() * noise.above(x + 1.0);
                let rest = (1.0 - rate) * y.exp_m1() * noise.above(x);
                (gain - cost - rest, error * (gain + (cost + rest) * (1.0 + y)))
            }
        }
    }

    /// How far the rounding of outcomes may move the threshold `y`.
    pub(super) fn slip(&self, y: f64) -> f64 {
        let (rate, base) = match self {
            Self::Gaussian { shift } => (1.0, shift * shift),
            Self::Laplace { shift } => (1.0, *shift),
            Self::Atoms(atoms) => (1.0, atoms.range().1),
            Self::Remove { base, rate } | Self::Add { base, rate } => {
                (*rate, base.slip(0.0) / (64.0 * UNIT) - rate.ln())
            }
            Self::Opposite { noise, rate } => (*rate, noise.exponent() - rate.ln()),
            Self::Symmetric { one_sided } => return one_sided.slip(y),
            Self::Range(range) => (1.0, range.range().1),
            Self::Mixture { bells, .. } => return bells.slip(y),
            Self::Either(either) => return either.slip(y),
            Self::Shifts(shifts) => return shifts.slip(y),
        };
        // The slope of the loss after sampling in that before it is at most `rate + y`.
        let slope = smaller(rate + y, 1.0);
        64.0 * UNIT * (y + slope * (base + y))
    }
}

fn scaled((value, error): (f64, f64), rate: f64) -> (f64, f64) {
    (rate * value, rate * error * (1.0 + 4.0 * UNIT) + 4.0 * UNIT * rate * value)
}
