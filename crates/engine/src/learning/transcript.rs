//! What happened in a learning run, without values, and what follows from it: whether peers did what was agreed, and what was revealed to whom.
//!
//! ```text
//! settings + graph (agreed on) ─┐
//! releases, steps, paths ───────┼─► problems: none, or nothing can be promised
//!                               └─► spent (releases through the filter) + what was overheard ─► guarantees
//! ```
//!
//! It stays small: who speaks to whom in an averaging follows from the settings, so that their number is enough, and equal releases of a peer are one
//! entry. Only a token's path is told step by step.

use serde::{Deserialize, Serialize};
use sottovoce_privacy::{Adjacency, Adversary, Gdp, Guarantee, Loss, Standing, Unit, limits};
use sottovoce_protocol::walk::TokenPath;
use sottovoce_protocol::{Peer, Release};
use sottovoce_simulator::Allowance;
use sottovoce_topology::mixing::Mixing;
use sottovoce_views::door;

use super::losses::{Past, Question};
use super::{Secrets, Settings, Task};
use crate::Result;

/// Peers and iterations of a run, at most: a file that says more is damaged.
const MOST: usize = 10_000_000;

/// Equal releases of a peer.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Released {
    /// Who.
    pub peer: Peer,
    /// What.
    #[serde(flatten)]
    pub release: Release,
    /// How often.
    pub count: usize,
}

/// What happened in a run, and all that is public of it but the graph.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Transcript {
    /// Number of peers.
    pub peers: usize,
    /// What was agreed on.
    pub settings: Settings,
    /// How far one user moves a gradient.
    pub sensitivity: f64,
    /// Whether a gradient step moves no two models apart, whoever's data it is.
    pub nonexpansive: bool,
    /// What every guarantee rests on.
    pub assumptions: Vec<String>,
    /// What none speaks of.
    pub not_covered: Vec<String>,
    /// Steps that were made: averagings, or steps of each token.
    pub steps: usize,
    /// After how many of them the state was written down.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shown: Vec<usize>,
    /// Who released what.
    pub releases: Vec<Released>,
    /// Where tokens went, if any walked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<TokenPath>,
}

/// What no guarantee of a run speaks of. On a network with faults lost messages are counted.
pub(super) fn limits_of(task: &Task, settings: &Settings) -> Vec<String> {
    let mut all = task.not_covered();
    all.retain(|limit| !(settings.network.is_some() && limit == limits::LOST_MESSAGES));
    all.extend(settings.secrets.iter().map(|_| limits::SECRETS.to_owned()));
    all
}

impl Transcript {
    /// What a run will have been when it is over: every peer contributes as often as it may.
    pub fn planned(task: &Task, settings: &Settings) -> Self {
        let way = settings.method.way();
        let release = way.release(settings, task.sensitivity());
        let count = settings.iterations;
        Self {
            peers: task.peers(),
            settings: settings.clone(),
            sensitivity: task.sensitivity(),
            nonexpansive: task.is_nonexpansive(settings.step),
            assumptions: task.assumptions().to_vec(),
            not_covered: limits_of(task, settings),
            steps: way.steps(task.peers(), settings.iterations),
            shown: Vec::new(),
            releases: (0..task.peers()).map(|peer| Released { peer, release, count }).collect(),
            paths: Vec::new(),
        }
    }

    /// What each peer might release.
    pub fn allowance(&self) -> Result<Allowance> {
        Ok(Allowance::gaussian(self.settings.budget())?)
    }

    /// Squared Gaussian loss towards someone who sees everything, of the peer that lost most: its releases, through the filter that was agreed on. None
    /// where a filter does not admit them.
    pub fn spent(&self) -> Result<Option<f64>> {
        let (mut most, mut before): (f64, Option<(Release, usize)>) = (0.0, None);
        for Released { release, count, .. } in &self.releases {
            if before == Some((*release, *count)) {
                continue;
            }
            before = Some((*release, *count));
            let mut allowance = self.allowance()?;
            if allowance.times(release, *count) < *count {
                return Ok(None);
            }
            let spent = allowance.spent();
            // What is not a number counts.
            if spent.is_nan() || spent > most {
                most = spent;
            }
        }
        Ok(Some(most * self.settings.secrets.as_ref().map_or(1.0, Secrets::worst)))
    }

    /// What decides how much was revealed. Of a descent that ended early, so many iterations as there were.
    pub fn question<'a>(&'a self, mixings: &'a [Mixing]) -> Question<'a> {
        let Settings { method, iterations, seed, .. } = self.settings;
        let iterations = if method.way().tokens() > 0 { iterations } else { self.steps };
        Question {
            method,
            mixings,
            peers: self.peers,
            iterations,
            nonexpansive: self.nonexpansive,
            sample: 1,
            seed,
            network: self.settings.network.as_ref(),
            secrets: self.settings.secrets.as_ref(),
        }
    }

