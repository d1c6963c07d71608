//! Which pairs of laws dominate a release: one, or two where removing and adding a record differ.
//!
//! Derived in `docs/theorems/dominating-pairs.md`, `mixtures.md`, `truncated-lots.md` and `selection.md`.

use std::sync::Arc;

use super::atoms::Atoms;
use super::bells::Bells;
use super::either::Either;
use super::law::{Bell, Law};
use super::range::Range;
use super::shifts::Shifts;
use crate::event::{Event, Together};
use crate::interval::smaller;
use crate::lot_sizes::Truncation;
use crate::mechanism::{Adjacency, Mechanism, Noise, Sampling};
use crate::special::UNIT;
use crate::{Error, Result};

/// The dominating pairs of a release.
pub(crate) fn laws_of(event: &Event, adjacency: Adjacency) -> Result<Vec<Law>> {
    match event {
        Event::Mechanism(mechanism) => of_mechanism(mechanism, adjacency),
        Event::Mixture(mixture) => {
            let bells = Arc::new(Bells::new(mixture));
            Ok([false, true].map(|added| Law::Mixture { bells: bells.clone(), added }).into())
        }
        Event::Group(together) => of_group(together, adjacency),
    }
}

fn of_mechanism(mechanism: &Mechanism, adjacency: Adjacency) -> Result<Vec<Law>> {
    let noise = mechanism.noise();
    match mechanism.sampling() {
        Sampling::Nobody => Ok(vec![Law::Atoms(Atoms::nothing())]),
        Sampling::Everyone => match noise {
            // Between a true answer and any answer, the two directions differ.
            Noise::RandomizedResponse { random_probability, buckets } if adjacency == Adjacency::ZeroOut => {
                let one = Atoms::response_or_any(random_probability, buckets);
                let other = one.exchanged();
                Ok(vec![Law::Atoms(one), Law::Atoms(other)])
            }
            _ => Ok(vec![unsampled(noise, adjacency, adjacency.distance())?]),
        },
        Sampling::Poisson { rate } => match adjacency {
            Adjacency::ZeroOut if matches!(noise, Noise::RandomizedResponse { .. }) => Err(unsupported(
                mechanism,
                "under `zero-out` a response is known for everyone: leave the sampling out",
            )),
            Adjacency::Replace => Ok(vec![Law::Opposite { noise: bell(mechanism)?, rate }]),
            Adjacency::AddRemove => Ok(both(unsampled(noise, adjacency, 1.0)?, rate).into()),
            // A record that is drawn and says nothing is like one that is not drawn only where zeros are added to a sum.
            Adjacency::ZeroOut => {
                additive(mechanism)?;
                Ok(both(unsampled(noise, adjacency, 1.0)?, rate).into())
            }
        },
        Sampling::TruncatedPoisson { rate, rows, most } => {
            additive(mechanism)?;
            truncated(mechanism, adjacency, &Truncation::new(rate, rows, most), rate)
        }
        Sampling::FixedBatch { population, batch } => {
            match adjacency {
                Adjacency::AddRemove => {
                    return Err(unsupported(mechanism, "a batch of fixed size needs `replace` adjacency"));
                }
                // What is known of records that say nothing is not known of those whose place they take.
                Adjacency::ZeroOut => additive(mechanism)?,
                Adjacency::Replace => {}
            }
            let base = unsampled(noise, Adjacency::Replace, 2.0)?;
            Ok(vec![replaced(base, batch as f64 / population as f64)])
        }
    }
}

/// Several records, some of them removed and the others added, or all replaced by their opposites.
fn of_group(together: &Together, adjacency: Adjacency) -> Result<Vec<Law>> {
    let Together { mechanism, records } = *together;
    let (noise, Sampling::Poisson { rate }) = (mechanism.noise(), mechanism.sampling()) else {
        return Err(unsupported(&mechanism, "groups are known of Poisson samples"));
    };
    if adjacency != Adjacency::Replace && !noise.is_additive() {
        // Whether any of them is in the sample, and then all, in the worse direction at every threshold.
        let base = unsampled(farther(&mechanism, records)?, Adjacency::Replace, 2.0)?;
        let present = -(records as f64 * (-rate).ln_1p()).exp_m1() * (1.0 + 16.0 * UNIT);
        return Ok(vec![replaced(base, smaller(present, 1.0))]);
    }
    let law = |moved, gap| Ok(Law::Shifts(Arc::new(Shifts::new(noise, 1.0, rate, moved, gap)?)));
    match adjacency {
        Adjacency::Replace => Ok(vec![law([records; 2], together.gap())?]),
        _ => together.ways().into_iter().map(|moved| law(moved, together.gap())).collect(),
    }
}

/// What is known by its epsilon alone, for several records.
fn farther(mechanism: &Mechanism, records: u64) -> Result<Noise> {
    let times = |epsilon: f64| epsilon * records as f64 * (1.0 + 2.0 * UNIT);
    match mechanism.noise() {
        Noise::Pure { epsilon } => Mechanism::pure(times(epsilon)),
        Noise::Exponential { epsilon } => Mechanism::exponential(times(epsilon)),
        Noise::PermuteAndFlip { epsilon } => Mechanism::permute_and_flip(times(epsilon)),
        _ => Err(unsupported(
            mechanism,
            "such samples of groups are not known; give the epsilon that holds after sampling",
        )),
    }
    .map(|far| far.noise())
}

