//! Characteristic functions of lattice laws, with a bound on their rounding error.
//!
//! The `n`-th power of a transform magnifies its rounding `n` times. The error of a fast transform is proportional to the
//! 2-norm of its input, which a few heavy masses dominate (the atoms of a Laplace law, the narrow bulk of a law that is
//! rarely sampled). Those are therefore summed directly, at the frequencies whose power does not vanish.

use std::f64::consts::TAU;
use std::sync::{LazyLock, Mutex, PoisonError};

use realfft::RealFftPlanner;
use realfft::num_complex::Complex64;

use crate::interval::{larger, smaller};
use crate::quadrature::less_one;
use crate::special::UNIT;

/// Multiply-adds to spend on direct summation.
const EFFORT: usize = 6_000_000;
/// Powers below `e^-80` count as zero.
const LN_NEGLIGIBLE: f64 = -80.0;
/// Direct rotation is restarted from exact angles after so many steps.
const ANCHOR: usize = 8;
/// Bound on the error of a direct sum of masses of total 1: an angle, eight rotations of 12 round-offs each (the step's own
/// angle included), and a pairwise sum of at most 256 chunks of 16.
const DIRECT_ERROR: f64 = 140.0 * UNIT;

/// Half a spectrum (the input is real) and a bound on the absolute error of each entry.
pub(crate) struct Spectrum {
    pub(crate) values: Vec<Complex64>,
    pub(crate) error: f64,
}

/// Plans are shared: their tables take longer to build than a transform.
static PLANNER: LazyLock<Mutex<RealFftPlanner<f64>>> = LazyLock::new(|| Mutex::new(RealFftPlanner::new()));

