//! The transcript of an averaging by tokens: where they went, who released what, and all that was agreed on.

use serde::{Deserialize, Serialize};
use sottovoce_protocol::Law;
use sottovoce_protocol::walk::TokenPath;
use sottovoce_topology::Graph;
use sottovoce_views::exact::Results;
use sottovoce_views::walk::contributions;

use super::{Matrix, SCHEMA_VERSION, SHOWN, astray, differing};
use crate::averaging::walk::{Public, WalkRevealed, calibrated, reveal};
use crate::experiment::{Agreed, Experiment, worth};
use crate::learning::path::Ways;
use crate::learning::transcript::Released;
use crate::{Result, require};

/// A run, as a file has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Walk {
    schema_version: u32,
    /// The program's version.
    pub version: String,
    /// The experiment, as its own file would have it.
    pub experiment: String,
    /// The seed of the run.
    pub seed: u64,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    names: Option<Vec<String>>,
    graph: Matrix,
    agreed: Agreed,
    results: Results,
    sigma: f64,
    sensitivity: f64,
    delta: f64,
    observers: Vec<usize>,
    releases: Vec<Released>,
    paths: Vec<TokenPath>,
}

impl Walk {
    /// A run of an experiment.
    pub fn new(
        experiment: &Experiment,
        seed: u64,
        public: &Public,
        releases: Vec<Released>,
        paths: Vec<TokenPath>,
    ) -> Result<Self> {
        Ok(Self {
            schema_version: SCHEMA_VERSION,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            experiment: experiment.clone().with_seed(seed).to_toml()?,
            seed,
            names: public.names.all().map(<[String]>::to_vec),
            graph: Matrix::of(&public.mixing),
            agreed: public.agreed.clone(),
            results: public.results,
            sigma: public.sigma,
            sensitivity: public.sensitivity,
            delta: public.delta,
            observers: public.observers.clone(),
            releases,
            paths,
        })
    }

    /// Refuses numbers that no run has.
    pub(super) fn checked(self) -> Result<Self> {
        for (field, value) in [("sigma", self.sigma), ("sensitivity", self.sensitivity)] {
            require(value.is_finite() && value > 0.0, field, value, "the file is damaged; run again")?;
        }
        Ok(self)
    }

    /// All that was public of the run.
    pub fn public(&self) -> Result<Public> {
        let mixing = self.graph.mixing()?;
        let names = crate::names::Names::new(self.names.as_deref());
        Ok(Public {
            worth: worth(&mixing)?,
            mixing,
            names,
            agreed: self.agreed.clone(),
            results: self.results,
            sigma: self.sigma,
            sensitivity: self.sensitivity,
            delta: self.delta,
            observers: self.observers.clone(),
        })
    }

    /// What it revealed, to other observers or at another delta where they are given; refused where peers did not do what was agreed.
    pub fn reveal(&self, observers: &[String], delta: Option<f64>) -> Result<WalkRevealed> {
        if let Some(problem) = self.check()?.first() {
            return Err(astray(problem));
        }
        reveal(&self.public()?.asked(observers, delta)?, &self.paths)
    }

    /// Where peers did not do what was agreed: none, or the account of the run is void.
    pub fn check(&self) -> Result<Vec<String>> {
        let public = self.public()?;
        let n = public.mixing.nodes();
        let ways = Ways {
            tokens: self.agreed.tokens,
            missing: self.missing(&public)?,
            steps: self.agreed.burn_in.saturating_add(self.agreed.steps),
            burn_in: self.agreed.burn_in,
            cap: self.agreed.cap.unwrap_or(usize::MAX),
        };
        let mut problems = ways.problems(&public.mixing, &self.paths);
        if problems.is_empty() {
            problems.extend(self.miscounted(n));
            problems.extend(self.other_terms(&public)?);
        }
        problems.truncate(SHOWN);
        Ok(problems)
    }

    /// Tokens of peers who were to crash.
    fn missing(&self, public: &Public) -> Result<usize> {
        let Experiment::Averaging(experiment) = Experiment::parse(&self.experiment)? else { return Ok(0) };
        let faults = experiment.network.faults(&self.graph_of(public)?)?;
        Ok(Ways::missing(self.seed, self.agreed.tokens, public.mixing.nodes(), &faults))
    }

    /// The graph, with the peers' names.
    fn graph_of(&self, public: &Public) -> Result<Graph> {
        let graph = public.mixing.graph().clone();
        Ok(match &self.names {
            Some(names) => graph.with_labels(names.clone())?,
            None => graph,
        })
    }

    /// Where releases are not those of the contributions.
    fn miscounted(&self, n: usize) -> Vec<String> {
        let mut problems = Vec::new();
        let mut counts = vec![0_usize; n];
        for Released { peer, release, count } in &self.releases {
            match counts.get_mut(*peer) {
                Some(sum) => *sum = count.saturating_add(*sum),
                None => problems.push(format!("a release of peer {peer}, of whom there is none")),
            }
            // A NaN is not agreed on.
            let kept = release.law == Law::Gaussian
                && release.rate.is_none()
                && release.sensitivity <= self.sensitivity
                && release.scale >= self.sigma;
            if !kept {
                problems.push(format!(
                    "peer {peer} released with sensitivity {} under noise {}, where {} and {} were agreed on",
                    release.sensitivity, release.scale, self.sensitivity, self.sigma
                ));
            }
        }
        let given = contributions(n, &self.paths);
        let differs = (0..n).filter(|&peer| counts[peer] != given[peer]);
        problems.extend(differs.map(|peer| {
            format!("peer {peer} released {} times, and contributed {} times", counts[peer], given[peer])
        }));
        problems
    }

    /// Where what is said of the run is not what its experiment says. The noise that a target asks for is computed anew, on the ways that the tokens took.
    fn other_terms(&self, public: &Public) -> Result<Vec<String>> {
        let Experiment::Averaging(experiment) = Experiment::parse(&self.experiment)? else {
            return Ok(vec!["the experiment is no averaging".to_owned()]);
        };
        experiment.check()?;
        let graph = self.graph_of(public)?;
        let drawn = experiment.graph.known(self.seed)?.map(|place| place.graph);
        let weights = experiment.graph.base.walking(drawn.as_ref().unwrap_or(&graph));
        let Agreed { tokens, steps, burn_in, cap, step_size } =
            experiment.agreed(&public.mixing, self.seed)?;
        let sigma = calibrated(&experiment, public, || Ok(self.paths.clone()));
        let given = experiment.noise.sensitivity;
        Ok(differing(&[
            ("graph", weights.is_ok_and(|mixing| Matrix::of(&mixing) == self.graph)),
            ("tokens", tokens == self.agreed.tokens),
            ("steps", steps == self.agreed.steps),
            ("burn-in", burn_in == self.agreed.burn_in),
            ("cap", cap == self.agreed.cap),
            ("step size", step_size == self.agreed.step_size),
            ("noise", sigma.is_ok_and(|sigma| sigma == self.sigma)),
            ("sensitivity", given.is_none_or(|given| given == self.sensitivity)),
            ("range of values", self.sensitivity >= experiment.values.sensitivity(1)),
            ("results", experiment.adversary.results == self.results),
            ("delta", experiment.target.delta == self.delta),
            ("observers", experiment.adversary.peers(Some(&graph), graph.nodes())? == self.observers),
            ("seed", experiment.seed == Some(self.seed)),
        ]))
    }
}
