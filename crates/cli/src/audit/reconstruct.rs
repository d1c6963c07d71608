//! `sottovoce audit reconstruct`: arguments, and whom they attack.

use std::path::PathBuf;

use anyhow::bail;
use clap::{Args, ValueEnum};
use sottovoce::names::Names;
use sottovoce::terms::Stated;
use sottovoce_audit::reconstruct::{Claim, Findings, Prior, Question, remedy};
use sottovoce_privacy::Adversary;
use sottovoce_simulator::averaging::Scheme;
use sottovoce_topology::Graph;
use sottovoce_topology::mixing::Weights;
use sottovoce_views::door::{Setting, account};

use super::Failed;
use super::table::{Reconstruction, Remedies};
use crate::Global;
use crate::graph::source::{GraphSource, observer, read_schedule};
use crate::graph::{ResultsChoice, count, real};

const EXAMPLES: &str = "Examples:
  sottovoce audit reconstruct --graph ring.txt --lazy 0.333 --steps 6 --observers 0
  sottovoce audit reconstruct --graph ring.txt --lazy .3 --steps 6 --observers 0 --claim published
  sottovoce audit reconstruct --graph er.txt --steps 10 --observers 0,5 --relay-noise 0.05 --json
  sottovoce audit reconstruct --schedule pairs.json --observers 2
  sottovoce audit reconstruct --protocol butterfly --peers 8 --observers 0 --results published

The protocol is run many times; from the messages the observers hear, two attackers estimate every peer's value. The informed
one knows all other values: its error must be sigma²/loss. The uninformed one knows only the mean and the deviation of values.
In each run a peer's value is the mean plus or minus the deviation. Exit code 0: the claim stands. 1: it does not.";

/// Arguments of `audit reconstruct`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(group = clap::ArgGroup::new("mixing").required(true).args(["graph", "schedule", "peers"]))]
pub(crate) struct Reconstruct {
    #[command(flatten)]
    source: GraphSource,
    /// Who mixes with whom at each step, instead of a fixed graph.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["graph", "lazy"])]
    schedule: Option<PathBuf>,
    /// Number of peers of a butterfly, which needs no graph.
    #[arg(long, alias = "nodes", value_name = "N", value_parser = count, allow_negative_numbers = true, conflicts_with_all = ["graph", "schedule"])]
    peers: Option<usize>,
    /// What the peers do.
    #[arg(long, value_enum, default_value = "gossip")]
    protocol: Protocol,
    /// Number of gossip steps (default: all steps of the schedule; a butterfly has its own number).
    #[arg(long, alias = "rounds", value_name = "T", value_parser = count, allow_negative_numbers = true)]
    steps: Option<usize>,
    /// Peers who pool what they hear, separated by commas.
    #[arg(long, alias = "observer", value_name = "V,...", value_delimiter = ',', required = true)]
    observers: Vec<String>,
    /// Fresh noise on every message, as a share of the local noise.
    #[arg(long, alias = "relay", value_name = "SHARE", default_value = "0", value_parser = real, allow_negative_numbers = true)]
    relay_noise: f64,
    /// What becomes of the results: published ones are known to the observers.
    #[arg(long, value_enum, default_value = "kept")]
    results: ResultsChoice,
    /// Standard deviation of the local noise.
    #[arg(long, value_name = "SIGMA", default_value = "1", value_parser = real, allow_negative_numbers = true)]
    sigma: f64,
    /// How far one person can move a peer's value.
    #[arg(long, value_name = "DELTA", default_value = "1", value_parser = real, allow_negative_numbers = true)]
    sensitivity: f64,
    /// Mean of the private values, known to the uninformed attacker.
    #[arg(long, value_name = "M", default_value = "0", value_parser = real, allow_negative_numbers = true)]
    prior_mean: f64,
    /// Their standard deviation, likewise (default: half the sensitivity, both ends of their range).
    #[arg(long, value_name = "S", value_parser = real, allow_negative_numbers = true)]
    prior_deviation: Option<f64>,
    /// Number of runs.
    #[arg(long, value_name = "R", default_value = "2000", value_parser = count, allow_negative_numbers = true)]
    runs: usize,
    /// Whose losses are put to the test.
    #[arg(long, value_enum, default_value = "exact")]
    claim: Choice,
    /// Loss that relay noise should keep everybody below who is two hops away or more.
    #[arg(long, value_name = "F", default_value = "0.5", value_parser = real, allow_negative_numbers = true)]
    target: f64,
}

