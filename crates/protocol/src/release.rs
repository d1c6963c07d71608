//! One private value made public under noise: plain data that budgets and accountants read.

use serde::{Deserialize, Serialize};
pub use sottovoce_privacy::Law;
use sottovoce_privacy::{Accountant, Adjacency, Gdp, Loss, Mechanism, Result};

/// One private value made public under noise. Whatever is computed from it afterwards is covered by it.
///
/// ```
/// use sottovoce_privacy::{Gdp, Loss};
/// use sottovoce_protocol::Release;
/// let Loss::Gdp(loss) = Release::gaussian(1.0, 2.0).loss()? else { panic!("Gaussian") };
/// assert_eq!(loss.mu(), 0.5);
/// assert!(Release::gaussian(1.0, 0.0).loss().is_err()); // Nothing is hidden: no loss is known.
/// # Ok::<(), sottovoce_privacy::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Release {
    /// The law of the noise.
    pub law: Law,
    /// How far one person can move the value.
    pub sensitivity: f64,
    /// The scale of the noise in each coordinate.
    pub scale: f64,
    /// The probability with which each record entered, if records were drawn at random (Poisson); none if all entered.
    pub rate: Option<f64>,
}

impl Release {
    /// Gaussian noise on everyone's data.
    pub fn gaussian(sensitivity: f64, scale: f64) -> Self {
        Self { law: Law::Gaussian, sensitivity, scale, rate: None }
    }

    /// Laplace noise on everyone's data.
    pub fn laplace(sensitivity: f64, scale: f64) -> Self {
        Self { law: Law::Laplace, sensitivity, scale, rate: None }
    }

    /// Noise in a uniform direction, for sensitivities in the 2-norm.
    pub fn radial(sensitivity: f64, scale: f64) -> Self {
        Self { law: Law::Radial, sensitivity, scale, rate: None }
    }

    /// The same release on a Poisson sample of the records.
    pub fn sampled(self, rate: f64) -> Self {
        Self { rate: Some(rate), ..self }
    }

    /// What someone who sees it loses about a record, rounded up. Refuses what has no finite loss, and what is no release.
    pub fn loss(&self) -> Result<Loss> {
        match (self.law, self.rate) {
            (Law::Gaussian, None) => Ok(Loss::Gdp(Gdp::of_release(self.sensitivity, self.scale)?)),
            (Law::Laplace | Law::Radial, None) => Loss::pure((self.sensitivity / self.scale).next_up()),
            _ => {
                let mut accountant = Accountant::new(Adjacency::AddRemove);
                accountant.compose(self.mechanism()?, 1)?;
                Ok(Loss::Pld(accountant))
            }
        }
    }

    /// The same as the accountant's mechanism, whose noise is relative to the sensitivity: never more than there is.
    pub fn mechanism(&self) -> Result<Mechanism> {
        let relative = (self.scale / self.sensitivity).next_down();
        let noise = match self.law {
            Law::Gaussian => Mechanism::gaussian(relative)?,
            Law::Laplace => Mechanism::laplace(relative)?,
            // In one coordinate it is a Laplace law, but in several its losses are spread otherwise: only the largest is used.
            Law::Radial => Mechanism::pure((self.sensitivity / self.scale).next_up())?,
        };
        self.rate.map_or(Ok(noise), |rate| noise.poisson(rate))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_are_those_of_the_accountant() {
        // All that is said of Laplace noise is its largest loss, which a little delta would lower.
        for (release, slack) in [
            (Release::gaussian(2.0, 3.0), 1e-12),
            (Release::laplace(2.0, 3.0), 1e-4),
            (Release::radial(2.0, 3.0), 1e-4),
            (Release::gaussian(1.0, 1.5).sampled(0.1), 1e-6),
        ] {
            let mut accountant = Accountant::new(Adjacency::AddRemove);
            accountant.compose(release.mechanism().unwrap(), 1).unwrap();
            let (loss, known) = (release.loss().unwrap(), accountant.epsilon(1e-5).unwrap());
            let epsilon = loss.epsilon(1e-5).unwrap().upper;
            assert!(
                epsilon >= known.lower && epsilon < known.upper * (1.0 + slack),
                "{release:?}: {epsilon}"
            );
        }
    }

    #[test]
    fn what_is_no_release_has_no_loss() {
        for (sensitivity, scale) in
            [(1.0, 0.0), (1.0, -1.0), (f64::NAN, 1.0), (1.0, f64::NAN), (-1.0, 1.0), (0.0, 0.0)]
        {
            assert!(Release::gaussian(sensitivity, scale).loss().is_err(), "{sensitivity} {scale}");
            assert!(Release::laplace(sensitivity, scale).loss().is_err(), "{sensitivity} {scale}");
            assert!(Release::radial(sensitivity, scale).loss().is_err(), "{sensitivity} {scale}");
        }
        assert!(Release::gaussian(1.0, 1.0).sampled(1.5).loss().is_err());
    }
}