fn with_planner<T>(ask: impl FnOnce(&mut RealFftPlanner<f64>) -> T) -> T {
    // A planner left behind by a panic elsewhere is still a valid cache of plans.
    ask(&mut PLANNER.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Relative error, in the 2-norm, of a fast transform of the given size: at most 7 round-offs for each of its
/// `log2(size)` levels with accurate twiddles; 10 are allowed, and two more levels for the real-input step.
pub(crate) fn transform_error(size: usize) -> f64 {
    10.0 * UNIT * ((size as f64).log2() + 2.0)
}

/// The transform of `masses` (total 1), to within `tolerance` over `count` where that can be had, for its `count`-th power.
pub(crate) fn characteristic(masses: &[f64], size: usize, count: u64, tolerance: f64) -> Spectrum {
    let mut values = forward(masses, size);
    let error = fast_error(masses, size);
    let wanted = tolerance / count as f64;
    if error <= wanted {
        return Spectrum { values, error };
    }
    let threshold = (LN_NEGLIGIBLE / count as f64).exp() - error;
    let active: Vec<usize> =
        (0..values.len()).filter(|&l| values[l].norm_sqr() >= threshold * larger(threshold, 0.0)).collect();
    let most = (EFFORT / active.len().max(1)).min(4096); // whole numbers
    let heavy = heaviest(masses, most, 0.5 * larger(wanted, DIRECT_ERROR) / fast_factor(size));
    let mut rest = masses.to_vec();
    heavy.iter().for_each(|&i| rest[i] = 0.0);
    let direct = Direct::new(masses, heavy, size);
    let mixed_error = fast_error(&rest, size) + direct.error(active.last().copied().unwrap_or(0));
    if mixed_error > 0.5 * error {
        return Spectrum { values, error };
    }
    let light: f64 = rest.iter().sum();
    let rest = forward(&rest, size);
    values.fill(Complex64::ZERO);
    direct.add(&mut values, &rest, 1.0 - light, &active);
    Spectrum { values, error: mixed_error }
}

/// What the 2-norm of the input is multiplied by to bound the error of a fast transform.
fn fast_factor(size: usize) -> f64 {
    1.01 * transform_error(size) * (size as f64).sqrt()
}

fn fast_error(masses: &[f64], size: usize) -> f64 {
    fast_factor(size) * masses.iter().map(|mass| mass * mass).sum::<f64>().sqrt()
}

/// Indices, in increasing order, of the largest masses: as many as leave the others with a 2-norm of at most `rest`, but no
/// more than `most`.
fn heaviest(masses: &[f64], most: usize, rest: f64) -> Vec<usize> {
    // Masses below this cannot, all together, exceed half the norm that may be left.
    let trifle = 0.7 * rest / (masses.len() as f64).sqrt();
    let mut order: Vec<usize> = (0..masses.len()).filter(|&i| masses[i] > trifle).collect();
    let descending = |&a: &usize, &b: &usize| masses[b].total_cmp(&masses[a]).then(a.cmp(&b));
    if most < order.len() {
        order.select_nth_unstable_by(most, descending);
    }
    let most = most.min(order.len()); // whole numbers
    let mut left: f64 = 0.5 * rest * rest + order[most..].iter().map(|&i| masses[i] * masses[i]).sum::<f64>();
    order.truncate(most);
    order.sort_unstable_by(descending);
    while let Some(&lightest) = order.last() {
        left += masses[lightest] * masses[lightest];
        if left > rest * rest {
            break;
        }
        order.pop();
    }
    order.sort_unstable();
    order
}

/// Direct summation of heavy masses about their centre: `sum x (e^(i angle) - 1)`, which is small, and accurate relative to
/// its size, where they lie close together.
struct Direct {
    size: usize,
    centre: usize,
    /// Index relative to the centre, mass.
    heavy: Vec<(i64, f64)>,
}

impl Direct {
    fn new(masses: &[f64], heavy: Vec<usize>, size: usize) -> Self {
        let total: f64 = heavy.iter().map(|&i| masses[i]).sum();
        let mean =
            heavy.iter().map(|&i| i as f64 * masses[i]).sum::<f64>() / larger(total, f64::MIN_POSITIVE);
        let centre = mean.round() as usize;
        Self {
            size,
            centre,
            heavy: heavy.into_iter().map(|i| (i as i64 - centre as i64, masses[i])).collect(),
        }
    }

    /// Bound on the error at frequencies up to `last`.
    fn error(&self, last: usize) -> f64 {
        let turn = TAU * last as f64 / self.size as f64;
        let spread: f64 =
            self.heavy.iter().map(|(offset, mass)| mass * smaller(turn * offset.abs() as f64, 2.0)).sum();
        DIRECT_ERROR * spread + 8.0 * UNIT
    }

    /// The angle of `offset` steps at a frequency, reduced in integers so that it carries a single rounding.
    fn angle(&self, offset: i64, frequency: usize) -> f64 {
        let size = self.size as i64;
        let steps = (offset * frequency as i64).rem_euclid(size);
        let steps = if 2 * steps > size { steps - size } else { steps };
        -TAU * steps as f64 / self.size as f64
    }

    /// At each active frequency: the fast transform of the rest, and the heavy masses of total `weight`.
    fn add(&self, values: &mut [Complex64], rest: &[Complex64], weight: f64, active: &[usize]) {
        let steps: Vec<Complex64> =
            self.heavy.iter().map(|&(offset, _)| less_one(self.angle(offset, 1))).collect();
        let mut state = vec![Complex64::ZERO; self.heavy.len()];
        let (mut last, mut age) = (usize::MAX - 1, 0);
        for &frequency in active {
            if frequency == last + 1 && age < ANCHOR {
                for ((value, step), (_, mass)) in state.iter_mut().zip(&steps).zip(&self.heavy) {
                    *value += *value * step + step * mass;
                }
                age += 1;
            } else {
                for (value, &(offset, mass)) in state.iter_mut().zip(&self.heavy) {
                    *value = less_one(self.angle(offset, frequency)) * mass;
                }
                age = 0;
            }
            last = frequency;
            let centre = Complex64::cis(self.angle(self.centre as i64, frequency));
            values[frequency] = rest[frequency] + centre * (pairwise(&state) + weight);
        }
    }
}

/// A sum whose error grows with the logarithm of the number of terms.
pub(crate) fn pairwise(terms: &[Complex64]) -> Complex64 {
    if terms.len() <= 16 {
        return terms.iter().sum();
    }
    let (left, right) = terms.split_at(terms.len() / 2);
    pairwise(left) + pairwise(right)
}

fn forward(masses: &[f64], size: usize) -> Vec<Complex64> {
    let plan = with_planner(|planner| planner.plan_fft_forward(size));
    let mut input = plan.make_input_vec();
    for period in masses.chunks(size) {
        input.iter_mut().zip(period).for_each(|(slot, mass)| *slot += mass);
    }
    let mut output = plan.make_output_vec();
    // Lengths come from the plan itself, so the transform cannot refuse them.
    let _ = plan.process(&mut input, &mut output);
    output
}

/// The real sequence of length `size` that has the given half spectrum.
pub(crate) fn inverse(mut spectrum: Vec<Complex64>, size: usize) -> Vec<f64> {
    let plan = with_planner(|planner| planner.plan_fft_inverse(size));
    let last = spectrum.len() - 1;
    spectrum[0].im = 0.0;
    spectrum[last].im = 0.0;
    let mut output = plan.make_output_vec();
    let _ = plan.process(&mut spectrum, &mut output);
    let scale = 1.0 / size as f64;
    output.iter_mut().for_each(|value| *value *= scale);
    output
}

/// Multiplies `factor^count` into `product` (empty: one). Powers below e^-80 are set to zero.
pub(crate) fn multiply_power(product: &mut Vec<Complex64>, mut factor: Vec<Complex64>, count: u64) {
    let negligible = (2.0 * LN_NEGLIGIBLE / count as f64).exp();
    for value in &mut factor {
        *value = if value.norm_sqr() < negligible { Complex64::ZERO } else { power(*value, count) };
    }
    if product.is_empty() {
        *product = factor;
    } else {
        product.iter_mut().zip(&factor).for_each(|(a, b)| *a *= b);
    }
}

pub(crate) fn power(mut base: Complex64, mut exponent: u64) -> Complex64 {
    let mut result = Complex64::ONE;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result *= base;
        }
        base *= base;
        exponent >>= 1;
    }
    result
}

