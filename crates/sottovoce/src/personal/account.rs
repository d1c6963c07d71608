//! What a plan would reveal, before anything is run; and which plan to take for a budget.

use std::fmt;
use std::path::Path;

use serde::Serialize;
use sottovoce_engine::personal::{Canary, CanaryFound, RIDGES, home, tuned};
use sottovoce_learning::Loss;
use sottovoce_privacy::allotment::Method;
use sottovoce_privacy::{Adversary, Law, limits};
use sottovoce_simulator::personal::{FastPersonal, PersonalSetup};
use sottovoce_views::door::{self, Models};
use sottovoce_views::parallel;

use super::{Ready, words};
use crate::experiment::{Personalized, Tasks};
use crate::terms::{Stated, short_up};
use crate::{Error, Result, require};

/// What a plan would reveal.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Revealed {
    /// How many agents there are.
    pub agents: usize,
    /// How it is set up, in words.
    pub setup: Vec<(String, String)>,
    /// Noise of each update of the agent who loses most, in sensitivities.
    pub noises: Vec<f64>,
    /// The odometer: what such an agent has lost after so many of her updates.
    pub odometer: Vec<Reading>,
    /// Agents by what a row of theirs loses.
    pub epsilons: Vec<Share>,
    /// What is promised.
    pub guarantees: Vec<Stated>,
    /// The same in words.
    pub statements: Vec<String>,
    /// What else there is to know.
    pub notes: Vec<String>,
}

/// What an agent has lost by then.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reading {
    /// After so many updates.
    pub updates: usize,
    /// What a row of hers has lost; none where it was not hidden.
    pub epsilon: Option<f64>,
}

/// Agents who lose the same.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Share {
    /// What a row of theirs loses; none where it is not hidden.
    pub epsilon: Option<f64>,
    /// How many they are.
    pub agents: usize,
}

/// What the experiment would reveal of everybody's rows.
pub fn account(experiment: &Personalized, folder: &Path, seed: u64) -> Result<Revealed> {
    let ready = experiment.ready(folder, seed)?;
    let delta = experiment.target.delta;
    let releases = ready.releases();
    let account = door::account(&Models { releases: &releases }, &Adversary::WireTapper)?;
    let mut epsilons: Vec<(f64, usize)> = Vec::new();
    for epsilon in account.leakage.epsilons(delta)? {
        // Sensitivities differ by roundings.
        match epsilons.iter_mut().find(|(known, _)| short_up(*known) == short_up(epsilon)) {
            Some((known, count)) => {
                *known = if epsilon > *known { epsilon } else { *known };
                *count += 1;
            }
            None => epsilons.push((epsilon, 1)),
        }
    }
    epsilons.sort_by(|one, other| one.0.total_cmp(&other.0));
    let worst = epsilons.last().map_or(0.0, |(epsilon, _)| *epsilon);
    let (mut guarantees, statements) = words::promised(experiment, &account, worst, delta)?;
    // Nothing was run yet.
    let run = [limits::MEASURED, limits::SIMULATION];
    guarantees
        .iter_mut()
        .for_each(|stated| stated.not_covered.retain(|limit| !run.contains(&limit.as_str())));
    let (noises, odometer) = odometer(&ready, account.leakage.largest(delta)?.0, delta)?;
    let finite = |epsilon: f64| Some(epsilon).filter(|epsilon| epsilon.is_finite());
    Ok(Revealed {
        agents: ready.agents.count(),
        setup: words::setup(experiment, &ready),
        noises,
        odometer,
        epsilons: epsilons
            .into_iter()
            .map(|(epsilon, agents)| Share { epsilon: finite(epsilon), agents })
            .collect(),
        guarantees,
        statements,
        notes: words::notes(experiment, &ready),
    })
}

/// Noises of the agent who loses most, and what she has lost after 1, 2, 4, ... updates, and in the end.
fn odometer(ready: &Ready, agent: usize, delta: f64) -> Result<(Vec<f64>, Vec<Reading>)> {
    let Some(plan) = ready.hidings.plans.get(agent).filter(|plan| plan.hidden.is_some()) else {
        return Ok((Vec::new(), Vec::new()));
    };
    let noises = plan.hidden.as_ref().map_or(Vec::new(), |hidden| hidden.multipliers.to_vec());
    let mut after: Vec<usize> =
        std::iter::successors(Some(1), |k| Some(2 * k)).take_while(|k| *k < plan.updates).collect();
    after.extend((plan.updates > 0).then_some(plan.updates));
    let releases: Vec<Vec<_>> = after.iter().map(|&updates| plan.released(updates).collect()).collect();
    let learnt = door::account(&Models { releases: &releases }, &Adversary::WireTapper)?.leakage;
    let spent = learnt.epsilons(delta)?;
    let reading = |(&updates, epsilon): (&usize, f64)| Reading {
        updates,
        epsilon: Some(epsilon).filter(|epsilon| epsilon.is_finite()),
    };
    let odometer = after.iter().zip(spent).map(reading);
    Ok((noises, odometer.collect()))
}

