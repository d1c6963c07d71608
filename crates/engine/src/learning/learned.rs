//! What came of a learning run: numbers, guarantees, and both in words.

use std::fmt;

use serde::Serialize;
use sottovoce_learning::read::Source;
use sottovoce_privacy::{Gdp, round_up};

use super::network::Traffic;
use super::run::{Point, Run};
use super::{Measures, Session, Spread, Task, Trivial};
use crate::Result;
use crate::names::Names;
use crate::terms::{Stated, promised};

/// What the star behind a fact means.
pub const STARRED: &str =
    "* computed from the rows without privacy: whoever publishes it reveals more than is promised.";

/// What is measured on the rows as they are.
const OF_CLASSES: [&str; 10] = [
    "accuracy",
    "accuracy_of_this_run",
    "accuracy_without_noise",
    "this_run",
    "last",
    "without_noise",
    "trivial",
    "objective",
    "curve",
    "curve_without_noise",
];
/// The same where numbers are learned.
const OF_NUMBERS: [&str; 9] = [
    "rmse",
    "r_squared",
    "this_run",
    "last",
    "without_noise",
    "trivial",
    "objective",
    "curve",
    "curve_without_noise",
];

/// The last models of a run that ends with a mean of models.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Last {
    /// The training loss of their mean over peers.
    pub objective: f64,
    /// What they are worth on the test rows.
    #[serde(flatten)]
    pub measures: Measures,
}

impl Last {
    fn of(task: &Task, session: &Session) -> Self {
        let (model, measures) = session.last();
        Self { objective: task.objective(&model), measures }
    }
}

/// Names of peers in a line.
const SHOWN: usize = 12;

/// What came of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Learned {
    /// Seed of everything random.
    pub seed: u64,
    /// The task's name.
    pub task: String,
    /// The method's name.
    pub method: &'static str,
    /// The files that the rows came from, with their hashes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub data: Vec<Source>,
    /// The public bounds from which labels were scaled to -1..1: a prediction `p` of the model stands for `low + (p + 1) (high - low) / 2`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label_bounds: Option<(f64, f64)>,
    /// Number of peers.
    pub peers: usize,
    /// What they are called, in their order, where they have names.
    #[serde(skip_serializing_if = "Names::are_numbers")]
    pub names: Names,
    /// Graphs on which peers spoke: none, one that stays, or several in turn, one after each gradient step.
    pub graphs: usize,
    /// Parameters of the model.
    pub parameters: usize,
    /// Contributions of each peer.
    pub iterations: usize,
    /// Step size.
    pub step: f64,
    /// Noise in units of the sensitivity.
    pub sigma: f64,
    /// How far one user moves a gradient.
    pub sensitivity: f64,
    /// Steps done, and planned.
    pub steps: (usize, usize),
    /// Whether there is more to do: the run was paused.
    pub paused: bool,
    /// How often the state was written down on the way. Each time is counted in the guarantees.
    pub shown: usize,
    /// The training loss.
    pub objective: f64,
    /// What models are worth on the test rows, over several seeds; of this run alone, where it was paused.
    #[serde(flatten)]
    pub measures: Measures<Spread>,
    /// Of this run alone.
    pub this_run: Measures,
    /// The same method without noise.
    pub without_noise: Measures,
    /// The accuracy among them, where classes are learned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accuracy_of_this_run: Option<f64>,
    /// The same without noise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accuracy_without_noise: Option<f64>,
    /// What a model is worth that looks at no feature.
    pub trivial: Trivial,
    /// What every peer ends with: `last`, its last model, or `weighted`, the weighted mean of all its models.
    pub final_model: &'static str,
    /// The last models beside it, where peers end with a mean.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last: Option<Last>,
    /// Which of these numbers no noise protects.
    pub computed_without_privacy: &'static [&'static str],
    /// Squared Gaussian loss towards a wire-tapper of the peer that lost most.
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub spent: f64,
    /// What went over the network, where something is said of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub traffic: Option<Traffic>,
    /// The least and the largest share that a peer has in what is learned, in units of an equal one, where a long walk is not everywhere equally often.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peer_weights: Option<(f64, f64)>,
    /// Why contributions ended early, if they did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// Guarantees, with their standing.
    pub statements: Vec<String>,
    /// The same as numbers.
    pub guarantees: Vec<Stated>,
    /// What they do not speak of.
    pub not_covered: Vec<String>,
    /// The model: the mean over peers, or over tokens.
    pub model: Vec<f64>,
    /// The learning curve.
    pub curve: Vec<Point>,
    /// The same without noise.
    pub curve_without_noise: Vec<Point>,
    /// Probability with which stated epsilons may fail.
    pub delta: f64,
    /// Tokens that walk.
    #[serde(skip)]
    pub(super) tokens: usize,
    /// How many rows each peer holds.
    #[serde(skip)]
    pub rows: Vec<usize>,
    /// Squared Gaussian loss of each peer towards a wire-tapper.
    #[serde(skip)]
    pub(super) spent_by: Vec<f64>,
    /// The first digits of the graph's hash.
    #[serde(skip)]
    pub graph_hash: Option<String>,
}

