//! A rumour spreads, and nobody can tell who began.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sottovoce_protocol::rumor::Clock;
use sottovoce_topology::Graph;
use sottovoce_views::rumor as views;

#[cfg(feature = "flags")]
use super::flags::{count, real};
use super::graph::{GraphFile, Place};
use super::memory::Memory;
use crate::rumor::{Privacy, Settings};
use crate::{Error, Result, require};

/// Number of peers where nothing is said.
const PEERS: usize = 1024;

/// How many peers, how many of them curious, and how private or fast.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[cfg_attr(feature = "flags", derive(clap::Args))]
pub struct Rumor {
    /// Seed of everything random, where the command line gives none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(skip))]
    pub seed: Option<u64>,
    /// Number of peers; everyone can reach everyone.
    #[cfg_attr(feature = "flags", arg(long, short = 'n', default_value = "1024", value_name = "N", value_parser = count, allow_negative_numbers = true))]
    pub peers: usize,
    /// How many of them are curious and pool what they hear (default: one in sixteen).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "F", value_parser = count, allow_negative_numbers = true))]
    pub curious: Option<usize>,
    /// Privacy to aim at: views of two sources differ by at most this (default: twice the best there is, F/N).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "DELTA", value_parser = real, conflicts_with = "muting", allow_negative_numbers = true))]
    pub delta: Option<f64>,
    /// Probability of staying active after a telling, instead: 0 is the most private and slow, 1 is push, fast and hardly private.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "S", value_parser = real, allow_negative_numbers = true))]
    pub muting: Option<f64>,
    /// Graph file: only neighbours tell each other.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "FILE", conflicts_with_all = ["peers", "delta"]))]
    pub graph: Option<PathBuf>,
    /// Format of the graph file, where its ending does not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "FORMAT", requires = "graph", value_parser = super::graph::formats()))]
    pub format: Option<String>,
    /// Which peers of the graph are curious, separated by commas (default: drawn at random).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(
        feature = "flags",
        arg(
            long,
            value_name = "V,...",
            value_delimiter = ',',
            requires = "graph",
            conflicts_with = "curious"
        )
    )]
    pub curious_peers: Vec<String>,
    /// When active peers tell: in rounds, or by Poisson clocks of their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(skip))]
    pub clocks: Option<Clocks>,
    /// Probability that a message is dropped.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "P", value_parser = real, allow_negative_numbers = true))]
    pub drop: Option<f64>,
    /// Share of the time for which a peer is away, ten rounds at a time on average: it tells nobody, and what it is told is lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(skip))]
    pub churn: Option<f64>,
    /// Tellings are acknowledged, and repeated until they are.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "flags", arg(skip))]
    pub acknowledge: bool,
    /// Runs with so many seeds, to see how often the rumour survives (default: 100, where anything can be lost).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "K", value_parser = count, allow_negative_numbers = true))]
    pub seeds: Option<usize>,
    /// The graph itself, where it is in memory.
    #[serde(skip)]
    #[cfg_attr(feature = "flags", arg(skip))]
    pub memory: Memory<Graph>,
}

/// When active peers tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "flags", derive(clap::ValueEnum))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Clocks {
    /// All at once, round by round.
    Rounds,
    /// After exponential times of mean one round, each for itself.
    Poisson,
}

impl From<Clocks> for Clock {
    fn from(clocks: Clocks) -> Self {
        match clocks {
            Clocks::Rounds => Self::Rounds,
            Clocks::Poisson => Self::Poisson,
        }
    }
}

impl Default for Rumor {
    fn default() -> Self {
        Self {
            seed: None,
            peers: PEERS,
            curious: None,
            delta: None,
            muting: None,
            graph: None,
            format: None,
            curious_peers: Vec::new(),
            clocks: None,
            drop: None,
            churn: None,
            acknowledge: false,
            seeds: None,
            memory: Memory::default(),
        }
    }
}

impl Rumor {
    /// What is run, with this seed, where everyone can reach everyone and nothing is lost.
    pub fn settings(&self, seed: u64) -> Result<Settings> {
        self.refuse(&[], "it is for `run rumor` (a graph also for `account rumor`); leave it out here")?;
        self.crowd(seed)
    }

    /// The same for a network in which something may be lost.
    pub(crate) fn crowd(&self, seed: u64) -> Result<Settings> {
        let privacy = match (self.muting, self.delta) {
            (Some(muting), Some(delta)) => {
                let remedy = format!("muting is given too ({muting}); give one of them");
                return Err(Error::parameter("delta", delta, remedy));
            }
            (Some(muting), None) => Privacy::Muting(muting),
            (None, Some(delta)) => Privacy::Delta(delta),
            (None, None) => Privacy::TwiceTheBest,
        };
        Ok(Settings { nodes: self.peers, curious: Some(self.curious()), privacy, seed })
    }

    /// Refuses what was said of the network, but for these fields.
    pub fn refuse(&self, but: &[&str], remedy: &str) -> Result<()> {
        let given = self.network().into_iter().find(|(field, _)| !but.contains(field));
        match given {
            Some((field, value)) => Err(Error::parameter(field, value, remedy)),
            None => Ok(()),
        }
    }

    /// Whether anything is said of the network: then it is run by messages, and may die.
    pub fn is_networked(&self) -> bool {
        !self.network().is_empty()
    }

    /// What is said of the network: fields and values.
    fn network(&self) -> Vec<(&'static str, String)> {
        let text = |path: &PathBuf| path.display().to_string();
        let clocks = self.clocks.map(|clocks| if clocks == Clocks::Rounds { "rounds" } else { "poisson" });
        [
            ("graph", self.graph.as_ref().map(text)),
            ("format", self.format.clone()),
            ("curious-peers", (!self.curious_peers.is_empty()).then(|| self.curious_peers.join(","))),
            ("clocks", clocks.map(str::to_owned)),
            ("drop", self.drop.map(|drop| drop.to_string())),
            ("churn", self.churn.map(|churn| churn.to_string())),
            ("acknowledge", self.acknowledge.then(|| "given".to_owned())),
            ("seeds", self.seeds.map(|seeds| seeds.to_string())),
        ]
        .into_iter()
        .filter_map(|(field, value)| Some((field, value?)))
        .collect()
    }

    /// The graph, if there is one; names of files begin in `folder`.
    pub fn place(&self, folder: &Path) -> Result<Option<Place>> {
        let (file, format, memory) = (self.graph.clone(), self.format.clone(), self.memory.clone());
        let file = GraphFile { file, format, memory, ..GraphFile::default() };
        let place = file.read(folder, 0)?;
        if let Some(nodes) = place.as_ref().map(|place| place.graph.nodes()) {
            let remedy = format!("the graph has {nodes}; leave it out");
            require(self.peers == PEERS || self.peers == nodes, "peers", self.peers, remedy)?;
        } else {
            let remedy = "they are named by a graph: give one, or their number as `curious`";
            require(self.curious_peers.is_empty(), "curious-peers", self.curious_peers.join(","), remedy)?;
        }
        Ok(place)
    }

    /// How many are curious.
    pub fn curious(&self) -> usize {
        self.curious.unwrap_or((self.peers / 16).max(1)) // whole numbers
    }

    /// The rumour to account for. Where its muting is given it may be smaller than one that is run.
    pub fn rumor(&self) -> Result<views::Rumor> {
        let settings = self.settings(0)?;
        match settings.privacy {
            Privacy::Muting(muting) => Ok(views::Rumor::new(self.peers, self.curious(), muting)?),
            _ => settings.rumor(),
        }
    }
}
