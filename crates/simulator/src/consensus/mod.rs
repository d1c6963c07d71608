//! Consensus learning: by messages in virtual time ([`ConsensusRun`]), or without messages and on all cores ([`BulkConsensus`]), with the same bits.
//!
//! What agents compute from their rows is a [`Trainer`]'s. Which rows a gradient is of, how long one may be and what their sum is divided by are not left to
//! it: lots are drawn here, from the same [`Hidden`] that is released and accounted for.

mod bulk;
mod course;
mod run;

use rand::RngExt;
use sottovoce_privacy::noise::simulation::{Seed, Stream};
use sottovoce_privacy::{Adjacency, Budget, Composition, Lots, most};
use sottovoce_protocol::consensus::{Hidden, Method, Plan, loudness};
use sottovoce_protocol::public::Cancelling;
use sottovoce_protocol::{Peer, Shared, Value};
use sottovoce_topology::mixing::Mixing;

use crate::budget::Allowance;
use crate::paired::Paired;
use crate::{Error, Result};

pub use bulk::{BulkConsensus, Checkpoint};
pub use course::Course;
pub use run::{ConsensusOutcome, ConsensusRun, ConsensusTranscript, ConsensusWorld};

/// What agents compute from their rows.
pub trait Trainer: Sync {
    /// Adds the gradients of the picked rows of an agent at a model, each clipped to `clip` in the 2-norm, to `sum`. Nobody may have been picked.
    fn add_clipped(&self, agent: Peer, picked: &[u32], clip: f64, model: &[f32], sum: &mut [f32]);
}

/// Who learns with whom, and how.
#[derive(Debug, Clone)]
pub struct ConsensusSetup<'a> {
    /// Who hears whom, and with what weight. Doubly stochastic, unless a paper's rows are to be reproduced; without edges everybody learns alone, and a
    /// single agent with all rows is the centre.
    pub mixing: &'a Mixing,
    /// The public model at which everybody begins.
    pub start: Shared,
    /// What everybody does.
    pub plan: Plan,
    /// How each agent's gradients are hidden; none for those without rows.
    pub hidden: &'a [Option<Hidden>],
    /// What each agent may release; where it ends before the plan, she goes on without a gradient.
    pub allowances: Vec<Allowance>,
    /// Who shares secrets, where noise cancels: pairs have `kappa` times the least noise of anyone ([`loudness`]), which everybody knows.
    pub pairs: Option<&'a Cancelling>,
    /// The seed of lots and noise.
    pub seed: u64,
}

impl<'a> ConsensusSetup<'a> {
    /// Everybody's budget is what the plan costs.
    pub fn new(
        mixing: &'a Mixing,
        start: Shared,
        plan: Plan,
        hidden: &'a [Option<Hidden>],
        seed: u64,
    ) -> Result<Self> {
        let allowances =
            hidden.iter().map(|hidden| allowance(hidden.as_ref(), plan.draws())).collect::<Result<_>>()?;
        let setup = Self { mixing, start, plan, hidden, allowances, pairs: None, seed };
        setup.check()?;
        Ok(setup)
    }

    /// The same, with a budget for as many draws as are certified to stay within `(epsilon, delta)`. Refused where that is not even one.
    pub fn within(mut self, epsilon: f64, delta: f64) -> Result<Self> {
        let mut known: Vec<(Hidden, usize)> = Vec::new();
        for (hidden, allowance) in self.hidden.iter().zip(&mut self.allowances) {
            let Some(hidden) = hidden else { continue };
            let same = |(other, _): &&(Hidden, usize)| other == hidden;
            let draws = match known.iter().find(same) {
                Some((_, draws)) => *draws,
                None => draws_within(hidden, self.plan.draws(), epsilon, delta)?,
            };
            known.push((*hidden, draws));
            *allowance = self::allowance(Some(hidden), draws)?;
        }
        Ok(self)
    }

    /// An agent's neighbours with their weights.
    fn row(&self, agent: Peer) -> Vec<(Peer, f64)> {
        self.mixing.row(agent).collect()
    }

    fn check(&self) -> Result<()> {
        let agents = self.mixing.nodes();
        for (field, given) in [("hidden", self.hidden.len()), ("allowances", self.allowances.len())] {
            if given != agents {
                let remedy = format!("give one for each of the {agents} agents");
                return Err(Error::parameter(field, given, remedy));
            }
        }
        if self.start.is_empty() || !self.start.is_finite() {
            return Err(Error::parameter("start", self.start.len(), "give finite numbers, at least one"));
        }
        self.hidden.iter().flatten().try_for_each(Hidden::check)?;
        self.pairs.map_or(Ok(()), |pairs| pairs.check_gradients(self.hidden))?;
        self.plan.check()
    }

    /// What the noise of pairs is measured by, where there are some.
    fn loud(&self) -> f64 {
        self.pairs.map_or(0.0, |_| loudness(self.hidden))
    }

    /// Whether there is one more exchange after the last iteration: where pairs cancel in what is mixed, and an agent's model is what comes before that. Models of DSGT are
    /// mixed as they are.
    fn settles(&self) -> bool {
        self.pairs.is_some() && self.plan.method != Method::Dsgt
    }

