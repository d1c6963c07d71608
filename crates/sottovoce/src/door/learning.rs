//! Learning a linear model, for programs.

use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;

use sottovoce_topology::Graph;

use super::rows::Bounded;
use super::{Account, Adversary, Attack, Protocol, Run, Who, setters};
use crate::experiment::{self, Experiment, LossSpec, Whom};
use crate::learning::{Learned, canary};
use crate::spine::Outcome;
use crate::terms::Stated as Guarantee;
use crate::transcript::File;
use crate::{Error, Result};

/// Peers learn a model together from rows that stay where they are. A peer's rows are protected together.
#[derive(Debug, Clone)]
pub struct Learning {
    spec: experiment::Learning,
    rows: Bounded,
    label: Option<RangeInclusive<f64>>,
    against: Option<Adversary>,
}

impl Learning {
    fn by(method: &str) -> Self {
        let mut spec = experiment::Learning::default();
        spec.protocol.method = Some(method.to_owned());
        Self { spec, rows: Bounded::default(), label: None, against: None }
    }

    fn on(method: &str, graph: &Graph) -> Self {
        let mut new = Self::by(method);
        let base = &mut new.spec.graph.base;
        base.memory.put(&mut base.file, graph.clone(), graph.nodes());
        new
    }

    /// By gossip among the peers of a graph after every gradient step.
    pub fn gossip(graph: &Graph) -> Self {
        Self::on("gossip", graph)
    }

    /// By a token that walks along the edges of a graph.
    pub fn walk(graph: &Graph) -> Self {
        Self::on("walk", graph)
    }

    /// By exact averaging after every gradient step, among partners of its own.
    pub fn butterfly() -> Self {
        Self::by("butterfly")
    }

    /// Private rows (a peer's name, the features, the label), and the public range of every feature, in the order of the features. What lies outside a
    /// range is moved inside. Labels are -1 or 0, and 1.
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
        /// Labels are classes 0, 1, ..., so many.
        classes(classes: usize) { spec.task.classes = vec![classes.to_string()] }

        /// Contributions of each peer.
        iterations(iterations: usize) { spec.protocol.iterations = iterations }

        /// Largest norm of a gradient.
        clip(clip: f64) { spec.task.clip = clip }

        /// Step size.
        step_size(size: f64) { spec.step.size = Some(size) }

        /// Noise that each two peers add and subtract: a Gaussian of so many times a peer's own noise.
        pairwise_noise(ratio: f64) { spec.noise.cancel = Some(ratio) }

        /// Noise on a gradient in units of its sensitivity, instead of a target.
        sigma(sigma: f64) { spec.noise.sigma = Some(sigma) }

        /// Epsilon that a peer's rows may lose in the whole run.
        epsilon(epsilon: f64) { spec.target.epsilon = Some(epsilon) }

        /// Probability with which it may fail (default: 1e-5).
        delta(delta: f64) { spec.target.delta = delta }

        /// Runs over which the accuracy or the error is measured (default: 10).
        seeds(seeds: usize) { spec.seeds = Some(seeds) }
    }

    /// To whom the target's epsilon may be lost.
    pub fn against(self, adversary: Adversary) -> Self {
        Self { against: Some(adversary), ..self }
    }

    /// Runs it with this seed.
    ///
    /// # Errors
    ///
    /// Names the field that cannot be as it is, and what to do.
    pub fn run(mut self, seed: u64) -> Result<Run<Self>> {
        let spec = &mut self.spec;
        self.rows.task(&mut spec.task)?;
        if let Some(range) = &self.label {
            spec.task.label_bounds = Some(super::public_range(range)?);
            spec.task.loss = Some(LossSpec::Squared);
        }
        if let Some(adversary) = &self.against {
            spec.target.against = Some(match &adversary.who {
                Who::Eavesdropper => {
                    spec.target.colluders = adversary.colluding(spec.noise.cancel.is_some());
                    Whom::WireTapper
                }
                Who::EveryPeer if adversary.colluders == 0 => Whom::WorstPeer,
                _ => {
                    return Err(
                        adversary.refused("noise is found for an eavesdropper, or for every peer by itself")
                    );
                }
            });
        }
        let spec = Experiment::Learning(Box::new(spec.clone()));
        Run::new(self, &spec, seed)
    }
}

impl Protocol for Learning {
    type Found = Arc<Learned>;

    fn found(outcome: &Outcome) -> Option<Self::Found> {
        outcome.found()
    }

    fn account(run: &Run<Self>, adversary: &Adversary) -> Result<Account> {
        let names = match &adversary.who {
            Who::Peers(names) => &names[..],
            Who::EveryPeer | Who::Eavesdropper => &[],
        };
        let spec = &run.protocol.spec;
        adversary.check_colluders(spec.noise.cancel.is_some(), spec.target.colluders)?;
        let File::Learning(file) = run.outcome.transcript()? else {
            return Err(Error::refused("the transcript is none of learning"));
        };
        let mut guarantees = file.reveal(names, None)?.guarantees;
        let sees_all = |one: &Guarantee| !matches!(&*one.adversary, "peer" | "coalition" | "any-peer");
        match &adversary.who {
            Who::Eavesdropper => guarantees.retain(sees_all),
            // Where peers are promised no more than an eavesdropper leaves, that is what they are promised.
            _ if !guarantees.iter().all(sees_all) => guarantees.retain(|one| !sees_all(one)),
            _ => {}
        }
        Ok(Account { guarantees, pairs: Vec::new() })
    }

    fn attack(run: &Run<Self>, runs: usize) -> Result<Attack> {
        let spec = &run.protocol.spec;
        let ready = spec.ready(Path::new(""), run.seed)?;
        let found = canary::attack(&spec.job(&ready, run.seed), 0, runs, || ())?;
        Ok(Attack { headline: found.headline, refuted: !found.stands })
    }
}

impl Run<Learning> {
    /// The model: a weight for every feature, and an intercept.
    pub fn model(&self) -> &[f64] {
        &self.found.model
    }

    /// The accuracy on rows that nobody learned from, where classes are learned. Computed without privacy.
    pub fn accuracy(&self) -> Option<f64> {
        self.found.accuracy_of_this_run
    }
}
