//! Where a peer of an averaging run stands, and whether it can stand there.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Message, Output, Plan};
use crate::{Mismatch, Peer, Value};

/// All that must survive a crash.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct State<V> {
    pub(super) phase: Phase,
    /// Whether the budget was found spent: from then on the peer mixes and contributes nothing.
    pub(super) spent: bool,
    pub(super) round: usize,
    pub(super) value: V,
    /// The value before, where it is accelerated, or the second value of accelerated randomised gossip.
    pub(super) previous: Option<V>,
    /// What was sent in the present round.
    pub(super) sent: Option<Sent<V>>,
    /// Messages of this round and later ones.
    pub(super) inbox: BTreeMap<usize, BTreeMap<Peer, Arc<Message<V>>>>,
    pub(super) outputs: VecDeque<Output<V>>,
}

/// What was sent in a round. The value itself is not stored twice.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum Sent<V> {
    Value,
    Noised(V),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Phase {
    Waiting,
    /// A private step is being made.
    Computing,
    Running,
    Over,
}

impl<V: Value> State<V> {
    pub(super) fn new(value: V) -> Self {
        Self {
            phase: Phase::Waiting,
            spent: false,
            round: 0,
            value,
            previous: None,
            sent: None,
            inbox: BTreeMap::new(),
            outputs: VecDeque::new(),
        }
    }

    /// Refuses a state that no peer with this plan and values of this shape can be in.
    pub(super) fn check(&self, plan: &impl Plan, like: &V) -> Result<(), Mismatch> {
        let rounds = plan.rounds();
        if self.round > rounds {
            return Err(Mismatch::new("round", format!("{} of {rounds}", self.round)));
        }
        let noised = self.sent.as_ref().and_then(|sent| match sent {
            Sent::Value => None,
            Sent::Noised(value) => Some(value),
        });
        let values = [Some(&self.value), self.previous.as_ref(), noised];
        if !values.into_iter().flatten().all(|value| value.same_shape(like)) {
            return Err(Mismatch::new("value", "of another length"));
        }
        if (self.phase == Phase::Running) != self.sent.is_some() {
            return Err(Mismatch::new("sent", format!("{} while {:?}", self.sent.is_some(), self.phase)));
        }
        for (&round, heard) in &self.inbox {
            let known = |from: &Peer| plan.row(round).from.iter().any(|(peer, _)| peer == from);
            let fits = |(from, message): (&Peer, &Arc<Message<V>>)| {
                known(from) && message.round == round && message.value.same_shape(like)
            };
            if !(self.round..rounds).contains(&round) || !heard.iter().all(fits) {
                return Err(Mismatch::new("inbox", format!("mail of strangers in round {round}")));
            }
        }
        Ok(())
    }
}
