//! A run of a learning method, step by step: it can be watched, stopped by the budget, and continued from a checkpoint bit for bit.

use serde::{Deserialize, Serialize};
use sottovoce_protocol::walk::{TokenPath, Visit};
use sottovoce_protocol::{Overspent, Peer, Release};
use sottovoce_simulator::Allowance;
use sottovoce_simulator::walk::WalkState;
use sottovoce_topology::mixing::Mixing;

use super::engine::Engine;
use super::losses::Question;
use super::network::{Faulty, Traffic};
use super::weighted::WeightedMean;
use super::{Measures, Method, Secrets, Task};
use crate::{Error, Result, require};

/// Contributions of all peers in a run, at most: beyond, it would take hours.
const MOST_CONTRIBUTIONS: usize = 1_000_000_000;

/// Refuses more contributions than a run can make.
pub(super) fn check_contributions(peers: usize, iterations: usize) -> Result<()> {
    let most = MOST_CONTRIBUTIONS / peers.max(1); // whole numbers
    let remedy = format!(
        "{peers} peers make at most {MOST_CONTRIBUTIONS} contributions in all; give a number from 1 to {most}"
    );
    require((1..=most).contains(&iterations), "iterations", iterations, remedy)
}

/// Everything a run is a function of, but for the task and the graph.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// How.
    pub method: Method,
    /// Contributions of each peer: gradient steps of all, or the cap of a walk that has that many steps per peer.
    pub iterations: usize,
    /// Step size.
    pub step: f64,
    /// Standard deviation of the noise on a gradient, in units of its sensitivity; 0 protects nobody.
    pub sigma: f64,
    /// Each peer's budget of squared Gaussian loss towards a wire-tapper; `null` for no limit.
    pub budget: Option<f64>,
    /// Seed of everything random.
    pub seed: u64,
    /// The network under a walk; none: a perfect one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<Faulty>,
    /// Noise that cancels, where there is some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secrets: Option<Secrets>,
    /// Whether every peer ends with the weighted mean of its models, and not with the last.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub weighted: bool,
}

impl Settings {
    /// A run on a perfect network, without a limit, that ends with the last models.
    pub fn plain(method: Method, (iterations, step): (usize, f64), sigma: f64, seed: u64) -> Self {
        Self {
            method,
            iterations,
            step,
            sigma,
            budget: None,
            seed,
            weighted: false,
            network: None,
            secrets: None,
        }
    }

    pub(super) fn budget(&self) -> f64 {
        self.budget.unwrap_or(f64::INFINITY)
    }
}

/// Where a run stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// Everyone's model after so many iterations.
    Descent {
        /// Iterations.
        iteration: usize,
        /// One peer after the other.
        values: Vec<f64>,
    },
    /// Tokens.
    Walk(WalkState),
    /// The server's model after so many iterations.
    Central {
        /// Iterations.
        iteration: usize,
        /// The model.
        model: Vec<f64>,
    },
}

/// A run under way.
pub struct Session<'a> {
    task: &'a Task,
    settings: Settings,
    engine: Box<dyn Engine + 'a>,
    mean: Option<WeightedMean>,
}

impl<'a> Session<'a> {
    /// A run at its start.
    pub fn new(task: &'a Task, mixings: &'a [Mixing], settings: Settings, threads: usize) -> Result<Self> {
        check_contributions(task.peers(), settings.iterations)?;
        let remedy = "give a positive, finite number";
        require(settings.step > 0.0 && settings.step.is_finite(), "step-size", settings.step, remedy)?;
        let moved = settings.step * task.sensitivity();
        let remedy =
            format!("with gradients of at most {} no double holds a step; give less", task.sensitivity());
        require(moved > 0.0 && moved.is_finite(), "step-size", settings.step, remedy)?;
        let remedy = "give a finite number of at least 0";
        require(settings.sigma >= 0.0 && settings.sigma.is_finite(), "sigma", settings.sigma, remedy)?;
        if let Some(mixing) = mixings.iter().find(|mixing| mixing.nodes() != task.peers()) {
            return Err(Error::refused(format!(
                "`graph` has {} peers: the data is dealt out to {}",
                mixing.nodes(),
                task.peers()
            )));
        }
        let first = (1.0 / settings.sigma).powi(2);
        require(
            Allowance::gaussian(settings.budget())?.admit(&Release::gaussian(1.0, settings.sigma)).is_ok(),
            "budget",
            settings.budget(),
            format!("the first step costs {first} (squared Gaussian loss); raise the budget or the noise"),
        )?;
        let walks = settings.method.way().tokens() > 0;
        let remedy = "only walks have faults; leave it out";
        require(walks || settings.network.is_none(), "network", "given", remedy)?;
        let engine = settings.method.way().start(task, mixings, &settings, threads)?;
        Question::of(task, mixings, &settings).secrets()?;
        let held = !settings.weighted || settings.method.way().tokens() == 0;
        let remedy = "no peer sees all models of a token, so none can take their mean; leave it out";
        require(held, "final-model", "weighted", remedy)?;
        let mean = match settings.weighted {
            true => Some(WeightedMean::new(task.ridge(), settings.step, engine.models())?),
            false => None,
        };
        Ok(Self { task, settings, engine, mean })
    }

