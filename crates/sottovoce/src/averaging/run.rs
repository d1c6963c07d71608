//! One experiment: run, accounted for from what happened, attacked.

use std::path::{Path, PathBuf};

use serde::Serialize;
use sottovoce_audit::reconstruct::{Prior, Question};
use sottovoce_learning::Spread;
use sottovoce_protocol::averaging::{AveragingTranscript, Noising};
use sottovoce_protocol::public::Scheme;
use sottovoce_report::AveragingReport;
use sottovoce_simulator::averaging::AveragingSetup;
use sottovoce_simulator::bulk::Bulk;
use sottovoce_simulator::driver::Simulation;
use sottovoce_simulator::invariants;
use sottovoce_simulator::outcome::Outcome;
use sottovoce_views::door::{Past, Source};

use super::account::{Public, Views, not_covered, stated, statements};
use super::grid::{Grid, column, predicted};
use super::trade::Trade;
use super::{MaskedSums, masked, page, walk, words};
use crate::experiment::{Averaging, Experiment, Keys, Range, Ready};
use crate::names::Names;
use crate::plan::Class;
use crate::spine::{Context, Outcome as Returned, Protocol};
use crate::terms::Stated;
use crate::transcript;
use crate::{Result, require};

/// Runs over which errors are measured, and values that they may take together.
const RUNS: usize = 400;
const WORK: usize = 4_000_000;
/// Runs of the attack.
pub(super) const ATTACKS: usize = 1000;

/// What came of it.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Averaged {
    /// In a sentence.
    pub headline: String,
    /// Seed of everything random.
    pub seed: u64,
    /// Number of peers.
    pub peers: usize,
    /// Names of the peers, where the graph has them.
    #[serde(skip_serializing_if = "Names::are_numbers")]
    pub names: Names,
    /// SHA-256 of the graph's file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub graph_sha256: Option<String>,
    /// Number of edges.
    pub edges: usize,
    /// Rounds.
    pub steps: usize,
    /// Standard deviation of the local noise.
    pub sigma: f64,
    /// Standard deviation of the relay noise.
    pub tau: f64,
    /// How far one person can move a peer's values.
    pub sensitivity: f64,
    /// Probability with which the stated epsilons may fail.
    pub delta: f64,
    /// Mean of the private values (of the first column).
    pub mean: f64,
    /// Mean of the peers' results in the run shown (of the first column).
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub estimate: f64,
    /// Each peer's result, a number for each column; none for those who have none.
    pub results: Vec<Option<Vec<f64>>>,
    /// Each column of values.
    pub coordinates: Vec<Coordinate>,
    /// Numbers that lay outside the public range and were moved inside.
    pub moved: usize,
    /// Mean squared error of a peer's result, per coordinate: predicted without faults, and measured.
    pub predicted_error: f64,
    /// Measured.
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub measured_error: f64,
    /// Root of the mean squared error of the results over the runs that were simulated message by message.
    pub error: Spread,
    /// Mean over pairs of the loss, in units of local DP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_loss: Option<f64>,
    /// The same without relay noise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_loss_without_relay: Option<f64>,
    /// The largest loss of peers at distance two or more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worst_far: Option<f64>,
    /// The same without relay noise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worst_far_without_relay: Option<f64>,
    /// Messages sent in the run shown.
    pub messages: u64,
    /// Peers that have a result.
    pub finished: usize,
    /// Its virtual duration in seconds.
    pub virtual_seconds: f64,
    /// Invariants that were broken: none, or the run is void.
    pub violations: Vec<String>,
    /// What the losses were computed from.
    pub source: Source,
    /// What each class of distance got, where bounds fall with a public distance.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<Class>,
    /// Masks on a ring, where there are some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub masks: Option<MaskedSums>,
    /// What hiding from someone who sees every message would cost, without and with noise that cancels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trade: Option<Trade>,
    /// Guarantees, with their standing.
    pub statements: Vec<String>,
    /// The same as fields.
    pub guarantees: Vec<Stated>,
    /// What they do not speak of.
    pub not_covered: Vec<String>,
    /// Which of these numbers no noise protects.
    pub computed_without_privacy: [&'static str; 6],
    /// Verdict of the attack.
    pub attack: String,
    /// Whether it found more than the accountant says.
    pub fell: bool,
    /// What was noticed in the graph's file.
    #[serde(skip)]
    pub notes: Vec<String>,
    /// What happened, without values.
    #[serde(skip)]
    pub transcript: Option<transcript::Averaging>,
    /// Everything the report shows; none for very many peers.
    #[serde(skip)]
    pub report: Option<AveragingReport>,
    /// The first lines of the page and of the console.
    #[serde(skip)]
    pub summary: Vec<(String, String)>,
    #[serde(skip)]
    pub(super) title: String,
}

