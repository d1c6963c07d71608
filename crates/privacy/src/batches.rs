//! Releases that are accounted for as others: fixed batches when a record is added or removed, and trees.
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
        Sampling::FixedBatch { population, batch } if population == batch => whole(mechanism, adjacency),
        Sampling::FixedBatch { population, batch } if adjacency == Adjacency::AddRemove => {
            let rate = (batch as f64 / population as f64).next_up();
            doubled(mechanism)?.poisson(if rate < 1.0 { rate } else { 1.0 })
        }
        _ => match mechanism.noise() {
            Noise::Tree { noise_multiplier, leaves } => tree(mechanism, noise_multiplier, leaves, adjacency),
            _ => Ok(mechanism),
        },
    }
}

/// A batch of everybody: no sample, as long as there are so many rows.
fn whole(mechanism: Mechanism, adjacency: Adjacency) -> Result<Mechanism> {
    match adjacency {
        Adjacency::AddRemove => Err(Error::Unsupported {
            event: mechanism.to_string(),
            accountant: "add-remove adjacency",
            remedy: "one row less does not fill such a batch, and of one row more it is a sample: leave batch and population \
                     out for a release on every row"
                .into(),
        }),
        Adjacency::Replace | Adjacency::ZeroOut => equivalent(mechanism.on_everyone(), adjacency),
    }
}

/// All sums of a tree as one Gaussian release. A leaf is part of as many complete nodes as the number of leaves has binary
/// digits, so the record moves a vector by at most the root of that (`docs/theorems/mixtures.md`, section 4). Rounded down: less noise.
fn tree(mechanism: Mechanism, noise_multiplier: f64, leaves: u64, adjacency: Adjacency) -> Result<Mechanism> {
    let refused = |remedy: &str| {
        let accountant = "the privacy-loss accountant";
        Err(Error::Unsupported { event: mechanism.to_string(), accountant, remedy: remedy.into() })
    };
    match (mechanism.sampling(), adjacency) {
        (Sampling::Nobody, _) => Ok(mechanism),
        (Sampling::Everyone, Adjacency::AddRemove) => refused(
            "a new record would move all that follow to other steps: use `zero-out` or `replace` adjacency",
        ),
        (Sampling::Everyone, _) => {
            let root = f64::from(u64::BITS - leaves.leading_zeros()).sqrt();
            // An irrational root may itself be too small.
            Mechanism::gaussian(divided_down(
                noise_multiplier,
                if root.fract() == 0.0 { root } else { root.next_up() },
            ))
        }
        _ => refused("every record takes part in one step of a tree: leave the sampling out"),
    }
}

/// `value / by`, rounded down.
pub(crate) fn divided_down(value: f64, by: f64) -> f64 {
    let quotient = value / by;
    // Rounded once, so its sign is right.
    if quotient.mul_add(by, -value) <= 0.0 { quotient } else { quotient.next_down() }
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
        _ => Err(Error::Unsupported {
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
    }

    /// Of one row more it would be a sample, which loses more than twice as much.
    #[test]
    fn a_batch_of_everybody_is_no_sample_and_not_known_when_records_come_and_go() {
        let plain = Mechanism::gaussian(4.0).unwrap();
        let whole = plain.fixed_batch(4, 4).unwrap();
        assert_eq!(equivalent(whole, Adjacency::Replace).unwrap(), plain);
        assert_eq!(equivalent(whole, Adjacency::ZeroOut).unwrap(), plain);
        let message = equivalent(whole, Adjacency::AddRemove).unwrap_err().to_string();
        assert!(message.contains("leave batch and population out"), "{message}");
        let tree = Mechanism::tree(4.0, 1).unwrap().fixed_batch(4, 4).unwrap();
        assert_eq!(equivalent(tree, Adjacency::Replace).unwrap(), plain);
    }

    /// Never more noise than the levels leave: squared, and in whole numbers of the last digit, it can be checked exactly.
    #[test]
    fn the_noise_of_a_tree_is_rounded_down() {
        for leaves in [1, 2, 5, 100, 200, 255, 256, 511, 1600, 1 << 35, u64::MAX] {
            let levels = f64::from(u64::BITS - u64::leading_zeros(leaves));
            for i in 0..200 {
                let sigma = 1.0 + f64::from(i) * 0.137;
                let tree = Mechanism::tree(sigma, leaves).unwrap();
                let Noise::Gaussian { noise_multiplier } =
                    equivalent(tree, Adjacency::ZeroOut).unwrap().noise()
                else {
                    panic!("a Gaussian")
                };
                // noise² levels <= sigma², with what rounding drops of either product.
                let (square, wanted) = (noise_multiplier * noise_multiplier, sigma * sigma);
                let rest = noise_multiplier.mul_add(noise_multiplier, -square);
                let product = square * levels;
                let dropped =
                    square.mul_add(levels, -product) + rest * levels - sigma.mul_add(sigma, -wanted);
                assert!((product - wanted) + dropped <= 0.0, "{sigma} {leaves}: {noise_multiplier}");
                assert!(noise_multiplier > sigma / levels.sqrt() * (1.0 - 1e-15), "{sigma} {leaves}");
            }
        }
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
