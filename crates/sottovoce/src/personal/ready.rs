//! An experiment that can be run: agents drawn or read, noise calibrated.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use sottovoce_engine::personal::{Amount, Budgets, Clipped, Hiding, Hidings, Problem, Terms, WarmStart};
use sottovoce_learning::personal::Agents;
use sottovoce_learning::{Clip, Loss};
use sottovoce_privacy::Law;
use sottovoce_privacy::allotment::{Allocation, Method};
use sottovoce_protocol::Release;
use sottovoce_simulator::network::{Absence, Faults, Network};

use crate::experiment::{Personalized, Tasks, pair};
use crate::names::Names;
use crate::{Error, Result, require};

/// Stars from 1 to 5.
const RATING_RANGE: f64 = 4.0;
/// An hour: the mean time between two wake-ups.
const HOUR: f64 = 3600.0;
/// How long neighbours wait for each other, in own wake-ups, where anyone may leave.
const PATIENCE: usize = 20;

/// All that a run needs.
pub struct Ready {
    /// The agents.
    pub agents: Agents,
    /// What they minimise together.
    pub problem: Problem,
    /// How it is hidden.
    pub hiding: Hiding,
    /// Everybody's part.
    pub hidings: Hidings,
    /// Whether features were made from everybody's training rows.
    pub featured: bool,
    /// What was noticed in files.
    pub notes: Vec<String>,
    /// Faults of the network, where there are any.
    pub faulty: Option<(Network, Faults, Vec<usize>)>,
}

impl Personalized {
    /// Reads what the experiment names; `folder` is where relative names begin.
    pub fn ready(&self, folder: &Path, seed: u64) -> Result<Ready> {
        let (agents, notes) = self.task.agents(folder, seed)?;
        Ok(Ready { notes, ..Ready::of(self, agents)? })
    }
}

impl Ready {
    /// The same of these agents.
    pub(super) fn of(experiment: &Personalized, agents: Agents) -> Result<Self> {
        let (problem, hiding) = Self::parts(experiment, &agents)?;
        let mut hidings = hiding.plans(&problem)?;
        let faulty = experiment.faulty(&agents)?;
        let network = &experiment.network;
        if faulty.is_some() {
            for plan in &mut hidings.plans {
                plan.patience = network.patience.or(network.moves().then_some(PATIENCE));
                plan.repeats = if network.drop.is_some() { 10 } else { 0 };
            }
        }
        let featured = experiment.task.kind() == Tasks::Movielens;
        Ok(Self { agents, problem, hiding, hidings, featured, notes: Vec::new(), faulty })
    }

    /// What these agents minimise, and how it is hidden.
    pub(super) fn parts(experiment: &Personalized, agents: &Agents) -> Result<(Problem, Hiding)> {
        Ok((Problem::new(agents, experiment.terms(agents))?, experiment.hiding(agents)?))
    }
}

impl Personalized {
    fn terms(&self, agents: &Agents) -> Terms {
        let factor = if agents.loss == Loss::Squared { 1.0 } else { 2.0 };
        let mut terms = match self.protocol.ridge {
            Some(ridge) => Terms::alike(&agents.train, self.protocol.mu, ridge),
            None => Terms::published(&agents.train, self.protocol.mu, factor),
        };
        if let Some(reference) = self.protocol.reference {
            terms.reference = reference;
        }
        terms
    }

    /// Refuses what would take for ever.
    fn check_length(&self) -> Result<()> {
        let protocol = &self.protocol;
        let most = if protocol.allocation == Allocation::Uniform { 10_000 } else { 1000 };
        let remedy = format!("give at most {most}, with this allocation");
        require(protocol.updates <= most, "updates", protocol.updates, remedy)?;
        let wakes = protocol.warm_wakes.unwrap_or(0);
        require(wakes <= 100_000, "warm-wakes", wakes, "give at most 100,000")?;
        let patience = self.network.patience.unwrap_or(1);
        require(patience > 0, "patience", patience, "give at least 1")?;
        let epsilon = self.target.epsilon.unwrap_or(1.0);
        require(epsilon >= 1e-6, "epsilon", epsilon, "give a positive number, at least 1e-6")
    }

    fn hiding(&self, agents: &Agents) -> Result<Hiding> {
        self.check_length()?;
        let law = self.noise.law;
        let warm = self.protocol.warm.map(|epsilon| WarmStart {
            epsilon,
            ridge: self.protocol.warm_ridge.unwrap_or(1.0),
            wakes: self.protocol.warm_wakes.unwrap_or(10),
        });
        Ok(Hiding {
            law,
            clip: self.noise.clip,
            centring: self.centring(agents),
            updates: self.protocol.updates,
            amount: self.amount((agents.count(), &called(agents)))?,
            warm,
        })
    }

    /// A rating that changes moves its user's mean, and so all her labels: by the range over how many there are, each along features no longer than the radius.
    fn centring(&self, agents: &Agents) -> f64 {
        if !self.task.centres_by_own() {
            return 0.0;
        }
        let norms = if self.noise.law == Law::Laplace { (agents.width() as f64).sqrt() } else { 1.0 };
        RATING_RANGE * agents.radius * norms
    }

