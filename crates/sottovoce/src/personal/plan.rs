//! Which plan to take for a budget: choices are tried on generated rows, and the corrected Theorem 2 suggests how many updates, from public numbers.

use std::fmt;
use std::path::Path;

use serde::Serialize;
use sottovoce_engine::personal::{RIDGES, home, tuned};
use sottovoce_learning::Loss;
use sottovoce_learning::personal::Agents;
use sottovoce_privacy::Law;
use sottovoce_privacy::allotment::Method;
use sottovoce_report::text;
use sottovoce_simulator::personal::{FastPersonal, PersonalSetup};
use sottovoce_views::parallel;

use super::Ready;
use super::words::written;
use crate::experiment::{PersonalTask, Personalized, Tasks};
use crate::{Error, Result, require};

/// What may be chosen.
const MUS: [f64; 5] = [0.1, 0.5, 2.0, 10.0, 50.0];
const UPDATES: [usize; 4] = [1, 3, 10, 30];
const CLIPS: [f64; 3] = [0.1, 0.5, 2.0];
/// Most updates that may be suggested.
const MOST: usize = 1000;
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
    /// The number of updates that the corrected Theorem 2 suggests with this law, weight and clipping; none where nothing public bounds the start.
    pub suggested: Option<usize>,
}

/// A number of updates, and what the corrected Theorem 2 says of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Suggestion {
    /// The number.
    pub updates: usize,
    /// How much of the start is left of `Q - Q*`, at most.
    pub start: f64,
    /// What the noise adds to it, at most.
    pub noise: f64,
    /// The public bound on `Q - Q*` at the start.
    pub start_bound: f64,
    /// What it rests on.
    pub rests_on: String,
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
    /// The number of updates that the corrected Theorem 2 suggests with the law, the weight and the clipping of the first choice; none where nothing public
    /// bounds the start.
    pub suggestion: Option<Suggestion>,
    /// The choices. Those with suggested numbers of updates are among them.
    pub choices: Vec<Choice>,
    /// The experiment that executes the first of them.
    #[serde(skip)]
    pub experiment: Personalized,
}

/// Law, weight and clipping.
type Setting = (Law, f64, f64);

/// Tries laws, weights, updates and clipping on *generated* rows, never on private ones; `progress` hears of every choice.
pub fn plan(
    experiment: &Personalized,
    folder: &Path,
    seed: u64,
    progress: impl Fn() + Sync,
) -> Result<Planned> {
    let target = &experiment.target;
    require(experiment.noise.sigma.is_none(), "sigma", "given", "a plan finds the noise; give --epsilon")?;
    let (own, _) = experiment.task.agents(folder, seed.wrapping_add(1))?;
    let stand_in = stand_in(experiment, &own);
    let agents = match experiment.task.is_read() {
        true => stand_in.task.agents(folder, seed.wrapping_add(1))?.0,
        false => own.clone(),
    };
    let agents = agents.validation(seed)?;
    let less = agents.loss == Loss::Squared;
    let mut all = Vec::new();
    for setting in settings(experiment) {
        let suggested = suggested(experiment, setting, &own)?.map(|found| found.updates);
        let mut numbers: Vec<usize> = UPDATES.into_iter().chain(suggested).collect();
        numbers.sort_unstable();
        numbers.dedup();
        all.extend(numbers.into_iter().map(|updates| (setting, updates, suggested)));
    }
    let judge = |place: usize| -> Result<Choice> {
        let ((law, mu, clip), updates, suggested) = all[place];
        let worth = worth(&with(&stand_in, (law, mu, clip), updates), &agents, seed)?;
        Ok(Choice { law, mu, updates, clip, worth, suggested })
    };
    let judged = parallel::map(all.len(), judge, |_| progress());
    let mut choices = judged.into_iter().collect::<Result<Vec<_>>>()?;
    choices.sort_by(
        |one, other| if less { one.worth.total_cmp(&other.worth) } else { other.worth.total_cmp(&one.worth) },
    );
    let Some(best) = choices.first().cloned() else {
        return Err(Error::parameter("method", "given", "no law of noise goes with it; leave it out"));
    };
    let (alone, _) = tuned(&agents.train, agents.loss, &RIDGES, seed)?;
    let setting = (best.law, best.mu, best.clip);
    Ok(Planned {
        judged_on: match experiment.task.is_read() {
            true => "generated rows, since choosing by private ones would cost privacy".into(),
            false => "other agents of the generated task, on a fifth of their rows".into(),
        },
        epsilon: target.epsilon.unwrap_or(1.0),
        delta: target.delta,
        measure: if less { "rmse" } else { "accuracy" },
        alone: agents.mean_worth(&alone),
        suggestion: suggested(experiment, setting, &own)?,
        choices,
        experiment: with(experiment, setting, best.updates),
    })
}

/// How many choices there are, at most.
pub fn choices() -> usize {
    2 * MUS.len() * (1 + UPDATES.len()) * CLIPS.len()
}