impl fmt::Display for Revealed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |epsilon: Option<f64>| epsilon.map_or_else(|| "without bound".to_owned(), short_up);
        writeln!(f, "What a row loses to someone who sees every message\n")?;
        for Share { epsilon, agents } in &self.epsilons {
            writeln!(f, "  epsilon {} for {agents} of {} agents", shown(*epsilon), self.agents)?;
        }
        if let (Some(first), Some(last)) = (self.noises.first(), self.noises.last()) {
            writeln!(f, "\n  noise of the first update {first:.3} sensitivities, of the last {last:.3}")?;
            for Reading { updates, epsilon } in &self.odometer {
                writeln!(f, "  after {updates} updates: epsilon {}", shown(*epsilon))?;
            }
        }
        writeln!(f)?;
        self.setup.iter().try_for_each(|(name, value)| writeln!(f, "  {name}: {value}"))?;
        self.notes.iter().try_for_each(|note| writeln!(f, "  note: {note}"))?;
        writeln!(f)?;
        self.statements.iter().try_for_each(|statement| writeln!(f, "  {statement}"))?;
        if let Some(stated) = self.guarantees.first() {
            crate::terms::not_covered(f, &stated.not_covered)?;
        }
        Ok(())
    }
}

/// Someone who sees every message bets on one row of the agent in the middle, by how many rows she has; `progress` hears of every run.
pub fn attack(
    experiment: &Personalized,
    folder: &Path,
    seed: u64,
    runs: usize,
    progress: impl Fn() + Sync,
) -> Result<CanaryFound> {
    let ready = experiment.ready(folder, seed)?;
    if let Some(warm) = ready.hiding.warm {
        let remedy = "the attack is on updates; leave the warm start out";
        return Err(Error::parameter("warm", warm.epsilon, remedy));
    }
    require(experiment.noise.sigma != Some(0.0), "sigma", 0, "without noise nothing is claimed; give some")?;
    let mut rows: Vec<usize> =
        (0..ready.agents.count()).map(|agent| ready.agents.train.rows_of(agent)).collect();
    rows.retain(|rows| *rows > 0);
    rows.sort_unstable();
    let Some(&rows) = rows.get(rows.len() / 2) else {
        return Err(Error::parameter("rows", 0, "nobody has any; there is nothing to attack"));
    };
    let canary = Canary {
        hiding: &ready.hiding,
        clip: ready.clip(),
        noise: 1.0,
        rows,
        width: ready.agents.width(),
        radius: ready.agents.radius,
        dense: ready.hiding.law == Law::Gaussian,
        mu: experiment.protocol.mu,
        delta: experiment.target.delta,
        threshold: 0.0,
    };
    canary.attack(runs, seed, progress)
}

/// What may be chosen.
const MUS: [f64; 5] = [0.1, 0.5, 2.0, 10.0, 50.0];
const UPDATES: [usize; 4] = [1, 3, 10, 30];
const CLIPS: [f64; 3] = [0.1, 0.5, 2.0];
/// Runs over which each choice is judged.
const TRIALS: u64 = 2;

/// A choice, and what it is worth on rows that nobody holds.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Choice {
    /// The law of the noise.
    pub law: Law,
    /// Weight of own losses.
    pub mu: f64,
    /// Private updates of each agent.
    pub updates: usize,
    /// Largest norm of a row's gradient.
    pub clip: f64,
    /// The mean accuracy or RMSE on validation rows, after the own solve.
    pub worth: f64,
}

/// Choices for a budget, the best first.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Planned {
    /// What they were judged on.
    pub judged_on: String,
    /// Epsilon of a row at most, ...
    pub epsilon: f64,
    /// ... up to this probability.
    pub delta: f64,
    /// What choices are judged by: `accuracy` or `rmse`.
    pub measure: &'static str,
    /// What everybody alone reaches there, with a ridge chosen on her own rows.
    pub alone: f64,
    /// The choices.
    pub choices: Vec<Choice>,
    /// The experiment that executes the first of them.
    #[serde(skip)]
    pub experiment: Personalized,
}

