//! In which currency losses that are counted in units of one local release are paid.

use serde::{Deserialize, Serialize};
use sottovoce_privacy::{Gdp, Loss};

use crate::Result;

/// In which currency a unit loss `m` is paid once the noise is `sigma`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Currency {
    /// Exactly Gaussian: `mu² = m / sigma²`.
    #[default]
    Gaussian,
    /// A Rényi loss of `order m / (2 sigma²)` at every order.
    Concentrated,
}

impl Currency {
    /// The loss that `m` units are at noise `sigma` (in sensitivities).
    pub fn loss(self, units: f64, sigma: f64) -> Result<Loss> {
        // A loss that rounding would make none is the least there is.
        let mu_squared = match units / (sigma * sigma) {
            quotient if units > 0.0 && quotient < f64::MIN_POSITIVE => f64::MIN_POSITIVE,
            quotient => quotient,
        };
        Ok(match self {
            Self::Gaussian => Loss::Gdp(Gdp::of_square(mu_squared)?),
            Self::Concentrated => Loss::zcdp(0.5 * mu_squared)?,
        })
    }
}
