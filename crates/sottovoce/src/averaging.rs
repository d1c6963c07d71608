//! Questions about an averaging run, answered by the accountant that fits: what the command line, the planner and the report
//! share.

use anyhow::bail;
use serde::Serialize;
use sottovoce_audit::reconstruct::exact_loss;
use sottovoce_privacy::{Gdp, limits};
use sottovoce_simulator::averaging::Scheme;
use sottovoce_topology::mixing::Mixing;
use sottovoce_topology::schedule::Schedule;
use sottovoce_views::exact::{self, Leakage, Results};
use sottovoce_views::parallel;
use sottovoce_views::published::{self, Formula};

use crate::terms::Terms;

/// A loss above this counts as fully exposed.
const EXPOSED: f64 = 1.0 - 1e-9;

/// Who mixes with whom, for how long.
pub struct Run {
    who: Who,
    steps: usize,
}

enum Who {
    Gossip(Box<Mixing>),
    Scheduled(Schedule),
}

/// What is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// Peers who pool what they hear.
    pub observers: Vec<usize>,
    /// Relay noise as a share of the local noise.
    pub relay_noise: f64,
    /// Whether observers know everybody's result as well.
    pub results: Results,
    /// Standard deviation of the local noise.
    pub sigma: f64,
    /// How far one person can move a peer's value.
    pub sensitivity: f64,
    /// Probability with which stated epsilons may fail.
    pub delta: f64,
}

/// Which accounting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Exact leverages.
    Exact,
    /// Theorem 1 and 12 as printed.
    Published,
    /// The printed correction.
    PublishedCorrected,
}

/// The peer for whom a published loss is furthest below the truth.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Understatement {
    /// The peer.
    pub peer: usize,
    /// The printed loss.
    pub published: f64,
    /// The exact loss.
    pub exact: f64,
}

/// Losses in units of local DP, one per peer, by each method that was asked for.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Accounted {
    /// Number of peers.
    pub peers: usize,
    /// Number of steps.
    pub steps: usize,
    /// The observers, in increasing order.
    pub observers: Vec<usize>,
    /// Relay noise as a share of the local noise.
    pub relay_noise: f64,
    /// Whether observers know everybody's result as well.
    pub results: Results,
    /// The Gaussian loss `sensitivity / sigma` that a loss of 1 stands for.
    pub local_mu: f64,
    /// Exact losses (proven).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exact: Option<Vec<f64>>,
    /// Losses by the formula as printed (refuted).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published: Option<Vec<f64>>,
    /// Losses by the printed correction (refuted).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published_corrected: Option<Vec<f64>>,
    /// Independent things the observers learn (without relay noise).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank: Option<usize>,
    /// Whether the exact losses were certified; otherwise they count as 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certified: Option<bool>,
    /// Mean of the exact losses over all peers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean: Option<f64>,
    /// Peers whose noisy value the observers can compute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exposed: Option<Vec<usize>>,
    /// Guarantees, with their standing.
    pub statements: Vec<String>,
    /// What holds for the exact losses.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub terms: Option<Terms>,
    /// Where the published formula is furthest below the truth.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worst_understatement: Option<Understatement>,
}

impl Run {
    /// Synchronous gossip over one matrix; accelerated or not, as long as there is no relay noise (with it, plain).
    pub fn gossip(mixing: Mixing, steps: usize) -> Self {
        Self { who: Who::Gossip(Box::new(mixing)), steps }
    }

    /// Gossip over a schedule.
    pub fn scheduled(schedule: Schedule, steps: usize) -> Self {
        Self { who: Who::Scheduled(schedule), steps }
    }

    /// Number of peers.
    pub fn nodes(&self) -> usize {
        match &self.who {
            Who::Gossip(mixing) => mixing.nodes(),
            Who::Scheduled(schedule) => schedule.nodes(),
        }
    }

    /// The exact leakage towards the observers of a question.
    pub fn exact(&self, question: &Question) -> anyhow::Result<Leakage> {
        let Question { observers, relay_noise, results, .. } = question;
        Ok(exact_loss(&self.scheme(), observers, *relay_noise, *results)?)
    }

    fn scheme(&self) -> Scheme {
        match &self.who {
            Who::Gossip(mixing) => {
                Scheme::Gossip { mixing: (**mixing).clone(), rounds: self.steps, accelerated: false }
            }
            Who::Scheduled(schedule) => Scheme::Scheduled { schedule: schedule.clone(), rounds: self.steps },
        }
    }

    /// The exact leakage towards every single peer (fixed graphs).
    pub fn exact_all_pairs(
        &self,
        relay_noise: f64,
        results: Results,
        done: impl Fn(usize) + Sync,
    ) -> anyhow::Result<Vec<Leakage>> {
        match &self.who {
            Who::Gossip(_) if results == Results::Published => {
                let scheme = self.scheme();
                let one = |v: usize| exact_loss(&scheme, &[v], relay_noise, results);
                Ok(parallel::map(self.nodes(), one, done).into_iter().collect::<Result<_, _>>()?)
            }
            Who::Gossip(mixing) => Ok(exact::relay_gossip_all_pairs(mixing, self.steps, relay_noise, done)?),
            Who::Scheduled(_) => bail!("`all-pairs` needs a fixed graph: name --observers for a schedule"),
        }
    }