/// A column of values.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Coordinate {
    /// Its name.
    pub name: String,
    /// Mean of the private values. Computed without privacy.
    pub mean: f64,
    /// Mean of the peers' results.
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub estimate: f64,
}

/// Distances that are no table in a file.
const HOW_FAR: [&str; 2] = ["hops", "coordinates"];

impl Protocol for Averaging {
    fn seed(&self) -> Option<u64> {
        self.seed
    }

    fn seed_mut(&mut self) -> &mut Option<u64> {
        &mut self.seed
    }

    fn seeds_mut(&mut self) -> Option<&mut Option<usize>> {
        Some(&mut self.seeds)
    }

    fn files(&mut self) -> Vec<(&'static str, Option<&mut PathBuf>)> {
        let table = self.target.by_distance.distance.as_mut();
        // Two names are no files.
        let table = table.filter(|name| !HOW_FAR.iter().any(|one| name.as_os_str() == *one));
        vec![
            ("graph", self.graph.base.file.as_mut()),
            ("schedule", self.graph.schedule.as_mut()),
            ("values", self.values.file.as_mut()),
            ("distance", table),
            ("keys", self.noise.keys.as_mut().and_then(Keys::file)),
        ]
    }

    fn page_files(&self) -> Vec<&'static str> {
        if self.walks() { Vec::new() } else { AveragingReport::file_names() }
    }

    fn run(&self, context: &Context<'_>) -> Result<Returned> {
        if self.walks() {
            return walk::outcome(self, context);
        }
        let &Context { folder, seed, progress, .. } = context;
        progress.begin(parts(self), "reading, finding the noise");
        let mut found = run(self, folder, seed, |next| progress.step(next))?;
        let experiment = context.again(Experiment::Averaging(Box::new(self.clone())));
        let (report, transcript) = (found.report.take(), found.transcript.take());
        let (hash, notes) = (found.graph_sha256.clone(), std::mem::take(&mut found.notes));
        let refuted = found.fell.then(|| found.attack.clone());
        let outcome =
            Returned::new(found, experiment, &transcript)?.of_graph(hash, notes).refuted_by(refuted);
        Ok(match report {
            Some(report) => outcome.with_page(move |beside| {
                let mut report = report.clone();
                report.provenance = beside.over(report.provenance);
                report.beside = beside.files;
                Ok(report.files()?)
            }),
            None => outcome,
        })
    }
}

/// In how many parts the work of an experiment falls, at most: for a progress bar.
fn parts(experiment: &Averaging) -> usize {
    experiment.seeds.unwrap_or(1).saturating_add(42 + 6)
}

