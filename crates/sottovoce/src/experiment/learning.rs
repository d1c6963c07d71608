//! Peers learn a model together: the task, the method, the graph, the noise, and what may be lost.

use std::path::Path;

use serde::{Deserialize, Serialize};
use sottovoce_learning::Task;
use sottovoce_topology::Graph;
use sottovoce_topology::mixing::Mixing;
use sottovoce_topology::spectrum::Spectrum;

#[cfg(feature = "flags")]
use super::flags::{count, real};
use super::graph::peer;
use super::keys::{Keys, Pairing};
use super::learning_graph::{Graphs, LearningGraph};
use super::network::TokenNetwork;
use super::task::TaskSpec;
use crate::learning::account::Revealed;
use crate::learning::method::{Entry, Options};
use crate::learning::network::Faulty;
use crate::learning::{Against, Choice, Job, Noise, Promise, Secrets, Target};
use crate::names::Names;
use crate::{Error, Result};

/// The method by which tokens walk.
pub(super) const WALK: &str = "walk";
/// Epsilon where none is given.
const DEFAULT_EPSILON: f64 = 4.0;

/// Learning.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[cfg_attr(feature = "flags", derive(clap::Args))]
pub struct Learning {
    /// Seed of everything random, where the command line gives none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(skip))]
    pub seed: Option<u64>,
    /// Runs with this and the following seeds over which the accuracy, or the error, is measured: one alone may be lucky (default: 10).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "N", value_parser = count))]
    pub seeds: Option<usize>,
    /// What every peer ends with: its last model, or the weighted mean of all its models, which it takes by itself (default: last).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(skip))]
    pub final_model: Option<FinalModel>,
    /// What is learned, from which rows.
    #[cfg_attr(feature = "flags", command(flatten))]
    pub task: TaskSpec,
    /// Who can speak to whom.
    #[cfg_attr(feature = "flags", command(flatten))]
    pub graph: LearningGraph,
    /// How.
    #[cfg_attr(feature = "flags", command(flatten))]
    pub protocol: MethodSpec,
    /// Over which network, where tokens walk.
    #[serde(skip_serializing_if = "TokenNetwork::is_none")]
    #[cfg_attr(feature = "flags", command(flatten))]
    pub network: TokenNetwork,
    /// How far to step.
    #[cfg_attr(feature = "flags", command(flatten))]
    pub step: StepSpec,
    /// Under which noise.
    #[cfg_attr(feature = "flags", command(flatten))]
    pub noise: GradientNoise,
    /// What may be lost.
    #[cfg_attr(feature = "flags", command(flatten))]
    pub target: LearningTarget,
}

/// How to learn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[cfg_attr(feature = "flags", derive(clap::Args))]
pub struct MethodSpec {
    /// Gossip after every step of all; the same to exact consensus (butterfly); a token that walks; or one of the baselines: everything public
    /// (local), a trusted server (central). Without it: gossip where a graph is given, else butterfly.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "METHOD", value_parser = methods()))]
    pub method: Option<String>,
    /// Contributions of each peer.
    #[cfg_attr(feature = "flags", arg(long, value_name = "T", default_value = "10", value_parser = count))]
    pub iterations: usize,
    /// Gossip steps after each contribution (default: as the paper has it).
    #[serde(rename = "steps", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long = "steps", value_name = "K", value_parser = count))]
    pub rounds: Option<usize>,
    /// How far the gradients of peers are from each other: their mean squared norm at the optimum, in squared sensitivities. It must be public. Gossip then
    /// has the paper's steps for gradients that differ (default: those for gradients alike).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(skip))]
    pub heterogeneity: Option<f64>,
    /// Accelerate gossip.
    #[cfg_attr(feature = "flags", arg(skip))]
    pub accelerated: bool,
    /// Fresh noise on every message of gossip, as a share of the noise on a gradient (default: 0).
    #[serde(rename = "relay-noise", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long = "relay-noise", value_name = "SHARE", value_parser = real, allow_negative_numbers = true))]
    pub relay: Option<f64>,
    /// Tokens that walk in parallel (default: 1).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "N", value_parser = count))]
    pub tokens: Option<usize>,
    /// Steps in which a token is only passed on, at first (default: 0).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "N", value_parser = count))]
    pub burn_in: Option<usize>,
}

