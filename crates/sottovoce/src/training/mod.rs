//! Own training: an experiment whose gradients a function of the user's own computes, from experiment to result.
//!
//! ```text
//! Experiment (learning, deep) + Outside (oracle, rows, start) ──► the very machines, clipping, noise and account ──► Trained
//! ```
//!
//! | experiment | what is protected | methods |
//! | --- | --- | --- |
//! | `learning` (`user.rs`) | all rows of a peer, replaced by others | gossip, butterfly, walk, local, central |
//! | `deep` (`record.rs`) | one row, there or not; lots are drawn by coins | DSGD, DSGT, DiNNO, local |
//!
//! The function is asked for gradients and trusted with nothing else (`learning/src/outside.rs`). What cannot be seen from here, which rows it computes them from, every guarantee
//! names as its condition.

mod record;
mod user;

use std::path::Path;
use std::sync::Arc;

use rand::TryRng;
use rand::rngs::SysRng;
use serde::Serialize;
use sottovoce_engine::learning::canary::Caught;
use sottovoce_learning::Oracle;
use sottovoce_privacy::{Unit, limits};

use crate::experiment::Experiment;
use crate::names::Names;
use crate::terms::{Stated, short_up};
use crate::{Error, Result};

/// Points of a history, at most.
const POINTS: usize = 100;

/// What a user brings along.
#[derive(Clone)]
pub struct Outside {
    /// Computes gradients.
    pub oracle: Arc<dyn Oracle>,
    /// How many rows each peer has; public.
    pub rows: Vec<usize>,
    /// The model at which everybody begins; public.
    pub start: Vec<f64>,
}

/// Where a run stood.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Moment {
    /// After so many steps.
    pub step: usize,
    /// How far models are from their mean: the root of the mean squared distance. Computed without privacy.
    pub disagreement: f64,
    /// What whoever lost most had lost by then to someone who sees every message; none where something was not hidden.
    pub epsilon: Option<f64>,
}

/// Hears how a run stands, with everybody's model; `false` ends the run.
pub type Hear<'a> = dyn FnMut(&Moment, &dyn Fn() -> Vec<Vec<f64>>) -> bool + 'a;

/// What came of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Trained {
    /// In a sentence.
    pub headline: String,
    /// The seed that was given; none where the system drew one that nobody was told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The method's name.
    pub method: &'static str,
    /// What is protected.
    pub unit: Unit,
    /// How many peers there are.
    pub peers: usize,
    /// What they are called, where they have names.
    #[serde(skip_serializing_if = "Names::are_numbers")]
    pub names: Names,
    /// How many rows each has.
    pub rows: Vec<usize>,
    /// Parameters of the model.
    pub parameters: usize,
    /// Steps made, and planned.
    pub steps: (usize, usize),
    /// How often each peer has released something.
    pub releases: Vec<usize>,
    /// How far what is protected can move a sum or a mean of gradients, before step sizes.
    pub sensitivity: f64,
    /// Each peer's noise, in units of that; 0 protects nobody.
    pub noise_multipliers: Vec<f64>,
    /// Messages of the whole run.
    pub messages: u64,
    /// Bytes of the numbers in them.
    pub bytes: u64,
    /// How it went.
    pub history: Vec<Moment>,
    /// Why contributions ended early, if they did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// What is promised.
    pub guarantees: Vec<Stated>,
    /// The same in words.
    pub statements: Vec<String>,
    /// What else there is to know.
    pub notes: Vec<String>,
    /// Everybody's model; one alone where all have the same.
    #[serde(skip)]
    pub models: Vec<Vec<f64>>,
}

/// Trains, with everything as the experiment says but the gradients; `folder` is where names of files in it begin. Without a seed the system draws
/// one and nobody is told: who knows the seed can repeat the training with a guess of the data, and sees from the models whether it is right.
pub fn train(
    experiment: &Experiment,
    folder: &Path,
    seed: Option<u64>,
    outside: Outside,
    hear: &mut Hear<'_>,
) -> Result<Trained> {
    let drawn = seed.map_or_else(secret, Ok)?;
    let mut trained = match experiment {
        Experiment::Learning(learning) => user::train(learning, folder, drawn, outside, hear)?,
        Experiment::Deep(deep) => record::train(deep, folder, drawn, outside, hear)?,
        other => return Err(unsuited(other)),
    };
    trained.seeded(seed);
    Ok(trained)
}

/// A seed from the system.
fn secret() -> Result<u64> {
    let remedy = |error| {
        format!("the system has no entropy ({error}); with a seed anybody who knows it can compute the noise")
    };
    SysRng.try_next_u64().map_err(|error| Error::parameter("seed", "missing", remedy(error)))
}

impl Trained {
    /// Says where the noise came from.
    fn seeded(&mut self, seed: Option<u64>) {
        self.seed = seed;
        for guarantee in &mut self.guarantees {
            guarantee.not_covered.retain(|limit| limit != limits::SIMULATION);
            guarantee
                .not_covered
                .push(if seed.is_some() { limits::SIMULATION } else { limits::SECRET_SEED }.to_owned());
        }
        if let Some(seed) = seed {
            self.headline += &format!("; anybody who knows seed {seed} can compute the noise again");
            self.notes.push(format!(
                "the noise follows from seed {seed}: anybody who knows the seed can remove it from the models. Before you publish one, train without a seed"
            ));
        }
    }
}

/// Attacks one peer in so many runs of either of two versions of what is brought along, which differ in that peer's rows alone. For `learning`.
pub fn audit(
    experiment: &Experiment,
    folder: &Path,
    seed: u64,
    versions: [Outside; 2],
    (peer, runs): (usize, usize),
    done: impl Fn() + Sync,
) -> Result<Caught> {
    match experiment {
        Experiment::Learning(learning) => user::audit(learning, folder, seed, versions, (peer, runs), done),
        Experiment::Deep(_) => {
            let remedy = "versions of all rows of a peer are told apart, and here one row is protected; audit the experiment itself, whose canaries attack the same lots, clipping and noise";
            Err(Error::parameter("experiment", "deep", remedy))
        }
        other => Err(unsuited(other)),
    }
}

fn unsuited(experiment: &Experiment) -> Error {
    let kind = match experiment {
        Experiment::Averaging(_) => "averaging",
        Experiment::Learning(_) => "learning",
        Experiment::Personalized(_) => "personalized",
        Experiment::Deep(_) => "deep",
        Experiment::Rumor(_) => "rumor",
    };
    let remedy =
        "gradients are asked for by learning (all rows of a peer are protected) and by deep (one row is)";
    Error::parameter("experiment", kind, remedy)
}

/// Whether a point of the history is due.
fn due(step: usize, all: usize) -> bool {
    step == all || step.is_multiple_of(all.div_ceil(POINTS).max(1)) // whole numbers
}

/// Its user stopped a run.
fn stopped() -> Error {
    Error::refused("the run was stopped; there is no result")
}

/// What came of it, in a sentence.
fn headline(peers: usize, steps: usize, guarantees: &[Stated]) -> String {
    let promise = match guarantees.first() {
        Some(one) => format!(
            "epsilon {} at delta {:e} for {} towards a {}",
            one.epsilon.map_or_else(|| "-".to_owned(), short_up),
            one.delta,
            one.unit,
            one.who()
        ),
        None => "nobody is protected, as there was no noise".to_owned(),
    };
    format!("{peers} peers made {steps} steps; {promise}")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
