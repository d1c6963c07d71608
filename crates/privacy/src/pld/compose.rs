//! Composing lattice laws by a tilted fast Fourier transform, with a bound on everything that can go wrong.
//!
//! Losses add, so their laws convolve. A plain transform computes the convolution to within about 1e-16 *in absolute
//! terms*, which drowns a tail of 1e-14. Multiplying every mass by `e^(tilt * loss)` first moves the centre of the law
//! to where the question is; the same absolute error is then a small *relative* one. The terms of the bound, in the
//! order they arise: rounding of the masses, rounding of the transforms and powers (in the 2-norm), and losses that
//! wrap around the period. `docs/theorems/tilted-convolution.md` derives each.

use super::lattice::Lattice;
use super::spectrum::{characteristic, fast_size, inverse, multiply_power, norm, transform_error};
use crate::gdp::VANISHING;
use crate::interval::{larger, probability_above, probability_below, smaller, within};
use crate::special::UNIT;

/// Where to look: the tilt, and the window of losses that matters under it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Window {
    pub(crate) tilt: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// Total error of the transforms, in tilted units, that the question can bear.
    pub(crate) tolerance: f64,
    /// Chernoff parameters for the mass that leaves the window upwards and downwards; none where the window holds the
    /// extreme sum.
    pub(crate) up: Option<f64>,
    pub(crate) down: Option<f64>,
}

/// The law of a sum of losses, ready to be asked for hockey-stick values.
pub(crate) struct Composed {
    /// Loss at the first kept lattice point.
    first: f64,
    step: f64,
    /// Masses under `P` of the losses at or above each kept point, and those under `Q` times `e^loss` of that point.
    above_p: Vec<f64>,
    above_q: Vec<f64>,
    infinity: f64,
    tilt: f64,
    ln_total: f64,
    /// What multiplies `exp(ln_total - tilt * epsilon)` in the absolute error.
    scatter: f64,
    /// Relative error of the masses.
    relative: f64,
    /// How far rounding may have moved the sum of losses.
    pub(crate) slip: f64,
}

/// One part of a composition: a lattice law under the tilt.
struct Tilted {
    masses: Vec<f64>,
    ln_total: f64,
    ln_up: f64,
    ln_down: f64,
}

/// Most points of a transform: what memory and time allow.
const MOST_POINTS: f64 = 5e6;

/// Convolves `count` copies of each lattice (all of the same step). Nothing is known of a composition that would be too large,
/// or of laws without any mass.
pub(crate) fn compose(parts: &[(Lattice, u64)], window: &Window) -> Composed {
    let Some(step) = parts.first().map(|part| part.0.step) else { return Composed::unknown(1.0) };
    // (What is not a number is not known.)
    let known = |lattice: &Lattice| {
        lattice.masses.iter().any(|mass| *mass > 0.0) && !lattice.masses.iter().any(|mass| mass.is_nan())
    };
    if !parts.iter().all(|(lattice, _)| known(lattice)) {
        return Composed::unknown(step);
    }
    // Where the window is to hold the extreme sums, they are those of the lattices, which may reach a step further than
    // the laws.
    let extreme =
        |end: fn(&Lattice) -> f64| parts.iter().map(|(lattice, n)| *n as f64 * end(lattice)).sum::<f64>();
    let window = &Window {
        low: if window.down.is_none() { extreme(|lattice| lattice.first) } else { window.low },
        high: if window.up.is_none() { extreme(Lattice::last) } else { window.high },
        ..*window
    };
    let points = ((window.high - window.low) / step).ceil();
    // (Not a number counts as too many.)
    if !(0.0..=MOST_POINTS).contains(&points) {
        return Composed::unknown(step);
    }
    let size = fast_size(points as usize + 4);
    let (mut ln_total, mut ln_up, mut ln_down, mut offset) = (0.0, 0.0, 0.0, 0.0);
    let (mut infinity, mut relative, mut slip, mut power_error) = (0.0, 0.0, 0.0, 0.0);
    let mut spectrum = Vec::new();
    for (lattice, count) in parts {
        sottovoce_fault::stop::look();
        let n = *count as f64;
        let tilted = tilt(lattice, window);
        let span = lattice.masses.len() as f64 * step + lattice.first.abs();
        // The total under the tilt is a sum of chunks, each of 256 masses.
        let chunks = lattice.masses.len() as f64 / 256.0;
        ln_total += n * tilted.ln_total;
        ln_up += n * tilted.ln_up;
        ln_down += n * tilted.ln_down;
        offset += n * lattice.first;
        infinity += n * lattice.infinity;
        slip += n * lattice.slip;
        relative += n * (lattice.rounding + UNIT * (1500.0 + chunks + 2.0 * (window.tilt + 1.0) * span));
        let factor = characteristic(&tilted.masses, size, *count, window.tolerance);
        power_error += n * (factor.error + 3.0 * UNIT);
        multiply_power(&mut spectrum, factor.values, *count);
    }
    let fewest = parts.iter().map(|part| part.1).min().unwrap_or(1) as f64; // whole numbers
    let noise = (2.0 * power_error * (2.0 * power_error).exp() + transform_error(size)) * norm(&spectrum)
        / (size as f64).sqrt()
        + power_error * (2.0 * power_error).exp() * (1.0 - fewest).exp2()
        + 1e-30;
    // Chernoff: the tilted mass beyond either end of the window.
    let above = window.up.map_or(0.0, |s| (ln_up - s * window.high).exp());
    let below = window.down.map_or(0.0, |s| (ln_down + s * window.low).exp());
    let wrapped = above + below;
    let c = window.tilt;
    let peak = ln_peak(c).exp();
    let by_integral = 1.0 / (4.0 * c.powi(3) * step) + 0.14 / (c * c);
    let payoff_norm = smaller(by_integral, 1.0 / -(-2.0 * c * step).exp_m1()).sqrt();
    let scatter = noise * payoff_norm + 2.0 * wrapped * peak;
    let masses = inverse(spectrum, size);
    let mut composed = Composed {
        first: 0.0,
        step,
        above_p: Vec::new(),
        above_q: Vec::new(),
        infinity,
        tilt: c,
        ln_total,
        scatter,
        relative: relative.exp_m1(),
        slip,
    };
    composed.keep(&masses, offset, window);
    composed
}

