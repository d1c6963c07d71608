//! `sottovoce plan FILE.toml`: the best way to do what an experiment asks for.

use std::path::PathBuf;

use anyhow::bail;
use clap::Args;
use sottovoce::experiment::{Against, Averaging, Experiment, Rumor, folder_of};
use sottovoce::plan::{self, Bound, Problem, Site, Target, target};

use super::written::Out;
use super::{averaging, rumor};
use crate::Global;

/// Epsilon where the experiment gives none.
const DEFAULT_EPSILON: f64 = 4.0;

/// Arguments of `plan FILE.toml`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  sottovoce new averaging > my.toml\n  sottovoce plan my.toml --out best.toml\n  sottovoce run best.toml\n\n\
                  The graph, the values, the network, the adversary and the target are the experiment's; the protocol, its noise and its steps are chosen."
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
            Experiment::Rumor(rumor) => self.rumor(rumor, seed, global),
            Experiment::Learning(_) => {
                bail!("`experiment` is learning: plan it with `sottovoce plan learning` and the same options")
            }
            Experiment::Paper(paper) => {
                bail!("`experiment` is paper: {} leaves nothing to choose; run it", paper.figure)
            }
        }
    }

    fn averaging(&self, asked: &Averaging, seed: u64, global: &Global) -> anyhow::Result<()> {
        if asked.target.against == Against::WireTapper {
            bail!(
                "`against` is wire-tapper: nobody hides from one who sees everything, whatever the protocol; plan for worst-peer"
            );
        }
        let place = asked.graph.place(&PathBuf::new(), seed)?;
        if place.schedule.is_some() {
            bail!("`schedule` is given: a plan is made for a graph; give a file or a family");
        }
        let columns = asked.values.read(&PathBuf::new(), &place.graph, seed)?.columns.len();
        let epsilon = asked.target.epsilon.unwrap_or(DEFAULT_EPSILON);
        let bound = target::mu_squared_at(epsilon, asked.target.delta)?;
        let problem = Problem {
            sites: vec![Site::new(place.name.clone(), asked.graph.mixing(&place.graph)?)?],
            graph_is_given: true,
            sensitivity: asked.noise.sensitivity.unwrap_or(asked.values.sensitivity(columns)),
            target: Target::none(2).with(Bound::Worst, bound),
            results: asked.adversary.results,
            sample: None,
            delta: asked.target.delta,
            seed,
        };
        let found = averaging::search(&problem, global)?;
        let chosen = Experiment::of_plan(&found, asked.graph.clone(), &[], seed)?;
        let Experiment::Averaging(chosen) = chosen else {
            bail!("`plan` is no averaging: please report this")
        };
        let mut best = Averaging { seed: Some(seed), ..asked.clone() };
        (best.protocol, best.noise.sigma) = (chosen.protocol, chosen.noise.sigma);
        best.noise.relay_noise = chosen.noise.relay_noise;
        best.target.epsilon = None;
        self.out.print(averaging::Planned(found), &Experiment::Averaging(Box::new(best)), global)
    }

    fn rumor(&self, asked: &Rumor, seed: u64, global: &Global) -> anyhow::Result<()> {
        let wanted = asked.settings(seed)?.rumor()?;
        let best = 2.0 * wanted.curious() as f64 / wanted.peers() as f64;
        let found = plan::rumor(wanted.peers(), wanted.curious(), asked.delta.unwrap_or(best))?;
        let experiment = Experiment::of_rumor_plan(&found, seed);
        self.out.print(rumor::Planned(found), &experiment, global)
    }
}
