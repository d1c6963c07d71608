//! A net learned together from images that stay where they are.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use sottovoce_engine::deep::Holdings;
use sottovoce_protocol::consensus::At;

#[cfg(feature = "flags")]
use super::flags::{count, real};
use super::{GraphFile, Keys, Memory};

/// Consensus learning of a net.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[cfg_attr(feature = "flags", derive(clap::Args))]
pub struct Deep {
    /// Seed of everything random, where the command line gives none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(skip))]
    pub seed: Option<u64>,
    /// Which images, and who holds them.
    #[cfg_attr(feature = "flags", command(flatten))]
    pub task: DeepTask,
    /// Who hears whom.
    #[cfg_attr(feature = "flags", command(flatten))]
    pub graph: DeepGraph,
    /// What agents do.
    #[cfg_attr(feature = "flags", command(flatten))]
    pub protocol: DeepProtocol,
    /// Under which noise.
    #[cfg_attr(feature = "flags", command(flatten))]
    pub noise: DeepNoise,
    /// What may be lost.
    #[cfg_attr(feature = "flags", command(flatten))]
    pub target: DeepTarget,
}

/// Which images.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[cfg_attr(feature = "flags", derive(clap::Args))]
pub struct DeepTask {
    /// What is told apart (default: drawn; with data, whatever the folder holds).
    #[serde(rename = "kind", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long = "task", value_enum, value_name = "TASK"))]
    pub kind: Option<Pictures>,
    /// Folder with the files of MNIST, Fashion-MNIST (idx) or CIFAR (binary version).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "DIR"))]
    pub data: Option<PathBuf>,
    /// Number of agents (default: 10, or those of the graph).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "N", value_parser = count))]
    pub agents: Option<usize>,
    /// Drawn images to learn from (default: 10,000); of a folder, only the first so many.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "M", value_parser = count))]
    pub images: Option<usize>,
    /// Drawn images that models are judged on (default: 1000); of a folder, only the first so many.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(skip))]
    pub test_images: Option<usize>,
    /// Who holds what: from 0, the same share of every class for everybody, to 1, classes of one's own (default: 0.5).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "T", value_parser = real, allow_negative_numbers = true))]
    pub split: Option<f64>,
    /// The images themselves, each agent's own, where they are in memory.
    #[serde(skip)]
    #[cfg_attr(feature = "flags", arg(skip))]
    pub memory: Memory<Holdings>,
}

/// What is told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "flags", derive(clap::ValueEnum))]
pub enum Pictures {
    /// Ten figures drawn with a shaky hand: no files are needed.
    Drawn,
    /// MNIST, brought to 32x32.
    Mnist,
    /// Fashion-MNIST, brought to 32x32.
    FashionMnist,
    /// CIFAR-10.
    #[serde(rename = "cifar-10")]
    #[cfg_attr(feature = "flags", value(name = "cifar-10"))]
    Cifar10,
    /// CIFAR-100, by its fine labels.
    #[serde(rename = "cifar-100")]
    #[cfg_attr(feature = "flags", value(name = "cifar-100"))]
    Cifar100,
}

/// Who hears whom.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[cfg_attr(feature = "flags", derive(clap::Args))]
pub struct DeepGraph {
    /// The graph that is given.
    #[serde(flatten)]
    #[cfg_attr(feature = "flags", command(flatten))]
    pub base: GraphFile,
    /// A random geometric graph with this normalised Fiedler value, from above 0 to 1 (all pairs), where none is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "F", value_parser = real, allow_negative_numbers = true, conflicts_with = "graph"))]
    pub fiedler: Option<f64>,
    /// Equal shares for oneself and all neighbours, as in the paper. With unequal degrees the models' mean is then a weighted one.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "flags", arg(skip))]
    pub published_weights: bool,
}

/// What agents do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[cfg_attr(feature = "flags", derive(clap::Args))]
pub struct DeepProtocol {
    /// The algorithm.
    #[cfg_attr(feature = "flags", arg(long, value_enum, value_name = "METHOD", default_value = "dsgt"))]
    pub method: DeepMethod,
    /// The net (default: cnn; resnet9 for colours).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_enum, value_name = "NET"))]
    pub model: Option<Model>,
    /// Rounds of talk, each followed by an update.
    #[cfg_attr(feature = "flags", arg(long, value_name = "K", default_value = "200", value_parser = count))]
    pub rounds: usize,
    /// Expected size of a lot: every image of an agent comes by a coin of its own.
    #[cfg_attr(feature = "flags", arg(long, value_name = "L", default_value = "100", value_parser = real, allow_negative_numbers = true))]
    pub lot: f64,
    /// Size of the first step (default: by method).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "ETA", value_parser = real, allow_negative_numbers = true))]
    pub rate: Option<f64>,
    /// Size of the last step, reached by equal factors (default: a tenth of the first).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(skip))]
    pub last_rate: Option<f64>,
    /// What becomes of a gradient (default: adam for dinno, momentum for central and local, else sgd).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(skip))]
    pub optimiser: Option<Steps>,
    /// What momentum keeps of the direction before (default: 0.9).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(skip))]
    pub momentum: Option<f64>,
    /// Weight of the squared length of a model: it pulls to 0 in every step.
    #[cfg_attr(feature = "flags", arg(skip))]
    pub decay: f64,
    /// Begin momentum or Adam afresh in every round, as the paper's code does, and as dinno does unless told otherwise.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "flags", arg(skip))]
    pub fresh: bool,
    /// Keep the moments of dinno's momentum or Adam from round to round; give a rate then, smaller than its default.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "flags", arg(skip))]
    pub kept: bool,
    /// Where DSGD takes its gradient: at the own model, as printed, or at the mixed one (default: own).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(skip))]
    pub at: Option<At>,
    /// Primal steps of DiNNO in each round, every one a draw that is counted (default: 1).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(skip))]
    pub primal: Option<usize>,
    /// Penalty of DiNNO on disagreement (default: 0.5).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(skip))]
    pub rho: Option<f64>,
    /// By how much that penalty is multiplied before every round (default: 1.0003).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(skip))]
    pub growth: Option<f64>,
}

