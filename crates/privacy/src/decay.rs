//! How the characteristic function of a sampled Gaussian's loss falls off: bounds that need no frequency to be evaluated.
//!
//! Rarely sampled losses crowd just below zero: their density is high there, and its variation says little about any but
//! enormous frequencies. Yet the crowd is only a share of the mass. Both bounds therefore set a part of the mass aside:
//!
//! ```text
//! |chi(t)|            <=  mass up to a cut  +  variation of the density beyond it / t
//! |chi(t+s)-chi(t)|   <=  s * mean distance of the near  +  2 * mass of the far
//! ```
//!
//! Masses, variations and distances are summed over cells of outcomes, each rounded up by the steepest slope in the cell
//! (`docs/theorems/contour.md`, Theorem 4).

use crate::interval::{best_bound, larger, smaller, within};
use crate::pld::Lattice;
use crate::quadrature::{SampledGaussian, Side};

/// Mass beyond the range of outcomes that is cut into cells (`2 e^-55`, with room).
const OUTSIDE: f64 = 1e-20;
/// Cuts and distances at which the bounds are kept.
const CUTS: usize = 64;

/// Bounds on the characteristic function `chi` of one release under a tilt.
pub(crate) struct Decay {
    /// Mass up to a cut, variation of the loss density beyond it.
    cuts: Vec<(f64, f64)>,
    /// Mean distance (from some centre) of the losses within a radius, and the mass beyond.
    radii: Vec<(f64, f64)>,
}

/// A cell of outcomes, everything rounded up.
struct Cell {
    mass: f64,
    /// The largest loss density.
    density: f64,
    variation: f64,
    /// The losses at both ends.
    losses: (f64, f64),
}

impl Decay {
    pub(crate) fn of(law: &SampledGaussian, c: f64) -> Self {
        let cells = cells(law, c);
        Self { cuts: cuts(&cells, law.side), radii: radii(&cells) }
    }

    /// Of a law on a lattice, up to half the period of its characteristic function. What stands out (atoms) is set aside, for the rest one sums by
    /// parts: `|sum w z^k| <= (variation of w) / |1 - z|`, and `|1 - e^(i t step)| >= 2 t step / pi` there.
    pub(crate) fn of_lattice(lattice: &Lattice, c: f64) -> Self {
        let top = c * lattice.last();
        let tilted =
            |(i, mass): (usize, &f64)| mass * (c * (lattice.first + i as f64 * lattice.step) - top).exp();
        let weights: Vec<f64> = lattice.masses.iter().enumerate().map(tilted).collect();
        let total: f64 = weights.iter().sum();
        let mut sorted = weights.clone();
        sorted.sort_by(|a, b| b.total_cmp(a));
        let caps = (0..).map(|k| 1_usize << k).take_while(|&k| k <= sorted.len()).map(|k| sorted[k - 1]);
        let cut = |cap: f64| {
            let (mut aside, mut variation, mut last) = (0.0, 0.0, 0.0);
            for weight in &weights {
                let rest = smaller(*weight, cap);
                aside += weight - rest;
                variation += (rest - last).abs();
                last = rest;
            }
            let variation = (variation + last) * std::f64::consts::PI / (2.0 * lattice.step);
            // (A total that is not a number bounds nothing.)
            (1.000_001 * aside / total, 1.000_001 * variation / total)
        };
        Self { cuts: caps.map(cut).collect(), radii: Vec::new() }
    }

    /// A bound on `|chi(t)|`, falling in `t`.
    pub(crate) fn size(&self, t: f64) -> f64 {
        smaller(1.0, best_bound(self.cuts.iter().map(|(mass, variation)| mass + variation / t)))
    }

    /// A bound on `|chi(t+s) - chi(t)|` at any `t` (up to a phase), rising in `s`.
    pub(crate) fn change(&self, s: f64) -> f64 {
        smaller(2.0, best_bound(self.radii.iter().map(|(near, far)| s * near + 2.0 * far)))
    }
}

fn cells(law: &SampledGaussian, c: f64) -> Vec<Cell> {
    let variance = law.sigma * law.sigma;
    let (low, high) = law.range(c);
    // One further on either side, so that the density only falls beyond (whatever the noise).
    let (low, high) = (smaller(low, -1.0 - 10.5 * law.sigma), high + 1.0);
    let steepest = law.steepest_slope(c, larger(high, -low));
    let count = within((high - low) * steepest / 0.3, 256.0, 20_000.0) as usize;
    let spacing = (high - low) / count as f64;
    let half = 0.5 * spacing;
    // (Without the total no bound is one: cells without end.)
    let (ln_total, error) = law.ln_moment(c).unwrap_or((f64::NAN, f64::NAN));
    let scale = (error - ln_total).exp() / (law.sigma * (2.0 * std::f64::consts::PI).sqrt());
    let loss = |i: usize| law.loss_and_exponent(c, low + i as f64 * spacing).0;
    let mut left = loss(0);
    (0..count)
        .map(|i| {
            let x = low + (i as f64 + 0.5) * spacing;
            let exponent = law.loss_and_exponent(c, x).1;
            let outcome = scale * exponent.exp();
            let (loss_slope, mass_slope, density_slope) = law.slopes(c, x, half);
            // In logarithms: far out both factors underflow, and their ratio need not.
            let density = (exponent + (scale * variance / loss_slope).ln() + density_slope * half).exp();
            let right = loss(i + 1);
            let losses = (left, right);
            left = right;
            Cell {
                mass: outcome * spacing * (mass_slope * half).exp(),
                density,
                variation: density * density_slope * spacing,
                losses,
            }
        })
        .collect()
}

