//! Averaging, for programs.

use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;

use sottovoce_audit::reconstruct::Claim;
use sottovoce_privacy::Adversary as Attacker;
use sottovoce_topology::Graph;
use sottovoce_views::door::{Past, account};

use super::{Account, Adversary, Attack, Pair, Protocol, Run, Who, public_range, setters};
use crate::averaging::{Asked, Averaged, Public, question, reveal, told};
use crate::experiment::{self, Against, Experiment, Method, PeerValue};
use crate::spine::Outcome;
use crate::transcript::File;
use crate::{Error, Result};

/// Peers average their private values.
///
/// Without noise that is given, as much is added as the target asks for.
#[derive(Debug, Clone)]
pub struct Averaging {
    spec: experiment::Averaging,
    range: Option<RangeInclusive<f64>>,
    against: Option<Adversary>,
}

impl Averaging {
    /// By gossip among the peers of a graph, who each have a value.
    pub fn new(graph: &Graph) -> Self {
        let mut spec = experiment::Averaging::default();
        spec.graph.base.memory.put(&mut spec.graph.base.file, graph.clone(), graph.nodes());
        Self { spec, range: None, against: None }
    }

    /// Private values, and the public range of every number: a number or several for each peer, in the order of the graph or beside its name. What lies
    /// outside the range is moved inside.
    pub fn values(
        mut self,
        values: impl IntoIterator<Item: Into<PeerValue>>,
        range: RangeInclusive<f64>,
    ) -> Self {
        let values: Vec<PeerValue> = values.into_iter().map(Into::into).collect();
        let (size, own) = (values.len(), &mut self.spec.values);
        own.memory.put(&mut own.file, values, size);
        self.range = Some(range);
        self
    }

    setters! { spec:
        /// Exact averaging in about log2 n rounds, among partners of its own.
        butterfly() { spec.protocol.method = Method::Butterfly }

        /// Rounds of gossip (default: until values differ no more than their noise).
        rounds(rounds: usize) { spec.protocol.steps = Some(rounds) }

        /// Noise that each two peers add and subtract: a Gaussian of so many times a peer's own noise.
        pairwise_noise(ratio: f64) { spec.noise.cancel = Some(ratio) }

        /// One-time masks that each two peers add and subtract, with a butterfly.
        secure_sum() { spec.noise.masks = true }

        /// Fresh noise on every message, as a share of the noise on a value.
        relay_noise(share: f64) { spec.noise.relay_noise = share }

        /// Standard deviation of the noise on a value, instead of a target.
        sigma(sigma: f64) { spec.noise.sigma = Some(sigma) }

        /// Epsilon that a peer's value may lose.
        epsilon(epsilon: f64) { spec.target.epsilon = Some(epsilon) }

        /// Probability with which epsilons may fail (default: 1e-5).
        delta(delta: f64) { spec.target.delta = delta }
    }

    /// To whom the target's epsilon may be lost. Colluders know more than an eavesdropper does where pairs of peers share secrets.
    pub fn against(self, adversary: Adversary) -> Self {
        Self { against: Some(adversary), ..self }
    }

    /// Runs it with this seed.
    ///
    /// # Errors
    ///
    /// Names the field that cannot be as it is, and what to do.
    pub fn run(mut self, seed: u64) -> Result<Run<Self>> {
        if let Some(range) = &self.range {
            self.spec.values.range = public_range(range)?;
        }
        if let Some(adversary) = &self.against {
            self.spec.target.against = Some(match &adversary.who {
                Who::Eavesdropper => {
                    let secrets = self.spec.noise.shares_secrets();
                    self.spec.adversary.colluders = adversary.colluding(secrets);
                    Against::WireTapper
                }
                Who::EveryPeer if adversary.colluders == 0 => Against::WorstPeer,
                _ => {
                    return Err(
                        adversary.refused("noise is found for an eavesdropper, or for every peer by itself")
                    );
                }
            });
        }
        let spec = Experiment::Averaging(Box::new(self.spec.clone()));
        Run::new(self, &spec, seed)
    }
}

impl Protocol for Averaging {
    type Found = Arc<Averaged>;

    fn found(outcome: &Outcome) -> Option<Self::Found> {
        outcome.found()
    }

    fn account(run: &Run<Self>, adversary: &Adversary) -> Result<Account> {
        let File::Averaging(file) = run.outcome.transcript()? else {
            return Err(Error::refused("the transcript is none of an averaging"));
        };
        let (mut public, past) = (file.public()?, file.unjudged()?);
        let pairs = if *adversary == Adversary::every_peer() { pairs(&public, &past)? } else { Vec::new() };
        let asked = match (&adversary.who, adversary.colluders) {
            (Who::Eavesdropper, 0) => Asked::Adversary(Attacker::WireTapper),
            (Who::Eavesdropper, any) => Asked::Adversary(Attacker::WireTapperWithAny(any)),
            (Who::EveryPeer, 0) => Asked::AllPairs,
            (Who::Peers(names), 0) => {
                public = public.asked(names, None)?;
                Asked::Adversary(Attacker::Coalition(public.observers.clone()))
            }
            (Who::EveryPeer | Who::Peers(_), _) => {
                return Err(adversary.refused("name all who pool what they hear"));
            }
        };
        Ok(Account { guarantees: reveal(public, past, &asked, &|_| ())?.guarantees, pairs })
    }

    fn attack(run: &Run<Self>, runs: usize) -> Result<Attack> {
        let ready = run.protocol.spec.ready(Path::new(""), run.seed, &|_| ())?;
        let found = question(&ready, run.seed, runs).reconstruct(&Claim::Exact, |_| ())?;
        let verdict = if found.passed() { "agree with" } else { "REFUTE" };
        let headline = format!("The errors of {runs} attacks {verdict} the claim");
        Ok(Attack { headline, refuted: !found.passed() })
    }
}

impl Run<Averaging> {
    /// The mean that the peers found, of the first of their numbers.
    #[allow(clippy::misnamed_getters)] // the document's `mean` is that of the private values
    pub fn mean(&self) -> f64 {
        self.found().estimate
    }

    /// The means that they found, one for each of their numbers.
    pub fn means(&self) -> Vec<f64> {
        self.found.coordinates.iter().map(|one| one.estimate).collect()
    }

    /// Standard error of a peer's result.
    pub fn std_error(&self) -> f64 {
        self.found.predicted_error.sqrt()
    }
}

/// What each peer learns of each other one.
fn pairs(public: &Public, past: &Past) -> Result<Vec<Pair>> {
    let &Public { sensitivity, sigma, delta, ref graph, .. } = public;
    let mut all = Vec::new();
    for observer in 0..graph.nodes() {
        let found = account(past, &Attacker::Peer(observer))?;
        let shown = told(found.leakage.losses.clone());
        for target in (0..graph.nodes()).filter(|&target| target != observer) {
            let epsilon = found.guarantee(target, sensitivity, sigma)?.epsilon(delta)?.upper;
            let leakage = shown[target];
            all.push(Pair { observer: graph.label(observer), target: graph.label(target), leakage, epsilon });
        }
    }
    Ok(all)
}
