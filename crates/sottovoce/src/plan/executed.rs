//! The experiment that executes a plan's choice.

use sottovoce_topology::family::Family;

use super::{Plan, Protocol, RumorPlan};
use crate::experiment::{
    AdversarySpec, Averaging, Experiment, GraphSpec, Method, MixingSpec, NoiseSpec, Range, Rumor, TargetSpec,
    ValuesSpec,
};
use crate::{Error, Result};

impl Plan {
    /// The experiment of the chosen row. `graph` is the one that was given; where graphs were chosen from `families`, it is the chosen one that counts.
    pub fn experiment(&self, graph: GraphSpec, families: &[Family], seed: u64) -> Result<Experiment> {
        let row = &self.rows[self.chosen];
        let method = match row.protocol {
            Protocol::Gossip | Protocol::RelayGossip => Method::Gossip,
            Protocol::AcceleratedGossip => Method::Accelerated,
            Protocol::RandomisedGossip => Method::Randomised,
            Protocol::Butterfly => Method::Butterfly,
            Protocol::LocalDp | Protocol::CentralDp => {
                return Err(Error::parameter(
                    "protocol",
                    row.protocol.name(),
                    "a baseline is not run; it is there to compare",
                ));
            }
        };
        let family = families.iter().find(|family| Some(family.to_string()) == row.graph).cloned();
        let graph = match (family, method) {
            (Some(family), _) => GraphSpec { family: Some(family), ..graph },
            // Partners of its own: any graph that holds the peers.
            (None, Method::Butterfly) if graph.file.is_none() => {
                GraphSpec { family: Some(Family::Complete { n: self.peers }), ..graph }
            }
            (None, _) => graph,
        };
        let steps = (method != Method::Butterfly).then_some(row.steps);
        Ok(Experiment::Averaging(Box::new(Averaging {
            title: Some(format!("Private averaging among {} peers, as planned", self.peers)),
            seed: Some(seed),
            graph,
            protocol: MixingSpec { method, steps },
            noise: NoiseSpec { sigma: Some(row.sigma), relay_noise: row.tau / row.sigma, sensitivity: None },
            values: ValuesSpec { file: None, range: Range { low: 0.0, high: self.sensitivity } },
            adversary: AdversarySpec { observers: Vec::new(), results: self.results },
            target: TargetSpec { delta: self.delta, ..TargetSpec::default() },
            ..Averaging::default()
        })))
    }
}

impl RumorPlan {
    /// The experiment of the chosen row.
    pub fn experiment(&self, seed: u64) -> Experiment {
        let muting = Some(self.rows[self.chosen].muting);
        Experiment::Rumor(Rumor {
            seed: Some(seed),
            peers: self.nodes,
            curious: Some(self.curious),
            delta: None,
            muting,
        })
    }
}
