//! What other noises and other numbers of steps would give: the sliders of the page.

use sottovoce_protocol::public::Scheme;
use sottovoce_topology::mixing::Mixing;
use sottovoce_views::door::Setting;
use sottovoce_views::exact::Results;
use sottovoce_views::utility::{Contraction, pairs_left, spread_left};

use super::pairs::Pairs;
use crate::Result;
use crate::experiment::Ready;

/// Peers beyond which only the experiment's own setting is looked at.
const MOST_PEERS: usize = 100;
/// Messages that an observer hears, beyond which looking at many settings takes too long.
const MOST_HEARD: f64 = 400.0;

/// One setting of the grid.
pub(super) struct Point {
    pub(super) pairs: Pairs,
    pub(super) error: f64,
    pub(super) mean: f64,
    pub(super) worst_far: f64,
}

/// Relay noises and steps, and which of them are the experiment's own.
pub(super) struct Grid {
    pub(super) relay: Vec<f64>,
    pub(super) steps: Vec<usize>,
    pub(super) chosen: (usize, usize),
}

impl Grid {
    /// Around the experiment's own setting where that is gossip among a few peers; else that setting alone.
    pub(super) fn around(setting: &Setting) -> Self {
        let (own, rounds) = (setting.relay_noise, setting.scheme.rounds());
        let single = Self { relay: vec![own], steps: vec![rounds], chosen: (0, 0) };
        let Scheme::Gossip { mixing, accelerated: false, .. } = &setting.scheme else { return single };
        let degree = 2.0 * mixing.graph().edge_count() as f64 / mixing.nodes() as f64;
        // With relay noise and published results the space has a dimension for every noise, which takes too many digits to look at often.
        let shown = setting.results == Results::Published;
        if mixing.nodes() > MOST_PEERS
            || degree * rounds as f64 > MOST_HEARD
            || shown
            || setting.cancelling.is_some()
        {
            return single;
        }
        let unit = if own > 0.0 { own } else { 0.1 };
        let mut relay: Vec<f64> = [0.0, 0.2, 0.5, 1.0, 2.0, 4.0].map(|factor| round(factor * unit)).to_vec();
        if !relay.contains(&own) {
            relay[3] = own;
        }
        let mut steps: Vec<usize> = [2, 4, 7, 10, 15, 20, 30].map(|part| (part * rounds + 7) / 15).to_vec();
        steps.retain(|steps| *steps > 0);
        steps.dedup();
        let place = |found: Option<usize>| found.unwrap_or(0);
        let chosen =
            (place(relay.iter().position(|tau| *tau == own)), place(steps.iter().position(|t| *t == rounds)));
        Self { relay, steps, chosen }
    }

    /// How many settings there are.
    pub(super) fn len(&self) -> usize {
        self.relay.len() * self.steps.len()
    }

    /// All of them, the steps of the first noise first. `own` is the experiment's own, which is known already.
    pub(super) fn points(
        &self,
        ready: &Ready,
        hops: &[Vec<u32>],
        own: Pairs,
        done: &impl Fn(),
    ) -> Result<Vec<Point>> {
        let errors = Errors::new(ready, self)?;
        let mut own = Some(own);
        let mut points = Vec::with_capacity(self.len());
        for (i, &relay_noise) in self.relay.iter().enumerate() {
            for (j, &steps) in self.steps.iter().enumerate() {
                let known = if (i, j) == self.chosen { own.take() } else { None };
                let pairs = match known {
                    Some(pairs) => pairs,
                    None => Pairs::planned(&with(&ready.setting, relay_noise, steps), &|_| ())?,
                };
                let (mean, worst_far) = (pairs.mean(), pairs.worst_far(hops));
                points.push(Point { error: errors.at(ready, relay_noise, steps)?, mean, worst_far, pairs });
                done();
            }
        }
        Ok(points)
    }
}

/// The same with other noise and steps.
pub(super) fn with(setting: &Setting, relay_noise: f64, steps: usize) -> Setting {
    let mut other = Setting { relay_noise, ..setting.clone() };
    if let Scheme::Gossip { rounds, .. } = &mut other.scheme {
        *rounds = steps;
    }
    other
}

