//! What an accountant composes: releases whose pairs of laws are known.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::mechanism::{Adjacency, Mechanism, Noise, Sampling};
use crate::special::UNIT;
use crate::{Error, Mixture, Result, batches};

/// A release whose pair of laws is known.
#[derive(Debug, Clone, PartialEq, PartialOrd, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Event {
    /// Noise of one kind.
    Mechanism(Mechanism),
    /// Gaussian noise on a contribution that is drawn.
    Mixture(Mixture),
    /// A Poisson sample as several records together lose by it.
    Group(Together),
}

/// Several records and the sample that they may be in.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Together {
    /// The release for one of them.
    pub(crate) mechanism: Mechanism,
    /// Their number.
    pub(crate) records: u64,
}

impl From<Mechanism> for Event {
    fn from(mechanism: Mechanism) -> Self {
        Self::Mechanism(mechanism)
    }
}

impl From<Mixture> for Event {
    fn from(mixture: Mixture) -> Self {
        Self::Mixture(mixture)
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mechanism(mechanism) => mechanism.fmt(f),
            Self::Mixture(mixture) => mixture.fmt(f),
            Self::Group(Together { mechanism, records }) => write!(f, "{mechanism} for {records} records"),
        }
    }
}

impl Event {
    /// The release in the form that the accountants know, under this adjacency; refused where there is none.
    pub(crate) fn known(self, adjacency: Adjacency) -> Result<Self> {
        match self {
            Self::Mechanism(mechanism) => batches::equivalent(mechanism, adjacency).map(Self::Mechanism),
            Self::Mixture(_) if adjacency == Adjacency::Replace => Err(Error::Unsupported {
                event: self.to_string(),
                accountant: "replace adjacency",
                remedy:
                    "its law says what a record adds where there was none: use `add-remove` or `zero-out`"
                        .into(),
            }),
            Self::Mixture(mixture) => Ok(mixture.simple()?.map_or(Self::Mixture(mixture), Self::Mechanism)),
            Self::Group(_) => Ok(self),
        }
    }

    /// The noise, where it is of one kind and so is what a record contributes.
    pub(crate) fn noise(&self) -> Option<Noise> {
        match self {
            Self::Mechanism(mechanism) => Some(mechanism.noise()),
            Self::Mixture(_) | Self::Group(_) => None,
        }
    }

    /// The sampling, where there is any.
    pub(crate) fn sampling(&self) -> Option<Sampling> {
        match self {
            Self::Mechanism(mechanism) => Some(mechanism.sampling()),
            Self::Mixture(_) | Self::Group(_) => None,
        }
    }

    /// Whether it is noise alone.
    pub(crate) fn is_on_nobody(&self) -> bool {
        self.sampling() == Some(Sampling::Nobody)
    }

    /// How far a record moves a Gaussian, discrete or not, at most: in units of the noise.
    pub(crate) fn shift(&self, adjacency: Adjacency) -> Option<f64> {
        match self {
            Self::Mixture(mixture) => Some(mixture.largest()),
            Self::Group(Together { mechanism, records }) => {
                let one = Self::from(*mechanism).shift(adjacency)?;
                Some(one * *records as f64 * (1.0 + 2.0 * UNIT))
            }
            Self::Mechanism(mechanism) => {
                let distance = mechanism.distance(adjacency);
                match mechanism.noise() {
                    Noise::Gaussian { noise_multiplier } => Some(distance / noise_multiplier),
                    Noise::DiscreteGaussian { sigma, contribution } => {
                        Some(distance * f64::from(contribution) / sigma)
                    }
                    _ => None,
                }
            }
        }
    }

    /// The same for continuous noise alone.
    pub(crate) fn gaussian_shift(&self, adjacency: Adjacency) -> Option<f64> {
        let noise = match self {
            Self::Group(Together { mechanism, .. }) => Some(mechanism.noise()),
            _ => self.noise(),
        };
        let discrete = matches!(noise, Some(Noise::DiscreteGaussian { .. }));
        self.shift(adjacency).filter(|_| !discrete)
    }

    /// Whether the pairs of laws that are composed need not be attained by any data.
    pub(crate) fn is_a_bound(&self, adjacency: Adjacency, alone: bool) -> bool {
        let mechanism = match self {
            Self::Mechanism(mechanism) => mechanism,
            Self::Mixture(_) => return false,
            Self::Group(together) => return !together.is_exact(),
        };
        match (mechanism.sampling(), mechanism.noise()) {
            (Sampling::TruncatedPoisson { .. }, _) | (_, Noise::PermuteAndFlip { .. }) => true,
            (Sampling::FixedBatch { .. }, _) => !alone || adjacency == Adjacency::ZeroOut,
            (_, Noise::Exponential { .. }) => !alone,
            _ => false,
        }
    }
}

impl Together {
    /// More records than this are counted in steps.
    const MOST: u64 = 16;

    /// In which steps records are counted.
    pub(crate) fn gap(&self) -> u64 {
        self.records.div_ceil(Self::MOST)
    }

    /// Whether its laws are attained by some data.
    pub(crate) fn is_exact(&self) -> bool {
        self.gap() == 1 && self.mechanism.noise().is_additive()
    }

    /// How many records may be removed, and how many added: enough pairs to cover every way.
    pub(crate) fn ways(&self) -> Vec<[u64; 2]> {
        let gap = self.gap();
        let most = |least: u64| (least + gap - 1).min(self.records); // whole numbers
        let removed =
            (0..=self.records).step_by(gap as usize).map(|least| [most(least), self.records - least]);
        let mut all: Vec<_> = removed.collect();
        // The worst is likely to be the first: then the others need not be resolved.
        all.reverse();
        all
    }
}
