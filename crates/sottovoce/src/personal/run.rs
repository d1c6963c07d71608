//! The run, over several seeds, and what it is held against.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;
use sottovoce_engine::personal::{RIDGES, chosen, constant, global, home, local, optimum, tuned};
use sottovoce_learning::{Loss, Spread};
use sottovoce_privacy::Adversary;
use sottovoce_protocol::Release;
use sottovoce_simulator::personal::{FastPersonal, PersonalRun, PersonalSetup};
use sottovoce_views::door;

use super::people::{self, BySize, Person};
use super::{Ready, page, words};
use crate::experiment::{Experiment, Personalized};
use crate::spine::{Context, Outcome, Protocol};
use crate::terms::Stated;
use crate::{Result, require, transcript};

/// The mean time between two wake-ups.
const HOUR: Duration = Duration::from_secs(3600);
/// How often rows are held out, where features must be made anew for that.
const HELD_OUT: u64 = 5;

/// Runs, where nothing is said.
const SEEDS: usize = 5;

/// One way to a model for everybody, and what it is worth.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Way {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub about: String,
    /// What one row of anyone loses by it at most, at the experiment's delta; none where it protects nobody.
    pub epsilon: Option<f64>,
    /// The mean over agents of the accuracy, or of the RMSE, on their test rows; over the runs.
    pub worth: Spread,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Found {
    /// What came of it, in a sentence.
    pub headline: String,
    /// The seed.
    pub seed: u64,
    /// How many agents there are.
    pub agents: usize,
    /// Pairs of similar agents.
    pub edges: usize,
    /// Rows of all agents.
    pub rows: usize,
    /// Numbers of a model.
    pub width: usize,
    /// How it was set up, in words.
    pub setup: Vec<(String, String)>,
    /// What models are judged by: `accuracy` (more is better) or `rmse` (less is better).
    pub measure: &'static str,
    /// Ways to a model for everybody; the private ones first.
    pub ways: Vec<Way>,
    /// Agents by how many rows they have.
    pub by_size: Vec<BySize>,
    /// Every agent, in the run that is shown.
    pub people: Vec<Person>,
    /// Models sent in the run that is shown, one for each receiver.
    pub sent: u64,
    /// Of these, lost.
    pub lost: u64,
    /// What is promised.
    pub guarantees: Vec<Stated>,
    /// The same in words.
    pub statements: Vec<String>,
    /// What else there is to know.
    pub notes: Vec<String>,
    /// What everybody released in the run that is shown.
    #[serde(skip)]
    pub releases: Vec<Vec<Release>>,
    /// Who resembles whom: for the picture.
    #[serde(skip)]
    pub similar: Vec<(usize, usize, f64)>,
}

/// The models of one run.
struct Models {
    released: Vec<f64>,
    own: Vec<f64>,
    updates: Vec<usize>,
    sent: u64,
    lost: u64,
}

impl Protocol for Personalized {
    fn seed(&self) -> Option<u64> {
        self.seed
    }

    fn seed_mut(&mut self) -> &mut Option<u64> {
        &mut self.seed
    }

    fn seeds_mut(&mut self) -> Option<&mut Option<usize>> {
        Some(&mut self.seeds)
    }

    fn files(&mut self) -> Vec<(&'static str, Option<&mut PathBuf>)> {
        let data = std::iter::once(("data", self.task.data.as_mut()));
        data.chain(self.task.table.files()).collect()
    }

    fn page_files(&self) -> Vec<&'static str> {
        page::FILES.to_vec()
    }

    fn run(&self, context: &Context<'_>) -> Result<Outcome> {
        let &Context { folder, seed, progress, .. } = context;
        progress.begin(self.seeds.unwrap_or(SEEDS), "learning");
        let found = run(self, folder, seed, || progress.step(""))?;
        let experiment = context.again(Experiment::Personalized(Box::new(self.clone())));
        let transcript = transcript::Personalized::new(&experiment, &found.people, &found.releases)?;
        let outcome = Outcome::new(found.clone(), experiment, &transcript)?;
        Ok(outcome
            .of_graph(self.task.graph_sha256(folder)?, Vec::new())
            .with_page(move |beside| page::page(&found).files(beside)))
    }
}

/// Runs it. `progress` hears of every run that is over.
pub fn run(experiment: &Personalized, folder: &Path, seed: u64, mut progress: impl FnMut()) -> Result<Found> {
    let seeds = experiment.seeds.unwrap_or(SEEDS);
    require((1..=10_000).contains(&seeds), "seeds", seeds, "give a number from 1 to 10,000")?;
    let ready = experiment.ready(folder, seed)?;
    let mut runs = Vec::new();
    for k in 0..seeds {
        runs.push(one(&ready, seed.wrapping_add(k as u64))?);
        progress();
    }
    let alone = match experiment.task.held_out(folder, seed, HELD_OUT)? {
        Some(held_out) => local(&ready.agents.train, ready.agents.loss, &chosen(&held_out, &RIDGES)?)?,
        None => tuned(&ready.agents.train, ready.agents.loss, &RIDGES, seed)?.0,
    };
    judge(experiment, &ready, seed, (&runs, &alone))
}