/// Two digits or so, as people write them.
fn round(share: f64) -> f64 {
    format!("{share:.6}").parse().unwrap_or(share)
}

/// Mean squared errors by step.
pub(super) struct Errors {
    gossip: Option<(Contraction, Vec<f64>)>,
}

impl Errors {
    fn new(ready: &Ready, grid: &Grid) -> Result<Self> {
        let gossip = match &ready.setting.scheme {
            Scheme::Gossip { mixing, accelerated: false, .. } => {
                let steps = grid.steps.last().copied().unwrap_or(0);
                Some((Contraction::new(mixing, steps)?, left(mixing, ready, steps)?))
            }
            _ => None,
        };
        Ok(Self { gossip })
    }

    fn at(&self, ready: &Ready, relay_noise: f64, steps: usize) -> Result<f64> {
        match &self.gossip {
            Some((left, spread)) => {
                Ok(spread[steps] + left.noise_error(steps, ready.sigma, relay_noise * ready.sigma))
            }
            None => predicted(ready),
        }
    }
}

/// What is left of the values' spread after each step, averaged over coordinates.
fn spread(mixing: &Mixing, ready: &Ready, steps: usize) -> Vec<f64> {
    let coordinates = ready.values.columns.len();
    let mut sum = vec![0.0; steps + 1];
    for coordinate in 0..coordinates {
        let column = column(ready, coordinate);
        let left = spread_left(mixing, &column, steps);
        sum.iter_mut().zip(left).for_each(|(sum, left)| *sum += left);
    }
    sum.iter_mut().for_each(|sum| *sum /= coordinates as f64);
    sum
}

/// The same with what is left of the noise of pairs.
pub(super) fn left(mixing: &Mixing, ready: &Ready, steps: usize) -> Result<Vec<f64>> {
    let mut left = spread(mixing, ready, steps);
    if let Some(pairs) = &ready.setting.cancelling {
        let noise = pairs_left(mixing, pairs, steps)?;
        left.iter_mut().zip(noise).for_each(|(left, noise)| *left += ready.sigma.powi(2) * noise);
    }
    Ok(left)
}

/// One number of every peer.
pub(super) fn column(ready: &Ready, coordinate: usize) -> Vec<f64> {
    ready.values.all.iter().map(|value| value[coordinate]).collect()
}

/// Predicted mean squared error of a result, per coordinate.
pub(super) fn predicted(ready: &Ready) -> Result<f64> {
    let coordinates = ready.values.columns.len();
    let mut spread = 0.0;
    for coordinate in 0..coordinates {
        spread += ready.setting.spread(&column(ready, coordinate))? / coordinates as f64;
    }
    Ok(spread + ready.setting.noise_error(ready.sigma)?)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use sottovoce_topology::family::{Family, generate};
    use sottovoce_topology::mixing::Weights;

    fn setting(n: usize, rounds: usize, relay_noise: f64) -> Setting {
        let mixing =
            Mixing::new(&generate(&Family::Ring { n }, 0, true).unwrap(), Weights::MetropolisPlusOne);
        Setting { relay_noise, ..Setting::of(Scheme::Gossip { mixing, rounds, accelerated: false }) }
    }

    #[test]
    fn the_grid_holds_the_experiments_own_setting() {
        for (rounds, relay) in [(15, 0.1), (1, 0.0), (3, 0.037), (200, 1e-5), (15, 7.0)] {
            let grid = Grid::around(&setting(12, rounds, relay));
            assert_eq!(
                (grid.relay[grid.chosen.0], grid.steps[grid.chosen.1]),
                (relay, rounds),
                "{rounds} {relay}"
            );
            assert!(grid.steps.windows(2).all(|pair| pair[0] < pair[1]));
        }
        let quickstart = Grid::around(&setting(64, 15, 0.1));
        assert_eq!(quickstart.relay, [0.0, 0.02, 0.05, 0.1, 0.2, 0.4]);
        assert_eq!(quickstart.steps, [2, 4, 7, 10, 15, 20, 30]);
        assert_eq!(Grid::around(&setting(101, 15, 0.1)).len(), 1);
    }
}
