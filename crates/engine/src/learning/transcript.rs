//! What happened in a learning run, without values, and what follows from it: whether peers did what was agreed, and what was revealed to whom.
//!
//! ```text
//! settings + graph (agreed on) ─┬─► the same run again: what is not as there did not happen so
//! releases, steps, paths ───────┴─► spent (releases through the filter) + what was overheard ─► guarantees
//! ```
//!
//! It stays small: who speaks to whom in an averaging follows from the settings, so that their number is enough, and equal releases of a peer are one
//! entry. Only a token's path is told step by step.

use serde::{Deserialize, Serialize};
use sottovoce_learning::{Batch, Clip, Model, Shards, Table};
use sottovoce_privacy::{Adjacency, Adversary, Gdp, Guarantee, Standing, Unit, limits};
use sottovoce_protocol::walk::TokenPath;
use sottovoce_protocol::{Peer, Release};
use sottovoce_simulator::Allowance;
use sottovoce_topology::mixing::Mixing;
use sottovoce_views::descent::DescentLoss;
use sottovoce_views::door::{self, Account};

use super::losses::{Past, Question};
use super::session::check_contributions;
use super::{Run, Secrets, Settings, Task};
use crate::{Error, Result, require};

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

    /// The same run again, to its end: who releases how often and where tokens go follows from what was agreed on, whoever's rows they are. `last` is
    /// the step that its target ends it at.
    pub fn again(&self, mixings: &[Mixing], last: Option<usize>) -> Result<Self> {
        let remedy = format!("the file is damaged: give at most {MOST}");
        require((1..=MOST).contains(&self.peers), "peers", self.peers, remedy)?;
        let way = self.settings.method.way();
        let release = way.release(&self.settings, self.sensitivity);
        if way.tokens() == 0 && self.settings.budget.is_none() {
            // Nothing ends it early: everybody contributes in every step.
            let count = self.settings.iterations;
            check_contributions(self.peers, count)?;
            let releases = (0..self.peers).map(|peer| Released { peer, release, count }).collect();
            let steps = way.steps(self.peers, count);
            return Ok(Self { steps, releases, paths: Vec::new(), ..self.clone() });
        }
        // A row of zeros for each peer.
        let table = Table::new(vec![0.0; self.peers], 1, vec![1.0; self.peers])?;
        let model = Model { loss: sottovoce_learning::Loss::Logistic, width: 1, ridge: 0.0 };
        let (shards, clip) = (Shards::even(&table, self.peers)?, Clip::Example(0.5 * self.sensitivity));
        let task = Task::new("zeros", shards, table, model, clip, Batch::All)?;
        let settings = Settings { weighted: false, ..self.settings.clone() };
        let mut run = Run::new(&task, mixings, settings, last, 1)?;
        run.go(usize::MAX, |_| ())?;
        let Self { steps, releases, paths, .. } = run.transcript();
        let releases = releases.into_iter().map(|released| Released { release, ..released }).collect();
        Ok(Self { steps, releases, paths, ..self.clone() })
    }

    /// Whether its state was written down before its end, and that is all there is of it.
    pub fn is_paused(&self, whole: &Self) -> bool {
        self.steps < whole.steps && self.shown.last() == Some(&self.steps)
    }

    fn guarantee(
        &self,
        adversary: Adversary,
        loss: sottovoce_privacy::Loss,
        standing: Standing,
    ) -> Guarantee {
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
        let sigma = format!("{:e}", self.settings.sigma);
        let useless = |_| Error::parameter("sigma", sigma, "it hides nothing to speak of; give more noise");
        let spent = Gdp::of_square(self.spent()?.unwrap_or(f64::INFINITY)).map_err(useless)?;
        Ok(self.guarantee(
            self.question(&[]).sees_all(),
            sottovoce_privacy::Loss::Gdp(spent),
            Standing::Proven,
        ))
    }

    /// What was promised, to whom, and by what right: towards someone who sees everything, and where that is less (at `delta`), towards the
    /// peer that learns most. Nothing where there was no noise.
    pub fn guarantees(&self, mixings: &[Mixing], delta: f64) -> Result<Vec<Guarantee>> {
        let sigma = self.settings.sigma;
        if sigma == 0.0 {
            return Ok(Vec::new());
        }
        let mut guarantees = vec![self.everything()?];
        if self.hides_from_peers() {
            let revealed = self.question(mixings).revealed_by(&self.past())?;
            let loss = revealed.currency.loss(revealed.pairs.worst, sigma)?;
            let peer = self.guarantee(Adversary::Peer(revealed.pairs.observer), loss, revealed.standing);
            if peer.epsilon(delta)?.upper < guarantees[0].epsilon(delta)?.upper {
                guarantees.push(peer);
            }
        }
        Ok(guarantees)
    }

    /// What these observers learn, who pool what they hear; without any, the peer that learns most, or where peers learn as much as someone who sees
    /// everything, that one.
    pub(super) fn learnt(&self, mixings: &[Mixing], observers: &[usize]) -> Result<Account<DescentLoss>> {
        let question = self.question(mixings);
        let adversary = match observers {
            [one] => Adversary::Peer(*one),
            [] if self.hides_from_peers() => {
                Adversary::Peer(question.revealed_by(&self.past())?.pairs.observer)
            }
            [] => question.sees_all(),
            several => Adversary::Coalition(several.to_vec()),
        };
        let overheard = question.overheard(&self.past())?;
        // Whoever holds the results of a server sees every release, too.
        let hears_all = adversary == Adversary::ResultHolder;
        let asked = if hears_all { &Adversary::WireTapper } else { &adversary };
        let mut found = door::account(&overheard, asked)?;
        found.adversary = adversary;
        Ok(found)
    }

    /// Whether single peers learn less than someone who sees everything. Where noise cancels, every peer is one of those who may help.
    fn hides_from_peers(&self) -> bool {
        self.settings.method.way().hides_from_peers() && self.settings.secrets.is_none()
    }

    /// What the peer that loses most to them is promised; and which it is.
    pub(super) fn towards(&self, learnt: &Account<DescentLoss>, delta: f64) -> Result<(Peer, Guarantee)> {
        let (peer, found) = learnt.worst(1.0, self.settings.sigma)?;
        let found = self.guarantee(found.adversary, found.loss, found.standing);
        // Nobody hears more than someone who sees every message; but many may know more secrets.
        match self.settings.secrets {
            Some(_) => Ok((peer, found)),
            None => Ok((peer, found.within(&self.everything()?, delta)?)),
        }
    }
}
