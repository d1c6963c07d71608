//! What `run learning` and `plan learning` ask alike: the method and the target (the data: `task.rs`).

use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use sottovoce_topology::family::{Family, generate};
use sottovoce_topology::mixing::Mixing;
use sottovoce_topology::spectrum::Spectrum;

use super::graph::source::GraphSource;
use super::graph::{count, real};
use sottovoce::learning::run::Promise;
use sottovoce::learning::session::markov_step;
use sottovoce::learning::{Against, Method, Settings, Target, Task};

/// Epsilon where none is given.
const DEFAULT_EPSILON: f64 = 4.0;

/// On which graph.
#[derive(Debug, Args)]
pub(super) struct GraphArgs {
    #[command(flatten)]
    source: GraphSource,
}

impl GraphArgs {
    /// The graph that was named, or a random geometric one of this size.
    pub(super) fn mixing(&self, peers: usize, seed: u64) -> anyhow::Result<Mixing> {
        let graph = match self.source.read()? {
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum MethodArg {
    Gossip,
    Butterfly,
    Walk,
    Local,
    Central,
}

/// How to learn.
#[derive(Debug, Args)]
pub(super) struct MethodArgs {
    /// Gossip after every step of all; the same to exact consensus (butterfly); a token that walks; or one of the baselines: everything public
    /// (local), a trusted server (central).
    #[arg(long, value_enum, default_value_t = MethodArg::Butterfly)]
    method: MethodArg,
    #[command(flatten)]
    graph: GraphArgs,
    /// Contributions of each peer.
    #[arg(long, value_name = "T", default_value = "10", value_parser = count)]
    pub(super) iterations: usize,
    /// Step size (default: 4 for steps of all, 0.05 for a token's).
    #[arg(long, value_name = "STEP", value_parser = real, allow_negative_numbers = true)]
    step: Option<f64>,
    /// The step size of the random-walk paper's Theorem 2 instead, for an optimum at this distance from 0 (needs --ridge).
    #[arg(long, value_name = "DISTANCE", value_parser = real, conflicts_with = "step")]
    markov_step: Option<f64>,
    /// Rounds of gossip after each step (default: as the paper has it).
    #[arg(long, value_name = "K", value_parser = count)]
    rounds: Option<usize>,
    /// Accelerate gossip.
    #[arg(long)]
    accelerated: bool,
    /// Fresh noise on every message of gossip, as a share of the noise on a gradient.
    #[arg(long, value_name = "SHARE", default_value = "0", value_parser = real, allow_negative_numbers = true)]
    relay: f64,
    /// Tokens that walk in parallel.
    #[arg(long, value_name = "N", default_value = "1", value_parser = count)]
    tokens: usize,
    /// Steps in which a token is only passed on, at first.
    #[arg(long, value_name = "N", default_value = "0", value_parser = count)]
    burn_in: usize,
}

impl MethodArgs {
    /// The graph: the one named, or a random geometric one; none where the method has no use for it.
    pub(super) fn mixing(&self, task: &Task, seed: u64) -> anyhow::Result<Option<Mixing>> {
        if !matches!(self.method, MethodArg::Gossip | MethodArg::Walk) {
            if self.graph.source.graph.is_some() {
                bail!("`graph` is given: only gossip and walk have a use for one; leave it out");
            }
            return Ok(None);
        }
        self.graph.mixing(task.peers(), seed).map(Some)
    }

    /// The settings but for the noise.
    pub(super) fn settings(
        &self,
        task: &Task,
        mixing: Option<&Mixing>,
        seed: u64,
    ) -> anyhow::Result<Settings> {
        if self.tokens == 0 {
            bail!("`tokens` is 0: give at least 1");
        }
        let method = match self.method {
            MethodArg::Gossip => {
                let mixing = mixing.context("`graph` is missing: gossip needs one")?;
                let rounds = match self.rounds {
                    Some(rounds) => rounds,
                    None => Method::gossip_rounds(Spectrum::of(mixing)?.gap.value, task.peers()),
                };
                Method::Gossip { rounds, accelerated: self.accelerated, relay: self.relay }
            }
            MethodArg::Butterfly => Method::Butterfly,
            MethodArg::Walk => Method::Walk { tokens: self.tokens, burn_in: self.burn_in },
            MethodArg::Local => Method::Local,
            MethodArg::Central => Method::Central,
        };
        let step = self.step.unwrap_or(if self.method == MethodArg::Walk { 0.05 } else { 4.0 });
        let mut settings =
            Settings { method, iterations: self.iterations, step, sigma: 0.0, budget: None, seed };
        if let Some(distance) = self.markov_step {
            settings.step = markov_step(task, mixing, &settings, distance)?;
        }
        Ok(settings)
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
