//! What `run learning` and `plan learning` ask alike: the task, the method, the target.

use std::f64::consts::SQRT_2;
use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use sottovoce_learning::houses;
use sottovoce_learning::read::{self, Column, Options};
use sottovoce_learning::{Clip, Loss, Model, Shards, Table, split as deal};
use sottovoce_topology::family::{Family, generate};
use sottovoce_topology::mixing::Mixing;
use sottovoce_topology::spectrum::Spectrum;

use super::graph::source::GraphSource;
use super::graph::{count, real};
use crate::learning::run::Promise;
use crate::learning::session::markov_step;
use crate::learning::{Against, Batch, Method, Settings, Target, Task};

/// Seed of the synthetic look-alike: the same data whatever the run's seed.
const LOOK_ALIKE: u64 = 823;
/// Seed of dealing it out.
const DEALING: u64 = 1;

/// Epsilon where none is given.
const DEFAULT_EPSILON: f64 = 4.0;

/// Which data, and how gradients are bounded.
#[derive(Debug, Args)]
pub(super) struct TaskArgs {
    /// Number of peers that the data is dealt out to.
    #[arg(long, value_name = "N", default_value = "256", value_parser = count)]
    pub(super) nodes: usize,
    /// Rows of each peer (default: as many as there are for all).
    #[arg(long, value_name = "R", value_parser = count)]
    rows: Option<usize>,
    /// How rows are dealt out: evenly in their order, by classes whose shares are drawn for each peer (`dirichlet:0.5`), or from apart to alike (`similarity:0`
    /// to `similarity:1`).
    #[arg(long, value_name = "SPLIT", default_value = "even", value_parser = split)]
    split: Split,
    /// Folder with the Houses data (`cal_housing.data`), or a file to learn from: CSV, ARFF or SVMlight.
    #[arg(long, value_name = "PATH")]
    data: Option<PathBuf>,
    /// Name or number of the label's column in such a file.
    #[arg(long, value_name = "COLUMN", requires = "data")]
    label: Option<String>,
    /// What is learned: a class of two (labels -1 and 1), a number, or one of several classes.
    #[arg(long, value_enum, default_value_t = LossArg::Logistic)]
    loss: LossArg,
    /// Weight of the squared length of the model in the loss.
    #[arg(long, value_name = "L", default_value = "0", value_parser = real, allow_negative_numbers = true)]
    ridge: f64,
    /// Largest norm of a gradient.
    #[arg(long, value_name = "C", default_value = "0.4", value_parser = real, allow_negative_numbers = true)]
    clip: f64,
    /// What is clipped.
    #[arg(long, value_enum, default_value_t = Clipped::Example)]
    clipped: Clipped,
    /// Rows of each gradient, drawn anew (default: all of a peer's rows).
    #[arg(long, value_name = "B", value_parser = count)]
    batch: Option<usize>,
}

/// How rows are dealt out.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Split {
    Even,
    Dirichlet(f64),
    Similarity(f64),
}

fn split(text: &str) -> Result<Split, String> {
    let number =
        |text: &str| text.parse().map_err(|_| format!("`{text}` is no number; give one, such as 0.5"));
    match text.split_once(':') {
        None if text == "even" => Ok(Split::Even),
        Some(("dirichlet", concentration)) => Ok(Split::Dirichlet(number(concentration)?)),
        Some(("similarity", t)) => Ok(Split::Similarity(number(t)?)),
        _ => Err("give even, dirichlet:CONCENTRATION or similarity:T".to_owned()),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum LossArg {
    Logistic,
    Squared,
    Softmax,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Clipped {
    /// Each row's.
    Example,
    /// A peer's mean.
    User,
    /// Nothing: rows have a bounded length, and the loss a bounded slope.
    Nothing,
}

impl TaskArgs {
    /// The data, dealt out.
    pub(super) fn read(&self) -> anyhow::Result<Task> {
        let (name, train, test) = self.tables()?;
        let classes = || {
            train.labels().iter().chain(test.labels()).fold(0.0, |most: f64, label| most.max(*label)) as usize
                + 1
        };
        let loss = match self.loss {
            LossArg::Logistic => Loss::Logistic,
            LossArg::Squared => Loss::Squared,
            LossArg::Softmax => Loss::Softmax { classes: classes() },
        };
        let clip = match self.clipped {
            Clipped::Example => Clip::Example(self.clip),
            Clipped::User => Clip::User(self.clip),
            Clipped::Nothing => Clip::None,
        };
        let model = Model { loss, width: train.width(), ridge: self.ridge };
        let shards = self.deal(&train)?;
        // Rows of norm 1 and an intercept.
        let batch = self.batch.map_or(Batch::All, Batch::Rows);
        Task::new(name, shards, test, model, Clip::Example(1.0), batch)?.within(SQRT_2)?.clipped(clip)
    }

    fn deal(&self, train: &Table) -> anyhow::Result<Shards> {
        let wanted = self.rows.map(|rows| rows.saturating_mul(self.nodes));
        let fewer = match wanted {
            Some(wanted) if wanted > train.rows() || wanted == 0 => bail!(
                "`rows` is {}: {} peers share {} rows; give from 1 to {}",
                wanted / self.nodes.max(1),
                self.nodes,
                train.rows(),
                train.rows() / self.nodes.max(1)
            ),
            Some(wanted) => Some(train.select(&(0..wanted).collect::<Vec<_>>())?),
            None => None,
        };
        let table = fewer.as_ref().unwrap_or(train);
        Ok(match self.split {
            Split::Even => Shards::even(table, self.nodes)?,
            Split::Dirichlet(concentration) => deal::dirichlet(table, self.nodes, concentration, DEALING)?,
            Split::Similarity(t) => deal::similarity(table, self.nodes, t, DEALING)?,
        })
    }

    fn tables(&self) -> anyhow::Result<(String, Table, Table)> {
        let Some(path) = &self.data else {
            let houses = houses::look_alike(LOOK_ALIKE);
            return Ok(("A look-alike of Houses".into(), houses.train, houses.test));
        };
        if path.is_dir() {
            let houses = houses::read(path, houses::Split::Eighty)?;
            return Ok(("Houses".into(), houses.train, houses.test));
        }
        let column = match &self.label {
            Some(name) => name.parse().map_or_else(|_| Column::Name(name.clone()), Column::Index),
            None => Column::Last,
        };
        let table = read::open(path, &Options { label: column, ..Options::default() })?;
        let name = path.file_stem().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        self.prepare(name, table)
    }

    /// As the papers do: standardised, rows of norm 1, an intercept; every fifth row is kept for testing.
    fn prepare(&self, name: String, mut table: Table) -> anyhow::Result<(String, Table, Table)> {
        if let (LossArg::Logistic, [_, positive]) = (self.loss, table.classes()) {
            let positive = positive.clone();
            table = table.binary(&positive)?;
        }
        table.standardise();
        table.normalise_rows();
        let table = table.with_intercept();
        let rows = |test: bool| (0..table.rows()).filter(|row| (row % 5 == 4) == test).collect::<Vec<_>>();
        if table.rows() < 5 {
            bail!("`data` has {} rows: give at least 5, of which one is for testing", table.rows());
        }
        Ok((name, table.select(&rows(false))?, table.select(&rows(true))?))
    }
}

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
                "`graph` has {} peers: give --nodes {0}, so that the data is dealt out to them",
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
