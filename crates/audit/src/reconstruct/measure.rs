//! Many runs of the protocol on numbers, and how far the attackers' estimates are off.
//!
//! In every run each peer's value is one of two, `mean - deviation` or `mean + deviation`, by the toss of a coin: the prior of the
//! uninformed attacker, and a game for the informed one, who has to tell the two apart. Runs are played [`BLOCK`] at a time, as
//! the coordinates of a vector; a block is a function of its number and the seed, and blocks are added up in order.

use rand::Rng;
use sottovoce_dense::Mat;
use sottovoce_privacy::noise::simulation::{Seed, Stream};
use sottovoce_simulator::noise::PeerNoise;
use sottovoce_simulator::paired::secret;
use sottovoce_views::parallel;

use super::attack::Attackers;
use super::masked::Sight;
use super::stage::Stage;
use super::view::{Known, View};
use super::{Prior, Result};

/// Runs played at once: as many coins as a word has.
const BLOCK: usize = 64;
/// What was counted for one peer. Sums of squares are in units of the local noise.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Tally {
    /// Squared errors of the informed estimate.
    pub(super) informed: f64,
    /// Squared errors of the uninformed estimate of the private value.
    pub(super) uninformed: f64,
    /// Squared errors of the estimate of the noisy value.
    pub(super) noisy: f64,
    /// Runs with the larger value, and how many of them were taken for the smaller.
    pub(super) high: u64,
    pub(super) misses: u64,
    /// Runs with the smaller value, and how many of them were taken for the larger.
    pub(super) low: u64,
    pub(super) false_alarms: u64,
}

impl Tally {
    fn add(&mut self, other: Self) {
        self.informed += other.informed;
        self.uninformed += other.uninformed;
        self.noisy += other.noisy;
        self.high += other.high;
        self.misses += other.misses;
        self.low += other.low;
        self.false_alarms += other.false_alarms;
    }
}

/// Everything a block of runs needs.
pub(super) struct Experiment<'a> {
    pub(super) view: &'a View,
    pub(super) attackers: &'a Attackers,
    pub(super) stage: &'a Stage,
    /// What is seen under masks, where there are some.
    pub(super) sight: Option<&'a Sight>,
    pub(super) sigma: f64,
    pub(super) prior: Prior,
    /// The values of every run, where they are not drawn.
    pub(super) values: Option<&'a [f64]>,
    pub(super) seed: u64,
}

