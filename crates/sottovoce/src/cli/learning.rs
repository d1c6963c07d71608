//! What `run learning` and `plan learning` ask alike: the task, the method, the target.

use std::f64::consts::SQRT_2;
use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use sottovoce_learning::houses::{self, Houses};
use sottovoce_learning::read::Column;
use sottovoce_learning::{Clip, Loss, Model, Shards, Table, split as deal};
use sottovoce_topology::family::{Family, generate};
use sottovoce_topology::mixing::Mixing;
use sottovoce_topology::spectrum::Spectrum;

use super::graph::source::GraphSource;
use super::graph::{count, real};
use crate::learning::data::{Kind, Labels, stem};
use crate::learning::run::Promise;
use crate::learning::session::markov_step;
use crate::learning::{Against, Batch, Bounds, Data, Method, Settings, Target, Task};

/// Seed of the synthetic look-alike: the same data whatever the run's seed.
const LOOK_ALIKE: u64 = 823;
/// Seed of dealing it out.
const DEALING: u64 = 1;

/// What dealing rows out by their labels assumes.
const DEALT_BY_LABEL: &str = "labels are public (rows were dealt out by them)";

/// Epsilon where none is given.
const DEFAULT_EPSILON: f64 = 4.0;

/// Which data, and how gradients are bounded.
#[derive(Debug, Args)]
pub(super) struct TaskArgs {
    /// Number of peers that the data is dealt out to.
    #[arg(long, value_name = "N", default_value = "512", value_parser = count)]
    pub(super) nodes: usize,
    /// Rows of each peer (default: as many as there are for all).
    #[arg(long, value_name = "R", value_parser = count)]
    rows: Option<usize>,
    /// How rows are dealt out: evenly in their order, by classes whose shares are drawn for each peer (`dirichlet:0.5`), or from apart to alike (`similarity:0`
    /// to `similarity:1`). The latter two look at all labels: they are for Houses and its look-alike, and every guarantee says so.
    #[arg(long, value_name = "SPLIT", default_value = "even", value_parser = split)]
    split: Split,
    /// Folder with the Houses data (`cal_housing.data`), or a file to learn from: CSV, ARFF or SVMlight.
    #[arg(long, value_name = "PATH")]
    data: Option<PathBuf>,
    /// Name or number of the label's column in such a file.
    #[arg(long, value_name = "COLUMN", requires = "data")]
    label: Option<String>,
    /// Public bounds of a feature in such a file, by its name or number; once for each. What lies outside is moved to the nearer end. (Not from the
    /// file itself: a mean or a maximum of its rows would show them to everyone.)
    #[arg(long, value_name = "COLUMN=LOW:HIGH", requires = "data", value_parser = range, allow_hyphen_values = true)]
    range: Vec<(String, (f64, f64))>,
    /// File of such bounds: JSON (`{"age": [0, 120]}`), or lines `column,low,high`.
    #[arg(long, value_name = "FILE", requires = "data")]
    bounds: Option<PathBuf>,
    /// Instead of ranges: rows are divided by this length, and shortened to it where they are longer.
    #[arg(long, value_name = "R", requires = "data", conflicts_with_all = ["range", "bounds"], value_parser = real, allow_negative_numbers = true)]
    norm: Option<f64>,
    /// The label that counts as +1; all others are -1.
    #[arg(long, value_name = "LABEL", requires = "data", allow_hyphen_values = true)]
    positive: Option<String>,
    /// The number from which labels count as +1 (a public one: not their mean or median).
    #[arg(long, value_name = "N", requires = "data", conflicts_with = "positive", value_parser = real, allow_negative_numbers = true)]
    label_threshold: Option<f64>,
    /// All labels there can be, in order, or the number of classes 0, 1, ...
    #[arg(long, value_name = "A,B,...|N", requires = "data", conflicts_with_all = ["positive", "label_threshold"], value_delimiter = ',')]
    classes: Vec<String>,
    /// Number of features of an SVMlight file.
    #[arg(long, value_name = "N", requires = "data", value_parser = count)]
    width: Option<usize>,
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

/// `COLUMN=LOW:HIGH`; a name may contain both signs.
fn range(text: &str) -> Result<(String, (f64, f64)), String> {
    let parse = || {
        let (rest, high) = text.rsplit_once(':')?;
        let (column, low) = rest.rsplit_once('=')?;
        Some((column.trim().to_owned(), (low.trim().parse().ok()?, high.trim().parse().ok()?)))
    };
    parse().ok_or_else(|| "give COLUMN=LOW:HIGH, such as age=0:120".to_owned())
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
        match &self.data {
            Some(path) if !path.is_dir() => {
                if self.split != Split::Even {
                    bail!(
                        "`split` is by label: who holds which row would depend on everybody's labels, which are private; give --split even, which goes by \
                         their places in the file"
                    );
                }
                let found = self.file(path.clone())?.read()?;
                self.task(stem(path), &found.train, found.test, found.loss)
            }
            Some(path) => self.houses("Houses", &houses::read(path, houses::Split::Eighty)?),
            None => self.houses("A look-alike of Houses", &houses::look_alike(LOOK_ALIKE)),
        }
    }

