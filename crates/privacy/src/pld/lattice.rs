//! Discretising a loss law onto a lattice, from above and from below.
//!
//! Write `H(a) = sup_S P(S) - a Q(S)`, the hockey-stick curve, convex in `a = e^y`. A law on lattice points has a curve
//! that is piecewise linear between the `a_i = e^(y_i)`.
//!
//! * *From above* (connect the dots): the chords of `H` over the lattice lie above it, hence dominate.
//! * *From below*: the chords, lowered at every lattice point by the largest gap of the two cells that meet there, lie
//!   below it. The gap over a cell is largest if all of the cell's mass sits at its mean.
//!
//! Both are off by the square of the spacing. Proofs: `docs/theorems/connect-the-dots.md`.

use rayon::prelude::*;
use sottovoce_fault::stop;

use super::law::{Law, Masses};
use crate::interval::{larger, largest, smaller, within};
use crate::special::UNIT;

/// Fraction of a cell within which mass counts as sitting at the cell's right end.
const HAIR: f64 = 1e-9;

/// Twice the relative error allowed for a computed tail.
const ROUNDING: f64 = 64.0 * UNIT;

/// More than rounding takes from a sum of all masses.
const LACKING: f64 = 1e-9;

/// Masses under `P` at the losses `first + i * step`, and at infinity.
#[derive(Debug, Clone)]
pub(crate) struct Lattice {
    pub(crate) first: f64,
    pub(crate) step: f64,
    pub(crate) masses: Vec<f64>,
    pub(crate) infinity: f64,
    /// Mass under `Q` of the law that its lattice law from above has not: of losses cut off, and of those moved up to the first point.
    pub(crate) missing: f64,
    /// Rounding of the tails moves the curve by a small share of the tail `P[Y > y]`. Where the curve is at least half of
    /// that tail, this is a relative error of the curve ...
    pub(crate) rounding: f64,
    /// ... and elsewhere a slip of the threshold, to which the rounding of the thresholds themselves is added.
    pub(crate) slip: f64,
}

impl Lattice {
    /// `E[e^(c loss) - 1 - c (1 - e^-loss)]` over the finite losses, rounded up: the moment less one, for masses that have
    /// total 1 under both laws. Every term is positive, so that nothing cancels where losses are small; infinite where it
    /// overflows.
    pub(crate) fn excess(&self, c: f64) -> f64 {
        let terms = self.masses.iter().enumerate().filter(|(_, mass)| **mass != 0.0);
        // Cells of little mass in a large tail have their losses from small differences: rounding moves them further.
        let away = |loss: f64| loss + (64.0 * self.slip).copysign(loss);
        let sum: f64 = terms.map(|(i, mass)| mass * bulge(c, away(self.first + i as f64 * self.step))).sum();
        // Masses that lack some of their total under `Q` lack `c` times that in the sum.
        sum * (1.0 + self.masses.len() as f64 * UNIT + self.rounding + 1e-10)
            + c * self.missing * (1.0 + 1e-9)
    }

    /// `ln E[e^(c loss)]` over the finite losses, rounded up.
    pub(crate) fn ln_moment(&self, c: f64) -> f64 {
        let weights: Vec<f64> = (self.masses.iter().enumerate())
            .filter(|(_, mass)| **mass != 0.0)
            .map(|(i, mass)| mass.ln() + c * (self.first + i as f64 * self.step))
            .collect();
        let heaviest = largest(f64::NEG_INFINITY, weights.iter().copied());
        let sum: f64 = weights.iter().map(|weight| (weight - heaviest).exp()).sum();
        let rounding = self.masses.len() as f64 * UNIT + self.rounding + 4.0 * UNIT * heaviest.abs();
        sum.ln() + heaviest + c * self.slip + rounding
    }

    /// The total mass of the finite losses, their mean, and their variance.
    pub(crate) fn moments(&self) -> (f64, f64, f64) {
        let losses =
            || self.masses.iter().enumerate().map(|(i, mass)| (self.first + i as f64 * self.step, mass));
        let total: f64 = self.masses.iter().sum();
        let mean = losses().map(|(loss, mass)| mass * loss).sum::<f64>() / total;
        let variance = losses().map(|(loss, mass)| mass * (loss - mean).powi(2)).sum::<f64>() / total;
        (total, mean, variance)
    }

