//! Learning at a given noise: with a step size as published, or with the best of a few.

use sottovoce::learning::{Method, Secrets, Session, Settings, Task};
use sottovoce_topology::mixing::Mixing;
use sottovoce_views::parallel;

use super::ITERATIONS;
use crate::Result;
use crate::learners::{Spread, seed_of};

/// Seeds of tuning begin here: other ones than those of the runs that count.
const TUNING: u64 = 1000;
/// Runs for each step size that is tried, at most.
const TRIES: usize = 2;

/// One way to learn at one noise.
#[derive(Clone, Copy)]
pub(super) struct Attempt<'a> {
    pub(super) task: &'a Task,
    pub(super) mixings: &'a [Mixing],
    pub(super) method: Method,
    pub(super) sigma: f64,
    /// Step sizes to choose from, by the training loss; of one there is no choice.
    pub(super) steps: &'a [f64],
    /// Noise that cancels.
    pub(super) secrets: Option<&'a Secrets>,
}

/// What came of it.
#[derive(Debug, Clone)]
pub(super) struct Learned {
    pub(super) sigma: f64,
    pub(super) step: f64,
    pub(super) accuracies: Vec<f64>,
}

impl Learned {
    pub(super) fn accuracy(&self) -> Spread {
        Spread::of(&self.accuracies)
    }
}

impl Attempt<'_> {
    /// The training loss, and the accuracy (of gossip: the mean over peers).
    fn run(&self, step: f64, seed: u64) -> Result<(f64, f64)> {
        let Self { task, mixings, method, sigma, secrets, .. } = *self;
        let plain = Settings::plain(method, (ITERATIONS, step), sigma, seed);
        let settings = Settings { secrets: secrets.cloned(), ..plain };
        let mut session = Session::new(task, mixings, settings, 1)?;
        while session.advance(|_, _, _| {})? {}
        Ok((task.objective(&session.model()), session.accuracy()))
    }
}

/// All attempts, run by run in parallel: first those that choose a step size, then those that count.
pub(super) fn all(attempts: &[Attempt], runs: usize, seed: u64) -> Result<Vec<Learned>> {
    let mut trials = Vec::new();
    for (i, attempt) in attempts.iter().enumerate().filter(|(_, attempt)| attempt.steps.len() > 1) {
        for &step in attempt.steps {
            let tries = TRIES.min(runs.div_ceil(2)) as u64;
            (0..tries).for_each(|k| trials.push((i, step, seed_of(seed, TUNING + k))));
        }
    }
    let tried = batch(attempts, &trials)?;
    let best = |i: usize| {
        let mean = |step: f64| {
            let own = trials.iter().zip(&tried).filter(|(trial, _)| trial.0 == i && trial.1 == step);
            own.map(|(_, (objective, _))| objective).sum::<f64>()
        };
        let steps = attempts[i].steps.iter().copied();
        steps.min_by(|a, b| mean(*a).total_cmp(&mean(*b))).unwrap_or(f64::NAN)
    };
    let chosen: Vec<f64> = (0..attempts.len()).map(best).collect();
    let counted: Vec<(usize, f64, u64)> = (0..attempts.len())
        .flat_map(|i| (0..runs).map(move |k| (i, k)))
        .map(|(i, k)| (i, chosen[i], seed_of(seed, k as u64)))
        .collect();
    let found = batch(attempts, &counted)?;
    let result = |i: usize| {
        let own = &found[i * runs..(i + 1) * runs];
        Learned {
            sigma: attempts[i].sigma,
            step: chosen[i],
            accuracies: own.iter().map(|(_, accuracy)| *accuracy).collect(),
        }
    };
    Ok((0..attempts.len()).map(result).collect())
}

fn batch(attempts: &[Attempt], jobs: &[(usize, f64, u64)]) -> Result<Vec<(f64, f64)>> {
    let run = |i: usize| {
        let (attempt, step, seed) = jobs[i];
        attempts[attempt].run(step, seed)
    };
    parallel::map(jobs.len(), run, |_| ()).into_iter().collect()
}
