//! A run of a learning method, step by step: it can be watched, stopped by the budget, and continued from a checkpoint bit for bit.

use serde::{Deserialize, Serialize};
use sottovoce_privacy::noise::simulation::{ContinuousLaw, SimulatedNoise, SimulationRng};
use sottovoce_protocol::averaging::Noising;
use sottovoce_protocol::walk::{Course, Markov, Steps, Visit};
use sottovoce_protocol::{Overspent, Peer, Release};
use sottovoce_simulator::Allowance;
use sottovoce_simulator::descent::{Descending, DescentSetup};
use sottovoce_simulator::walk::{FastWalk, WalkSetup, WalkState};
use sottovoce_topology::mixing::Mixing;
use sottovoce_topology::spectrum::{Spectrum, mixing_time};

use super::{Method, Task};
use crate::{Error, Result, require};

/// The stream of a token's first holder; 0 is noise.
const LAUNCH: u64 = 0x6c61_756e;
/// The trusted party's number among noises: no peer has it.
const SERVER: u64 = u64::MAX;

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
    fn budget(&self) -> f64 {
        self.budget.unwrap_or(f64::INFINITY)
    }

    /// Steps of each token of a walk: together they visit everyone `iterations` times on average.
    pub fn walk_steps(&self, peers: usize, tokens: usize, burn_in: usize) -> usize {
        burn_in + (self.iterations * peers).div_ceil(tokens.max(1))
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

type Gradient<'a> = Box<dyn FnMut(usize, f64, &mut Vec<f64>) + 'a>;

enum Engine<'a> {
    Descent(Descending),
    Walk(Box<FastWalk<'a, Gradient<'a>>>),
    Central { iteration: usize, model: Vec<f64>, allowance: Allowance, stopped: Option<Overspent> },
}

