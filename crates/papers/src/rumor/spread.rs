//! Many runs of one rumour: how many are informed and active after each round.
//!
//! Of a walk (`s = 0`) there is one telling in a round, so that it takes hundreds of thousands of rounds. They are all done, but only
//! some are kept: every one at first, then ever fewer, the same ones of every run.

use sottovoce::rumor::kept_after;
use sottovoce_protocol::public::{Among, Rules};
use sottovoce_simulator::rumor::{Crowd, Dice};
use sottovoce_views::parallel;

use crate::Result;
use crate::statistics::{Summary, quantile};

/// Lower end, middle and upper end of the bands.
const BAND: [f64; 3] = [0.1, 0.5, 0.9];

/// All runs with one muting parameter.
pub(super) struct Spread {
    pub(super) muting: f64,
    pub(super) peers: usize,
    runs: Vec<Run>,
}

/// One run: shares after the rounds that are kept, and what it took in all.
struct Run {
    informed: Vec<f64>,
    active: Vec<f64>,
    rounds: u64,
    tellings: u64,
}

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Count {
    Informed,
    Active,
}

/// A share of the peers at one round, over all runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Point {
    pub(super) round: u64,
    pub(super) low: f64,
    pub(super) median: f64,
    pub(super) high: f64,
}

impl Spread {
    /// Simulates; run `i` has dice of its own.
    pub(super) fn new(peers: usize, muting: f64, runs: usize, seed: u64) -> Result<Self> {
        let one = |run: usize| Run::new(peers, muting, Dice::new(seed, run as u64, 0));
        let runs = parallel::map(runs, one, |_| ()).into_iter().collect::<Result<_>>()?;
        Ok(Self { muting, peers, runs })
    }

    /// Rounds until everyone is informed.
    pub(super) fn rounds(&self) -> Vec<f64> {
        self.runs.iter().map(|run| run.rounds as f64).collect()
    }

    pub(super) fn mean_rounds(&self) -> f64 {
        mean(self.rounds())
    }

    pub(super) fn mean_tellings(&self) -> f64 {
        mean(self.runs.iter().map(|run| run.tellings as f64))
    }

    /// Middle, lower and upper end of the rounds it takes.
    pub(super) fn band_of_rounds(&self) -> [f64; 3] {
        BAND.map(|part| quantile(&self.rounds(), part))
    }

    /// Middle and band by round, until half of the runs are over. Runs that ended before keep their last value.
    pub(super) fn course(&self, count: Count) -> Vec<Point> {
        let last = self.band_of_rounds()[1];
        let rounds = std::iter::successors(Some(0), |round| Some(kept_after(*round)));
        let kept = rounds.take_while(|round| *round as f64 <= last).enumerate();
        kept.map(|(place, round)| self.point(count, place, round)).collect()
    }

    fn point(&self, count: Count, place: usize, round: u64) -> Point {
        let values: Vec<f64> = self.runs.iter().filter_map(|run| run.at(count, place)).collect();
        let [low, median, high] = BAND.map(|part| quantile(&values, part));
        Point { round, low, median, high }
    }

    /// The share active while the rumour fills its last corners: the mean over the last rounds of all runs, once nine tenths
    /// know. None where there are no such rounds.
    pub(super) fn plateau(&self) -> Option<f64> {
        let late = |run: &Run| -> Vec<f64> {
            let full = run.informed.iter().position(|share| *share >= 0.9).unwrap_or(run.informed.len());
            // Half of what is left: the first of these rounds are still on the way up.
            let from = full + (run.informed.len() - full) / 2;
            run.active[from..].to_vec()
        };
        Summary::of(self.runs.iter().flat_map(late)).map(|summary| summary.mean)
    }

    /// By how much those active multiply in a round while they are few: more than `least` of them, and no share above `most`.
    pub(super) fn growth(&self, least: usize, most: f64) -> Option<f64> {
        let few = |run: &Run| {
            let within = |share: &f64| *share * self.peers as f64 >= least as f64 && *share <= most;
            let first = run.active.iter().position(&within)?;
            let last = first + run.active[first..].iter().take_while(|share| within(share)).count() - 1;
            let rise: f64 = run.active[last] / run.active[first];
            (last > first).then(|| rise.ln() / (last - first) as f64)
        };
        Summary::of(self.runs.iter().filter_map(few)).map(|summary| summary.mean.exp())
    }
}

impl Run {
    fn new(peers: usize, muting: f64, dice: Dice) -> Result<Self> {
        let mut crowd = Crowd::new(Among::Everyone(peers), Rules::new(muting)?, 0, dice)?;
        let share = |count: usize| count as f64 / peers as f64;
        let (mut informed, mut active) = (Vec::new(), Vec::new());
        let mut kept = 0;
        loop {
            let over = crowd.informed() == peers;
            if crowd.rounds() == kept || over {
                informed.push(share(crowd.informed()));
                active.push(share(crowd.active()));
                kept = kept_after(kept);
            }
            if over {
                return Ok(Self { informed, active, rounds: crowd.rounds(), tellings: crowd.tellings() });
            }
            crowd.silent_round();
        }
    }

    fn at(&self, count: Count, place: usize) -> Option<f64> {
        let values = match count {
            Count::Informed => &self.informed,
            Count::Active => &self.active,
        };
        values.get(place).or(values.last()).copied()
    }
}

fn mean(values: impl IntoIterator<Item = f64>) -> f64 {
    Summary::of(values).map_or(f64::NAN, |summary| summary.mean)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_push_fills_everyone_and_everyone_stays_active() {
        let push = Spread::new(512, 1.0, 20, 1).unwrap();
        let (informed, active) = (push.course(Count::Informed), push.course(Count::Active));
        assert_eq!(informed, active);
        assert_eq!((informed[0].round, informed[0].median), (0, 1.0 / 512.0));
        let last = informed.last().unwrap();
        assert!(last.median == 1.0 && (10..30).contains(&last.round));
        assert!(informed.windows(2).all(|pair| pair[0].median <= pair[1].median));
        assert!(informed.iter().all(|point| point.low <= point.median && point.median <= point.high));
        assert!((push.plateau().unwrap() - 1.0).abs() < 0.02);
    }

    #[test]
    fn a_walk_tells_once_in_a_round_and_few_rounds_are_kept() {
        let walk = Spread::new(128, 0.0, 10, 2).unwrap();
        assert_eq!(walk.mean_rounds(), walk.mean_tellings());
        // 128 (1 + 1/2 + ... + 1/127) = 695.
        assert!((400.0..1100.0).contains(&walk.mean_rounds()), "{}", walk.mean_rounds());
        let course = walk.course(Count::Informed);
        assert!(course.len() < 450 && course.iter().all(|point| point.median <= 1.0));
        assert_eq!(walk.plateau(), Some(1.0 / 128.0));
    }

    #[test]
    fn those_active_multiply_by_one_and_the_muting_parameter() {
        let half = Spread::new(1 << 14, 0.5, 20, 3).unwrap();
        assert!((half.growth(50, 0.02).unwrap() - 1.5).abs() < 0.03);
    }
}
