//! The experiment that executes a plan's choice.

use std::path::Path;

use serde::Serialize;
use sottovoce_privacy::Adversary;
use sottovoce_topology::family::Family;
use sottovoce_views::door::account;

use super::{
    AdversarySpec, Averaging, Experiment, GradientNoise, GraphFile, GraphSpec, Learning, LearningGraph,
    LearningTarget, Method, MethodSpec, MixingSpec, NoiseSpec, Place, Range, Rumor, StepSpec, TargetSpec,
    TokenNetwork, ValuesSpec,
};
use crate::learning::Method as Way;
use crate::learning::plan::LearningPlan;
use crate::plan::{Plan, Protocol, RumorPlan, Sums};
use crate::{Error, Result};

/// An averaging that was planned: how rows of its plan become experiments.
pub struct Chosen<'a> {
    /// What was asked for. Its protocol and its noise are chosen by the plan.
    pub asked: &'a Averaging,
    /// The families that graphs were chosen from, if none was given.
    pub families: &'a [Family],
    /// The graph that was given.
    pub place: Option<Place>,
    /// Seed of schedules and graphs.
    pub seed: u64,
}

/// What peers who pool what they hear would learn.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Coalition {
    /// Who they are.
    pub observers: Vec<usize>,
    /// Their names.
    pub names: Vec<String>,
    /// Of whoever loses most to them, in each row of the plan; none where nothing is protected.
    pub epsilon: Vec<Option<f64>>,
}

impl Chosen<'_> {
    /// The experiment of a row of the plan. Where graphs were chosen from families, it is the row's that counts.
    pub fn experiment(&self, plan: &Plan, row: usize) -> Result<Averaging> {
        let row = &plan.rows[row];
        let method = method(row.protocol)?;
        let graph = self.asked.graph.clone();
        let family = self.families.iter().find(|family| Some(family.to_string()) == row.graph).cloned();
        let graph = match (family, method) {
            (Some(family), _) => {
                let base = GraphFile { family: Some(family), ..graph.base };
                GraphSpec { base, peers: None, ..graph }
            }
            // Partners of its own: any graph that holds the peers.
            (None, Method::Butterfly) => {
                let drawn = self.place.is_none().then_some(Family::Complete { n: plan.peers });
                let family = drawn.or(graph.base.family);
                let base = GraphFile { family, weights: None, lazy: None, ..graph.base };
                GraphSpec { base, peers: graph.peers.filter(|_| self.place.is_some()), ..graph }
            }
            (None, _) => graph,
        };
        let (sigma, relay_noise) = (Some(row.sigma), row.tau / row.sigma);
        let range = Range { low: 0.0, high: plan.sensitivity };
        let asked = self.asked.clone();
        let drawn = asked.values == ValuesSpec::default() && asked.noise.sensitivity.is_none();
        let title = format!("Private averaging among {} peers, as planned", plan.peers);
        Ok(Averaging {
            title: asked.title.or(Some(title)),
            seed: Some(self.seed),
            graph,
            protocol: MixingSpec { method, steps: (method != Method::Butterfly).then_some(row.steps) },
            noise: NoiseSpec {
                sigma,
                relay_noise,
                sensitivity: asked.noise.sensitivity,
                cancel: asked.noise.cancel.filter(|_| row.protocol.cancels()),
                masks: row.protocol.masks(),
                // With the noise its grid is chosen.
                grid: None,
                keys: asked.noise.keys.clone().filter(|_| row.protocol.shares_secrets()),
            },
            adversary: AdversarySpec {
                colluders: asked.adversary.colluders.filter(|_| row.protocol.shares_secrets()),
                ..asked.adversary.clone()
            },
            values: if drawn { ValuesSpec { range, ..ValuesSpec::default() } } else { asked.values },
            target: TargetSpec {
                delta: plan.delta,
                by_distance: asked.target.by_distance.clone(),
                ..TargetSpec::default()
            },
            ..asked
        })
    }

    /// The peers who pool what they hear, among so many.
    pub fn observers(&self, peers: usize) -> Result<Vec<usize>> {
        let graph = self.place.as_ref().map(|place| &place.graph);
        self.asked.adversary.peers(graph, peers)
    }

    /// What they would learn from each row. A baseline has no messages of its own to hear: local privacy shows them everything, a trusted party the result.
    pub fn coalition(&self, plan: &Plan, observers: Vec<usize>) -> Result<Coalition> {
        let adversary = Adversary::Coalition(observers.clone());
        let epsilon = |row: usize| {
            let kind = &plan.rows[row];
            match kind.protocol {
                Protocol::LocalDp => return Ok(kind.epsilon.wire_tapper),
                Protocol::CentralDp => return Ok(kind.epsilon.peer),
                _ => {}
            }
            let experiment = self.experiment(plan, row)?;
            let drawn = match &self.place {
                Some(place) => place.clone(),
                None => experiment.graph.place(Path::new(""), self.seed)?,
            };
            let mut setting = experiment.setting(&drawn, self.seed)?;
            setting.cancelling = experiment.noise.cancelling(Path::new(""), &drawn.graph, self.seed)?;
            let sums = Sums { width: plan.columns, range: plan.sensitivity, sensitivity: plan.sensitivity };
            let among = (Path::new(""), &drawn.graph, self.seed);
            setting.masks = experiment.masks(among, sums, &adversary)?;
            let (_, guarantee) = account(&setting, &adversary)?.worst(plan.sensitivity, kind.sigma)?;
            Ok(Some(guarantee.epsilon(plan.delta)?.upper).filter(|epsilon| epsilon.is_finite()))
        };
        let graph = self.place.as_ref().map(|place| &place.graph);
        let name = |peer: &usize| graph.map_or_else(|| peer.to_string(), |graph| graph.label(*peer));
        Ok(Coalition {
            names: observers.iter().map(name).collect(),
            epsilon: (0..plan.rows.len()).map(epsilon).collect::<Result<_>>()?,
            observers,
        })
    }
}