    fn past(&self) -> Past<'_> {
        // On a network with faults tokens are not at the same step, and their paths are told as far as they went.
        let steps = if self.settings.network.is_some() { usize::MAX } else { self.steps };
        Past { steps, shown: &self.shown, paths: &self.paths }
    }

    /// Where peers did not do what was agreed: none, or nothing can be promised.
    pub fn problems(&self, mixings: &[Mixing]) -> Result<Vec<String>> {
        let mut problems = Vec::new();
        let way = self.settings.method.way();
        if mixings.iter().any(|mixing| mixing.nodes() != self.peers) || self.peers > MOST {
            problems.push(format!("the graph is not one of {} peers", self.peers));
        }
        if self.steps > way.steps(self.peers, self.settings.iterations) || self.settings.iterations > MOST {
            problems.push(format!("{} steps were made, more than were agreed on", self.steps));
        }
        // What follows takes time and room that grow with these numbers.
        if !problems.is_empty() {
            return Ok(problems);
        }
        let due = way.contributions(self, mixings, &mut problems)?;
        let agreed = way.release(&self.settings, self.sensitivity);
        let mut counts = vec![0; self.peers];
        for Released { peer, release, count } in &self.releases {
            match counts.get_mut(*peer) {
                Some(sum) => *sum = count.saturating_add(*sum),
                None => problems.push(format!("a release of peer {peer}, of whom there is none")),
            }
            // A NaN is not agreed on.
            let kept = release.law == agreed.law
                && release.rate.is_none()
                && release.sensitivity <= agreed.sensitivity
                && release.scale >= agreed.scale;
            if !kept {
                problems.push(format!(
                    "peer {peer} released with sensitivity {} under noise {}, where {} and {} were agreed on",
                    release.sensitivity, release.scale, agreed.sensitivity, agreed.scale
                ));
            }
        }
        for (peer, (count, due)) in
            counts.iter().zip(&due).enumerate().filter(|(_, (count, due))| count != due)
        {
            problems.push(format!("peer {peer} released {count} times, and contributed {due} times"));
        }
        if problems.is_empty() && self.spent()?.is_none() {
            problems.push("somebody released more than the budget admits".to_owned());
        }
        Ok(problems)
    }

    fn guarantee(&self, adversary: Adversary, loss: Loss, standing: Standing) -> Guarantee {
        Guarantee {
            adversary,
            unit: Unit::User,
            adjacency: Adjacency::Replace,
            loss,
            standing: standing.given(&self.assumptions),
            not_covered: self.not_covered.clone(),
        }
    }

    /// What was promised towards someone who sees everything: all releases of the peer that lost most.
    fn everything(&self) -> Result<Guarantee> {
        let spent = Loss::Gdp(Gdp::of_square(self.spent()?.unwrap_or(f64::INFINITY))?);
        Ok(self.guarantee(self.question(&[]).sees_all(), spent, Standing::Proven))
    }

    /// What was promised, to whom, and by what right: towards someone who sees everything, and where that is less (at `delta`), towards the
    /// peer that learns most. Nothing where there was no noise.
    pub fn guarantees(&self, mixings: &[Mixing], delta: f64) -> Result<Vec<Guarantee>> {
        let Settings { sigma, method, .. } = self.settings;
        if sigma == 0.0 {
            return Ok(Vec::new());
        }
        let way = method.way();
        let mut guarantees = vec![self.everything()?];
        // Where noise cancels, every peer is one of those who may help.
        if way.hides_from_peers() && self.settings.secrets.is_none() {
            let revealed = self.question(mixings).revealed_by(&self.past())?;
            let loss = revealed.currency.loss(revealed.pairs.worst, sigma)?;
            let peer = self.guarantee(Adversary::Peer(revealed.pairs.observer), loss, revealed.standing);
            if peer.epsilon(delta)?.upper < guarantees[0].epsilon(delta)?.upper {
                guarantees.push(peer);
            }
        }
        Ok(guarantees)
    }

    /// What the peer that loses most to these observers, who pool what they heard, is promised; and which it is.
    pub fn towards(&self, mixings: &[Mixing], observers: &[usize], delta: f64) -> Result<(Peer, Guarantee)> {
        let overheard = self.question(mixings).overheard(&self.past())?;
        let account = door::account(&overheard, &Adversary::Coalition(observers.to_vec()))?;
        let (peer, found) = account.worst(1.0, self.settings.sigma)?;
        let found = self.guarantee(found.adversary, found.loss, found.standing);
        // Nobody hears more than someone who sees every message; but many may know more secrets.
        match self.settings.secrets {
            Some(_) => Ok((peer, found)),
            None => Ok((peer, found.within(&self.everything()?, delta)?)),
        }
    }
}
