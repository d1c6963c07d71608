//! Privacy-loss distributions: certified intervals for epsilon and delta of any composition of known mechanisms.
//!
//! ```text
//! mechanism ──► law(s): tails of the loss ──► lattice brackets ──► tilted FFT ──► [lower, upper]
//!               one per direction              (above, below)      (compose)
//! ```
//!
//! Adding and removing a record are kept apart to the end: each direction is composed on its own, and the larger
//! result counts.

mod atoms;
mod bells;
mod compose;
mod dominating;
mod either;
mod lattice;
mod law;
mod merged;
mod pairs;
mod plan;
mod range;
mod shifts;
mod single;
mod spectrum;

use std::cell::OnceCell;

use rayon::prelude::*;
use sottovoce_fault::stop;

use crate::event::Event;
use crate::interval::{Reason, larger, largest, smaller, smallest, within};
use crate::mechanism::Adjacency;
use crate::special::{Interval, crossing};
use crate::{Result, contour};
pub(crate) use compose::ln_peak;
use compose::{Composed, compose};
pub(crate) use dominating::{Dominating, dominating};
use lattice::Bracket;
pub(crate) use lattice::{Lattice, bulge};
use law::Law;
pub(crate) use law::mixed_loss;
use pairs::laws_of;
use plan::{Fineness, Part, Plan};
pub(crate) use plan::{descend, minimum};
pub(crate) use single::{single_delta, single_epsilon};
pub(crate) use spectrum::pairwise;

/// The laws of a composition in one direction, each with its multiplicity.
pub(crate) type Laws = Vec<(Law, u64)>;

/// Certified epsilons of one direction at each delta (all in `(0, 1)`), by lattice and transform; `known` are those of the other
/// directions, and what is certain to lie below them need not be resolved.
pub(crate) fn epsilons(laws: &Laws, deltas: &[f64], known: &[Interval]) -> Result<Vec<Interval>> {
    let direction = Direction::new(laws, deltas)?;
    let plan = Plan::new(&direction.parts, middle(deltas));
    let quick = |fineness: Fineness| {
        let quick = direction.quick(&plan, fineness);
        deltas.iter().map(|&delta| direction.upper(&quick, delta)).collect::<Vec<f64>>()
    };
    if known.iter().all(|known| known.lower > 0.0) {
        for fineness in [plan::COARSE, plan::MEDIUM] {
            let uppers = quick(fineness);
            if uppers.iter().zip(known).all(|(upper, known)| *upper <= known.lower) {
                return uppers.into_iter().map(|upper| Interval::new(0.0, upper)).collect();
            }
        }
    }
    match direction.by_contour(deltas, &plan) {
        Some(all) if all.iter().all(|interval| interval.width() <= SHARP * interval.upper) => Ok(all),
        _ => direction.epsilons(deltas, &plan),
    }
}

/// The certified delta of one direction at `epsilon`.
pub(crate) fn delta(laws: &Laws, epsilon: f64) -> Result<Interval> {
    let mut guess: f64 = 1e-6;
    // Each rough composition is planned for the delta that the last one found, and the fine one for that of the last.
    for _ in 0..5 {
        let direction = Direction::new(laws, &[guess])?;
        if epsilon >= direction.largest {
            return Ok(Interval::ZERO);
        }
        let quick = direction.quick(&Plan::new(&direction.parts, guess), plan::COARSE);
        let next = larger(smaller(quick.upper(epsilon), 0.5), 1e-300);
        let settled = (next / guess).ln().abs() < 1.0;
        guess = next;
        if settled {
            break;
        }
    }
    let direction = Direction::new(laws, &[guess])?;
    let squeezed = direction.squeeze(&Plan::new(&direction.parts, guess));
    let upper = squeezed.above.upper(larger(epsilon - squeezed.above.slip, 0.0));
    let of = |below: &Composed| Interval::of_rounded(below.lower(epsilon + below.slip), upper);
    let first = of(&squeezed.below)?;
    if first.is_within(MERGE) { Ok(first) } else { first.meet(of(direction.merged(&squeezed))?) }
}