    /// Itself, if all of a probability is there. A law of which something was lost on the way says nothing: its masses are not numbers, and so is
    /// whatever is made of them.
    fn whole(mut self) -> Self {
        let total = self.masses.iter().sum::<f64>() + self.infinity;
        if total.is_nan() || total < 1.0 - LACKING {
            self.masses.fill(f64::NAN);
        }
        self
    }

    /// The largest finite loss.
    pub(crate) fn last(&self) -> f64 {
        self.first + (self.masses.len() - 1) as f64 * self.step
    }
}

/// `e^(c y) - 1 - c (1 - e^-y) >= 0`, to about eleven digits.
pub(crate) fn bulge(c: f64, y: f64) -> f64 {
    if (c + 1.0) * y.abs() < 1e-4 {
        let series = 1.0 + (c - 1.0) * y / 3.0 + (c * c - c + 1.0) * y * y / 12.0;
        return 0.5 * c * (c + 1.0) * y * y * series;
    }
    larger((c * y).exp_m1() + c * (-y).exp_m1(), 0.0)
}

/// A law squeezed between two laws on the same lattice.
pub(crate) enum Bracket {
    /// The law itself, whose losses already form a lattice, and the mass below its first point.
    Exact(Lattice, f64),
    /// A law cut into cells.
    Cut { first: f64, slip: f64, rounding: f64, cells: Cells },
}

impl Bracket {
    /// The law itself, where its losses already form a lattice.
    pub(crate) fn exact(law: &Law) -> Option<Self> {
        let Law::Atoms(atoms) = law else { return None };
        let lattice = Lattice {
            first: atoms.first,
            step: atoms.step,
            masses: atoms.masses.clone(),
            infinity: atoms.left_out,
            missing: atoms.left_out + atoms.vanished(),
            rounding: rounding(atoms.range()),
            slip: slip(atoms.range()),
        };
        Some(Self::Exact(lattice, 0.0))
    }

    /// The same with what lies beyond two losses set aside: from above it counts as fully revealing, or as the first point that is left; from below
    /// it is left out. However little it is, a strong tilt would make it count.
    pub(crate) fn exact_between(law: &Law, first: f64, last: f64) -> Option<Self> {
        let Self::Exact(mut lattice, _) = Self::exact(law)? else { return None };
        let index = |loss: f64| larger((loss - lattice.first) / lattice.step, 0.0);
        let keep = (index(last).floor() as usize + 1).min(lattice.masses.len()); // whole numbers
        let skip = (index(first).ceil() as usize).min(keep.saturating_sub(1)); // whole numbers
        let q = |mass: f64, i: usize| mass * (-(lattice.first + i as f64 * lattice.step)).exp();
        let lost = lattice.masses.iter().enumerate().filter(|(i, _)| !(skip..keep).contains(i));
        lattice.missing += lost.map(|(i, mass)| q(*mass, i)).sum::<f64>() * (1.0 + 1e-9);
        lattice.infinity += lattice.masses.drain(keep..).sum::<f64>() * (1.0 + 1e-9);
        let low = lattice.masses.drain(..skip).sum();
        lattice.first += skip as f64 * lattice.step;
        Some(Self::Exact(lattice, low))
    }

    /// Discretises `law` on the points `first + i * step` from `first` to `last`.
    pub(crate) fn of(law: &Law, first: f64, last: f64, step: f64) -> Self {
        let slip = slip((first, last)) + law.outcome_error(larger(first.abs(), last.abs()));
        let rounding = rounding((first, last)) + law.weight_error();
        Self::Cut { first, slip, rounding, cells: Cells::cut(law, first, last, step) }
    }

    /// A lattice law that loses at least as much.
    pub(crate) fn above(&self) -> Lattice {
        let lattice = match self {
            Self::Exact(lattice, low) => {
                let mut lattice = lattice.clone();
                lattice.masses[0] += low;
                lattice
            }
            Self::Cut { cells, .. } => self.lattice(cells, cells.connected(), cells.over),
        };
        lattice.whole()
    }