impl Learned {
    pub(super) fn new(
        task: &Task,
        run: &Run,
        paused: bool,
        delta: f64,
        silent: &Run,
        measures: Measures<Spread>,
    ) -> Result<Self> {
        let session = run.session();
        let this_run = session.measures();
        let settings = session.settings();
        let model = session.model();
        let promised = run.guarantees(delta)?;
        let names = run.called();
        let statements = promised.iter().map(|one| names.state(one, delta)).collect::<Result<_, _>>()?;
        let stated = promised.iter().map(|one| Ok(Stated::new("any peer's data", one, delta)?.named(&names)));
        let without_noise = silent.session().measures();
        Ok(Self {
            seed: settings.seed,
            task: task.name.clone(),
            method: settings.method.name(),
            data: task.sources().to_vec(),
            label_bounds: task.label_bounds(),
            peers: task.peers(),
            graphs: run.mixings().len(),
            parameters: task.parameters(),
            iterations: settings.iterations,
            step: settings.step,
            sigma: settings.sigma,
            sensitivity: task.sensitivity(),
            steps: run.progress(),
            paused,
            shown: run.shown(),
            objective: task.objective(&model),
            measures,
            this_run,
            without_noise,
            accuracy_of_this_run: this_run.accuracy().copied(),
            accuracy_without_noise: without_noise.accuracy().copied(),
            trivial: task.trivial(),
            final_model: if settings.weighted { "weighted" } else { "last" },
            last: settings.weighted.then(|| Last::of(task, session)),
            computed_without_privacy: if this_run.accuracy().is_some() { &OF_CLASSES } else { &OF_NUMBERS },
            spent: session.spent(),
            traffic: session.traffic(),
            peer_weights: peer_weights(run)?,
            ended: session.stopped().map(|overspent| overspent.to_string()),
            statements,
            guarantees: stated.collect::<Result<_>>()?,
            not_covered: run.not_covered(),
            model,
            curve: run.curve().to_vec(),
            curve_without_noise: silent.curve().to_vec(),
            delta,
            tokens: settings.method.way().tokens(),
            rows: (0..task.peers()).map(|peer| task.rows_of(peer)).collect(),
            spent_by: (0..task.peers()).map(|peer| session.spent_by(peer)).collect(),
            names,
            graph_hash: run.graphs_hash(),
        })
    }

    /// What came of it, in a sentence.
    pub fn headline(&self) -> String {
        let measured = self.facts().into_iter().next().unwrap_or_default();
        let (label, value) = (measured.0.trim_end_matches(" *"), measured.1);
        let promise = match (self.guarantees.last(), self.guarantees.first()) {
            (Some(peer), Some(everyone)) if self.guarantees.len() > 1 => format!(
                "no peer learns more than epsilon {} at delta {:e}, a wire-tapper {}",
                peer.shown(),
                peer.delta,
                everyone.shown()
            ),
            (Some(one), _) => {
                format!("epsilon {} at delta {:e} towards a {}", one.shown(), one.delta, one.who())
            }
            (None, _) => "nobody is protected, as there was no noise".to_owned(),
        };
        format!("Learned by {} peers, {label} {value}; {promise}", self.peers)
    }

    /// What a squared Gaussian loss is as an epsilon.
    pub fn epsilon(&self, spent: f64) -> Result<f64> {
        Ok(Gdp::of_square(spent)?.epsilon(self.delta)?.upper)
    }

    /// What it is about.
    pub fn title(&self) -> String {
        format!("{}, learned by {} among {} peers", self.task, self.method, self.peers)
    }

