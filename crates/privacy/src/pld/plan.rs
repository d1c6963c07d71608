//! Choosing tilt, window and spacing for a composition: whatever is chosen here, [`compose`](super::compose) certifies what
//! comes of it, so a poor plan makes a result wide or slow, not wrong.

use rayon::prelude::*;

use super::compose::{Window, ln_peak};
use super::lattice::{Bracket, Lattice, between};
use super::law::Law;
use super::merged::merged;
use crate::interval::{larger, largest, smaller, smallest, within};
use crate::{Error, Result};

/// Cells of the rough law on which plans are made.
const ROUGH: f64 = 500.0;
/// No release with admitted noise loses more than this but with negligible probability.
const LARGEST_LOSS: f64 = 1e7;
/// Tilted mass that may leave the window (its logarithm).
const LN_WRAPPED: f64 = -30.0;
/// Probability of the small losses that are moved up to the first lattice point.
const IGNORED: f64 = 1e-11;
/// How far above delta the tilted scale may lie (its logarithm) without the transform's noise, some 1e-13 of that scale,
/// being noticed.
const LIFTED: f64 = 6.0;

/// One law of a composition, cut to the losses that matter, with its multiplicity.
pub(crate) struct Part<'a> {
    pub(crate) law: &'a Law,
    pub(crate) count: u64,
    pub(crate) first: f64,
    pub(crate) last: f64,
    /// The law, roughly: losses and the logarithms of their masses under `P`.
    rough: Vec<(f64, f64)>,
}

impl Part<'_> {
    /// The law between two laws on a lattice of the given step.
    pub(crate) fn bracket(&self, step: f64) -> Bracket {
        bracket(self.law, (self.first, self.last), step)
    }

    /// The law from below, its crowded cells merged, on a lattice of the given step (which is its own), or one so many times finer.
    pub(crate) fn merged(&self, step: f64, finer: f64) -> Lattice {
        match Bracket::exact_between(self.law, self.first, self.last) {
            Some(exact) if own_step(self.law) == Some(step) => exact.below(),
            _ => merged(self.law, self.first, self.last, step / finer),
        }
    }

    /// `ln E[e^(s * loss)]`, roughly.
    fn cumulant(&self, s: f64) -> f64 {
        let weights = || self.rough.iter().map(|(loss, ln_mass)| s * loss + ln_mass);
        let heaviest = largest(f64::NEG_INFINITY, weights());
        weights()
            .filter(|weight| *weight > heaviest - 40.0)
            .map(|weight| (weight - heaviest).exp())
            .sum::<f64>()
            .ln()
            + heaviest
    }
}

/// A law between two laws on a lattice of the given step, or itself where it has a lattice of its own.
pub(crate) fn bracket(law: &Law, (first, last): (f64, f64), step: f64) -> Bracket {
    match Bracket::exact_between(law, first, last) {
        Some(exact) if own_step(law) == Some(step) => exact,
        // Where the range has no lower end, a lattice point is put at 0.
        _ if law.range().0 < first => Bracket::of(law, (first / step).floor() * step, last, step),
        _ => Bracket::of(law, first, last, step),
    }
}

/// Cuts the tails of a law: above, what `count` copies may send to infinity within a `1e-10`th of the smallest delta;
/// below, what no delta can notice.
pub(crate) fn cut(law: &Law, count: u64, smallest_delta: f64) -> Result<Part<'_>> {
    let (low, high) = law.range();
    let n = count as f64;
    let last = if high.is_finite() && law.above(high - 1e-9 * high.abs()).p > 1e-40 {
        high
    } else {
        falling(low, high, |y| law.above(y).p * n <= 1e-10 * smallest_delta)?
    };
    // A lower end without an atom has next to no mass about it.
    let first = if low.is_finite() && law.at_most(low + 1e-9 * low.abs()).p * n > IGNORED {
        low
    } else {
        -falling(-last, -larger(low, -LARGEST_LOSS), |y| law.at_most(-y).p * n <= IGNORED)?
    };
    // Many releases magnify what is rough.
    let cells = smaller(ROUGH * n.powf(0.12), 8e3) as usize;
    Ok(Part { law, count, first, last, rough: rough(law, first, last, cells) })
}