    /// What the run is a function of.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Goes on from where a run of the same settings stood, with the mean of its models, if it had one.
    pub fn resume(&mut self, state: State, mean: Option<Vec<f64>>) -> Result<()> {
        self.engine.resume(state)?;
        match (&mut self.mean, mean) {
            (None, None) => Ok(()),
            (Some(own), Some(mean)) if own.values().len() == mean.len() => {
                own.resume(self.engine.done(), mean);
                Ok(())
            }
            _ => Err(Error::refused("`checkpoint` has not the mean of this run's models; begin anew")),
        }
    }

    /// The weighted mean of the models so far, one peer after the other, where that is what the run ends with.
    pub fn mean(&self) -> Option<&[f64]> {
        self.mean.as_ref().map(WeightedMean::values)
    }

    /// The models that the run ends with, one after the other: each peer's own, or one alone that all have.
    pub fn models(&self) -> Vec<f64> {
        self.mean().map_or_else(|| self.engine.models(), <[f64]>::to_vec)
    }

    /// Where the run stands.
    pub fn state(&self) -> State {
        self.engine.state()
    }

    /// The model: the mean over peers, or over tokens.
    pub fn model(&self) -> Vec<f64> {
        let Some(models) = self.mean() else { return self.engine.model() };
        let width = self.task.parameters();
        let mut mean = vec![0.0; width];
        for model in models.chunks_exact(width) {
            mean.iter_mut().zip(model).for_each(|(sum, x)| *sum += x);
        }
        let peers = (models.len() / width) as f64;
        mean.iter_mut().for_each(|x| *x /= peers);
        mean
    }

    /// What models are worth on the test rows: the mean over peers that each have a model of their own.
    pub fn measures(&self) -> Measures {
        match self.mean() {
            Some(models) => self.worth(models),
            None => self.worth(&self.engine.models()),
        }
    }

    /// The last model and what the last models are worth, whatever the run ends with.
    pub fn last(&self) -> (Vec<f64>, Measures) {
        (self.engine.model(), self.worth(&self.engine.models()))
    }

    fn worth(&self, models: &[f64]) -> Measures {
        let each = models.chunks_exact(self.task.parameters()).map(|model| self.task.measures(model));
        let each: Vec<Measures> = each.collect();
        Measures::over(&each, |values| values.iter().sum::<f64>() / values.len() as f64)
    }

    /// The accuracy among [`Self::measures`]; NaN where numbers are learned.
    pub fn accuracy(&self) -> f64 {
        self.measures().accuracy().copied().unwrap_or(f64::NAN)
    }

    /// Steps done, and of how many: iterations, or steps of the tokens.
    pub fn progress(&self) -> (usize, usize) {
        let all = self.settings.method.way().steps(self.task.peers(), self.settings.iterations);
        (self.engine.done(), all)
    }

    /// How often each peer has released something.
    pub fn released(&self) -> Vec<usize> {
        self.engine.released()
    }

    /// Squared Gaussian loss towards a wire-tapper of the peer that lost most so far.
    pub fn spent(&self) -> f64 {
        self.engine.spent()
    }

    /// The same of one peer.
    pub fn spent_by(&self, peer: Peer) -> f64 {
        self.engine.spent_by(peer)
    }

    /// Why somebody no longer contributes, if so.
    pub fn stopped(&self) -> Option<Overspent> {
        self.engine.stopped()
    }

    /// Where tokens went on a network with faults, each copy by itself.
    pub fn paths(&self) -> Option<Vec<TokenPath>> {
        self.engine.paths()
    }

    /// What went over such a network.
    pub fn traffic(&self) -> Option<Traffic> {
        self.engine.traffic()
    }

    /// One step; shows a walk's visits `(token, holder, what it did)`. `false` when the run is over: all steps done, or the budget of everyone
    /// spent.
    pub fn advance(&mut self, mut seen: impl FnMut(usize, Peer, Visit)) -> Result<bool> {
        let before = self.engine.done();
        let more = self.engine.advance(&mut seen)?;
        // Without a gradient there is no model.
        self.task.check()?;
        self.follow(before);
        Ok(more)
    }

    /// One step; shows what peers release, to someone who sees every message: `(peer, its model before, and after)`.
    pub fn listen(&mut self, mut hear: impl FnMut(Peer, &[f64], &[f64])) -> Result<bool> {
        let before = self.engine.done();
        let more = self.engine.listen(&mut hear)?;
        self.task.check()?;
        self.follow(before);
        Ok(more)
    }

    /// Takes the models into the mean, if there was a step.
    fn follow(&mut self, before: usize) {
        if let Some(mean) = self.mean.as_mut().filter(|_| self.engine.done() > before) {
            mean.add(&self.engine.models());
        }
    }

    /// All steps, or those up to `last`.
    pub fn finish(&mut self, last: Option<usize>) -> Result<()> {
        while last.is_none_or(|last| self.engine.done() < last) && self.advance(|_, _, _| {})? {}
        Ok(())
    }
}
