//! Limits on a variance from independent Gaussian errors, by the tails of the chi-square law.
//!
//! With `k` errors of mean zero and variance `v`, their sum of squares over `v` is chi-square with `k` degrees of freedom. Tails
//! use the deviance form, as the binomial ones do: no logarithm of a large factorial is ever subtracted from another.

use sottovoce_privacy::{Interval, Reason};

use crate::binomial::deviance;
use crate::last_true;

/// Limits on `variance / mean of squares` for a number of errors.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct VarianceLimits {
    /// The variance is below this multiple of the mean of squares ...
    upper: f64,
    /// ... and above this one.
    lower: f64,
}

impl VarianceLimits {
    /// Each limit is wrong with probability at most `tail`, below one half.
    pub(crate) fn new(errors: usize, tail: f64) -> Self {
        let (k, shape) = (errors as f64, 0.5 * errors as f64);
        // Points at which the tail was evaluated and found small enough; a hair more for its rounding.
        let low = last_true(0.0, shape, |x| Tails::new(shape, x).below <= tail) * (1.0 - 1e-9);
        let far = shape + 60.0 * shape.sqrt() + 1000.0;
        let high = last_true(far, shape, |x| Tails::new(shape, x).above <= tail) * (1.0 + 1e-9);
        Self { upper: 0.5 * k / low, lower: 0.5 * k / high }
    }

    /// The interval for the variance of errors with this mean of squares.
    pub(crate) fn of(self, mean_square: f64) -> Interval {
        // Errors without a finite mean of squares say nothing of their variance.
        Interval::new(mean_square * self.lower, mean_square * self.upper)
            .unwrap_or(Interval::unknown(Reason::Rounding))
    }
}

/// `P[G <= x]` and `P[G >= x]` for `G` of the Gamma law with this shape and scale 1 (half a chi-square).
struct Tails {
    below: f64,
    above: f64,
}

impl Tails {
    fn new(shape: f64, x: f64) -> Self {
        if x <= 0.0 {
            return Self { below: 0.0, above: 1.0 };
        }
        // x^shape e^-x / Gamma(shape + 1)
        let mass =
            (-deviance(shape, x).0 - stirling(shape)).exp() / (2.0 * std::f64::consts::PI * shape).sqrt();
        if x < shape + 1.0 {
            let below = (mass * series(shape, x)).min(1.0);
            return Self { below, above: 1.0 - below };
        }
        let above = (mass * shape * fraction(shape, x)).min(1.0);
        Self { below: 1.0 - above, above }
    }
}

/// `1 + x/(a+1) + x²/((a+1)(a+2)) + ...`
fn series(a: f64, x: f64) -> f64 {
    let (mut term, mut sum, mut k) = (1.0, 1.0, 1.0);
    while term > 1e-17 * sum {
        term *= x / (a + k);
        sum += term;
        k += 1.0;
    }
    sum
}

/// `Gamma(a, x) e^x x^-a` by Lentz's continued fraction, for `x >= a + 1`.
fn fraction(a: f64, x: f64) -> f64 {
    let mut b = x + 1.0 - a;
    let (mut c, mut d) = (1e300, 1.0 / b);
    let mut h = d;
    for i in 1..1_000_000 {
        let i = f64::from(i);
        let an = -i * (i - a);
        b += 2.0;
        d = 1.0 / nonzero(an * d + b);
        c = nonzero(b + an / c);
        let change = d * c;
        h *= change;
        if (change - 1.0).abs() < 1e-16 {
            break;
        }
    }
    h
}

fn nonzero(x: f64) -> f64 {
    if x == 0.0 { 1e-300 } else { x }
}

/// `ln Gamma(a + 1) - ln(sqrt(2 pi a) (a/e)^a)`.
fn stirling(a: f64) -> f64 {
    if a < 16.0 {
        return libm::lgamma(a + 1.0) - 0.5 * (2.0 * std::f64::consts::PI * a).ln() - a * a.ln() + a;
    }
    let y = 1.0 / (a * a);
    (1.0 / 12.0 - y * (1.0 / 360.0 - y * (1.0 / 1260.0 - y / 1680.0))) / a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_have_their_closed_forms() {
        // Two degrees of freedom: exponential. Four: (1 + x) e^-x.
        for x in [1e-6_f64, 0.3, 1.0, 2.5, 30.0] {
            let (two, four) = (Tails::new(1.0, x), Tails::new(2.0, x));
            assert!(
                (two.above / (-x).exp() - 1.0).abs() < 1e-13
                    && (two.below / -(-x).exp_m1() - 1.0).abs() < 1e-9
            );
            assert!((four.above / ((1.0 + x) * (-x).exp()) - 1.0).abs() < 1e-12, "{x}");
        }
        // One degree of freedom: P[|Z| >= 1.96].
        assert!((Tails::new(0.5, 0.5 * 1.96 * 1.96).above - 0.049_995_790_296_440_87).abs() < 1e-14);
    }

    #[test]
    fn many_degrees_of_freedom_are_poisson_sums() {
        // P[Gamma(k) > x] = P[Poisson(x) < k], summed from its largest term down.
        for (k, x) in [(1000_u32, 1100.0_f64), (1000, 900.0), (50, 80.0)] {
            let mut term = (-deviance(f64::from(k), x).0 - stirling(f64::from(k))).exp()
                / (2.0 * std::f64::consts::PI * f64::from(k)).sqrt();
            let mut sum = 0.0;
            for j in (0..k).rev() {
                term *= f64::from(j + 1) / x;
                sum += term;
            }
            let above = Tails::new(f64::from(k), x).above;
            assert!((above / sum - 1.0).abs() < 1e-9, "{k} {x}: {above} {sum}");
        }
    }

    #[test]
    fn limits_contain_the_truth_as_often_as_promised() {
        // The limits of tail t are the quantiles: the mass between them is 1 - 2t.
        for (errors, tail) in [(10, 0.05), (2000, 0.0005), (100_000, 1e-6)] {
            let limits = VarianceLimits::new(errors, tail);
            let shape = 0.5 * errors as f64;
            let (low, high) = (shape / limits.upper, shape / limits.lower);
            let missed = Tails::new(shape, low).below + Tails::new(shape, high).above;
            assert!(missed <= 2.0 * tail && missed > 1.999 * tail, "{errors} {missed}");
        }
        // Quantiles of 2000 degrees of freedom, computed with 30 digits (mpmath) and equal to scipy's.
        let limits = VarianceLimits::new(2000, 0.0005).of(1.0);
        let (low, high) = (2000.0 / limits.upper, 2000.0 / limits.lower);
        assert!((low / 1_798.417_366_238_374 - 1.0).abs() < 2e-9, "{low}");
        assert!((high / 2_214.684_022_789_957 - 1.0).abs() < 2e-9, "{high}");
    }
}
