//! `sottovoce plan FILE.toml`: the best way to do what an experiment asks for.

use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::Args;
use sottovoce::experiment::{Against, Averaging, Experiment, Rumor, folder_of};
use sottovoce::plan::{Bound, Target, target};

use super::averaging::{Asked, KAPPA};
use super::written::Out;
use super::{learning, rumor};
use crate::Global;

/// Arguments of `plan FILE.toml`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  sottovoce new averaging > my.toml\n  sottovoce plan my.toml --out best.toml\n  sottovoce run best.toml\n\n\
                  The graph, the values, the network, the adversary and the target are the experiment's; the protocol, its noise and its steps are chosen.\n\
                  Of a learning the task, the graph and the target are given, and the method, the contributions (5, 10, 20 or the experiment's) and the step size are chosen."
)]
pub(super) struct File {
    /// The experiment.
    file: PathBuf,
    #[command(flatten)]
    out: Out,
}

impl File {
    pub(super) fn run(&self, global: &Global) -> anyhow::Result<()> {
        self.out.check()?;
        let experiment = Experiment::read(&self.file)?.from_anywhere(&folder_of(&self.file));
        let seed = global.seed_of(&experiment);
        match &experiment {
            Experiment::Averaging(averaging) => self.averaging(averaging, seed, global),
            Experiment::Personalized(asked) => super::personalized::plan(asked, seed, &self.out, global),
            Experiment::Rumor(rumor) => self.rumor(rumor, seed, global),
            Experiment::Learning(asked) => {
                // The experiment's own number of contributions is one to choose from.
                let mut iterations = learning::ITERATIONS.to_vec();
                iterations.push(asked.protocol.iterations);
                iterations.sort_unstable();
                iterations.dedup();
                learning::plan(asked, &iterations, learning::RUNS, seed, &self.out, global)
            }
            Experiment::Deep(_) => {
                bail!(
                    "`experiment` is deep: there is no planner for nets; `account` tells what it would lose"
                )
            }
        }
    }

    fn averaging(&self, asked: &Averaging, seed: u64, global: &Global) -> anyhow::Result<()> {
        if asked.against() == Against::WireTapper && !asked.noise.shares_secrets() {
            bail!(
                "`against` is wire-tapper: only noise and masks that cancel hide anything from one who sees everything; give cancel = 10.0 under [noise], or plan for worst-peer"
            );
        }
        let mut asked = asked.clone();
        // Where peers share secrets, noise of pairs is weighed as well.
        asked.noise.cancel = asked.noise.cancel.or(asked.noise.masks.then_some(KAPPA));
        let place = asked.graph.place(Path::new(""), seed)?;
        let columns = asked.values.read(Path::new(""), &place.graph, seed)?.columns.len();
        let falling = asked.target.by_distance.bounds(asked.target.delta)?.map(|falling| falling.tightest());
        let mut target = Target { falling, ..Target::none(2) };
        // Bounds that fall with distance are a target, too.
        if falling.is_none() || asked.target.epsilon.is_some() {
            let bound = target::mu_squared_at(asked.target.epsilon(), asked.target.delta)?;
            target = target.with(Bound::Worst, bound);
        }
        let asked = Asked {
            sensitivity: asked.noise.sensitivity.unwrap_or(asked.values.sensitivity(columns)),
            columns,
            experiment: asked,
            families: Vec::new(),
            place: Some(place),
            sample: None,
            seed,
        };
        let (found, best) = asked.plan(target, global)?;
        self.out.print(found, &best, global)
    }

    fn rumor(&self, asked: &Rumor, seed: u64, global: &Global) -> anyhow::Result<()> {
        rumor::plan(&Rumor { muting: None, ..asked.clone() }, seed, &self.out, global)
    }
}