/// `ln max_y (1 - e^-y) e^(-c y)`: the best constant in Chernoff's bound on a hockey stick.
pub(crate) fn ln_peak(c: f64) -> f64 {
    // `c ln c - (1+c) ln (1+c)`, without the cancellation of two large terms.
    -c * (1.0 / c).ln_1p() - c.ln_1p()
}

impl Composed {
    /// Between nothing and everything.
    fn unknown(step: f64) -> Self {
        Self {
            first: 0.0,
            step,
            above_p: vec![0.0],
            above_q: vec![0.0],
            infinity: 0.0,
            tilt: 1.0,
            ln_total: 0.0,
            scatter: f64::INFINITY,
            relative: 0.0,
            slip: 0.0,
        }
    }

    /// Undoes the tilt and sums from the top, over the non-negative losses inside the window.
    fn keep(&mut self, masses: &[f64], offset: f64, window: &Window) {
        let size = masses.len() as i64;
        let start = ((larger(window.low, 0.0) - offset) / self.step).floor() as i64;
        let lowest = ((window.low - offset) / self.step).floor() as i64;
        let count = (lowest + size - start).max(1) as usize; // whole numbers
        self.first = offset + start as f64 * self.step;
        self.above_p = vec![0.0; count + 1];
        self.above_q = vec![0.0; count + 1];
        let (shrink_q, shrink) = ((-self.step).exp(), (-self.tilt * self.step).exp());
        let block = block_length(self.tilt * self.step);
        let mut local = vec![0.0; block];
        for from in (0..count).step_by(block).rev() {
            let to = (from + block).min(count); // whole numbers
            let loss = self.first + from as f64 * self.step;
            // Far below the question the weights overflow; the error bound there is infinite too.
            let mut weight = smaller(self.ln_total - self.tilt * loss, 600.0).exp();
            // The window starts anywhere in the period of the transform.
            let mut position = (start + from as i64).rem_euclid(size) as usize;
            for slot in &mut local[..to - from] {
                *slot = masses[position] * weight;
                weight *= shrink;
                position = if position + 1 == masses.len() { 0 } else { position + 1 };
            }
            for t in (from..to).rev() {
                self.above_p[t] = self.above_p[t + 1] + local[t - from];
                self.above_q[t] = self.above_q[t + 1] * shrink_q + local[t - from];
            }
        }
    }

    /// The computed hockey-stick value at `epsilon`, and its possible absolute error.
    fn value(&self, epsilon: f64) -> (f64, f64) {
        let next = larger(((epsilon - self.first) / self.step).floor() + 1.0, 0.0) as usize;
        let next = next.min(self.above_p.len() - 1); // whole numbers
        if next == self.above_p.len() - 1 {
            return (0.0, (self.ln_total - self.tilt * epsilon).exp() * self.scatter);
        }
        let beyond = self.first + next as f64 * self.step - epsilon;
        let (p, q) = (self.above_p[next], (-beyond).exp() * self.above_q[next]);
        let scale = (self.ln_total - self.tilt * epsilon).exp();
        // The difference magnifies the rounding of the two sums.
        let value = p - q;
        let summed = UNIT * (600.0 + self.above_p.len() as f64) * (p.abs() + q.abs());
        (value, scale * self.scatter + self.relative * value.abs() + summed)
    }

