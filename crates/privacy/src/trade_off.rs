//! The trade-off curve: how seldom a test can miss a record (type II) if it may raise a false alarm that often (type I).
//!
//! Every `(epsilon, delta)` that holds puts two lines below the curve, and the highest of all lines is what we promise. It
//! never lies above the true curve, whatever the number of pairs; more of them bring it closer.
//! Proof: `docs/theorems/given-guarantees.md`.

use crate::Result;
use crate::interval::smaller;
use crate::special::UNIT;

/// The golden section.
const GOLDEN: f64 = 0.618_033_988_749_894_9;
/// Steps of each search: each leaves 0.618 of what is left.
const STEPS: usize = 36;

/// A trade-off curve that holds, from the guarantees it is made of.
///
/// ```
/// use sottovoce_privacy::TradeOff;
/// let pure = TradeOff::new(vec![(1.0, 0.0)]);
/// let type_two = pure.type_two(0.1);
/// assert!(type_two <= 1.0 - 0.1 * 1f64.exp() && type_two > 0.728);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct TradeOff {
    guarantees: Vec<(f64, f64)>,
}

impl TradeOff {
    /// The curve above all lines of these `(epsilon, delta)`.
    pub fn new(guarantees: Vec<(f64, f64)>) -> Self {
        Self { guarantees }
    }

    /// The type II error of every test of type I error `type_one` is at least this (rounded down).
    pub fn type_two(&self, type_one: f64) -> f64 {
        let lines = self.guarantees.iter().flat_map(|&(epsilon, delta)| lines(epsilon, delta, type_one));
        lines.fold(0.0, |highest, line| if line > highest { line } else { highest })
    }
}

/// Delta at an epsilon, from above.
pub type Curve<'a> = Box<dyn Fn(f64) -> Result<f64> + 'a>;

impl TradeOff {
    /// The curve near these type I errors and where its advantage is largest. `pair` gives what holds, for every number of a range along which
    /// epsilon rises and delta falls, or the other way round.
    pub fn near(
        type_one: &[f64],
        range: (f64, f64),
        pair: &dyn Fn(f64) -> Result<(f64, f64)>,
    ) -> Result<Self> {
        // What is least at the pair that matters: a line through the curve at one of the errors, steep or flat, or the advantage.
        let lines = type_one.iter().flat_map(|&alpha| [Goal::Steep(alpha), Goal::Flat(alpha)]);
        let best = lines.chain([Goal::Advantage]).map(|goal| goal.best(range, pair));
        let mut pairs = best.collect::<Result<Vec<_>>>()?;
        pairs.retain(|pair| pair.0.is_finite());
        Ok(Self::new(pairs))
    }

    /// The same of a curve of deltas.
    pub fn of_curve(type_one: &[f64], curve: &Curve) -> Result<Self> {
        // Beyond, whatever is left of delta is less than a rounding of a rate.
        Self::near(type_one, (0.0, 40.0), &|epsilon| Ok((epsilon, curve(epsilon)?)))
    }

    /// No test that raises a false alarm this often finds more than this share of those it looks for.
    pub fn true_positives(&self, type_one: f64) -> f64 {
        smaller(1.0 - self.type_two(type_one) + UNIT, 1.0)
    }

    /// The largest difference of the two rates, of any test.
    pub fn advantage(&self) -> f64 {
        let each = self.guarantees.iter().map(|&pair| Goal::Advantage.value(pair));
        smaller(each.fold(1.0, smaller) * (1.0 + 32.0 * UNIT), 1.0)
    }
}

/// What is made as small as possible.
enum Goal {
    /// `delta + e^epsilon alpha`.
    Steep(f64),
    /// `1 - e^-epsilon (1 - delta - alpha)`.
    Flat(f64),
    /// `(e^epsilon - 1 + 2 delta) / (e^epsilon + 1)`.
    Advantage,
}

impl Goal {
    /// The pair at which it is least, by golden sections: it falls, then rises.
    fn best(&self, range: (f64, f64), pair: &dyn Fn(f64) -> Result<(f64, f64)>) -> Result<(f64, f64)> {
        let at = |place: f64| pair(place).map(|pair| (self.value(pair), pair));
        let (mut low, mut high) = range;
        let inside = |from: f64, to: f64| to + GOLDEN * (from - to);
        let (mut left, mut right) = (inside(low, high), inside(high, low));
        let (mut at_left, mut at_right) = (at(left)?, at(right)?);
        let mut best = if at_left.0 <= at_right.0 { at_left } else { at_right };
        for _ in 0..STEPS {
            let found = if at_left.0 <= at_right.0 {
                (high, right, at_right) = (right, left, at_left);
                left = inside(low, high);
                at_left = at(left)?;
                at_left
            } else {
                (low, left, at_left) = (left, right, at_right);
                right = inside(high, low);
                at_right = at(right)?;
                at_right
            };
            best = if found.0 < best.0 { found } else { best };
        }
        let ends = [at(range.0)?, at(range.1)?];
        Ok(ends.into_iter().fold(best, |best, end| if end.0 < best.0 { end } else { best }).1)
    }

    /// A NaN is no bound.
    fn value(&self, (epsilon, delta): (f64, f64)) -> f64 {
        let value = match *self {
            _ if epsilon == f64::INFINITY => return f64::INFINITY,
            Self::Steep(alpha) => delta + epsilon.exp() * alpha,
            Self::Flat(alpha) => 1.0 - (-epsilon).exp() * (1.0 - delta - alpha),
            // Divided by e^epsilon, which may be infinite.
            Self::Advantage => {
                let small = (-epsilon).exp();
                (-(-epsilon).exp_m1() + 2.0 * delta * small) / (1.0 + small)
            }
        };
        if value.is_nan() { f64::INFINITY } else { value }
    }
}

/// `1 - delta - e^epsilon alpha` and `e^-epsilon (1 - delta - alpha)`, rounded down.
fn lines(epsilon: f64, delta: f64, alpha: f64) -> [f64; 2] {
    let error = 16.0 * UNIT * (1.0 + epsilon);
    let steep = if alpha > 0.0 { epsilon.exp() * alpha } else { 0.0 };
    let flat = (-epsilon).exp() * (1.0 - delta - alpha);
    [1.0 - delta - steep - error * (1.0 + steep), flat - error * (-epsilon).exp()]
}
