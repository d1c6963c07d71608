//! Questions about an averaging run, answered by the accountant that fits: what the command line, the planner and the report
//! share.

use serde::Serialize;
use sottovoce_privacy::{Adversary, Gdp};
use sottovoce_simulator::averaging::Scheme;
use sottovoce_simulator::cancelling::Cancelling;
use sottovoce_views::cancelling::{AtRandom, Cut};
use sottovoce_views::door::{Account, Overheard, Setting, account};
use sottovoce_views::exact::{Leakage, Results};
use sottovoce_views::published::Formula;

use super::MaskedSums;
use crate::names::Names;
use crate::terms::{Stated, Terms};
use crate::{Result, require};

/// A loss above this counts as fully exposed.
const EXPOSED: f64 = 1.0 - 1e-9;

/// What is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// Peers who pool what they hear.
    pub observers: Vec<usize>,
    /// Whether someone attacks who sees every message and knows what they know, instead of themselves.
    pub tapped: bool,
    /// So many peers, whoever they are, tell that one all they know.
    pub colluders: Option<usize>,
    /// Standard deviation of the local noise.
    pub sigma: f64,
    /// How far one person can move a peer's value.
    pub sensitivity: f64,
    /// Probability with which stated epsilons may fail.
    pub delta: f64,
    /// What peers are called; by their numbers where there are no names.
    pub names: Names,
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Understatement {
    /// The peer.
    pub peer: usize,
    /// What it is called, where peers have names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The printed loss.
    pub published: f64,
    /// The exact loss.
    pub exact: f64,
}

/// Losses in units of local DP, one per peer, by each method that was asked for.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Accounted {
    /// Number of peers.
    pub peers: usize,
    /// Number of steps.
    pub steps: usize,
    /// The observers, in increasing order.
    pub observers: Vec<usize>,
    /// Whether someone attacks who sees every message and knows what they know, instead of themselves.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub wire_tapper: bool,
    /// With the help of so many peers, whoever they are: losses are those towards the worst of all coalitions, or bounds on them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub colluders: Option<usize>,
    /// Relay noise as a share of the local noise.
    pub relay_noise: f64,
    /// Noise of pairs that cancels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cancelling: Option<Cancelled>,
    /// Masks on a ring.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub masks: Option<MaskedSums>,
    /// Whether observers know everybody's result as well.
    pub results: Results,
    /// The Gaussian loss `sensitivity / sigma` that a loss of 1 stands for; under masks, of what is moved after rounding.
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
    /// The same as numbers.
    pub guarantees: Vec<Stated>,
    /// What holds for the exact losses.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub terms: Option<Terms>,
    /// Where the published formula is furthest below the truth.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worst_understatement: Option<Understatement>,
}

/// Noise of pairs, and what the attackers leave of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cancelled {
    /// Standard deviation of a pair's noise, in units of sigma.
    pub kappa: f64,
    /// Pairs who share a secret.
    pub pairs: usize,
    /// Honest peers whom secrets connect.
    #[serde(flatten)]
    pub cut: Cut,
    /// What coalitions learn that were drawn without looking at the keys, where anybody may collude.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_random: Option<AtRandom>,
}

impl Cancelled {
    fn of(pairs: &Cancelling, attackers: &[usize], colluders: Option<usize>) -> Result<Self> {
        let cut = sottovoce_views::cancelling::cut(pairs, attackers)?;
        let at_random = colluders.filter(|colluders| *colluders > 0);
        let at_random = match at_random {
            Some(colluders) => sottovoce_views::cancelling::at_random(pairs, colluders, 0)?,
            None => None,
        };
        Ok(Self { kappa: pairs.kappa(), pairs: pairs.keys().edge_count(), cut, at_random })
    }
}

