//! The same without messages: everybody's iterations side by side, bit for bit as the machines on a perfect network, whatever the number of threads.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use sottovoce_fault::stop;
use sottovoce_protocol::consensus::{Draws, Hidden, Learner, Plan, Said};
use sottovoce_protocol::{Chance, Law, Means, Overspent, Peer, Release, Shared, Uncovered, Value, Withheld};

use super::{ConsensusSetup, Lot, Trainer};
use crate::budget::Allowance;
use crate::paired::Paired;
use crate::{Error, Result};

/// A run under way.
pub struct BulkConsensus<'a, T> {
    setup: ConsensusSetup<'a>,
    lot: Lot<'a, T>,
    round: usize,
    agents: Vec<Agent>,
    in_turn: bool,
}

/// All of a run that must survive: after any iteration it is stored, and goes on from there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    round: usize,
    agents: Vec<Stored>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Stored {
    learner: Learner,
    draws: Draws,
}

/// An agent's own budget and noise.
struct Own {
    allowance: Allowance,
    noise: Paired,
    /// What the noise of pairs is measured by.
    loud: f64,
}

impl Chance for Own {
    /// Agents throw no dice.
    fn bits(&mut self) -> u64 {
        0
    }
}

impl Means<Shared> for Own {
    fn admit(&mut self, release: &Release) -> std::result::Result<(), Overspent> {
        self.allowance.admit(release)
    }

    fn cover(&mut self, draw: u64, scale: f64, value: &mut Shared) -> std::result::Result<(), Uncovered> {
        self.noise.own().add_single(draw, scale, value.to_mut())
    }

    fn hide(
        &mut self,
        law: Law,
        draw: u64,
        scale: f64,
        value: &mut Shared,
    ) -> std::result::Result<(), Uncovered> {
        match law {
            Law::Gaussian => self.noise.hide_single(draw, (scale, self.loud), value),
            Law::Laplace | Law::Radial => Err(Uncovered { draw, scale }),
        }
    }
}

struct Agent {
    row: Vec<(Peer, f64)>,
    hidden: Option<Hidden>,
    means: Own,
    at: Stored,
    picked: Vec<u32>,
}

impl<'a, T: Trainer> BulkConsensus<'a, T> {
    /// Everybody at the start.
    pub fn new(mut setup: ConsensusSetup<'a>, trainer: &'a T) -> Result<Self> {
        setup.check()?;
        let learner = Learner::new(setup.plan.method, setup.start.clone());
        let allowances = std::mem::take(&mut setup.allowances);
        let loud = setup.loud();
        let agent = |(agent, (allowance, noise))| Agent {
            row: setup.row(agent),
            hidden: setup.hidden[agent],
            means: Own { allowance, noise, loud },
            at: Stored { learner: learner.clone(), draws: Draws::default() },
            picked: Vec::new(),
        };
        let agents = allowances.into_iter().zip(setup.noises()).enumerate().map(agent).collect();
        Ok(Self { lot: Lot { trainer, seed: setup.seed }, setup, round: 0, agents, in_turn: false })
    }

    /// The same, agents one after the other and not side by side: for trainers who compute one gradient at a time, so that they are asked in the same order in every run.
    pub fn in_turn(self) -> Self {
        Self { in_turn: true, ..self }
    }

    /// Goes on from where a run of the same setup stood. What was drawn until then is spent again, and what does not fit is refused.
    pub fn resume(mut self, Checkpoint { round, agents }: Checkpoint) -> Result<Self> {
        let (plan, width) = (self.setup.plan, self.setup.start.len());
        let fits = |(at, agent): (&Stored, &Agent)| {
            at.learner.fits(plan.method, width, false)
                && at.draws.fits(agent.hidden.as_ref(), plan.draws(), width)
        };
        let known = agents.len() == self.agents.len() && round <= self.setup.rounds();
        if !(known && agents.iter().zip(&self.agents).all(fits)) {
            let remedy = "it belongs to another run; begin anew";
            return Err(Error::parameter("checkpoint", format!("of round {round}"), remedy));
        }
        for (agent, at) in self.agents.iter_mut().zip(agents) {
            let made = agent.hidden.map_or(0, |hidden| hidden.releases(at.draws.made()));
            let release = agent.hidden.map(|hidden| hidden.release());
            let again = release.map_or(0, |release| agent.means.allowance.times(&release, made));
            if again != made {
                let remedy = format!("the budget has room for {again} releases; raise it, or begin anew");
                return Err(Error::parameter("checkpoint", format!("of {made} releases"), remedy));
            }
            agent.at = at;
        }
        self.round = round;
        Ok(self)
    }

    /// Where the run stands.
    pub fn checkpoint(&self) -> Checkpoint {
        Checkpoint { round: self.round, agents: self.agents.iter().map(|agent| agent.at.clone()).collect() }
    }

    /// Iterations made.
    pub fn round(&self) -> usize {
        self.round
    }

    /// Iterations to come, and an exchange after them where there is one.
    pub fn remaining(&self) -> usize {
        self.setup.rounds() - self.round
    }

