//! `sottovoce account learning`: what learning together reveals, by any method.

use std::path::Path;

use anyhow::bail;
use clap::Args;
use sottovoce::experiment::graph::peer;
use sottovoce::experiment::{GradientNoise, LearningGraph, LearningTarget, MethodSpec};
use sottovoce_privacy::Gdp;
use sottovoce_topology::mixing::Mixing;

use super::of_noise;
use crate::Global;
use crate::graph::count;
use crate::graph::source::said;
use sottovoce::learning::account::account;
use sottovoce::learning::losses::Question;

const EXAMPLES: &str = "Examples:
  sottovoce account learning --graph friends.txt --iterations 10 --observers 0
  sottovoce account learning --graph friends.txt --iterations 9 --steps 1 --observers 0 --sigma 4
  sottovoce account learning --peers 256 --fresh-graphs 1 --iterations 5 --observers 0
  sottovoce account learning --method butterfly --peers 64 --iterations 10 --observers 0 --json
  sottovoce account learning --method butterfly --peers 64 --observers 0 --cancel 10 --colluders 6

Options are those of `run learning`: what holds there before a run is what this says. Everyone makes a private gradient step, adds fresh
noise, and averages with the others; so often as --iterations says. A loss of 1 is that of one gradient released under its own noise; as many as there are iterations is no amplification at all.";

/// Most peers where no graph is given.
const MOST_PEERS: usize = 1_000_000;

/// Arguments of `account learning`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(mut_arg("sigma", |arg| arg.conflicts_with("epsilon").help(SIGMA)))]
pub(crate) struct LearningArgs {
    #[command(flatten)]
    method: MethodSpec,
    #[command(flatten)]
    graph: LearningGraph,
    #[command(flatten)]
    target: LearningTarget,
    #[command(flatten)]
    noise: GradientNoise,
    /// Number of peers, where no graph is given.
    #[arg(long = "peers", value_name = "N", value_parser = count, conflicts_with = "graph")]
    nodes: Option<usize>,
    /// Peers who pool what they hear.
    #[arg(long, value_name = "V,...", value_delimiter = ',', required = true)]
    observers: Vec<String>,
}

/// The noise, where nothing is run.
const SIGMA: &str =
    "Noise on a gradient, in units of its sensitivity (default: what --epsilon asks for, or else 1)";

impl LearningArgs {
    pub(crate) fn run(&self, global: &Global) -> anyhow::Result<()> {
        if let Some(peers) = self.nodes.filter(|&peers| peers > MOST_PEERS) {
            bail!("`peers` is {peers}: give at most {MOST_PEERS}");
        }
        // Refuses a delta outside (0, 1) before the work.
        Gdp::of_noise(1.0)?.epsilon(self.target.delta)?;
        let choice = self.method.choice("gossip", &self.graph)?;
        let (method, iterations) = (choice.method, choice.iterations);
        let (peers, found) =
            self.graph.peers_and_graphs(method, self.nodes, iterations, Path::new(""), global.seed)?;
        if let Some(graphs) = &found {
            said(graphs.sha256.as_ref(), &graphs.notes);
        }
        let mixings = found.map(|graphs| graphs.mixings).unwrap_or_default();
        if peers > MOST_PEERS {
            bail!("`peers` is {peers}: what each of them loses is computed; give at most {MOST_PEERS}");
        }
        let graph = mixings.first().map(Mixing::graph);
        let observers = self.observers.iter().map(|name| peer("observers", name, graph, peers));
        let observers = observers.collect::<Result<Vec<usize>, _>>()?;
        let place = (graph, peers);
        let secrets = self.noise.pairing(self.target.colluders).secrets(Path::new(""), place, global.seed)?;
        let mut question = Question {
            method: method.method(&choice.options, &mixings)?,
            mixings: &mixings,
            peers,
            iterations,
            nonexpansive: true,
            sample: 1,
            seed: global.seed,
            network: None,
            secrets: secrets.as_ref(),
        };
        let sigma = match (self.noise.sigma, self.target.given()?) {
            (Some(sigma), _) => sigma,
            (None, Some(promise)) => promise.sigma(&question)?,
            (None, None) => 1.0,
        };
        question.method = method.under(sigma, question.method, &choice.options, &mixings)?;
        let found = account(&question, &observers, sigma, self.target.delta);
        global.print(&found.map_err(of_noise(sigma))?)
    }
}