    /// A lattice law that loses at most as much. (Where losses leave the range of exponents: nothing.)
    pub(crate) fn below(&self) -> Lattice {
        match self {
            Self::Exact(lattice, _) => Lattice { infinity: 0.0, ..lattice.clone() },
            Self::Cut { cells, .. } if cells.point(cells.count()) > 1e260 => {
                self.lattice(cells, vec![0.0], 0.0)
            }
            Self::Cut { cells, .. } => self.lattice(cells, cells.lowered(), 0.0),
        }
    }

    fn lattice(&self, cells: &Cells, masses: Vec<f64>, infinity: f64) -> Lattice {
        let (first, slip, rounding) = match self {
            Self::Exact(lattice, _) => (lattice.first, lattice.slip, lattice.rounding),
            Self::Cut { first, slip, rounding, .. } => (*first, *slip, *rounding),
        };
        Lattice { first, step: cells.step, masses, infinity, missing: cells.missing, rounding, slip }
    }
}

/// Relative rounding of tails, of which those under `Q` are computed through an exponential of the loss.
fn rounding((low, high): (f64, f64)) -> f64 {
    // Up to eleven deviations of Gaussian noise; what is beyond is less than rounding itself.
    8.0 * ROUNDING * (1.0 + 1e-2 * larger(low.abs(), high.abs()))
}

/// How far rounding may move a threshold between `low` and `high`.
pub(super) fn slip((low, high): (f64, f64)) -> f64 {
    ROUNDING * (1.0 + larger(low.abs(), high.abs()))
}

/// Fewest slots that are worth another thread.
const WORTHWHILE: usize = 5000;

/// Fills a slice piece by piece, `f(start, piece)`, on as many threads as there are; what is filled in must not depend on
/// where the pieces begin.
pub(super) fn fill_in_parallel<T: Send>(slots: &mut [T], f: impl Fn(usize, &mut [T]) + Sync) {
    let share = slots.len().div_ceil(rayon::current_num_threads()).max(WORTHWHILE); // whole numbers
    let here = stop::here();
    slots.par_chunks_mut(share).enumerate().for_each(|(k, piece)| here.go_on(|| f(k * share, piece)));
}

/// What lies in the cell `(y_i, y_(i+1)]` between two lattice points.
#[derive(Debug, Clone, Copy)]
struct Cell {
    /// `a_i = e^(y_i)`, the left end.
    point: f64,
    p: f64,
    /// Times `point`.
    q: f64,
    /// What the right end must carry (under `P`) for both ends together to have the cell's `P` and `Q`.
    right: f64,
}

/// The masses of a law in the cells between lattice points, below the first and above the last.
pub(crate) struct Cells {
    /// The cells, and an empty one that begins at the last lattice point.
    cells: Vec<Cell>,
    /// Mass below the first point and above the last (under `P`), and the latter under `Q`.
    under: f64,
    over: f64,
    over_q: f64,
    missing: f64,
    step: f64,
    /// `Q[Y = y_0]` where nothing lies below the first point, else 0.
    atom_at_first: f64,
    /// `Q[Y >= y_n]`, or a hair more: minus the slope of `H` just left of the last point, an atom there included.
    slope_at_last: f64,
    /// How far below the last point that is looked at.
    hair: f64,
}

/// Masses between two thresholds: under `P`, and under `Q` times `e^` the lower threshold. Each from the tail that is the
/// smaller one: differences then keep their accuracy relative to that tail.
pub(super) fn between((at, here): (f64, Split), (to, next): (f64, Split)) -> (f64, f64) {
    between_at(at.exp(), (at, here), (to, next))
}

/// The same where `e^` the lower threshold is known.
fn between_at(
    point: f64,
    (at, (up, down)): (f64, Split),
    (to, (next_up, next_down)): (f64, Split),
) -> (f64, f64) {
    let p = if up.p < 0.5 { up.p - next_up.p } else { next_down.p - down.p };
    let shrink = (at - to).exp();
    let q = if up.q < 0.5 * point { up.q - next_up.q * shrink } else { next_down.q * shrink - down.q };
    // A cell that is empty under one law is so under the other; what a difference leaves there is rounding.
    if p > 0.0 { (p, larger(q, 0.0)) } else { (larger(p, 0.0), 0.0) }
}

/// What lies above a threshold, and what does not.
type Split = (Masses, Masses);

