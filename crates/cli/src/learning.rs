//! What `run learning`, `plan learning` and `account learning` ask alike: the method and the target (the data: `task.rs`).

use anyhow::bail;
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, ValueEnum};
use sottovoce_topology::Graph;
use sottovoce_topology::family::{Family, generate};
use sottovoce_topology::mixing::Mixing;

use super::graph::source::GraphSource;
use super::graph::{count, real};
use sottovoce::learning::method::{Entry, METHODS, Options};
use sottovoce::learning::{Against, Choice, Noise, Promise, Target, Task};

/// Epsilon where none is given.
const DEFAULT_EPSILON: f64 = 4.0;

/// On which graph.
#[derive(Debug, Args)]
pub(super) struct GraphArgs {
    #[command(flatten)]
    source: GraphSource,
}

impl GraphArgs {
    /// The graph that was named, or a random geometric one, and the task with its peers in the graph's order, if they have names.
    pub(super) fn mixing(&self, task: Task, seed: u64) -> anyhow::Result<(Task, Mixing)> {
        let named = self.source.read()?;
        let task = match &named {
            Some(graph) => {
                let names: Vec<String> = (0..graph.nodes()).map(|node| graph.label(node)).collect();
                task.in_order_of(&names)?
            }
            None => task,
        };
        let mixing = self.on(named, task.peers(), seed)?;
        Ok((task, mixing))
    }

    /// The weights on a graph that was named, or on a random geometric one of this size.
    fn on(&self, named: Option<Graph>, peers: usize, seed: u64) -> anyhow::Result<Mixing> {
        let graph = match named {
            Some(graph) => graph,
            None => {
                let n = peers as f64;
                // Three times what it takes to be connected, so that few draws are needed.
                let radius = (3.0 * n.ln().max(1.0) / (std::f64::consts::PI * n)).sqrt().min(1.5);
                generate(&Family::Geometric { n: peers, radius }, seed, true)?
            }
        };
        if graph.nodes() != peers {
            bail!(
                "`graph` has {} peers: give --peers {0}, so that the data is dealt out to them",
                graph.nodes()
            );
        }
        self.source.mixing(&graph)
    }
}

/// How to learn.
#[derive(Debug, Args)]
pub(super) struct MethodArgs {
    /// Gossip after every step of all; the same to exact consensus (butterfly); a token that walks; or one of the baselines: everything public
    /// (local), a trusted server (central). Without it: butterfly, and gossip for `account`.
    #[arg(long, value_name = "METHOD", value_parser = methods())]
    method: Option<String>,
    #[command(flatten)]
    graph: GraphArgs,
    /// Contributions of each peer.
    #[arg(long, value_name = "T", default_value = "10", value_parser = count)]
    pub(super) iterations: usize,
    /// Gossip steps after each contribution (default: as the paper has it).
    #[arg(long = "steps", alias = "rounds", value_name = "K", value_parser = count)]
    rounds: Option<usize>,
    /// Accelerate gossip.
    #[arg(long)]
    accelerated: bool,
    /// Fresh noise on every message of gossip, as a share of the noise on a gradient (default: 0).
    #[arg(long = "relay-noise", alias = "relay", value_name = "SHARE", value_parser = real, allow_negative_numbers = true)]
    relay: Option<f64>,
    /// Tokens that walk in parallel (default: 1).
    #[arg(long, value_name = "N", value_parser = count)]
    tokens: Option<usize>,
    /// Steps in which a token is only passed on, at first (default: 0).
    #[arg(long, value_name = "N", value_parser = count)]
    burn_in: Option<usize>,
}

/// How far to step.
#[derive(Debug, Args)]
pub(super) struct StepArgs {
    /// Step size (default: 4 for steps of all, 0.05 for a token's).
    #[arg(long = "step-size", alias = "step", value_name = "STEP", value_parser = real, allow_negative_numbers = true)]
    step: Option<f64>,
    /// The step size of the random-walk paper's Theorem 2 instead, for an optimum at this distance from 0 (needs --ridge).
    #[arg(long, value_name = "DISTANCE", value_parser = real, conflicts_with = "step")]
    markov_step: Option<f64>,
}

/// The names of all methods.
fn methods() -> PossibleValuesParser {
    PossibleValuesParser::new(METHODS.iter().map(|entry| PossibleValue::new(entry.name).help(entry.about)))
}

