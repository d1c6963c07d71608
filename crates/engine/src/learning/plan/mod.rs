//! Which way to learn: every method with the noise that the target asks of it, tried on the task.
//!
//! Step sizes and numbers of contributions are chosen by the training loss over a small grid. That choice is not paid for: it is made by
//! looking at the rows without noise. On rows that are private, all that is planned is therefore conditional: the same may be claimed only
//! if they are public after all, or if the choice is made again on rows that are.

mod words;

use serde::Serialize;
use sottovoce_privacy::{Guarantee, Standing};
use sottovoce_topology::mixing::Mixing;
use sottovoce_topology::spectrum::Spectrum;

use crate::learning::losses::Question;
use crate::learning::method::{Entry, METHODS, Options};
use crate::learning::transcript::Transcript;
use crate::learning::{
    Against, Choice, Measures, Method, Noise, Origin, Promise, Secrets, Session, Settings, Spread, Task,
    Trivial,
};
use crate::terms::Stated;
use crate::{Error, Result, require};

/// Step sizes that are tried of each method.
const TRIED: usize = 4;

/// What a choice by trial assumes.
const CHOSEN: &str =
    "the rows on which method, step size and contributions were tried are public, or that choice is paid for";
/// Which numbers of a plan no noise protects.
const WITHOUT_PRIVACY: [&str; 7] =
    ["rows/accuracy", "rows/rmse", "rows/r_squared", "rows/step", "rows/iterations", "chosen", "trivial"];

/// What is to be planned.
#[derive(Debug, Clone, Copy)]
pub struct Problem<'a> {
    /// The task.
    pub task: &'a Task,
    /// The graphs after each step, in turn: one, or others each time.
    pub mixings: &'a [Mixing],
    /// How far the gradients of peers are from each other, where that is public: it decides how long gossip is.
    pub heterogeneity: Option<f64>,
    /// Noise that cancels, to be weighed with the others, where peers share secrets.
    pub secrets: Option<&'a Secrets>,
    /// What must hold.
    pub promise: Promise,
    /// Contributions of each peer to choose from.
    pub iterations: &'a [usize],
    /// Runs over which accuracies are measured.
    pub runs: usize,
    /// Seed of the first.
    pub seed: u64,
    /// Probability with which stated epsilons may fail.
    pub delta: f64,
    /// Threads.
    pub threads: usize,
}

/// The best of one method.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Row {
    /// Its name.
    pub method: &'static str,
    /// Whether noise of pairs cancels.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub cancels: bool,
    /// The method with its parameters.
    #[serde(skip)]
    pub chosen: Method,
    /// Contributions of each peer.
    pub iterations: usize,
    /// Step size.
    pub step: f64,
    /// Noise on a gradient, in sensitivities (of the first run: a walk's noise depends on its path).
    pub sigma: f64,
    /// What models are worth on the test rows, over the runs.
    #[serde(flatten)]
    pub measures: Measures<Spread>,
    /// Messages of the whole run.
    pub messages: u64,
    /// By what right the target is met.
    pub standing: Standing,
    /// Whether peers need nobody else.
    pub serverless: bool,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LearningPlan {
    /// The task's name.
    pub task: String,
    /// Number of peers.
    pub peers: usize,
    /// Number of graphs: one that stays, or several, one after each gradient step, in turn.
    pub graphs: usize,
    /// Number of edges; of graphs that vary, the mean.
    pub edges: usize,
    /// Spectral gap of the graph's weights; of graphs that vary, the least.
    pub gap: f64,
    /// What had to hold.
    pub promise: Promise,
    /// The best of each method, by accuracy or R².
    pub rows: Vec<Row>,
    /// Which of them is chosen: the most accurate without a server.
    pub chosen: usize,
    /// Whether all data are drawn or published: if not, the choice itself reveals something of them.
    pub public_data: bool,
    /// What a model is worth that looks at no feature.
    pub trivial: Trivial,
    /// What is promised of the chosen run, towards someone who sees everything, and where that is less, towards the peer that learns most.
    pub guarantees: Vec<Stated>,
    /// What was computed from the rows without any noise.
    pub computed_without_privacy: Vec<&'static str>,
    /// What no guarantee of a run so planned covers.
    pub not_covered: Vec<String>,
}

