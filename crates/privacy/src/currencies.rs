//! Concentrated and Gaussian privacy beside epsilon: what is known of a release in those currencies, rounded up.
//!
//! | release | zCDP `rho` | Gaussian `mu` |
//! | --- | --- | --- |
//! | Gaussian, sampled or not | `mu² / 2` | `mu`, the shift over the noise (exact if unsampled) |
//! | discrete Gaussian, sampled or not | as the Gaussian | none is known |
//! | losses within `epsilon` | the smaller of `epsilon² / 2` and `epsilon` | `-2 Phi^-1(1 / (1 + e^epsilon))` |
//!
//! Sampling lowers neither for Gaussian noise: far out in the tails a sampled Gaussian is a Gaussian. Proofs:
//! `docs/theorems/given-guarantees.md`.

use serde::Serialize;

use crate::event::Event;
use crate::mechanism::{Adjacency, Noise, Sampling};
use crate::pure;
use crate::special::{UNIT, bisect, ln_normal_above, tail_error};

/// A Gaussian that loses at least as much as a composition does, at every epsilon.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GaussianBound {
    /// Its parameter, rounded up.
    pub mu: f64,
    /// Whether the composition *is* that Gaussian.
    pub kind: Kind,
}

/// How sharp a bound is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// No smaller value holds.
    Exact,
    /// Proven to hold; a smaller one might.
    Bound,
}

/// The total `rho` of a composition.
pub(crate) fn zcdp(events: &[(Event, u64)], adjacency: Adjacency) -> f64 {
    let each = events.iter().map(|(event, count)| *count as f64 * rho(event, adjacency));
    let total = each.fold(0.0, |sum, rho| sum + rho);
    total * (1.0 + (4.0 + 2.0 * events.len() as f64) * UNIT)
}

/// The `rho` of one release.
pub(crate) fn rho(event: &Event, adjacency: Adjacency) -> f64 {
    if event.is_on_nobody() {
        return 0.0;
    }
    match (event.shift(adjacency), pure::upper(event, adjacency)) {
        (Some(shift), _) => 0.5 * shift * shift * (1.0 + 8.0 * UNIT),
        (None, Some(epsilon)) if epsilon < 2.0 => 0.5 * epsilon * epsilon * (1.0 + 8.0 * UNIT),
        (None, Some(epsilon)) => epsilon,
        (None, None) => f64::INFINITY,
    }
}

/// The Gaussian of a composition, or why none is known.
pub(crate) fn gaussian(events: &[(Event, u64)], adjacency: Adjacency) -> Result<GaussianBound, String> {
    let mut mu_squared = 0.0;
    let mut kind = Kind::Exact;
    for (event, count) in events {
        let (mu, sharp) = mu(event, adjacency)?;
        mu_squared += *count as f64 * mu * mu;
        kind = if sharp { kind } else { Kind::Bound };
    }
    let rounding = (8.0 + 2.0 * events.len() as f64) * UNIT;
    Ok(GaussianBound { mu: mu_squared.sqrt() * (1.0 + rounding), kind })
}

/// The parameter of one release, and whether it is exact.
fn mu(event: &Event, adjacency: Adjacency) -> Result<(f64, bool), String> {
    if event.is_on_nobody() {
        return Ok((0.0, true));
    }
    let exact =
        event.sampling() == Some(Sampling::Everyone) && matches!(event.noise(), Some(Noise::Gaussian { .. }));
    match (event.gaussian_shift(adjacency), pure::upper(event, adjacency)) {
        (Some(shift), _) => Ok((shift, exact)),
        (None, Some(epsilon)) => Ok((of_pure(epsilon), false)),
        (None, None) => Err(format!("no Gaussian is known that loses as much as {event} at every epsilon")),
    }
}

/// The least `mu` whose Gaussian loses at least as much as anything `epsilon`-private, rounded up:
/// `ln P[N > mu/2] <= -ln(1 + e^epsilon)`.
fn of_pure(epsilon: f64) -> f64 {
    if epsilon == 0.0 {
        return 0.0;
    }
    let target = -epsilon - (-epsilon).exp().ln_1p();
    let small_enough = |mu: f64| {
        let x = 0.5 * mu;
        // A relative error of the tail is an absolute one of its logarithm.
        let error = 2.0 * tail_error(x) + 8.0 * UNIT * (1.0 + epsilon);
        ln_normal_above(x) + error <= target
    };
    // `P[N > x] <= e^(-x²/2) / 2`, so this is enough.
    bisect(0.0, 2.0 * (2.0 * epsilon + 1.0).sqrt() + 1e-6, 1e-13, small_enough).1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gaussian_of_a_pure_loss_loses_as_much_at_every_epsilon() {
        for epsilon in [1e-6, 0.01, 0.5, 1.0, 3.0, 20.0, 300.0] {
            let mu = of_pure(epsilon);
            let gaussian = crate::Gdp::new(mu).unwrap();
            for i in 0..100 {
                let at = epsilon * f64::from(i) / 100.0;
                // Two answers: (e^epsilon - e^at) / (1 + e^epsilon).
                let odds = (-epsilon).exp();
                let response = -(at - epsilon).exp_m1() / (1.0 + odds);
                let bound = gaussian.delta(at).unwrap().upper;
                assert!(response <= bound * (1.0 + 1e-12), "{epsilon} at {at}: {response} > {bound}");
            }
            // At 0 the two meet: no smaller parameter will do.
            let meets = (epsilon / 2.0).tanh();
            let below = crate::Gdp::new(mu * (1.0 - 1e-9)).unwrap().delta(0.0).unwrap();
            assert!(epsilon < 1e-3 || below.lower < meets || meets == 1.0, "{epsilon}: {below:?} {meets}");
        }
    }
}
