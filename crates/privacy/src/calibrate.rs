//! From a target `(epsilon, delta)` to noise. The returned noise has been checked: it never under-noises.

use crate::mechanism::Noise;
use crate::mechanism::{check_delta, check_epsilon};
use crate::special::bisect;
use crate::{Accountant, Adjacency, Error, Mechanism, Result, require};

/// Which accountant must be satisfied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// The certified upper end of the privacy-loss interval (the sharper one).
    Pld,
    /// Rényi divergences.
    Rdp,
}

/// Noise that was found, and what is known of less.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Calibrated {
    /// The noise: certified to suffice.
    pub noise: f64,
    /// A smaller one, by about a millionth, that could not be certified; nothing where the least noise that is admitted suffices.
    pub short: Option<f64>,
    /// Whether more noise of this kind always protects more. Discrete noise does not: between its grid points a larger
    /// parameter can lose more. Smaller parameters were then tried in steps of 1 %, and one in between may suffice as well.
    pub monotone: bool,
}

/// Steps in which smaller parameters of discrete noise are tried.
const TRIAL: f64 = 0.99;
/// Most of them, beyond a single release (where each costs next to nothing).
const TRIALS: usize = 60;

/// By which factor calibrated noise is raised, so that what was calibrated passes when it is accounted for. Accountants cut noise over sensitivity to forty digits; and
/// an epsilon comes from the logarithm of its delta, so that it is known to some `1e-15` for each unit of that, however small it is itself. Without a delta (0) there is
/// no such logarithm.
///
/// ```
/// use sottovoce_privacy::calibrate::headroom;
/// assert!(headroom(1.0, 1e-5) < 1.0 + 2e-11);
/// assert!(headroom(1e-6, 1e-100) > 1.0 + 9e-7);
/// ```
pub fn headroom(epsilon: f64, delta: f64) -> f64 {
    let units = if delta > 0.0 && delta < 1.0 { -delta.ln() } else { 0.0 };
    1.0 + 1e-11 + (4e-14 + 4e-15 * units) / epsilon
}

/// The least noise with which `steps` releases are certified to be `(epsilon, delta)`-private, to a relative `1e-6`.
///
/// `mechanism` builds the release from a noise parameter (a noise multiplier, a scale).
///
/// ```
/// use sottovoce_privacy::{Adjacency, Mechanism, calibrate};
/// let build = |sigma| Mechanism::gaussian(sigma)?.poisson(0.01);
/// let found = calibrate::least(build, 1000, Adjacency::AddRemove, 3.0, 1e-5, calibrate::Method::Pld)?;
/// assert!(found.noise <= 0.8136);
/// # Ok::<(), sottovoce_privacy::Error>(())
/// ```
pub fn least(
    mechanism: impl Fn(f64) -> Result<Mechanism>,
    steps: u64,
    adjacency: Adjacency,
    epsilon: f64,
    delta: f64,
    method: Method,
) -> Result<Calibrated> {
    check_delta(delta)?;
    check_epsilon(epsilon)?;
    require(epsilon != 0.0, "epsilon", epsilon, "give a positive number")?;
    let enough = |noise: f64| -> Result<bool> {
        let mut accountant = Accountant::new(adjacency);
        accountant.compose(mechanism(noise)?, steps)?;
        let spent = match method {
            Method::Pld => accountant.epsilon(delta).map(|interval| interval.upper),
            Method::Rdp => accountant.rdp_epsilon(delta).map(|(epsilon, _)| epsilon),
        };
        match spent {
            // (What is not a number is not enough.)
            Ok(spent) => Ok(spent <= epsilon),
            // So little noise that its loss is beyond computing is not enough.
            Err(Error::Accuracy { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    };
    let noise = mechanism(1.0)?.noise();
    let monotone = !matches!(noise, Noise::DiscreteGaussian { .. } | Noise::DiscreteLaplace { .. });
    let (low, high) = bracket(&enough, epsilon)?;
    let found = refine(&enough, low, high, monotone);
    if monotone {
        return Ok(found);
    }
    // The last of the smaller parameters that suffices, and the first below it that does not.
    let trials = if steps == 1 { usize::MAX } else { TRIALS };
    let smaller = std::iter::successors(Some(found.noise * TRIAL), |noise| Some(noise * TRIAL));
    let tried: Vec<f64> = smaller.take(trials).take_while(|noise| *noise >= LEAST).collect();
    let last = tried.iter().rposition(|&noise| enough(noise).unwrap_or(false));
    Ok(last.map_or(found, |last| {
        let low = tried.get(last + 1).copied();
        refine(&enough, low, tried[last], monotone)
    }))
}

/// The least noise that is admitted.
const LEAST: f64 = 1e-3;

/// Closes in between too little (if there is such a thing) and enough.
fn refine(enough: &impl Fn(f64) -> Result<bool>, low: Option<f64>, high: f64, monotone: bool) -> Calibrated {
    let Some(low) = low else { return Calibrated { noise: high, short: None, monotone } };
    // Inside the bracket every parameter was accepted once already, so a refusal cannot occur; it would count as "no".
    let (short, noise) = bisect(low, high, 1e-6, |noise| enough(noise).unwrap_or(false));
    Calibrated { noise, short: Some(short), monotone }
}

/// Doubles or halves from 1 until the answer changes: `(too little, enough)`. The least admitted noise may suffice.
fn bracket(enough: &impl Fn(f64) -> Result<bool>, epsilon: f64) -> Result<(Option<f64>, f64)> {
    let mut noise = 1.0;
    if enough(noise)? {
        loop {
            let half = if noise > 2.0 * LEAST { noise / 2.0 } else { LEAST };
            if !enough(half)? {
                return Ok((Some(half), noise));
            }
            noise = half;
            if noise <= LEAST {
                return Ok((None, noise));
            }
        }
    }
    while noise < 4e8 {
        noise *= 2.0;
        if enough(noise)? {
            return Ok((Some(noise / 2.0), noise));
        }
    }
    let remedy = "no noise up to 1e9 reaches it; give a larger epsilon or delta, or fewer steps";
    Err(Error::parameter("epsilon", epsilon, remedy))
}