/// Most peers of a butterfly that is attacked.
const MOST_PEERS: usize = 100_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Protocol {
    /// Plain gossip, over a graph or a schedule.
    Gossip,
    /// Gossip accelerated by the graph's spectral gap.
    Accelerated,
    /// Exact averaging in about log2 n rounds, whatever the graph.
    Butterfly,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Choice {
    /// The exact accountant's.
    Exact,
    /// The formula as printed (refuted; to see it caught).
    Published,
}

impl Reconstruct {
    pub(crate) fn run(&self, global: &Global) -> anyhow::Result<()> {
        let graph = self.source.read()?;
        let scheme = self.scheme(graph.as_ref())?;
        let names = graph.as_ref().map(Names::of_graph).unwrap_or_default();
        let observers = self.observers.iter().map(|name| observer(name, graph.as_ref(), scheme.peers()));
        let question = Question {
            observers: observers.collect::<anyhow::Result<_>>()?,
            setting: Setting { scheme, relay_noise: self.relay_noise, results: self.results.into() },
            sigma: self.sigma,
            sensitivity: self.sensitivity,
            values: None,
            prior: Prior {
                mean: self.prior_mean,
                deviation: self.prior_deviation.unwrap_or(0.5 * self.sensitivity),
            },
            runs: self.runs,
            seed: global.seed,
        };
        let claim = if self.claim == Choice::Exact { Claim::Exact } else { Claim::Published };
        let weighing =
            Weighing { weights: self.source.weights(), lazy: self.source.lazy(), target: self.target };
        attack(&question, &claim, &weighing, names, global)
    }

    fn scheme(&self, graph: Option<&Graph>) -> anyhow::Result<Scheme> {
        match (self.protocol, graph, self.peers, &self.schedule) {
            (Protocol::Butterfly, _, _, Some(_)) => {
                bail!(
                    "`protocol` is butterfly: it has its own schedule; give --peers N instead of --schedule"
                )
            }
            (Protocol::Butterfly, graph, peers, None) => {
                if let Some(steps) = self.steps {
                    bail!("`steps` is {steps}: a butterfly has its own number of rounds; leave --steps out");
                }
                let peers = graph.map(Graph::nodes).or(peers).unwrap_or(0);
                if peers > MOST_PEERS {
                    bail!("`peers` is {peers}: give at most {MOST_PEERS}");
                }
                Ok(Scheme::Butterfly { positions: (0..peers).collect() })
            }
            (_, _, Some(peers), _) => {
                bail!(
                    "`peers` is {peers}: only a butterfly needs no graph; give --graph FILE, or --protocol butterfly"
                )
            }
            (Protocol::Accelerated, _, _, Some(_)) => {
                bail!("`protocol` is accelerated: acceleration needs a fixed graph; give --graph FILE")
            }
            (Protocol::Gossip, _, _, Some(path)) => {
                let schedule = read_schedule(path, self.source.weights())?;
                Ok(Scheme::Scheduled { rounds: self.steps.unwrap_or(schedule.period()), schedule })
            }
            (protocol, Some(graph), _, _) => {
                let Some(rounds) = self.steps else { bail!("`steps` is missing: give --steps T") };
                let accelerated = protocol == Protocol::Accelerated;
                Ok(Scheme::Gossip { mixing: self.source.mixing(graph)?, rounds, accelerated })
            }
            _ => bail!("`graph` is missing: give --graph FILE or --schedule FILE"),
        }
    }
}

/// Probability with which the epsilon that is stated beside the attack may fail.
const DELTA: f64 = 1e-5;

/// What remedies are weighed by.
pub(super) struct Weighing {
    /// The weights that a graph with an edge less would have.
    pub(super) weights: Weights,
    /// Their laziness.
    pub(super) lazy: f64,
    /// Loss that relay noise should keep everybody below who is two hops away or more.
    pub(super) target: f64,
}

/// Attacks, prints what was found and what could be done about it; a claim that fell is an error.
pub(super) fn attack(
    question: &Question,
    claim: &Claim,
    weighing: &Weighing,
    names: Names,
    global: &Global,
) -> anyhow::Result<()> {
    remedy::check_target(weighing.target)?;
    let bar = global.progress(question.runs, "runs");
    let findings = question.reconstruct(claim, |runs| bar.set_position(runs as u64));
    bar.finish_and_clear();
    let findings = findings?;
    let Question { setting, observers, sigma, .. } = question;
    let remedies = Remedies {
        edge: remedy::edge(setting, observers, weighing.weights, weighing.lazy, *sigma)?,
        relay_noise: remedy::relay_noise(setting, observers, *sigma, weighing.target)?,
    };
    let account = account(setting, &Adversary::Coalition(observers.clone()))?;
    let (peer, guarantee) = account.worst(question.sensitivity, *sigma)?;
    let about = format!("peer {}, the worst off", names.of(peer));
    let guarantees = vec![Stated::new(about, &guarantee, DELTA)?.named(&names)];
    let failure = failure(&findings, &names);
    global.print(&Reconstruction { findings, remedies, guarantees, names })?;
    failure.map_or(Ok(()), |reason| Err(Failed(reason).into()))
}

/// Why a claim does not stand, if it does not.
fn failure(findings: &Findings, names: &Names) -> Option<String> {
    (!findings.passed()).then(|| {
        format!("the {} loss does not stand for peers {}", findings.claim, names.list(&findings.failed()))
    })
}
