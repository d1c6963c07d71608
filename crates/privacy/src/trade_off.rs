//! The trade-off curve: how seldom a test can miss a record (type II) if it may raise a false alarm that often (type I).
//!
//! Every `(epsilon, delta)` that holds puts two lines below the curve, and the highest of all lines is what we promise. It
//! never lies above the true curve, whatever the number of pairs; more of them bring it closer.
//! Proof: `docs/theorems/given-guarantees.md`.

use crate::special::UNIT;

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

/// `1 - delta - e^epsilon alpha` and `e^-epsilon (1 - delta - alpha)`, rounded down.
fn lines(epsilon: f64, delta: f64, alpha: f64) -> [f64; 2] {
    let error = 16.0 * UNIT * (1.0 + epsilon);
    let steep = if alpha > 0.0 { epsilon.exp() * alpha } else { 0.0 };
    let flat = (-epsilon).exp() * (1.0 - delta - alpha);
    [1.0 - delta - steep - error * (1.0 + steep), flat - error * (-epsilon).exp()]
}