/// One direction from above, for contours at deltas about this; nothing where a law has too many points for that.
pub(crate) fn from_above(laws: &Laws, delta: f64) -> Option<contour::Direction> {
    let direction = Direction::new(laws, &[delta]).ok()?;
    let step = Plan::new(&direction.parts, delta).cell(&direction.parts, plan::RATES.share)?;
    let lattices = direction.parts.iter().map(|part| (part.bracket(step).above(), part.count)).collect();
    contour::Direction::of_lattices(lattices, direction.largest)
}

/// The directions of a composition, that with the largest loss (roughly) first: those that are certain to lie below another need not be resolved.
pub(crate) fn from_the_worst(ways: &[Laws], deltas: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..ways.len()).collect();
    if ways.len() > 2 {
        let delta = middle(deltas);
        let rough = |laws: &Laws| {
            let direction = Direction::new(laws, &[delta]).ok()?;
            Some(direction.upper(&direction.quick(&Plan::new(&direction.parts, delta), plan::COARSE), delta))
        };
        let context = stop::here();
        let losses: Vec<f64> =
            ways.par_iter().map(|laws| context.go_on(|| rough(laws)).unwrap_or(f64::INFINITY)).collect();
        order.sort_by(|&a, &b| losses[b].total_cmp(&losses[a]));
    }
    order
}

/// A composition, asked for its deltas from above: the largest of its directions, of which those are sharp that matter.
pub(crate) struct Curve {
    ways: Vec<Way>,
}

/// A direction of it, composed for each of [`TESTS`].
struct Way {
    laws: Laws,
    largest: f64,
    /// Where the losses of each law that matter begin and end.
    ends: Vec<(f64, f64)>,
    composed: [Tested; 2],
}

/// A direction composed for one delta: roughly, and once it is asked for, sharply.
struct Tested {
    rough: Composed,
    window: compose::Window,
    step: f64,
    sharp: OnceCell<Composed>,
}

impl Curve {
    pub(crate) fn new(ways: Vec<Laws>) -> Result<Self> {
        let context = stop::here();
        let way = |laws: Laws| {
            let direction = Direction::new(&laws, &TESTS)?;
            let composed = TESTS.map(|test| {
                let (rough, window, step) = direction.scout(&Plan::new(&direction.parts, test), plan::RATES);
                Tested { rough, window, step, sharp: OnceCell::new() }
            });
            let ends = direction.parts.iter().map(|part| (part.first, part.last)).collect();
            Ok(Way { largest: direction.largest, ends, composed, laws })
        };
        Ok(Self {
            ways: ways.into_par_iter().map(|laws| context.go_on(|| way(laws))).collect::<Result<_>>()?,
        })
    }

    pub(crate) fn delta(&self, epsilon: f64) -> f64 {
        let mut roughly: Vec<(f64, &Way)> = self.ways.iter().map(|way| (way.rough(epsilon), way)).collect();
        roughly.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut delta = 0.0;
        for (rough, way) in roughly {
            if rough > delta {
                delta = larger(delta, smaller(rough, way.at(way.sharp(rough), epsilon)));
            }
        }
        delta
    }
}

impl Way {
    fn rough(&self, epsilon: f64) -> f64 {
        smallest(1.0, self.composed.iter().map(|test| self.at(&test.rough, epsilon)))
    }

    /// Sharply composed for a delta of about this.
    fn sharp(&self, delta: f64) -> &Composed {
        let Tested { window, step, sharp, .. } = &self.composed[usize::from(delta < 1e-2)];
        sharp.get_or_init(|| {
            let lattice = |((law, count), &ends): (&(Law, u64), &(f64, f64))| {
                (plan::bracket(law, ends, *step).above(), *count)
            };
            compose(&self.laws.iter().zip(&self.ends).map(lattice).collect::<Vec<_>>(), window)
        })
    }

