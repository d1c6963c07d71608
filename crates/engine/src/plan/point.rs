//! One setting of one protocol: its losses, the noise that follows, and the error.

use sottovoce_topology::mixing::Mixing;
use sottovoce_views::utility::{Contraction, accelerated_contraction, contraction};

use super::{Losses, Problem, Site};
use crate::Result;

/// A number of steps and a relay noise, with what follows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Number of steps.
    pub steps: usize,
    /// `tau / sigma`.
    pub ratio: f64,
    /// `sigma²`, from the target in closed form.
    pub variance: f64,
    /// Share of `sigma²` in the error.
    pub share: f64,
    /// Share of `tau²` in the error.
    pub relay_share: f64,
    /// What may be left of the private values' spread.
    pub spread_left: f64,
    /// Losses in units of local DP.
    pub losses: Losses,
}

impl Point {
    /// Predicted mean squared error.
    pub fn error(&self) -> f64 {
        self.variance * (self.share + self.ratio * self.ratio * self.relay_share) + self.spread_left
    }
}

/// The better of two.
pub(crate) fn better(best: Option<Point>, next: Point) -> Option<Point> {
    match best {
        Some(best) if best.error() <= next.error() => Some(best),
        _ => Some(next),
    }
}

/// The largest mean squared distance from their mean of values in an interval of width `sensitivity`: half of them at
/// either end.
pub(crate) fn largest_spread(sensitivity: f64) -> f64 {
    sensitivity * sensitivity / 4.0
}

/// How error falls with the steps on one graph: of noise, of relay noise, of the private values' spread.
#[derive(Debug, Clone)]
pub struct Curve {
    shares: Vec<f64>,
    relay: Vec<f64>,
    spread: Vec<f64>,
}

impl Curve {
    /// Of plain gossip, with and without relay noise.
    pub fn plain(site: &Site, steps: usize) -> Result<Self> {
        Self::new(&site.mixing, 1.0, steps, |t| contraction(site.gap, t))
    }

    /// Of accelerated gossip.
    pub fn accelerated(site: &Site, steps: usize) -> Result<Self> {
        Self::new(&site.mixing, site.gamma, steps, |t| accelerated_contraction(site.gap, site.gamma, t))
    }

    fn new(mixing: &Mixing, gamma: f64, steps: usize, spread: impl Fn(usize) -> f64) -> Result<Self> {
        let shares = Contraction::accelerated(mixing, gamma, steps)?.shares;
        let later = shares.iter().skip(1).scan(0.0, |sum, share| {
            *sum += share;
            Some(*sum)
        });
        let relay = std::iter::once(0.0).chain(later).collect();
        // All contractions together, less that of the mean, which is none: no single one is larger.
        let all = |t: usize| (mixing.nodes() as f64 * shares[t] - 1.0).max(0.0) + 1e-12;
        let spread = (0..=steps).map(|t| spread(t).min(all(t))).collect();
        Ok(Self { relay, spread, shares })
    }

    /// The point after `steps` (as many as there are), at losses that were found there.
    pub fn at(&self, problem: &Problem, steps: usize, ratio: f64, losses: Losses) -> Option<Point> {
        Some(Point {
            steps,
            ratio,
            variance: problem.target.variance(&losses, problem.sensitivity),
            share: *self.shares.get(steps)?,
            relay_share: self.relay[steps],
            spread_left: largest_spread(problem.sensitivity) * self.spread[steps],
            losses,
        })
    }
}
