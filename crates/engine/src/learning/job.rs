//! From what a user asks for to what is reported: settings, noise, the run, and the same without noise and with other seeds.

use sottovoce_topology::mixing::Mixing;

use super::losses::Question;
use super::method::{Entry, Options};
use super::network::Faulty;
use super::{Learned, Measures, Method, Promise, Run, Secrets, Session, Settings, Task};
use crate::{Result, require};

/// Most runs over which accuracies are measured.
const MOST_SEEDS: usize = 10_000;

/// A method as it was chosen.
#[derive(Clone, Copy)]
pub struct Choice {
    /// Which.
    pub method: &'static Entry,
    /// With which options.
    pub options: Options,
    /// Contributions of each peer.
    pub iterations: usize,
    /// Step size, where one is given.
    pub step: Option<f64>,
}

impl Choice {
    /// The settings but for the noise.
    pub fn settings(&self, task: &Task, mixings: &[Mixing], seed: u64) -> Result<Settings> {
        let markov =
            |method: &Method, distance| method.way().markov_step(task, mixings, self.iterations, distance);
        self.settings_with(mixings, seed, markov)
    }

    /// The same where the step size for an optimum at some distance is known otherwise.
    pub fn settings_with(
        &self,
        mixings: &[Mixing],
        seed: u64,
        markov: impl FnOnce(&Method, f64) -> Result<f64>,
    ) -> Result<Settings> {
        require(self.iterations > 0, "iterations", 0, "give at least 1")?;
        let method = self.method.method(&self.options, mixings)?;
        let step = match (self.options.markov_step, self.step) {
            (Some(distance), _) => markov(&method, distance)?,
            (None, given) => given.unwrap_or(method.way().step_sizes().0),
        };
        Ok(Settings {
            method,
            iterations: self.iterations,
            step,
            sigma: 0.0,
            budget: None,
            seed,
            network: None,
            secrets: None,
            weighted: self.options.weighted,
        })
    }
}

impl Choice {
    /// Sets the noise, and what depends on it; returns the last step, where the promise ends the run at one.
    ///
    /// How many rounds of gossip there are makes no difference to what the noise has to be.
    pub fn settle(
        &self,
        noise: &Noise,
        question: &Question,
        settings: &mut Settings,
    ) -> Result<Option<usize>> {
        let last_step = noise.settle(question, settings)?;
        let Settings { sigma, method, .. } = *settings;
        settings.method = self.method.under(sigma, method, &self.options, question.mixings)?;
        Ok(last_step)
    }
}

/// How much noise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Noise {
    /// As much as a promise asks for.
    Calibrated(Promise),
    /// So much, in sensitivities; a promise ends the run.
    Given(f64, Option<Promise>),
}

impl Noise {
    /// What is promised.
    pub fn promise(&self) -> Option<Promise> {
        match *self {
            Self::Calibrated(promise) => Some(promise),
            Self::Given(_, promise) => promise,
        }
    }

    /// Sets the noise of a run that decides this much; returns the last step, where the promise ends the run at one.
    fn settle(&self, question: &Question, settings: &mut Settings) -> Result<Option<usize>> {
        let last_step = match *self {
            Self::Calibrated(promise) => {
                settings.sigma = promise.sigma(question)?;
                None
            }
            Self::Given(sigma, promise) => {
                settings.sigma = sigma;
                promise.map_or(Ok(None), |promise| promise.limit(question, settings))?
            }
        };
        let remedy = "the budget is spent by the first step; raise the noise or the budget";
        require(last_step != Some(0), "sigma", settings.sigma, remedy)?;
        Ok(last_step)
    }
}

/// Learning as it was asked for.
#[derive(Clone, Copy)]
pub struct Job<'a> {
    /// The task.
    pub task: &'a Task,
    /// The graphs after each step, in turn, where the method has some.
    pub mixings: &'a [Mixing],
    /// The method.
    pub choice: Choice,
    /// The noise.
    pub noise: Noise,
    /// Runs over which accuracies are measured.
    pub seeds: usize,
    /// Seed of the first.
    pub seed: u64,
    /// Probability with which stated epsilons may fail.
    pub delta: f64,
    /// Threads.
    pub threads: usize,
    /// The network under a walk; none: a perfect one.
    pub network: Option<&'a Faulty>,
    /// Noise that cancels, where there is some.
    pub secrets: Option<&'a Secrets>,
}

impl<'a> Job<'a> {
    /// The run of the first seed, at its start.
    pub fn start(&self) -> Result<Run<'a>> {
        let remedy = format!("give a number from 1 to {MOST_SEEDS}");
        require((1..=MOST_SEEDS).contains(&self.seeds), "seeds", self.seeds, remedy)?;
        let (settings, last_step) = self.settings(self.seed)?;
        Run::new(self.task, self.mixings, settings, last_step, self.threads)
    }

    /// The settings, calibrated where a target is given, and the last step that the target allows.
    pub fn settings(&self, seed: u64) -> Result<(Settings, Option<usize>)> {
        let mut settings = self.choice.settings(self.task, self.mixings, seed)?;
        settings.network = self.network.cloned();
        settings.secrets = self.secrets.cloned();
        let given = settings.clone();
        let question = Question::of(self.task, self.mixings, &given);
        let last_step = self.choice.settle(&self.noise, &question, &mut settings)?;
        Ok((settings, last_step))
    }

    /// What came of a run, beside the same without noise and, if it is over, with the following seeds, each with the noise that it needs.
    /// `done` is called after each of those.
    pub fn conclude(&self, run: &Run, paused: bool, done: impl Fn()) -> Result<Learned> {
        let silent = Settings { sigma: 0.0, budget: None, ..run.session().settings().clone() };
        let mut without_noise = Run::new(self.task, self.mixings, silent, None, self.threads)?;
        without_noise.go(usize::MAX, |_| ())?;
        let mut measures = vec![run.session().measures()];
        for further in 1..if paused { 1 } else { self.seeds as u64 } {
            let (settings, last_step) = self.settings(self.seed.wrapping_add(further))?;
            measures.push(self.measures(settings, last_step)?);
            done();
        }
        Learned::new(self.task, run, paused, self.delta, &without_noise, Measures::of_runs(&measures))
    }

    /// What the model is worth that a whole run ends with.
    fn measures(&self, settings: Settings, last_step: Option<usize>) -> Result<Measures> {
        let mut session = Session::new(self.task, self.mixings, settings, self.threads)?;
        session.finish(last_step)?;
        Ok(session.measures())
    }
}