/// Runs an experiment under its seeds, the first of which is shown. `done` is called about once a part, and hears what comes next.
pub fn run(
    experiment: &Averaging,
    folder: &Path,
    seed: u64,
    done: impl Fn(&'static str),
) -> Result<Averaged> {
    let seeds = experiment.seeds.unwrap_or(1);
    require((1..=10_000).contains(&seeds), "seeds", seeds, "give a number from 1 to 10000")?;
    let ready = experiment.ready(folder, seed, &|_| ())?;
    done("averaging");
    let first = Simulated::new(&ready, seed)?;
    done("averaging again");
    let mut errors = vec![squared_error(&first.outcome, &ready).sqrt()];
    for further in 1..seeds as u64 {
        errors
            .push(squared_error(&Simulated::new(&ready, seed.wrapping_add(further))?.outcome, &ready).sqrt());
        done("averaging again");
    }
    done("accounting");
    Judged::new(&ready, first, seed)?.conclude(&errors, &done)
}

/// A squared Gaussian loss, and a hair for rounding; what no filter counts, since it protects nothing, is not limited.
fn budget(mu: f64) -> f64 {
    let allowed = mu * mu * (1.0 + 1e-9);
    if allowed < 1e8 { allowed } else { f64::INFINITY }
}

/// A run, message by message.
struct Simulated {
    outcome: Outcome<Vec<f64>>,
    transcript: AveragingTranscript,
}

/// Who hears what when, in the run of this seed: whoever's values they are.
pub(crate) fn happens(ready: &Ready, seed: u64) -> Result<AveragingTranscript> {
    Ok(Simulated::new(ready, seed)?.transcript)
}

impl Simulated {
    fn new(ready: &Ready, seed: u64) -> Result<Self> {
        if let Some(masks) = &ready.setting.masks {
            let budget = budget(ready.sensitivity / ready.sigma);
            let (outcome, transcript) = masked::simulated(ready, masks, budget, seed)?;
            return Ok(Self { outcome, transcript });
        }
        let noising = Noising { sensitivity: ready.sensitivity, local: ready.sigma, relay: ready.tau() };
        let setup = AveragingSetup {
            values: ready.values.all.clone(),
            scheme: ready.setting.scheme.clone(),
            noising,
            // One release.
            budget: budget(ready.sensitivity / ready.sigma),
        };
        let mut machines = setup.numbers()?;
        if ready.experiment.network.lenient {
            machines = machines.into_iter().map(|machine| machine.lenient()).collect();
        }
        let mut transcript = AveragingTranscript::default();
        let checks = invariants::of_averaging(&setup)?;
        let outcome = Simulation::new(machines, ready.noises(seed), ready.network, seed)?
            .faults(&ready.faults)?
            .budgets(setup.allowances()?)?
            .averaging(setup.facts()?)
            .invariants(checks)
            .recorder(&mut transcript)
            .run();
        Ok(Self { outcome, transcript })
    }
}

/// Mean squared distance of results from the mean of all private values, per coordinate; NaN where nobody has one.
fn squared_error(outcome: &Outcome<Vec<f64>>, ready: &Ready) -> f64 {
    let means = means(&ready.values.all);
    let finals: Vec<&Vec<f64>> = outcome.finals.iter().flatten().collect();
    let off = finals.iter().flat_map(|value| value.iter().zip(&means)).map(|(x, mean)| (x - mean).powi(2));
    off.sum::<f64>() / (finals.len() * means.len()) as f64
}

/// The mean of each coordinate.
fn means(values: &[Vec<f64>]) -> Vec<f64> {
    let width = values.first().map_or(0, Vec::len);
    (0..width).map(|i| values.iter().map(|value| value[i]).sum::<f64>() / values.len() as f64).collect()
}

/// A run with everything that is said of it.
pub(super) struct Judged<'a> {
    pub(super) ready: &'a Ready,
    pub(super) seed: u64,
    pub(super) outcome: Outcome<Vec<f64>>,
    pub(super) file: transcript::Averaging,
    pub(super) views: Views<Past>,
}

