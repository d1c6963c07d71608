//! The exact laws against their definitions, by statistics with fixed seeds (see `noise::statistics` for the threshold).

use std::collections::BTreeMap;

use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;

use super::super::statistics::{REJECT, fit, normalised, poisson_tail};
use super::{DiscreteGaussian, DiscreteLaplace, ExactLaw, Rational};

fn draw(law: &impl ExactLaw, seed: u64, count: usize) -> Vec<i64> {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    (0..count).map(|_| law.sample(&mut rng)).collect()
}

fn gaussian(variance: Rational) -> DiscreteGaussian {
    DiscreteGaussian::new(variance)
}

fn gaussian_masses(variance: f64) -> BTreeMap<i64, f64> {
    let reach = (14.0 * variance.sqrt()) as i64 + 10;
    normalised(reach, |x| libm::exp(-((x * x) as f64) / (2.0 * variance)))
}

fn laplace_masses(scale: f64) -> BTreeMap<i64, f64> {
    normalised((50.0 * scale) as i64 + 50, |x| libm::exp(-(x.abs() as f64) / scale))
}

/// Parameters whose float is what the sampler uses, or indistinguishably near it, with the least count per bin.
fn parameters() -> Vec<(Rational, f64)> {
    let exact = |n, d| Rational::new(n, d).unwrap();
    let float = |x| Rational::from_f64(x).unwrap();
    let small = [
        exact(1, 10),
        exact(1, 1),
        exact(25, 1),
        exact(22, 7),
        exact(1, 3),
        float(0.1),
        float(2.3),
        float(63.9),
    ];
    // Just below and above a square, where floor(sigma) + 1 jumps.
    let edges = [float(4f64.next_down()), exact(4, 1), exact(999_999, 250_000)];
    small
        .into_iter()
        .chain(edges)
        .map(|v| (v, 5.0))
        .chain([(exact(10_000, 1), 1000.0), (float(12_345.678), 1000.0)])
        .collect()
}

#[test]
fn discrete_gaussian_has_its_masses() {
    for (i, (variance, least)) in parameters().into_iter().enumerate() {
        let p = fit(
            &draw(&gaussian(variance), 100 + i as u64, 150_000),
            &gaussian_masses(variance.to_f64()),
            least,
        );
        assert!(p > REJECT, "sigma^2 = {variance}: p = {p}");
    }
}

#[test]
fn discrete_laplace_has_its_masses() {
    for (i, (scale, least)) in parameters().into_iter().enumerate() {
        let law = DiscreteLaplace::new(scale).unwrap();
        let p = fit(&draw(&law, 200 + i as u64, 150_000), &laplace_masses(scale.to_f64()), least);
        assert!(p > REJECT, "scale = {scale}: p = {p}");
    }
}

#[test]
fn the_comparison_rejects_laws_that_are_slightly_wrong() {
    for (variance, least) in [(1.0, 20.0), (25.0, 20.0), (10_000.0, 1000.0)] {
        let samples = draw(&gaussian(Rational::from_f64(variance).unwrap()), 300, 150_000);
        for factor in [0.97f64, 1.03] {
            let p = fit(&samples, &gaussian_masses(variance * factor * factor), least);
            assert!(p < REJECT, "sigma off by {factor} was not seen at {variance}: p = {p}");
        }
        // A bias of a thirtieth of sigma, or one step for the small ones.
        let shift = ((variance.sqrt() / 30.0) as i64).max(1); // whole numbers
        let shifted: Vec<i64> = samples.iter().map(|x| x + shift).collect();
        assert!(fit(&shifted, &gaussian_masses(variance), least) < REJECT, "bias {shift} at {variance}");
        let p = fit(&samples, &laplace_masses((variance / 2.0).sqrt()), least);
        assert!(p < REJECT, "a Laplace of the same variance was not seen at {variance}: p = {p}");
    }
    let samples = draw(&DiscreteLaplace::new(Rational::new(5, 1).unwrap()).unwrap(), 301, 150_000);
    for factor in [0.97, 1.03] {
        assert!(fit(&samples, &laplace_masses(5.0 * factor), 20.0) < REJECT, "{factor}");
    }
}

#[test]
fn a_rounded_continuous_gaussian_is_told_apart() {
    // The usual shortcut has other masses: P[0] is 0.383 instead of 0.399 at sigma = 1.
    let below = |x: f64| 0.5 * libm::erfc(-x / std::f64::consts::SQRT_2);
    let rounded = normalised(20, |x| below(x as f64 + 0.5) - below(x as f64 - 0.5));
    assert!(fit(&draw(&gaussian(Rational::new(1, 1).unwrap()), 302, 150_000), &rounded, 20.0) < REJECT);
}