/// What every peer ends with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "flags", derive(clap::ValueEnum))]
pub enum FinalModel {
    /// Its last model.
    #[default]
    Last,
    /// The weighted mean of its models: later ones count more if there is a ridge, all alike without.
    Weighted,
}

impl Default for MethodSpec {
    fn default() -> Self {
        Self {
            method: None,
            iterations: 10,
            rounds: None,
            heterogeneity: None,
            accelerated: false,
            relay: None,
            tokens: None,
            burn_in: None,
        }
    }
}

/// The names of all methods.
#[cfg(feature = "flags")]
fn methods() -> clap::builder::PossibleValuesParser {
    use crate::learning::method::METHODS;
    use clap::builder::{PossibleValue, PossibleValuesParser};
    PossibleValuesParser::new(METHODS.iter().map(|entry| PossibleValue::new(entry.name).help(entry.about)))
}

/// How far to step.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[cfg_attr(feature = "flags", derive(clap::Args))]
pub struct StepSpec {
    /// Step size (default: 4 for steps of all, 0.05 for a token's).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(id = "step", long = "step-size", value_name = "STEP", value_parser = real, allow_negative_numbers = true))]
    pub size: Option<f64>,
    /// The step size of the random-walk paper's Theorem 2 instead, for an optimum at this distance from 0 (needs --ridge).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(skip))]
    pub markov_step: Option<f64>,
}

/// The noise on a gradient.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[cfg_attr(feature = "flags", derive(clap::Args))]
pub struct GradientNoise {
    /// Noise on a gradient, in units of its sensitivity; 0 for a run that protects nobody (default: what the target asks for).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "S", value_parser = real, allow_negative_numbers = true))]
    pub sigma: Option<f64>,
    /// Noise that cancels: each two peers who share a secret add and subtract a Gaussian of so many sigmas, in every step.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "KAPPA", value_parser = real, allow_negative_numbers = true))]
    pub cancel: Option<f64>,
    /// Who shares a secret with whom: graph, complete, regular:K (K partners each, drawn), or a file with a graph of the same peers (default: complete).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "KEYS"))]
    pub keys: Option<Keys>,
}

impl GradientNoise {
    /// What it says of noise that cancels, where so many may collude.
    pub fn pairing(&self, colluders: Option<usize>) -> Pairing<'_> {
        Pairing { cancel: self.cancel, keys: self.keys.as_ref(), colluders }
    }
}

/// How much may be lost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[cfg_attr(feature = "flags", derive(clap::Args))]
pub struct LearningTarget {
    /// Epsilon that a user's data may lose in the whole run (default, without --sigma: 4).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "EPS", value_parser = real, allow_negative_numbers = true))]
    pub epsilon: Option<f64>,
    /// Probability with which it may fail.
    #[cfg_attr(feature = "flags", arg(long, value_name = "DELTA", default_value = "1e-5", value_parser = real, allow_negative_numbers = true))]
    pub delta: f64,
    /// Read epsilon as a Rényi loss of this order.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "ORDER", value_parser = real, allow_negative_numbers = true))]
    pub order: Option<f64>,
    /// To whom (default: worst-peer).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_enum))]
    pub against: Option<Whom>,
    /// So many peers, whoever they are, may tell someone who sees every message all they know (with noise that cancels; default: 1).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "K", value_parser = count))]
    pub colluders: Option<usize>,
}

impl Default for LearningTarget {
    fn default() -> Self {
        Self { epsilon: None, delta: 1e-5, order: None, against: None, colluders: None }
    }
}

/// To whom something may be lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "flags", derive(clap::ValueEnum))]
pub enum Whom {
    /// Someone who sees every message.
    WireTapper,
    /// Any one peer.
    #[default]
    WorstPeer,
    /// A peer on average: a guarantee for nobody.
    MeanPeer,
}

