//! The transcript of a learning run as a file, what it revealed, and whether what the run says it spent is what its releases cost.

use std::fmt;

use serde::{Deserialize, Serialize};
use sottovoce_privacy::limits;
use sottovoce_topology::mixing::Mixing;

use super::{Matrix, SCHEMA_VERSION, SHOWN, astray, differing, unlike};
use crate::Result;
use crate::experiment::learning::named;
use crate::experiment::{self, Experiment};
use crate::learning::account::{Revealed, reveal};
use crate::learning::losses::Question;
use crate::learning::{Run, Transcript};
use crate::names::Names;
use crate::terms::{Stated, short_up};

/// A run, as a file has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Learning {
    pub(super) schema_version: u32,
    /// The program's version.
    pub version: String,
    /// The experiment, as its own file would have it.
    pub experiment: String,
    /// The seed of the run.
    pub seed: u64,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    names: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    graph: Option<Matrix>,
    /// The graphs after each gradient step, in turn, where they vary.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    graphs: Vec<Matrix>,
    delta: f64,
    /// Squared Gaussian loss towards a wire-tapper, of the peer that lost most, as the run counted it; none where there was no noise.
    spent: Option<f64>,
    transcript: Transcript,
}

/// Whether the releases cost what the run says it spent.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Spent {
    /// In a sentence.
    pub headline: String,
    /// The method's name.
    pub method: &'static str,
    /// Number of peers.
    pub peers: usize,
    /// Releases of all.
    pub releases: usize,
    /// Squared Gaussian loss of the peer that lost most, by the filter.
    pub spent: Option<f64>,
    /// The same as the run has it.
    pub stated: Option<f64>,
    /// Whether they agree.
    pub agrees: bool,
    /// What was promised.
    pub guarantees: Vec<Stated>,
}

impl Learning {
    /// A run of an experiment.
    pub fn new(experiment: &Experiment, run: &Run, delta: f64) -> Result<Self> {
        let transcript = run.transcript();
        // What only the rows told is written down: whoever judges the run has none.
        let experiment = match experiment {
            Experiment::Learning(learning) => Experiment::Learning(Box::new(experiment::Learning {
                task: learning.task.as_run(run.loss(), transcript.peers),
                ..(**learning).clone()
            })),
            other => other.clone(),
        };
        let mut graphs: Vec<Matrix> = run.mixings().iter().map(Matrix::of).collect();
        let graph = if graphs.len() == 1 { graphs.pop() } else { None };
        Ok(Self {
            schema_version: SCHEMA_VERSION,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            experiment: experiment.with_seed(transcript.settings.seed).to_toml()?,
            seed: transcript.settings.seed,
            names: run.called().all().map(<[String]>::to_vec),
            graph,
            graphs,
            delta,
            spent: Some(run.session().spent()).filter(|spent| spent.is_finite()),
            transcript,
        })
    }

    /// The weights after each gradient step, in turn.
    fn mixings(&self) -> Result<Vec<Mixing>> {
        self.graph.iter().chain(&self.graphs).map(Matrix::mixing).collect()
    }

    /// Where peers did not do what was agreed: none, or the account of the run is void.
    pub fn check(&self) -> Result<Vec<String>> {
        Ok(self.replayed()?.0)
    }

    /// Problems, and the run as it is judged: what a pause left out is counted.
    fn replayed(&self) -> Result<(Vec<String>, Transcript)> {
        let mixings = self.mixings()?;
        let (mut problems, last) = self.other_terms(&mixings)?;
        let told = self.judged()?;
        if !problems.is_empty() {
            problems.truncate(SHOWN);
            return Ok((problems, told));
        }
        let whole = told.again(&mixings, last)?;
        if !told.is_paused(&whole) {
            problems.extend(unlike("the number of steps", &[told.steps], &[whole.steps]));
            problems.extend(unlike("release", &told.releases, &whole.releases));
            problems.extend(unlike("the path of token", &told.paths, &whole.paths));
        }
        if problems.is_empty() && whole.spent()?.is_none() {
            problems.push("somebody released more than the budget admits".to_owned());
        }
        Ok((problems, whole))
    }