fn method(protocol: Protocol) -> Result<Method> {
    let remedy = "a baseline is not run; it is there to compare";
    match protocol {
        Protocol::Gossip | Protocol::RelayGossip | Protocol::CancellingGossip => Ok(Method::Gossip),
        Protocol::AcceleratedGossip => Ok(Method::Accelerated),
        Protocol::RandomisedGossip => Ok(Method::Randomised),
        Protocol::Butterfly | Protocol::CancellingButterfly | Protocol::MaskedButterfly => {
            Ok(Method::Butterfly)
        }
        Protocol::LocalDp | Protocol::CentralDp => Err(Error::parameter("protocol", protocol.name(), remedy)),
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
            ..Rumor::default()
        })
    }
}

impl Experiment {
    /// The experiment of the chosen row of a plan for learning. The noise is what the target asks for, as in the plan.
    pub fn of_learning_plan(plan: &LearningPlan, asked: &Learning, seed: u64) -> Result<Self> {
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
                let remedy = "a baseline is not run; it is there to compare";
                return Err(Error::parameter("method", row.method, remedy));
            }
        };
        protocol.method = Some(name.to_owned());
        Ok(Self::Learning(Box::new(Learning {
            network: TokenNetwork::default(),
            seed: Some(seed),
            seeds: asked.seeds,
            final_model: None,
            task: asked.task.clone(),
            graph: if needs_graph { asked.graph.clone() } else { LearningGraph::default() },
            protocol,
            step: StepSpec { size: Some(row.step), markov_step: None },
            noise: if row.cancels { asked.noise.clone() } else { GradientNoise::default() },
            target: LearningTarget {
                colluders: asked.target.colluders.filter(|_| row.cancels),
                ..asked.target.clone()
            },
        })))
    }
}