    /// Labels and values; a star marks those that are computed without privacy.
    pub fn facts(&self) -> Vec<(String, String)> {
        let mut facts = Vec::new();
        for ((name, spread), (_, own)) in self.measures.list().into_iter().zip(self.this_run.list()) {
            let own = if spread.runs > 1 { format!(", {own:.3} in this run") } else { String::new() };
            facts.push((format!("{name} *"), format!("{}{own}", spread.words())));
        }
        facts.extend([
            ("without looking at features *".to_owned(), words(&self.trivial.measures)),
            ("without noise *".to_owned(), words(&self.without_noise)),
            (
                "training loss *".to_owned(),
                format!("{:.4} ({:.4} without features)", self.objective, self.trivial.objective),
            ),
            ("contributions of each peer".to_owned(), self.iterations.to_string()),
            ("steps done".to_owned(), format!("{} of {}", self.steps.0, self.steps.1)),
            ("noise (in sensitivities)".to_owned(), round_up(self.sigma)),
            ("step size".to_owned(), self.step.to_string()),
            ("parameters of the model".to_owned(), self.parameters.to_string()),
            ("seed".to_owned(), self.seed.to_string()),
        ]);
        if self.graphs > 1 {
            facts.push((
                "graphs".to_owned(),
                format!("{}, one after each gradient step, in turn", self.graphs),
            ));
        }
        if let Some(Last { objective, measures }) = &self.last {
            let instead = format!("{}, training loss {objective:.4}", words(measures));
            facts.insert(self.measures.list().len(), ("the last models instead *".to_owned(), instead));
            facts.push(("final model".to_owned(), "the weighted mean of a peer's models".to_owned()));
        }
        if let Some(names) = self.names.all() {
            facts.push(("peers".to_owned(), shortened(names)));
        }
        let files: Vec<&str> = self.data.iter().map(|source| source.file.as_str()).collect();
        if !files.is_empty() {
            facts.push(("data".to_owned(), files.join(", ")));
        }
        if let Some(ended) = &self.ended {
            facts.push(("contributions ended".to_owned(), ended.clone()));
        }
        if let Some((least, largest)) = self.peer_weights {
            let text =
                format!("{least:.2} to {largest:.2} times an equal one: the walk visits them so often");
            facts.push(("peers' shares in the model".to_owned(), text));
        }
        let tokens = self.tokens;
        let rows = self.traffic.iter().flat_map(|traffic| traffic.rows(tokens));
        facts.extend(rows.map(|(label, value)| (label.to_owned(), value)));
        if self.shown > 0 {
            facts.push((
                "state written down".to_owned(),
                format!("{} times, each of them counted", self.shown),
            ));
        }
        if self.paused {
            facts.push(("paused".to_owned(), "go on with --resume".to_owned()));
        }
        facts
    }
}

impl Learned {
    /// Every peer's rows, and what is left of its privacy.
    fn everybody(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\n  {:<24} {:>8} {:>12}", "peer", "rows", "epsilon")?;
        for (peer, (rows, spent)) in self.rows.iter().zip(&self.spent_by).enumerate() {
            let epsilon = self.epsilon(*spent).ok().filter(|_| self.sigma > 0.0);
            let epsilon = epsilon.map_or_else(|| "no bound".to_owned(), round_up);
            writeln!(f, "  {} {rows:>8} {epsilon:>12}", self.names.cell(peer, 24))?;
        }
        let to = self.guarantees.first().map_or_else(|| "wire-tapper".to_owned(), Stated::who);
        writeln!(f, "  epsilon: of all that a peer contributed, at delta = {:e}, against a {to}", self.delta)
    }
}

/// The least and the largest share of visits, in units of an equal one, where they differ.
fn peer_weights(run: &Run) -> Result<Option<(f64, f64)>> {
    let Some(mixing) = run.mixings().first().filter(|mixing| !mixing.is_symmetric()) else {
        return Ok(None);
    };
    let law = mixing.stationary()?;
    let shares = law.iter().map(|share| share * law.len() as f64);
    let widen = |(low, high): (f64, f64), share: f64| {
        (if share < low { share } else { low }, if share > high { share } else { high })
    };
    Ok(Some(shares.fold((f64::INFINITY, 0.0), widen)))
}

/// Some of the names, and how many more there are.
fn shortened(names: &[String]) -> String {
    let shown = names.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// One measure as it is; several with their names.
fn words(measures: &Measures) -> String {
    match measures.list().as_slice() {
        [(_, only)] => format!("{only:.3}"),
        all => all.iter().map(|(name, value)| format!("{name} {value:.3}")).collect::<Vec<_>>().join(", "),
    }
}

impl fmt::Display for Learned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n\n{}\n", self.headline(), self.title())?;
        for (label, value) in self.facts() {
            writeln!(f, "  {label:<30} {value}")?;
        }
        if f.alternate() {
            self.everybody(f)?;
        }
        writeln!(f, "\n{STARRED}\n\nWhat is promised")?;
        if self.statements.is_empty() {
            return writeln!(f, "  nothing: there was no noise");
        }
        promised(f, &self.statements, &self.not_covered)
    }
}