    /// Where what is said of the run is not what its experiment says, and the step at which its target ends it. The noise that a target asks for is computed anew.
    fn other_terms(&self, mixings: &[Mixing]) -> Result<(Vec<String>, Option<usize>)> {
        let Experiment::Learning(experiment) = Experiment::parse(&self.experiment)? else {
            return Ok((vec!["the experiment is no learning".to_owned()], None));
        };
        let Transcript { settings, peers, nonexpansive, sensitivity, assumptions, not_covered, .. } =
            &self.transcript;
        if let Some(nodes) = mixings.iter().map(|mixing| mixing.graph().nodes()).find(|nodes| nodes != peers)
        {
            return Ok((vec![format!("the graph is not one of {peers} peers, but of {nodes}")], None));
        }
        if experiment.task.peer_column.is_none() && experiment.task.nodes != Some(*peers) {
            return Ok((differing(&[("number of peers", false)]), None));
        }
        let terms = experiment.task.terms(settings.step)?;
        let choice = experiment.choice()?;
        // A step size that was computed from the rows cannot be computed without them.
        let mut agreed = choice.settings_with(mixings, self.seed, |_, _| Ok(settings.step))?;
        let labelled = match (&self.names, mixings.first()) {
            // What is said of peers is said by the names that a graph's file gives them; one that is drawn has none.
            (Some(names), Some(mixing)) if experiment.graph.has_file() => {
                Some(mixing.graph().clone().with_labels(names.clone())?)
            }
            (_, mixing) => mixing.map(|mixing| mixing.graph().clone()),
        };
        let network = match experiment.faulty(labelled.as_ref()) {
            Ok(network) => network,
            Err(error) => {
                return Ok((
                    vec![format!("the network of its experiment is none of its peers: {error}")],
                    None,
                ));
            }
        };
        let question = Question {
            method: agreed.method,
            mixings,
            peers: *peers,
            iterations: agreed.iterations,
            nonexpansive: *nonexpansive,
            sample: 1,
            seed: self.seed,
            network: network.as_ref(),
            secrets: settings.secrets.as_ref(),
        };
        let noise = experiment.target.noise(experiment.noise.sigma)?;
        let last = choice.settle(&noise, &question, &mut agreed)?;
        let known = experiment.known_graphs(*peers, self.seed)?;
        let known = known.map(|all| all.iter().map(Matrix::of).collect::<Vec<_>>());
        let problems = differing(&[
            ("method", agreed.method == settings.method),
            ("number of iterations", agreed.iterations == settings.iterations),
            ("step size", agreed.step == settings.step),
            ("noise", agreed.sigma == settings.sigma),
            ("budget", agreed.budget == settings.budget),
            ("seed", agreed.seed == settings.seed && experiment.seed == Some(self.seed)),
            ("final model", agreed.weighted == settings.weighted),
            (
                "sequence of graphs",
                known.is_none_or(|known| known.iter().eq(self.graph.iter().chain(&self.graphs))),
            ),
            // It follows from the clipping and the objective, whoever's rows it is of.
            (
                "sensitivity",
                *sensitivity == terms.sensitivity || !terms.known && *sensitivity > terms.sensitivity,
            ),
            ("claim that steps keep distances", !terms.known || *nonexpansive == terms.nonexpansive),
            (
                "list of assumptions and limits",
                terms.limits.iter().any(|(given, left_out)| {
                    // On a network with faults lost messages are counted.
                    let counted = |limit: &&String| network.is_some() && *limit == limits::LOST_MESSAGES;
                    let secret = limits::SECRETS.to_owned();
                    let left_out = left_out.iter().filter(|limit| !counted(limit));
                    let left_out = left_out.chain(settings.secrets.iter().map(|_| &secret));
                    given == assumptions && left_out.eq(not_covered)
                }),
            ),
            ("network", network == settings.network),
            (
                "noise that cancels",
                experiment.noise.pairing(experiment.target.colluders).names(
                    settings.secrets.as_ref(),
                    (mixings.first().map(Mixing::graph), *peers),
                    self.seed,
                )?,
            ),
            ("delta", experiment.target.delta == self.delta),
        ]);
        Ok((problems, last))
    }

    /// What cannot be held against the experiment: a step size that follows from the rows, and when the state of tokens was written down.
    pub(super) fn unchecked(&self) -> Result<Vec<String>> {
        let Experiment::Learning(experiment) = Experiment::parse(&self.experiment)? else {
            return Ok(Vec::new());
        };
        let (mut all, run) = (Vec::new(), &self.transcript);
        if experiment.choice()?.options.markov_step.is_some() {
            let step = run.settings.step;
            all.push(format!("`step` is {step}: it follows from the rows, and is as the transcript says"));
        }
        if run.settings.method.way().state_is_secret() {
            let shown = &run.shown;
            all.push(format!("`shown` is {shown:?}: after these steps the tokens were written down, as the transcript says; each other time reveals more"));
        }
        Ok(all)
    }

    /// The run as it is judged. Where the experiment does not say whether steps keep distances, they are taken not to.
    fn judged(&self) -> Result<Transcript> {
        let mut run = self.transcript.clone();
        if let Experiment::Learning(experiment) = Experiment::parse(&self.experiment)? {
            run.nonexpansive &= experiment.task.terms(run.settings.step)?.nonexpansive;
        }
        Ok(run)
    }

    /// What the run revealed; refused where peers did not do what was agreed, since then no account holds.
    pub fn reveal(&self, observers: &[String], delta: Option<f64>) -> Result<Revealed> {
        let (problems, run) = self.replayed()?;
        if let Some(problem) = problems.first() {
            return Err(astray(problem));
        }
        let names = Names::new(self.names.as_deref());
        let observers = named(observers, &names, run.peers)?;
        let found = reveal(&run, &self.mixings()?, &observers, delta.unwrap_or(self.delta), names)?;
        Ok(found.paused(self.transcript.is_paused(&run).then_some(self.transcript.steps)))
    }

    /// Replays the releases through the filter, and compares with what the run says it spent.
    pub fn audit(&self) -> Result<Spent> {
        let run = self.judged()?;
        let spent = finite(run.spent()?);
        let agrees = spent == self.spent;
        let releases = run.releases.iter().map(|released| released.count).sum();
        let shown = |spent: Option<f64>| spent.map_or_else(|| "no bound".to_owned(), short_up);
        let headline = match agrees {
            true => format!(
                "{releases} releases cost a squared Gaussian loss of {}, as the run says",
                shown(spent)
            ),
            false => {
                format!("{releases} releases cost {}, and the run says {}", shown(spent), shown(self.spent))
            }
        };
        let names = Names::new(self.names.as_deref());
        let all = run.guarantees(&self.mixings()?, self.delta)?;
        let stated = |one| Ok(Stated::new("any peer's data", one, self.delta)?.named(&names));
        Ok(Spent {
            headline,
            method: run.settings.method.name(),
            peers: run.peers,
            releases,
            spent,
            stated: self.spent,
            agrees,
            guarantees: all.iter().map(stated).collect::<Result<_>>()?,
        })
    }
}

fn finite(spent: Option<f64>) -> Option<f64> {
    spent.filter(|spent| spent.is_finite())
}

impl fmt::Display for Spent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", self.headline)?;
        writeln!(
            f,
            "  {} peers, {}; every message follows a release that the filter admits",
            self.peers, self.method
        )
    }
}