/// Merges the outcomes of a law between landmarks: each cell's mass at the loss of the cell as a whole.
fn rough(law: &Law, first: f64, last: f64, cells: usize) -> Vec<(f64, f64)> {
    let tails: Vec<_> = law.landmarks(first, last, cells).into_iter().map(|y| (y, law.split(y))).collect();
    let [(_, (_, below)), .., (_, (above, _))] = tails[..] else { return Vec::new() };
    let mut atoms = vec![(first, below.p)];
    for pair in tails.windows(2) {
        let (p, q) = between(pair[0], pair[1]);
        atoms.push((within(pair[0].0 + (p / q).ln(), first, last), p));
    }
    // Beyond the last landmark lies a negligible tail, or an atom at the very end.
    atoms.push((last, above.p));
    atoms.retain(|(loss, mass)| loss.is_finite() && *mass > 0.0);
    atoms.iter().map(|(loss, mass)| (*loss, mass.ln())).collect()
}

/// The smallest loss between `low` and `high` at which `small` holds (roughly).
fn falling(low: f64, high: f64, small: impl Fn(f64) -> bool) -> Result<f64> {
    let mut a = if low.is_finite() { low } else { -LARGEST_LOSS };
    let mut b = if high.is_finite() { high } else { LARGEST_LOSS };
    if !small(b) {
        return Err(Error::Accuracy {
            computation: format!("a single release that can lose more than {LARGEST_LOSS} nats"),
            remedy: "add more noise (it protects nothing as it is)".into(),
        });
    }
    for _ in 0..100 {
        let middle = 0.5 * (a + b);
        if small(middle) { b = middle } else { a = middle }
    }
    Ok(b)
}

/// `ln E[e^(s * total loss)]` of the composition, roughly.
fn cumulant(parts: &[Part], s: f64) -> f64 {
    parts.iter().map(|part| part.count as f64 * part.cumulant(s)).sum()
}

/// The tilt at which Chernoff's bound foresees the smallest epsilon for `delta`, and that epsilon.
fn chernoff(parts: &[Part], delta: f64) -> (f64, f64) {
    let foreseen = |ln_c: f64| {
        let c = ln_c.exp();
        (cumulant(parts, c) - delta.ln() + ln_peak(c)) / c
    };
    // On a lattice of the law's own a tilt beyond its step only overflows.
    // And where losses are bounded a tilt could grow without end, to no avail.
    let widest = largest(1e-300, parts.iter().map(|part| part.last - part.first));
    let steepest = smallest(6e4 / widest, parts.iter().filter_map(|part| Some(2.0 / own_step(part.law)?)));
    let ln_tilt = descend(smaller(1.5, steepest.ln()), 0.5, -18.0, steepest.ln(), foreseen);
    let ln_tilt = minimum(ln_tilt - 0.5, smaller(ln_tilt + 0.5, steepest.ln()), 10, foreseen);
    (ln_tilt.exp(), foreseen(ln_tilt))
}

/// What a composition may be planned for at one delta: whatever does not depend on epsilon.
pub(crate) struct Plan {
    pub(crate) delta: f64,
    /// The epsilon that Chernoff's bound foresees.
    pub(crate) foreseen: f64,
    /// Tilts from the strongest on.
    tilts: Vec<Reach>,
    /// The extreme sums.
    lowest: f64,
    highest: f64,
}

/// The losses that matter under a tilt.
struct Reach {
    tilt: f64,
    cumulant: f64,
    /// Chernoff parameters upwards and downwards, and how far each reaches.
    up: (f64, f64),
    down: (f64, f64),
}

impl Plan {
    pub(crate) fn new(parts: &[Part], delta: f64) -> Self {
        let (strongest, foreseen) = chernoff(parts, delta);
        let sum = |end: fn(&Part) -> f64| parts.iter().map(|part| part.count as f64 * end(part)).sum();
        Self {
            delta,
            foreseen,
            tilts: (0..14).into_par_iter().map(|i| Reach::new(parts, strongest * 0.72_f64.powi(i))).collect(),
            lowest: sum(|part| part.first),
            highest: sum(|part| part.last),
        }
    }