impl Experiment<'_> {
    /// Plays `runs` runs on all cores; one tally for each target. `done` hears how many runs are over.
    pub(super) fn tally(&self, runs: usize, done: impl Fn(usize) + Sync) -> Result<Vec<Tally>> {
        let width = |block: usize| BLOCK.min(runs - block * BLOCK);
        let blocks = parallel::map(
            runs.div_ceil(BLOCK),
            |block| self.block(block as u64, width(block)),
            |finished| done((finished * BLOCK).min(runs)),
        );
        Ok(self.total(blocks.into_iter().collect::<Result<Vec<_>>>()?))
    }

    fn total(&self, blocks: impl IntoIterator<Item = Vec<Tally>>) -> Vec<Tally> {
        let mut total = vec![Tally::default(); self.view.targets.len()];
        for block in blocks {
            total.iter_mut().zip(block).for_each(|(sum, tally)| sum.add(tally));
        }
        total
    }

    fn block(&self, block: u64, runs: usize) -> Result<Vec<Tally>> {
        let seed = Seed(self.seed).stream(Stream::Runs, u64::MAX, block).next_u64();
        let coins: Vec<u64> = (0..self.view.peers as u64)
            .map(|peer| Seed(self.seed).stream(Stream::Coins, peer, block).next_u64())
            .collect();
        let Prior { mean, deviation } = self.prior;
        let side = |peer: usize, run: usize| if coins[peer] >> run & 1 == 1 { deviation } else { -deviation };
        let value = |peer: usize, run: usize| {
            let value = self.values.map_or_else(|| mean + side(peer, run), |values| values[peer]);
            // Who knows the grid looks for what was rounded to it.
            self.sight.map_or(value, |sight| sight.rounded(value))
        };
        let values: Vec<Vec<f64>> =
            (0..self.view.peers).map(|peer| (0..runs).map(|run| value(peer, run)).collect()).collect();
        let messages = self.listen(seed, &values, runs)?;
        let targets = &self.view.targets;
        let private = Mat::from_fn(targets.len(), runs, |u, run| values[targets[u]][run] / self.sigma);
        let own = |&peer: &usize| match self.sight {
            Some(sight) => sight.shares(seed, peer, runs),
            None => Ok(standard(seed, peer, 0, runs)),
        };
        let first = targets.iter().map(own).collect::<Result<Vec<Vec<f64>>>>()?;
        let noisy = Mat::from_fn(targets.len(), runs, |u, run| private[(u, run)] + first[u][run]);
        let middle = mean / self.sigma;
        Ok(self.score(&messages, &private, &noisy, middle))
    }

    /// What the observers are left with once they have taken out what they knew, in units of the local noise.
    fn listen(&self, seed: u64, values: &[Vec<f64>], runs: usize) -> Result<Mat> {
        let view = self.view;
        if let Some(sight) = self.sight {
            let sums = sight.sums(seed, values, runs)?;
            return Ok(Mat::from_fn(sums.len(), runs, |group, run| sums[group][run] / self.sigma));
        }
        let mut heard = Mat::zeros(view.rows.len(), runs);
        let mut write = |round: usize, from: usize, value: &[f64]| {
            if let Some(&row) = view.rows.get(&(round, from)) {
                (0..runs).for_each(|run| heard[(row, run)] = value[run] / self.sigma);
            }
        };
        let results = self.stage.perform(seed, values, |from, to, message| {
            if view.is_heard(to) {
                write(message.round, from, &message.value);
            }
        })?;
        results.iter().enumerate().for_each(|(peer, last)| write(self.stage.rounds(), peer, last));
        let mut own = Mat::zeros(view.own.len(), runs);
        for (i, &known) in view.own.iter().enumerate() {
            let (noise, value) = match known {
                Known::Draw(peer, draw) => {
                    (standard(seed, peer, draw, runs), (draw == 0).then(|| &values[peer]))
                }
                Known::Pair(one, other) => {
                    let mut noise = vec![0.0; runs];
                    secret(seed, one, other).add(0, 1.0, &mut noise);
                    (noise, None)
                }
            };
            for run in 0..runs {
                own[(i, run)] = value.map_or(0.0, |value| value[run] / self.sigma) + noise[run];
            }
        }
        Ok(heard - &(&view.known * &own))
    }

    fn score(&self, messages: &Mat, private: &Mat, noisy: &Mat, middle: f64) -> Vec<Tally> {
        let informed = self.attackers.informed(messages, private);
        let guessed = self.attackers.noisy(messages, middle);
        let share = self.attackers.share;
        let mut tallies = vec![Tally::default(); private.nrows()];
        for (u, tally) in tallies.iter_mut().enumerate() {
            for run in 0..private.ncols() {
                let (x, estimate, guess) = (private[(u, run)], informed[(u, run)], guessed[(u, run)]);
                tally.informed += (estimate - x).powi(2);
                tally.noisy += (guess - noisy[(u, run)]).powi(2);
                tally.uninformed += (middle + share * (guess - middle) - x).powi(2);
                let taken_for_high = estimate > middle;
                if x > middle {
                    tally.high += 1;
                    tally.misses += u64::from(!taken_for_high);
                } else {
                    tally.low += 1;
                    tally.false_alarms += u64::from(taken_for_high);
                }
            }
        }
        tallies
    }
}

/// Draw `draw` of a peer in units of its scale: the very bits the protocol was given.
fn standard(seed: u64, peer: usize, draw: usize, runs: usize) -> Vec<f64> {
    PeerNoise::new(seed, peer).standard(draw as u64, runs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sottovoce_protocol::averaging::Noising;
    use sottovoce_protocol::public::Scheme;
    use sottovoce_views::door::Setting;

    #[test]
    fn blocks_on_many_threads_are_blocks_one_after_the_other() {
        let scheme = Scheme::Butterfly { positions: (0..6).collect() };
        let setting = Setting { relay_noise: 0.2, ..Setting::of(scheme) };
        let view = View::new(&setting, &[1], false).unwrap();
        let attackers = Attackers::new(&view, 0.5).unwrap();
        let noising = Noising { sensitivity: 1.0, local: 2.0, relay: 0.4 };
        let stage = Stage::new(&setting, noising).unwrap();
        let prior = Prior { mean: 1.0, deviation: 1.0 };
        let experiment = Experiment {
            view: &view,
            attackers: &attackers,
            stage: &stage,
            sight: None,
            sigma: 2.0,
            prior,
            values: None,
            seed: 4,
        };
        let one_by_one =
            experiment.total([64, 64, 64, 8].iter().zip(0..).map(|(&w, i)| experiment.block(i, w).unwrap()));
        assert_eq!(experiment.tally(200, |_| ()).unwrap(), one_by_one);
        let counted = one_by_one.iter().map(|tally| tally.high + tally.low);
        assert!(counted.into_iter().all(|runs| runs == 200));
    }
}
