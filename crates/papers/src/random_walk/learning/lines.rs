//! The runs of figure 2: five ways to learn, at several epsilons.

use sottovoce::learning::calibrate::Currency;
use sottovoce::learning::path::{Pairs, pairs};
use sottovoce::learning::{Target, Task};
use sottovoce_topology::mixing::Mixing;
use sottovoce_views::parallel;

use super::TOKEN_STEP;
use super::graphs::Shape;
use crate::Options;
use crate::Result;
use crate::learners::{Curator, Spread, Token, curator_sigma, seed_of};
use crate::printed::walk::PublishedWalk;

pub(super) const DELTA: f64 = 1e-6;
/// What the authors' curves match, and what the text says.
pub(super) const EPSILONS: [f64; 3] = [10.0, 5.0, 1.0];
/// The authors' step size for local learning.
pub(super) const LOCAL_STEP: f64 = 0.067;
/// Points of a curve.
pub(super) const POINTS: usize = 100;

/// Sizes of the experiment.
#[derive(Clone, Copy)]
pub(super) struct Size {
    pub(super) steps: usize,
    /// Contributions of each peer: a fifth more than the mean, as in the authors' code.
    pub(super) cap: usize,
    pub(super) trials: usize,
}

/// A graph, and what a walk on it reveals before noise is chosen.
pub(super) struct Ground {
    pub(super) shape: Shape,
    pub(super) mixing: Mixing,
    /// The mean over pairs of the printed loss.
    pub(super) printed: f64,
    /// What one path truly reveals, of convex losses.
    pub(super) truly: Pairs,
}

/// One way to learn at one epsilon.
pub(super) struct Line {
    pub(super) name: &'static str,
    pub(super) epsilon: f64,
    step: f64,
    pub(super) sigma: f64,
    /// Objectives by trial and point, from the start on.
    pub(super) runs: Vec<Vec<f64>>,
    pub(super) accuracy: Spread,
}

impl Ground {
    pub(super) fn new(shape: Shape, task: &Task, size: Size, options: &Options) -> Result<Self> {
        let mixing = shape.mixing(options)?;
        let walk = PublishedWalk::new(&mixing, size.steps)?.with_contributions(size.cap as f64)?;
        let printed = walk.mean();
        let (steps, cap, seed) = (size.steps, size.cap, seed_of(options.seed, 1));
        let token = Token { task, mixing: &mixing, steps, cap, step: TOKEN_STEP, sigma: 0.0, seed };
        let truly = pairs(&token.losses()?);
        Ok(Self { shape, mixing, printed, truly })
    }
}

/// All lines at all epsilons, run by run in parallel.
pub(super) fn learn(task: &Task, grounds: &[Ground], size: Size, seed: u64) -> Result<Vec<Line>> {
    let curator = |i: usize| curator_sigma(task.peers(), size.steps, EPSILONS[i], DELTA);
    let curators = parallel::map(EPSILONS.len(), curator, |_| ());
    let mut plans: Vec<(Line, Option<&Ground>)> = Vec::new();
    for (epsilon, curator) in EPSILONS.into_iter().zip(curators) {
        let target = Target::Approximate { epsilon, delta: DELTA };
        let line = |name, step, sigma| {
            let accuracy = Spread::of(&[]);
            Line { name, epsilon, step, sigma, runs: Vec::new(), accuracy }
        };
        plans.push((line("central", TOKEN_STEP, curator?), None));
        for ground in grounds {
            let sigma = target.sigma(ground.printed, Currency::Concentrated)?;
            plans.push((line(ground.shape.name(), TOKEN_STEP, sigma), Some(ground)));
        }
        let sigma = target.sigma(size.cap as f64, Currency::Gaussian)?;
        plans.push((line("local", LOCAL_STEP, sigma), grounds.first()));
    }
    let run = |i: usize| {
        let (line, ground) = &plans[i / size.trials];
        let trial = i % size.trials;
        line.run(task, ground.map(|ground| &ground.mixing), size, seed_of(seed, 1 + trial as u64))
    };
    let all = parallel::map(plans.len() * size.trials, run, |_| ());
    let all = all.into_iter().collect::<Result<Vec<_>>>()?;
    let finish = |((mut line, _), runs): ((Line, _), &[(Vec<f64>, f64)])| {
        line.runs = runs.iter().map(|run| run.0.clone()).collect();
        line.accuracy = Spread::of(&runs.iter().map(|run| run.1).collect::<Vec<_>>());
        line
    };
    Ok(plans.into_iter().zip(all.chunks(size.trials)).map(finish).collect())
}

impl Line {
    /// One trial: objectives along the way, and the accuracy in the end.
    fn run(&self, task: &Task, mixing: Option<&Mixing>, size: Size, seed: u64) -> Result<(Vec<f64>, f64)> {
        let Self { step, sigma, .. } = *self;
        let (steps, cap) = (size.steps, size.cap);
        let mut course = vec![task.objective(&task.start())];
        let mut hear = |done: usize, model: &[f64]| {
            if done.is_multiple_of(steps / POINTS) {
                course.push(task.objective(model));
            }
        };
        let model = match mixing {
            None => Curator { task, steps, step, sigma, seed }.learn(&mut hear)?,
            Some(mixing) => {
                let token = Token { task, mixing, steps, cap, step, sigma, seed };
                token.learn(|done, _, model| hear(done, model))?
            }
        };
        Ok((course, task.accuracy(&model)))
    }

    /// The objective over the last tenth of the points.
    pub(super) fn end(&self) -> Spread {
        let last = |run: &Vec<f64>| {
            let tail = &run[run.len() - POINTS / 10..];
            tail.iter().sum::<f64>() / tail.len() as f64
        };
        Spread::of(&self.runs.iter().map(last).collect::<Vec<_>>())
    }

    pub(super) fn rows(&self, size: Size) -> impl Iterator<Item = String> + '_ {
        let every = size.steps / POINTS;
        self.runs.iter().enumerate().flat_map(move |(trial, run)| {
            run.iter().enumerate().map(move |(point, objective)| {
                let Self { epsilon, name, sigma, .. } = self;
                format!("{epsilon},{name},{sigma},{trial},{},{objective}", point * every)
            })
        })
    }
}
