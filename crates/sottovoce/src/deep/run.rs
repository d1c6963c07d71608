//! What came of a run.

use std::path::PathBuf;

use serde::Serialize;
use sottovoce_engine::deep::{Gradients, Outcome, Point, Run};
use sottovoce_learning::net::Tally;
use sottovoce_protocol::{Shared, Value};

use super::account::lost;
use super::{Lost, Ready, checkpoint, page, words};
use crate::experiment::{Deep, DeepMethod, Experiment, Keys};
use crate::names::Names;
use crate::spine::{Context, Outcome as Returned, Protocol};
use crate::terms::{Stated, short_up};
use crate::{Result, transcript};

/// An agent, and what came of it for her.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Agent {
    /// What she loses.
    #[serde(flatten)]
    pub lost: Lost,
    /// Her model's accuracy on all test images.
    pub accuracy: f64,
    /// Its mean loss there.
    pub loss: f64,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Found {
    /// What came of it, in a sentence.
    pub headline: String,
    /// The seed.
    pub seed: u64,
    /// The algorithm.
    pub method: DeepMethod,
    /// Rounds made.
    pub rounds: usize,
    /// Whether rounds are left: it was paused.
    pub paused: bool,
    /// Parameters of the net.
    pub parameters: usize,
    /// The mean over agents of their models' accuracy on all test images.
    pub accuracy: f64,
    /// The least of any agent.
    pub least: f64,
    /// The most of any agent.
    pub most: f64,
    /// The accuracy of the model that is kept: the mean of all, or without talk that of the first agent.
    pub kept_accuracy: f64,
    /// How it went.
    pub curve: Vec<Point>,
    /// Every agent.
    pub agents: Vec<Agent>,
    /// What agents are called, where they have names.
    pub names: Names,
    /// Pairs of agents who hear each other.
    pub edges: usize,
    /// Numbers sent, counted once for each receiver.
    pub sent: u64,
    /// How it was set up, in words.
    pub setup: Vec<(String, String)>,
    /// What is promised.
    pub guarantees: Vec<Stated>,
    /// The same in words.
    pub statements: Vec<String>,
    /// What else there is to know.
    pub notes: Vec<String>,
    /// The model that is kept, as a safetensors file.
    #[serde(skip)]
    pub model: Vec<u8>,
    /// Who hears whom: for the picture.
    #[serde(skip)]
    pub pairs: Vec<(usize, usize)>,
}

impl Protocol for Deep {
    fn seed(&self) -> Option<u64> {
        self.seed
    }

    fn seed_mut(&mut self) -> &mut Option<u64> {
        &mut self.seed
    }

    fn seeds_mut(&mut self) -> Option<&mut Option<usize>> {
        None
    }

    fn files(&mut self) -> Vec<(&'static str, Option<&mut PathBuf>)> {
        vec![
            ("graph", self.graph.base.file.as_mut()),
            ("data", self.task.data.as_mut()),
            ("keys", self.noise.keys.as_mut().and_then(Keys::file)),
        ]
    }

    fn page_files(&self) -> Vec<&'static str> {
        page::FILES.to_vec()
    }

    fn run(&self, context: &Context<'_>) -> Result<Returned> {
        let stored = context.checkpoints.bytes()?;
        let ready = self.ready(context.folder, context.seed)?;
        let elsewhere = (context.elsewhere)(&ready)?;
        let setting = &ready.setting;
        let gradients = Gradients::new(&setting.net, &setting.holdings.rows).by(elsewhere.as_deref());
        let mut run = Run::new(setting, &gradients)?;
        if let Some(bytes) = stored {
            run = run.resume(checkpoint::read(&bytes, self, &ready)?)?;
        }
        self.advance(&mut run, &ready, context)?;
        let found = concluded(self, &ready, &run)?;
        let experiment = context.again(Experiment::Deep(Box::new(self.clone())));
        let draws: Vec<usize> = found.agents.iter().map(|agent| agent.lost.draws).collect();
        let transcript = transcript::Deep::new(&experiment, setting, &draws)?;
        Ok(Returned::new(found.clone(), experiment, &transcript)?
            .of_graph(ready.graph_sha256.clone(), Vec::new())
            .with_page(move |beside| page::page(&found).files(beside)))
    }
}

