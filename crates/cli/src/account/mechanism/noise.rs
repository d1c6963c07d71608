//! Which noise, and how much of it.

use anyhow::bail;
use clap::Args;
use sottovoce_privacy::{Mechanism, Result};

/// The noise of one release.
#[derive(Debug, Args)]
pub(super) struct NoiseArgs {
    /// Gaussian noise (give --noise-multiplier).
    #[arg(long, group = "noise")]
    gaussian: bool,
    /// Laplace noise (give --scale).
    #[arg(long, group = "noise")]
    laplace: bool,
    /// Discrete Gaussian noise on the integers (give --sigma).
    #[arg(long, group = "noise")]
    discrete_gaussian: bool,
    /// Discrete Laplace noise on the integers (give --scale).
    #[arg(long, group = "noise")]
    discrete_laplace: bool,
    /// Randomised response (give --random-probability and --buckets); needs --adjacency replace.
    #[arg(long, group = "noise")]
    randomized_response: bool,

    /// Standard deviation of Gaussian noise, per contribution of one record.
    #[arg(long, value_name = "SIGMA", allow_hyphen_values = true)]
    noise_multiplier: Option<f64>,
    /// Scale of Laplace noise, per contribution of one record.
    #[arg(long, value_name = "B", allow_hyphen_values = true)]
    scale: Option<f64>,
    /// Parameter of discrete Gaussian noise, in grid steps.
    #[arg(long, value_name = "SIGMA", allow_hyphen_values = true)]
    sigma: Option<f64>,
    /// Probability of answering at random.
    #[arg(long, value_name = "P", allow_hyphen_values = true)]
    random_probability: Option<f64>,
    /// Number of possible answers (randomised response; 2 unless given).
    #[arg(long, value_name = "K")]
    buckets: Option<u32>,
    /// Largest contribution of one record, in grid steps (discrete noise; 1 unless given).
    #[arg(long, value_name = "C")]
    contribution: Option<u32>,
}

impl NoiseArgs {
    /// The noise parameter of the chosen mechanism: its option's name and value.
    pub(super) fn parameter(&self) -> (&'static str, Option<f64>) {
        if self.gaussian {
            ("noise-multiplier", self.noise_multiplier)
        } else if self.discrete_gaussian {
            ("sigma", self.sigma)
        } else if self.randomized_response {
            ("random-probability", self.random_probability)
        } else {
            ("scale", self.scale)
        }
    }

    /// The release with the noise that was given.
    pub(super) fn given(&self) -> anyhow::Result<Mechanism> {
        match self.parameter() {
            (_, Some(noise)) => Ok(self.release(noise)?),
            (name, None) => {
                bail!("`{name}` is missing: give --{name}, or --calibrate with --epsilon to find it")
            }
        }
    }

    /// A parameter of another mechanism would be ignored in silence: refuse it.
    pub(super) fn refuse_strangers(&self, calibrating: bool) -> anyhow::Result<()> {
        let (own, given) = self.parameter();
        let all = [
            ("noise-multiplier", self.noise_multiplier),
            ("scale", self.scale),
            ("sigma", self.sigma),
            ("random-probability", self.random_probability),
        ];
        if let Some((name, Some(value))) = all.iter().find(|(name, value)| *name != own && value.is_some()) {
            bail!("`{name}` is {value}: the chosen noise takes --{own} instead");
        }
        if let Some(buckets) = self.buckets.filter(|_| !self.randomized_response) {
            bail!(
                "`buckets` is {buckets}: only randomised response has answers to choose from; leave it out"
            );
        }
        let discrete = self.discrete_gaussian || self.discrete_laplace;
        if let Some(contribution) = self.contribution.filter(|_| !discrete) {
            bail!(
                "`contribution` is {contribution}: only discrete noise counts in grid steps; give noise relative to one record's contribution"
            );
        }
        if let (true, Some(value)) = (calibrating, given) {
            bail!("`{own}` is {value}: --calibrate finds it; remove one of the two");
        }
        Ok(())
    }

    /// The unsampled release with so much noise.
    pub(super) fn release(&self, noise: f64) -> Result<Mechanism> {
        if self.gaussian {
            Mechanism::gaussian(noise)
        } else if self.laplace {
            Mechanism::laplace(noise)
        } else if self.discrete_gaussian {
            Mechanism::discrete_gaussian(noise, self.contribution.unwrap_or(1))
        } else if self.discrete_laplace {
            Mechanism::discrete_laplace(noise, self.contribution.unwrap_or(1))
        } else {
            Mechanism::randomized_response(noise, self.buckets.unwrap_or(2))
        }
    }

    /// A parameter that may grow without bound, as the noise parameter: probabilities cannot, but their odds can.
    pub(super) fn of_odds(&self, odds: f64) -> f64 {
        if self.randomized_response { odds / (1.0 + odds) } else { odds }
    }
}