impl Cells {
    fn cut(law: &Law, first: f64, last: f64, step: f64) -> Self {
        let count = larger(((last - first) / step - 1e-9).ceil(), 1.0) as usize;
        let top = law.range().1;
        let threshold = |i: usize| {
            let y = first + i as f64 * step;
            // An atom at the top of the range belongs to the last point, whatever the rounding of either.
            if (y - top).abs() <= HAIR * step { top + slip((first, last)) / 2.0 } else { y }
        };
        let empty = Cell { point: threshold(count).exp(), p: 0.0, q: 0.0, right: 0.0 };
        let mut cells = vec![empty; count + 1];
        let whole = -(-step).exp_m1();
        fill_in_parallel(&mut cells[..count], |start, piece| {
            let (mut at, mut here) = (threshold(start), law.split(threshold(start)));
            for (i, cell) in (start..).zip(piece) {
                let (to, next) = (threshold(i + 1), law.split(threshold(i + 1)));
                let point = at.exp();
                let (p, q) = between_at(point, (at, here), (to, next));
                *cell = Cell { point, p, q, right: within((p - q) / whole, 0.0, p) };
                (at, here) = (to, next);
            }
        });
        let plain = |q: f64, y: f64| if q == 0.0 { 0.0 } else { q * (-y).exp() };
        let under = law.at_most(threshold(0));
        let over = law.above(threshold(count));
        let atom_at_first = if first <= law.range().0 { plain(under.q, threshold(0)) } else { 0.0 };
        // Moved up to the first point, mass under `P` has less under `Q`. (All of it, where that is beyond doubles.)
        let moved = plain(larger(under.q - under.p, 0.0), threshold(0));
        let moved = if moved <= 1.0 { moved } else { 1.0 };
        let missing = moved + plain(over.q, threshold(count)) + law.left_out();
        // At least as far below as the threshold of an atom at the top lies above it.
        let hair = larger(HAIR * step, slip((first, last)));
        let below_last = threshold(count) - hair;
        let slope_at_last = plain(law.above(below_last).q, below_last);
        Self {
            cells,
            under: under.p,
            over: over.p + law.left_out(),
            over_q: plain(over.q, threshold(count)),
            missing,
            step,
            atom_at_first,
            slope_at_last,
            hair,
        }
    }

    /// How many cells there are.
    fn count(&self) -> usize {
        self.cells.len() - 1
    }

    fn point(&self, i: usize) -> f64 {
        self.cells[i].point
    }

    fn width(&self, i: usize) -> f64 {
        self.point(i + 1) - self.point(i)
    }

    /// Connect the dots.
    fn connected(&self) -> Vec<f64> {
        let mut masses = vec![0.0; self.cells.len()];
        masses[0] = self.under;
        for (i, cell) in self.cells[..self.count()].iter().enumerate() {
            masses[i] += cell.p - cell.right;
            masses[i + 1] += cell.right;
        }
        masses
    }

    /// The lowered chords, as masses under `P`: slopes of `H`'s chords, minus those of the drops, made convex.
    fn lowered(&self) -> Vec<f64> {
        let (chords, all) = self.chord_slopes();
        let drops = self.drops(&chords);
        let count = drops.len() - 1;
        if count == 0 {
            return vec![0.0];
        }
        let cells =
            || (0..count).map(|i| (chords[i] - (drops[i] - drops[i + 1]) / self.width(i), self.width(i)));
        let mut slopes = convex(cells());
        let curve_at_first: f64 = slopes.iter().enumerate().map(|(i, slope)| slope * self.width(i)).sum();
        // Left of the first point the curve may rise to 1 at `a = 0`: that line lies below `1 - a`, and so below `H`, if
        // the curve at the first point does. Else it must follow the tangent of `H` there.
        let rise = (1.0 - 1e-13 - curve_at_first) / self.point(0);
        if rise >= slopes[0] && curve_at_first <= 1.0 - 1e-13 - self.point(0) {
            slopes.insert(0, rise);
        } else {
            slopes = convex(std::iter::once((all + self.atom_at_first, self.point(0))).chain(cells()));
        }
        slopes.push(0.0);
        // Differences at the level of rounding are dropped: a law without them is lower still.
        let mass =
            |pair: &[f64]| if pair[0] - pair[1] > ROUNDING * pair[0] { pair[0] - pair[1] } else { 0.0 };
        slopes.windows(2).zip(&self.cells).map(|(pair, cell)| cell.point * mass(pair)).collect()
    }