    /// What everybody's model is worth now: where noise of pairs cancels by one more exchange, the model after that.
    pub fn settled(&self) -> Vec<Shared> {
        let over = self.round > self.setup.plan.iterations;
        let said: Vec<Said> = self.agents.iter().map(|agent| agent.at.learner.said()).collect();
        let one = |agent: &Agent| match self.setup.settles() && !over {
            true => agent.at.learner.settled(&agent.heard(&said)),
            false => agent.at.learner.model().clone(),
        };
        self.agents.iter().map(one).collect()
    }

    /// Everybody's model.
    pub fn models(&self) -> impl ExactSizeIterator<Item = &Shared> {
        self.agents.iter().map(|agent| agent.at.learner.model())
    }

    /// Where everybody stands: functions of what was said so far.
    pub fn learners(&self) -> impl ExactSizeIterator<Item = &Learner> {
        self.agents.iter().map(|agent| &agent.at.learner)
    }

    /// Everybody's private draws so far.
    pub fn draws(&self) -> Vec<usize> {
        self.agents.iter().map(|agent| agent.at.draws.made()).collect()
    }

    /// What everybody may still release, and has spent.
    pub fn allowances(&self) -> impl ExactSizeIterator<Item = &Allowance> {
        self.agents.iter().map(|agent| &agent.means.allowance)
    }

    /// Numbers sent so far, counted once for each receiver.
    pub fn sent(&self) -> u64 {
        let receivers: usize = self.agents.iter().map(|agent| agent.row.len()).sum();
        (self.round * receivers * self.setup.plan.vectors() * self.setup.start.len()) as u64
    }

    /// How far models are from their mean: the root of the mean squared distance.
    pub fn disagreement(&self) -> f64 {
        let (agents, width) = (self.agents.len() as f64, self.setup.start.len());
        let (mut mean, models) = (vec![0.0; width], self.settled());
        for model in &models {
            mean.iter_mut().zip(model.iter()).for_each(|(mean, x)| *mean += f64::from(*x) / agents);
        }
        let squared = |model: &Shared| -> f64 {
            model.iter().zip(&mean).map(|(x, mean)| (f64::from(*x) - mean).powi(2)).sum()
        };
        (models.iter().map(squared).sum::<f64>() / agents).sqrt()
    }

    /// The next so many iterations, or as many as there are. Refused where a model is no longer made of numbers: the run is then void.
    pub fn advance(&mut self, iterations: usize) -> Result<()> {
        for _ in 0..iterations.min(self.remaining()) {
            let said: Vec<Said> = self.agents.iter().map(|agent| agent.at.learner.said()).collect();
            let (plan, round, lot) = (&self.setup.plan, self.round, &self.lot);
            let here = stop::here();
            let one = |(number, agent): (Peer, &mut Agent)| {
                here.go_on(|| agent.iterate(plan, (number, round), &said, lot))
            };
            if self.in_turn {
                self.agents.iter_mut().enumerate().try_for_each(one)?;
            } else {
                let made: Vec<Result<()>> = self.agents.par_iter_mut().enumerate().map(one).collect();
                made.into_iter().collect::<Result<()>>()?;
            }
            self.round += 1;
        }
        Ok(())
    }
}

impl Agent {
    fn heard<'s>(&self, said: &'s [Said]) -> Vec<(f64, &'s Said)> {
        self.row.iter().map(|(peer, weight)| (*weight, &said[*peer])).collect()
    }

    fn iterate<T: Trainer>(
        &mut self,
        plan: &Plan,
        (number, round): (Peer, usize),
        said: &[Said],
        lot: &Lot<'_, T>,
    ) -> Result<()> {
        let heard = self.heard(said);
        if round >= plan.iterations {
            self.at.learner.settle(&heard);
            return Ok(());
        }
        let diverged = || {
            let remedy = "its numbers are beyond single precision; lower the rates";
            Error::parameter("rates", format!("too large for agent {number} in iteration {round}"), remedy)
        };
        self.at.learner.hear(plan, round, &heard);
        loop {
            let gradient = self.gradient(number, lot).ok_or_else(diverged)?;
            if self.at.learner.step(plan, round, gradient) {
                return if self.at.learner.is_finite() { Ok(()) } else { Err(diverged()) };
            }
        }
    }

    /// A gradient, under its noise: computed, admitted, covered. Nothing where it is no number.
    fn gradient<T: Trainer>(&mut self, number: Peer, lot: &Lot<'_, T>) -> Option<Shared> {
        let model = self.at.learner.point();
        let hidden = self.hidden.filter(|_| !self.at.draws.is_spent());
        let Some(hidden) = hidden else { return Some(Shared::zeros(model.len())) };
        let draw = self.at.draws.made() as u64;
        let mut gradient = lot.gradient(&hidden, (number, draw), model, &mut self.picked);
        if !gradient.is_finite() {
            return None;
        }
        match self.at.draws.hide(&hidden, &mut gradient, &mut self.means) {
            Ok(_) => Some(gradient),
            Err(Withheld::Overspent(_)) => Some(Shared::zeros(gradient.len())),
            Err(Withheld::Uncovered(_)) => None,
        }
    }
}
