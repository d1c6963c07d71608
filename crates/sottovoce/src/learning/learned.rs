//! What came of a learning run: numbers, guarantees, and both in words.

use std::fmt;

use serde::Serialize;
use sottovoce_privacy::round_up;
use sottovoce_report::GuaranteeLine;

use super::report::{STARRED, data_hash, line};
use super::run::{Point, Run};
use super::{Spread, Task, Trivial};
use crate::Result;
use crate::origin::graph_hash;
use crate::terms::promised;

/// What is measured on the rows as they are.
const WITHOUT_PRIVACY: [&str; 7] = [
    "accuracy",
    "accuracy_of_this_run",
    "accuracy_without_noise",
    "trivial",
    "objective",
    "curve",
    "curve_without_noise",
];

/// What came of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Learned {
    /// Seed of everything random.
    pub seed: u64,
    /// The task's name.
    pub task: String,
    /// The method's name.
    pub method: &'static str,
    /// Number of peers.
    pub peers: usize,
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
    /// Over several seeds; of this run alone, where it was paused.
    pub accuracy: Spread,
    /// Of this run alone.
    pub accuracy_of_this_run: f64,
    /// The same method without noise.
    pub accuracy_without_noise: f64,
    /// What a model is worth that looks at no feature.
    pub trivial: Trivial,
    /// Which of these numbers no noise protects.
    pub computed_without_privacy: [&'static str; 7],
    /// Squared Gaussian loss towards a wire-tapper of the peer that lost most.
    pub spent: f64,
    /// Why contributions ended early, if they did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// Guarantees, with their standing.
    pub statements: Vec<String>,
    /// What they do not speak of.
    pub not_covered: Vec<String>,
    /// The model.
    pub model: Vec<f64>,
    /// The learning curve.
    pub curve: Vec<Point>,
    /// The same without noise.
    pub curve_without_noise: Vec<Point>,
    /// Probability with which stated epsilons may fail.
    pub delta: f64,
    /// How many rows each peer holds.
    #[serde(skip)]
    pub(super) rows: Vec<usize>,
    /// Guarantees as a page shows them.
    #[serde(skip)]
    pub(super) lines: Vec<GuaranteeLine>,
    #[serde(skip)]
    pub(super) data_hash: String,
    #[serde(skip)]
    pub(super) graph_hash: Option<String>,
}

impl Learned {
    pub(super) fn new(
        task: &Task,
        run: &Run,
        paused: bool,
        delta: f64,
        silent: &Run,
        accuracy: Spread,
    ) -> Result<Self> {
        let session = run.session();
        let settings = session.settings();
        let model = session.model();
        let guarantees = run.guarantees(delta)?;
        let statements = guarantees.iter().map(|one| one.state(delta)).collect::<Result<_, _>>()?;
        Ok(Self {
            seed: settings.seed,
            task: task.name.clone(),
            method: settings.method.name(),
            peers: task.peers(),
            parameters: task.parameters(),
            iterations: settings.iterations,
            step: settings.step,
            sigma: settings.sigma,
            sensitivity: task.sensitivity(),
            steps: run.progress(),
            paused,
            shown: run.shown(),
            objective: task.objective(&model),
            accuracy,
            accuracy_of_this_run: session.accuracy(),
            accuracy_without_noise: silent.session().accuracy(),
            trivial: task.trivial(),
            computed_without_privacy: WITHOUT_PRIVACY,
            spent: session.spent(),
            ended: session.stopped().map(|overspent| overspent.to_string()),
            statements,
            not_covered: task.not_covered(),
            model,
            curve: run.curve().to_vec(),
            curve_without_noise: silent.curve().to_vec(),
            delta,
            rows: (0..task.peers()).map(|peer| task.shard(peer).labels.len()).collect(),
            lines: guarantees.iter().map(|one| line(one, delta)).collect::<Result<_>>()?,
            data_hash: data_hash(task),
            graph_hash: run.mixing().map(|mixing| graph_hash(mixing.graph())),
        })
    }

    /// What it is about.
    pub fn title(&self) -> String {
        format!("{}, learned by {} among {} peers", self.task, self.method, self.peers)
    }

    /// Labels and values; a star marks those that are computed without privacy.
    pub fn facts(&self) -> Vec<(String, String)> {
        let own = if self.accuracy.runs > 1 {
            format!(", {:.3} in this run", self.accuracy_of_this_run)
        } else {
            String::new()
        };
        let mut facts = vec![
            ("accuracy *".to_owned(), format!("{}{own}", self.accuracy.words())),
            ("without looking at features *".to_owned(), format!("{:.3}", self.trivial.accuracy)),
            ("without noise *".to_owned(), format!("{:.3}", self.accuracy_without_noise)),
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
        ];
        if let Some(ended) = &self.ended {
            facts.push(("contributions ended".to_owned(), ended.clone()));
        }
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

impl fmt::Display for Learned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", self.title())?;
        for (label, value) in self.facts() {
            writeln!(f, "  {label:<30} {value}")?;
        }
        writeln!(f, "\n{STARRED}\n\nWhat is promised")?;
        if self.statements.is_empty() {
            return writeln!(f, "  nothing: there was no noise");
        }
        promised(f, &self.statements, &self.not_covered)
    }
}
