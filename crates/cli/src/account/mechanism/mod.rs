//! `sottovoce account mechanism`: what noisy releases lose, or how much noise, how many steps, how large a batch a target
//! allows.
//!
//! ```text
//! noise, sampling, steps ─┐
//! --events FILE ──────────┴─► releases ─► Composition ─► Group ─► account, table, plot
//!                                                          └────► calibration
//! ```

pub(crate) mod account;
pub(crate) mod calibration;
mod currencies;
mod events;
mod fields;
mod json;
mod noise;
mod plot;
mod sampling;
mod table;

use std::path::PathBuf;

use anyhow::{anyhow, bail};
use clap::Args;
use sottovoce_privacy::{Adjacency, Composition, Group, Release};

use crate::Global;
use account::{Account, Question};

const EXAMPLES: &str = "Examples:
  sottovoce account mechanism --gaussian --noise-multiplier 1.1 --sampling-rate 0.01 --steps 1000
  sottovoce account mechanism --gaussian --noise-multiplier 2 --rows 600 --batch-size 9 --epochs 5
  sottovoce account mechanism --laplace --scale 2 --steps 10 --adjacency replace --delta 0 --json
  sottovoce account mechanism --gaussian --noise-multiplier 4 --batch 64 --population 600
  sottovoce account mechanism --gaussian --noise-multiplier 8 --group 3 --table --plot curves.svg
  sottovoce account mechanism --gaussian --sampling-rate 0.01 --steps 1000 --calibrate --epsilon 3
  sottovoce account mechanism --gaussian --noise-multiplier 8 --calibrate-steps --epsilon 3
  sottovoce account mechanism --laplace --scale 2 --rows 99 --calibrate-batch --epsilon 3
  sottovoce account mechanism --gaussian --noise-multiplier 2 --steps 10 --risk
  sottovoce account mechanism --gaussian --steps 100 --calibrate --tpr 0.05 --fpr 0.01
  sottovoce account mechanism --events releases.json --delta 1e-5

