//! What was released: plain data, no accounting. An accountant composes these and refuses those it does not know.
//!
//! Units. A record contributes at most 1 (after clipping and scaling) to the sum that is perturbed. Under
//! [`Adjacency::AddRemove`] and [`Adjacency::ZeroOut`] the sum then moves by 1 between neighbours; under
//! [`Adjacency::Replace`] by 2. Noise is always stated relative to one record's contribution, so the same release has the
//! same description under all of them.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Error, Result, require};

/// Which data sets are neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Adjacency {
    /// One record more or one record less.
    AddRemove,
    /// One record exchanged for another (the number of records is public).
    Replace,
    /// One record exchanged for one that says nothing: it is drawn as any other, and contributes 0 (to a response: any
    /// answer, all alike). The number of records is public.
    ZeroOut,
}

impl Adjacency {
    /// How far a record moves a sum to which it contributes 1.
    pub(crate) fn distance(self) -> f64 {
        match self {
            Self::AddRemove | Self::ZeroOut => 1.0,
            Self::Replace => 2.0,
        }
    }
}

impl fmt::Display for Adjacency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AddRemove => "add-remove",
            Self::Replace => "replace",
            Self::ZeroOut => "zero-out",
        })
    }
}

impl std::str::FromStr for Adjacency {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "add-remove" => Ok(Self::AddRemove),
            "replace" => Ok(Self::Replace),
            "zero-out" => Ok(Self::ZeroOut),
            _ => Err(Error::parameter("adjacency", text, "give `add-remove`, `replace` or `zero-out`")),
        }
    }
}

/// The noise added to a query, relative to the contribution of one record.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", tag = "noise")]
pub enum Noise {
    /// Continuous Gaussian of standard deviation `noise_multiplier` (per unit of L2 contribution).
    Gaussian {
        /// Standard deviation divided by one record's L2 contribution.
        noise_multiplier: f64,
    },
    /// Continuous Laplace of the given scale (per unit of L1 contribution).
    Laplace {
        /// Scale divided by one record's L1 contribution.
        scale: f64,
    },
    /// Discrete Gaussian on the integers; one record contributes at most `contribution` to a single integer. (A vector with
    /// an L2 bound has the same zCDP loss, but not the same distribution of losses: account for it as `Loss::Zcdp`.)
    DiscreteGaussian {
        /// The parameter sigma (not exactly the standard deviation).
        sigma: f64,
        /// Largest integer contribution of one record.
        contribution: u32,
    },
    /// Discrete Laplace on the integers, `P[k] ∝ exp(-|k|/scale)`.
    DiscreteLaplace {
        /// The scale.
        scale: f64,
        /// Largest integer contribution of one record.
        contribution: u32,
    },
    /// `k`-ary randomised response: the truth is kept with probability `1 - p`, else replaced by one of the `buckets`
    /// values uniformly (the true one included).
    RandomizedResponse {
        /// The probability `p` of answering at random.
        random_probability: f64,
        /// Number of possible answers.
        buckets: u32,
    },
    /// Whatever is `epsilon`-private under the accountant's own adjacency, and of which nothing else is known.
    Pure {
        /// The bound on the loss.
        epsilon: f64,
    },
    /// The exponential mechanism: one of several candidates, drawn in proportion to `e^(epsilon score / 2)` where neighbours
    /// under the accountant's own adjacency move each score by at most 1; or anything else whose losses lie within `epsilon`
    /// of each other.
    Exponential {
        /// Twice the weight of a score.
        epsilon: f64,
    },
    /// Permute-and-flip (the largest of scores under exponential noise), with the same scores.
    PermuteAndFlip {
        /// Twice the rate of the noise.
        epsilon: f64,
    },
    /// All sums of a binary tree over `leaves` steps, each under Gaussian noise; a record takes part in one step.
    Tree {
        /// Standard deviation of a node's noise divided by one record's L2 contribution.
        noise_multiplier: f64,
        /// Steps of the (longest) tree.
        leaves: u64,
    },
}

impl Noise {
    /// Whether it is added to a sum, so that a record that contributes 0 is as good as absent.
    pub(crate) fn is_additive(self) -> bool {
        matches!(
            self,
            Self::Gaussian { .. }
                | Self::Laplace { .. }
                | Self::DiscreteGaussian { .. }
                | Self::DiscreteLaplace { .. }
        )
    }
}

