//! The trade-off curve: how seldom a test can miss a record (type II) if it may raise a false alarm that often (type I).
//!
//! Every `(epsilon, delta)` that holds puts two lines below the curve, and the highest of all lines is what we promise. It
//! never lies above the true curve, whatever the number of pairs; more of them bring it closer.
//! Proof: `docs/theorems/given-guarantees.md`.

use crate::Result;
use crate::interval::smaller;
use crate::special::UNIT;

/// The golden section's smaller part.
const GOLDEN: f64 = 0.381_966_011_250_105_1;
/// Smallest delta that is looked at, and largest epsilon.
const LEAST: f64 = 1e-12;
const FARTHEST: f64 = 40.0;
/// Most steps of a search; a dozen are usual.
const STEPS: usize = 60;

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
    /// The curve near these type I errors, and where its advantage is largest, of a loss whose epsilon at a delta is this at most.
    pub fn of_epsilons(type_one: &[f64], epsilon: &dyn Fn(f64) -> Result<f64>) -> Result<Self> {
        // By the logarithm of delta: less of it is not seen in a rate.
        let pair = |ln: f64| Ok((epsilon(ln.exp())?, ln.exp()));
        let goals = type_one.iter().flat_map(|&alpha| [Goal::Steep(alpha), Goal::Flat(alpha)]);
        Self::best(goals.chain([Goal::Advantage]).map(|goal| (goal, (LEAST.ln(), -UNIT))), &pair)
    }

    /// The same of a loss whose delta at an epsilon is this at most.
    pub fn of_curve(type_one: &[f64], curve: &Curve) -> Result<Self> {
        let advantage = curve(0.0)?;
        let goals = type_one.iter().flat_map(|&alpha| {
            // Further out a line is no better than that of epsilon 0.
            let flat = -(-advantage - alpha).ln_1p();
            let flat = if flat < FARTHEST { flat } else { FARTHEST };
            [(Goal::Steep(alpha), (0.0, -alpha.ln())), (Goal::Flat(alpha), (0.0, flat))]
        });
        let mut found = Self::best(goals, &|epsilon| Ok((epsilon, curve(epsilon)?)))?;
        found.guarantees.push((0.0, advantage));
        Ok(found)
    }

    fn best(
        goals: impl Iterator<Item = (Goal, (f64, f64))>,
        pair: &dyn Fn(f64) -> Result<(f64, f64)>,
    ) -> Result<Self> {
        let mut pairs = goals.map(|(goal, range)| goal.best(range, pair)).collect::<Result<Vec<_>>>()?;
        pairs.retain(|pair| pair.0.is_finite());
        Ok(Self::new(pairs))
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
    /// The pair at which it is least: it falls, then rises. By golden sections, and by parabolas through the three lowest where those lie inside (Brent 1973).
    fn best(&self, range: (f64, f64), pair: &dyn Fn(f64) -> Result<(f64, f64)>) -> Result<(f64, f64)> {
        let at = |place: f64| pair(place).map(|pair| (place, self.value(pair), pair));
        let (mut low, mut high) = range;
        let mut best = at(low + GOLDEN * (high - low))?;
        let (mut second, mut third) = (best, best);
        let (mut step, mut before) = (0.0_f64, 0.0_f64);
        for _ in 0..STEPS {
            let (x, middle) = (best.0, 0.5 * (low + high));
            let near = 1e-7 * (1.0 + x.abs());
            if (x - middle).abs() <= 2.0 * near - 0.5 * (high - low) {
                break;
            }
            let (r, q) = ((x - second.0) * (best.1 - third.1), (x - third.0) * (best.1 - second.1));
            let (p, q) = ((x - third.0) * q - (x - second.0) * r, 2.0 * (q - r));
            let parabola = -p / q;
            // Less than half of the step before the last, and inside. (What is no number is not.)
            let fits = parabola.abs() < 0.5 * before.abs() && x + parabola > low && x + parabola < high;
            (before, step) = match fits {
                true => (step, parabola),
                false if x >= middle => (low - x, GOLDEN * (low - x)),
                false => (high - x, GOLDEN * (high - x)),
            };
            let found = at(x + if step.abs() < near { near.copysign(step) } else { step })?;
            if found.1 <= best.1 {
                if found.0 >= x {
                    low = x;
                } else {
                    high = x;
                }
                (third, second, best) = (second, best, found);
            } else {
                if found.0 < x {
                    low = found.0;
                } else {
                    high = found.0;
                }
                if found.1 <= second.1 || second.0 == x {
                    (third, second) = (second, found);
                } else if found.1 <= third.1 || third.0 == x || third.0 == second.0 {
                    third = found;
                }
            }
        }
        let ends = [at(range.0)?, at(range.1)?];
        Ok(ends.into_iter().fold(best, |best, end| if end.1 < best.1 { end } else { best }).2)
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
