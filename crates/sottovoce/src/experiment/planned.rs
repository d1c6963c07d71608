//! The experiment that executes a plan's choice.

use sottovoce_topology::family::Family;

use super::{
    AdversarySpec, Averaging, Experiment, GradientNoise, GraphFile, GraphSpec, Learning, LearningTarget,
    Method, MethodSpec, MixingSpec, NoiseSpec, Range, Rumor, StepSpec, TargetSpec, TaskSpec, ValuesSpec,
};
use crate::learning::Method as Way;
use crate::learning::plan::LearningPlan;
use crate::plan::{Plan, Protocol, RumorPlan};
use crate::{Error, Result};

impl Experiment {
    /// The experiment of the chosen row of a plan. `graph` is the one that was given; where graphs were chosen from `families`, it is the chosen one that counts.
    pub fn of_plan(plan: &Plan, graph: GraphSpec, families: &[Family], seed: u64) -> Result<Self> {
        let row = &plan.rows[plan.chosen];
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
            (None, Method::Butterfly) => {
                let family = graph.file.is_none().then_some(Family::Complete { n: plan.peers });
                GraphSpec { family, weights: None, lazy: None, ..graph }
            }
            (None, _) => graph,
        };
        let steps = (method != Method::Butterfly).then_some(row.steps);
        Ok(Self::Averaging(Box::new(Averaging {
            title: Some(format!("Private averaging among {} peers, as planned", plan.peers)),
            seed: Some(seed),
            graph,
            protocol: MixingSpec { method, steps },
            noise: NoiseSpec { sigma: Some(row.sigma), relay_noise: row.tau / row.sigma, sensitivity: None },
            values: ValuesSpec { file: None, range: Range { low: 0.0, high: plan.sensitivity } },
            adversary: AdversarySpec { observers: Vec::new(), results: plan.results },
            target: TargetSpec { delta: plan.delta, ..TargetSpec::default() },
            ..Averaging::default()
        })))
    }
}

impl Experiment {
    /// The experiment of the chosen row of a plan for a rumour.
    pub fn of_rumor_plan(plan: &RumorPlan, seed: u64) -> Self {
        let muting = Some(plan.rows[plan.chosen].muting);
        Self::Rumor(Rumor {
            seed: Some(seed),
            peers: plan.nodes,
            curious: Some(plan.curious),
            delta: None,
            muting,
        })
    }
}

impl Experiment {
    /// The experiment of the chosen row of a plan for learning. The noise is what the target asks for, as in the plan.
    pub fn of_learning_plan(
        plan: &LearningPlan,
        task: &TaskSpec,
        graph: &GraphFile,
        target: &LearningTarget,
        seed: u64,
    ) -> Result<Self> {
        let row = &plan.rows[plan.chosen];
        let mut protocol = MethodSpec { iterations: row.iterations, ..MethodSpec::default() };
        let (name, needs_graph) = match row.chosen {
            Way::Gossip(gossip) => {
                protocol.rounds = Some(gossip.rounds);
                protocol.accelerated = gossip.accelerated;
                protocol.relay = Some(gossip.relay).filter(|relay| *relay > 0.0);
                ("gossip", true)
            }
            Way::Walk(walk) => {
                protocol.tokens = Some(walk.tokens);
                protocol.burn_in = Some(walk.burn_in);
                ("walk", true)
            }
            Way::Butterfly => ("butterfly", false),
            Way::Local | Way::Central => {
                return Err(Error::parameter(
                    "method",
                    row.method,
                    "a baseline is not run; it is there to compare",
                ));
            }
        };
        protocol.method = Some(name.to_owned());
        Ok(Self::Learning(Box::new(Learning {
            seed: Some(seed),
            seeds: None,
            task: task.clone(),
            graph: if needs_graph { graph.clone() } else { GraphFile::default() },
            protocol,
            step: StepSpec { size: Some(row.step), markov_step: None },
            noise: GradientNoise::default(),
            target: target.clone(),
        })))
    }
}