/// How the records that enter a release are drawn.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", tag = "sampling")]
pub enum Sampling {
    /// All of them.
    Everyone,
    /// Each one independently with probability `rate`.
    Poisson {
        /// The probability.
        rate: f64,
    },
    /// Each one of `rows` independently with probability `rate`; of more than `most`, a uniform subset of that size.
    TruncatedPoisson {
        /// The probability.
        rate: f64,
        /// Records to draw from (when one is added or removed: in the larger data set).
        rows: u64,
        /// Most records of a lot.
        most: u64,
    },
    /// A uniform subset of `batch` out of `population` (without replacement).
    FixedBatch {
        /// Records to draw from.
        population: u64,
        /// Records drawn.
        batch: u64,
    },
    /// None of them: what is released is noise.
    Nobody,
}

/// One noisy release of one query.
///
/// ```
/// use sottovoce_privacy::Mechanism;
/// let step = Mechanism::gaussian(1.1)?.poisson(0.01)?;
/// assert_eq!(step.to_string(), "gaussian(noise-multiplier=1.1) on a poisson sample (rate=0.01)");
/// assert!(Mechanism::gaussian(0.0).is_err());
/// # Ok::<(), sottovoce_privacy::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(try_from = "Stored")]
pub struct Mechanism {
    #[serde(flatten)]
    noise: Noise,
    #[serde(flatten)]
    sampling: Sampling,
}

/// As it is read: not yet checked.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Stored {
    #[serde(flatten)]
    noise: Noise,
    #[serde(flatten)]
    sampling: Sampling,
}

impl TryFrom<Stored> for Mechanism {
    type Error = Error;

    fn try_from(Stored { noise, sampling }: Stored) -> Result<Self> {
        let everyone = match noise {
            Noise::Gaussian { noise_multiplier } => Self::gaussian(noise_multiplier),
            Noise::Laplace { scale } => Self::laplace(scale),
            Noise::DiscreteGaussian { sigma, contribution } => Self::discrete_gaussian(sigma, contribution),
            Noise::DiscreteLaplace { scale, contribution } => Self::discrete_laplace(scale, contribution),
            Noise::RandomizedResponse { random_probability, buckets } => {
                Self::randomized_response(random_probability, buckets)
            }
            Noise::Pure { epsilon } => Self::pure(epsilon),
            Noise::Exponential { epsilon } => Self::exponential(epsilon),
            Noise::PermuteAndFlip { epsilon } => Self::permute_and_flip(epsilon),
            Noise::Tree { noise_multiplier, leaves } => Self::tree(noise_multiplier, leaves),
        }?;
        match sampling {
            Sampling::Everyone => Ok(everyone),
            Sampling::Poisson { rate } => everyone.poisson(rate),
            Sampling::TruncatedPoisson { rate, rows, most } => everyone.truncated_poisson(rate, rows, most),
            Sampling::FixedBatch { population, batch } => everyone.fixed_batch(batch, population),
            Sampling::Nobody => Ok(everyone.on_nobody()),
        }
    }
}

/// Least probability of an answer that is not the true one: smaller ones lose digits, and then count for nothing.
const LEAST: f64 = 1e-290;

/// Most records that truncated lots are drawn from: their sizes are counted one by one.
const MOST_ROWS: u64 = 1_000_000_000_000;

impl Mechanism {
    fn new(noise: Noise) -> Self {
        Self { noise, sampling: Sampling::Everyone }
    }

    /// Gaussian noise.
    pub fn gaussian(noise_multiplier: f64) -> Result<Self> {
        positive("noise-multiplier", noise_multiplier)?;
        Ok(Self::new(Noise::Gaussian { noise_multiplier }))
    }

    /// Several Gaussian answers about the same records, as one: the squares of their losses add up. Rounded down.
    pub fn gaussians(noise_multipliers: &[f64]) -> Result<Self> {
        at_least("noise-multipliers", noise_multipliers.len() as u64, 1)?;
        noise_multipliers.iter().try_for_each(|&each| positive("noise-multiplier", each))?;
        let squares: f64 = noise_multipliers.iter().map(|each| (each * each).recip()).sum();
        let roundings = 4.0 + noise_multipliers.len() as f64;
        Self::gaussian(squares.sqrt().recip() * (1.0 - roundings * f64::EPSILON))
    }

    /// Laplace noise.
    pub fn laplace(scale: f64) -> Result<Self> {
        positive("scale", scale)?;
        Ok(Self::new(Noise::Laplace { scale }))
    }

    /// Discrete Gaussian noise on the integers.
    pub fn discrete_gaussian(sigma: f64, contribution: u32) -> Result<Self> {
        positive("sigma", sigma)?;
        at_least("contribution", u64::from(contribution), 1)?;
        Ok(Self::new(Noise::DiscreteGaussian { sigma, contribution }))
    }

