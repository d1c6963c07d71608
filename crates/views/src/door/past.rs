//! A run that is over: its guarantee is that of what happened.
//!
//! | the run | what is accounted for |
//! | --- | --- |
//! | nobody went on without somebody (complete, or in strict rounds) | the plan: what was said is a part of it |
//! | somebody did, without relay noise and momentum | every message that arrived, with the rows that were really used |
//! | somebody did, and it cannot be traced, or would be too large | local privacy |
//!
//! A missed message changes what is said later. In a star of twelve, one message in twenty lost takes a leaf's loss towards another from 0.1 to 1
//! (`docs/theorems/linear-views.md`).

use serde::Serialize;
use sottovoce_privacy::Adversary;
use sottovoce_protocol::averaging::{AveragingTranscript, Note};
use sottovoce_protocol::public::Scheme;
use sottovoce_protocol::ring::Ring;

use super::{Overheard, Setting};
use crate::exact::{self, ExecutedRound, Leakage, Results};
use crate::ring::Masked;
use crate::{Result, check_observers};

/// Coefficients that a trace may hold: 400 MB of them.
const LARGEST: usize = 50_000_000;

/// What a run's losses were computed from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// The plan: nobody went on without somebody.
    Planned,
    /// What was really sent.
    Traced,
    /// A peer's own noise alone.
    Local,
}

/// A run of a [`Setting`], as it happened.
#[derive(Debug, Clone, PartialEq)]
pub struct Past {
    setting: Setting,
    /// Rows and arrivals of every round, where somebody went on without somebody.
    rounds: Option<Vec<ExecutedRound>>,
    finished: Vec<bool>,
}

impl Past {
    /// From what a driver wrote down.
    pub fn new(setting: Setting, transcript: &AveragingTranscript) -> Result<Self> {
        let (mut went_on, mut finished) = (false, vec![false; setting.peers()]);
        for (peer, note) in &transcript.notes {
            match note {
                Note::Missed { .. } => went_on = true,
                Note::Finished => finished.get_mut(*peer).into_iter().for_each(|done| *done = true),
                _ => {}
            }
        }
        let rounds = went_on.then(|| exact::replay(&setting.scheme, transcript)).transpose()?;
        Ok(Self { setting, rounds, finished })
    }

    /// What the losses towards these observers are computed from.
    pub fn source(&self, observers: &[usize]) -> Source {
        match &self.rounds {
            None => Source::Planned,
            Some(rounds) if self.is_traceable(rounds, observers) => Source::Traced,
            Some(_) => Source::Local,
        }
    }

    fn is_traceable(&self, rounds: &[ExecutedRound], observers: &[usize]) -> bool {
        let nodes = self.peers();
        let heard =
            |round: &ExecutedRound| round.heard.iter().filter(|(_, to)| observers.contains(to)).count();
        let watched: usize = rounds.iter().map(heard).sum();
        let accelerated =
            matches!(self.setting.scheme, Scheme::Gossip { accelerated: true, .. } | Scheme::Coupled { .. });
        self.setting.relay_noise == 0.0 && !accelerated && (watched + nodes).saturating_mul(nodes) <= LARGEST
    }
}

impl Overheard for Past {
    type Learnt = Leakage;

    /// As planned: who hears less learns no more.
    fn everything(&self, coalition: &[usize]) -> Result<Leakage> {
        self.setting.everything(coalition)
    }

    fn everything_with_any(&self, colluders: usize) -> Result<Leakage> {
        self.setting.everything_with_any(colluders)
    }

    fn cancels(&self) -> bool {
        self.setting.cancels()
    }

    fn masked(&self, adversary: &Adversary) -> Result<Option<(Ring, Masked)>> {
        self.setting.masked(adversary)
    }

    fn peers(&self) -> usize {
        self.setting.peers()
    }

    fn results(&self) -> Results {
        self.setting.results
    }

    fn leakage(&self, observers: &[usize]) -> Result<Leakage> {
        let nodes = self.peers();
        let found = match &self.rounds {
            // What was said first is all that there is to learn from.
            _ if self.setting.masks.is_some() => return self.setting.leakage(observers),
            None => return self.setting.leakage(observers),
            Some(rounds) if self.is_traceable(rounds, observers) => {
                let shown = self.results().of(nodes).into_iter().filter(|peer| self.finished[*peer]);
                exact::executed(nodes, rounds, observers, &shown.collect::<Vec<_>>())
            }
            Some(_) => exact::local(nodes, &check_observers(observers, nodes)?),
        }?;
        match self.setting.cancels() {
            // Pairs' noise reveals nothing, and nobody who hears a part learns more than who hears everything.
            true => Ok(found.at_most(&self.setting.everything(observers)?)),
            false => Ok(found),
        }
    }

    fn counts_lost_messages(&self) -> bool {
        true
    }
}
