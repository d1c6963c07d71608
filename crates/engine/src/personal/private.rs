//! How a run is hidden: which noise on which update, so that no row of anybody loses more than was agreed.
//!
//! ```text
//! budget of an agent ─► Request ─► noises, in sensitivities ─► Plan: (2 C + centring)/m times that, after the warm start's own release
//! ```
//!
//! Everything here is computed from what is public: how many rows everybody has, the clipping, the promised length of rows, the similarities.

use std::collections::BTreeMap;
use std::sync::Arc;

use sottovoce_learning::Model;
use sottovoce_privacy::Law;
use sottovoce_privacy::allotment::{Allocation, Allotment, Method, Request};
use sottovoce_privacy::calibrate::headroom;
use sottovoce_protocol::Release;
use sottovoce_protocol::personal::{self, Hidden, Plan};

use super::{Problem, warm};
use crate::{Result, require};

/// The least part for a warm start: less is lost in the noise that accountants take.
const LEAST_WARM: f64 = 1e-8;

/// The noise of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Hiding {
    /// Its law: Gaussian, with gradients clipped in the 2-norm, or Laplace, in the 1-norm.
    pub law: Law,
    /// Largest norm of a row's gradient.
    pub clip: f64,
    /// How much farther a row can move the *sum* of gradients than by its own: where labels are centred by their own mean.
    pub centring: f64,
    /// Private updates of each agent.
    pub updates: usize,
    /// How much noise.
    pub amount: Amount,
    /// A warm start.
    pub warm: Option<WarmStart>,
}

/// How much noise there is.
#[derive(Debug, Clone, PartialEq)]
pub enum Amount {
    /// The same on every update, in sensitivities; 0 hides nothing.
    Fixed(f64),
    /// What a budget allows.
    Budget(Budgets),
}

/// What agents may lose.
#[derive(Debug, Clone, PartialEq)]
pub struct Budgets {
    /// Epsilon of everyone.
    pub epsilon: f64,
    /// Of these another one.
    pub others: BTreeMap<usize, f64>,
    /// Up to this probability.
    pub delta: f64,
    /// How losses are put together.
    pub method: Method,
    /// How wake-ups share.
    pub allocation: Allocation,
}

/// A model of one's own rows, released at the beginning.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WarmStart {
    /// What it costs.
    pub epsilon: f64,
    /// Weight of its squared length in its own loss.
    pub ridge: f64,
    /// Wake-ups in which it is smoothed over the graph.
    pub wakes: usize,
}

/// Everybody's part. What it costs her is the accountant's to say.
#[derive(Debug, Clone)]
pub struct Hidings {
    /// The parts.
    pub plans: Vec<Plan>,
    /// Everybody's locally trained model, one after the other; none where nobody begins with hers.
    pub locals: Option<Vec<f64>>,
}

/// `C_own = 1 - sigma_Q/L_max`: the factor by which an agent's errors shrink from one own wake-up to the next, in the mean.
pub fn own_factor(problem: &Problem) -> f64 {
    let (_, most) = problem.smoothnesses();
    let factor = 1.0 - problem.strong_convexity() / most;
    if factor > 0.0 && factor <= 1.0 { factor } else { 1.0 }
}

impl Hiding {
    /// How far one row, replaced, moves an agent's clipped mean gradient, in the law's norm.
    pub fn sensitivity(&self, rows: usize) -> f64 {
        (2.0 * self.clip + self.centring) / rows as f64
    }