    /// Discrete Laplace noise on the integers.
    pub fn discrete_laplace(scale: f64, contribution: u32) -> Result<Self> {
        positive("scale", scale)?;
        at_least("contribution", u64::from(contribution), 1)?;
        Ok(Self::new(Noise::DiscreteLaplace { scale, contribution }))
    }

    /// Randomised response among `buckets` answers.
    pub fn randomized_response(random_probability: f64, buckets: u32) -> Result<Self> {
        let remedy = "give a probability above 0 (0 would publish the answer) and at most 1";
        require(
            random_probability > 0.0 && random_probability <= 1.0,
            "random-probability",
            random_probability,
            remedy,
        )?;
        at_least("buckets", u64::from(buckets), 2)?;
        if random_probability / f64::from(buckets) < LEAST {
            let remedy = format!(
                "give at least {LEAST:e} for each answer; below that the answer is as good as published"
            );
            return Err(Error::parameter("random-probability", format!("{random_probability:e}"), remedy));
        }
        Ok(Self::new(Noise::RandomizedResponse { random_probability, buckets }))
    }

    /// The same release on a Poisson sample of the records. Rate 1 is no sampling at all.
    pub fn poisson(mut self, rate: f64) -> Result<Self> {
        let remedy = "give a probability above 0 and at most 1";
        require(rate > 0.0 && rate <= 1.0, "sampling-rate", rate, remedy)?;
        self.sampling = if rate == 1.0 { Sampling::Everyone } else { Sampling::Poisson { rate } };
        Ok(self)
    }

    /// The same release on a Poisson sample of `rows` records, of which at most `most` are kept.
    pub fn truncated_poisson(self, rate: f64, rows: u64, most: u64) -> Result<Self> {
        at_least("most", most, 1)?;
        require(
            rows != 0 && rows <= MOST_ROWS,
            "rows",
            rows,
            format!("give a number from 1 to {MOST_ROWS}"),
        )?;
        let mut sampled = self.poisson(rate)?;
        if most < rows {
            sampled.sampling = Sampling::TruncatedPoisson { rate, rows, most };
        }
        Ok(sampled)
    }

    /// The same release on a uniform batch of fixed size. A batch of everybody is no sample; where records are added or removed
    /// it is refused when it is accounted for, since one row less would not fill it.
    pub fn fixed_batch(mut self, batch: u64, population: u64) -> Result<Self> {
        at_least("batch", batch, 1)?;
        let remedy = format!("give at most the population, {population}");
        require(batch <= population, "batch", batch, remedy)?;
        self.sampling = Sampling::FixedBatch { population, batch };
        Ok(self)
    }

    /// Anything that is `epsilon`-private, whatever it is.
    pub fn pure(epsilon: f64) -> Result<Self> {
        check_pure(epsilon)?;
        Ok(Self::new(Noise::Pure { epsilon }))
    }

    /// The exponential mechanism.
    pub fn exponential(epsilon: f64) -> Result<Self> {
        check_pure(epsilon)?;
        Ok(Self::new(Noise::Exponential { epsilon }))
    }

    /// Permute-and-flip.
    pub fn permute_and_flip(epsilon: f64) -> Result<Self> {
        check_pure(epsilon)?;
        Ok(Self::new(Noise::PermuteAndFlip { epsilon }))
    }

    /// Gaussian noise on every node of a binary tree over `leaves` steps.
    pub fn tree(noise_multiplier: f64, leaves: u64) -> Result<Self> {
        positive("noise-multiplier", noise_multiplier)?;
        at_least("leaves", leaves, 1)?;
        Ok(Self::new(Noise::Tree { noise_multiplier, leaves }))
    }

    /// The same release on no records at all: sampling at rate 0, or an empty batch.
    pub fn on_nobody(mut self) -> Self {
        self.sampling = Sampling::Nobody;
        self
    }

    /// The same release on everybody.
    pub(crate) fn on_everyone(self) -> Self {
        Self { sampling: Sampling::Everyone, ..self }
    }

    /// The noise.
    pub fn noise(&self) -> Noise {
        self.noise
    }

    /// The sampling.
    pub fn sampling(&self) -> Sampling {
        self.sampling
    }

    /// How far one record moves the sum at most. In a lot of limited size, and in a batch, it also takes somebody's place.
    pub(crate) fn distance(&self, adjacency: Adjacency) -> f64 {
        match self.sampling {
            Sampling::TruncatedPoisson { .. } | Sampling::FixedBatch { .. } => 2.0,
            Sampling::Everyone | Sampling::Poisson { .. } | Sampling::Nobody => adjacency.distance(),
        }
    }
}