A file of unlike releases is a JSON list; of what is sampled or known only by its guarantee, too:
  [{\"gaussian\": {\"noise_multiplier\": 1.1}, \"sampling_rate\": 0.01, \"steps\": 1000},
   {\"laplace\": {\"scale\": 2}, \"batch\": 10, \"population\": 1000},
   {\"discrete_gaussian\": {\"sigma\": 4, \"contribution\": 2}},
   {\"discrete_laplace\": {\"scale\": 3, \"contribution\": 1}, \"sampling_rate\": 0.1},
   {\"randomized_response\": {\"random_probability\": 0.5, \"buckets\": 4}},     (adjacency replace)
   {\"epsilon\": 0.5, \"delta\": 1e-6, \"steps\": 3},
   {\"mixture\": {\"sigma\": 1, \"sensitivities\": [0, 1, 2], \"probabilities\": [0.2, 0.6, 0.2]}},
   {\"gaussian\": {\"noise_multiplier\": 1}, \"sampling_rate\": 0.02, \"rows\": 1000, \"most\": 30},
   {\"exponential\": {\"epsilon\": 1}}, {\"permute_and_flip\": {\"epsilon\": 1}},
   {\"tree\": {\"noise_multiplier\": 8, \"leaves\": 1600}},                    (zero-out or replace)
   {\"best_of\": {\"releases\": [{\"laplace\": {\"scale\": 2}}], \"mean\": 10, \"number\": \"poisson\"}},
   {\"zcdp\": {\"rho\": 0.1}}, {\"published\": true}, {\"nothing\": true}]

Noise is relative to what one record may contribute (its clipping norm). Replacing a record moves a sum by twice that.
At --delta 0 the answer is the largest loss there is; Gaussian noise has none.";

/// Arguments of `account mechanism`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(group = clap::ArgGroup::new("noise").required(true))]
#[command(group = clap::ArgGroup::new("goal"))]
#[command(group = clap::ArgGroup::new("target"))]
pub(crate) struct MechanismArgs {
    #[command(flatten)]
    noise: noise::NoiseArgs,
    /// Compose the unlike releases of this JSON file instead (see below).
    #[arg(long, value_name = "FILE", group = "noise", conflicts_with_all = [
        "noise_multiplier", "scale", "sigma", "random_probability", "buckets", "contribution",
        "sampling_rate", "batch", "population", "rows", "batch_size", "most", "epochs", "steps", "goal"])]
    events: Option<PathBuf>,
    #[command(flatten)]
    sampling: sampling::SamplingArgs,
    /// Probability with which the bound may fail; 0 asks for the largest loss there is.
    #[arg(long, default_value_t = 1e-5, allow_hyphen_values = true)]
    delta: f64,
    /// Which data sets are neighbours: add-remove, replace, or zero-out (a record against one that says nothing).
    #[arg(long, default_value = "add-remove")]
    adjacency: Adjacency,
    /// Protect so many records together: neighbours differ in up to K of them.
    #[arg(long, value_name = "K", default_value_t = 1)]
    group: u64,
    /// Find the least noise for a target instead: --epsilon, --advantage, or --tpr with --fpr.
    #[arg(long, requires = "target", group = "goal")]
    calibrate: bool,
    /// Find the most steps for a target instead.
    #[arg(long, requires = "target", group = "goal")]
    calibrate_steps: bool,
    /// Find the largest batch for a target instead (give --population, or --rows for Poisson samples).
    #[arg(long, requires = "target", group = "goal")]
    calibrate_batch: bool,
    /// Target of a calibration; without one, delta at this epsilon is reported too.
    #[arg(long, value_name = "E", allow_hyphen_values = true, group = "target")]
    epsilon: Option<f64>,
    /// Target of a calibration: an attacker's true-positive rate less its false-positive rate.
    #[arg(long, value_name = "A", allow_hyphen_values = true, group = "target", requires = "goal")]
    advantage: Option<f64>,
    /// Target of a calibration: an attacker's true-positive rate at the false-positive rate --fpr.
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true, group = "target", requires_all = ["fpr", "goal"])]
    tpr: Option<f64>,
    /// The false-positive rate of --tpr.
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true, requires = "tpr")]
    fpr: Option<f64>,
    /// Print what an attacker can do with it at most (JSON always has it).
    #[arg(long, conflicts_with = "goal")]
    risk: bool,
    /// Show Rényi losses at these orders instead of the usual ones (1 is the mean loss).
    #[arg(long, value_name = "ORDERS", value_delimiter = ',', conflicts_with = "goal")]
    orders: Vec<f64>,
    /// Add tables of delta by epsilon, of epsilon by delta, and of the trade-off between a test's two errors.
    #[arg(long, conflicts_with = "goal")]
    table: bool,
    /// Draw these curves into a file (.svg or .png).
    #[arg(long, value_name = "FILE", conflicts_with = "goal")]
    plot: Option<PathBuf>,
    /// Replace the file of --plot if it exists.
    #[arg(long, requires = "plot")]
    overwrite: bool,
}

/// What a calibration looks for.
#[derive(Debug, Clone, Copy)]
enum Goal {
    Noise,
    Steps,
    Batch,
}

impl MechanismArgs {
    pub(crate) fn run(&self, global: &Global) -> anyhow::Result<()> {
        if let Some(path) = &self.plot {
            plot::check(path, self.overwrite)?;
        }
        match self.goal() {
            Some(goal) => {
                self.noise.refuse_strangers(matches!(goal, Goal::Noise))?;
                global.print(&self.calibration(goal)?)
            }
            None => self.account(global),
        }
    }

    fn goal(&self) -> Option<Goal> {
        match (self.calibrate, self.calibrate_steps, self.calibrate_batch) {
            (true, ..) => Some(Goal::Noise),
            (_, true, _) => Some(Goal::Steps),
            (_, _, true) => Some(Goal::Batch),
            _ => None,
        }
    }

    fn account(&self, global: &Global) -> anyhow::Result<()> {
        let group = match &self.events {
            Some(path) => self.listed(path)?,
            None => self.single()?,
        };
        let account = Account::new(
            &group,
            &Question {
                delta: self.delta,
                epsilon: self.epsilon,
                table: self.table,
                risk: self.risk,
                passes: self.sampling.passes()?,
                orders: self.orders.clone(),
                listed: self.events.is_some(),
            },
        )?;
        if let Some(path) = &self.plot {
            plot::write(&group, path)?;
        }
        global.print(&account)
    }

    /// The release of the command line.
    fn single(&self) -> anyhow::Result<Group> {
        self.noise.refuse_strangers(false)?;
        let mechanism = self.sampling.draw()?.of(self.noise.given()?)?;
        Ok(self.compose(&[(Release::Mechanism(mechanism), self.sampling.steps()?)])?)
    }

    /// The releases of a file, each refused by its number.
    fn listed(&self, path: &std::path::Path) -> anyhow::Result<Group> {
        let releases = events::read(path)?;
        let mut composition = Composition::new(self.adjacency);
        for ((release, steps), number) in releases.into_iter().zip(1..) {
            if let Err(error) = composition.add(release, steps) {
                bail!("`events` is {}: entry {number}: {error}", path.display());
            }
        }
        Group::new(composition, self.group).map_err(|error| anyhow!(error))
    }

    fn compose(&self, releases: &[(Release, u64)]) -> sottovoce_privacy::Result<Group> {
        let mut composition = Composition::new(self.adjacency);
        releases.iter().try_for_each(|(release, steps)| composition.add(release.clone(), *steps))?;
        Group::new(composition, self.group)
    }
}