    /// What is not a number is no bound.
    fn at(&self, composed: &Composed, epsilon: f64) -> f64 {
        if epsilon >= self.largest {
            return 0.0;
        }
        let delta = composed.upper(larger(epsilon - composed.slip, 0.0));
        if delta < 1.0 { delta } else { 1.0 }
    }
}

/// Whether the release can be accounted for under this adjacency.
pub(crate) fn check(event: &Event, adjacency: Adjacency) -> Result<()> {
    laws_of(event, adjacency).map(drop)
}

/// The largest possible loss of a release, where there is one (rounded up).
pub(crate) fn largest_loss(event: &Event, adjacency: Adjacency) -> Result<Option<f64>> {
    let each: Option<Vec<f64>> = laws_of(event, adjacency)?.iter().map(Law::bounded).collect();
    Ok(each.map(|losses| largest(0.0, losses) * (1.0 + 1e-13)))
}

/// The laws of all events, one list for each direction that differs.
pub(crate) fn directions(events: &[(Event, u64)], adjacency: Adjacency) -> Result<Vec<Laws>> {
    let mut each = Vec::new();
    for (event, count) in events {
        each.push((laws_of(event, adjacency)?, *count));
    }
    let ways = each.iter().map(|(laws, _)| laws.len()).max().unwrap_or(0); // whole numbers
    let law = |laws: &[Law], way: usize| laws[way.min(laws.len() - 1)].clone(); // whole numbers
    Ok((0..ways).map(|way| each.iter().map(|(laws, count)| (law(laws, way), *count)).collect()).collect())
}

/// One direction of a composition.
struct Direction<'a> {
    parts: Vec<Part<'a>>,
    largest: f64,
}

/// A finely composed direction, from above and from below.
struct Squeezed {
    above: Composed,
    below: Composed,
    window: compose::Window,
    step: f64,
    /// From below with crowded cells merged, once that was asked for.
    merged: OnceCell<Composed>,
}

const TOLERANCE: f64 = 1e-12;
/// Share of delta that the error of a transform may take before it is repeated under another tilt.
const SHARE: f64 = 1e-4;
/// Most lattice points of that.
const FINEST: f64 = 2.6e6;
/// Deltas for which compositions are planned that are asked about a test's errors.
const TESTS: [f64; 2] = [0.1, 1e-3];
/// No wider than this share of epsilon, an interval need not be improved.
const SHARP: f64 = 2e-6;
/// Wider than this, even a bound by mean and variance may help.
const POOR: f64 = 1e-2;
/// Wider than this share of epsilon, the other law from below is worth its time.
const MERGE: f64 = 1e-3;

impl<'a> Direction<'a> {
    fn new(laws: &'a Laws, deltas: &[f64]) -> Result<Self> {
        let smallest = smallest(1.0, deltas.iter().copied());
        let parts =
            laws.iter().map(|(law, count)| plan::cut(law, *count, smallest)).collect::<Result<Vec<_>>>()?;
        // Rounded up: it caps epsilon.
        let each = laws.iter().map(|(law, count)| law.bounded().unwrap_or(f64::INFINITY) * *count as f64);
        Ok(Self { parts, largest: larger(each.sum::<f64>() * (1.0 + 1e-12), 0.0) })
    }

    /// A composition from above that is quick rather than sharp.
    fn quick(&self, plan: &Plan, fineness: Fineness) -> Composed {
        let window = plan.window(plan.foreseen);
        let step = plan::spacing(&self.parts, &window, plan.foreseen, fineness);
        let lattices: Vec<_> =
            self.parts.iter().map(|part| (part.bracket(step).above(), part.count)).collect();
        compose(&lattices, &window)
    }