    /// The window for the question `(epsilon, delta)`.
    ///
    /// A stronger tilt lifts the question higher above the rounding noise; but where rare large losses matter it makes them
    /// common, and the window (so the spacing) long. The score weighs one against the other.
    pub(crate) fn window(&self, epsilon: f64) -> Window {
        let candidates = self.tilts.iter().map(|reach| {
            let c = reach.tilt;
            let height = reach.cumulant - c * epsilon - self.delta.ln();
            let window = self.of(reach, epsilon);
            let score =
                2.0 * (window.high - window.low).ln() + 0.5 * larger(height - 1.5 * c.ln() - LIFTED, 0.0);
            (score, Window { tolerance: 5e-7 * (-larger(height, 0.0)).exp(), ..window })
        });
        // (A score that is not a number is none.)
        let best =
            candidates.filter(|(score, _)| !score.is_nan()).reduce(|a, b| if a.0 <= b.0 { a } else { b });
        best.map_or_else(|| self.of(&self.tilts[0], epsilon), |best| best.1)
    }

    /// The step of laws whose moments are summed point by point; nothing where those would be too many points.
    pub(crate) fn cell(&self, parts: &[Part], share: f64) -> Option<f64> {
        let steps: f64 = parts.iter().map(|part| part.count as f64).sum();
        let tilt = self.tilts[0].tilt;
        let step = (12.0 * share * self.foreseen / ((tilt + 1.0) * steps)).sqrt();
        let step = match parts {
            [part] => aligned(part.law, part.first, part.last, step),
            _ => step,
        };
        let points: f64 = parts.iter().map(|part| (part.last - part.first) / step).sum();
        (points <= MOST_CELLS && parts.iter().all(|part| own_step(part.law).is_none())).then_some(step)
    }

    fn of(&self, reach: &Reach, epsilon: f64) -> Window {
        let (high, low) = (larger(reach.up.1, epsilon), -reach.down.1);
        // The extreme sums bound the window too.
        Window {
            tilt: reach.tilt,
            tolerance: 1e-9,
            low: larger(low, self.lowest),
            high: smaller(high, self.highest),
            up: (high < self.highest).then_some(reach.up.0.exp()),
            down: (low > self.lowest).then_some(reach.down.0.exp()),
        }
    }
}

impl Reach {
    fn new(parts: &[Part], tilt: f64) -> Self {
        let centre = cumulant(parts, tilt);
        let nudge = 1e-2 * tilt;
        let curvature =
            (cumulant(parts, tilt + nudge) - 2.0 * centre + cumulant(parts, tilt - nudge)) / (nudge * nudge);
        // (A curvature that rounding has drowned says nothing.)
        let widest = largest(1e-300, parts.iter().map(|part| part.last - part.first));
        let scale =
            -0.5 * larger(if curvature.is_nan() { 0.0 } else { curvature }, 1e-12 * widest * widest).ln();
        let steepest = (500.0 / widest).ln();
        let best = |sign: f64| {
            let reach = |s: f64| (cumulant(parts, tilt + sign * s.exp()) - centre - LN_WRAPPED) / s.exp();
            let s = minimum(smaller(scale - 3.0, steepest - 1.0), smaller(scale + 4.0, steepest), 12, reach);
            (s, reach(s))
        };
        Self { tilt, cumulant: centre, up: best(1.0), down: best(-1.0) }
    }
}

/// How finely to discretise: what share of epsilon the discretisation may take, and at what cost.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fineness {
    /// Aim for the share of epsilon that the discretisation takes.
    pub(crate) share: f64,
    /// Largest step where epsilon is 1 or more (smaller epsilons get proportionally smaller steps).
    pub(crate) coarsest: f64,
    /// Largest number of lattice points.
    pub(crate) largest: f64,
}