/// Rounds of gossip after which noise so loud is no more than what averaged noise leaves, on the graph that mixes most slowly.
fn rounds(mixings: &[Mixing], loudness: f64, accelerated: bool) -> Result<usize> {
    let each =
        |mixing: &Mixing| super::averaging::rounds(Spectrum::of(mixing)?.gap.lower(), loudness, accelerated);
    mixings.iter().try_fold(1, |most, mixing| Ok(most.max(each(mixing)?))) // whole numbers
}

/// Learning that can be run: files read, the method chosen.
pub struct ReadyLearning {
    /// The task, its peers in the graph's order.
    pub task: Task,
    /// The graphs after each gradient step, in turn, where the method has some.
    pub mixings: Vec<Mixing>,
    /// The method.
    pub choice: Choice,
    /// The noise.
    pub noise: Noise,
    /// The network, where something is said of it.
    pub network: Option<Faulty>,
    /// Noise that cancels, where there is some.
    pub secrets: Option<Secrets>,
    /// SHA-256 of the graph's file.
    pub graph_sha256: Option<String>,
    /// What was noticed in the files.
    pub notes: Vec<String>,
}

impl Learning {
    /// Reads what the experiment names; `folder` is where relative names begin.
    pub fn ready(&self, folder: &Path, seed: u64) -> Result<ReadyLearning> {
        self.ready_with(folder, seed, |of_graph| self.task.read(folder, of_graph))
    }

    /// The same with a task from elsewhere, and what was noticed about it.
    pub(crate) fn ready_with(
        &self,
        folder: &Path,
        seed: u64,
        task: impl FnOnce(Option<usize>) -> Result<(Task, Vec<String>)>,
    ) -> Result<ReadyLearning> {
        let choice = self.choice()?;
        let noise = self.target.noise(self.noise.sigma)?;
        self.check_network(choice.method)?;
        let (task, Graphs { mixings, sha256: graph_sha256, notes }) = if choice.method.needs_graph {
            let walks = choice.method.name == WALK;
            self.graph.with_task(folder, task, choice.iterations, seed, walks)?
        } else {
            let (task, notes) = task(None)?;
            (task, Graphs { mixings: Vec::new(), sha256: None, notes })
        };
        let graph = mixings.first().map(Mixing::graph);
        let network = self.faulty(graph)?;
        let secrets =
            self.noise.pairing(self.target.colluders).secrets(folder, (graph, task.peers()), seed)?;
        if let (Some(secrets), "gossip", None) = (&secrets, choice.method.name, choice.options.rounds) {
            let loud = 1.0 + secrets.pairs().kappa().powi(2) * task.peers() as f64;
            let enough = rounds(&mixings, task.peers() as f64 * loud, choice.options.accelerated)?;
            let remedy = format!(
                "gossip must go on until the noise of pairs is gone; give {enough}, or method butterfly"
            );
            return Err(Error::missing("steps", remedy));
        }
        Ok(ReadyLearning { task, mixings, choice, noise, network, secrets, graph_sha256, notes })
    }

    fn check_network(&self, method: &Entry) -> Result<()> {
        match self.network.given().filter(|_| method.name != WALK) {
            Some((field, value)) => {
                Err(Error::parameter(field, value, "only walk has a use for it; leave it out"))
            }
            None => Ok(()),
        }
    }

    /// The network under a walk; none where nothing is said of it: a perfect one.
    pub fn faulty(&self, graph: Option<&Graph>) -> Result<Option<Faulty>> {
        graph.map_or(Ok(None), |graph| self.network.faulty(graph))
    }

    /// The graphs of a run with this seed; none where only files tell them.
    pub fn known_graphs(&self, peers: usize, seed: u64) -> Result<Option<Vec<Mixing>>> {
        let choice = self.choice()?;
        match choice.method.needs_graph {
            true => self.graph.known(peers, choice.iterations, seed, choice.method.name == WALK),
            false => Ok(Some(Vec::new())),
        }
    }

