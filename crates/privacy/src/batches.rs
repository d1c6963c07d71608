//! Fixed batches when a record is added or removed.
//!
//! A batch has `m` records whatever the number of rows is, so a new record does not join a batch: it takes somebody's
//! place in it. Seen from the batch that is a *replacement*, which happens with probability `m / rows`. The pair of laws is
//! therefore that of a Poisson sample of that rate whose record moves the sum twice as far
//! (`docs/theorems/dominating-pairs.md`, section 7), and that is how it is accounted for.
//!
//! `rows` counts the larger of the two neighbouring data sets. Larger ones lose less, so the bound covers every data set of
//! at least that many rows, and each record of it.

use crate::mechanism::{Adjacency, Mechanism, Noise, Sampling};
use crate::{Error, Result};

/// The release with the same pair of laws that the accountants know; the release itself wherever they know it.
///
/// The sampling rate is rounded up, and so is the loss.
pub(crate) fn equivalent(mechanism: Mechanism, adjacency: Adjacency) -> Result<Mechanism> {
    match mechanism.sampling() {
        Sampling::FixedBatch { population, batch } if adjacency == Adjacency::AddRemove => {
            let rate = (batch as f64 / population as f64).next_up();
            doubled(mechanism)?.poisson(if rate < 1.0 { rate } else { 1.0 })
        }
        _ => Ok(mechanism),
    }
}

/// The unsampled release whose record moves the sum twice as far. Halving and doubling are exact.
fn doubled(mechanism: Mechanism) -> Result<Mechanism> {
    match mechanism.noise() {
        Noise::Gaussian { noise_multiplier } => Mechanism::gaussian(0.5 * noise_multiplier),
        Noise::Laplace { scale } => Mechanism::laplace(0.5 * scale),
        Noise::DiscreteGaussian { sigma, contribution } => {
            Mechanism::discrete_gaussian(sigma, twice(contribution)?)
        }
        Noise::DiscreteLaplace { scale, contribution } => {
            Mechanism::discrete_laplace(scale, twice(contribution)?)
        }
        Noise::RandomizedResponse { .. } | Noise::Pure { .. } => Err(Error::Unsupported {
            event: mechanism.to_string(),
            accountant: "add-remove adjacency",
            remedy: "a new record replaces another in a batch of fixed size: use `replace` adjacency".into(),
        }),
    }
}

fn twice(contribution: u32) -> Result<u32> {
    let remedy = "give at most 500000";
    contribution.checked_mul(2).ok_or_else(|| Error::parameter("contribution", contribution, remedy))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_a_sample_with_half_the_noise() {
        let batch = Mechanism::gaussian(4.0).unwrap().fixed_batch(1, 4).unwrap();
        let sample = Mechanism::gaussian(2.0).unwrap().poisson(0.25_f64.next_up()).unwrap();
        assert_eq!(equivalent(batch, Adjacency::AddRemove).unwrap(), sample);
        assert_eq!(equivalent(batch, Adjacency::Replace).unwrap(), batch);
        let whole = Mechanism::gaussian(4.0).unwrap().fixed_batch(4, 4).unwrap();
        assert_eq!(equivalent(whole, Adjacency::AddRemove).unwrap(), Mechanism::gaussian(4.0).unwrap());
    }

    #[test]
    fn what_has_no_equivalent_is_refused() {
        for release in [Mechanism::randomized_response(0.5, 3), Mechanism::pure(1.0)] {
            let batch = release.unwrap().fixed_batch(1, 4).unwrap();
            let message = equivalent(batch, Adjacency::AddRemove).unwrap_err().to_string();
            assert!(message.contains("`replace`"), "{message}");
        }
        let most = Mechanism::discrete_laplace(1.0, u32::MAX).unwrap().fixed_batch(1, 4).unwrap();
        assert!(equivalent(most, Adjacency::AddRemove).is_err());
    }
}
