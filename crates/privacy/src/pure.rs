//! The largest loss of a release, where there is one: what holds at delta 0.
//!
//! Closed forms, independent of the privacy-loss laws. A Gaussian, discrete or not, has losses without bound, sampled or
//! not; then there is no pure epsilon, and none is printed.

use crate::event::Event;
use crate::lot_sizes::Truncation;
use crate::mechanism::{Adjacency, Noise, Sampling};
use crate::pld::mixed_loss;
use crate::special::{Interval, UNIT};

/// The largest losses of removing and of adding a record.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Largest {
    removed: f64,
    added: f64,
    /// How far rounding may have moved either.
    error: f64,
}

/// Those of one release; nothing where losses have no bound.
pub(crate) fn largest(event: &Event, adjacency: Adjacency) -> Option<Largest> {
    let Event::Mechanism(mechanism) = event else { return None };
    let (noise, distance) = (mechanism.noise(), mechanism.distance(adjacency));
    let base = base(noise, adjacency, distance)?;
    let mixed = |base: f64, rate: f64| (mixed_loss(base, rate), -mixed_loss(-base, rate));
    let (removed, added) = match (mechanism.sampling(), adjacency) {
        (Sampling::Nobody, _) => (0.0, 0.0),
        (Sampling::Everyone, Adjacency::ZeroOut) => (base, of_any_answer(noise).unwrap_or(base)),
        (Sampling::Everyone, _) => (base, base),
        (Sampling::Poisson { rate }, Adjacency::AddRemove | Adjacency::ZeroOut) => mixed(base, rate),
        (Sampling::Poisson { rate }, Adjacency::Replace) => opposite(base, rate),
        (Sampling::FixedBatch { population, batch }, _) => {
            let (removed, _) = mixed(base, batch as f64 / population as f64);
            (removed, removed)
        }
        (Sampling::TruncatedPoisson { rate, rows, most }, _) => {
            // The larger of what is lost in a lot with room (half as far, but for a replacement), and in a full one.
            let lots = Truncation::new(rate, rows, most);
            let with_room = match adjacency {
                Adjacency::Replace => opposite(base, rate),
                Adjacency::AddRemove | Adjacency::ZeroOut => mixed(0.5 * base, rate),
            };
            let full = match adjacency {
                Adjacency::AddRemove => mixed(base, lots.in_place),
                Adjacency::ZeroOut | Adjacency::Replace => {
                    let (removed, _) = mixed(base, lots.in_place);
                    (removed, removed)
                }
            };
            let worse = |a: f64, b: f64| if b > a && lots.full > 0.0 { b } else { a };
            (worse(with_room.0, full.0), worse(with_room.1, full.1))
        }
    };
    let error = if mechanism.sampling() == Sampling::Everyone && is_exact(noise, base) {
        0.0
    } else {
        64.0 * UNIT * (if added > removed { added } else { removed }) + 16.0 * UNIT * base
    };
    Some(Largest { removed, added, error })
}

/// The record stands at 1, then at -1: half the distance to where it is not, each way.
fn opposite(base: f64, rate: f64) -> (f64, f64) {
    let both = mixed_loss(0.5 * base, rate) - mixed_loss(-0.5 * base, rate);
    (both, both)
}

/// The largest loss of any answer, all alike, beside a true one.
fn of_any_answer(noise: Noise) -> Option<f64> {
    match noise {
        Noise::RandomizedResponse { random_probability, .. } => Some(-random_probability.ln()),
        _ => None,
    }
}

/// Whether the largest loss before sampling was computed without rounding.
fn is_exact(noise: Noise, base: f64) -> bool {
    match noise {
        // The dividend is a whole number, and the quotient gives it back.
        Noise::Laplace { scale } | Noise::DiscreteLaplace { scale, .. } => {
            base.mul_add(scale, -(base * scale)) == 0.0 && (base * scale).fract() == 0.0
        }
        Noise::Pure { .. } | Noise::Exponential { .. } | Noise::PermuteAndFlip { .. } => true,
        _ => false,
    }
}

/// The largest loss before sampling.
fn base(noise: Noise, adjacency: Adjacency, distance: f64) -> Option<f64> {
    match noise {
        Noise::Gaussian { .. } | Noise::DiscreteGaussian { .. } | Noise::Tree { .. } => None,
        Noise::Laplace { scale } => Some(distance / scale),
        Noise::DiscreteLaplace { scale, contribution } => Some(distance * f64::from(contribution) / scale),
        Noise::RandomizedResponse { random_probability: p, buckets } => {
            let more = (1.0 - p) * f64::from(buckets);
            Some(if adjacency == Adjacency::ZeroOut { (more + p).ln() } else { (more / p).ln_1p() })
        }
        Noise::Pure { epsilon } | Noise::Exponential { epsilon } | Noise::PermuteAndFlip { epsilon } => {
            Some(epsilon)
        }
    }
}

/// The largest loss of a composition: the same neighbours are compared at every step, so each direction adds up on its own.
pub(crate) fn composed(events: &[(Event, u64)], adjacency: Adjacency) -> Option<Interval> {
    let (mut removed, mut added, mut error) = (0.0_f64, 0.0_f64, 0.0_f64);
    for (event, count) in events {
        let each = largest(event, adjacency)?;
        let count = *count as f64;
        // One exact loss, so often that the product is exact too, needs no allowance.
        let product = count * if each.added > each.removed { each.added } else { each.removed };
        let exact = each.error == 0.0 && events.len() == 1 && count.mul_add(each.removed, -product) == 0.0;
        removed += count * each.removed;
        added += count * each.added;
        error += if exact { 0.0 } else { count * each.error + 4.0 * UNIT * product };
    }
    let worst = if added > removed { added } else { removed };
    let error = if events.len() > 1 { error + 2.0 * events.len() as f64 * UNIT * worst } else { error };
    let lower = if worst > error { worst - error } else { 0.0 };
    Interval::new(lower, worst + error).ok()
}

/// The largest loss of one release, rounded up.
pub(crate) fn upper(event: &Event, adjacency: Adjacency) -> Option<f64> {
    composed(&[(event.clone(), 1)], adjacency).map(|interval| interval.upper)
}