impl fmt::Display for Mechanism {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.noise {
            Noise::Gaussian { noise_multiplier } => {
                write!(f, "gaussian(noise-multiplier={noise_multiplier})")?;
            }
            Noise::Laplace { scale } => write!(f, "laplace(scale={scale})")?,
            Noise::DiscreteGaussian { sigma, contribution } => {
                write!(f, "discrete-gaussian(sigma={sigma}, contribution={contribution})")?;
            }
            Noise::DiscreteLaplace { scale, contribution } => {
                write!(f, "discrete-laplace(scale={scale}, contribution={contribution})")?;
            }
            Noise::RandomizedResponse { random_probability, buckets } => {
                write!(f, "randomized-response(random-probability={random_probability}, buckets={buckets})")?;
            }
            Noise::Pure { epsilon } => write!(f, "anything {epsilon}-private")?,
            Noise::Exponential { epsilon } => write!(f, "exponential(epsilon={epsilon})")?,
            Noise::PermuteAndFlip { epsilon } => write!(f, "permute-and-flip(epsilon={epsilon})")?,
            Noise::Tree { noise_multiplier, leaves } => {
                write!(f, "tree(noise-multiplier={noise_multiplier}, leaves={leaves})")?;
            }
        }
        match self.sampling {
            Sampling::Everyone => Ok(()),
            Sampling::Poisson { rate } => write!(f, " on a poisson sample (rate={rate})"),
            Sampling::TruncatedPoisson { rate, rows, most } => {
                write!(f, " on at most {most} of a poisson sample of {rows} (rate={rate})")
            }
            Sampling::FixedBatch { population, batch } => {
                write!(f, " on a batch of {batch} out of {population}")
            }
            Sampling::Nobody => f.write_str(" on nobody's data"),
        }
    }
}

/// Refuses anything but a positive, finite number (within what the numerics are certified for).
pub(crate) fn positive(field: &'static str, value: f64) -> Result<()> {
    if value.is_finite() && (1e-3..=1e9).contains(&value) {
        return Ok(());
    }
    Err(Error::parameter(field, value, "give a finite number from 0.001 to 1e9"))
}

/// Refuses an epsilon outside what the numerics are certified for.
fn check_pure(epsilon: f64) -> Result<()> {
    if epsilon.is_finite() && (1e-9..=500.0).contains(&epsilon) {
        return Ok(());
    }
    Err(Error::parameter("epsilon", epsilon, "give a finite number from 1e-9 to 500"))
}

/// Refuses a `delta` outside `(0, 1)`, and one so small that it has hardly a digit: what is computed from it would not be known to any.
pub(crate) fn check_delta(delta: f64) -> Result<()> {
    if (f64::MIN_POSITIVE..1.0).contains(&delta) {
        return Ok(());
    }
    if delta > 0.0 && delta < 1.0 {
        return Err(Error::parameter("delta", delta, "give at least 2.3e-308"));
    }
    Err(Error::parameter("delta", delta, "give a probability strictly between 0 and 1, such as 1e-5"))
}

/// Refuses an `epsilon` that is negative or not finite.
pub(crate) fn check_epsilon(epsilon: f64) -> Result<()> {
    if epsilon.is_finite() && epsilon >= 0.0 {
        return Ok(());
    }
    Err(Error::parameter("epsilon", epsilon, "give a finite number of at least 0"))
}

fn at_least(field: &'static str, value: u64, least: u64) -> Result<()> {
    if value >= least {
        return Ok(());
    }
    Err(Error::parameter(field, value, format!("give at least {least}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_name_field_value_and_remedy() {
        let message = Mechanism::gaussian(f64::NAN).unwrap_err().to_string();
        assert_eq!(message, "`noise-multiplier` is NaN: give a finite number from 0.001 to 1e9");
        let message = Mechanism::gaussian(1.0).unwrap().poisson(1.5).unwrap_err().to_string();
        assert!(message.contains("`sampling-rate` is 1.5"), "{message}");
        assert!(Mechanism::laplace(-1.0).is_err());
        assert!(Mechanism::laplace(1.0).unwrap().fixed_batch(11, 10).is_err());
        assert!(Mechanism::randomized_response(0.5, 1).is_err());
        // Once accounted for as nothing at all.
        for (p, buckets) in [(1e-310, 2), (5e-324, 3), (2e-308, 1000), (1e-285, u32::MAX)] {
            assert!(Mechanism::randomized_response(p, buckets).is_err(), "{p:e} {buckets}");
        }
        assert!(Mechanism::discrete_gaussian(1.0, 0).is_err());
    }

    #[test]
    fn sampling_everyone_is_no_sampling() {
        let plain = Mechanism::gaussian(2.0).unwrap();
        assert_eq!(plain.poisson(1.0).unwrap(), plain);
    }
}
