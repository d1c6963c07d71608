//! What is lost, over all pairs: mean, worst, worst among the far, and largest share of a bound of the pair's own.

use serde::Serialize;
use sottovoce_views::exact::Leakage;

use super::{Problem, Target};

/// Added to every loss against rounding, as the accountant does.
const ROUNDING: f64 = 1e-9;

/// Standard errors added to a mean that was estimated.
const SURE: f64 = 3.0;

/// Functionals of the losses of all ordered pairs of different peers, in units of local DP (or as `mu²`).
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Losses {
    /// The mean; where observers were sampled, their mean and three standard errors.
    pub mean: f64,
    /// The worst pair.
    pub worst: f64,
    /// The worst pair far apart; none if there is no such pair.
    pub far: Option<f64>,
    /// The largest share of its own bound that a pair loses (times `sigma²/Delta²`, as a loss); none if bounds do not fall with a distance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
}

impl Losses {
    /// Everybody sees everything: local DP.
    pub fn local(target: &Target) -> Self {
        Self { mean: 1.0, worst: 1.0, far: Some(1.0), share: target.falling.map(|least| 1.0 / least) }
    }

    /// `mu²` at these noises, a hair upwards.
    pub fn scaled(&self, sensitivity: f64, sigma: f64) -> Self {
        let unit = unit(sensitivity, sigma);
        let by = |loss: f64| loss * unit;
        Self { mean: by(self.mean), worst: by(self.worst), far: self.far.map(by), share: self.share.map(by) }
    }

    /// The larger of both, one by one.
    pub fn max(&self, other: &Self) -> Self {
        Self {
            mean: self.mean.max(other.mean),
            worst: self.worst.max(other.worst),
            far: self.far.into_iter().chain(other.far).reduce(f64::max),
            share: self.share.into_iter().chain(other.share).reduce(f64::max),
        }
    }
}

/// What one observer learns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Seen {
    mean: f64,
    worst: f64,
    far: Option<f64>,
    share: Option<f64>,
}

impl Seen {
    /// Of a single observer's view, with the hops from it to everybody.
    pub(crate) fn new(problem: &Problem, observer: usize, leakage: &Leakage, hops: &[u32]) -> Self {
        let others = || leakage.losses.iter().zip(hops).filter(|(_, hops)| **hops > 0);
        let largest = |far: u32| {
            others()
                .filter(|(_, hops)| **hops >= far)
                .map(|(loss, _)| *loss + leakage.rounding)
                .reduce(f64::max)
        };
        let count = others().count().max(1) as f64;
        Self {
            mean: others().map(|(loss, _)| loss).sum::<f64>() / count + leakage.rounding,
            worst: largest(1).unwrap_or(0.0),
            far: largest(problem.target.beyond),
            share: problem.falling.as_ref().and_then(|falling| falling.share_of(observer, leakage, hops)),
        }
    }
}

/// Puts the observers of one protocol together; `complete` if they are all there are.
pub(crate) fn gather<'a>(seen: impl Iterator<Item = &'a Seen> + Clone, complete: bool) -> Losses {
    let count = seen.clone().count().max(1) as f64;
    let mean = seen.clone().map(|seen| seen.mean).sum::<f64>() / count;
    let square = seen.clone().map(|seen| (seen.mean - mean).powi(2)).sum::<f64>() / (count - 1.0).max(1.0);
    let unsure = if complete { 0.0 } else { SURE * (square / count).sqrt() };
    Losses {
        mean: outward(mean + unsure),
        worst: outward(seen.clone().map(|seen| seen.worst).fold(0.0, f64::max)),
        far: seen.clone().filter_map(|seen| seen.far).reduce(f64::max).map(outward),
        share: seen.filter_map(|seen| seen.share).reduce(f64::max),
    }
}

/// A loss with its rounding error as `mu²`, never too small.
pub fn squared(loss: f64, rounding: f64, sensitivity: f64, sigma: f64) -> f64 {
    outward(loss + rounding) * unit(sensitivity, sigma)
}

/// `mu²` of local DP, a hair upwards.
pub(crate) fn unit(sensitivity: f64, sigma: f64) -> f64 {
    (sensitivity / sigma).powi(2) * (1.0 + 4.0 * f64::EPSILON)
}

/// A loss, and a hair for rounding; never more than local DP loses.
pub(crate) fn outward(loss: f64) -> f64 {
    (loss + ROUNDING).min(1.0)
}
