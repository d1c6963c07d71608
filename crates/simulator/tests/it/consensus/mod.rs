//! Consensus learning: three algorithms against plain loops, by messages and without, on good and bad networks.

use crate::common;

mod convergence;
mod dense;
mod same_bits;

use sottovoce_privacy::Lots;
use sottovoce_protocol::Peer;
use sottovoce_protocol::consensus::{At, Hidden, Method, Optimiser, Plan, Rates, Rule};
use sottovoce_simulator::consensus::{BulkConsensus, ConsensusSetup, Trainer};
use sottovoce_topology::Graph;
use sottovoce_topology::mixing::{Mixing, Weights};

pub(crate) const OWN: Method = Method::Dsgd { at: At::Own };
pub(crate) const MIXED: Method = Method::Dsgd { at: At::Mixed };
pub(crate) const DINNO: Method = Method::Dinno { primal: 2, rho: 0.2, growth: 1.01 };
pub(crate) const METHODS: [Method; 4] = [OWN, MIXED, Method::Dsgt, DINNO];

/// The loss of a row is `steepness/2 |theta - bottom|²`.
pub(crate) struct Bowls {
    pub(crate) steepness: Vec<f32>,
    /// Of every agent, of every row.
    pub(crate) bottoms: Vec<Vec<Vec<f32>>>,
}

impl Bowls {
    pub(crate) fn new(agents: usize, rows: usize, width: usize) -> Self {
        let number = |i: usize| ((i * 7919 + 13) % 1000) as f32 / 250.0 - 2.0;
        let row = |i: usize| (0..width).map(|k| number(i * width + k)).collect();
        let agent = |agent: usize| (0..rows).map(|i| row(agent * rows + i)).collect();
        Self {
            steepness: (0..agents).map(|agent| 0.5 + 0.25 * (agent % 3) as f32).collect(),
            bottoms: (0..agents).map(agent).collect(),
        }
    }

    /// The mean of an agent's bottoms.
    pub(crate) fn bottom(&self, agent: usize) -> Vec<f64> {
        let rows = &self.bottoms[agent];
        let mean = |k: usize| rows.iter().map(|row| f64::from(row[k])).sum::<f64>() / rows.len() as f64;
        (0..rows[0].len()).map(mean).collect()
    }
}

impl Trainer for Bowls {
    fn add_clipped(&self, agent: Peer, picked: &[u32], clip: f64, model: &[f32], sum: &mut [f32]) {
        for &row in picked {
            let bottom = &self.bottoms[agent][row as usize];
            let slopes: Vec<f32> =
                model.iter().zip(bottom).map(|(x, b)| self.steepness[agent] * (x - b)).collect();
            let norm = slopes.iter().map(|g| f64::from(g * g)).sum::<f64>().sqrt();
            let share = if norm > clip { (clip / norm) as f32 } else { 1.0 };
            sum.iter_mut().zip(slopes).for_each(|(sum, g)| *sum += share * g);
        }
    }
}

/// A ring with a chord from every third node: degrees differ.
pub(crate) fn weights(agents: usize) -> Mixing {
    Mixing::new(common::mixing(agents).graph(), Weights::MetropolisPlusOne)
}

pub(crate) fn plan(method: Method, iterations: usize) -> Plan {
    let rates = Rates { start: 0.2, finish: 0.02 };
    Plan { method, iterations, rates, optimiser: Optimiser::new(Rule::Sgd) }
}

pub(crate) fn hidden(rows: usize, rate: f64, clip: f64, multiplier: f64) -> Option<Hidden> {
    Some(Hidden::new(Lots::new(rows, rate).unwrap(), clip, multiplier))
}

/// Models of all agents at the end, one after the other.
pub(crate) fn finals(setup: ConsensusSetup<'_>, trainer: &impl Trainer) -> Vec<f64> {
    let mut bulk = BulkConsensus::new(setup, trainer).unwrap();
    bulk.advance(usize::MAX).unwrap();
    bulk.models().flat_map(|model| model.iter().map(|x| f64::from(*x)).collect::<Vec<_>>()).collect()
}

pub(crate) fn farthest(one: &[f64], other: &[f64]) -> f64 {
    assert_eq!(one.len(), other.len());
    one.iter().zip(other).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max)
}

pub(crate) fn star(leaves: usize) -> Graph {
    Graph::from_edges(leaves + 1, (1..=leaves).map(|v| (0, v))).unwrap()
}