/// The crowd lies at the smallest outcomes, except where a record is replaced: there nothing is set aside.
fn cuts(cells: &[Cell], side: Side) -> Vec<(f64, f64)> {
    let [first, .., last] = cells else { return Vec::new() };
    // Beyond either end the density only falls. A cut adds the height of the density there.
    let beyond = sums_from(cells, last.density, |cell| cell.variation);
    let mut kept = vec![(0.0, first.density + beyond[0])];
    let mut mass = OUTSIDE;
    let mut next = 1e-3;
    for (cell, beyond) in cells.iter().zip(beyond).filter(|_| side != Side::Opposite) {
        if mass >= next {
            kept.push((mass, cell.density + beyond));
            next = mass + (1.0 - mass) / CUTS as f64;
        }
        mass += 1.000_001 * cell.mass;
    }
    kept
}

fn radii(cells: &[Cell]) -> Vec<(f64, f64)> {
    if cells.is_empty() {
        return Vec::new();
    }
    let mut below = 0.0;
    let median = cells.iter().find(|cell| {
        below += cell.mass;
        below >= 0.5
    });
    let centre = median.map_or(0.0, |cell| cell.losses.0);
    let distance = |cell: &Cell| larger((cell.losses.0 - centre).abs(), (cell.losses.1 - centre).abs());
    let mut distances: Vec<(f64, f64)> = cells.iter().map(|cell| (distance(cell), cell.mass)).collect();
    distances.sort_by(|a, b| a.0.total_cmp(&b.0));
    let far = sums_from(&distances, OUTSIDE, |(_, mass)| *mass);
    let mut near = 0.0;
    let stride = distances.len().div_ceil(2 * CUTS);
    let mut kept = Vec::new();
    for (i, ((distance, mass), far)) in distances.iter().zip(far).enumerate() {
        if i % stride == 0 {
            kept.push((near, far));
        }
        near += 1.000_001 * distance * mass;
    }
    kept.push((near, OUTSIDE));
    kept
}

/// For each item, the sum over it and all after it, and `end`; with room for rounding.
fn sums_from<T>(items: &[T], end: f64, value: impl Fn(&T) -> f64) -> Vec<f64> {
    let mut sum = end;
    let mut sums: Vec<f64> = items
        .iter()
        .rev()
        .map(|item| {
            sum += 1.000_001 * value(item);
            sum
        })
        .collect();
    sums.reverse();
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use realfft::num_complex::Complex64;

    /// Where the characteristic function can be computed, it obeys both bounds; and they are not idle.
    #[test]
    fn bounds_hold() {
        for side in [Side::Remove, Side::Add, Side::Opposite] {
            for (sigma, rate, c) in [(0.9, 0.1, 2.5), (0.7, 1e-3, 9.0), (3.0, 0.5, 20.0), (0.6, 1e-4, 0.8)] {
                let law = SampledGaussian { sigma, rate, side };
                let decay = Decay::of(&law, c);
                let chi = |t: f64| {
                    let nodes = law.nodes(c, t).unwrap();
                    let mut terms = vec![Complex64::ZERO; nodes.losses.len()];
                    nodes.turn(t, &mut terms);
                    (1.0 + nodes.chi_less_one(&terms)).norm()
                };
                let mut last = 1.0;
                let pace = 0.2 * sigma;
                for i in 1..200 {
                    let t = pace * f64::from(i);
                    let size = chi(t);
                    assert!(size <= decay.size(t) + 1e-12, "{side:?} {sigma} {rate} at {t}");
                    assert!(
                        (size - last).abs() <= decay.change(pace) + 1e-12,
                        "{side:?} {sigma} {rate} at {t}"
                    );
                    last = size;
                }
                // Mass 1, and no bound beyond what no law can exceed.
                assert!(decay.size(1e-9) == 1.0 && decay.change(1e9) <= 2.0);
                assert!(decay.size(1e9) < 1e-2, "{side:?} {sigma} {rate}: {}", decay.size(1e9));
                assert!(decay.change(1e-9) < 1e-8 * (1.0 + c) / sigma.powi(2), "{side:?} {sigma} {rate}");
            }
        }
    }
}