    /// Exchanges in all.
    pub fn rounds(&self) -> usize {
        self.plan.iterations + usize::from(self.settles())
    }

    /// Everybody's noise.
    fn noises(&self) -> Vec<Paired> {
        Paired::all(self.seed, self.mixing.nodes(), self.pairs)
    }
}

/// The order at which the losses of draws are added up.
const ORDER: f64 = 8.0;

/// A budget for just so many draws: whole cycles, where noises are correlated. All draws of an agent are alike, so a sum of their losses is a count of them; what they lose together is the composition
/// that was planned, in any currency. Where nothing is hidden there is no limit, and the sum is infinite.
pub fn allowance(hidden: Option<&Hidden>, draws: usize) -> Result<Allowance> {
    let Some(hidden) = hidden else { return Allowance::gaussian(0.0) };
    let Ok(loss) = hidden.release().loss() else { return Allowance::new(Budget::Counted) };
    // The sum rounds, and so does the filter that adds the same numbers.
    let loss = loss.renyi(ORDER)? * hidden.releases(draws) as f64 * (1.0 + 1e-12);
    Allowance::new(Budget::Rdp { order: ORDER, loss })
}

/// As many of `most` draws as are certified to stay within `(epsilon, delta)`.
fn draws_within(hidden: &Hidden, most: usize, epsilon: f64, delta: f64) -> Result<usize> {
    let mechanism = hidden.release().mechanism()?;
    let spend = |releases: u64| {
        let mut all = Composition::new(Adjacency::AddRemove);
        all.add(sottovoce_privacy::Release::Mechanism(mechanism), releases)?;
        all.epsilon(delta)
    };
    let releases = most::number("draws", hidden.releases(most) as u64, epsilon, spend)?.number;
    Ok(releases as usize * hidden.band.cycle())
}

/// What draws are made of.
struct Lot<'a, T> {
    trainer: &'a T,
    seed: u64,
}

impl<T: Trainer> Lot<'_, T> {
    /// The sum of a lot's clipped gradients over the lot's public mean size.
    fn gradient(
        &self,
        hidden: &Hidden,
        (agent, draw): (Peer, u64),
        model: &[f32],
        picked: &mut Vec<u32>,
    ) -> Shared {
        pick(hidden, Seed(self.seed), (agent, draw), picked);
        let mut sum = Shared::zeros(model.len());
        self.trainer.add_clipped(agent, picked, hidden.clip, model, sum.to_mut());
        sum.scale(1.0 / hidden.lots.expected());
        sum
    }
}

/// Which draw of every cycle a row has its turn in is drawn once, before the first draw, by a coin of its own: it depends on no other row.
const TURNS: u64 = u64::MAX;

/// The rows of a draw, written to `picked`: a function of the seed, the agent and the draw. With a band every row has its turn in one draw of a cycle, and then comes as many times as often.
pub fn pick(hidden: &Hidden, seed: Seed, (agent, draw): (Peer, u64), picked: &mut Vec<u32>) {
    let (agent, cycle) = (agent as u64, hidden.band.cycle() as u64);
    if cycle == 1 {
        return hidden.lots.draw(seed, agent, draw, picked);
    }
    // The rate was checked.
    let Ok(lots) = Lots::new(hidden.lots.rows(), hidden.rate()) else { return picked.clear() };
    lots.draw(seed, agent, draw, picked);
    let mut turns = seed.stream(Stream::Lots, agent, TURNS);
    let turns: Vec<bool> = (0..lots.rows()).map(|_| turns.random_range(0..cycle) == draw % cycle).collect();
    picked.retain(|row| turns[*row as usize]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use sottovoce_protocol::consensus::Band;

    /// With a band a row comes in one draw of every cycle, at that many times the rate: as often as without, and never twice in a cycle.
    #[test]
    fn rows_have_their_turn_once_in_a_cycle() {
        let (rows, rate, width, cycles) = (300, 0.1, 4, 500);
        let band = Band { width, memory: 1.0 };
        let hidden = Hidden { band, ..Hidden::new(Lots::new(rows, rate).unwrap(), 1.0, 1.0) };
        let (mut came, mut turns) = (vec![0usize; rows], vec![None; rows]);
        let mut picked = Vec::new();
        for draw in 0..(width * cycles) as u64 {
            pick(&hidden, Seed(3), (2, draw), &mut picked);
            for &row in &picked {
                came[row as usize] += 1;
                let turn = draw % width as u64;
                assert_eq!(*turns[row as usize].get_or_insert(turn), turn);
            }
        }
        // Five standard errors, of coins and of turns.
        let (trials, hits) = ((rows * cycles) as f64, came.iter().sum::<usize>() as f64);
        assert!((hits - 0.4 * trials).abs() < 5.0 * (trials * 0.24).sqrt(), "{hits}");
        for turn in 0..width as u64 {
            let count = turns.iter().filter(|known| **known == Some(turn)).count() as f64;
            assert!((count - 75.0).abs() < 5.0 * (300.0f64 * 0.25 * 0.75).sqrt(), "{turn}: {count}");
        }
    }
}
