//! What the attack found, as plain data.

use serde::Serialize;
use sottovoce_privacy::Interval;
use sottovoce_protocol::Peer;
use sottovoce_views::exact::{Leakage, Results};

use super::judge::Judgement;
use super::solve::TOLERANCE;
use super::{Claim, EXPOSED, Prior, Question, Result};

/// A mean squared error: as the mathematics has it, and as it was.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Errors {
    /// Predicted.
    pub predicted: f64,
    /// Measured.
    pub measured: f64,
}

/// The game of telling a peer's two possible values apart.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Game {
    /// Runs in which the larger value was taken for the smaller, among those with the larger one.
    pub misses: u64,
    /// Runs with the larger value.
    pub high: u64,
    /// Runs in which the smaller value was taken for the larger, among those with the smaller one.
    pub false_alarms: u64,
    /// Runs with the smaller value.
    pub low: u64,
}

/// What was found about one peer. Errors are mean squared errors in the units of the values.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Target {
    /// The peer.
    pub peer: Peer,
    /// Hops to the nearest observer, along messages; none where no message leads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distance: Option<u32>,
    /// The loss under test, in units of local DP.
    pub claimed: f64,
    /// The exact loss.
    pub loss: f64,
    /// The loss that the attack's own algebra has in doubles.
    pub visible: f64,
    /// The accountant counts more than doubles can see.
    pub more_digits_see_more: bool,
    /// The observers can compute the noisy value (exactly, with enough digits).
    pub exposed: bool,
    /// They did, to a thousandth of the noise.
    pub solved: bool,
    /// The informed estimate, `sigma² / loss`; none where nothing was learnt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub informed: Option<Errors>,
    /// The variance of the informed estimate, with 99.9 % confidence for this peer alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
    /// The uninformed estimate of the private value.
    pub uninformed: Errors,
    /// The uninformed estimate of the noisy value.
    pub noisy: Errors,
    /// Telling two values apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub game: Option<Game>,
    /// The loss is at least this, with 95 % confidence for this peer alone.
    pub proven_loss: f64,
    /// The Gaussian loss `mu` is at least this, with the same confidence.
    pub proven_mu: f64,
    /// What that says about the claim.
    pub judgement: Judgement,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Findings {
    /// Number of peers.
    pub peers: usize,
    /// Number of rounds.
    pub rounds: usize,
    /// The observers, in increasing order.
    pub observers: Vec<Peer>,
    /// Whether someone attacked who sees every message and knows all that they know.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub wire_tapper: bool,
    /// Standard deviation of the local noise.
    pub sigma: f64,
    /// Relay noise as a share of the local noise.
    pub relay_noise: f64,
    /// Whether observers know everybody's result as well.
    pub results: Results,
    /// The Gaussian loss `sensitivity / sigma` that a loss of 1 stands for; under masks, of what is moved after rounding.
    pub local_mu: f64,
    /// How private values were drawn.
    pub prior: Prior,
    /// Number of runs.
    pub runs: usize,
    /// The claim under test.
    pub claim: &'static str,
    /// Confidence of the verdict, over all peers together.
    pub confidence: f64,
    /// Independent things the observers learn, where that is a number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank: Option<usize>,
    /// Independent things they learn in doubles.
    pub visible_rank: usize,
    /// Directions whose singular value is below this share of the largest count as invisible in doubles.
    pub tolerance: f64,
    /// Whether the claim stands.
    pub verdict: Judgement,
    /// Everybody but the observers, in increasing order.
    pub targets: Vec<Target>,
}

impl Findings {
    pub(super) fn new(
        question: &Question,
        claim: &Claim,
        leakage: &Leakage,
        visible_rank: usize,
        targets: Vec<Target>,
    ) -> Result<Self> {
        Ok(Self {
            peers: question.setting.scheme.peers(),
            rounds: question.setting.scheme.rounds(),
            observers: leakage.observers.clone(),
            wire_tapper: question.tapped,
            sigma: question.sigma,
            relay_noise: question.setting.relay_noise,
            results: question.setting.results,
            local_mu: question.local_mu()?,
            prior: question.prior,
            runs: question.runs,
            claim: match claim {
                Claim::Exact => "exact",
                Claim::Given(_) => "given",
            },
            confidence: 1.0 - super::judge::SIGNIFICANCE,
            rank: leakage.rank,
            visible_rank,
            tolerance: TOLERANCE,
            verdict: targets.iter().map(|target| target.judgement).max().unwrap_or(Judgement::Agrees),
            targets,
        })
    }

    /// Whether the claim stands, as far as it was tested.
    pub fn passed(&self) -> bool {
        self.verdict <= Judgement::NotTested
    }

    /// Peers whose loss could not be put to the test in double precision.
    pub fn not_tested(&self) -> Vec<Peer> {
        self.those(|target| target.judgement == Judgement::NotTested)
    }

    /// Peers whose noisy value the observers can compute.
    pub fn exposed(&self) -> Vec<Peer> {
        self.those(|target| target.exposed)
    }

    /// Peers of whom the accountant counts more than doubles can see.
    pub fn beyond_doubles(&self) -> Vec<Peer> {
        self.those(|target| target.more_digits_see_more)
    }

    /// Peers whose claim does not stand.
    pub fn failed(&self) -> Vec<Peer> {
        self.those(|target| target.judgement > Judgement::NotTested)
    }

    /// The peer whose claim is furthest below what was proven.
    pub fn worst(&self) -> Option<&Target> {
        let gap = |target: &&Target| target.proven_loss - target.claimed;
        self.targets.iter().max_by(|a, b| gap(a).total_cmp(&gap(b)))
    }

    fn those(&self, which: impl Fn(&Target) -> bool) -> Vec<Peer> {
        self.targets.iter().filter(|target| which(target)).map(|target| target.peer).collect()
    }
}

/// Whether a loss stands for full exposure.
pub(super) fn is_exposed(loss: f64) -> bool {
    loss > EXPOSED
}
