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
mod compose;
mod lattice;
mod law;
mod plan;
mod spectrum;

use crate::Result;
use crate::mechanism::{Adjacency, Mechanism};
use crate::special::{Interval, crossing};
use compose::{Composed, compose};
use lattice::{Bracket, Lattice};
pub(crate) use law::mixed_loss;
use law::{Law, laws};
pub(crate) use plan::minimum;
use plan::{Fineness, Part};
pub(crate) use spectrum::pairwise;

/// Certified epsilons of a composition at each delta (all in `(0, 1)`), by lattice and transform.
pub(crate) fn epsilons(
    events: &[(Mechanism, u64)],
    adjacency: Adjacency,
    deltas: &[f64],
) -> Result<Vec<Interval>> {
    let mut result = vec![Interval { lower: 0.0, upper: 0.0 }; deltas.len()];
    for laws in directions(events, adjacency)? {
        let direction = Direction::new(&laws, deltas)?;
        // A direction that is known to lose less at every delta need not be resolved finely.
        let settled = |fineness: Fineness| {
            let (quick, _) = direction.quick(middle(deltas), fineness);
            deltas.iter().zip(&result).all(|(&delta, known)| direction.upper(&quick, delta) <= known.lower)
        };
        let any = result.iter().all(|known| known.lower > 0.0);
        if !(any && (settled(plan::COARSE) || settled(plan::MEDIUM))) {
            for (slot, fine) in result.iter_mut().zip(direction.epsilons(deltas)) {
                *slot = slot.max(fine);
            }
        }
    }
    Ok(result)
}

/// The certified delta at `epsilon`.
pub(crate) fn delta(events: &[(Mechanism, u64)], adjacency: Adjacency, epsilon: f64) -> Result<Interval> {
    let mut result = Interval { lower: 0.0, upper: 0.0 };
    for laws in directions(events, adjacency)? {
        let mut guess: f64 = 1e-6;
        let mut best = Interval { lower: 0.0, upper: 1.0 };
        // Each composition is planned for the delta that the last one found.
        for _ in 0..4 {
            let direction = Direction::new(&laws, &[guess])?;
            if epsilon >= direction.largest {
                best.upper = 0.0;
                break;
            }
            let squeezed = direction.squeeze(guess, plan::FINE);
            let slip = squeezed.above.slip;
            let found = Interval {
                lower: squeezed.below.lower(epsilon + slip),
                upper: squeezed.above.upper((epsilon - slip).max(0.0)),
            };
            best = Interval { lower: best.lower.max(found.lower), upper: best.upper.min(found.upper) };
            let next = best.upper.clamp(1e-300, 0.5);
            if (next / guess).ln().abs() < 1.0 {
                break;
            }
            guess = next;
        }
        result = result.max(best);
    }
    Ok(result)
}

/// Whether the mechanism can be accounted for under this adjacency.
pub(crate) fn check(mechanism: &Mechanism, adjacency: Adjacency) -> Result<()> {
    laws(mechanism, adjacency).map(drop)
}

/// Delta of a single release: the hockey-stick curve itself.
pub(crate) fn single_delta(mechanism: &Mechanism, adjacency: Adjacency, epsilon: f64) -> Result<Interval> {
    let mut result = Interval { lower: 0.0, upper: 0.0 };
    for law in laws(mechanism, adjacency)? {
        result = result.max(hockey_stick(&law, epsilon));
    }
    Ok(result)
}

/// Epsilon of a single release.
pub(crate) fn single_epsilon(mechanism: &Mechanism, adjacency: Adjacency, delta: f64) -> Result<Interval> {
    let mut result = Interval { lower: 0.0, upper: 0.0 };
    for law in laws(mechanism, adjacency)? {
        if hockey_stick(&law, 0.0).upper <= delta {
            continue;
        }
        let mut top: f64 = 1.0;
        while hockey_stick(&law, top).upper > delta && top < law.range().1 {
            top = (2.0 * top).min(law.range().1);
        }
        let upper = crossing((0.0, top), delta, TOLERANCE, |epsilon| hockey_stick(&law, epsilon).upper).1;
        let lower = if hockey_stick(&law, 0.0).lower <= delta {
            0.0
        } else {
            crossing((0.0, top), delta, TOLERANCE, |epsilon| hockey_stick(&law, epsilon).lower).0
        };
        result = result.max(Interval { lower: lower.min(upper), upper });
    }
    Ok(result)
}