    /// By contour, of laws on a lattice much finer than a transform of their sum could be; nothing where they are too few for that, or too far apart.
    fn by_contour(&self, deltas: &[f64], plan: &Plan) -> Option<Vec<Interval>> {
        let step = plan.cell(&self.parts, plan::FINEST)?;
        let brackets: Vec<_> = self.parts.iter().map(|part| (part.bracket(step), part.count)).collect();
        let side = |lattice: fn(&Bracket) -> Lattice| {
            let laws = brackets.iter().map(|(bracket, count)| (lattice(bracket), *count)).collect();
            let direction = contour::Direction::of_lattices(laws, self.largest)?;
            direction.epsilons(deltas).into_iter().collect::<Option<Vec<_>>>()
        };
        let here = stop::here();
        let (above, below) =
            rayon::join(|| here.go_on(|| side(Bracket::above)), || here.go_on(|| side(Bracket::below)));
        let each = above?.into_iter().zip(below?);
        each.map(|(above, below)| Interval::of_rounded(below.lower, smaller(above.upper, self.largest)).ok())
            .collect()
    }

    /// One composition serves all deltas if it can; those it cannot serve get their own.
    fn epsilons(&self, deltas: &[f64], plan: &Plan) -> Result<Vec<Interval>> {
        let shared = self.squeeze(plan);
        deltas
            .iter()
            .map(|&delta| {
                let upper = self.upper(&shared.above, delta);
                let alone = shared.above.share(upper, delta) > SHARE && deltas.len() > 1;
                if alone {
                    self.interval(&self.squeeze(&Plan::new(&self.parts, delta)), delta)
                } else {
                    self.interval(&shared, delta)
                }
            })
            .collect()
    }

    /// A rough composition, and the window and the step of a sharp one.
    fn scout(&self, plan: &Plan, fineness: Fineness) -> (Composed, compose::Window, f64) {
        let quick = self.quick(plan, plan::COARSE);
        let epsilon = smaller(self.upper(&quick, plan.delta), plan.foreseen);
        let window = plan.window(epsilon);
        (quick, window, plan::spacing(&self.parts, &window, epsilon, fineness))
    }

    fn squeeze(&self, plan: &Plan) -> Squeezed {
        let (_, window, step) = self.scout(plan, plan::FINE);
        let brackets: Vec<_> = self.parts.iter().map(|part| (part.bracket(step), part.count)).collect();
        let above = || brackets.iter().map(|(bracket, count)| (bracket.above(), *count)).collect::<Vec<_>>();
        let below = || brackets.iter().map(|(bracket, count)| (bracket.below(), *count)).collect::<Vec<_>>();
        let here = stop::here();
        let (above, below) = rayon::join(
            || here.go_on(|| compose(&above(), &window)),
            || here.go_on(|| compose(&below(), &window)),
        );
        Squeezed { above, below, window, step, merged: OnceCell::new() }
    }

