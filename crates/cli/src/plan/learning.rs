//! `sottovoce plan learning`: which way to learn together.

use clap::Args;

use crate::Global;
use crate::graph::count;
use crate::learning::{GraphArgs, TargetArgs};
use crate::task::TaskArgs;
use sottovoce::learning::plan::Problem;

const EXAMPLES: &str = "Examples:
  sottovoce plan learning --peers 256 --epsilon 2 --delta 1e-6
  sottovoce plan learning --graph friends.txt --peers 128 --epsilon 1 --against wire-tapper
  sottovoce plan learning --peers 512 --epsilon 1 --order 2 --against mean-peer --json

Every method gets the noise that the target asks of it and is tried on the task (without --data: a synthetic look-alike of Houses); step size and
contributions are those with the least training loss. That choice is made without noise: on private data it is not covered by what is promised.";

/// Arguments of `plan learning`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct LearningArgs {
    #[command(flatten)]
    task: TaskArgs,
    #[command(flatten)]
    graph: GraphArgs,
    #[command(flatten)]
    target: TargetArgs,
    /// Contributions of each peer to choose from.
    #[arg(long, value_name = "T,...", value_delimiter = ',', default_value = "5,10,20", value_parser = count)]
    iterations: Vec<usize>,
    /// Runs over which accuracies, or errors, are measured.
    #[arg(long, value_name = "N", default_value = "4", value_parser = count)]
    runs: usize,
}

impl LearningArgs {
    pub(crate) fn run(&self, global: &Global) -> anyhow::Result<()> {
        let (task, mixing) = self.graph.mixing(self.task.read()?, global.seed)?;
        let problem = Problem {
            task: &task,
            mixing: &mixing,
            promise: self.target.promise()?,
            iterations: &self.iterations,
            runs: self.runs,
            seed: global.seed,
            threads: sottovoce_views::parallel::threads(),
        };
        let bar = global.progress(problem.trials(), "trying methods");
        let plan = problem.plan(|| bar.inc(1))?;
        bar.finish_and_clear();
        global.print(&plan)
    }
}