    /// Epsilon that an agent agreed to lose, where it is a budget that sets the noise.
    pub(crate) fn agreed(&self, agent: usize, everybody: (usize, &Names)) -> Result<f64> {
        match self.amount(everybody)? {
            Amount::Fixed(_) => Ok(0.0),
            Amount::Budget(budgets) => Ok(budgets.others.get(&agent).copied().unwrap_or(budgets.epsilon)),
        }
    }

    fn amount(&self, (agents, names): (usize, &Names)) -> Result<Amount> {
        let pure = self.target.delta == 0.0;
        if pure && self.noise.law == Law::Gaussian {
            let remedy =
                "Gaussian noise keeps no promise with certainty; give --law laplace, or a delta such as 1e-5";
            return Err(Error::parameter("delta", 0, remedy));
        }
        if let Some(sigma) = self.noise.sigma {
            let given =
                [("epsilon", self.target.epsilon.is_some()), ("budget", !self.target.budget.is_empty())];
            let shared = self.protocol.allocation != Allocation::Uniform;
            let unused = [("method", self.target.method.is_some()), ("allocation", shared)];
            if let Some((field, _)) = given.into_iter().chain(unused).find(|(_, given)| *given) {
                let remedy = "sigma is given, and says all; give one of them";
                return Err(Error::parameter(field, "given", remedy));
            }
            return Ok(Amount::Fixed(sigma));
        }
        let method = self.target.method.unwrap_or(match self.noise.law {
            Law::Gaussian => Method::Gdp,
            // Without a delta losses are just added.
            Law::Laplace | Law::Radial if pure => Method::Sum,
            Law::Laplace | Law::Radial => Method::Pld,
        });
        let others = self.target.budget.iter().map(|text| pair("budget", text, '=', (agents, names)));
        let others = others.collect::<Result<Vec<_>>>()?;
        for (place, (agent, epsilon)) in others.iter().enumerate() {
            let twice = others[..place].iter().any(|(other, _)| other == agent);
            let given = format!("{}={epsilon}", names.of(*agent));
            require(!twice, "budget", &given, "the agent has one already; give one for each")?;
            require(*epsilon >= 1e-6, "budget", given, "give at least 1e-6")?;
        }
        Ok(Amount::Budget(Budgets {
            epsilon: self.target.epsilon.unwrap_or(1.0),
            others: others.into_iter().collect::<BTreeMap<_, _>>(),
            delta: self.target.delta,
            method,
            allocation: self.protocol.allocation,
        }))
    }

    fn faulty(&self, agents: &Agents) -> Result<Option<(Network, Faults, Vec<usize>)>> {
        if !self.network.is_faulty() {
            return Ok(None);
        }
        let drop = self.network.drop.unwrap_or(0.0);
        require((0.0..1.0).contains(&drop), "drop", drop, "give a probability from 0 to below 1")?;
        let times = |field, list: &[String]| -> Result<Vec<(usize, Duration)>> {
            let one = |text: &String| {
                let (agent, hours) = pair(field, text, '@', (agents.count(), &called(agents)))?;
                require(hours <= 1e6, field, text, "give at most a million hours")?;
                Ok((agent, Duration::from_secs_f64(hours * HOUR)))
            };
            list.iter().map(one).collect()
        };
        let joins = times("join", &self.network.join)?;
        for (text, (_, until)) in self.network.join.iter().zip(&joins) {
            let remedy = "who is there from the start does not join; give more than 0 hours";
            require(!until.is_zero(), "join", text, remedy)?;
        }
        let leaves = times("leave", &self.network.leave)?;
        for (text, (peer, at)) in self.network.leave.iter().zip(&leaves) {
            let joined = joins.iter().find(|(other, _)| other == peer).map(|(_, until)| *until);
            let remedy = "the agent joins later; let it leave after it has joined";
            require(joined.is_none_or(|joined| *at > joined), "leave", text, remedy)?;
        }
        let faults = Faults {
            crashes: leaves,
            departures: joins
                .iter()
                .map(|&(peer, until)| Absence { peer, from: Duration::ZERO, until })
                .collect(),
            ..Faults::default()
        };
        let newcomers = joins.iter().map(|(peer, _)| *peer).collect();
        Ok(Some((Network { drop, ..Network::perfect() }, faults, newcomers)))
    }
}

/// What agents are called.
pub(super) fn called(agents: &Agents) -> Names {
    Names::new(agents.train.names())
}

impl Ready {
    /// What agents are called.
    pub fn names(&self) -> Names {
        called(&self.agents)
    }

    /// How many rows each agent has.
    pub fn rows_of(&self) -> Vec<usize> {
        (0..self.agents.count()).map(|agent| self.agents.train.rows_of(agent)).collect()
    }

    /// Gradients as agents compute them.
    pub fn rows(&self) -> Result<Clipped<'_>> {
        let rows = Clipped::new(&self.problem, self.clip())?;
        match &self.hidings.locals {
            Some(locals) => rows.starting(locals.clone()),
            None => Ok(rows),
        }
    }

    /// In the norm of the noise.
    pub fn clip(&self) -> Clip {
        match self.hiding.law {
            Law::Laplace => Clip::ExampleL1(self.hiding.clip),
            Law::Gaussian | Law::Radial => Clip::Example(self.hiding.clip),
        }
    }

    /// What everybody releases, in order, of her whole plan.
    pub fn releases(&self) -> Vec<Vec<Release>> {
        self.hidings.plans.iter().map(|plan| plan.releases().collect()).collect()
    }
}