    /// What was chosen, checked: an option that the method has no use for is refused, and so is a graph.
    pub fn choice(&self) -> Result<Choice> {
        let (asked, step) = (&self.protocol, &self.step);
        let usual = if self.graph.is_given() { "gossip" } else { "butterfly" };
        let method = Entry::find(asked.method.as_deref().unwrap_or(usual))?;
        if let (Some(size), Some(_)) = (step.size, step.markov_step) {
            return Err(Error::parameter("step-size", size, "markov-step is given too; give one of them"));
        }
        let options = Options {
            rounds: asked.rounds,
            heterogeneity: asked.heterogeneity,
            accelerated: asked.accelerated,
            relay: asked.relay,
            tokens: asked.tokens,
            burn_in: asked.burn_in,
            markov_step: step.markov_step,
            weighted: self.final_model == Some(FinalModel::Weighted),
        };
        method.check(&options)?;
        method.check_graph(self.graph.given())?;
        Ok(Choice { method, options, iterations: asked.iterations, step: step.size })
    }

    /// Runs over which accuracies are measured.
    pub fn seeds(&self) -> usize {
        self.seeds.unwrap_or(10)
    }

    /// What the run would reveal to these observers, by name; without any, to the peer that learns most. What could not be run is refused.
    pub fn account(&self, ready: &ReadyLearning, seed: u64, observers: &[String]) -> Result<Revealed> {
        let job = self.job(ready, seed);
        let run = job.start()?;
        run.account(&named(observers, &run.called(), ready.task.peers())?, job.delta)
    }

    /// The job of a ready experiment.
    pub fn job<'a>(&self, ready: &'a ReadyLearning, seed: u64) -> Job<'a> {
        Job {
            task: &ready.task,
            mixings: &ready.mixings,
            choice: ready.choice,
            noise: ready.noise,
            seeds: self.seeds(),
            seed,
            delta: self.target.delta,
            threads: sottovoce_views::parallel::threads(),
            network: ready.network.as_ref(),
            secrets: ready.secrets.as_ref(),
        }
    }
}

/// The numbers of the observers who are named, in order.
pub(crate) fn named(observers: &[String], names: &Names, peers: usize) -> Result<Vec<usize>> {
    let graph = match names.all() {
        Some(labels) => Some(Graph::from_edges(labels.len(), [])?.with_labels(labels.to_vec())?),
        None => None,
    };
    let numbers = observers.iter().map(|name| peer("observers", name, graph.as_ref(), peers));
    let mut numbers = numbers.collect::<Result<Vec<usize>>>()?;
    numbers.sort_unstable();
    numbers.dedup();
    Ok(numbers)
}

impl LearningTarget {
    /// The target, if there is one. What only a target has a use for is refused where there is none.
    fn given(&self) -> Result<Option<Promise>> {
        let unused = [("order", self.order.is_some()), ("against", self.against.is_some())];
        match (self.epsilon, unused.into_iter().find(|(_, given)| *given)) {
            (Some(epsilon), _) => self.of(epsilon).map(Some),
            (None, Some((field, _))) => {
                let remedy = "it is a part of a target, and there is none; give epsilon, or leave it out";
                Err(Error::parameter(field, "given", remedy))
            }
            (None, None) => Ok(None),
        }
    }

    /// The target, or the default.
    pub fn promise(&self) -> Result<Promise> {
        self.of(self.epsilon.unwrap_or(DEFAULT_EPSILON))
    }

    /// As much noise as is given, or else as the target asks for.
    pub fn noise(&self, sigma: Option<f64>) -> Result<Noise> {
        Ok(match sigma {
            Some(sigma) => Noise::Given(sigma, self.given()?),
            None => Noise::Calibrated(self.promise()?),
        })
    }

    fn of(&self, epsilon: f64) -> Result<Promise> {
        let target = match self.order {
            Some(order) => Target::Renyi { order, epsilon },
            None => Target::Approximate { epsilon, delta: self.delta },
        };
        target.check()?;
        let against = match self.against.unwrap_or_default() {
            Whom::WireTapper => Against::WireTapper,
            Whom::WorstPeer => Against::WorstPeer,
            Whom::MeanPeer => Against::MeanPeer,
        };
        Ok(Promise { target, against })
    }
}