/// Answers a question about a run by the given methods. Published formulas know no relay noise and leave it out of account; the correction is left
/// out, where not asked for alone, for schedules, and both for a butterfly.
pub fn answer(setting: &Setting, question: &Question, methods: &[Method]) -> Result<Accounted> {
    check(question)?;
    let mut observers = question.observers.clone();
    observers.sort_unstable();
    observers.dedup();
    let wants = |method: Method| methods.contains(&method);
    let has = |formula| match setting.scheme {
        _ if question.tapped || setting.cancelling.is_some() || setting.masks.is_some() => false,
        Scheme::Gossip { .. } => true,
        Scheme::Scheduled { .. } => formula == Formula::Theorem1,
        Scheme::Butterfly { .. } | Scheme::Coupled { .. } => false,
    };
    let printed = |method, formula| {
        let asked = wants(method) && (methods.len() == 1 || has(formula));
        asked.then(|| setting.published(formula, &question.observers)).transpose()
    };
    let published = printed(Method::Published, Formula::Theorem1)?;
    let published_corrected = printed(Method::PublishedCorrected, Formula::Corrected)?;
    let adversary = match (question.tapped, question.colluders) {
        (_, Some(colluders)) => Adversary::WireTapperWithAny(colluders),
        (true, None) if observers.is_empty() => Adversary::WireTapper,
        (true, None) => Adversary::WireTapperWith(observers.clone()),
        (false, None) => Adversary::Coalition(observers.clone()),
    };
    let found = wants(Method::Exact).then(|| account(setting, &adversary)).transpose()?;
    let promised = found.as_ref().map(|account| promise(account, question)).transpose()?;
    let terms = promised.as_ref().map(|promised| promised.terms.clone());
    let (statements, guarantees) = promised.map(|one| (one.statement, one.stated)).into_iter().unzip();
    let leakage = found.map(|account| account.leakage);
    let worst_understatement =
        leakage.as_ref().zip(published.as_ref()).and_then(|both| understatement(both, &question.names));
    let moved = setting.masks.as_ref().map(|masks| masks.moved(question.sensitivity)).transpose()?;
    Ok(Accounted {
        peers: setting.peers(),
        steps: setting.scheme.rounds(),
        observers,
        wire_tapper: question.tapped || question.colluders.is_some(),
        colluders: question.colluders,
        relay_noise: setting.relay_noise,
        cancelling: (setting.cancelling.as_ref())
            .map(|pairs| Cancelled::of(pairs, &question.observers, question.colluders))
            .transpose()?,
        masks: MaskedSums::of(setting, &adversary, question.sensitivity)?,
        results: setting.results,
        local_mu: moved.unwrap_or(question.sensitivity) / question.sigma,
        published,
        published_corrected,
        rank: leakage.as_ref().and_then(|leakage| leakage.rank),
        certified: leakage.as_ref().map(|leakage| leakage.certified),
        mean: leakage.as_ref().map(Leakage::mean),
        exposed: leakage.as_ref().map(exposed),
        statements,
        guarantees,
        terms,
        worst_understatement: worst_understatement.filter(|_| setting.relay_noise == 0.0),
        exact: leakage.map(|leakage| told(leakage.losses)),
    })
}

/// Refuses noises, sensitivities and deltas that are none.
pub fn check(question: &Question) -> Result<()> {
    for (field, value) in [("sigma", question.sigma), ("sensitivity", question.sensitivity)] {
        require(value.is_finite() && value > 0.0, field, value, "give a positive number")?;
    }
    // Refuses a delta outside (0, 1).
    Gdp::new(0.0)?.epsilon(question.delta)?;
    Ok(())
}

/// What the peer that loses most is promised.
#[derive(Debug, Clone, PartialEq)]
pub struct Promised {
    /// In words.
    pub statement: String,
    /// As numbers.
    pub stated: Stated,
    /// The terms of all losses.
    pub terms: Terms,
}

/// What the peer that loses most is promised, and the terms of all losses.
pub fn promise(account: &Account, question: &Question) -> Result<Promised> {
    let (peer, guarantee) = account.worst(question.sensitivity, question.sigma)?;
    let who = question.names.adversary(&guarantee.adversary);
    let about = format!("peer {}, the worst off", question.names.of(peer));
    let statement = format!("{about}: {}", question.names.state(&guarantee, question.delta)?);
    let adversary = match account.results {
        Results::Kept => who,
        Results::Published => format!("{who}, with everybody's result"),
    };
    let stated = Stated::new(about, &guarantee, question.delta)?.named(&question.names);
    Ok(Promised { statement, stated, terms: Terms::new(guarantee, adversary) })
}

/// Peers whose noisy value the observers can compute.
pub fn exposed(leakage: &Leakage) -> Vec<usize> {
    (0..leakage.losses.len()).filter(|&u| leakage.losses[u] > EXPOSED).collect()
}

/// Losses as they are told: what cannot be distinguished from all is all. Never smaller than they are.
pub fn told(losses: Vec<f64>) -> Vec<f64> {
    losses.into_iter().map(|loss| if loss > EXPOSED && loss < 1.0 { 1.0 } else { loss }).collect()
}

fn understatement((leakage, published): (&Leakage, &Vec<f64>), names: &Names) -> Option<Understatement> {
    let gap = |u: &usize| leakage.losses[*u] - published[*u];
    let peer = (0..published.len()).max_by(|a, b| gap(a).total_cmp(&gap(b)))?;
    let name = names.beside(&[peer]).pop();
    let found = Understatement { peer, name, published: published[peer], exact: leakage.losses[peer] };
    (gap(&peer) > 1e-9).then_some(found)
}