/// Share of epsilon that the cells of a contour may take.
pub(crate) const FINEST: f64 = 5e-9;
/// Most of those cells.
const MOST_CELLS: f64 = 2e4;
/// For results.
pub(crate) const FINE: Fineness = Fineness { share: 4e-6, coarsest: 7e-5, largest: 1.4e6 };
/// For what an attacker can do, whose rates move by about as much as epsilon.
pub(crate) const RATES: Fineness = Fineness { share: 5e-7, coarsest: 7e-5, largest: 4e5 };
/// For setting a direction aside.
pub(crate) const MEDIUM: Fineness = Fineness { share: 1e-4, coarsest: 1e-2, largest: (1 << 18) as f64 };
/// For finding one's way.
pub(crate) const COARSE: Fineness = Fineness { share: 2e-3, coarsest: 1.0, largest: (1 << 16) as f64 };

/// The spacing of the lattice (given by the law itself where it has one).
pub(crate) fn spacing(parts: &[Part], window: &Window, epsilon: f64, fineness: Fineness) -> f64 {
    let steps: f64 = parts.iter().map(|part| part.count as f64).sum();
    // A step h adds about h²/6 to the variance of each loss, and so moves epsilon by (tilt + 1) steps h²/12.
    // Where epsilon is nothing beside the window, the window is what is to be resolved.
    let epsilon = larger(epsilon, 1e-3 * (window.high - window.low));
    let step = (12.0 * fineness.share * epsilon / ((window.tilt + 1.0) * steps)).sqrt();
    let widest = largest(window.high - window.low, parts.iter().map(|part| part.last - part.first));
    let step = larger(smaller(step, fineness.coarsest * smaller(epsilon, 1.0)), widest / fineness.largest);
    match parts {
        // Its own lattice may have more points than can be afforded: then so many of its steps at once.
        [Part { law: Law::Atoms(atoms), .. }] if widest > 2.0 * fineness.largest * atoms.step => {
            atoms.step * (step / atoms.step).ceil()
        }
        [part] => aligned(part.law, part.first, part.last, step),
        _ => step,
    }
}

/// A step of at most `step` that puts lattice points where a single law has atoms: at the ends and in the middle of a
/// bounded range, or everywhere.
pub(crate) fn aligned(law: &Law, first: f64, last: f64, step: f64) -> f64 {
    let (low, high) = law.range();
    match own_step(law) {
        Some(step) => step,
        None if low.is_finite() && high == last => {
            (last - first) / (2.0 * ((last - first) / (2.0 * step)).ceil())
        }
        None => step,
    }
}

/// The step of a law whose losses form a lattice.
fn own_step(law: &Law) -> Option<f64> {
    if let Law::Atoms(atoms) = law { Some(atoms.step) } else { None }
}

/// Walks downhill from `start` in steps of `step`, within `low` and `high`; returns the lowest point seen.
pub(crate) fn descend(start: f64, step: f64, low: f64, high: f64, f: impl Fn(f64) -> f64) -> f64 {
    let (mut here, mut value) = (start, f(start));
    for direction in [step, -step] {
        loop {
            let next = here + direction;
            let there = f(next);
            // Where nothing could be computed, anything is downhill.
            let downhill = there < value || (value.is_nan() && !there.is_nan());
            if !downhill || next < low || next > high {
                break;
            }
            (here, value) = (next, there);
        }
    }
    here
}

/// Golden-section search for the minimum of a unimodal function, good to about `0.62^rounds` of the range.
pub(crate) fn minimum(mut low: f64, mut high: f64, rounds: usize, f: impl Fn(f64) -> f64) -> f64 {
    let golden = 0.618_033_988_749_894_9;
    let (mut a, mut b) = (high - golden * (high - low), low + golden * (high - low));
    let (mut at_a, mut at_b) = (f(a), f(b));
    for _ in 0..rounds {
        if at_a <= at_b || at_b.is_nan() {
            (high, b, at_b) = (b, a, at_a);
            a = high - golden * (high - low);
            at_a = f(a);
        } else {
            (low, a, at_a) = (a, b, at_b);
            b = low + golden * (high - low);
            at_b = f(b);
        }
    }
    if at_a <= at_b { a } else { b }
}
