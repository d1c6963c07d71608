//! Ways to learn together. A method is one file here, which says everything about it ([`Way`]), and one line in [`METHODS`].

mod butterfly;
mod central;
mod gossip;
mod local;
mod networked;
#[cfg(test)]
mod tests;
mod walk;

use serde::{Deserialize, Serialize};
use sottovoce_privacy::Adversary;
use sottovoce_protocol::Release;
use sottovoce_protocol::averaging::Plan as _;
use sottovoce_protocol::public::Scheme;
use sottovoce_topology::mixing::Mixing;
use sottovoce_views::door::Learning;

use super::calibrate::Currency;
use super::engine::Engine;
use super::losses::{Past, Question, Revealed, Summary};
use super::{Settings, Task};
use crate::{Error, Result};

pub use butterfly::positions;
pub use gossip::{Gossip, usual_rounds};
pub use walk::{Walk, launches};

/// A way to learn.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Muffliato-GD: gossip after every gradient step of all, nearly to consensus.
    Gossip(Gossip),
    /// The same with exact averaging in `log2 n` rounds, in fresh public positions every time. It ignores the graph.
    Butterfly,
    /// A token walks, and every holder makes a step.
    Walk(Walk),
    /// Everyone's noisy gradients are public.
    Local,
    /// A trusted party adds noise to the sum of all gradients: what a server would do.
    Central,
}

/// What describes graphs that vary.
const VARYING: [&str; 2] = ["fresh-graphs", "schedule"];

/// All methods, in the order in which they are told of.
pub static METHODS: [Entry; 5] = [gossip::ENTRY, butterfly::ENTRY, walk::ENTRY, local::ENTRY, central::ENTRY];

impl Method {
    /// What is known of it.
    pub fn way(&self) -> &dyn Way {
        match self {
            Self::Gossip(way) => way,
            Self::Butterfly => &butterfly::Butterfly,
            Self::Walk(way) => way,
            Self::Local => &local::Local,
            Self::Central => &central::Central,
        }
    }

    /// Its name for people.
    pub fn name(&self) -> &'static str {
        self.way().name()
    }
}

/// All that has to be said of a method. What is left out is that of everyone's noisy gradients being public.
pub trait Way {
    /// Its name for people.
    fn name(&self) -> &'static str;

    /// A run at its start.
    fn start<'a>(
        &self,
        task: &'a Task,
        mixings: &'a [Mixing],
        settings: &Settings,
        threads: usize,
    ) -> Result<Box<dyn Engine + 'a>>;

    /// Steps of a run: gradient steps of all, or steps of each token.
    fn steps(&self, _peers: usize, iterations: usize) -> usize {
        iterations
    }

    /// Tokens that walk.
    fn tokens(&self) -> usize {
        0
    }

    /// Messages of a whole run without faults, answers included: what the machines send.
    fn messages(&self, run: &Question) -> Result<u64>;

    /// Our own losses of all pairs.
    fn ours(&self, run: &Question) -> Result<Summary> {
        Ok(Summary::local(run.iterations, Currency::Gaussian))
    }

    /// What is overheard of a run of this seed, planned or past: neither paths nor positions depend on data, so that a plan is known before it starts.
    fn overheard<'a>(&self, run: &Question<'a>, _past: &Past) -> Result<Learning<'a>> {
        Ok(Learning::Public { peers: run.peers, iterations: run.iterations })
    }

    /// What pairs lose by it, as far as that is proven.
    fn revealed(&self, run: &Question, _past: &Past) -> Result<Revealed> {
        Ok(Revealed::local(run.peers, run.iterations))
    }

    /// Whether single peers learn less than a wire-tapper, as far as that is proven.
    fn hides_from_peers(&self) -> bool {
        false
    }

    /// What one contribution releases.
    fn release(&self, settings: &Settings, sensitivity: f64) -> Release {
        let moved = settings.step * sensitivity;
        Release::gaussian(moved, settings.sigma * moved)
    }

    /// Rounds of averaging after each gradient step; none where nothing is averaged.
    fn rounds(&self, _peers: usize) -> usize {
        0
    }

    /// The last step before any pair has lost more than `most` units, where a run can end in the midst of its iterations.
    fn last_step(&self, _run: &Question, _most: &dyn Fn() -> Result<f64>) -> Result<Option<usize>> {
        Ok(None)
    }

    /// Whether the state on the way is a secret, so that writing it down reveals something.
    ///
    /// After an iteration of a butterfly everyone knows the state, and a wire-tapper's loss counts every iterate.
    fn state_is_secret(&self) -> bool {
        false
    }

    /// Who sees all there is to see.
    fn sees_all(&self) -> Adversary {
        Adversary::WireTapper
    }

    /// Whether everyone releases something in every step, so that noise of pairs can cancel.
    fn cancels(&self) -> bool {
        false
    }

    /// Whether peers need nobody else.
    fn is_serverless(&self) -> bool {
        true
    }

    /// The step size where none is given, and those that a plan tries.
    fn step_sizes(&self) -> (f64, [f64; 4]) {
        (4.0, [0.7, 2.0, 4.0, 8.0])
    }

    /// The step size of Theorem 2 of the random-walk paper, for an optimum at this distance from the start.
    fn markov_step(
        &self,
        _task: &Task,
        _mixings: &[Mixing],
        _iterations: usize,
        _distance: f64,
    ) -> Result<f64> {
        Err(Error::parameter("markov-step", "given", "it is for walks; leave it out"))
    }
}

