//! A run of a learning method, step by step: it can be watched, stopped by the budget, and continued from a checkpoint bit for bit.

use serde::{Deserialize, Serialize};
use sottovoce_protocol::walk::Visit;
use sottovoce_protocol::{Overspent, Peer, Release};
use sottovoce_simulator::walk::StrollState;
use sottovoce_topology::mixing::Mixing;

use super::engine::Engine;
use super::{Method, Task};
use crate::{Error, Result, require};

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
}

impl Settings {
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
    Walk(StrollState),
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
}

impl<'a> Session<'a> {
    /// A run at its start.
    pub fn new(
        task: &'a Task,
        mixing: Option<&'a Mixing>,
        settings: Settings,
        threads: usize,
    ) -> Result<Self> {
        require(settings.iterations > 0, "iterations", "0", "give at least 1")?;
        require(
            settings.step > 0.0 && settings.step.is_finite(),
            "step",
            settings.step,
            "give a positive, finite step size",
        )?;
        require(
            settings.sigma >= 0.0 && settings.sigma.is_finite(),
            "sigma",
            settings.sigma,
            "give a finite number of at least 0",
        )?;
        if let Some(mixing) = mixing.filter(|mixing| mixing.nodes() != task.peers()) {
            return Err(Error::refused(format!(
                "`graph` has {} peers: the data is dealt out to {}",
                mixing.nodes(),
                task.peers()
            )));
        }
        let first = Release { sensitivity: 1.0, noise: settings.sigma }.mu_squared();
        require(
            settings.budget.is_none_or(|budget| first <= budget),
            "budget",
            settings.budget(),
            format!("the first step costs {first} (squared Gaussian loss); raise the budget or the noise"),
        )?;
        let engine = settings.method.way().start(task, mixing, &settings, threads)?;
        Ok(Self { task, settings, engine })
    }

    /// What the run is a function of.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Goes on from where a run of the same settings stood.
    pub fn resume(&mut self, state: State) -> Result<()> {
        self.engine.resume(state)
    }

    /// Where the run stands.
    pub fn state(&self) -> State {
        self.engine.state()
    }

    /// The model: the mean over peers, or over tokens.
    pub fn model(&self) -> Vec<f64> {
        self.engine.model()
    }

    /// Mean over peers of the accuracy of each peer's own model.
    pub fn accuracy(&self) -> f64 {
        let models = self.engine.models();
        let each = models.chunks_exact(self.task.parameters()).map(|model| self.task.accuracy(model));
        let count = each.len();
        each.sum::<f64>() / count as f64
    }

    /// Steps done, and of how many: iterations, or steps of the tokens.
    pub fn progress(&self) -> (usize, usize) {
        let all = self.settings.method.way().steps(self.task.peers(), self.settings.iterations);
        (self.engine.done(), all)
    }

    /// Squared Gaussian loss towards a wire-tapper of the peer that lost most so far.
    pub fn spent(&self) -> f64 {
        self.engine.spent()
    }

    /// Why somebody no longer contributes, if so.
    pub fn stopped(&self) -> Option<Overspent> {
        self.engine.stopped()
    }

    /// One step; shows a walk's visits `(token, holder, what it did)`. `false` when the run is over: all steps done, or the budget of everyone
    /// spent.
    pub fn advance(&mut self, mut seen: impl FnMut(usize, Peer, Visit)) -> Result<bool> {
        self.engine.advance(&mut seen)
    }

    /// All steps, or those up to `last`.
    pub fn finish(&mut self, last: Option<usize>) -> Result<()> {
        while last.is_none_or(|last| self.engine.done() < last) && self.engine.advance(&mut |_, _, _| {})? {}
        Ok(())
    }
}