impl<'a> Judged<'a> {
    fn new(ready: &'a Ready, first: Simulated, seed: u64) -> Result<Self> {
        let Simulated { outcome, transcript } = first;
        let (public, experiment) =
            (Public::from(ready), Experiment::Averaging(Box::new(ready.experiment.clone())));
        // What is said of the run comes from its transcript, as it will be written.
        let file = transcript::Averaging::new(&experiment, seed, &public, transcript)?;
        let past = file.unjudged()?;
        Ok(Self { ready, seed, outcome, file, views: Views::new(public, past, &|_| ())? })
    }

    fn conclude(self, errors: &[f64], done: &impl Fn(&'static str)) -> Result<Averaged> {
        let ready = self.ready;
        let delta = ready.experiment.target.delta;
        let measured = self.measure()?;
        done("accounting");
        let all = self.views.guarantees()?;
        let grid = Grid::around(&ready.setting);
        let points = match &self.views.own {
            Some(own) => {
                grid.points(ready, &self.views.hops, own.clone(), &|| done("other noises and steps"))?
            }
            None => Vec::new(),
        };
        done("attacking");
        let attack = page::attack(&self)?;
        done("writing");
        let chosen = points.get(grid.chosen.0 * grid.steps.len() + grid.chosen.1);
        let plain = points.get(grid.chosen.1).filter(|_| grid.relay[0] == 0.0);
        let coordinates = self.coordinates();
        let n = ready.peers();
        let mut found = Averaged {
            headline: String::new(),
            seed: self.seed,
            peers: n,
            names: Names::of_graph(&ready.place.graph),
            graph_sha256: ready.place.sha256.clone(),
            edges: ready.place.graph.edge_count(),
            steps: ready.setting.scheme.rounds(),
            sigma: ready.sigma,
            tau: ready.tau(),
            sensitivity: ready.sensitivity,
            delta,
            mean: coordinates[0].mean,
            estimate: coordinates[0].estimate,
            results: self.outcome.finals.clone(),
            coordinates,
            moved: ready.values.moved,
            predicted_error: predicted(ready)?,
            measured_error: measured.last,
            error: Spread::of(errors),
            mean_loss: chosen.map(|point| point.mean),
            mean_loss_without_relay: plain.map(|point| point.mean),
            worst_far: chosen.map(|point| point.worst_far),
            worst_far_without_relay: plain.map(|point| point.worst_far),
            messages: self.outcome.traffic.sent,
            finished: self.outcome.finals.iter().flatten().count(),
            virtual_seconds: self.outcome.duration.as_secs_f64(),
            violations: self.outcome.violations.iter().map(ToString::to_string).collect(),
            source: self.views.run.source(&self.observers()),
            classes: self.views.classes()?,
            masks: MaskedSums::of(&ready.setting, &ready.tapper, ready.sensitivity)?,
            // Where noise or masks cancel, the run itself tells.
            trade: match ready.experiment.noise.shares_secrets() || points.is_empty() {
                false => Trade::of(ready, self.seed)?,
                true => None,
            },
            statements: statements(&all, delta, &ready.place.graph)?,
            guarantees: stated(&all, delta, &ready.place.graph)?,
            not_covered: not_covered(&all),
            computed_without_privacy: [
                "mean",
                "measured_error",
                "moved",
                "error",
                "coordinates/mean",
                "trade/cancelling_measured",
            ],
            attack: attack.text.clone(),
            fell: attack.fell,
            notes: ready.place.notes.clone(),
            transcript: None,
            report: None,
            summary: Vec::new(),
            title: ready
                .experiment
                .title
                .clone()
                .unwrap_or_else(|| format!("Private averaging among {n} peers")),
        };
        let local = self.views.public.local()?;
        found.headline = words::headline(&found, &all, self.views.own.is_some(), local)?;
        found.summary = words::summary(&found, ready);
        if !points.is_empty() {
            found.report = Some(page::report(&self, &found, &grid, &points, &measured, attack, &all)?);
        }
        found.transcript = Some(self.file);
        Ok(found)
    }

    /// Those whose view is attacked and shown first.
    pub(super) fn observers(&self) -> Vec<usize> {
        self.views.observers()
    }

    fn coordinates(&self) -> Vec<Coordinate> {
        let finals: Vec<Vec<f64>> = self.outcome.finals.iter().flatten().cloned().collect();
        let estimates =
            if finals.is_empty() { vec![f64::NAN; self.ready.values.columns.len()] } else { means(&finals) };
        let both = means(&self.ready.values.all).into_iter().zip(estimates);
        let names = self.ready.values.columns.iter();
        names
            .zip(both)
            .map(|(name, (mean, estimate))| Coordinate { name: name.clone(), mean, estimate })
            .collect()
    }

    /// Mean squared error by step over many runs on a perfect network (gossip), or at the end.
    fn measure(&self) -> Result<Measured> {
        let ready = self.ready;
        let Scheme::Gossip { mixing, rounds, .. } = &ready.setting.scheme else {
            return Ok(Measured { by_step: Vec::new(), last: squared_error(&self.outcome, ready), runs: 1 });
        };
        let grid = Grid::around(&ready.setting);
        let steps = grid.steps.last().copied().unwrap_or(*rounds);
        let width = ready.values.columns.len();
        let runs = (WORK / (ready.peers() * width * (steps + 1))).clamp(4, RUNS); // whole numbers
        let noising = Noising { sensitivity: ready.sensitivity, local: ready.sigma, relay: ready.tau() };
        let gamma = ready.setting.scheme.gamma()?;
        let (values, means) = (ready.values.all.concat(), means(&ready.values.all));
        let mut sums = vec![(0.0, 0.0); steps + 1];
        for run in 0..runs as u64 {
            let seed = self.seed.wrapping_mul(RUNS as u64 + 1).wrapping_add(run + 1);
            let mut flat = values.clone();
            if ready.setting.cancelling.is_some() {
                for (value, noise) in flat.chunks_exact_mut(width).zip(ready.noises(seed)) {
                    noise
                        .add(0, ready.sigma, value)
                        .map_err(|uncovered| crate::Error::refused(uncovered.to_string()))?;
                }
            }
            let mut bulk = Bulk::new(mixing, flat, noising, gamma, seed, 1)?;
            for (sum, squares) in &mut sums {
                let off = bulk.values().iter().zip(means.iter().cycle()).map(|(x, mean)| (x - mean).powi(2));
                let error = off.sum::<f64>() / values.len() as f64;
                (*sum, *squares) = (*sum + error, *squares + error * error);
                bulk.step();
            }
        }
        let summary = |(sum, squares): (f64, f64)| {
            let mean = sum / runs as f64;
            (mean, ((squares / runs as f64 - mean * mean).max(0.0) / (runs as f64 - 1.0)).sqrt())
        };
        let by_step: Vec<(f64, f64)> = sums.into_iter().map(summary).collect();
        Ok(Measured { last: by_step[*rounds].0, by_step, runs })
    }

    /// The attack on the values of this run.
    pub(super) fn question(&self) -> Question {
        question(self.ready, self.seed, ATTACKS)
    }
}

/// So many attacks on the values of a run with this seed, by whom its experiment names.
pub fn question(ready: &Ready, seed: u64, runs: usize) -> Question {
    let Range { low, high } = ready.experiment.values.range;
    let (observers, tapped) = Public::from(ready).attackers();
    Question {
        setting: ready.setting.clone(),
        observers,
        tapped,
        sigma: ready.sigma,
        sensitivity: ready.sensitivity,
        prior: Prior { mean: low.midpoint(high), deviation: (high - low) / 2.0 },
        values: Some(column(ready, 0)),
        runs,
        seed,
    }
}

/// Errors of many runs.
pub(super) struct Measured {
    /// By step: the mean and its standard error.
    pub(super) by_step: Vec<(f64, f64)>,
    /// At the end.
    pub(super) last: f64,
    /// Over how many runs.
    pub(super) runs: usize,
}
