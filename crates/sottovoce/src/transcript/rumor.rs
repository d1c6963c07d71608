//! The transcript of a rumour as a file: who told whom in which round.
//!
//! | who | sees of it |
//! | --- | --- |
//! | curious peers | who told one of them, in order |
//! | a wire-tapper | all of it, and so who told first: the source |
//!
//! Whoever reads the whole file knows who began. It is for those who judge a simulated run.

use serde::{Deserialize, Serialize};
use sottovoce_protocol::public::Curious;

use super::{SCHEMA_VERSION, SHOWN, astray, differing, unlike};
use crate::experiment::Experiment;
use crate::require;
use crate::rumor::{Settings, spread};
use crate::{Error, Result};

/// Tellings of which all are kept: beyond, only the first and those that curious peers heard.
const MOST_TELLINGS: usize = 1_000_000;

/// A run, as a file has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rumor {
    pub(super) schema_version: u32,
    /// The program's version.
    pub version: String,
    /// The experiment, as its own file would have it.
    pub experiment: String,
    /// The seed of the run.
    pub seed: u64,
    /// Number of peers.
    pub peers: usize,
    /// So many of them, the last, are curious.
    pub curious: usize,
    /// Probability of staying active after a telling.
    pub muting: f64,
    /// Who told whom.
    pub tellings: Tellings,
}

/// Who told whom, round by round, each in the order in which the curious heard them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tellings {
    /// Whether all are here, or only the first and those that the curious heard.
    pub complete: bool,
    /// Pairs of teller and told.
    pub rounds: Vec<Vec<(u32, u32)>>,
    #[serde(skip)]
    kept: usize,
}

impl Default for Tellings {
    fn default() -> Self {
        Self { complete: true, rounds: Vec::new(), kept: 0 }
    }
}

impl Tellings {
    /// One more round.
    pub(crate) fn push(&mut self, round: Vec<(u32, u32)>, curious: &Curious) {
        self.kept += round.len();
        self.rounds.push(round);
        if self.complete && self.kept <= MOST_TELLINGS {
            return;
        }
        let from = if self.complete { 1 } else { self.rounds.len() - 1 };
        self.complete = false;
        let later = self.rounds.iter_mut().skip(from.max(1)); // whole numbers
        later.for_each(|round| round.retain(|(_, to)| curious.has(*to as usize)));
    }

    /// Tellings that reached a curious peer from another, in order: by whom.
    pub fn heard<'a>(&'a self, curious: &'a Curious) -> impl Iterator<Item = usize> + 'a {
        let all = self.rounds.iter().flatten().map(|&(from, to)| (from as usize, to as usize));
        all.filter(|(from, to)| curious.has(*to) && !curious.has(*from)).map(|(from, _)| from)
    }

    /// Who told first: what a wire-tapper sees.
    pub fn first(&self) -> Option<usize> {
        self.rounds.first().and_then(|round| round.first()).map(|(from, _)| *from as usize)
    }
}

impl Rumor {
    /// A run of an experiment.
    pub fn new(experiment: &Experiment, settings: &Settings, tellings: Tellings) -> Result<Self> {
        let rumor = settings.rumor()?;
        Ok(Self {
            schema_version: SCHEMA_VERSION,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            experiment: experiment.clone().with_seed(settings.seed).to_toml()?,
            seed: settings.seed,
            peers: rumor.peers(),
            curious: rumor.curious(),
            muting: rumor.muting(),
            tellings,
        })
    }

    /// Who listened: those of the run, or others.
    pub fn listeners(&self, others: &[usize]) -> Result<Curious> {
        Ok(match others {
            [] => Curious::last(self.curious, self.peers)?,
            others => {
                let told = Curious::new(others, self.peers)?;
                // Whoever tells first began.
                let first = self.tellings.rounds.iter().flatten().next();
                if let Some(source) = first.map(|&(from, _)| from as usize).filter(|&source| told.has(source))
                {
                    let remedy =
                        "the rumour began there; a source hides from others, not from itself: leave it out";
                    return Err(Error::parameter("observers", source, remedy));
                }
                let remedy = "the transcript holds what the run's own curious peers heard; leave it out";
                require(self.tellings.complete, "observers", format_args!("{} peers", told.count()), remedy)?;
                told
            }
        })
    }

    /// Where peers did not do what was agreed: none, or the account of the run is void.
    pub fn check(&self) -> Result<Vec<String>> {
        let Experiment::Rumor(experiment) = Experiment::parse(&self.experiment)? else {
            return Ok(vec!["the experiment is no rumour".to_owned()]);
        };
        let settings = experiment.settings(self.seed)?;
        let agreed = settings.rumor()?;
        let mut problems = differing(&[
            ("number of peers", agreed.peers() == self.peers),
            ("number of curious peers", agreed.curious() == self.curious),
            ("muting parameter", agreed.muting() == self.muting),
            ("seed", experiment.seed == Some(self.seed)),
        ]);
        if problems.is_empty() {
            let again = spread(&settings)?;
            problems.extend(differing(&[("completeness", self.tellings.complete == again.complete)]));
            problems.extend(unlike("round", &self.tellings.rounds, &again.rounds));
        }
        problems.truncate(SHOWN);
        Ok(problems)
    }

    /// Refuses a run in which peers did not do what was agreed.
    pub fn require_kept(&self) -> Result<()> {
        self.check()?.first().map_or(Ok(()), |problem| Err(astray(problem)))
    }
}
