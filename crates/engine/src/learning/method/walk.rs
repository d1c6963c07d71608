//! A token walks from peer to peer, and every holder makes a step (private random-walk gradient descent).
//!
//! What a path reveals is proven for convex losses and steps that move no two models apart. Theorem 3's sum is refuted.

use serde::{Deserialize, Serialize};
use sottovoce_privacy::Standing;
use sottovoce_privacy::noise::simulation::{Seed, Stream};
use sottovoce_protocol::walk::{Course, Markov, Steps, Visit};
use sottovoce_protocol::{Overspent, Peer, Release};
use sottovoce_simulator::walk::{FastWalk, WalkSetup};
use sottovoce_topology::mixing::Mixing;
use sottovoce_topology::spectrum::{Spectrum, mixing_time};
use sottovoce_views::door::Learning;
use sottovoce_views::walk::require_ergodic;

use super::networked::Networked;
use super::{Entry, Method, Options, Way, graph};
use crate::learning::calibrate::Currency;
use crate::learning::engine::{Engine, Releases, other_method};
use crate::learning::losses::{Past, Question, Revealed, Summary};
use crate::learning::path::{Path, pairs};
use crate::learning::{Settings, State, Task};
use crate::{Error, Result, require};

pub(super) const ENTRY: Entry = Entry {
    name: "walk",
    about: "a token that walks",
    needs_graph: true,
    varying: false,
    options: &["tokens", "burn-in", "markov-step"],
    planned: Options::NONE,
    make: |options, _, _| {
        let tokens = options.tokens.unwrap_or(1);
        require(tokens > 0, "tokens", tokens, "give at least 1")?;
        Ok(Method::Walk(Walk { tokens, burn_in: options.burn_in.unwrap_or(0) }))
    },
};

/// Its parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Walk {
    /// Tokens in parallel; the model is their mean.
    pub tokens: usize,
    /// Steps in which a token is only passed on.
    pub burn_in: usize,
}

/// The one graph on which tokens walk.
fn fixed(mixings: &[Mixing]) -> Result<&Mixing> {
    let graphs = mixings.len();
    require(graphs <= 1, "graphs", graphs, "a walk needs one that stays; give one")?;
    graph(mixings, "a walk")
}

impl Walk {
    fn path(&self, run: &Question) -> Result<Path> {
        Path::draw(fixed(run.mixings)?, *self, run.iterations, run.seed, run.network)
    }
}

/// The first holder of each token: anyone.
pub fn launches(seed: u64, tokens: usize, peers: usize) -> Vec<Peer> {
    use rand::RngExt;
    let launch = |token| Seed(seed).stream(Stream::Launch, token as u64, 0).random_range(0..peers);
    (0..tokens).map(launch).collect()
}