/// Counts beyond each threshold, on each side, against Poisson bounds.
fn check_tails(law: &impl ExactLaw, masses: &BTreeMap<i64, f64>, thresholds: &[i64], seed: u64) {
    let count = 1_000_000;
    let samples = draw(law, seed, count);
    for &threshold in thresholds {
        let mean = count as f64 * masses.range(threshold..).map(|(_, mass)| mass).sum::<f64>();
        assert!(mean > 0.2, "nothing is expected beyond {threshold}: {mean}");
        for side in [1, -1] {
            let seen = samples.iter().filter(|&&x| x * side >= threshold).count() as u64;
            let p = poisson_tail(seen, mean);
            assert!(p > REJECT, "{seen} of {mean} beyond {threshold}, side {side}: p = {p}");
            // The bound is one that can be broken: twice the mass would be seen where there is enough of it.
            assert!(mean < 100.0 || poisson_tail(seen, 2.0 * mean) < REJECT);
        }
    }
}

#[test]
fn tails_hold_as_much_as_they_should() {
    let law = gaussian(Rational::new(25, 1).unwrap());
    check_tails(&law, &gaussian_masses(25.0), &[15, 20, 22, 25], 400); // 3, 4, 4.4 and 5 sigma
    let law = DiscreteLaplace::new(Rational::new(7, 2).unwrap()).unwrap();
    check_tails(&law, &laplace_masses(3.5), &[20, 30, 35, 45], 401);
}

#[test]
fn signs_are_fair_and_moments_are_right() {
    for (seed, variance) in [(500, 1.0f64), (501, 25.0), (502, 1e12)] {
        let samples = draw(&gaussian(Rational::from_f64(variance).unwrap()), seed, 200_000);
        let nonzero = samples.iter().filter(|&&x| x != 0).count() as f64;
        let balance = samples.iter().map(|x| x.signum()).sum::<i64>() as f64;
        assert!(balance.abs() < 5.0 * nonzero.sqrt(), "{variance}: {balance} of {nonzero}");
        let n = samples.len() as f64;
        let moment = |k: i32| samples.iter().map(|&x| (x as f64 / variance.sqrt()).powi(k)).sum::<f64>() / n;
        // Standard errors of the moments of a standard Gaussian: sqrt(2/n), sqrt(96/n); five of them.
        assert!((moment(2) - 1.0).abs() < 5.0 * (2.0 / n).sqrt(), "{variance}: {}", moment(2));
        assert!((moment(4) - 3.0).abs() < 5.0 * (96.0 / n).sqrt(), "{variance}: {}", moment(4));
    }
}

#[test]
fn the_extremes_of_the_range_are_sampled() {
    let two = |e| Rational::from_f64(2f64.powi(e)).unwrap();
    assert_eq!(draw(&gaussian(two(-40)), 600, 1000), [0; 1000]);
    let odd = Rational::from_f64(2f64.powi(-40).next_up()).unwrap();
    assert_eq!(draw(&gaussian(odd), 600, 1000), [0; 1000]);
    assert_eq!(draw(&DiscreteLaplace::new(odd).unwrap(), 600, 1000), [0; 1000]);
    let largest = draw(&gaussian(two(62)), 601, 1000).into_iter().map(i64::abs).max().unwrap(); // whole numbers
    assert!((1 << 31..7 << 31).contains(&largest), "{largest}");
    let largest =
        draw(&DiscreteLaplace::new(two(40)).unwrap(), 602, 1000).into_iter().map(i64::abs).max().unwrap(); // whole numbers
    assert!((3 << 40..30 << 40).contains(&largest), "{largest}");
    for scale in [two(40).to_f64().next_up(), 2f64.powi(62)] {
        assert!(DiscreteLaplace::new(Rational::from_f64(scale).unwrap()).is_err(), "{scale}");
    }
    for sigma in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-20, 1e20] {
        assert!(DiscreteGaussian::at_least(sigma).is_err(), "{sigma}");
    }
}

#[test]
fn draws_are_a_function_of_the_generator() {
    let law = gaussian(Rational::from_f64(30.25).unwrap());
    assert_eq!(draw(&law, 1, 8), [5, 4, 10, 5, -3, 2, -4, 1]);
    let law = DiscreteLaplace::new(Rational::new(7, 2).unwrap()).unwrap();
    assert_eq!(draw(&law, 1, 8), [2, -5, -1, -7, 1, -1, 1, 7]);
}