    /// The same composition from below, with crowded cells merged.
    fn merged<'s>(&self, squeezed: &'s Squeezed) -> &'s Composed {
        squeezed.merged.get_or_init(|| self.merge(squeezed))
    }

    fn merge(&self, squeezed: &Squeezed) -> Composed {
        // Its error falls with the square of the step: as fine as can be afforded, in whole parts of the step.
        let window = &squeezed.window;
        let widest = largest(window.high - window.low, self.parts.iter().map(|part| part.last - part.first));
        let finer = within((FINEST * squeezed.step / widest).floor(), 1.0, 4.0);
        let lattice = |part: &Part| part.merged(squeezed.step, finer);
        let lattices: Vec<_> = self.parts.iter().map(|part| (lattice(part), part.count)).collect();
        compose(&lattices, window)
    }

    fn interval(&self, squeezed: &Squeezed, delta: f64) -> Result<Interval> {
        let upper = self.upper(&squeezed.above, delta);
        if upper == f64::INFINITY {
            return Interval::at_least(self.by_mean(delta), Reason::Uneven);
        }
        let first = Interval::of_rounded(self.lower(&squeezed.below, delta, upper), upper)?;
        if first.is_within(MERGE) {
            return Ok(first);
        }
        let second =
            first.meet(Interval::of_rounded(self.lower(self.merged(squeezed), delta, upper), upper)?)?;
        if second.is_within(POOR) {
            return Ok(second);
        }
        second.meet(Interval::of_rounded(self.by_mean(delta), upper)?)
    }

    /// A lower bound on epsilon from mean and variance alone, for compositions beyond any lattice: by Cantelli's inequality the
    /// total exceeds its mean less `k` standard deviations with probability `k²/(1+k²)`, and `ln 2` below that half of it is
    /// delta (`docs/theorems/connect-the-dots.md`).
    fn by_mean(&self, delta: f64) -> f64 {
        let (mut mean, mut variance, mut ln_kept) = (0.0, 0.0, 0.0);
        for part in &self.parts {
            let lattice = merged::merged(part.law, part.first, part.last, (part.last - part.first) / 2e5);
            let (total, first, second) = lattice.moments();
            let n = part.count as f64;
            mean += n * (first - lattice.slip - 1e-11 * first.abs());
            variance += n * second * (1.0 + 1e-9);
            ln_kept += n * smaller(total.ln() - lattice.rounding, 0.0);
        }
        let needed = 2.001 * delta * (-ln_kept).exp();
        let spreads = (needed / (1.0 - needed)).sqrt();
        let bound = mean - spreads * variance.sqrt() - std::f64::consts::LN_2;
        if needed < 1.0 && bound > 0.0 { bound } else { 0.0 }
    }

    fn lower(&self, below: &Composed, delta: f64, upper: f64) -> f64 {
        // Step back from the upper bound until the lower curve is above delta; between the two it crosses.
        let back = (0..45).rev().map(|halvings| upper * (1.0 - (-f64::from(halvings)).exp2()));
        let lower = back.into_iter().find(|&epsilon| below.lower(epsilon) > delta).map_or(0.0, |start| {
            crossing((start, upper), delta, TOLERANCE, |epsilon| below.lower(epsilon)).0 - below.slip
        });
        larger(lower, 0.0)
    }

    fn upper(&self, composed: &Composed, delta: f64) -> f64 {
        if composed.upper(0.0) <= delta {
            return 0.0;
        }
        if composed.upper(composed.top()) > delta {
            return self.largest;
        }
        let (_, upper) = crossing((0.0, composed.top()), delta, TOLERANCE, |epsilon| composed.upper(epsilon));
        smaller(upper + composed.slip, self.largest)
    }
}

