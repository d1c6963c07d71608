//! `sottovoce audit reconstruct`: arguments, and whom they attack.

use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail};
use clap::Args;
use sottovoce::experiment;
use sottovoce::names::Names;
use sottovoce::terms::Stated;
use sottovoce_audit::reconstruct::{Claim, Findings, Prior, Question, remedy};
use sottovoce_privacy::Adversary;
use sottovoce_topology::mixing::Weights;
use sottovoce_views::door::account;

use super::Failed;
use super::table::{Reconstruction, Remedies};
use crate::Global;
use crate::graph::source::said;
use crate::graph::{count, real};
use crate::spec::Spec;

const EXAMPLES: &str = "Examples:
  sottovoce audit reconstruct --graph ring.txt --lazy 0.333 --steps 6 --observers 0
  sottovoce audit reconstruct --graph ring.txt --steps 6 --observers 0 --claim claim.json
  sottovoce audit reconstruct --graph er.txt --steps 10 --observers 0,5 --relay-noise 0.05 --json
  sottovoce audit reconstruct --schedule pairs.json --observers 2
  sottovoce audit reconstruct --protocol butterfly --peers 16 --cancel 10 --wire-tapper
  sottovoce audit reconstruct --protocol butterfly --peers 16 --masks --wire-tapper --observers 3
  sottovoce audit reconstruct --protocol butterfly --peers 8 --observers 0 --results published

The protocol is run many times; from the messages the observers hear, two attackers estimate every peer's value. The informed
one knows all other values: its error must be sigma²/loss. The uninformed one knows only the mean and the deviation of values.
In each run a peer's value is the mean plus or minus the deviation. Exit code 0: the claim stands. 1: it does not.";

/// Arguments of `audit reconstruct`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(group = clap::ArgGroup::new("who").required(true).multiple(true).args(["observers", "wire_tapper"]))]
pub(crate) struct Reconstruct {
    /// Mean of the private values, known to the uninformed attacker.
    #[arg(long, value_name = "M", default_value = "0", value_parser = real, allow_negative_numbers = true)]
    prior_mean: f64,
    /// Their standard deviation, likewise (default: half the sensitivity, both ends of their range).
    #[arg(long, value_name = "S", value_parser = real, allow_negative_numbers = true)]
    prior_deviation: Option<f64>,
    /// Number of runs.
    #[arg(long, value_name = "R", default_value = "2000", value_parser = count, allow_negative_numbers = true)]
    runs: usize,
    /// Leakage to put to the test instead of the exact one: a JSON list with a number for each peer.
    #[arg(long, value_name = "FILE")]
    claim: Option<PathBuf>,
    /// Loss that relay noise should keep everybody below who is two hops away or more.
    #[arg(long, value_name = "F", default_value = "0.5", value_parser = real, allow_negative_numbers = true)]
    target: f64,
    /// Someone attacks who sees every message, and knows all that --observers know, if they are given.
    #[arg(long)]
    wire_tapper: bool,
    #[command(flatten)]
    spec: Spec<experiment::Averaging>,
}

impl Reconstruct {
    pub(crate) fn run(&self, global: &Global) -> anyhow::Result<()> {
        let experiment = &self.spec.get()?;
        let claim = self.claim.as_deref().map_or(Ok(Claim::Exact), claimed)?;
        if let Some(colluders) = experiment.adversary.colluders {
            bail!(
                "`colluders` is {colluders}: an attack is somebody's; name them with --observers and add --wire-tapper"
            );
        }
        let bar = global.progress(0, "finding the noise: observers");
        let ready = experiment.ready(Path::new(""), global.seed, &|_| bar.inc(1))?;
        bar.finish_and_clear();
        said(ready.place.sha256.as_ref(), &ready.place.notes);
        let question = Question {
            observers: ready.observers,
            tapped: self.wire_tapper,
            setting: ready.setting,
            sigma: ready.sigma,
            sensitivity: ready.sensitivity,
            values: None,
            prior: Prior {
                mean: self.prior_mean,
                deviation: self.prior_deviation.unwrap_or(0.5 * ready.sensitivity),
            },
            runs: self.runs,
            seed: global.seed,
        };
        attack(
            &question,
            &claim,
            &Weighing::of(experiment, self.target),
            Names::of_graph(&ready.place.graph),
            global,
        )
    }
}

/// The leakage that a file claims.
fn claimed(file: &Path) -> anyhow::Result<Claim> {
    let text = sottovoce_fault::file::read("claim", file, 1 << 30)?;
    let losses = serde_json::from_slice(&text)
        .map_err(|error| anyhow!("`claim` is {}: {error}; give a list of numbers", file.display()))?;
    Ok(Claim::Given(losses))
}

/// What remedies are weighed by, and the claim is stated at.
pub(super) struct Weighing {
    /// The weights that a graph with an edge less would have.
    pub(super) weights: Weights,
    /// Their laziness.
    pub(super) lazy: f64,
    /// Loss that relay noise should keep everybody below who is two hops away or more.
    pub(super) target: f64,
    /// Probability with which the epsilon that is stated beside the attack may fail.
    pub(super) delta: f64,
}

impl Weighing {
    /// Of an experiment, with this target for relay noise.
    pub(super) fn of(experiment: &experiment::Averaging, target: f64) -> Self {
        let base = &experiment.graph.base;
        let (weights, lazy) = (base.weights(), base.lazy.unwrap_or(0.0));
        Self { weights, lazy, target, delta: experiment.target.delta }
    }
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
    let Question { setting, observers, sigma, tapped, .. } = question;
    // Against someone who sees every message neither helps.
    let remedies = (!tapped)
        .then(|| {
            anyhow::Ok(Remedies {
                edge: remedy::edge(setting, observers, weighing.weights, weighing.lazy, *sigma)?,
                relay_noise: remedy::relay_noise(setting, observers, *sigma, weighing.target)?,
            })
        })
        .transpose()?;
    let adversary = match (tapped, &observers[..]) {
        (true, []) => Adversary::WireTapper,
        (true, _) => Adversary::WireTapperWith(observers.clone()),
        (false, _) => Adversary::Coalition(observers.clone()),
    };
    let account = account(setting, &adversary)?;
    let (peer, guarantee) = account.worst(question.sensitivity, *sigma)?;
    let about = format!("peer {}, the worst off", names.of(peer));
    let guarantees = vec![Stated::new(about, &guarantee, weighing.delta)?.named(&names)];
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
