//! The largest loss of a release, where there is one: what holds at delta 0.
//!
//! Closed forms, independent of the privacy-loss laws. A Gaussian, discrete or not, has losses without bound, sampled or
//! not; then there is no pure epsilon, and none is printed.

use crate::event::{Event, Together};
use crate::interval::{larger, smaller};
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
    let mechanism = match event {
        Event::Mechanism(mechanism) => mechanism,
        Event::Mixture(_) => return None,
        // From neighbour to neighbour, each time in the worse direction.
        Event::Group(Together { mechanism, records }) => {
            let one = largest(&Event::from(*mechanism), adjacency)?;
            let times = *records as f64;
            let most = times * larger(one.added, one.removed);
            return Some(Largest {
                removed: most,
                added: most,
                error: times * one.error + 2.0 * UNIT * most,
            });
        }
    };
    let (noise, distance) = (mechanism.noise(), mechanism.distance(adjacency));
    // Elsewhere a sample of what is only known to be private may lose as much as the whole.
    let known = match (mechanism.sampling(), adjacency) {
        (Sampling::Everyone | Sampling::Nobody, _)
        | (Sampling::Poisson { .. }, Adjacency::AddRemove)
        | (Sampling::FixedBatch { .. }, Adjacency::Replace) => true,
        _ => noise.is_additive(),
    };
    let base = base(noise, adjacency, distance).filter(|_| known)?;
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
            // There are fewer places than rows, so a full lot may occur, however rarely.
            match lots.room {
                Some(_) => (larger(with_room.0, full.0), larger(with_room.1, full.1)),
                None => full,
            }
        }
    };
    let error = if mechanism.sampling() == Sampling::Everyone && is_exact(noise, base) {
        0.0
    } else {
        // A mixed loss moves with its base by `min(1, rate e^base)` at most: near 0 by its own share.
        let mixed = larger(added, removed);
        let mixing = if mechanism.sampling() == Sampling::Everyone { 0.0 } else { 64.0 };
        mixing * UNIT * mixed + 32.0 * UNIT * smaller(base, 1.5 * (1.0 + base) * mixed)
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

/// The loss of a true answer against any, all alike: `ln(k (1 - p) + p)`, without the difference that cancels near `p = 1`.
pub(crate) fn answered(p: f64, k: f64) -> f64 {
    ((1.0 - p) * (k - 1.0)).ln_1p()
}

/// The loss of a true answer against that of another: `ln((1 - p + p/k) / (p/k))`.
pub(crate) fn replaced(p: f64, k: f64) -> f64 {
    ((1.0 - p) * k / p).ln_1p()
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
            let k = f64::from(buckets);
            Some(if adjacency == Adjacency::ZeroOut { answered(p, k) } else { replaced(p, k) })
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
        let product = count * larger(each.added, each.removed);
        let exact = each.error == 0.0 && events.len() == 1 && count.mul_add(each.removed, -product) == 0.0;
        removed += count * each.removed;
        added += count * each.added;
        error += if exact { 0.0 } else { count * each.error + 4.0 * UNIT * product };
    }
    let worst = larger(added, removed);
    let error = if events.len() > 1 { error + 2.0 * events.len() as f64 * UNIT * worst } else { error };
    let lower = if worst > error { worst - error } else { 0.0 };
    Interval::new(lower, worst + error).ok()
}

/// The largest loss of one release, rounded up.
pub(crate) fn upper(event: &Event, adjacency: Adjacency) -> Option<f64> {
    composed(&[(event.clone(), 1)], adjacency).map(|interval| interval.upper)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Mechanism;

    fn of(mechanism: Mechanism, adjacency: Adjacency) -> Option<f64> {
        upper(&mechanism.into(), adjacency)
    }

    /// Half of the laws are closed forms at the smallest differences from 1 that doubles have.
    #[test]
    fn responses_that_are_nearly_random_still_tell_something() {
        for k in [2_u32, 3, 1000] {
            let p = 1.0 - f64::EPSILON / 2.0;
            let event = Mechanism::randomized_response(p, k).unwrap();
            let (rest, wide) = (f64::EPSILON / 2.0, f64::from(k));
            for (adjacency, odds) in
                [(Adjacency::ZeroOut, rest * (wide - 1.0)), (Adjacency::Replace, rest * wide)]
            {
                let truth = odds.ln_1p();
                let largest = of(event, adjacency).unwrap();
                assert!(
                    (largest / truth - 1.0).abs() < 1e-12 && largest >= truth * (1.0 - 1e-15),
                    "{k}: {largest}"
                );
                let listed = crate::pld::largest_loss(&event.into(), adjacency).unwrap().unwrap();
                assert!((listed / truth - 1.0).abs() < 1e-12, "{k} {adjacency}: {listed} {truth}");
            }
        }
    }

    /// However rarely, the others may fill a lot; then a record takes another's place and the sum moves twice as far.
    #[test]
    fn full_lots_count_however_rare_they_are() {
        let scale = 2.0;
        for (rate, rows, most) in
            [(0.01, 1_000_000, 500_000), (1e-200, 10, 2), (1e-3, 1_000_000_000, 2_000_000)]
        {
            let lots = Mechanism::laplace(scale).unwrap().truncated_poisson(rate, rows, most).unwrap();
            let batch = mixed_loss(2.0 / scale, rate * most as f64 / (most as f64 + 1.0));
            for adjacency in [Adjacency::AddRemove, Adjacency::ZeroOut, Adjacency::Replace] {
                let largest = of(lots, adjacency).unwrap();
                assert!(largest >= batch * (1.0 - 1e-3), "{lots} {adjacency}: {largest} {batch}");
                let listed = crate::pld::largest_loss(&lots.into(), adjacency).unwrap().unwrap();
                assert!(listed >= batch * (1.0 - 1e-3), "{lots} {adjacency}: {listed} {batch}");
            }
        }
    }

    #[test]
    fn what_is_refused_has_no_largest_loss() {
        let sampled = Mechanism::pure(1.0).unwrap().poisson(0.1).unwrap();
        assert!(of(sampled, Adjacency::ZeroOut).is_none() && of(sampled, Adjacency::Replace).is_none());
        assert!(of(sampled, Adjacency::AddRemove).unwrap() < 0.2);
        let batch = Mechanism::exponential(1.0).unwrap().fixed_batch(1, 10).unwrap();
        assert!(of(batch, Adjacency::ZeroOut).is_none() && of(batch, Adjacency::Replace).is_some());
    }
}
