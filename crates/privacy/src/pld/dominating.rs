//! Lattice laws that dominate a single release, for other currencies.

use super::lattice::{Bracket, Lattice};
use super::pairs::laws_of;
use super::plan;
use crate::Result;
use crate::event::Event;
use crate::interval::{larger, smaller, within};
use crate::mechanism::Adjacency;

/// Lattice points of such a law, and how far apart they need be at least.
const POINTS: (f64, f64) = (2048.0, 16384.0);
const STEP: f64 = 1e-5;

/// A lattice law that dominates one direction of a mechanism, and what lies beyond it.
pub(crate) struct Dominating {
    pub(crate) lattice: Lattice,
    /// Losses beyond the lattice, coarsely: each with the mass of the cell below it.
    pub(crate) beyond: Vec<(f64, f64)>,
    /// Mass beyond even those.
    pub(crate) rest: f64,
    /// The largest loss where it is bounded; else nothing.
    pub(crate) largest: Option<f64>,
    /// The loss before sampling at which they end.
    pub(crate) base: f64,
    /// Beyond that, the logarithm of the likelihood ratio after sampling over that before it, at most.
    pub(crate) ln_share: f64,
}

/// Lattice laws that dominate the release, one for each direction that differs.
pub(crate) fn dominating(event: &Event, adjacency: Adjacency) -> Result<Vec<Dominating>> {
    laws_of(event, adjacency)?
        .iter()
        .map(|law| {
            let (lattice, far) = match Bracket::exact(law) {
                Some(exact) => (exact.above(), law.range().1),
                None => {
                    let part = plan::cut(law, 1, 1e-30)?;
                    let width = part.last - part.first;
                    let step = width / within(width / STEP, POINTS.0, POINTS.1);
                    let step = plan::aligned(law, part.first, part.last, step);
                    // Where the law itself ends (or was cut) before that, it ends there.
                    let far = plan::cut(law, 1, 1e-270).map_or(law.range().1, |far| far.last);
                    (part.bracket(step).above(), far)
                }
            };
            let largest = law.bounded();
            // Nothing lies beyond a lattice that holds everything: an atom at its very end is not to count twice.
            if lattice.infinity == 0.0 {
                let base = law.base_loss(lattice.last());
                return Ok(Dominating {
                    lattice,
                    beyond: Vec::new(),
                    rest: 0.0,
                    largest,
                    base,
                    ln_share: 0.0,
                });
            }
            let far = larger(far, lattice.last());
            let ends = law.landmarks(lattice.last(), far, 1024);
            // No more lies beyond a point than was cut off the lattice: an atom at its last point was not.
            let tail = |y: f64| smaller(law.above(y).p, lattice.infinity);
            let mass = |pair: &[f64]| larger(tail(pair[0]) - tail(pair[1]), 0.0);
            let beyond = ends.windows(2).map(|pair| (pair[1], mass(pair))).collect();
            let rest = smaller(law.above(far).p + law.left_out(), lattice.infinity);
            let base = law.base_loss(far);
            Ok(Dominating { base, rest, largest, beyond, lattice, ln_share: law.ln_share(base) })
        })
        .collect()
}