/// Tries laws, weights, updates and clipping on *generated* rows, never on private ones; `progress` hears of every choice.
pub fn plan(
    experiment: &Personalized,
    folder: &Path,
    seed: u64,
    progress: impl Fn() + Sync,
) -> Result<Planned> {
    let target = &experiment.target;
    require(experiment.noise.sigma.is_none(), "sigma", "given", "a plan finds the noise; give --epsilon")?;
    let mut stand_in = experiment.clone();
    let private = experiment.task.kind() == Tasks::Movielens;
    if private {
        stand_in.task = crate::experiment::PersonalTask { kind: Some(Tasks::Tastes), ..Default::default() };
    }
    stand_in.network = Default::default();
    let agents = stand_in.task.agents(folder, seed.wrapping_add(1))?.validation(seed)?;
    let less = agents.loss == Loss::Squared;
    let mut all = Vec::new();
    let fits = |law: &Law| match target.method {
        None | Some(Method::Pld) => true,
        Some(Method::Gdp) => *law == Law::Gaussian,
        Some(Method::Sum | Method::Theorem1) => *law == Law::Laplace,
    };
    for law in [Law::Gaussian, Law::Laplace].into_iter().filter(fits) {
        for mu in MUS {
            for updates in UPDATES {
                all.extend(CLIPS.map(|clip| (law, mu, updates, clip)));
            }
        }
    }
    let judge = |place: usize| -> Result<Choice> {
        let (law, mu, updates, clip) = all[place];
        let mut tried = stand_in.clone();
        (tried.noise.law, tried.noise.clip) = (law, clip);
        (tried.protocol.mu, tried.protocol.updates) = (mu, updates);
        let ready = Ready::of(&tried, agents.clone())?;
        let mut worth = 0.0;
        for trial in 0..TRIALS {
            let rows = ready.rows()?;
            let start = vec![0.0; ready.problem.width()];
            let seed = seed.wrapping_add(trial);
            let setup = PersonalSetup::new(ready.problem.similarity(), start, &ready.hidings.plans, seed)?;
            let mut run = FastPersonal::new(setup, &rows)?;
            run.advance(usize::MAX);
            worth += agents.mean_worth(&home(&ready.problem, run.models(), seed)?) / TRIALS as f64;
        }
        Ok(Choice { law, mu, updates, clip, worth })
    };
    let judged = parallel::map(all.len(), judge, |_| progress());
    let mut choices = judged.into_iter().collect::<Result<Vec<_>>>()?;
    choices.sort_by(
        |one, other| if less { one.worth.total_cmp(&other.worth) } else { other.worth.total_cmp(&one.worth) },
    );
    let Some(best) = choices.first().cloned() else {
        return Err(Error::missing("choices", "give a task"));
    };
    let (alone, _) = tuned(&agents.train, agents.loss, &RIDGES, seed)?;
    let mut chosen = experiment.clone();
    (chosen.noise.law, chosen.noise.clip) = (best.law, best.clip);
    (chosen.protocol.mu, chosen.protocol.updates) = (best.mu, best.updates);
    Ok(Planned {
        judged_on: match private {
            true => "generated ratings, since choosing by private rows would cost privacy".into(),
            false => "other agents of the generated task, on a fifth of their rows".into(),
        },
        epsilon: target.epsilon.unwrap_or(1.0),
        delta: target.delta,
        measure: if less { "rmse" } else { "accuracy" },
        alone: agents.mean_worth(&alone),
        choices,
        experiment: chosen,
    })
}

/// How many choices there are.
pub fn choices() -> usize {
    2 * MUS.len() * UPDATES.len() * CLIPS.len()
}

impl fmt::Display for Planned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let delta = self.delta;
        writeln!(
            f,
            "Choices for epsilon {} at delta {delta:e}, judged on {}\n",
            self.epsilon, self.judged_on
        )?;
        let what = if self.measure == "rmse" { "RMSE" } else { "accuracy" };
        writeln!(f, "  {:<10} {:>6} {:>8} {:>6} {:>9}", "law", "mu", "updates", "clip", what)?;
        for choice in self.choices.iter().take(10) {
            let law = if choice.law == Law::Gaussian { "gaussian" } else { "laplace" };
            let Choice { mu, updates, clip, worth, .. } = choice;
            writeln!(f, "  {law:<10} {mu:>6} {updates:>8} {clip:>6} {worth:>9.4}")?;
        }
        writeln!(f, "\n  everybody alone: {:.4}; nothing is sent then, and nothing is lost", self.alone)
    }
}
