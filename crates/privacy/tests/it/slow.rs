//! The same answers by slow and plain means that share no code with the accountant: exact fractions for laws with two outcomes,
//! and a sum over all pairs of outcomes for two releases with densities.

use num_bigint::BigUint;
use proptest::prelude::*;
use sottovoce_privacy::{Accountant, Adjacency, Interval, Mechanism};

fn power(base: u64, exponent: u32) -> BigUint {
    BigUint::from(base).pow(exponent)
}

/// `numerator / denominator` of huge numbers, to 53 bits.
fn quotient(numerator: &BigUint, denominator: &BigUint) -> f64 {
    if numerator.bits() == 0 {
        return 0.0;
    }
    let shift = 120 + denominator.bits() as i64 - numerator.bits() as i64;
    let scaled = if shift >= 0 { numerator << shift as u64 } else { numerator >> (-shift) as u64 };
    let bits: BigUint = scaled / denominator;
    let digits = bits.to_string().parse::<f64>().unwrap();
    digits * (-(shift as f64)).exp2()
}

/// Delta at `e^epsilon = over / under` of `steps` releases with two outcomes, whose masses are `p` and `q` (of the first outcome,
/// in units of `1 / whole`): the sum over the number of first outcomes of what `P` has beyond `e^epsilon` times `Q`.
fn two_outcomes(p: u64, q: u64, whole: u64, steps: u32, (over, under): (u64, u64)) -> f64 {
    let mut total = BigUint::from(0u32);
    let mut choose = BigUint::from(1u32);
    for j in 0..=steps {
        let mass = |first: u64| power(first, j) * power(whole - first, steps - j);
        let (gain, cost) = (mass(p) * under, mass(q) * over);
        if gain > cost {
            total += (gain - cost) * &choose;
        }
        choose = choose * (steps - j) / (j + 1);
    }
    quotient(&total, &(power(whole, steps) * under))
}

fn accountant(mechanism: Mechanism, steps: u32, adjacency: Adjacency) -> Accountant {
    let mut accountant = Accountant::new(adjacency);
    accountant.compose(mechanism, u64::from(steps)).unwrap();
    accountant
}

fn agrees(interval: Interval, truth: f64, digits: f64) -> Result<(), TestCaseError> {
    let slack = digits * truth + 1e-300;
    prop_assert!(
        interval.lower <= truth + slack && truth - slack <= interval.upper,
        "{truth} not in {interval:?}"
    );
    prop_assert!(interval.is_within(0.01) || interval.reason().is_some(), "{interval:?}");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Answers that are lies with probability `lies / 128`.
    #[test]
    fn responses(lies in 1u64..64, steps in 1u32..40, over in 8u64..4000) {
        let response = Mechanism::randomized_response(2.0 * lies as f64 / 128.0, 2).unwrap();
        let truth = two_outcomes(128 - lies, lies, 128, steps, (over, 8));
        let epsilon = (over as f64 / 8.0).ln();
        agrees(accountant(response, steps, Adjacency::Replace).delta(epsilon).unwrap(), truth, 1e-11)?;
    }

    /// Discrete Laplace noise of scale `1 / ln ratio`, seen with probability `rate / 64`, added and removed.
    #[test]
    fn sampled_discrete_laplace(ratio in 2u64..9, rate in 1u64..64, steps in 1u32..30, over in 64u64..2000) {
        // P has 1/(1+t) on the far side of the record, Q has t/(1+t), t = 1/ratio: in units of 1 / (64 (ratio + 1)).
        let (far, near) = (64 * ratio, 64);
        let mixed = (near * (64 - rate) + far * rate) / 64;
        let whole = 64 * (ratio + 1);
        let factor = (over, 64);
        let removed = two_outcomes(mixed, near, whole, steps, factor);
        let added = two_outcomes(whole - near, whole - mixed, whole, steps, factor);
        let noise = Mechanism::discrete_laplace(1.0 / (ratio as f64).ln(), 1).unwrap();
        let sampled = noise.poisson(rate as f64 / 64.0).unwrap();
        let truth = if removed > added { removed } else { added };
        let epsilon = (over as f64 / 64.0).ln();
        agrees(accountant(sampled, steps, Adjacency::AddRemove).delta(epsilon).unwrap(), truth, 1e-9)?;
    }
}

/// Cells for each of the two releases.
const CELLS: f64 = 2400.0;

/// Delta of two releases whose outcomes have the densities `p` and `q` on `[low, high]`: over all pairs of cells.
fn pairs(p: impl Fn(f64) -> f64, q: impl Fn(f64) -> f64, low: f64, high: f64, epsilon: f64) -> f64 {
    // Where the densities have corners, at whole numbers, cells begin.
    let (low, high) = (low.floor(), high.ceil());
    let width = 1.0 / (CELLS / (high - low)).floor();
    let at = |i: usize| low + (i as f64 + 0.5) * width;
    let count = ((high - low) / width).round() as usize;
    let masses: Vec<(f64, f64)> = (0..count).map(|i| (width * p(at(i)), width * q(at(i)))).collect();
    let factor = epsilon.exp();
    let mut total = 0.0;
    for (p, q) in &masses {
        for (other_p, other_q) in &masses {
            let gain = p * other_p - factor * q * other_q;
            if gain > 0.0 {
                total += gain;
            }
        }
    }
    total
}

fn bell(x: f64, centre: f64, sigma: f64) -> f64 {
    (-0.5 * ((x - centre) / sigma).powi(2)).exp() / (sigma * (2.0 * std::f64::consts::PI).sqrt())
}

fn spike(x: f64, centre: f64, scale: f64) -> f64 {
    (-((x - centre) / scale).abs()).exp() / (2.0 * scale)
}

#[test]
fn two_sampled_releases_pair_by_pair() {
    type Density = fn(f64, f64, f64) -> f64;
    let kinds: [(Density, bool); 2] = [(bell, true), (spike, false)];
    for (density, gaussian) in kinds {
        for (noise, rate, epsilon) in [(0.5, 0.3, 0.7), (1.0, 0.05, 0.1), (0.25, 0.02, 1.5), (2.0, 0.9, 0.4)]
        {
            let mixed =
                |x: f64, at: f64| (1.0 - rate) * density(x, 0.0, noise) + rate * density(x, at, noise);
            let (low, high) = if gaussian {
                (-9.0 * noise - 1.0, 9.0 * noise + 1.0)
            } else {
                (-15.0 * noise - 1.0, 15.0 * noise + 1.0)
            };
            let base = if gaussian { Mechanism::gaussian(noise) } else { Mechanism::laplace(noise) }.unwrap();
            let sampled = base.poisson(rate).unwrap();
            let plain = |x: f64| density(x, 0.0, noise);
            let removed = pairs(|x| mixed(x, 1.0), plain, low, high, epsilon);
            let added = pairs(plain, |x| mixed(x, 1.0), low, high, epsilon);
            let replaced = pairs(|x| mixed(x, 1.0), |x| mixed(x, -1.0), low, high, epsilon);
            let either = if removed > added { removed } else { added };
            for (adjacency, truth) in [(Adjacency::AddRemove, either), (Adjacency::Replace, replaced)] {
                let interval = accountant(sampled, 2, adjacency).delta(epsilon).unwrap();
                let slack = 4e-4 * truth + 1e-9;
                assert!(
                    interval.lower <= truth + slack && truth - slack <= interval.upper,
                    "{sampled} {adjacency} at {epsilon}: {truth} not in {interval:?}"
                );
                assert!(interval.is_within(0.01), "{sampled} {adjacency}: {interval:?}");
            }
        }
    }
}
