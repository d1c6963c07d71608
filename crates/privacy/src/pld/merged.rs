//! A lattice law from below, for laws whose mass crowds in a few cells: merge, then move down.
//!
//! Cells lie *around* the lattice points. All outcomes of a cell are taken for one, which only loses information, so the
//! merged law loses at most as much; its losses `ln P(cell)/Q(cell)` lie near the lattice points. Every loss may then be
//! lowered, since a composition's `E[(1 - e^(epsilon - sum))+]` grows with each of its losses. So the lattice is moved to
//! meet the heaviest cell exactly and lowered by as little as suits the others best; those that still do not reach their
//! point go to the next one below. Proof: `docs/theorems/connect-the-dots.md`.

use super::lattice::{Lattice, between, fill_in_parallel, slip};
use super::law::Law;
use crate::interval::larger;
use crate::special::UNIT;

/// Relative error allowed for a computed tail.
const ROUNDING: f64 = 512.0 * UNIT;
/// Lowerings of the lattice that are tried: halves, quarters, ... of a step.
const HALVINGS: usize = 40;

/// A lattice law with the given step that loses at most as much as `law`.
pub(crate) fn merged(law: &Law, first: f64, last: f64, step: f64) -> Lattice {
    let cells = cells(law, first, last, step);
    let heaviest = cells.iter().fold(Merged::EMPTY, |a, &b| if b.mass > a.mass { b } else { a });
    let offset = |cell: &Merged| (cell.loss - heaviest.loss) / step;
    let lowered = lowering(&cells, heaviest.index, offset);
    let mut masses = vec![0.0; cells.len()];
    for cell in cells.iter().filter(|cell| cell.mass > 0.0) {
        // Relative to the heaviest; what falls below the first point is left out.
        let index = heaviest.index as f64 + (offset(cell) + lowered).floor();
        if index >= 0.0 && (index as usize) < masses.len() {
            masses[index as usize] += cell.mass;
        } else if index >= 0.0
            && let Some(top) = masses.last_mut()
        {
            *top += cell.mass;
        }
    }
    let first = heaviest.loss - (heaviest.index as f64 + lowered) * step;
    let reach = larger(first.abs(), last.abs());
    let rounding = ROUNDING * (1.0 + 1e-2 * reach) + law.weight_error();
    Lattice {
        first,
        step,
        masses,
        infinity: 0.0,
        missing: 0.0,
        rounding,
        slip: slip((first, last)) + law.outcome_error(reach),
    }
}

/// A cell taken for a single outcome.
#[derive(Debug, Clone, Copy)]
struct Merged {
    index: usize,
    /// Its loss, rounded down.
    loss: f64,
    mass: f64,
}

impl Merged {
    const EMPTY: Self = Self { index: 0, loss: f64::NEG_INFINITY, mass: 0.0 };
}

fn cells(law: &Law, first: f64, last: f64, step: f64) -> Vec<Merged> {
    let count = larger(((last - first) / step - 1e-9).ceil(), 1.0) as usize;
    let edge = |i: usize| first + (i as f64 - 0.5) * step;
    let mut cells = vec![Merged::EMPTY; count + 1];
    fill_in_parallel(&mut cells, |start, piece| {
        let mut here = law.split(edge(start));
        for (i, cell) in (start..).zip(piece) {
            let (at, to) = (edge(i), edge(i + 1));
            let next = law.split(to);
            let (up, down) = here;
            let (p, q) = match i {
                // The first cell has no lower edge, the last no upper one; each is stated at the edge it has.
                0 => (next.1.p, next.1.q),
                _ if i == count => (up.p, up.q),
                _ => between((at, here), (to, next)),
            };
            // Both masses are differences, accurate relative to the smaller tail.
            let (tail_p, tail_q) = match i {
                0 => (p, q),
                _ => (
                    if up.p < 0.5 { up.p } else { down.p },
                    if up.q < 0.5 * at.exp() { up.q } else { down.q },
                ),
            };
            let at = if i == 0 { to } else { at };
            let doubt = ROUNDING * (1.0 + 1e-2 * at.abs()) + law.weight_error();
            let (p, q) = (p - doubt * (p + tail_p), q + doubt * (q + tail_q));
            if p > 0.0 && p.is_finite() && q.is_finite() {
                *cell = Merged { index: i, loss: at + p.ln() - q.ln(), mass: p };
            }
            here = next;
        }
    });
    cells
}

/// By how much of a step to lower the lattice: what that costs everywhere, against a whole step for the mass of the cells
/// that it does not serve.
fn lowering(cells: &[Merged], anchor: usize, offset: impl Fn(&Merged) -> f64) -> f64 {
    let mut short = [0.0; HALVINGS];
    for cell in cells.iter().filter(|cell| cell.mass > 0.0) {
        // How far below its own point, in steps.
        let lacking = cell.index as f64 - anchor as f64 - offset(cell);
        if lacking > 0.0 {
            let halvings = larger(-lacking.log2(), 0.0) as usize;
            if let Some(slot) = short.get_mut(halvings) {
                *slot += cell.mass;
            }
        }
    }
    let mut best = (short.iter().sum::<f64>(), 0.0);
    let mut beyond = 0.0;
    for (halvings, mass) in short.iter().enumerate() {
        // Lowered by 2^-halvings, all cells that lack less are served.
        let lowered = (-(halvings as f64)).exp2();
        if lowered + beyond < best.0 {
            best = (lowered + beyond, lowered);
        }
        beyond += mass;
    }
    best.1
}
