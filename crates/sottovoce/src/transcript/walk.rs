//! The transcript of an averaging by tokens: where they went, who released what, and all that was agreed on.

use serde::{Deserialize, Serialize};
use sottovoce_protocol::walk::TokenPath;
use sottovoce_topology::Graph;
use sottovoce_views::exact::Results;

use super::{Matrix, SCHEMA_VERSION, SHOWN, astray, differing, unlike};
use crate::averaging::walk::{Public, WalkRevealed, calibrated, happens, reveal};
use crate::experiment::{self, Agreed, Experiment, Place, ReadyWalk, Values, worth};
use crate::learning::transcript::Released;
use crate::{Result, require};

/// Hops of the longest run that is replayed.
const MOST_HOPS: usize = 100_000_000;

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
    pub(super) sensitivity: f64,
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

    /// Where peers did not do what was agreed: none, or the account of the run is void. Where tokens go follows from the experiment and its seed.
    pub fn check(&self) -> Result<Vec<String>> {
        let Experiment::Averaging(experiment) = Experiment::parse(&self.experiment)? else {
            return Ok(vec!["the experiment is no averaging".to_owned()]);
        };
        let public = self.public()?;
        let mut problems = self.other_terms(&experiment, &public)?;
        if !problems.is_empty() {
            return Ok(problems);
        }
        let again = match self.again(&experiment, &public) {
            Ok(again) => again,
            Err(problem) => return Ok(vec![format!("its experiment cannot have been run so: {problem}")]),
        };
        // The noise that a target asks for is computed anew, on the ways that the tokens took.
        let sigma = calibrated(&experiment, &public, || Ok(again.1.clone()));
        problems.extend(differing(&[("noise", sigma.is_ok_and(|sigma| sigma == self.sigma))]));
        problems.extend(unlike("release", &self.releases, &again.0));
        problems.extend(unlike("the path of token", &self.paths, &again.1));
        problems.truncate(SHOWN);
        Ok(problems)
    }

    /// The releases and the ways of tokens, in the run that was agreed on.
    fn again(
        &self,
        experiment: &experiment::Averaging,
        public: &Public,
    ) -> Result<(Vec<Released>, Vec<TokenPath>)> {
        let graph = self.graph_of(public)?;
        let network = experiment.network.of_walks(&graph)?;
        let place = Place { graph, schedule: None, sha256: None, notes: Vec::new(), name: String::new() };
        let ready = ReadyWalk {
            experiment: experiment.clone(),
            place,
            mixing: public.mixing.clone(),
            worth: public.worth.clone(),
            values: Values::zeros(public.mixing.nodes(), 1),
            sensitivity: self.sensitivity,
            observers: self.observers.clone(),
            network,
            agreed: self.agreed.clone(),
        };
        happens(&ready, self.seed, self.sigma)
    }

    /// The graph, with the peers' names.
    fn graph_of(&self, public: &Public) -> Result<Graph> {
        let graph = public.mixing.graph().clone();
        Ok(match &self.names {
            Some(names) => graph.with_labels(names.clone())?,
            None => graph,
        })
    }

    /// Where what is said of the run is not what its experiment says. A run that would be much longer than what is written down is not replayed to find that out.
    fn other_terms(&self, experiment: &experiment::Averaging, public: &Public) -> Result<Vec<String>> {
        experiment.check()?;
        let graph = self.graph_of(public)?;
        let drawn = experiment.graph.known(self.seed)?.map(|place| place.graph);
        let weights = experiment.graph.base.walking(drawn.as_ref().unwrap_or(&graph));
        let Agreed { tokens, steps, burn_in, cap, step_size } =
            experiment.agreed(&public.mixing, self.seed)?;
        let hops = steps.checked_add(burn_in).and_then(|steps| steps.checked_mul(tokens));
        let given = experiment.noise.sensitivity;
        Ok(differing(&[
            ("graph", weights.is_ok_and(|mixing| Matrix::of(&mixing) == self.graph)),
            // (Where hops are lost, a token has several paths.)
            ("number of tokens", tokens == self.agreed.tokens && tokens <= self.paths.len()),
            ("number of hops", hops.is_some_and(|hops| hops <= MOST_HOPS)),
            ("steps", steps == self.agreed.steps),
            ("burn-in", burn_in == self.agreed.burn_in),
            ("cap", cap == self.agreed.cap),
            ("step size", step_size == self.agreed.step_size),
            ("sensitivity", given.is_none_or(|given| given == self.sensitivity)),
            ("range of values", self.sensitivity >= experiment.values.sensitivity(1)),
            ("results", experiment.adversary.results == self.results),
            ("delta", experiment.target.delta == self.delta),
            ("observers", experiment.adversary.peers(Some(&graph), graph.nodes())? == self.observers),
            ("seed", experiment.seed == Some(self.seed)),
        ]))
    }
}
