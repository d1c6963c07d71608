//! Who can speak to whom while a model is learned: one graph that stays, or another one after every gradient step.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sottovoce_learning::Task;
use sottovoce_topology::Graph;
use sottovoce_topology::mixing::Mixing;
use sottovoce_topology::schedule::{Schedule, Step};

#[cfg(feature = "flags")]
use super::flags::real;
use super::graph::{GraphFile, Place, near, one_of, read_schedule};
use crate::learning::graphs::fresh;
use crate::{Error, Result};

/// The graphs of learning.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[cfg_attr(feature = "flags", derive(clap::Args))]
pub struct LearningGraph {
    /// One that stays.
    #[serde(flatten)]
    #[cfg_attr(feature = "flags", command(flatten))]
    pub base: GraphFile,
    /// Gossip on a fresh random graph after every gradient step: two peers are neighbours with probability C ln(n)/n. Graphs are drawn from the public
    /// seed, each until it is connected.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "C", value_parser = real, allow_negative_numbers = true, conflicts_with_all = ["graph", "schedule"]))]
    pub fresh_graphs: Option<f64>,
    /// Gossip on the graphs of this file, in turn: another one after every gradient step. (`graph schedule --kind fresh` writes one.)
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "FILE", conflicts_with_all = ["graph", "lazy"]))]
    pub schedule: Option<PathBuf>,
}

/// What was read or drawn.
pub struct Graphs {
    /// The weights after each gradient step, in turn; of a graph that stays there is one.
    pub mixings: Vec<Mixing>,
    /// SHA-256 of the file.
    pub sha256: Option<String>,
    /// What was noticed in it, and in the data.
    pub notes: Vec<String>,
}

/// A graph, or several, before anyone asks how many peers there are.
enum Given {
    Stays(Place),
    Varies(Vec<Mixing>, String),
}

impl Given {
    fn peers(&self) -> usize {
        match self {
            Self::Stays(place) => place.graph.nodes(),
            Self::Varies(mixings, _) => mixings.first().map_or(0, Mixing::nodes),
        }
    }

    fn name(&self, peer: usize) -> String {
        match self {
            Self::Stays(place) => place.graph.label(peer),
            Self::Varies(..) => peer.to_string(),
        }
    }
}

impl LearningGraph {
    /// Whether it says who can speak to whom, or how graphs are drawn.
    pub(super) fn is_given(&self) -> bool {
        self.base.is_given() || self.fresh_graphs.is_some() || self.schedule.is_some()
    }