    /// The coalition of `size` peers that learns most (fixed graphs, no relay noise).
    pub fn worst_coalition(
        &self,
        size: usize,
        done: impl Fn(usize) + Sync,
    ) -> anyhow::Result<exact::WorstCoalition> {
        match &self.who {
            Who::Gossip(mixing) => Ok(exact::worst_coalition(mixing, size, self.steps, done)?),
            Who::Scheduled(_) => {
                bail!("`worst-coalition` needs a fixed graph: name --observers for a schedule")
            }
        }
    }

    fn published(&self, formula: Formula, question: &Question) -> anyhow::Result<Vec<f64>> {
        match (&self.who, formula) {
            (Who::Gossip(mixing), _) => {
                Ok(published::gossip(formula, mixing, &question.observers, self.steps)?)
            }
            (Who::Scheduled(schedule), Formula::Theorem1) => {
                Ok(published::scheduled(schedule, &question.observers, self.steps)?)
            }
            (Who::Scheduled(_), Formula::Corrected) => {
                bail!(
                    "`method` is published-corrected: the correction is printed for a fixed graph only; use exact"
                )
            }
        }
    }

    /// Answers a question by the given methods. Published formulas know no relay noise and leave it out of account; the
    /// correction is left out, where not asked for alone, for schedules.
    pub fn account(&self, question: &Question, methods: &[Method]) -> anyhow::Result<Accounted> {
        check(question)?;
        let mut observers = question.observers.clone();
        observers.sort_unstable();
        observers.dedup();
        let wants = |method: Method| methods.contains(&method);
        let alone = methods.len() == 1;
        let corrected = wants(Method::PublishedCorrected) && (alone || matches!(self.who, Who::Gossip(_)));
        let published =
            wants(Method::Published).then(|| self.published(Formula::Theorem1, question)).transpose()?;
        let published_corrected =
            corrected.then(|| self.published(Formula::Corrected, question)).transpose()?;
        let leakage = wants(Method::Exact).then(|| self.exact(question)).transpose()?;
        let statements = leakage.as_ref().map_or(Ok(Vec::new()), |leakage| statements(leakage, question))?;
        let terms = leakage.as_ref().map(|leakage| terms(leakage, question)).transpose()?;
        let worst_understatement = leakage.as_ref().zip(published.as_ref()).and_then(understatement);
        Ok(Accounted {
            peers: self.nodes(),
            steps: self.steps,
            observers,
            relay_noise: question.relay_noise,
            results: question.results,
            local_mu: question.sensitivity / question.sigma,
            published,
            published_corrected,
            rank: leakage.as_ref().and_then(|leakage| leakage.rank),
            certified: leakage.as_ref().map(|leakage| leakage.certified),
            mean: leakage.as_ref().map(Leakage::mean),
            exposed: leakage.as_ref().map(exposed),
            statements,
            terms,
            worst_understatement: worst_understatement.filter(|_| question.relay_noise == 0.0),
            exact: leakage.map(|leakage| leakage.losses),
        })
    }
}

/// Refuses noises, sensitivities and deltas that are none.
pub fn check(question: &Question) -> anyhow::Result<()> {
    for (field, value) in [("sigma", question.sigma), ("sensitivity", question.sensitivity)] {
        if !(value.is_finite() && value > 0.0) {
            bail!("`{field}` is {value}: give a positive number");
        }
    }
    // Refuses a delta outside (0, 1).
    Gdp::new(0.0)?.epsilon(question.delta)?;
    Ok(())
}

/// The guarantee of the worst-off peer, and that of local DP beside it.
fn statements(leakage: &Leakage, question: &Question) -> anyhow::Result<Vec<String>> {
    let (peer, _) = leakage.worst();
    let guarantee = leakage.guarantee(peer, question.sensitivity, question.sigma)?;
    Ok(vec![format!("peer {peer}, the worst off: {}", guarantee.state(question.delta)?)])
}

/// What holds for all losses towards these observers.
pub fn terms(leakage: &Leakage, question: &Question) -> anyhow::Result<Terms> {
    let guarantee = leakage.guarantee(leakage.worst().0, question.sensitivity, question.sigma)?;
    let adversary = guarantee.adversary.to_string();
    Ok(match question.results {
        Results::Kept => Terms::new(guarantee, adversary),
        Results::Published => {
            let mut terms = Terms::new(guarantee, format!("{adversary}, with everybody's result"));
            terms.not_covered.retain(|limit| limit != limits::RESULTS);
            terms
        }
    })
}

/// Peers whose noisy value the observers can compute.
pub fn exposed(leakage: &Leakage) -> Vec<usize> {
    (0..leakage.losses.len()).filter(|&u| leakage.losses[u] > EXPOSED).collect()
}

fn understatement((leakage, published): (&Leakage, &Vec<f64>)) -> Option<Understatement> {
    let gap = |u: &usize| leakage.losses[*u] - published[*u];
    let peer = (0..published.len()).max_by(|a, b| gap(a).total_cmp(&gap(b)))?;
    let found = Understatement { peer, published: published[peer], exact: leakage.losses[peer] };
    (gap(&peer) > 1e-9).then_some(found)
}