impl MethodArgs {
    /// What was chosen, checked: an option that the method has no use for is refused.
    pub(super) fn choice(&self, default: &str) -> anyhow::Result<Choice> {
        let method = Entry::find(self.method.as_deref().unwrap_or(default))?;
        let options = Options {
            rounds: self.rounds,
            accelerated: self.accelerated,
            relay: self.relay,
            tokens: self.tokens,
            burn_in: self.burn_in,
            markov_step: None,
        };
        method.check(&options)?;
        method.check_graph(self.graph.source.graph.is_some())?;
        if !method.needs_graph {
            self.graph.source.refuse(method.name)?;
        }
        Ok(Choice { method, options, iterations: self.iterations, step: None })
    }

    /// The graph: the one named, or a random geometric one; none where the method has no use for it.
    pub(super) fn mixing(
        &self,
        method: &Entry,
        task: Task,
        seed: u64,
    ) -> anyhow::Result<(Task, Option<Mixing>)> {
        if !method.needs_graph {
            return Ok((task, None));
        }
        let (task, mixing) = self.graph.mixing(task, seed)?;
        Ok((task, Some(mixing)))
    }

    /// The same where the graph may say how many peers there are.
    pub(super) fn peers_and_mixing(
        &self,
        method: &Entry,
        peers: Option<usize>,
        seed: u64,
    ) -> anyhow::Result<(usize, Option<Mixing>)> {
        let named = self.graph.source.read()?;
        let Some(peers) = named.as_ref().map(Graph::nodes).or(peers) else {
            let missing = if method.needs_graph {
                "graph` is missing: give --graph FILE, or --peers"
            } else {
                "peers` is missing: give"
            };
            bail!("`{missing} the number of peers");
        };
        let mixing = method.needs_graph.then(|| self.graph.on(named, peers, seed)).transpose()?;
        Ok((peers, mixing))
    }
}

impl StepArgs {
    /// The same choice with this step size.
    pub(super) fn of(&self, choice: Choice) -> anyhow::Result<Choice> {
        let options = Options { markov_step: self.markov_step, ..choice.options };
        choice.method.check(&options)?;
        Ok(Choice { options, step: self.step, ..choice })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum AgainstArg {
    WireTapper,
    WorstPeer,
    MeanPeer,
}

/// How much may be lost.
#[derive(Debug, Args)]
pub(super) struct TargetArgs {
    /// Epsilon that a user's data may lose in the whole run (default, without --sigma: 4).
    #[arg(long, value_name = "EPS", value_parser = real, allow_negative_numbers = true)]
    epsilon: Option<f64>,
    /// Probability with which it may fail.
    #[arg(long, value_name = "DELTA", default_value = "1e-5", value_parser = real, allow_negative_numbers = true)]
    pub(super) delta: f64,
    /// Read epsilon as a Rényi loss of this order.
    #[arg(long, value_name = "ORDER", value_parser = real, allow_negative_numbers = true)]
    order: Option<f64>,
    /// To whom.
    #[arg(long, value_enum, default_value_t = AgainstArg::WorstPeer)]
    against: AgainstArg,
}

impl TargetArgs {
    /// The target, if there is one.
    pub(super) fn given(&self) -> anyhow::Result<Option<Promise>> {
        self.epsilon.map(|epsilon| self.of(epsilon)).transpose()
    }

    /// The target, or the default.
    pub(super) fn promise(&self) -> anyhow::Result<Promise> {
        self.of(self.epsilon.unwrap_or(DEFAULT_EPSILON))
    }

    /// As much noise as is given, or else as the target asks for.
    pub(super) fn noise(&self, sigma: Option<f64>) -> anyhow::Result<Noise> {
        Ok(match sigma {
            Some(sigma) => Noise::Given(sigma, self.given()?),
            None => Noise::Calibrated(self.promise()?),
        })
    }

    fn of(&self, epsilon: f64) -> anyhow::Result<Promise> {
        let target = match self.order {
            Some(order) => Target::Renyi { order, epsilon },
            None => Target::Approximate { epsilon, delta: self.delta },
        };
        target.check()?;
        let against = match self.against {
            AgainstArg::WireTapper => Against::WireTapper,
            AgainstArg::WorstPeer => Against::WorstPeer,
            AgainstArg::MeanPeer => Against::MeanPeer,
        };
        Ok(Promise { target, against })
    }
}