impl Problem<'_> {
    /// How many runs a plan takes, for a progress bar.
    pub fn trials(&self) -> usize {
        self.ways().count() * (self.iterations.len() * TRIED + self.runs)
    }

    /// Those that go with the graphs: tokens walk on one that stays. Where peers share secrets, the butterfly with noise that cancels, too: gossip would have
    /// to go on for long until that is gone.
    fn ways(&self) -> impl Iterator<Item = (&'static Entry, Option<&Secrets>)> {
        let varying = self.mixings.len() > 1;
        let plain = METHODS.iter().filter(move |entry| !(varying && entry.needs_graph) || entry.varying);
        let paired = METHODS.iter().filter(|entry| entry.name == "butterfly");
        let paired = self
            .secrets
            .into_iter()
            .flat_map(move |secrets| paired.clone().map(move |way| (way, Some(secrets))));
        plain.map(|entry| (entry, None)).chain(paired)
    }

    /// A method's options.
    fn options(&self, entry: &Entry) -> Options {
        let heterogeneity = self.heterogeneity.filter(|_| entry.options.contains(&"heterogeneity"));
        Options { heterogeneity, ..entry.planned }
    }

    /// Tries everything; `done` is called after each run.
    pub fn plan(&self, done: impl Fn()) -> Result<LearningPlan> {
        require(!self.iterations.is_empty(), "iterations", "empty", "give at least one number")?;
        require(self.runs > 0, "runs", "0", "give at least 1")?;
        require(!self.mixings.is_empty(), "graph", "missing", "give one")?;
        let mut gap = f64::INFINITY;
        for mixing in self.mixings {
            let own = Spectrum::of(mixing)?.gap.value;
            gap = if own < gap { own } else { gap };
        }
        let mut rows = self.ways().map(|way| self.best(way, &done)).collect::<Result<Vec<_>>>()?;
        rows.sort_by(|a, b| b.measures.first().mean.total_cmp(&a.measures.first().mean));
        let chosen = rows.iter().position(|row| row.serverless).unwrap_or(0);
        let guarantees = self.promised(&rows[chosen])?;
        Ok(LearningPlan {
            task: self.task.name.clone(),
            peers: self.task.peers(),
            graphs: self.mixings.len(),
            edges: self.mixings.iter().map(|mixing| mixing.graph().edge_count()).sum::<usize>()
                / self.mixings.len(),
            gap,
            promise: self.promise,
            rows,
            chosen,
            public_data: self.task.origin() != Origin::Private,
            trivial: self.task.trivial(),
            guarantees,
            computed_without_privacy: WITHOUT_PRIVACY.to_vec(),
            not_covered: self.task.not_covered(),
        })
    }

    /// The step size and contributions with the least training loss in one run, then measured in several.
    fn best(&self, (entry, secrets): (&'static Entry, Option<&Secrets>), done: impl Fn()) -> Result<Row> {
        let method = entry.method(&self.options(entry), self.mixings)?;
        let steps: [f64; TRIED] = method.way().step_sizes().1;
        let mut best: Option<(f64, Settings)> = None;
        for &iterations in self.iterations {
            // What is revealed depends on the step only in whether it keeps distances.
            let mut known: [Option<(f64, Method)>; 2] = [None; 2];
            for step in steps {
                let known = &mut known[usize::from(self.task.is_nonexpansive(step))];
                let settings = match *known {
                    Some((sigma, method)) => {
                        let secrets = secrets.cloned();
                        Settings { secrets, ..Settings::plain(method, (iterations, step), sigma, self.seed) }
                    }
                    None => self.settings((entry, secrets), method, (iterations, step), self.seed)?,
                };
                *known = Some((settings.sigma, settings.method));
                let model = self.learn(&settings)?.model();
                let objective = self.task.objective(&model);
                if objective.is_finite() && best.as_ref().is_none_or(|(least, _)| objective < *least) {
                    best = Some((objective, settings));
                }
                done();
            }
        }
        let Some((_, best)) = best else {
            return Err(Error::refused(format!(
                "no run of {} stayed finite: raise the budget",
                method.name()
            )));
        };
        let mut measures = Vec::new();
        for run in 0..self.runs as u64 {
            let (chosen, seed) = ((best.iterations, best.step), self.seed.wrapping_add(1 + run));
            let settings = self.settings((entry, secrets), method, chosen, seed)?;
            measures.push(self.learn(&settings)?.measures());
            done();
        }
        self.row(&best, &measures)
    }

    fn row(&self, best: &Settings, measures: &[Measures]) -> Result<Row> {
        let question = self.question(best);
        let standing = match self.promise.against {
            Against::WireTapper => Standing::Proven,
            _ => question.revealed()?.standing,
        };
        let cancels = best.secrets.is_some();
        Ok(Row {
            method: if cancels { "butterfly, cancels" } else { best.method.name() },
            cancels,
            chosen: best.method,
            iterations: best.iterations,
            step: best.step,
            sigma: best.sigma,
            measures: Measures::of_runs(measures),
            messages: best.method.way().messages(&question)?,
            standing: standing.given(self.task.assumptions()).given(&self.choice()),
            serverless: best.method.way().is_serverless(),
        })
    }

    /// What the run of a row promises: every peer contributes as often as planned at most.
    fn promised(&self, row: &Row) -> Result<Vec<Stated>> {
        let Row { chosen: method, iterations, step, sigma, .. } = *row;
        let secrets = self.secrets.filter(|_| row.cancels).cloned();
        let settings = Settings { secrets, ..Settings::plain(method, (iterations, step), sigma, self.seed) };
        let all = Transcript::planned(self.task, &settings).guarantees(self.mixings, self.delta)?;
        let stated = all.into_iter().map(|one| {
            let one = Guarantee { standing: one.standing.given(&self.choice()), ..one };
            Ok(Stated::new("any peer's data, as planned", &one, self.delta)?)
        });
        stated.collect()
    }

    /// What choosing on these rows assumes: nothing, where they are nobody's or everyone's.
    fn choice(&self) -> Vec<String> {
        (self.task.origin() == Origin::Private).then(|| CHOSEN.to_owned()).into_iter().collect()
    }

    fn settings(
        &self,
        (entry, secrets): (&'static Entry, Option<&Secrets>),
        method: Method,
        (iterations, step): (usize, f64),
        seed: u64,
    ) -> Result<Settings> {
        let choice = Choice { method: entry, options: self.options(entry), iterations, step: Some(step) };
        let secrets = secrets.cloned();
        let mut settings = Settings { secrets, ..Settings::plain(method, (iterations, step), 0.0, seed) };
        let given = settings.clone();
        choice.settle(&Noise::Calibrated(self.promise), &self.question(&given), &mut settings)?;
        Ok(settings)
    }

    fn learn(&self, settings: &Settings) -> Result<Session<'_>> {
        let mut session = Session::new(self.task, self.mixings, settings.clone(), self.threads)?;
        session.finish(None)?;
        Ok(session)
    }

    fn question<'q>(&'q self, settings: &'q Settings) -> Question<'q> {
        Question::of(self.task, self.mixings, settings)
    }
}
