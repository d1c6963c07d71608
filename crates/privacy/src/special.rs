//! The few special functions the accountants stand on, each with a stated relative error, and certified root finding.
//!
//! Everything a guarantee depends on carries its rounding with it: [`UNIT`] is the unit round-off, and a caller adds the
//! allowance that belongs to its formula instead of hoping that an error is small.

pub(crate) use crate::interval::Interval;
use crate::interval::{larger, within};

/// Unit round-off of `f64`.
pub(crate) const UNIT: f64 = f64::EPSILON / 2.0;

/// `P[N(0,1) > x]`, relative error at most [`tail_error`]`(x)`.
pub(crate) fn normal_above(x: f64) -> f64 {
    0.5 * libm::erfc(x * std::f64::consts::FRAC_1_SQRT_2)
}

/// Relative error of [`normal_above`] and [`ln_normal_above`]'s exponential: the argument's rounding is magnified by
/// the hazard rate, about `x`, hence `x²` round-offs.
pub(crate) fn tail_error(x: f64) -> f64 {
    (4.0 + 4.0 * larger(x, 0.0).powi(2)) * UNIT
}

/// `ln P[N(0,1) > x]`, also where the probability underflows.
pub(crate) fn ln_normal_above(x: f64) -> f64 {
    if x < 30.0 {
        return normal_above(x).ln();
    }
    // Asymptotic (alternating) series of Mills' ratio; at x >= 30 five terms leave less than 1e-12.
    let r = 1.0 / (x * x);
    let series = 1.0 - r * (1.0 - 3.0 * r * (1.0 - 5.0 * r * (1.0 - 7.0 * r)));
    -0.5 * x * x - x.ln() - 0.5 * (2.0 * std::f64::consts::PI).ln() + series.ln()
}

/// Mills' ratio `P[N(0,1) > x] / density(x)` for `x >= 5`, by its continued fraction.
pub(crate) fn mills(x: f64) -> f64 {
    let levels = (8.0 + 800.0 / (x * x)) as u32;
    1.0 / (1..=levels).rev().fold(x, |below, level| x + f64::from(level) / below)
}

/// The quantile of the standard normal: `x` with `P[N(0,1) <= x] = p`.
pub fn normal_quantile(p: f64) -> f64 {
    if !(p > 0.0 && p < 1.0) {
        return if p <= 0.0 { f64::NEG_INFINITY } else { f64::INFINITY };
    }
    if p > 0.5 {
        return -normal_quantile(1.0 - p);
    }
    let (mut low, mut high) = (-40.0_f64, 0.0_f64);
    while high - low > 1e-15 * larger(low.abs(), 1e-3) {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        if normal_above(-middle) < p { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

/// `ln(e^a + e^b)`.
pub(crate) fn ln_add(a: f64, b: f64) -> f64 {
    let (high, low) = if a >= b { (a, b) } else { (b, a) };
    // (Both, or the other is not a number.)
    if high == f64::NEG_INFINITY { low } else { high + (low - high).exp().ln_1p() }
}

/// Brackets the crossing of a decreasing function: returns `(low, high)`, neighbours up to `tolerance`, with
/// `holds(high)` true and `holds(low)` false; `holds` must be monotone (false, then true).
///
/// The returned `high` has been *evaluated*: whatever the rounding of the search, the promise is checked at the very
/// number that is returned.
pub(crate) fn bisect(
    mut low: f64,
    mut high: f64,
    tolerance: f64,
    mut holds: impl FnMut(f64) -> bool,
) -> (f64, f64) {
    while high - low > tolerance * larger(high.abs(), f64::MIN_POSITIVE) {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        if holds(middle) { high = middle } else { low = middle }
    }
    (low, high)
}

/// Brackets the crossing of `target` by a continuous decreasing function much faster than bisection (Illinois rule on
/// the logarithm of `f / target`), keeping `f(low) > target >= f(high)` throughout.
pub(crate) fn crossing(
    (mut low, mut high): (f64, f64),
    target: f64,
    tolerance: f64,
    mut f: impl FnMut(f64) -> f64,
) -> (f64, f64) {
    let excess = |value: f64| (larger(value, 1e-320) / target).ln();
    let (mut at_low, mut at_high) = (excess(f(low)), excess(f(high)));
    let mut last = 0;
    for round in 0..200 {
        if high - low <= tolerance * larger(high.abs(), 1e-300) {
            break;
        }
        let secant = low + (high - low) * at_low / (at_low - at_high);
        // Every fourth step halves, so that a badly scaled function cannot stall the secant; and a step never comes
        // nearer to an end than half the tolerance, so that both ends close in.
        let step = if round % 4 == 3 || !secant.is_finite() { 0.5 * (low + high) } else { secant };
        let margin = 0.4 * tolerance * high.abs();
        let middle = within(step, low + margin, high - margin);
        if middle <= low || middle >= high {
            break;
        }
        let value = excess(f(middle));
        if value > 0.0 {
            (low, at_low) = (middle, value);
            if last == 1 {
                at_high *= 0.5;
            }
            last = 1;
        } else {
            (high, at_high) = (middle, value);
            if last == -1 {
                at_low *= 0.5;
            }
            last = -1;
        }
    }
    (low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_tail_agrees_with_reference_digits() {
        // 30-digit values of erfc(x/sqrt 2)/2.
        for (x, want) in [
            (0.0, 0.5),
            (1.0, 0.158_655_253_931_457_05),
            (5.0, 2.866_515_718_791_939e-7),
            (10.0, 7.619_853_024_160_526e-24),
            (-3.0, 0.998_650_101_968_369_9),
        ] {
            assert!((normal_above(x) / want - 1.0).abs() <= tail_error(x), "x = {x}: {}", normal_above(x));
        }
    }

    #[test]
    fn the_two_branches_of_the_log_tail_meet() {
        let (near, far) = (normal_above(30.0).ln(), ln_normal_above(30.0));
        assert!((near - far).abs() < 1e-11 * far.abs(), "{near} {far}");
        assert!((ln_normal_above(50.0) - -1_254.831_361_139_419_9).abs() < 1e-9);
    }

    #[test]
    fn mills_ratio_is_the_tail_over_the_density() {
        for i in 50..370 {
            let x = f64::from(i) * 0.1;
            let density = (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt();
            let ratio = normal_above(x) / density;
            assert!(
                (mills(x) / ratio - 1.0).abs() <= tail_error(x) + 8.0 * UNIT,
                "{x}: {} {ratio}",
                mills(x)
            );
        }
        assert!((mills(1e4) * 1e4 - 1.0 + 1e-8).abs() < 1e-15);
    }

    #[test]
    fn quantile_inverts_the_tail() {
        for p in [1e-14, 1e-5, 0.1, 0.5, 0.9, 1.0 - 1e-9] {
            assert!((normal_above(-normal_quantile(p)) / p - 1.0).abs() < 1e-12, "{p}");
        }
    }

    #[test]
    fn crossing_brackets_a_stiff_function() {
        let f = |x: f64| (-x * x).exp();
        let (low, high) = crossing((0.0, 40.0), 1e-9, 1e-12, f);
        assert!(f(low) > 1e-9 && f(high) <= 1e-9 && high - low < 1e-11);
    }
}