/// A method as users choose it.
pub struct Entry {
    /// Its name, as users write it.
    pub name: &'static str,
    /// What it is, in a line.
    pub about: &'static str,
    /// Whether it has a use for a graph.
    pub needs_graph: bool,
    /// Whether the graph may be another one after every step.
    pub varying: bool,
    /// Which of the [`Options`] it has a use for.
    pub options: &'static [&'static str],
    /// Those that a plan tries.
    pub planned: Options,
    /// From options, graphs and the noise, which is infinite while it is not known.
    make: fn(&Options, &[Mixing], f64) -> Result<Method>,
}

/// Options that only some methods have a use for, as they were given.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Options {
    /// Gossip steps after each contribution (default: as the paper has it).
    #[serde(rename = "steps")]
    pub rounds: Option<usize>,
    /// How far the gradients of peers are from each other: their mean squared norm at the optimum, in squared sensitivities. It must be public. The
    /// gossip steps are then those of the paper for gradients that differ (default: 0, as if all held the same rows).
    pub heterogeneity: Option<f64>,
    /// Accelerate gossip.
    pub accelerated: bool,
    /// Fresh noise on every message of gossip, as a share of the noise on a gradient (default: 0).
    #[serde(rename = "relay-noise")]
    pub relay: Option<f64>,
    /// Tokens that walk in parallel (default: 1).
    pub tokens: Option<usize>,
    /// Steps in which a token is only passed on, at first (default: 0).
    pub burn_in: Option<usize>,
    /// The distance of the optimum for which a step size is computed.
    pub markov_step: Option<f64>,
    /// Whether every peer ends with the weighted mean of its models.
    pub weighted: bool,
}

impl Options {
    /// Nothing was given.
    const NONE: Self = Self {
        rounds: None,
        heterogeneity: None,
        accelerated: false,
        relay: None,
        tokens: None,
        burn_in: None,
        markov_step: None,
        weighted: false,
    };

