//! Goodness of fit, for the tests of this module.
//!
//! Every test here has a fixed seed and rejects at p < 1e-6: a sampler that is right fails one of about a hundred such
//! comparisons with probability 1e-4, once, when the seed is chosen, and never again. The functions are themselves tested
//! on tabulated values, and every use is paired somewhere with a law slightly wrong that it rejects.

use crate::interval::{larger, largest, smaller};
use std::collections::BTreeMap;

use libm::{exp, lgamma, log};

/// Below this p-value a sampler is called wrong.
pub(super) const REJECT: f64 = 1e-6;

/// P[chi-square with `freedom` degrees >= `statistic`]: the regularised upper incomplete gamma function.
pub(super) fn chi_square_tail(statistic: f64, freedom: usize) -> f64 {
    let (a, x) = (freedom as f64 / 2.0, statistic / 2.0);
    let front = exp(a * log(x) - x - lgamma(a));
    if x < a + 1.0 { 1.0 - front * lower_series(a, x) } else { front * upper_fraction(a, x) }
}

/// `sum x^n / (a (a+1) ... (a+n))`.
fn lower_series(a: f64, x: f64) -> f64 {
    let (mut term, mut sum, mut n) = (1.0 / a, 1.0 / a, a);
    while term > sum * 1e-16 {
        n += 1.0;
        term *= x / n;
        sum += term;
    }
    sum
}

/// The continued fraction of the upper function, from a depth at which it has long settled, upwards.
fn upper_fraction(a: f64, x: f64) -> f64 {
    let tail =
        (1..5000).rev().map(f64::from).fold(0.0, |deep, n| n * (n - a) / (x + 2.0 * n + 1.0 - a - deep));
    1.0 / (x + 1.0 - a - tail)
}

/// P[Poisson(mean) <= count] and P[Poisson(mean) >= count]; the smaller of the two.
pub(super) fn poisson_tail(count: u64, mean: f64) -> f64 {
    let mass = |k: u64| exp(k as f64 * log(mean) - mean - lgamma(k as f64 + 1.0));
    let reach = (mean + 40.0 * mean.sqrt() + 100.0) as u64;
    let low: f64 = (0..=count).map(mass).sum();
    let high: f64 = (count..=count.max(reach)).map(mass).sum(); // whole numbers
    smaller(low, high)
}

/// The p-value of counts against the numbers expected.
pub(super) fn chi_square(bins: &[(u64, f64)]) -> f64 {
    let statistic: f64 =
        bins.iter().map(|&(seen, expected)| (seen as f64 - expected).powi(2) / expected).sum();
    chi_square_tail(statistic, bins.len() - 1)
}

/// A law on the integers by its weights, normalised over `-reach..=reach`.
pub(super) fn normalised(reach: i64, weight: impl Fn(i64) -> f64) -> BTreeMap<i64, f64> {
    let total: f64 = (-reach..=reach).map(&weight).sum();
    (-reach..=reach).map(|x| (x, weight(x) / total)).collect()
}

/// The p-value of samples against a law, over runs of integers with at least `least` expected in each.
///
/// The first bin holds everything below it too, and the last everything above, so no sample is left out.
pub(super) fn fit(samples: &[i64], law: &BTreeMap<i64, f64>, least: f64) -> f64 {
    let mut seen: BTreeMap<i64, u64> = BTreeMap::new();
    samples.iter().for_each(|&x| *seen.entry(x).or_default() += 1);
    let mut ends: Vec<(i64, f64)> = Vec::new();
    let mut expected = 0.0;
    for (&x, &mass) in law {
        expected += mass * samples.len() as f64;
        if expected >= least {
            ends.push((x, expected));
            expected = 0.0;
        }
    }
    if let Some(last) = ends.last_mut() {
        *last = (i64::MAX, last.1 + expected);
    }
    let starts = std::iter::once(i64::MIN).chain(ends.iter().map(|&(end, _)| end.saturating_add(1)));
    let bins: Vec<(u64, f64)> = starts
        .zip(&ends)
        .map(|(start, &(end, mass))| (seen.range(start..=end).map(|(_, n)| n).sum(), mass))
        .collect();
    assert_eq!(bins.iter().map(|bin| bin.0).sum::<u64>(), samples.len() as u64);
    assert!(bins.len() > 2, "{} bins show nothing", bins.len());
    chi_square(&bins)
}

/// The p-value (a bound on it) of Kolmogorov and Smirnov against a continuous distribution function.
pub(super) fn kolmogorov_smirnov(samples: &mut [f64], below: impl Fn(f64) -> f64) -> f64 {
    samples.sort_by(f64::total_cmp);
    let n = samples.len() as f64;
    let gap = |(i, &x): (usize, &f64)| larger(below(x) - i as f64 / n, (i + 1) as f64 / n - below(x));
    let distance = largest(0.0, samples.iter().enumerate().map(gap));
    2.0 * exp(-2.0 * n * distance * distance)
}

#[test]
fn tail_probabilities_match_tables() {
    let cases = [
        (3.841_458_820_694_124, 1, 0.05),
        (18.307_038_053_275_146, 10, 0.05),
        (124.342_113_404_004_2, 100, 0.05),
        (0.5, 4, 0.973_500_979_239_182_9),  // exp(-1/4) 5/4
        (80.0, 4, 1.741_842_047_990_4e-16), // exp(-40) 41
        (1000.0, 1000, 0.494_053_0),
    ];
    for (statistic, freedom, tail) in cases {
        let ours = chi_square_tail(statistic, freedom);
        assert!((ours / tail - 1.0).abs() < 1e-5, "{statistic} {freedom}: {ours} against {tail}");
    }
    // P[Poisson(3) <= 1] = 4 exp(-3), P[Poisson(3) >= 1] is larger.
    assert!((poisson_tail(1, 3.0) / (4.0 * exp(-3.0)) - 1.0).abs() < 1e-12);
    assert!(poisson_tail(100, 30.0) < 1e-15 && poisson_tail(30, 30.0) > 0.4);
}
