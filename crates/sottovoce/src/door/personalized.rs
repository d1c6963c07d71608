//! Personalised models, for programs.

use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;

use sottovoce_topology::Graph;
use sottovoce_topology::io::Weighted;

use super::rows::Bounded;
use super::{Account, Adversary, Attack, Protocol, Run, Who, public_range, setters};
use crate::Result;
use crate::experiment::{self, Experiment, LossSpec};
use crate::personal::{self, Found};
use crate::spine::Outcome;

/// Every peer learns a model of its own, with help from similar peers. Each row is protected.
#[derive(Debug, Clone)]
pub struct Personalized {
    spec: experiment::Personalized,
    rows: Bounded,
    label: Option<RangeInclusive<f64>>,
}

impl Personalized {
    /// Among the peers of a graph, whose neighbours resemble each other alike. The graph is public.
    pub fn new(similar: &Graph) -> Self {
        Self::weighted(similar, |_, _| 1.0)
    }

    /// The same where neighbours resemble each other by so much, which is public.
    pub fn weighted(similar: &Graph, weight: impl Fn(usize, usize) -> f64) -> Self {
        let mut spec = experiment::Personalized::default();
        let weights = similar.edges().map(|(u, v)| (u, v, weight(u, v))).collect();
        let graph = Weighted { graph: similar.clone(), weights, notes: Vec::new(), sha256: String::new() };
        let table = &mut spec.task.table;
        table.resembling.put(&mut table.similar, graph, similar.nodes());
        Self { spec, rows: Bounded::default(), label: None }
    }

    /// Private rows (a peer's name, the features, the label), and the public range of every feature, in the order of the features. What lies outside a
    /// range is moved inside. Labels are -1 or 0, and 1. Every fifth row of a peer is for testing.
    pub fn rows<O: Into<String>, N: Into<String>>(
        mut self,
        rows: impl IntoIterator<Item = (O, Vec<f64>, f64)>,
        ranges: impl IntoIterator<Item = (N, RangeInclusive<f64>)>,
    ) -> Self {
        self.rows = Bounded::new(rows, ranges);
        self
    }

    /// Labels are numbers in this public range, which are learned with squared loss.
    pub fn numbers(self, range: RangeInclusive<f64>) -> Self {
        Self { label: Some(range), ..self }
    }

    setters! { spec:
        /// Private updates of each peer.
        updates(updates: usize) { spec.protocol.updates = updates }

        /// Weight of peers' own losses beside their neighbours' models (default: 1).
        mu(mu: f64) { spec.protocol.mu = mu }

        /// Largest norm of a gradient.
        clip(clip: f64) { spec.noise.clip = clip }

        /// Epsilon that one row of anyone may lose in the whole run.
        epsilon(epsilon: f64) { spec.target.epsilon = Some(epsilon) }

        /// Probability with which it may fail (default: 1e-5).
        delta(delta: f64) { spec.target.delta = delta }

        /// Runs over which models are judged (default: 5).
        seeds(seeds: usize) { spec.seeds = Some(seeds) }
    }

    /// Runs it with this seed.
    ///
    /// # Errors
    ///
    /// Names the field that cannot be as it is, and what to do.
    pub fn run(mut self, seed: u64) -> Result<Run<Self>> {
        let spec = &mut self.spec;
        self.rows.personal(&mut spec.task)?;
        if let Some(range) = &self.label {
            spec.task.table.label_bounds = Some(public_range(range)?);
            spec.task.table.objective = Some(LossSpec::Squared);
        }
        let spec = Experiment::Personalized(Box::new(spec.clone()));
        Run::new(self, &spec, seed)
    }
}

impl Protocol for Personalized {
    type Found = Arc<Found>;

    fn found(outcome: &Outcome) -> Option<Self::Found> {
        outcome.found()
    }

    fn account(run: &Run<Self>, adversary: &Adversary) -> Result<Account> {
        if adversary.who != Who::Eavesdropper || adversary.colluders > 0 {
            return Err(adversary
                .refused("peers hear no more than an eavesdropper, and share no secrets; ask for that one"));
        }
        Ok(Account { guarantees: run.found.guarantees.clone(), pairs: Vec::new() })
    }

    fn attack(run: &Run<Self>, runs: usize) -> Result<Attack> {
        let found = personal::attack(&run.protocol.spec, Path::new(""), run.seed, runs, || ())?;
        let refuted = found.fallen().map(str::to_owned);
        Ok(Attack { refuted: refuted.is_some(), headline: refuted.unwrap_or(found.usual.headline) })
    }
}

impl Run<Personalized> {
    /// What peers' models are worth on rows that nobody learned from, on average: the accuracy, or the root of the mean squared error. Computed without privacy.
    pub fn worth(&self) -> f64 {
        self.found.ways.iter().find(|way| way.name == "own").map_or(f64::NAN, |way| way.worth.mean)
    }
}