/// `P[Y > epsilon] - e^epsilon Q[Y > epsilon]`, with the rounding of the tails and of the threshold.
fn hockey_stick(law: &Law, epsilon: f64) -> Interval {
    if epsilon >= law.range().1 {
        return Interval { lower: 0.0, upper: 0.0 };
    }
    let at = |epsilon: f64| {
        let tails = law.above(epsilon);
        // Above 700 the second term is below e^epsilon e^-epsilon P: leave it out, from above.
        let second = if epsilon < 700.0 { epsilon.exp() * tails.q } else { 0.0 };
        (tails.p - second, 64.0 * crate::special::UNIT * (tails.p + second * (1.0 + epsilon)))
    };
    let slip = 1e-14 * (1.0 + epsilon);
    let ((high, high_error), (low, low_error)) = (at((epsilon - slip).max(0.0)), at(epsilon + slip));
    let lower = if epsilon < 700.0 { (low - low_error).max(0.0) } else { 0.0 };
    Interval { lower, upper: (high + high_error).clamp(0.0, 1.0) }
}

/// A lattice law that dominates one direction of a mechanism, and what lies beyond it.
pub(crate) struct Dominating {
    pub(crate) lattice: Lattice,
    /// Losses beyond the lattice, coarsely: each with the mass of the cell below it.
    pub(crate) beyond: Vec<(f64, f64)>,
    /// The largest loss where it is bounded; else nothing.
    pub(crate) largest: Option<f64>,
    /// The loss before sampling at which even those end.
    pub(crate) base: f64,
}

/// Lattice laws that dominate the mechanism, one for each direction that differs: for other currencies.
pub(crate) fn dominating(mechanism: &Mechanism, adjacency: Adjacency) -> Result<Vec<Dominating>> {
    const POINTS: f64 = 16384.0;
    laws(mechanism, adjacency)?
        .iter()
        .map(|law| {
            let (lattice, far) = match Bracket::exact(law) {
                Some(exact) => (exact.above(), law.range().1),
                None => {
                    let part = plan::cut(law, 1, 1e-30)?;
                    let step = plan::aligned(law, part.first, part.last, (part.last - part.first) / POINTS);
                    // Where the law itself ends (or was cut) before that, it ends there.
                    let far = plan::cut(law, 1, 1e-270).map_or(law.range().1, |far| far.last);
                    (part.bracket(step).above(), far)
                }
            };
            let far = far.max(lattice.last());
            let ends = law.landmarks(lattice.last(), far, 1024);
            let mass = |pair: &[f64]| (law.above(pair[0]).p - law.above(pair[1]).p).max(0.0);
            let beyond = ends.windows(2).map(|pair| (pair[1], mass(pair))).collect();
            Ok(Dominating { base: law.base_loss(far), largest: law.bounded(), beyond, lattice })
        })
        .collect()
}

/// The laws of all events, one list for each direction that differs.
fn directions(events: &[(Mechanism, u64)], adjacency: Adjacency) -> Result<Vec<Vec<(Law, u64)>>> {
    let mut each = Vec::new();
    for (mechanism, count) in events {
        each.push((laws(mechanism, adjacency)?, *count));
    }
    let ways = each.iter().map(|(laws, _)| laws.len()).max().unwrap_or(0);
    Ok((0..ways)
        .map(|way| each.iter().map(|(laws, count)| (laws[way.min(laws.len() - 1)].clone(), *count)).collect())
        .collect())
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
}

const TOLERANCE: f64 = 1e-12;
/// Share of delta that the error of a transform may take before it is repeated under another tilt.
const SHARE: f64 = 1e-4;

impl<'a> Direction<'a> {
    fn new(laws: &'a [(Law, u64)], deltas: &[f64]) -> Result<Self> {
        let smallest = deltas.iter().copied().fold(1.0, f64::min);
        let parts =
            laws.iter().map(|(law, count)| plan::cut(law, *count, smallest)).collect::<Result<Vec<_>>>()?;
        // Rounded up: it caps epsilon.
        let largest =
            laws.iter().map(|(law, count)| law.range().1 * *count as f64).sum::<f64>() * (1.0 + 1e-12);
        Ok(Self { parts, largest })
    }

    /// A composition from above that is quick rather than sharp, and the epsilon that was foreseen.
    fn quick(&self, delta: f64, fineness: Fineness) -> (Composed, f64) {
        let (strongest, foreseen) = plan::chernoff(&self.parts, delta);
        let window = plan::tilt(&self.parts, strongest, foreseen, delta);
        let step = plan::spacing(&self.parts, &window, foreseen, fineness);
        let lattices: Vec<_> =
            self.parts.iter().map(|part| (part.bracket(step).above(), part.count)).collect();
        (compose(&lattices, &window), foreseen)
    }