/// One run with the seed of its clocks and its noise; the agents are the same in all of them.
fn one(ready: &Ready, seed: u64) -> Result<Models> {
    let (problem, rows) = (&ready.problem, ready.rows()?);
    let start = vec![0.0; problem.width()];
    let setup = PersonalSetup::new(problem.similarity(), start, &ready.hidings.plans, seed)?;
    let (released, updates, sent, lost) = match &ready.faulty {
        None => {
            let mut fast = FastPersonal::new(setup, &rows)?;
            fast.advance(usize::MAX);
            (fast.models().to_vec(), fast.updates().to_vec(), fast.sent(), 0)
        }
        Some((network, faults, newcomers)) => {
            // Long after everybody would be done; who was left alone by all waits no longer.
            let late = faults.departures.iter().map(|absence| absence.until).max().unwrap_or(Duration::ZERO);
            let wakes = ready.hidings.plans.iter().map(|plan| plan.wakes() + plan.repeats).max().unwrap_or(0);
            let deadline = late.saturating_add(HOUR.saturating_mul(50 * wakes as u32 + 1000));
            let (network, faults, newcomers) = (*network, faults.clone(), newcomers.clone());
            let outcome = PersonalRun { setup, network, faults, newcomers, deadline }.run(&rows)?;
            (outcome.models.concat(), outcome.updates, outcome.sent, outcome.lost)
        }
    };
    // Features that know the training rows make them useless to choose by.
    let own = match ready.featured {
        true => problem.all_own(&released, problem.terms().mu)?,
        false => home(problem, &released, seed)?,
    };
    Ok(Models { released, own, updates, sent, lost })
}

fn judge(
    experiment: &Personalized,
    ready: &Ready,
    seed: u64,
    (runs, alone): (&[Models], &[f64]),
) -> Result<Found> {
    let (agents, problem) = (&ready.agents, &ready.problem);
    let delta = experiment.target.delta;
    let shown = &runs[0];
    let releases: Vec<Vec<Release>> = ready
        .hidings
        .plans
        .iter()
        .zip(&shown.updates)
        .map(|(plan, &updates)| plan.released(updates).collect())
        .collect();
    let account = door::account(&door::Models { releases: &releases }, &Adversary::WireTapper)?;
    let epsilons = account.leakage.epsilons(delta)?;
    // What is promised is the plan's: a run in which somebody left early has lost less, but that was chance.
    let agreed = ready.releases();
    let planned = door::account(&door::Models { releases: &agreed }, &Adversary::WireTapper)?;
    let worst = planned.leakage.largest(delta)?.1;
    let finite = Some(worst).filter(|worst| worst.is_finite());
    let spread = |of: &dyn Fn(&Models) -> f64| Spread::of(&runs.iter().map(of).collect::<Vec<_>>());
    let single = |models: &[f64]| Spread::of(&[agents.mean_worth(models)]);
    let printed = local(&agents.train, agents.loss, &problem.terms().ridges)?;
    let joint = optimum(problem)?;
    let one_for_all = global(&agents.train, agents.loss, 1e-3)?;
    let way = |name, about: &str, epsilon, worth| Way { name, about: about.to_owned(), epsilon, worth };
    let ways = vec![
        way(
            "released",
            "models as their neighbours have them",
            finite,
            spread(&|run| agents.mean_worth(&run.released)),
        ),
        way(
            "own",
            "the same after everybody has solved her own block at home, which nobody is told",
            finite,
            spread(&|run| agents.mean_worth(&run.own)),
        ),
        way(
            "local",
            "everybody alone, with the ridge of the joint problem: nothing is sent",
            Some(0.0),
            single(&printed),
        ),
        way(
            "tuned",
            "everybody alone, with a ridge chosen on her own rows: nothing is sent",
            Some(0.0),
            single(alone),
        ),
        way(
            "constant",
            "everybody's own mean or commonest label: nothing is sent",
            Some(0.0),
            Spread::of(&[constant(agents)]),
        ),
        way("joint", "the joint optimum, without noise: it protects nobody", None, single(&joint.models)),
        way("global", "one model for all, from all rows: it protects nobody", None, single(&one_for_all)),
    ];
    let people = people::people(
        agents,
        &epsilons,
        shown.updates.as_slice(),
        [&shown.released, &shown.own, &printed, alone],
    );
    let (guarantees, statements) = words::promised(experiment, &planned, worst, delta)?;
    let mut found = Found {
        headline: String::new(),
        seed,
        agents: agents.count(),
        edges: agents.similar.len(),
        rows: agents.train.table().rows(),
        width: agents.width(),
        setup: words::setup(experiment, ready),
        measure: if agents.loss == Loss::Squared { "rmse" } else { "accuracy" },
        ways,
        by_size: people::by_size(&people),
        people,
        sent: shown.sent,
        lost: shown.lost,
        guarantees,
        statements,
        notes: [ready.notes.clone(), words::notes(experiment, &ready.rows_of())].concat(),
        releases,
        similar: agents.similar.clone(),
    };
    found.headline = words::headline(&found, worst, delta);
    Ok(found)
}
