//! Agents with models of their own: by messages in virtual time ([`PersonalRun`]), or without messages and on all cores ([`FastPersonal`]), with the same bits.

mod fast;
mod run;

use sottovoce_privacy::Budget;
use sottovoce_privacy::noise::simulation::{Seed, SimulationRng, Stream};
use sottovoce_protocol::personal::Plan;
use sottovoce_protocol::{Chance, Law, Peer};
use sottovoce_topology::Similarity;

use crate::budget::Allowance;
use crate::{Error, Result};

pub use fast::FastPersonal;
pub use run::{PersonalOutcome, PersonalRun, PersonalTranscript, PersonalWorld};

/// The mean time between two wake-ups, in nanoseconds: an hour, so that two agents hardly ever wake at one moment.
const PERIOD: u64 = 3_600_000_000_000;

/// What agents compute from their rows.
pub trait Rows: Sync {
    /// The mean gradient over an agent's rows at a model, clipped; of update 0, 1, ...
    fn gradient(&self, agent: Peer, update: usize, model: &[f64], out: &mut [f64]);

    /// The same; `meanwhile` may be called in turns 0, 1, ..., of some rows each, to ask for memory that is read next.
    #[inline(always)]
    fn gradient_while(
        &self,
        agent: Peer,
        update: usize,
        model: &[f64],
        out: &mut [f64],
        _meanwhile: impl FnMut(usize),
    ) {
        self.gradient(agent, update, model, out);
    }

    /// Asks the memory where an agent's rows lie, who comes soon. A hint.
    #[inline(always)]
    fn expect(&self, _agent: Peer) {}

    /// Asks the memory for the rows that have this turn, of an agent who is next. A hint.
    #[inline(always)]
    fn fetch(&self, _agent: Peer, _turn: usize) {}

    /// The model that an agent learns from her own rows alone, for a warm start.
    fn local(&self, agent: Peer, out: &mut [f64]);
}

/// Who learns with whom, and how.
#[derive(Debug, Clone)]
pub struct PersonalSetup<'a> {
    /// Who is similar to whom.
    pub similarity: &'a Similarity,
    /// The public model at which everybody begins.
    pub start: Vec<f64>,
    /// Each agent's part.
    pub plans: &'a [Plan],
    /// What each agent may release; where it ends before her plan, so does she.
    pub allowances: Vec<Allowance>,
    /// The seed of clocks and noise.
    pub seed: u64,
}

impl<'a> PersonalSetup<'a> {
    /// Everybody's budget is what her plan costs.
    pub fn new(similarity: &'a Similarity, start: Vec<f64>, plans: &'a [Plan], seed: u64) -> Result<Self> {
        let allowances = plans.iter().map(allowance).collect::<Result<_>>()?;
        Ok(Self { similarity, start, plans, allowances, seed })
    }

    fn check(&self) -> Result<()> {
        let agents = self.similarity.agents();
        for (field, given) in [("plans", self.plans.len()), ("allowances", self.allowances.len())] {
            if given != agents {
                return Err(Error::parameter(
                    field,
                    given,
                    format!("give one for each of the {agents} agents"),
                ));
            }
        }
        if self.start.is_empty() || !self.start.iter().all(|x| x.is_finite()) {
            return Err(Error::parameter("start", self.start.len(), "give finite numbers, at least one"));
        }
        for plan in self.plans {
            check(plan)?;
        }
        Ok(())
    }
}

/// The order at which losses of unlike laws are added up.
const ORDER: f64 = 8.0;

/// A budget for just this plan: a sum of epsilons, of squared Gaussian losses, or of Rényi losses where there are both. Where something is not hidden there is
/// no limit, and the sum is infinite.
pub fn allowance(plan: &Plan) -> Result<Allowance> {
    let (mut sums, mut laws) = ([0.0; 3], [false; 2]);
    for release in plan.releases() {
        let Ok(loss) = release.loss() else { return Allowance::new(Budget::Counted) };
        let ratio = (release.sensitivity / release.scale).next_up();
        let all = [ratio, ratio * ratio, loss.renyi(ORDER)?];
        sums.iter_mut().zip(all).for_each(|(sum, one)| *sum += one);
        laws[usize::from(release.law == Law::Gaussian)] = true;
    }
    // Every addition rounds, and so does the filter that adds the same numbers.
    let [pure, squares, renyi] = sums.map(|sum| sum * (1.0 + 1e-12));
    match laws {
        [true, true] => Allowance::new(Budget::Rdp { order: ORDER, loss: renyi }),
        [true, false] => Allowance::new(Budget::Pure(pure)),
        [false, _] => Allowance::gaussian(squares),
    }
}

fn check(plan: &Plan) -> Result<()> {
    let rule = plan.rule;
    let positive = rule.size > 0.0 && rule.size <= 1.0;
    if !(positive && rule.pull >= 0.0 && rule.pull.is_finite() && rule.ridge >= 0.0 && rule.ridge.is_finite())
    {
        let value = format!("{rule:?}");
        return Err(Error::parameter(
            "rule",
            value,
            "give a step above 0 and at most 1, and weights of 0 or more",
        ));
    }
    if let Some(hidden) = &plan.hidden
        && hidden.multipliers.len() < plan.updates
    {
        let remedy = format!("give one for each of the {} updates", plan.updates);
        return Err(Error::parameter("multipliers", hidden.multipliers.len(), remedy));
    }
    Ok(())
}

/// An agent's clock.
struct Clock(SimulationRng);

impl Clock {
    fn new(seed: u64, agent: Peer) -> Self {
        Self(Seed(seed).stream(Stream::Clocks, agent as u64, 0))
    }
}

impl Chance for Clock {
    fn bits(&mut self) -> u64 {
        rand::Rng::next_u64(&mut self.0)
    }
}