    /// Everybody's part.
    pub fn plans(&self, problem: &Problem) -> Result<Hidings> {
        require(self.clip.is_finite() && self.clip > 0.0, "clip", self.clip, "give a positive number")?;
        require(
            self.law != Law::Radial,
            "law",
            "radial",
            "it is for whole models; give gaussian or laplace",
        )?;
        if let (Some(start), Amount::Budget(budgets)) = (self.warm, &self.amount) {
            for epsilon in budgets.others.values().chain([&budgets.epsilon]) {
                let remedy = format!("it is a part of epsilon, {epsilon}; give less");
                require(start.epsilon < *epsilon || self.updates == 0, "warm", start.epsilon, remedy)?;
            }
        }
        let mut locals = self.warm.map(|_| Vec::new());
        let mut known: BTreeMap<u64, Arc<[f64]>> = BTreeMap::new();
        let mut plans = Vec::new();
        for agent in 0..problem.agents() {
            let rows = problem.train().rows_of(agent);
            let budget = self.budget(agent);
            let multipliers = match known.get(&budget.to_bits()) {
                Some(noises) => noises.clone(),
                None => {
                    let noises = self.noises(problem, budget)?;
                    known.insert(budget.to_bits(), noises.clone());
                    noises
                }
            };
            let hidden = Hidden { law: self.law, sensitivity: self.sensitivity(rows.max(1)), multipliers };
            let start = self.warm.map(|start| start.of(problem, agent)).transpose()?;
            if let (Some(all), Some((_, model))) = (&mut locals, &start) {
                all.extend_from_slice(model);
            }
            plans.push(Plan {
                rule: problem.rule(agent),
                updates: self.updates,
                hidden: (rows > 0).then_some(hidden),
                warm: start.map(|(start, _)| start),
                repeats: 0,
                patience: None,
            });
        }
        Ok(Hidings { plans, locals })
    }

    /// What an agent may lose; nothing is meant where the noise is fixed.
    fn budget(&self, agent: usize) -> f64 {
        match &self.amount {
            Amount::Fixed(_) => 0.0,
            Amount::Budget(budgets) => budgets.others.get(&agent).copied().unwrap_or(budgets.epsilon),
        }
    }

    /// The noises of all updates for a budget, in sensitivities.
    fn noises(&self, problem: &Problem, epsilon: f64) -> Result<Arc<[f64]>> {
        match &self.amount {
            Amount::Fixed(noise) => {
                let remedy = "give a finite number, 0 or more";
                require(noise.is_finite() && *noise >= 0.0, "sigma", *noise, remedy)?;
                Ok(vec![*noise; self.updates].into())
            }
            Amount::Budget(budgets) => {
                let allotment = self.allotment(budgets, epsilon, own_factor(problem))?;
                // Times a sensitivity, over it again, and cut to the digits of the accountant, a noise must not have become less.
                let safe = |noise: &f64| noise * headroom(epsilon, budgets.delta);
                Ok(allotment.iter().flat_map(|allotment| allotment.noises().iter().map(safe)).collect())
            }
        }
    }

    /// What a budget allows each of the updates; none where there are none.
    fn allotment(&self, budgets: &Budgets, epsilon: f64, factor: f64) -> Result<Option<Allotment>> {
        if self.updates == 0 {
            return Ok(None);
        }
        Ok(Some(self.request(budgets, epsilon, factor).allot()?))
    }

    pub(super) fn request(&self, budgets: &Budgets, epsilon: f64, factor: f64) -> Request {
        Request {
            epsilon,
            delta: budgets.delta,
            law: self.law,
            method: budgets.method,
            allocation: budgets.allocation,
            updates: self.updates,
            factor,
            before: self.warm.map_or(0.0, |start| start.epsilon),
        }
    }
}

impl WarmStart {
    /// An agent's part of it, and her model; the start of everybody where she has no rows.
    fn of(self, problem: &Problem, agent: usize) -> Result<(personal::Warm, Vec<f64>)> {
        let remedy = format!("give a finite number of at least {LEAST_WARM:e}, or leave it out");
        require(self.epsilon.is_finite() && self.epsilon >= LEAST_WARM, "warm", self.epsilon, remedy)?;
        let rows = problem.rows(agent);
        if rows.labels.is_empty() {
            return Ok((personal::Warm { release: None, wakes: self.wakes }, vec![0.0; problem.width()]));
        }
        let model = Model { ridge: self.ridge, ..problem.model(agent) };
        let found = warm(model, rows, problem.radius())?;
        let release =
            Release::radial(found.sensitivity, found.sensitivity / self.epsilon * headroom(1.0, 0.0));
        Ok((personal::Warm { release: Some(release), wakes: self.wakes }, found.model))
    }
}
