//! From a target `(epsilon, delta)` to noise. The returned noise has been checked: it never under-noises.

use crate::mechanism::{check_delta, check_epsilon};
use crate::special::bisect;
use crate::{Accountant, Adjacency, Error, Mechanism, Result};

/// Which accountant must be satisfied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// The certified upper end of the privacy-loss interval (the sharper one).
    Pld,
    /// Rényi divergences.
    Rdp,
}

/// The least noise with which `steps` releases are `(epsilon, delta)`-private, to a relative `1e-6`.
///
/// `mechanism` builds the release from a noise parameter that protects more as it grows (a noise multiplier, a scale).
///
/// ```
/// use sottovoce_privacy::{Adjacency, Mechanism, calibrate};
/// let sigma = calibrate::noise(
///     |sigma| Mechanism::gaussian(sigma)?.poisson(0.01),
///     1000, Adjacency::AddRemove, 3.0, 1e-5, calibrate::Method::Pld,
/// )?;
/// assert!(sigma <= 0.8136);
/// # Ok::<(), sottovoce_privacy::Error>(())
/// ```
pub fn noise(
    mechanism: impl Fn(f64) -> Result<Mechanism>,
    steps: u64,
    adjacency: Adjacency,
    epsilon: f64,
    delta: f64,
    method: Method,
) -> Result<f64> {
    check_delta(delta)?;
    check_epsilon(epsilon)?;
    if epsilon == 0.0 {
        return Err(Error::parameter("epsilon", epsilon, "give a positive number"));
    }
    let enough = |noise: f64| -> Result<bool> {
        let mut accountant = Accountant::new(adjacency);
        accountant.compose(mechanism(noise)?, steps)?;
        let spent = match method {
            Method::Pld => accountant.epsilon(delta).map(|interval| interval.upper),
            Method::Rdp => accountant.rdp_epsilon(delta).map(|(epsilon, _)| epsilon),
        };
        match spent {
            Ok(spent) => Ok(spent <= epsilon),
            // So little noise that its loss is beyond computing is not enough.
            Err(Error::Accuracy { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    };
    let (low, high) = bracket(&enough, epsilon)?;
    // Inside the bracket every parameter was accepted once already, so a refusal cannot occur; it would count as "no".
    Ok(bisect(low, high, 1e-6, |noise| enough(noise).unwrap_or(false)).1)
}

/// Doubles or halves from 1 until the answer changes: `(too little, enough)`.
fn bracket(enough: &impl Fn(f64) -> Result<bool>, epsilon: f64) -> Result<(f64, f64)> {
    let mut noise = 1.0;
    if enough(noise)? {
        while noise > 2e-3 {
            if !enough(noise / 2.0)? {
                return Ok((noise / 2.0, noise));
            }
            noise /= 2.0;
        }
        return Ok((noise / 2.0, noise));
    }
    while noise < 4e8 {
        noise *= 2.0;
        if enough(noise)? {
            return Ok((noise / 2.0, noise));
        }
    }
    let remedy = "no noise up to 1e9 reaches it; give a larger epsilon or delta, or fewer steps";
    Err(Error::parameter("epsilon", epsilon, remedy))
}
