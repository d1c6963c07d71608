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

use crate::mechanism::{Adjacency, Mechanism};
use crate::special::{Interval, crossing};
use crate::Result;
use compose::{Composed, compose};
use lattice::Bracket;
pub(crate) use lattice::Lattice;
pub(crate) use plan::minimum;
pub(crate) use spectrum::power;
pub(crate) use law::mixed_loss;
use law::{Law, laws};
use plan::Part;

/// Certified epsilons of a composition at each delta (all in `(0, 1)`), by lattice and transform.
pub(crate) fn epsilons(events: &[(Mechanism, u64)], adjacency: Adjacency, deltas: &[f64]) -> Result<Vec<Interval>> {
    let mut result = vec![Interval { lower: 0.0, upper: 0.0 }; deltas.len()];
    for laws in directions(events, adjacency)? {
        let direction = Direction::new(&laws, deltas)?;
        // A direction that is known to lose less at every delta need not be resolved finely.
        let settled = deltas.iter().zip(&result).all(|(&delta, known)| {
            known.lower > 0.0 && direction.rough(delta) <= known.lower
        });
        if !settled {
            for (slot, fine) in result.iter_mut().zip(direction.epsilons(deltas)) {
                *slot = slot.max(fine);
            }
        }
    }
    Ok(result)
}

/// Lattice laws that dominate the mechanism, one for each direction that differs: for other currencies.
pub(crate) fn dominating(mechanism: &Mechanism, adjacency: Adjacency) -> Result<Vec<Lattice>> {
    const POINTS: f64 = 8192.0;
    laws(mechanism, adjacency)?
        .iter()
        .map(|law| {
            let part = plan::cut(law, 1, 1e-30)?;
            Ok(part.bracket(plan::aligned(law, part.first, part.last, (part.last - part.first) / POINTS)).above)
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
const SHARE: f64 = 1e-7;

impl<'a> Direction<'a> {
    fn new(laws: &'a [(Law, u64)], deltas: &[f64]) -> Result<Self> {
        let smallest = deltas.iter().copied().fold(1.0, f64::min);
        let parts = laws.iter().map(|(law, count)| plan::cut(law, *count, smallest)).collect::<Result<Vec<_>>>()?;
        let largest = laws.iter().map(|(law, count)| law.range().1 * *count as f64).sum();
        Ok(Self { parts, largest })
    }

    /// An upper bound on epsilon that is quick rather than sharp.
    fn rough(&self, delta: f64) -> f64 {
        let (strongest, foreseen) = plan::chernoff(&self.parts, delta);
        let window = plan::tilt(&self.parts, strongest, foreseen, delta);
        let step = plan::spacing(&self.parts, &window, foreseen, plan::COARSE);
        let lattices: Vec<_> = self.parts.iter().map(|part| (part.bracket(step).above, part.count)).collect();
        self.upper(&compose(&lattices, &window), delta).min(foreseen)
    }

    /// One composition serves all deltas if it can; those it cannot serve get their own.
    fn epsilons(&self, deltas: &[f64]) -> Vec<Interval> {
        let shared = self.squeeze(middle(deltas));
        deltas
            .iter()
            .map(|&delta| {
                let interval = self.interval(&shared, delta);
                let alone = shared.above.share(interval.upper, delta) > SHARE && deltas.len() > 1;
                if alone { self.interval(&self.squeeze(delta), delta) } else { interval }
            })
            .collect()
    }

    fn squeeze(&self, delta: f64) -> Squeezed {
        let epsilon = self.rough(delta);
        let (strongest, _) = plan::chernoff(&self.parts, delta);
        let window = plan::tilt(&self.parts, strongest, epsilon, delta);
        let step = plan::spacing(&self.parts, &window, epsilon, plan::FINE);
        let (above, below): (Vec<_>, Vec<_>) = (self.parts.iter())
            .map(|part| (part.bracket(step), part.count))
            .map(|(bracket, count)| ((bracket.above, count), (bracket.below, count)))
            .unzip();
        Squeezed { above: compose(&above, &window), below: compose(&below, &window) }
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
fn middle(deltas: &[f64]) -> f64 {
    (deltas.iter().map(|delta| delta.ln()).sum::<f64>() / deltas.len() as f64).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probe() {
        let g = |s: f64| Mechanism::gaussian(s).unwrap();
        for (m, k, want) in [
            (g(5.0), 100u64, [9.9972561464343, 13.534772219165538, 16.890508620723732]),
            (g(20.0), 1000, [7.511275900744782, 10.32131359634342, 12.982550727824707]),
        ] {
            let t = std::time::Instant::now();
            let got = epsilons(&[(m, k)], Adjacency::AddRemove, &[1e-5, 1e-9, 1e-14]).unwrap();
            println!("{m} x{k}: {:?}", t.elapsed());
            for (g, w) in got.iter().zip(want) {
                println!("   {:?} truth {w}  [{:.2e}, {:.2e}]", g, g.lower - w, g.upper - w);
            }
        }
        for (m, k, want) in [
            (g(0.5).poisson(0.1).unwrap(), 10u64, [12.26123936814223, 20.716210427600195]),
            (g(0.5).poisson(0.001).unwrap(), 100, [2.1086455686496888, 5.867225574822181]),
            (g(0.8).poisson(0.0001).unwrap(), 20000, [0.08852517946053849, 0.28344635464050766]),
            (g(1.0).poisson(0.01).unwrap(), 1000, [1.8282367363114282, 2.9895795086908414]),
            (Mechanism::laplace(20.0).unwrap(), 10000, [32.709552995624655, 41.35408105278127]),
            (Mechanism::laplace(1.0).unwrap(), 10, [9.989962316985148, 9.999998976256464]),
            (Mechanism::laplace(5.0).unwrap().poisson(0.5).unwrap(), 100, [4.179431490767204, 5.822731700876655]),
            (Mechanism::discrete_gaussian(5.0,1).unwrap(), 100, [9.99741785731523, 13.535272087902893]),
        ] {
            let t = std::time::Instant::now();
            let got = epsilons(&[(m, k)], Adjacency::AddRemove, &[1e-5, 1e-9]).unwrap();
            println!("{m} x{k}: {:?}", t.elapsed());
            for (g, w) in got.iter().zip(want) {
                println!("   {:?} ref {w}  [{:.2e}, {:.2e}]", g, g.lower - w, g.upper - w);
            }
        }
    }
}
