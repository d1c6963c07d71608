//! A rumour, planned or past: how well its source is hidden.

use sottovoce_privacy::{Adversary, Guarantee, Loss};
use sottovoce_topology::Graph;

use super::{Learnt, Overheard};
use crate::error::check_observers;
use crate::rumor::{Course, NOT_COVERED, ON_GRAPHS, OnGraph, Proven, Question, Rumor};
use crate::{Error, Result};

/// All that is public of a rumour among peers who can all reach each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Told {
    /// Number of peers.
    pub peers: usize,
    /// Probability of staying active after a telling.
    pub muting: f64,
    /// How it is run, and what its observers know.
    pub course: Course,
}

impl Overheard for Told {
    type Learnt = Proven;

    fn peers(&self) -> usize {
        self.peers
    }

    /// Where everyone can reach everyone it does not matter which peers listen, only how many.
    fn leakage(&self, observers: &[usize]) -> Result<Proven> {
        let curious = check_observers(observers, self.peers)?.len();
        Rumor::new(self.peers, curious, self.muting)?.proven(0.0, self.course)
    }

    fn everything(&self, _: &[usize]) -> Result<Proven> {
        everything()
    }
}

fn everything<T>() -> Result<T> {
    let remedy = "whoever sees every telling sees who tells first; ask for the curious peers";
    Err(Error::parameter("adversary", "a wire-tapper", remedy))
}

/// All that is public of a rumour among neighbours.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ToldOn<'g> {
    /// Who can tell whom.
    pub graph: &'g Graph,
    /// Probability of staying active after a telling.
    pub muting: f64,
    /// Probability that a telling is lost.
    pub drop: f64,
    /// Whether all active peers tell at once.
    pub rounds: bool,
}

/// What is proven about a rumour among neighbours.
#[derive(Debug, Clone, PartialEq)]
pub struct ProvenOn(pub Proven);

impl Overheard for ToldOn<'_> {
    type Learnt = ProvenOn;

    fn peers(&self) -> usize {
        self.graph.nodes()
    }

    fn leakage(&self, observers: &[usize]) -> Result<ProvenOn> {
        let observers = check_observers(observers, self.peers())?;
        let rumor = OnGraph::new(self.graph, &observers, self.muting, self.drop)?;
        let hidden = rumor.hidden(&Question { rounds: self.rounds, ..Question::default() })?;
        Ok(ProvenOn(hidden.proven(hidden.at_most)))
    }

    fn everything(&self, _: &[usize]) -> Result<ProvenOn> {
        everything()
    }
}

impl Learnt for ProvenOn {
    fn worst(&self) -> (usize, f64) {
        self.0.worst()
    }

    fn guarantee(&self, adversary: &Adversary, u: usize, sensitivity: f64, sigma: f64) -> Result<Guarantee> {
        let not_covered = ON_GRAPHS.map(str::to_owned).to_vec();
        Ok(Guarantee { not_covered, ..self.0.guarantee(adversary, u, sensitivity, sigma)? })
    }
}

/// At `epsilon = 0`, of every peer alike; no noise enters.
impl Learnt for Proven {
    fn worst(&self) -> (usize, f64) {
        (0, self.at_zero)
    }

    fn guarantee(&self, adversary: &Adversary, _: usize, _: f64, _: f64) -> Result<Guarantee> {
        Ok(Guarantee {
            adversary: adversary.clone(),
            unit: self.unit,
            adjacency: self.adjacency,
            loss: Loss::approximate(0.0, self.at_zero)?,
            standing: self.standing.clone(),
            not_covered: NOT_COVERED.map(str::to_owned).to_vec(),
        })
    }
}