/// A run under way.
pub struct Session<'a> {
    task: &'a Task,
    settings: Settings,
    engine: Engine<'a>,
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
        let first = (1.0 / settings.sigma).powi(2);
        require(
            Allowance::gaussian(settings.budget())?.admit(&Release::gaussian(1.0, settings.sigma)).is_ok(),
            "budget",
            settings.budget(),
            format!("the first step costs {first} (squared Gaussian loss); raise the budget or the noise"),
        )?;
        let engine = match settings.method {
            Method::Walk { tokens, burn_in } => {
                let mixing = mixing.ok_or_else(|| Error::missing("graph", "a walk needs one"))?;
                Engine::Walk(Box::new(walk(task, mixing, &settings, tokens, burn_in)?))
            }
            Method::Central => {
                let allowance = Allowance::gaussian(settings.budget())?;
                Engine::Central { iteration: 0, model: task.start(), allowance, stopped: None }
            }
            _ => Engine::Descent(descent(task, mixing, &settings, threads)?),
        };
        Ok(Self { task, settings, engine })
    }

    /// What the run is a function of.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Goes on from where a run of the same settings stood.
    pub fn resume(&mut self, state: State) -> Result<()> {
        let release = self.release();
        match (&mut self.engine, state) {
            (Engine::Descent(run), State::Descent { iteration, values }) => run.resume(iteration, values)?,
            (Engine::Walk(run), State::Walk(state)) => run.resume(state)?,
            (
                Engine::Central { iteration, model, allowance, .. },
                State::Central { iteration: done, model: reached },
            ) => {
                if reached.len() != model.len() {
                    return Err(Error::refused(format!(
                        "`checkpoint` has {} parameters: the task has {}",
                        reached.len(),
                        model.len()
                    )));
                };
                for _ in 0..done {
                    allowance.admit(&release).map_err(|_| {
                        Error::refused("`checkpoint` is of a run with another budget; begin anew")
                    })?;
                }
                (*iteration, *model) = (done, reached);
            }
            _ => return Err(Error::refused("`checkpoint` is of another method; begin anew")),
        }
        Ok(())
    }

    /// Where the run stands.
    pub fn state(&self) -> State {
        match &self.engine {
            Engine::Descent(run) => {
                State::Descent { iteration: run.iteration(), values: run.values().to_vec() }
            }
            Engine::Walk(run) => State::Walk(run.state().clone()),
            Engine::Central { iteration, model, .. } => {
                State::Central { iteration: *iteration, model: model.clone() }
            }
        }
    }

    /// The model: the mean over peers, or over tokens.
    pub fn model(&self) -> Vec<f64> {
        match &self.engine {
            Engine::Descent(run) => run.mean(),
            Engine::Walk(run) => run.mean(),
            Engine::Central { model, .. } => model.clone(),
        }
    }

    /// Mean over peers of the accuracy of each peer's own model.
    pub fn accuracy(&self) -> f64 {
        match (&self.engine, self.settings.method) {
            (Engine::Descent(run), Method::Gossip { .. }) => {
                let each =
                    run.values().chunks_exact(self.task.parameters()).map(|model| self.task.accuracy(model));
                each.sum::<f64>() / self.task.peers() as f64
            }
            _ => self.task.accuracy(&self.model()),
        }
    }

    /// Steps done, and of how many: iterations, or steps of the tokens.
    pub fn progress(&self) -> (usize, usize) {
        match (&self.engine, self.settings.method) {
            (Engine::Walk(run), Method::Walk { tokens, burn_in }) => {
                (run.state().step, self.settings.walk_steps(self.task.peers(), tokens, burn_in))
            }
            (Engine::Descent(run), _) => (run.iteration(), self.settings.iterations),
            (Engine::Central { iteration, .. }, _) => (*iteration, self.settings.iterations),
            (Engine::Walk(run), _) => (run.state().step, run.state().step),
        }
    }

    /// Squared Gaussian loss towards a wire-tapper of the peer that lost most so far.
    pub fn spent(&self) -> f64 {
        match &self.engine {
            Engine::Descent(run) => run.spent(),
            Engine::Walk(run) => run.spent(),
            Engine::Central { allowance, .. } => allowance.spent(),
        }
    }

    /// Why somebody no longer contributes, if so.
    pub fn stopped(&self) -> Option<Overspent> {
        match &self.engine {
            Engine::Descent(run) => run.stopped(),
            Engine::Walk(run) => run.stopped(),
            Engine::Central { stopped, .. } => *stopped,
        }
    }

    /// One step; shows a walk's visits `(token, holder, what it did)`. `false` when the run is over: all steps done, or the budget of everyone
    /// spent.
    pub fn advance(&mut self, mut seen: impl FnMut(usize, Peer, Visit)) -> Result<bool> {
        let (task, release) = (self.task, self.release());
        let Settings { seed, step, sigma, iterations, .. } = self.settings;
        match &mut self.engine {
            Engine::Descent(run) => {
                // Everyone has the same budget: once it is spent, nothing new is learned.
                let descend =
                    |peer, iteration, value: &mut [f64]| task.descend(seed, peer, iteration, step, value);
                Ok(run.stopped().is_none() && run.iterate(&descend)? && run.stopped().is_none())
            }
            Engine::Walk(run) => Ok(run.step(&mut seen)?),
            Engine::Central { iteration, model, allowance, stopped } => {
                if *iteration == iterations || stopped.is_some() {
                    return Ok(false);
                }
                if let Err(overspent) = allowance.admit(&release) {
                    *stopped = Some(overspent);
                    return Ok(false);
                }
                serve(task, seed, *iteration, step, sigma, model)?;
                *iteration += 1;
                Ok(true)
            }
        }
    }

    /// What one contribution releases, to someone who sees everything.
    fn release(&self) -> Release {
        let sensitivity = self.task.sensitivity();
        Release::gaussian(sensitivity, self.settings.sigma * sensitivity)
    }
}