    /// One composition serves all deltas if it can; those it cannot serve get their own.
    fn epsilons(&self, deltas: &[f64]) -> Vec<Interval> {
        let shared = self.squeeze(middle(deltas), plan::FINE);
        deltas
            .iter()
            .map(|&delta| {
                let interval = self.interval(&shared, delta);
                let alone = shared.above.share(interval.upper, delta) > SHARE && deltas.len() > 1;
                if alone { self.interval(&self.squeeze(delta, plan::FINE), delta) } else { interval }
            })
            .collect()
    }

    fn squeeze(&self, delta: f64, fineness: Fineness) -> Squeezed {
        let (quick, foreseen) = self.quick(delta, plan::COARSE);
        let epsilon = self.upper(&quick, delta).min(foreseen);
        let (strongest, _) = plan::chernoff(&self.parts, delta);
        let window = plan::tilt(&self.parts, strongest, epsilon, delta);
        let step = plan::spacing(&self.parts, &window, epsilon, fineness);
        let brackets: Vec<_> = self.parts.iter().map(|part| (part.bracket(step), part.count)).collect();
        let above = || brackets.iter().map(|(bracket, count)| (bracket.above(), *count)).collect::<Vec<_>>();
        let below = || brackets.iter().map(|(bracket, count)| (bracket.below(), *count)).collect::<Vec<_>>();
        std::thread::scope(|scope| {
            let below = scope.spawn(|| compose(&below(), &window));
            let above = compose(&above(), &window);
            // A panic in the other thread is a bug, and goes on as one.
            Squeezed { above, below: below.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)) }
        })
    }

    fn interval(&self, squeezed: &Squeezed, delta: f64) -> Interval {
        let upper = self.upper(&squeezed.above, delta);
        let below = &squeezed.below;
        // Step back from the upper bound until the lower curve is above delta; between the two it crosses.
        let back = (0..45).rev().map(|halvings| upper * (1.0 - (-f64::from(halvings)).exp2()));
        let lower = back.into_iter().find(|&epsilon| below.lower(epsilon) > delta).map_or(0.0, |start| {
            crossing((start, upper), delta, TOLERANCE, |epsilon| below.lower(epsilon)).0 - below.slip
        });
        Interval { lower: lower.clamp(0.0, upper), upper }
    }

    fn upper(&self, composed: &Composed, delta: f64) -> f64 {
        if composed.upper(0.0) <= delta {
            return 0.0;
        }
        if composed.upper(composed.top()) > delta {
            return self.largest;
        }
        let (_, upper) = crossing((0.0, composed.top()), delta, TOLERANCE, |epsilon| composed.upper(epsilon));
        (upper + composed.slip).min(self.largest)
    }
}

/// The delta in the middle of those asked for.
pub(crate) fn middle(deltas: &[f64]) -> f64 {
    (deltas.iter().map(|delta| delta.ln()).sum::<f64>() / deltas.len() as f64).exp()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Gdp, contour};

    fn gaussian(sigma: f64) -> Mechanism {
        Mechanism::gaussian(sigma).unwrap()
    }

    /// The general method must contain the closed form, down to where plain transforms have long drowned.
    #[test]
    fn the_lattice_contains_gaussian_dp_down_to_1e_14() {
        for (sigma, count) in [(5.0, 100), (20.0, 1000), (1.0, 2), (0.7, 7)] {
            let exact = Gdp::of_noise(sigma).unwrap().times(count);
            let deltas = [1e-2, 1e-5, 1e-9, 1e-12, 1e-14];
            let intervals = epsilons(&[(gaussian(sigma), count)], Adjacency::AddRemove, &deltas).unwrap();
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
            let mut events = vec![(gaussian(sigma).poisson(rate).unwrap(), count)];
            // Rare sampling is the harder without other noise to smooth it.
            if rate > 0.005 {
                events.push((gaussian(9.0), 2));
            }
            let deltas = [1e-4, 1e-9, 1e-13];
            let wide = epsilons(&events, adjacency, &deltas).unwrap();
            let narrow = contour::epsilons(&events, adjacency, &deltas).unwrap();
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
                        * (1.0 - (epsilon - total).exp()).max(0.0)
                })
                .sum();
            let interval = delta(&[(response, 9)], Adjacency::Replace, epsilon).unwrap();
            assert!(
                interval.lower <= exact * (1.0 + 1e-12) && exact <= interval.upper,
                "{exact} {interval:?}"
            );
            assert!(interval.width() < 1e-8 * exact + 1e-15, "{exact} {interval:?}");
        }
    }
}
