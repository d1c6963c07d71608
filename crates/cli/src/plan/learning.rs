//! `sottovoce plan learning`: which way to learn together.

use std::path::Path;

use super::averaging::KAPPA;
use super::written::Out;
use anyhow::bail;
use clap::Args;
use sottovoce::experiment::flags::real;
use sottovoce::experiment::{
    Experiment, GradientNoise, Keys, Learning, LearningGraph, LearningTarget, MethodSpec, StepSpec, TaskSpec,
};

use crate::Global;
use crate::graph::count;
use crate::graph::source::said;
use crate::spec::Fields;
use sottovoce::learning::plan::Problem;

const EXAMPLES: &str = "Examples:
  sottovoce plan learning --peers 256 --epsilon 2 --delta 1e-6
  sottovoce plan learning --graph friends.txt --peers 128 --epsilon 1 --against wire-tapper
  sottovoce plan learning --peers 256 --epsilon 2 --fresh-graphs 1.5
  sottovoce plan learning --peers 256 --epsilon 1 --colluders 6 --against wire-tapper
  sottovoce plan learning --peers 512 --epsilon 1 --order 2 --against mean-peer --json

Every method gets the noise that the target asks of it and is tried on the task (without --data: a synthetic look-alike of Houses); step size and
contributions are those with the least training loss. That choice is made without noise: on private data it is not covered by what is promised.";

/// Contributions of each peer to choose from, where none are given.
pub(super) const ITERATIONS: [usize; 3] = [5, 10, 20];
/// Runs over which accuracies, or errors, are measured.
pub(super) const RUNS: usize = 4;

/// Arguments of `plan learning`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct LearningArgs {
    #[command(flatten)]
    task: TaskSpec,
    #[command(flatten)]
    graph: LearningGraph,
    #[command(flatten)]
    target: LearningTarget,
    /// Contributions of each peer to choose from.
    #[arg(long, value_name = "T,...", value_delimiter = ',', default_values_t = ITERATIONS, value_parser = count)]
    iterations: Vec<usize>,
    /// Runs over which accuracies, or errors, are measured.
    #[arg(long, value_name = "N", default_value_t = RUNS, value_parser = count)]
    runs: usize,
    /// Noise of a pair, where noise that cancels is weighed with the others (with --colluders), in sigmas (default: 10).
    #[arg(long, value_name = "KAPPA", value_parser = real, requires = "colluders", allow_negative_numbers = true)]
    cancel: Option<f64>,
    /// Who shares a secret with whom: graph, complete, regular:K or a file (default: complete).
    #[arg(long, value_name = "KEYS", requires = "colluders")]
    keys: Option<Keys>,
    #[command(flatten)]
    more: Fields,
    #[command(flatten)]
    out: Out,
}

impl LearningArgs {
    pub(crate) fn run(&self, global: &Global) -> anyhow::Result<()> {
        let asked = Learning {
            task: self.task.clone(),
            graph: self.graph.clone(),
            target: self.target.clone(),
            noise: GradientNoise {
                cancel: self.cancel.or(self.target.colluders.map(|_| KAPPA)),
                keys: self.keys.clone(),
                ..GradientNoise::default()
            },
            ..Learning::default()
        };
        let asked = self.more.of(asked)?;
        let usual = MethodSpec { heterogeneity: asked.protocol.heterogeneity, ..MethodSpec::default() };
        let chosen = [
            ("protocol", asked.protocol != usual),
            ("final-model", asked.final_model.is_some()),
            ("step", asked.step != StepSpec::default()),
            ("sigma", asked.noise.sigma.is_some()),
        ];
        if let Some((field, _)) = chosen.into_iter().find(|(_, given)| *given) {
            bail!("`{field}` is given: it is what a plan chooses; leave it out");
        }
        plan(&asked, &self.iterations, self.runs, global.seed, &self.out, global)
    }
}

/// The best way to learn what is asked for: the task, the graph and the target are given; method, steps and contributions are chosen.
pub(super) fn plan(
    asked: &Learning,
    iterations: &[usize],
    runs: usize,
    seed: u64,
    out: &Out,
    global: &Global,
) -> anyhow::Result<()> {
    out.check()?;
    if let Some((field, value)) = asked.network.given() {
        bail!("`{field}` is {value}: a plan is for networks without faults; leave it out");
    }
    let promise = asked.target.promise()?;
    // Every run has as many of the graphs as it has steps.
    let most = iterations.iter().copied().max().unwrap_or(1); // whole numbers
    let (folder, read) = (Path::new(""), |of_graph| asked.task.read(Path::new(""), of_graph));
    let (task, graphs) = asked.graph.with_task(folder, read, most, seed, false)?;
    said(graphs.sha256.as_ref(), &graphs.notes);
    let place = (graphs.mixings.first().map(|mixing| mixing.graph()), task.peers());
    let secrets = asked.noise.pairing(asked.target.colluders).secrets(Path::new(""), place, seed)?;
    let problem = Problem {
        task: &task,
        mixings: &graphs.mixings,
        heterogeneity: asked.protocol.heterogeneity,
        secrets: secrets.as_ref(),
        promise,
        iterations,
        runs,
        seed,
        delta: asked.target.delta,
        threads: sottovoce_views::parallel::threads(),
    };
    let bar = global.progress(problem.trials(), "trying methods");
    let _waiting = global.waiting("trying methods");
    let plan = problem.plan(|| bar.inc(1))?;
    bar.finish_and_clear();
    let experiment = Experiment::of_learning_plan(&plan, asked, seed)?;
    out.print(plan, &experiment, global)
}