/// The settings that fit what was asked for.
fn settings(experiment: &Personalized) -> Vec<Setting> {
    let pure = experiment.target.delta == 0.0;
    let fits = |law: &Law| match experiment.target.method {
        _ if pure && *law == Law::Gaussian => false,
        None | Some(Method::Pld) => true,
        Some(Method::Gdp) => *law == Law::Gaussian,
        Some(Method::Sum | Method::Theorem1) => *law == Law::Laplace,
    };
    let laws = [Law::Gaussian, Law::Laplace].into_iter().filter(fits);
    let weights = laws.flat_map(|law| MUS.map(|mu| (law, mu)));
    weights.flat_map(|(law, mu)| CLIPS.map(|clip| (law, mu, clip))).collect()
}

fn with(experiment: &Personalized, (law, mu, clip): Setting, updates: usize) -> Personalized {
    let mut chosen = experiment.clone();
    (chosen.noise.law, chosen.noise.clip) = (law, clip);
    (chosen.protocol.mu, chosen.protocol.updates) = (mu, updates);
    chosen
}

/// The experiment with a generated task: as many agents with as many features and rows, which are public, as one that is read.
fn stand_in(experiment: &Personalized, own: &Agents) -> Personalized {
    let mut stand_in = Personalized { network: Default::default(), ..experiment.clone() };
    match experiment.task.kind() {
        Tasks::Plane | Tasks::Tastes => {}
        Tasks::Movielens => {
            stand_in.task = PersonalTask { kind: Some(Tasks::Tastes), ..Default::default() };
        }
        Tasks::Table => {
            let rows = || (0..own.count()).map(|agent| own.train.rows_of(agent));
            // One of the features is a 1, which generated ratings have beside theirs.
            let (kind, width) = match own.loss {
                Loss::Squared => (Tasks::Tastes, own.width() - 1),
                _ => (Tasks::Plane, own.width()),
            };
            stand_in.task = PersonalTask {
                kind: Some(kind),
                agents: Some(own.count()),
                width: Some(width.max(2)), // whole numbers
                fewest: rows().min(),
                most: rows().max(),
                ..Default::default()
            };
        }
    }
    // Budgets of single agents, who may have names, are not what is chosen by.
    stand_in.target.budget.clear();
    stand_in
}

/// The mean worth of models after the own solve.
fn worth(tried: &Personalized, agents: &Agents, seed: u64) -> Result<f64> {
    let ready = Ready::of(tried, agents.clone())?;
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
    Ok(worth)
}

/// What the corrected Theorem 2 suggests for the agents of the experiment itself: only what is public of them enters.
fn suggested(experiment: &Personalized, setting: Setting, own: &Agents) -> Result<Option<Suggestion>> {
    let (Some(label), None) = (experiment.task.largest_label(), experiment.protocol.warm) else {
        return Ok(None);
    };
    let (problem, hiding) = Ready::parts(&with(experiment, setting, 1), own)?;
    let found = hiding.suggested(&problem, label, MOST)?;
    Ok(Some(Suggestion {
        updates: found.updates,
        start: found.start,
        noise: found.noise,
        start_bound: problem.start_bound(label),
        rests_on: "the corrected Theorem 2, with noise that grows with the number of updates and a public bound on the start; a worst case: it holds until the first agent stops, where \
                   nothing is clipped (docs/theorems/personalized.md, section 6)"
            .into(),
    }))
}

impl fmt::Display for Planned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let delta = written(self.delta);
        writeln!(f, "Choices for epsilon {} at delta {delta}, judged on {}\n", self.epsilon, self.judged_on)?;
        let what = if self.measure == "rmse" { "RMSE" } else { "accuracy" };
        writeln!(
            f,
            "  {:<10} {:>6} {:>8} {:>6} {:>9} {:>10}",
            "law", "mu", "updates", "clip", what, "suggested"
        )?;
        for choice in self.choices.iter().take(10) {
            let law = if choice.law == Law::Gaussian { "gaussian" } else { "laplace" };
            let Choice { mu, updates, clip, worth, suggested, .. } = choice;
            let suggested = suggested.map_or_else(|| "-".to_owned(), |updates| updates.to_string());
            writeln!(f, "  {law:<10} {mu:>6} {updates:>8} {clip:>6} {worth:>9.4} {suggested:>10}")?;
        }
        writeln!(f, "\n  everybody alone: {:.4}; nothing is sent then, and nothing is lost", self.alone)?;
        match &self.suggestion {
            Some(Suggestion { updates, start, noise, start_bound, rests_on }) => {
                let [start, noise, at_first] =
                    [start, noise, start_bound].map(|value| text::digits(*value, 3));
                writeln!(
                    f,
                    "\n  suggested for the first choice: {updates} updates: of Q - Q*, {at_first} at the start at most, {start} is left and {noise} of noise added. It rests on {rests_on}. \
                     Trials decide between it and other numbers."
                )
            }
            None => writeln!(f, "\n  no number of updates is suggested: nothing public bounds the start"),
        }
    }
}
