//! Behind noise that cancels one agent alone tells little: an attacker listens to all, takes away the noise of the secrets that it was told, and adds up what is left
//! (`docs/theorems/cancelling.md`).

use std::collections::VecDeque;

use sottovoce_protocol::consensus::{Band, Hidden, Learner, Rule, loudness};
use sottovoce_protocol::public::Cancelling;
use sottovoce_protocol::{Peer, Shared};
use sottovoce_simulator::consensus::{BulkConsensus, Trainer};
use sottovoce_simulator::paired::Paired;
use sottovoce_topology::Graph;
use sottovoce_views::cancelling::{Secrets, shares};

use super::super::Setting;
use super::super::heard::Heard;
use crate::{Error, Result, require};

/// Whom an attacker listens to, and how.
pub(super) struct Ears {
    agents: Vec<Ear>,
    band: Band,
    /// What the noise of pairs is measured by.
    loud: f64,
}

struct Ear {
    agent: Peer,
    /// How much of her draws is taken.
    share: f64,
    /// The noise of her pairs whose secrets were told.
    told: Option<Paired>,
    /// The last of it, the latest first, where noises depend on each other.
    past: VecDeque<Shared>,
}

impl Ears {
    /// Of an attack on a target; without secrets it listens to her alone.
    pub(super) fn new(setting: &Setting, target: Peer, hidden: &[Option<Hidden>]) -> Result<Self> {
        let (band, loud) = (hidden[target].map_or(Band::NONE, |hidden| hidden.band), loudness(hidden));
        let alone = |agent| Ear { agent, share: 1.0, told: None, past: VecDeque::new() };
        let Some(secrets) = &setting.secrets else {
            return Ok(Self { agents: vec![alone(target)], band, loud });
        };
        let each = setting.plan.draws_each();
        require(
            each == 1,
            "primal",
            each,
            "the attack tells one draw of a round from another only where there is one; give 1",
        )?;
        let adam = matches!(setting.plan.optimiser.rule, Rule::Adam { .. });
        require(
            !adam,
            "optimiser",
            "adam",
            "its steps of several agents are no sums of draws; give sgd or momentum",
        )?;
        let told = told(secrets, target);
        let shares = shares(secrets.pairs(), &told, target)?;
        let pairs = of_those(secrets.pairs(), &told)?;
        let noises = Paired::all(setting.seed, pairs.peers(), Some(&pairs));
        let ear = |(agent, (noise, share))| Ear { share, told: Some(noise), ..alone(agent) };
        let all = noises.into_iter().zip(shares).enumerate().map(ear);
        Ok(Self { agents: all.filter(|ear| ear.share != 0.0).collect(), band, loud })
    }

    /// Makes a round, and tells what is heard of the target's draw in it.
    pub(super) fn round<T: Trainer>(
        &mut self,
        setting: &Setting,
        bulk: &mut BulkConsensus<'_, T>,
    ) -> Result<Vec<f64>> {
        let round = bulk.round();
        let learners: Vec<&Learner> = bulk.learners().collect();
        let before = |ear: &Ear| Heard::before(&setting.plan, &setting.mixing, (ear.agent, round), &learners);
        let heard: Vec<Heard> = self.agents.iter().map(before).collect();
        bulk.advance(1)?;
        let after: Vec<&Learner> = bulk.learners().collect();
        let mut sum = vec![0.0; setting.net.parameters()];
        let uncovered = |_| Error::parameter("cancel", self.loud, "its noise cannot be drawn; give less");
        for (ear, heard) in self.agents.iter_mut().zip(heard) {
            let mut told = Shared::zeros(sum.len());
            if let Some(noise) = &ear.told {
                noise.add_single(round as u64, self.loud, told.to_mut()).map_err(uncovered)?;
                self.band.correlate(&mut ear.past, &mut told);
            }
            let draw = heard.draw(after[ear.agent]);
            let each = sum.iter_mut().zip(draw).zip(told.iter());
            each.for_each(|((sum, draw), told)| *sum += ear.share * (draw - f64::from(*told)));
        }
        Ok(sum)
    }
}

/// Those who tell their secrets: the target's own partners first, who hide her most.
fn told(secrets: &Secrets, target: Peer) -> Vec<Peer> {
    let keys = secrets.pairs().keys();
    let partners = keys.neighbors(target).iter().map(|&partner| partner as usize);
    let others = (0..keys.nodes()).filter(|&agent| agent != target && !keys.has_edge(agent, target));
    partners.chain(others).take(secrets.colluders()).collect()
}

/// The pairs whose secrets these know.
fn of_those(pairs: &Cancelling, told: &[Peer]) -> Result<Cancelling> {
    let known = pairs.keys().edges().filter(|(u, v)| told.contains(u) || told.contains(v));
    Ok(Cancelling::new(Graph::from_edges(pairs.peers(), known)?, pairs.kappa())?)
}