    /// Minus the slope of `H`'s chord over each cell: the mass under `Q` beyond it, and the part its right end carries;
    /// with all the mass beyond the first point.
    fn chord_slopes(&self) -> (Vec<f64>, f64) {
        let mut beyond = self.over_q;
        let mut slopes = vec![0.0; self.count()];
        for i in (0..self.count()).rev() {
            slopes[i] = beyond + self.cells[i].right / self.point(i + 1);
            beyond += self.cells[i].q / self.point(i);
        }
        (slopes, beyond)
    }

    /// How far the chord is lowered at every lattice point, up to the last point where anything remains of the curve.
    /// That last point is lowered to 0, and its neighbour to the tangent of `H` there.
    fn drops(&self, chords: &[f64]) -> Vec<f64> {
        let count = self.count();
        let mut curve = vec![larger(self.over - self.point(count) * self.over_q, 0.0); count + 1];
        for i in (0..count).rev() {
            curve[i] = curve[i + 1] + chords[i] * self.width(i);
        }
        let gaps: Vec<f64> = (0..count).map(|i| self.gap(i)).collect();
        let mut drops: Vec<f64> = (0..=count)
            .map(|i| {
                let left = if i == 0 { 0.0 } else { gaps[i - 1] };
                let right = if i == count { 0.0 } else { gaps[i] };
                larger(left, right)
            })
            .collect();
        // What remains of the curve at the last point is taken off everywhere (so that no slope grows by it), and no
        // point may fall below 0 by that: `room` is the least that is left at any earlier point.
        let mut room = vec![f64::INFINITY; count + 1];
        for i in 0..count {
            room[i + 1] = smaller(room[i], curve[i] - drops[i]);
        }
        let mut last = count;
        while last > 1 {
            let tangent = if last == count { self.slope_at_last } else { chords[last] };
            let hair = self.hair * tangent * self.point(last);
            let to_tangent = (chords[last - 1] - tangent) * self.width(last - 1) + 2.0 * hair;
            let neighbour = larger(drops[last - 1], to_tangent);
            if neighbour + curve[last] <= curve[last - 1] && room[last] >= curve[last] {
                drops[last - 1] = neighbour;
                break;
            }
            last -= 1;
        }
        if last <= 1 {
            return vec![0.0];
        }
        drops.truncate(last + 1);
        drops[last] = 0.0;
        drops.iter_mut().for_each(|drop| *drop += curve[last]);
        drops
    }

    /// The largest distance between `H` and its chord over a cell: as if all its mass sat at its mean.
    fn gap(&self, i: usize) -> f64 {
        let cell = self.cells[i];
        if cell.q <= 0.0 {
            return 0.0;
        }
        let q = cell.q / cell.point;
        let left = larger(cell.p - cell.q, 0.0);
        let right = larger(self.point(i + 1) * q - cell.p, 0.0);
        (1.0 + 1e-9) * left * right / (q * self.width(i))
    }
}

