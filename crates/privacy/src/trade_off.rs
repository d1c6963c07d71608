//! The trade-off curve: how seldom a test can miss a record (type II) if it may raise a false alarm that often (type I).
//!
//! Every `(epsilon, delta)` that holds puts two lines below the curve, and the highest of all lines is what we promise. It
//! never lies above the true curve, whatever the number of pairs; more of them bring it closer.
//! Proof: `docs/theorems/given-guarantees.md`.

use crate::Result;
use crate::interval::{larger, smaller};
use crate::special::UNIT;

/// Smallest delta that is looked at: less is not seen in a rate.
const LEAST: f64 = 1e-13;
/// Deltas in each search, and searches: each is eight times as fine as the one before.
const DELTAS: u32 = 17;
const SEARCHES: usize = 7;

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

/// Epsilons from above at deltas.
pub type Epsilons<'a> = dyn Fn(&[f64]) -> Result<Vec<f64>> + 'a;

impl TradeOff {
    /// The curve near these type I errors and where its advantage is largest, from epsilons at the deltas that matter there.
    pub fn near(type_one: &[f64], epsilons: &Epsilons) -> Result<Self> {
        // What is least at the delta that matters: a line through the curve at one of the errors, steep or flat, or the advantage.
        let steep = type_one.iter().map(|&alpha| Goal::Steep(alpha));
        let goals: Vec<Goal> =
            steep.chain(type_one.iter().map(|&alpha| Goal::Flat(alpha))).chain([Goal::Advantage]).collect();
        let mut ranges = vec![(LEAST.ln(), 0.0); goals.len()];
        let mut pairs = Vec::new();
        for _ in 0..SEARCHES {
            let grid = |&(low, high): &(f64, f64)| {
                let step = (high - low) / f64::from(DELTAS - 1);
                (0..DELTAS).map(move |i| smaller((low + f64::from(i) * step).exp(), 1.0 - UNIT))
            };
            let deltas: Vec<f64> = ranges.iter().flat_map(grid).collect();
            let found: Vec<(f64, f64)> = epsilons(&deltas)?.into_iter().zip(deltas).collect();
            for ((goal, range), found) in goals.iter().zip(&mut ranges).zip(found.chunks(DELTAS as usize)) {
                let mut best = 0;
                for (i, pair) in found.iter().enumerate() {
                    if goal.value(*pair) < goal.value(found[best]) {
                        best = i;
                    }
                }
                // The least is beside the best: what is looked at is quasi-convex.
                let around = [best.saturating_sub(1), if best + 1 < found.len() { best + 1 } else { best }];
                *range = (found[around[0]].1.ln(), found[around[1]].1.ln());
                pairs.push(found[best]);
            }
        }
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
    /// A NaN is no bound.
    fn value(&self, (epsilon, delta): (f64, f64)) -> f64 {
        let value = match *self {
            _ if epsilon == f64::INFINITY => return f64::INFINITY,
            Self::Steep(alpha) => delta + epsilon.exp() * alpha,
            Self::Flat(alpha) => 1.0 - (-epsilon).exp() * larger(1.0 - delta - alpha, 0.0),
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