impl Deep {
    /// Learns. What is stored was looked at at every point of the curve: a run that diverges leaves the last good state.
    fn advance(&self, run: &mut Run<'_>, ready: &Ready, context: &Context<'_>) -> Result<()> {
        let &Context { progress, checkpoints, .. } = context;
        progress.begin(ready.setting.plan.iterations, "learning");
        let stop = checkpoints.pause_after.map_or(usize::MAX, |more| run.round().saturating_add(more));
        loop {
            let how = run.curve().last().map_or_else(String::new, |point| {
                let epsilon = point.epsilon.map_or_else(|| "-".to_owned(), short_up);
                format!(
                    "loss {:.3}, accuracy {:.3}, distance {:.2}, epsilon {epsilon}",
                    point.train_loss, point.accuracy, point.disagreement
                )
            });
            progress.at(run.round(), &how);
            let more = run.go(stop)?;
            checkpoints.keep(|| checkpoint::stored(self, ready, run.checkpoint()))?;
            if !more {
                return Ok(());
            }
        }
    }
}

/// What came of a run, or of as much of it as was made.
fn concluded(experiment: &Deep, ready: &Ready, run: &Run<'_>) -> Result<Found> {
    let (outcome, setting) = (run.outcome()?, &ready.setting);
    let delta = setting.delta;
    // What is promised is the plan's.
    let planned = ready.account(&setting.draws)?;
    let worst = planned.leakage.largest(delta)?.1;
    let kept = kept(experiment, &outcome);
    let kept_accuracy = run.judge(&kept)?.accuracy();
    let agents = agents(ready, &outcome)?;
    let accuracies = agents.iter().map(|agent| agent.accuracy);
    let least = accuracies.clone().fold(1.0, |least, one| if one < least { one } else { least });
    let most = accuracies.clone().fold(0.0, |most, one| if one > most { one } else { most });
    let (guarantees, statements) = words::promised(&planned, worst, delta)?;
    let notes = words::notes(
        experiment,
        (&setting.holdings.sizes(), &outcome.draws),
        &setting.drawn(&setting.draws),
    )?;
    let pairs: Vec<(usize, usize)> = setting.mixing.graph().edges().collect();
    let mut found = Found {
        headline: String::new(),
        seed: setting.seed,
        method: experiment.protocol.method,
        rounds: run.round(),
        paused: run.round() < setting.plan.iterations,
        parameters: setting.net.parameters(),
        accuracy: accuracies.sum::<f64>() / agents.len() as f64,
        least,
        most,
        kept_accuracy,
        curve: outcome.curve,
        agents,
        names: ready.names.clone(),
        edges: pairs.len(),
        sent: outcome.sent,
        setup: words::setup(experiment, ready),
        guarantees,
        statements,
        notes: [ready.notes.clone(), words::of_weights(setting), notes].concat(),
        model: setting.net.to_safetensors(&kept)?,
        pairs,
    };
    found.headline = words::headline(&found, worst, delta);
    Ok(found)
}

/// The model that is kept: functions of what was released, like all models.
fn kept(experiment: &Deep, outcome: &Outcome) -> Shared {
    let models = &outcome.models;
    if experiment.protocol.method == DeepMethod::Local || models.len() == 1 {
        return models[0].clone();
    }
    let mut mean = Shared::zeros(models[0].len());
    models.iter().for_each(|model| mean.add(1.0 / models.len() as f64, model));
    mean
}

fn agents(ready: &Ready, outcome: &Outcome) -> Result<Vec<Agent>> {
    let setting = &ready.setting;
    let (drawn, rows) = (setting.drawn(&outcome.draws), setting.holdings.sizes());
    let lost = lost(&drawn, &rows, &ready.account(&outcome.draws)?.leakage, setting.delta)?;
    let one =
        |(lost, told): (Lost, &Tally)| Agent { lost, accuracy: told.accuracy(), loss: told.mean_loss() };
    Ok(lost.into_iter().zip(&outcome.told).map(one).collect())
}