/// The slopes of the greatest convex curve below one that falls with the given `(slope, width)` pieces (pooling
/// neighbours until the slopes diminish).
fn convex(pieces: impl Iterator<Item = (f64, f64)>) -> Vec<f64> {
    let mut pools: Vec<(f64, f64, usize)> = Vec::new();
    for (slope, width) in pieces {
        let mut pool = (slope, width, 1);
        while let Some(&(left, width, members)) = pools.last() {
            if left >= pool.0 {
                break;
            }
            pools.pop();
            let total = width + pool.1;
            pool = ((left * width + pool.0 * pool.1) / total, total, members + pool.2);
        }
        pools.push(pool);
    }
    pools.iter().flat_map(|&(slope, _, members)| std::iter::repeat_n(slope, members)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mechanism::{Adjacency, Mechanism};
    use crate::pld::pairs::laws_of;
    use crate::{Event, Mixture};

    /// The hockey-stick value of lattice masses at threshold `y`.
    fn curve(lattice: &Lattice, y: f64) -> f64 {
        let inside = lattice.masses.iter().enumerate().map(|(i, mass)| {
            let loss = lattice.first + i as f64 * lattice.step;
            if loss > y { mass * -(y - loss).exp_m1() } else { 0.0 }
        });
        lattice.infinity + inside.sum::<f64>()
    }

    fn check(event: impl Into<Event>, adjacency: Adjacency) {
        for law in laws_of(&event.into(), adjacency).unwrap() {
            for step in [0.11, 0.02, 0.004] {
                let (low, high) = law.range();
                let (low, high) = (larger(low, -9.0), smaller(high, 9.0));
                // Atoms lie at the ends of a bounded range (and at 0): put lattice points there.
                let step = (high - low) / (2.0 * ((high - low) / (2.0 * step)).round());
                let bracket = Bracket::of(&law, low, high, step);
                let (above, below) = (bracket.above(), bracket.below());
                for i in -400..400 {
                    let y = f64::from(i) * 0.0237;
                    let tails = law.above(y);
                    let truth = tails.p - tails.q;
                    let (over, under) = (curve(&above, y), curve(&below, y));
                    assert!(over >= truth - 1e-14, "{law:?} step {step} at {y}: {over} < {truth}");
                    assert!(under <= truth + 1e-14, "{law:?} step {step} at {y}: {under} > {truth}");
                    let slack = 8.0 * step * step + above.infinity;
                    assert!(over - under <= slack, "{law:?} step {step} at {y}: {under} {over}");
                }
            }
        }
    }

    /// Atoms anywhere: nothing closes quadratically, but above is above and below is below.
    #[test]
    fn atoms_off_the_lattice_are_bracketed_too() {
        for scale in 1..30 {
            let noise =
                Mechanism::discrete_laplace(0.1 * f64::from(scale) + 0.2, 1 + scale as u32 % 4).unwrap();
            let bell = Mechanism::discrete_gaussian(0.15 * f64::from(scale), 1 + scale as u32 % 3).unwrap();
            for mechanism in [noise.poisson(0.3).unwrap(), bell.poisson(0.07).unwrap(), bell] {
                for law in laws_of(&mechanism.into(), Adjacency::AddRemove).unwrap() {
                    let (low, high) = law.range();
                    for step in [0.5, 0.1, 0.03] {
                        let bracket = Bracket::of(&law, larger(low, -9.0), smaller(high, 9.0), step);
                        let (above, below) = (bracket.above(), bracket.below());
                        for i in -90..90 {
                            let y = f64::from(i) * 0.1037;
                            let tails = law.above(y);
                            let truth = tails.p - tails.q;
                            assert!(curve(&above, y) >= truth - 1e-13, "{mechanism} step {step} at {y}");
                            assert!(curve(&below, y) <= truth + 1e-13, "{mechanism} step {step} at {y}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn the_bracket_contains_the_curve_and_closes_quadratically() {
        for adjacency in [Adjacency::AddRemove, Adjacency::Replace] {
            check(Mechanism::gaussian(1.0).unwrap(), adjacency);
            check(Mechanism::gaussian(0.8).unwrap().poisson(0.1).unwrap(), adjacency);
            check(Mechanism::laplace(1.3).unwrap(), adjacency);
            check(Mechanism::laplace(0.6).unwrap().poisson(0.3).unwrap(), adjacency);
        }
        check(Mechanism::gaussian(1.0).unwrap().fixed_batch(1, 7).unwrap(), Adjacency::Replace);
        check(Mechanism::laplace(1.0).unwrap().fixed_batch(1, 3).unwrap(), Adjacency::Replace);
        check(Mechanism::randomized_response(0.4, 5).unwrap(), Adjacency::Replace);
        check(Mechanism::exponential(1.5).unwrap(), Adjacency::Replace);
        check(Mixture::new(0.9, &[0.0, 1.0, 2.0], &[0.5, 0.4, 0.1]).unwrap(), Adjacency::AddRemove);
        check(Mixture::new(1.0, &[0.5, 1.0], &[0.3, 0.7]).unwrap(), Adjacency::ZeroOut);
        for adjacency in [Adjacency::AddRemove, Adjacency::ZeroOut, Adjacency::Replace] {
            check(Mechanism::gaussian(1.2).unwrap().truncated_poisson(0.3, 20, 6).unwrap(), adjacency);
        }
    }
}