/// A sample that holds the record with probability `rate`: removed, and added.
fn both(base: Law, rate: f64) -> [Law; 2] {
    // At rate 1 there is no sample; the unsampled law is the same in both directions, or it is refused above.
    if rate >= 1.0 {
        return [base.clone(), base];
    }
    let base = Box::new(base);
    [Law::Remove { base: base.clone(), rate }, Law::Add { base, rate }]
}

/// The worse direction at every threshold, of a sample in which the record takes another's place.
fn replaced(base: Law, rate: f64) -> Law {
    if rate >= 1.0 {
        return base;
    }
    Law::Symmetric { one_sided: Box::new(Law::Remove { base: Box::new(base), rate }) }
}

/// Lots of limited size: whether the others alone fill the lot is the same with and without the record, and may be told.
fn truncated(mechanism: &Mechanism, adjacency: Adjacency, lots: &Truncation, rate: f64) -> Result<Vec<Law>> {
    let noise = mechanism.noise();
    let far = unsampled(noise, Adjacency::Replace, 2.0)?;
    let in_place = || replaced(far.clone(), lots.in_place);
    let (room, full): (Vec<Law>, Vec<Law>) = match adjacency {
        Adjacency::AddRemove => {
            let near = unsampled(noise, adjacency, 1.0)?;
            (both(near, rate).into(), both(far.clone(), lots.in_place).into())
        }
        Adjacency::ZeroOut => {
            (both(unsampled(noise, adjacency, 1.0)?, rate).into(), vec![in_place(), in_place()])
        }
        Adjacency::Replace => {
            let bell = bell(mechanism)?;
            let room = if rate < 1.0 { Law::Opposite { noise: bell, rate } } else { far.clone() };
            (vec![room], vec![in_place()])
        }
    };
    let either = |(room, full)| match lots.room {
        Some(weight) => Either::of((weight, room), (lots.full, full), lots.error),
        None => full,
    };
    Ok(room.into_iter().zip(full).map(either).collect())
}

fn unsampled(noise: Noise, adjacency: Adjacency, distance: f64) -> Result<Law> {
    Ok(match noise {
        Noise::Gaussian { noise_multiplier } => Law::Gaussian { shift: distance / noise_multiplier },
        Noise::Laplace { scale } => Law::Laplace { shift: distance / scale },
        Noise::DiscreteGaussian { sigma, contribution } => {
            Law::Atoms(Atoms::discrete_gaussian(sigma, f64::from(contribution) * distance)?)
        }
        Noise::DiscreteLaplace { scale, contribution } => {
            Law::Atoms(Atoms::discrete_laplace(scale, f64::from(contribution) * distance)?)
        }
        Noise::RandomizedResponse { random_probability, buckets } => match adjacency {
            Adjacency::Replace => Law::Atoms(Atoms::randomized_response(random_probability, buckets)),
            Adjacency::ZeroOut => Law::Atoms(Atoms::response_or_any(random_probability, buckets)),
            Adjacency::AddRemove => {
                return Err(Error::Unsupported {
                    event: "randomised response".into(),
                    accountant: "add-remove adjacency",
                    remedy: "it hides which answer was given, not whether one was: use `replace` or `zero-out` adjacency"
                        .into(),
                });
            }
        },
        Noise::Pure { epsilon } => Law::Atoms(Atoms::pure(epsilon)),
        Noise::Exponential { epsilon } => Law::Range(Range::new(epsilon)),
        // As much as Laplace noise of that epsilon at every threshold, and no more.
        Noise::PermuteAndFlip { epsilon } => Law::Laplace { shift: epsilon },
        Noise::Tree { .. } => {
            return Err(Error::Unsupported {
                event: "a tree".into(),
                accountant: "the privacy-loss accountant",
                remedy: "every record takes part in one step of a tree: leave the sampling out".into(),
            });
        }
    })
}

fn bell(mechanism: &Mechanism) -> Result<Bell> {
    match mechanism.noise() {
        Noise::Gaussian { noise_multiplier } => Ok(Bell::Gaussian { scale: noise_multiplier }),
        Noise::Laplace { scale } => Ok(Bell::Laplace { scale }),
        _ => Err(unsupported(
            mechanism,
            "under `replace`, Poisson sampling is known for Gaussian and Laplace noise",
        )),
    }
}

/// Refuses what is not noise added to a sum.
fn additive(mechanism: &Mechanism) -> Result<()> {
    if mechanism.noise().is_additive() {
        return Ok(());
    }
    let remedy =
        "such samples are known for noise that is added to a sum; give the epsilon that holds after sampling";
    Err(unsupported(mechanism, remedy))
}

fn unsupported(mechanism: &Mechanism, remedy: &str) -> Error {
    Error::Unsupported {
        event: mechanism.to_string(),
        accountant: "the privacy-loss accountant",
        remedy: remedy.into(),
    }
}