/// The delta in the middle of those asked for.
pub(crate) fn middle(deltas: &[f64]) -> f64 {
    (deltas.iter().map(|delta| delta.ln()).sum::<f64>() / deltas.len() as f64).exp()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interval::larger;
    use crate::{Gdp, Mechanism, contour};

    fn events(all: &[(Mechanism, u64)]) -> Vec<(Event, u64)> {
        all.iter().map(|(mechanism, count)| ((*mechanism).into(), *count)).collect()
    }

    /// The larger of all directions.
    fn all_epsilons(all: &[(Mechanism, u64)], adjacency: Adjacency, deltas: &[f64]) -> Vec<Interval> {
        directions(&events(all), adjacency).unwrap().iter().fold(
            vec![Interval::ZERO; deltas.len()],
            |known, laws| {
                let these = epsilons(laws, deltas, &known).unwrap();
                known.into_iter().zip(these).map(|(a, b)| a.larger(b)).collect()
            },
        )
    }

    fn gaussian(sigma: f64) -> Mechanism {
        Mechanism::gaussian(sigma).unwrap()
    }

    /// The general method must contain the closed form, down to where plain transforms have long drowned.
    #[test]
    fn the_lattice_contains_gaussian_dp_down_to_1e_14() {
        for (sigma, count) in [(5.0, 100), (20.0, 1000), (1.0, 2), (0.7, 7)] {
            let exact = Gdp::of_noise(sigma).unwrap().times(count);
            let deltas = [1e-2, 1e-5, 1e-9, 1e-12, 1e-14];
            let intervals = all_epsilons(&[(gaussian(sigma), count)], Adjacency::AddRemove, &deltas);
            for (interval, delta) in intervals.iter().zip(deltas) {
                let truth = exact.epsilon(delta).unwrap().upper;
                assert!(interval.contains(truth), "sigma {sigma} delta {delta}: {truth} not in {interval:?}");
                assert!(interval.width() < 1e-4 * truth, "sigma {sigma} delta {delta}: {interval:?}");
            }
        }
    }

    /// Two methods that share nothing but the definition of the mechanism.
    #[test]
    fn the_lattice_contains_the_contour() {
        for (sigma, rate, count, adjacency) in [
            (1.0, 0.01, 1000, Adjacency::AddRemove),
            (1.0, 0.01, 1000, Adjacency::Replace),
            (2.0, 0.5, 100, Adjacency::AddRemove),
            (0.7, 0.01, 10_000, Adjacency::AddRemove),
            (3.0, 0.05, 300, Adjacency::Replace),
            (1.0, 0.3, 40, Adjacency::AddRemove),
            (0.8, 1e-4, 20_000, Adjacency::AddRemove),
            (0.7, 0.001, 1000, Adjacency::AddRemove),
            (0.6, 0.003, 3000, Adjacency::Replace),
        ] {
            let mut all = vec![(gaussian(sigma).poisson(rate).unwrap(), count)];
            // Rare sampling is the harder without other noise to smooth it.
            if rate > 0.005 {
                all.push((gaussian(9.0), 2));
            }
            let deltas = [1e-4, 1e-9, 1e-13];
            let wide = all_epsilons(&all, adjacency, &deltas);
            let narrow =
                contour::all_epsilons(&events(&all), adjacency, &deltas).unwrap_or_else(|| panic!("{all:?}"));
            for (wide, narrow) in wide.iter().zip(&narrow) {
                let inside = wide.lower <= narrow.upper && narrow.lower <= wide.upper;
                assert!(inside, "{sigma} {rate} x{count} {adjacency}: {narrow:?} outside {wide:?}");
                // The lattice knows rare sampling only roughly from below.
                let widest = if rate > 0.005 { 1e-3 } else { 0.1 };
                assert!(
                    narrow.width() < 1e-4 * narrow.upper && wide.width() < widest * wide.upper,
                    "{narrow:?} {wide:?}"
                );
            }
        }
    }

    /// Two ways to the sum of laws on a lattice, and the second is sharp.
    #[test]
    fn contours_of_lattices_lie_inside_transforms_of_them() {
        for (scale, rate, count, adjacency) in [
            (1.0, 0.01, 1000, Adjacency::AddRemove),
            (1.0, 0.01, 1000, Adjacency::Replace),
            (0.7, 0.02, 300, Adjacency::AddRemove),
            (2.0, 0.3, 500, Adjacency::Replace),
            (5.0, 1.0, 1000, Adjacency::AddRemove),
        ] {
            let noise = Mechanism::laplace(scale).unwrap();
            let noise = if rate < 1.0 { noise.poisson(rate).unwrap() } else { noise };
            let mut sharp = 0;
            for laws in directions(&events(&[(noise, count)]), adjacency).unwrap() {
                for delta in [1e-2, 1e-5, 1e-9] {
                    let direction = Direction::new(&laws, &[delta]).unwrap();
                    let plan = Plan::new(&direction.parts, delta);
                    let Some(found) = direction.by_contour(&[delta], &plan) else { continue };
                    let other = direction.epsilons(&[delta], &plan).unwrap()[0];
                    let meet = found[0].lower <= other.upper && other.lower <= found[0].upper;
                    assert!(meet, "{scale} {rate} {count} {delta}: {found:?} {other:?}");
                    sharp += u32::from(found[0].width() <= 1e-6 * larger(found[0].upper, 1.0));
                }
            }
            assert!(sharp > 0, "{scale} {rate} {count}");
        }
    }

    /// By another program: outcomes cut finely (which loses a little), convolved by a tilted transform. Once this interval was 8e-5 wide.
    #[test]
    fn a_sampled_laplace_law_is_known_to_seven_digits() {
        let noise = Mechanism::laplace(1.0).unwrap().poisson(0.01).unwrap();
        for (delta, truth) in [(1e-2, 0.450_983_365), (1e-5, 1.123_768_105), (1e-9, 1.695_880_810)] {
            let found = all_epsilons(&[(noise, 1000)], Adjacency::AddRemove, &[delta])[0];
            assert!(found.lower < truth + 5e-9 && found.upper > truth - 5e-9, "{delta}: {found:?} {truth}");
            assert!(found.width() < 2e-7, "{delta}: {found:?}");
        }
    }

    #[test]
    fn intervals_have_the_same_bits_on_any_number_of_threads() {
        let releases = [(Mechanism::laplace(3.0).unwrap().poisson(0.1).unwrap(), 50), (gaussian(4.0), 2)];
        let intervals = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let all = pool.install(|| all_epsilons(&releases, Adjacency::AddRemove, &[1e-3, 1e-8]));
            all.iter()
                .map(|interval| (interval.lower.to_bits(), interval.upper.to_bits()))
                .collect::<Vec<_>>()
        };
        let alone = intervals(1);
        assert!((2..5).all(|threads| intervals(threads) == alone));
    }

    /// All sums of losses of two-valued and few-valued laws, one by one.
    #[test]
    fn atoms_compose_exactly() {
        let response = Mechanism::randomized_response(0.4, 2).unwrap();
        let (truth, other) = (0.8_f64, 0.2_f64);
        let loss = (truth / other).ln();
        for epsilon in [0.0, 0.5, 2.0, 5.0, 9.0] {
            let exact: f64 = (0..=9u32)
                .map(|lies| {
                    let choose: f64 = (0..lies).map(|i| f64::from(9 - i) / f64::from(i + 1)).product();
                    let total = (9.0 - 2.0 * f64::from(lies)) * loss;
                    choose
                        * truth.powi(9 - lies as i32)
                        * other.powi(lies as i32)
                        * larger(1.0 - (epsilon - total).exp(), 0.0)
                })
                .sum();
            let laws = directions(&events(&[(response, 9)]), Adjacency::Replace).unwrap();
            let interval = delta(&laws[0], epsilon).unwrap();
            assert!(
                interval.lower <= exact * (1.0 + 1e-12) && exact <= interval.upper,
                "{exact} {interval:?}"
            );
            assert!(interval.width() < 1e-8 * exact + 1e-15, "{exact} {interval:?}");
        }
    }

    /// Atoms beyond the losses that matter once drowned a composition of two under a strong tilt.
    #[test]
    fn discrete_noise_is_resolved_at_every_count() {
        for (sigma, counts) in [(10.0, 2..=12), (3.0, 2..=6), (40.0, 2..=5), (1000.0, 2..=4)] {
            for count in counts {
                let mechanism = Mechanism::discrete_gaussian(sigma, 1).unwrap();
                for delta in [1e-5, 1e-9, 0.01] {
                    let [found] = all_epsilons(&[(mechanism, count)], Adjacency::AddRemove, &[delta])[..]
                    else {
                        panic!()
                    };
                    // So fine a grid is nearly the continuous Gaussian.
                    let gdp = Gdp::of_noise(sigma).unwrap().times(count).epsilon(delta).unwrap();
                    assert!(
                        found.width() <= 1e-9 * found.upper + 1e-11,
                        "{sigma} {count} {delta}: {found:?}"
                    );
                    let apart = (found.upper - gdp.upper).abs();
                    assert!(
                        sigma < 9.0 || apart < 0.02 * gdp.upper + 1e-3,
                        "{sigma} {count} {delta}: {found:?} {gdp:?}"
                    );
                }
            }
        }
    }
}