    fn houses(&self, name: &str, houses: &Houses) -> anyhow::Result<Task> {
        let labelled = self.label.is_some()
            || self.positive.is_some()
            || self.label_threshold.is_some()
            || !self.classes.is_empty();
        let bounded =
            !self.range.is_empty() || self.bounds.is_some() || self.norm.is_some() || self.width.is_some();
        if labelled || bounded {
            bail!(
                "`data` is a folder: Houses has labels and a scaling of its own; leave out bounds, labels and classes, or give a file"
            );
        }
        let loss = match self.loss {
            LossArg::Logistic => Loss::Logistic,
            LossArg::Squared => Loss::Squared,
            LossArg::Softmax => {
                bail!("`loss` is softmax: the labels of Houses are -1 and 1; give --loss logistic")
            }
        };
        let task = self.task(name.to_owned(), &houses.train, houses.test.clone(), loss)?.of_houses(houses);
        Ok(task.assuming((self.split != Split::Even).then_some(DEALT_BY_LABEL)))
    }

    fn task(&self, name: String, train: &Table, test: Table, loss: Loss) -> anyhow::Result<Task> {
        let clip = match self.clipped {
            Clipped::Example => Clip::Example(self.clip),
            Clipped::User => Clip::User(self.clip),
            Clipped::Nothing => Clip::None,
        };
        let model = Model { loss, width: train.width(), ridge: self.ridge };
        let shards = self.deal(train)?;
        let batch = self.batch.map_or(Batch::All, Batch::Rows);
        // Rows of norm at most 1 and an intercept.
        Task::new(name, shards, test, model, Clip::Example(1.0), batch)?.within(SQRT_2)?.clipped(clip)
    }

    /// What is publicly known of a file.
    fn file(&self, path: PathBuf) -> anyhow::Result<Data> {
        let column = |name: &String| name.parse().map_or_else(|_| Column::Name(name.clone()), Column::Index);
        let labels = match (&self.positive, self.label_threshold, self.classes.as_slice()) {
            (Some(positive), ..) => Labels::Positive(positive.clone()),
            (None, Some(threshold), _) => Labels::Threshold(threshold),
            (None, None, []) => Labels::AsDeclared,
            (None, None, [count]) => match count.parse() {
                Ok(count) => Labels::Count(count),
                Err(_) => {
                    bail!("`classes` is {count}: give all of them, separated by commas, or their number")
                }
            },
            (None, None, list) => Labels::Classes(list.to_vec()),
        };
        Ok(Data {
            path,
            label: self.label.as_ref().map_or(Column::Last, column),
            bounds: Bounds::new(&self.range, self.bounds.as_deref(), self.norm)?,
            labels,
            width: self.width,
            kind: match self.loss {
                LossArg::Logistic => Kind::Logistic,
                LossArg::Squared => Kind::Squared,
                LossArg::Softmax => Kind::Softmax,
            },
        })
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