impl Default for DeepProtocol {
    fn default() -> Self {
        Self {
            method: DeepMethod::Dsgt,
            model: None,
            rounds: 200,
            lot: 100.0,
            rate: None,
            last_rate: None,
            optimiser: None,
            momentum: None,
            decay: 0.0,
            fresh: false,
            kept: false,
            at: None,
            primal: None,
            rho: None,
            growth: None,
        }
    }
}

/// An algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "flags", derive(clap::ValueEnum))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum DeepMethod {
    /// Mix, and step against the gradient.
    Dsgd,
    /// Mix, and step against a tracker of everybody's gradients.
    #[default]
    Dsgt,
    /// Dual ascent on the disagreement, primal steps by Adam.
    Dinno,
    /// One centre that has all images: the upper baseline.
    Central,
    /// Everybody alone: the lower baseline.
    Local,
}

/// A net.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "flags", derive(clap::ValueEnum))]
pub enum Model {
    /// The consensus paper's, for grey images: 38,424 parameters.
    Cnn,
    /// A layer of 64 numbers.
    Mlp,
    /// Nine layers with residual blocks.
    Resnet9,
}

/// What becomes of a gradient.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "flags", derive(clap::ValueEnum))]
pub enum Steps {
    /// A step against it.
    Sgd,
    /// A step against what is left of those before and this one.
    Momentum,
    /// Means of gradients over roots of mean squares.
    Adam,
}

/// The noise on gradients.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[cfg_attr(feature = "flags", derive(clap::Args))]
pub struct DeepNoise {
    /// Largest norm of an image's gradient, over all parameters; inf where nothing is hidden, and nothing clipped.
    #[cfg_attr(feature = "flags", arg(long, value_name = "C", default_value = "1", value_parser = real, allow_negative_numbers = true))]
    pub clip: f64,
    /// Noise of every draw as a multiple of the largest norm, instead of a target; 0 for a run that protects nobody. With --epsilon, agents stop drawing when
    /// it is reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "S", value_parser = real, allow_negative_numbers = true))]
    pub noise_multiplier: Option<f64>,
    /// Noise that is correlated over so many draws: what is added in one is partly taken back in the next ones, and an image may come once in a cycle of so many
    /// (default: 1, independent noise). It helps where epsilon is large.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(skip))]
    pub band: Option<usize>,
    /// With a band, what descent keeps of a draw from step to step, from above 0 to 1 (default: 1).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(skip))]
    pub memory: Option<f64>,
    /// Noise that cancels: each two agents who share a secret add and subtract a Gaussian of so many times their own noise, in every draw.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "KAPPA", value_parser = real, allow_negative_numbers = true))]
    pub cancel: Option<f64>,
    /// Who shares a secret with whom: graph, complete, regular:K (K partners each, drawn), or a file with a graph of the same agents (default: complete).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "KEYS"))]
    pub keys: Option<Keys>,
}

impl Default for DeepNoise {
    fn default() -> Self {
        Self { clip: 1.0, noise_multiplier: None, band: None, memory: None, cancel: None, keys: None }
    }
}

/// What may be lost of an image.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[cfg_attr(feature = "flags", derive(clap::Args))]
pub struct DeepTarget {
    /// Epsilon that one image of anyone may lose in the whole run, to someone who sees every message (default: 8).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "EPS", value_parser = real, allow_negative_numbers = true))]
    pub epsilon: Option<f64>,
    /// Probability with which it may fail.
    #[cfg_attr(feature = "flags", arg(long, value_name = "DELTA", default_value = "1e-5", value_parser = real, allow_negative_numbers = true))]
    pub delta: f64,
    /// So many agents, whoever they are, may tell someone who sees every message all they know (with noise that cancels; default: 1).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "K", value_parser = count))]
    pub colluders: Option<usize>,
}

impl Default for DeepTarget {
    fn default() -> Self {
        Self { epsilon: None, delta: 1e-5, colluders: None }
    }
}