impl Way for Walk {
    fn name(&self) -> &'static str {
        "random walk"
    }

    fn start<'a>(
        &self,
        task: &'a Task,
        mixings: &'a [Mixing],
        settings: &Settings,
        _threads: usize,
    ) -> Result<Box<dyn Engine + 'a>> {
        let mixing = fixed(mixings)?;
        require(self.tokens > 0, "tokens", self.tokens, "give at least 1")?;
        let (peers, seed, sensitivity) = (task.peers(), settings.seed, task.sensitivity());
        let course = Course {
            steps: self.steps(peers, settings.iterations),
            burn_in: self.burn_in,
            sizes: Steps::Constant(settings.step),
            sensitivity,
            noise: settings.sigma * sensitivity,
            cap: settings.iterations,
        };
        let launch = launches(seed, self.tokens, peers);
        let (budget, start, worth) = (settings.budget(), task.start(), Vec::new());
        let setup = WalkSetup { mixing, course, launch, budget, start, worth };
        let descend = |peer| -> Gradient<'a> {
            Box::new(move |turn, gamma, token: &mut Vec<f64>| task.descend(seed, peer, turn, gamma, token))
        };
        match &settings.network {
            Some(network) => {
                let start = setup.start.clone();
                let running = network.run(setup, seed).simulation(descend)?.begin();
                Ok(Box::new(Networked { running, start, over: false }))
            }
            None => Ok(Box::new(Tokens(FastWalk::new(setup, seed, descend)?))),
        }
    }

    /// Steps of each token: together they visit everyone `iterations` times on average.
    fn steps(&self, peers: usize, iterations: usize) -> usize {
        let visits = iterations.saturating_mul(peers);
        self.burn_in.saturating_add(visits.div_ceil(self.tokens.max(1)))
    }

    fn tokens(&self) -> usize {
        self.tokens
    }

    /// Each time a token leaves its holder, and an answer to each.
    fn messages(&self, run: &Question) -> Result<u64> {
        Ok(2 * self.path(run)?.moves())
    }

    /// Over sampled paths: the mean over pairs of what a path reveals, and the worst pair of all.
    fn ours(&self, run: &Question) -> Result<Summary> {
        fixed(run.mixings)?;
        let local = Summary::local(run.iterations, Currency::Concentrated);
        if !run.nonexpansive {
            return Ok(local);
        }
        let paths = run.sample.max(1); // whole numbers
        let (mut sum, mut worst) = (0.0, 0.0_f64);
        for path in 0..paths as u64 {
            let seed = run.seed.wrapping_add(path);
            let pairs = pairs(&self.path(&Question { seed, ..*run })?.losses(usize::MAX)?);
            (sum, worst) = (sum + pairs.mean, worst.max(pairs.worst));
        }
        let given = |what: String| Standing::Conditional(vec![what]);
        Ok(Summary {
            mean: sum / paths as f64,
            worst,
            standing: given("the walk ends before its odometer passes this".into()),
            mean_standing: given(format!("the mean over {paths} random paths is that over all")),
            ..local
        })
    }

    fn revealed(&self, run: &Question, past: &Past) -> Result<Revealed> {
        if !run.nonexpansive {
            return Ok(Revealed::local(run.peers, run.iterations));
        }
        let pairs = match past.paths {
            [] => pairs(&self.path(run)?.losses_shown(past.steps, past.shown)?),
            paths => pairs(&Path::of(run.peers, paths.to_vec()).losses_shown(past.steps, past.shown)?),
        };
        Ok(Revealed { pairs, currency: Currency::Concentrated, standing: Standing::Proven })
    }

    fn hides_from_peers(&self) -> bool {
        true
    }

    /// Along the path of this seed, or that was taken, the token's last value included.
    fn overheard<'a>(&self, run: &Question<'a>, past: &Past) -> Result<Learning<'a>> {
        if !run.nonexpansive {
            return Ok(Learning::Public { peers: run.peers, iterations: run.iterations });
        }
        let tokens = match past.paths {
            [] => self.path(run)?.into_tokens(),
            paths => paths.to_vec(),
        };
        Ok(Learning::Walk {
            peers: run.peers,
            iterations: run.iterations,
            tokens,
            shown: past.shown.to_vec(),
        })
    }

    /// Step sizes scale gradient and noise alike.
    fn release(&self, settings: &Settings, sensitivity: f64) -> Release {
        Release::gaussian(sensitivity, settings.sigma * sensitivity)
    }

    fn last_step(&self, run: &Question, most: &dyn Fn() -> Result<f64>) -> Result<Option<usize>> {
        if !run.nonexpansive || run.mixings.is_empty() {
            return Ok(None);
        }
        self.path(run)?.steps_within(most()?).map(Some)
    }

    fn state_is_secret(&self) -> bool {
        true
    }

    fn step_sizes(&self) -> (f64, [f64; 4]) {
        (0.05, [0.01, 0.034, 0.1, 0.3])
    }

    fn markov_step(&self, task: &Task, mixings: &[Mixing], iterations: usize, distance: f64) -> Result<f64> {
        let mixing = fixed(mixings)?;
        require_ergodic(mixing)?;
        let convexity = task.ridge();
        let remedy = "Theorem 2 needs strongly convex losses; give a positive one";
        require(convexity > 0.0, "ridge", convexity, remedy)?;
        let given = Markov {
            steps: self.steps(task.peers(), iterations),
            convexity,
            smoothness: task.smoothness(),
            mixing_time: mixing_time(&Spectrum::of(mixing)?, task.peers(), 0.25)?.upper,
            gradient: 0.5 * task.sensitivity(),
            distance,
        };
        match Steps::markov(given) {
            Some(Steps::Constant(gamma)) => Ok(gamma),
            _ => {
                let walk =
                    format!("a walk of {} steps is too short for Theorem 2 on this graph", given.steps);
                let remedy = format!("{walk}; raise the iterations or the distance");
                Err(Error::parameter("markov-step", distance, remedy))
            }
        }
    }
}

pub(super) type Gradient<'a> = Box<dyn FnMut(usize, f64, &mut Vec<f64>) + 'a>;

/// A run under way.
struct Tokens<'a>(FastWalk<'a, Gradient<'a>>);

impl Engine for Tokens<'_> {
    fn advance(&mut self, seen: &mut dyn FnMut(usize, Peer, Visit)) -> Result<bool> {
        Ok(self.0.step(seen)?)
    }

    fn listen(&mut self, hear: &mut Releases<'_>) -> Result<bool> {
        Ok(self.0.step_heard(|_, _, _| {}, hear)?)
    }

    fn state(&self) -> State {
        State::Walk(self.0.state().clone())
    }

    fn resume(&mut self, state: State) -> Result<()> {
        let State::Walk(state) = state else { return Err(other_method()) };
        Ok(self.0.resume(state)?)
    }

    fn model(&self) -> Vec<f64> {
        self.0.mean()
    }

    fn done(&self) -> usize {
        self.0.state().step
    }

    fn released(&self) -> Vec<usize> {
        self.0.state().contributions.clone()
    }

    fn spent(&self) -> f64 {
        self.0.spent()
    }

    fn spent_by(&self, peer: Peer) -> f64 {
        self.0.spent_by(peer)
    }

    fn stopped(&self) -> Option<Overspent> {
        self.0.stopped()
    }
}