/// The 2-norm of the full spectrum, of which a half is stored.
pub(crate) fn norm(spectrum: &[Complex64]) -> f64 {
    (2.0 * spectrum.iter().map(Complex64::norm_sqr).sum::<f64>()).sqrt()
}

/// The smallest even `2^a 3^b` (`b` up to 2) that is at least `least`.
pub(crate) fn fast_size(least: usize) -> usize {
    let sizes = [1, 3, 9].map(|odd| odd * least.div_ceil(odd).next_power_of_two().max(2)); // whole numbers
    sizes.into_iter().min().unwrap_or(2) // whole numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The plain definition, for comparison.
    fn slow(masses: &[f64], size: usize, frequency: usize) -> Complex64 {
        let angle = |i: usize| -TAU * ((i * frequency) % size) as f64 / size as f64;
        masses.iter().enumerate().map(|(i, mass)| mass * Complex64::cis(angle(i))).sum()
    }

    #[test]
    fn both_routes_agree_with_the_definition_within_their_bounds() {
        let mut masses: Vec<f64> = (0..3000).map(|i| 1e-5 * (1.0 + (f64::from(i) * 0.01).sin())).collect();
        masses[0] = 0.3;
        masses[2999] = 1.0 - masses[..2999].iter().sum::<f64>();
        for count in [1, 1_000_000_000] {
            let spectrum = characteristic(&masses, 6144, count, 1e-12);
            for frequency in [0, 1, 2, 700, 3072] {
                if spectrum.values[frequency] != Complex64::ZERO {
                    let off = (spectrum.values[frequency] - slow(&masses, 6144, frequency)).norm();
                    assert!(off <= spectrum.error + 1e-13, "count {count}: {off:e} > {:e}", spectrum.error);
                }
            }
            assert!((spectrum.values[0] - 1.0).norm() < 1e-13);
        }
        let (few, many) = (
            characteristic(&masses, 6144, 1, 1e-12).error,
            characteristic(&masses, 6144, 1_000_000_000, 1e-12).error,
        );
        assert!(many < 0.5 * few, "direct summation must pay: {many:e} {few:e}");
    }

    #[test]
    fn sizes_are_even_and_sufficient() {
        for least in 1..5000 {
            let size = fast_size(least);
            assert!(size >= least && size.is_multiple_of(2) && size < 2 * least + 4, "{least} {size}");
        }
    }
}