    /// What was given of it, by name.
    pub(super) fn given(&self) -> Option<&'static str> {
        let all = [
            ("fresh-graphs", self.fresh_graphs.is_some()),
            ("schedule", self.schedule.is_some()),
            ("graph", self.base.is_given()),
            ("weights", self.base.weights.is_some()),
            ("lazy", self.base.lazy.is_some()),
        ];
        all.into_iter().find(|(_, given)| *given).map(|(name, _)| name)
    }

    /// Refuses graphs that are given in two ways.
    fn check(&self) -> Result<()> {
        one_of(&[
            ("file", self.base.file.is_some()),
            ("family", self.base.family.is_some()),
            ("fresh-graphs", self.fresh_graphs.is_some()),
            ("schedule", self.schedule.is_some()),
        ])?;
        match (&self.schedule, self.base.lazy) {
            (Some(_), Some(lazy)) => {
                let remedy = "a schedule says what is kept in each step; leave it out";
                Err(Error::parameter("lazy", lazy, remedy))
            }
            _ => Ok(()),
        }
    }

    /// Reads or draws what says by itself how many peers there are.
    fn read(&self, folder: &Path, seed: u64) -> Result<Option<Given>> {
        self.check()?;
        let Some(file) = &self.schedule else {
            return Ok(self.base.read(folder, seed)?.map(Given::Stays));
        };
        let path = folder.join(file);
        let (schedule, sha256) = read_schedule(&path, self.base.weights())?;
        Ok(Some(Given::Varies(each(&schedule, &path)?, sha256)))
    }

    /// The weights on a graph, which must be connected.
    fn on(&self, graph: &Graph) -> Result<Mixing> {
        self.base.mixing(graph)
    }

    /// The same for a method, or for tokens that walk.
    fn on_for(&self, graph: &Graph, walks: bool) -> Result<Mixing> {
        if walks { self.base.walking(graph) } else { self.on(graph) }
    }

    /// Of so many peers and gradient steps: what was given, or else fresh graphs, or else a random geometric one.
    fn of(
        &self,
        given: Option<Given>,
        peers: usize,
        iterations: usize,
        seed: u64,
        walks: bool,
    ) -> Result<Graphs> {
        let place = match (given, self.fresh_graphs) {
            (Some(given), _) if given.peers() != peers => {
                let (n, what) = (given.peers(), if self.schedule.is_some() { "schedule" } else { "graph" });
                return Err(Error::refused(format!(
                    "`{what}` has {n} peers, and the data is dealt out to {peers}: leave out --peers, or give --peers {n}"
                )));
            }
            (Some(Given::Varies(mixings, sha256)), _) => {
                return Ok(Graphs { mixings, sha256: Some(sha256), notes: Vec::new() });
            }
            (Some(Given::Stays(place)), _) => place,
            (None, Some(factor)) => {
                let mixings = self.drawn(factor, peers, iterations, seed)?;
                return Ok(Graphs { mixings, sha256: None, notes: Vec::new() });
            }
            (None, None) => Place::drawn(&near(peers), seed)?,
        };
        let mixings = vec![self.on_for(&place.graph, walks)?];
        Ok(Graphs { mixings, sha256: place.sha256, notes: place.notes })
    }

    /// Fresh graphs, with their weights.
    fn drawn(&self, factor: f64, peers: usize, iterations: usize, seed: u64) -> Result<Vec<Mixing>> {
        fresh(peers, factor, iterations, seed)?.iter().map(|graph| self.on(graph)).collect()
    }

    /// The graphs that follow from the public seed alone, where no file is needed to know them: those of a run must be these.
    pub fn known(
        &self,
        peers: usize,
        iterations: usize,
        seed: u64,
        walks: bool,
    ) -> Result<Option<Vec<Mixing>>> {
        if self.has_file() {
            return Ok(None);
        }
        let given = self.read(Path::new(""), seed)?;
        Ok(Some(self.of(given, peers, iterations, seed, walks)?.mixings))
    }

    /// Whether files say who can reach whom.
    pub fn has_file(&self) -> bool {
        self.base.file.is_some() || self.schedule.is_some()
    }

    /// The task, read for as many peers as the graph has, with its peers in the order of the graph's names if they have names; and the weights on the graphs.
    pub fn with_task(
        &self,
        folder: &Path,
        read: impl FnOnce(Option<usize>) -> Result<(Task, Vec<String>)>,
        iterations: usize,
        seed: u64,
        walks: bool,
    ) -> Result<(Task, Graphs)> {
        let given = self.read(folder, seed)?;
        let (task, mut notes) = read(given.as_ref().map(Given::peers))?;
        let task = match &given {
            Some(given) => {
                let names: Vec<String> = (0..given.peers()).map(|peer| given.name(peer)).collect();
                task.in_order_of(&names)?
            }
            None => task,
        };
        let mut graphs = self.of(given, task.peers(), iterations, seed, walks)?;
        notes.append(&mut graphs.notes);
        Ok((task, Graphs { notes, ..graphs }))
    }
}

/// The graph of every step of a schedule.
fn each(schedule: &Schedule, path: &Path) -> Result<Vec<Mixing>> {
    let step = |t: usize| match schedule.step(t) {
        Some(Step::Mixing(mixing)) => Ok(mixing.clone()),
        _ => {
            let remedy = "its steps are pairs that meet; gossip after a gradient step needs a graph for each: give edges_per_step";
            Err(Error::parameter("schedule", path.display(), remedy))
        }
    };
    (0..schedule.period()).map(step).collect()
}
