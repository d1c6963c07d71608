//! Tokens on a network with faults: what is agreed on of it, and what went over it.

use serde::{Deserialize, Serialize};
use sottovoce_protocol::walk::Patience;
use sottovoce_simulator::network::{Faults, Network};
use sottovoce_simulator::walk::{WalkOutcome, WalkRun, WalkSetup};
use std::time::Duration;

/// How often a token is offered to a silent peer.
const ATTEMPTS: usize = 3;
/// Steps more than a token makes, for which time is left where peers are silent.
const PATIENT: u32 = 1000;

/// A network between the peers, and what happens to them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Faulty {
    /// The network; its timeout is how long who passes a token on waits for an answer.
    pub network: Network,
    /// What happens to peers.
    pub faults: Faults,
}

impl Faulty {
    /// A walk on it: a token without an answer is sent again, to the same peer three times, and then to another. A run that goes on for ever, because a peer
    /// who had the token is cut off, is ended.
    pub fn run<'a>(&self, setup: WalkSetup<'a>, seed: u64) -> WalkRun<'a> {
        let steps = u32::try_from(setup.course.steps).unwrap_or(u32::MAX).saturating_add(PATIENT);
        let wait = self.network.timeout.unwrap_or_default() + Duration::from_secs(1);
        WalkRun {
            setup,
            network: self.network,
            faults: self.faults.clone(),
            patience: Patience { attempts: ATTEMPTS },
            deadline: (20 * wait).saturating_mul(steps),
            seed,
        }
    }
}

/// What went over the network.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Traffic {
    /// Messages sent, answers included.
    pub messages: u64,
    /// Of these, lost on the way or at a peer who was not there.
    pub lost: u64,
    /// How often nobody answered and a token went another way.
    pub reroutings: usize,
    /// Copies that were swallowed as repeated or too old.
    pub swallowed: u64,
    /// How often a token found nobody.
    pub stranded: u64,
    /// Tokens that arrived.
    pub finished: usize,
    /// Virtual time in seconds, until the last of them did.
    pub virtual_seconds: f64,
}

impl Traffic {
    /// Of a run that is over.
    pub fn of(outcome: &WalkOutcome) -> Self {
        Self {
            messages: outcome.sent,
            lost: outcome.lost,
            reroutings: outcome.reroutings(),
            swallowed: outcome.swallowed,
            stranded: outcome.stranded,
            finished: outcome.finals.iter().flatten().count(),
            virtual_seconds: outcome.duration.as_secs_f64(),
        }
    }

    /// Labels and values, for people.
    pub fn rows(&self, tokens: usize) -> Vec<(&'static str, String)> {
        let Self { messages, lost, reroutings, swallowed, stranded, finished, virtual_seconds } = self;
        let mut rows = vec![
            (
                "time",
                format!(
                    "{finished} of {tokens} tokens arrived, after {virtual_seconds:.1} s of virtual time"
                ),
            ),
            ("messages", format!("{messages}, {lost} of them lost")),
        ];
        if *reroutings > 0 || *stranded > 0 {
            let text = format!(
                "{reroutings} times another way, {stranded} times nobody there, {swallowed} copies swallowed"
            );
            rows.push(("tokens sent again", text));
        }
        rows
    }
}