    /// An upper bound on delta at `epsilon >= 0`. Whatever cannot be computed counts as 1.
    pub(crate) fn upper(&self, epsilon: f64) -> f64 {
        if epsilon < self.first {
            return 1.0;
        }
        let (value, error) = self.value(epsilon);
        probability_above(self.infinity + value + error + VANISHING)
    }

    /// A lower bound on delta at `epsilon >= 0`. Whatever cannot be computed counts as 0.
    pub(crate) fn lower(&self, epsilon: f64) -> f64 {
        let (value, error) = self.value(larger(epsilon, self.first));
        probability_below(value - error)
    }

    /// A loss above all of those kept.
    pub(crate) fn top(&self) -> f64 {
        self.first + (self.above_p.len() + 1) as f64 * self.step
    }

    /// How large the error of the transform is beside `delta`, at the epsilon that belongs to it.
    pub(crate) fn share(&self, epsilon: f64, delta: f64) -> f64 {
        let share = (self.ln_total - self.tilt * epsilon).exp() * self.scatter / delta;
        if epsilon < self.first || !share.is_finite() { f64::INFINITY } else { share }
    }
}

/// So many steps may be taken by multiplication before an exponential is computed anew: few rounding errors, and no
/// factor that leaves the range of exponents between.
fn block_length(exponent_per_step: f64) -> usize {
    within(1.0 / exponent_per_step, 1.0, 256.0) as usize
}

fn tilt(lattice: &Lattice, window: &Window) -> Tilted {
    let (c, step) = (window.tilt, lattice.step);
    let loss = |i: usize| lattice.first + i as f64 * step;
    // Weights relative to the heaviest; any reference will do, one near the heaviest keeps everything in range.
    let last = lattice.masses.len() - 1;
    let candidates = (0..last).step_by(1 + last / 4096).chain([last]).filter(|&i| lattice.masses[i] > 0.0);
    let heaviest = candidates
        .map(|i| (lattice.masses[i].ln() + c * loss(i), i))
        .fold((f64::NEG_INFINITY, 0), |a, b| if b.0 > a.0 { b } else { a });
    let (ln_peak, reference) = (heaviest.0, loss(heaviest.1));
    let masses = if c * last as f64 * step < 500.0 && lattice.masses[heaviest.1] > 1e-100 {
        weigh_by_steps(lattice, c, reference, ln_peak)
    } else {
        let weight = |(i, mass): (usize, &f64)| (mass.ln() + c * loss(i) - ln_peak).exp();
        lattice.masses.iter().enumerate().map(weight).collect()
    };
    let total: f64 = masses.chunks(256).map(|chunk| chunk.iter().sum::<f64>()).sum();
    let (up, down) = (window.up.unwrap_or(0.0), window.down.unwrap_or(0.0));
    let moment = |s: f64| -> f64 {
        let growth = (s * step).exp();
        let block = block_length(s.abs() * step);
        let blocks = masses.chunks(block).enumerate().map(|(k, chunk)| {
            let mut factor = 1.0;
            let mut sum = 0.0;
            for mass in chunk {
                sum += mass * factor;
                factor *= growth;
            }
            // An empty block contributes nothing, whatever its factor.
            if sum == 0.0 { 0.0 } else { sum * (s * (loss(k * block) - reference)).exp() }
        });
        (blocks.sum::<f64>() / total).ln() + s * reference + 1e-12
    };
    let (ln_up, ln_down) = (moment(up), moment(-down));
    Tilted {
        masses: masses.iter().map(|mass| mass / total).collect(),
        ln_total: total.ln() + ln_peak,
        ln_up,
        ln_down,
    }
}

/// `mass e^(c loss)` relative to the heaviest, stepping from one lattice point to the next.
fn weigh_by_steps(lattice: &Lattice, c: f64, reference: f64, ln_peak: f64) -> Vec<f64> {
    let growth = (c * lattice.step).exp();
    let block = block_length(c * lattice.step);
    let mut masses = vec![0.0; lattice.masses.len()];
    for (k, (input, output)) in lattice.masses.chunks(block).zip(masses.chunks_mut(block)).enumerate() {
        let start = lattice.first + (k * block) as f64 * lattice.step;
        let mut factor = (c * (start - reference) + c * reference - ln_peak).exp();
        for (mass, slot) in input.iter().zip(output) {
            *slot = mass * factor;
            factor *= growth;
        }
    }
    masses
}
