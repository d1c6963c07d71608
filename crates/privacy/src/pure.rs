//! The largest loss of a release, where there is one: what holds at delta 0.
//!
//! Closed forms, independent of the privacy-loss laws. A Gaussian, discrete or not, has losses without bound, sampled or
//! not; then there is no pure epsilon, and none is printed.

use crate::mechanism::{Adjacency, Mechanism, Noise, Sampling};
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
pub(crate) fn largest(mechanism: &Mechanism, adjacency: Adjacency) -> Option<Largest> {
    let base = base(mechanism.noise(), adjacency)?;
    let mixed = |rate: f64| (mixed_loss(base, rate), -mixed_loss(-base, rate));
    let (removed, added) = match (mechanism.sampling(), adjacency) {
        (Sampling::Nobody, _) => (0.0, 0.0),
        (Sampling::Everyone, _) => (base, base),
        (Sampling::Poisson { rate }, Adjacency::AddRemove) => mixed(rate),
        // The record stands at 1, then at -1: half the distance to where it is not, each way.
        (Sampling::Poisson { rate }, Adjacency::Replace) => {
            let both = mixed_loss(0.5 * base, rate) - mixed_loss(-0.5 * base, rate);
            (both, both)
        }
        (Sampling::FixedBatch { population, batch }, _) => {
            let (removed, _) = mixed(batch as f64 / population as f64);
            (removed, removed)
        }
    };
    let error = if mechanism.sampling() == Sampling::Everyone && is_exact(mechanism.noise(), base) {
        0.0
    } else {
        64.0 * UNIT * removed + 16.0 * UNIT * base
    };
    Some(Largest { removed, added, error })
}

/// Whether the largest loss before sampling was computed without rounding.
fn is_exact(noise: Noise, base: f64) -> bool {
    match noise {
        // The dividend is a whole number, and the quotient gives it back.
        Noise::Laplace { scale } | Noise::DiscreteLaplace { scale, .. } => {
            base.mul_add(scale, -(base * scale)) == 0.0 && (base * scale).fract() == 0.0
        }
        Noise::Pure { .. } => true,
        _ => false,
    }
}

/// The largest loss before sampling.
fn base(noise: Noise, adjacency: Adjacency) -> Option<f64> {
    let doubled = if adjacency == Adjacency::Replace { 2.0 } else { 1.0 };
    match noise {
        Noise::Gaussian { .. } | Noise::DiscreteGaussian { .. } => None,
        Noise::Laplace { scale } => Some(doubled / scale),
        Noise::DiscreteLaplace { scale, contribution } => Some(doubled * f64::from(contribution) / scale),
        Noise::RandomizedResponse { random_probability: p, buckets } => {
            Some(((1.0 - p) * f64::from(buckets) / p).ln_1p())
        }
        Noise::Pure { epsilon } => Some(epsilon),
    }
}

/// The largest loss of a composition: the same neighbours are compared at every step, so each direction adds up on its own.
pub(crate) fn composed(events: &[(Mechanism, u64)], adjacency: Adjacency) -> Option<Interval> {
    let (mut removed, mut added, mut error) = (0.0_f64, 0.0_f64, 0.0_f64);
    for (mechanism, count) in events {
        let each = largest(mechanism, adjacency)?;
        let count = *count as f64;
        // One exact loss, so often that the product is exact too, needs no allowance.
        let product = count * each.removed;
        let exact = each.error == 0.0 && events.len() == 1 && count.mul_add(each.removed, -product) == 0.0;
        removed += product;
        added += count * each.added;
        error += if exact { 0.0 } else { count * each.error + 4.0 * UNIT * product };
    }
    let worst = if added > removed { added } else { removed };
    let error = if events.len() > 1 { error + 2.0 * events.len() as f64 * UNIT * worst } else { error };
    let lower = if worst > error { worst - error } else { 0.0 };
    Interval::new(lower, worst + error).ok()
}

/// The largest loss of one release, rounded up.
pub(crate) fn upper(mechanism: &Mechanism, adjacency: Adjacency) -> Option<f64> {
    composed(&[(*mechanism, 1)], adjacency).map(|interval| interval.upper)
}