fn descent(task: &Task, mixing: Option<&Mixing>, settings: &Settings, threads: usize) -> Result<Descending> {
    let Settings { method, iterations, step, sigma, seed, .. } = *settings;
    let schemes = method.schemes(mixing, task.peers(), iterations, seed)?;
    let sensitivity = step * task.sensitivity();
    let relay = if let Method::Gossip { relay, .. } = method { relay } else { 0.0 };
    let noising = Noising { sensitivity, local: sigma * sensitivity, relay: relay * sigma * sensitivity };
    let setup = DescentSetup { schemes, iterations, noising, budget: settings.budget(), start: task.start() };
    Ok(Descending::new(setup, seed, threads)?)
}

fn walk<'a>(
    task: &'a Task,
    mixing: &'a Mixing,
    settings: &Settings,
    tokens: usize,
    burn_in: usize,
) -> Result<FastWalk<'a, Gradient<'a>>> {
    let peers = task.peers();
    require(tokens > 0, "tokens", "0", "give at least 1")?;
    let (seed, sensitivity) = (settings.seed, task.sensitivity());
    let course = Course {
        steps: settings.walk_steps(peers, tokens, burn_in),
        burn_in,
        sizes: Steps::Constant(settings.step),
        sensitivity,
        noise: settings.sigma * sensitivity,
        cap: settings.iterations,
    };
    let launch = launches(seed, tokens, peers);
    let setup = WalkSetup { mixing, course, launch, budget: settings.budget(), start: task.start() };
    let descend = |peer| -> Gradient<'a> {
        Box::new(move |turn, gamma, token: &mut Vec<f64>| task.descend(seed, peer, turn, gamma, token))
    };
    Ok(FastWalk::new(setup, seed, descend)?)
}

/// The first holder of each token: anyone.
pub(super) fn launches(seed: u64, tokens: usize, peers: usize) -> Vec<Peer> {
    use rand::RngExt;
    let launch = |token| SimulationRng::new(seed, token as u64, 0).purpose(LAUNCH).random_range(0..peers);
    (0..tokens).map(launch).collect()
}

/// The step size of Theorem 2 for a walk whose optimum is at this distance from the start.
pub fn markov_step(task: &Task, mixing: Option<&Mixing>, settings: &Settings, distance: f64) -> Result<f64> {
    let (Method::Walk { tokens, burn_in }, Some(mixing)) = (settings.method, mixing) else {
        return Err(Error::parameter("markov-step", "given", "it is for walks; leave it out"));
    };
    sottovoce_views::walk::require_ergodic(mixing)?;
    let convexity = task.ridge();
    require(
        convexity > 0.0,
        "ridge",
        convexity,
        "Theorem 2 needs strongly convex losses; give a positive one",
    )?;
    let given = Markov {
        steps: settings.walk_steps(task.peers(), tokens, burn_in),
        convexity,
        smoothness: task.smoothness(),
        mixing_time: mixing_time(&Spectrum::of(mixing)?, task.peers(), 0.25)?.upper,
        gradient: 0.5 * task.sensitivity(),
        distance,
    };
    match Steps::markov(given) {
        Some(Steps::Constant(gamma)) => Ok(gamma),
        _ => Err(Error::parameter(
            "markov-step",
            distance,
            format!(
                "a walk of {} steps is too short for Theorem 2 on this graph; raise the iterations or the distance",
                given.steps
            ),
        )),
    }
}

/// One step of a trusted party: the mean of all clipped gradients, with noise on their sum.
fn serve(task: &Task, seed: u64, iteration: usize, step: f64, sigma: f64, model: &mut [f64]) -> Result<()> {
    let peers = task.peers();
    let before = model.to_vec();
    let mut moved = before.clone();
    for peer in 0..peers {
        moved.copy_from_slice(&before);
        task.descend(seed, peer, iteration, step / peers as f64, &mut moved);
        model.iter_mut().zip(&moved).zip(&before).for_each(|((x, new), old)| *x += new - old);
    }
    let law = ContinuousLaw::gaussian(step * sigma * task.sensitivity() / peers as f64)?;
    SimulatedNoise::new(seed, SERVER, iteration as u64).add(law, model);
    Ok(())
}