    /// What was given, by name.
    fn given(&self) -> impl Iterator<Item = (&'static str, String)> {
        let number = |value: Option<usize>| value.map(|value| value.to_string());
        let real = |value: Option<f64>| value.map(|value| value.to_string());
        let all = [
            ("steps", number(self.rounds)),
            ("heterogeneity", real(self.heterogeneity)),
            ("accelerated", self.accelerated.then(|| "given".to_owned())),
            ("relay-noise", real(self.relay)),
            ("tokens", number(self.tokens)),
            ("burn-in", number(self.burn_in)),
            ("markov-step", real(self.markov_step)),
            ("final-model", self.weighted.then(|| "weighted".to_owned())),
        ];
        all.into_iter().filter_map(|(name, value)| Some((name, value?)))
    }
}

impl Entry {
    /// A method by its name.
    pub fn find(name: &str) -> Result<&'static Self> {
        let names = || METHODS.iter().map(|entry| entry.name).collect::<Vec<_>>();
        let found = METHODS.iter().find(|entry| entry.name == name);
        found.ok_or_else(|| Error::parameter("method", name, format!("give one of {}", names().join(", "))))
    }

    /// Refuses options that it has no use for.
    pub fn check(&self, options: &Options) -> Result<()> {
        match options.given().find(|(name, _)| !self.options.contains(name)) {
            None => Ok(()),
            Some((name, value)) => {
                Err(Error::parameter(name, value, useless(name, |entry| entry.options.contains(&name))))
            }
        }
    }

    /// Refuses a graph, or part of what describes one, that it has no use for.
    pub fn check_graph(&self, given: Option<&'static str>) -> Result<()> {
        let uses = |entry: &Self, name: &str| match VARYING.contains(&name) {
            true => entry.varying,
            false => entry.needs_graph,
        };
        match given.filter(|name| !uses(self, name)) {
            Some(name) => Err(Error::parameter(name, "given", useless(name, |entry| uses(entry, name)))),
            None => Ok(()),
        }
    }

    /// The method with these options; what was not given is as the papers have it.
    ///
    /// ```
    /// use sottovoce_engine::learning::method::{Entry, Method, Options};
    /// let butterfly = Entry::find("butterfly")?;
    /// assert_eq!(butterfly.method(&Options::default(), &[])?, Method::Butterfly);
    /// let refused = butterfly.method(&Options { tokens: Some(2), ..Options::default() }, &[]).unwrap_err();
    /// assert_eq!(refused.to_string(), "`tokens` is 2: only walk has a use for it; leave it out");
    /// # Ok::<(), sottovoce_engine::Error>(())
    /// ```
    pub fn method(&self, options: &Options, mixings: &[Mixing]) -> Result<Method> {
        self.check(options)?;
        (self.make)(options, mixings, f64::INFINITY)
    }

    /// The same method under this noise: what depends on it is settled.
    pub fn under(&self, sigma: f64, method: Method, options: &Options, mixings: &[Mixing]) -> Result<Method> {
        match options.heterogeneity {
            Some(_) => (self.make)(options, mixings, sigma),
            None => Ok(method),
        }
    }
}

/// Who has a use for an option that was given to another method.
fn useless(name: &str, uses: impl Fn(&Entry) -> bool) -> String {
    let users: Vec<&str> = METHODS.iter().filter(|entry| uses(entry)).map(|entry| entry.name).collect();
    let (verb, it) =
        (if users.len() == 1 { "has" } else { "have" }, if name == "graph" { "one" } else { "it" });
    format!("only {} {verb} a use for {it}; leave it out", users.join(" and "))
}

/// The graph of a method that needs one: the first, where there are several.
fn graph<'a>(mixings: &'a [Mixing], who: &str) -> Result<&'a Mixing> {
    mixings.first().ok_or_else(|| Error::missing("graph", format!("{who} needs one")))
}

/// Messages of one averaging: counted in the very parts that the machines are given.
pub fn messages(scheme: &Scheme) -> Result<u64> {
    let part = |part: &_| (0..scheme.rounds()).map(|round| sent(part, round)).sum::<u64>();
    Ok(scheme.parts()?.iter().map(part).sum())
}

fn sent(part: &sottovoce_protocol::public::Part, round: usize) -> u64 {
    part.row(round).to.len() as u64
}
