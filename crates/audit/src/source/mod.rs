//! Who started this rumour? Attacks on the source, and what they prove.
//!
//! | file | attack |
//! | --- | --- |
//! | `first` | name the first of the suspects who was heard: the best there is on a complete graph (`docs/theorems/rumor-source.md`) |
//! | `vote` | several rumours of one source: name whoever is most often among the first heard |
//! | `silence` | name the first heard if it is never heard again: breaks a source that behaves specially |
//! | `distinguish` | tell two sources apart; what that proves about `delta` holds on any graph, with a stated confidence |
//!
//! Attackers know what curious peers log: the senders of the tellings they receive, in order. Tellings among the curious say nothing
//! and are left out.

mod distinguish;
mod first;
mod share;
mod silence;
mod vote;
mod watch;

use crate::reconstruct::require;
pub use crate::reconstruct::{Error, Result};
pub use distinguish::{Distinguished, distinguish, worst_pair};
pub use first::precision;
pub use share::Share;
pub use silence::silence;
pub use vote::vote;

use sottovoce_protocol::public::{Among, Curious, Rules};
use sottovoce_simulator::rumor::{Crowd, Dice};

/// A rumour that is watched.
#[derive(Debug, Clone, Copy)]
pub struct Setting<'a> {
    /// Who can tell whom.
    pub among: Among<'a>,
    /// How everyone behaves.
    pub rules: Rules,
    /// Who watches.
    pub curious: &'a Curious,
    /// Who tells next.
    pub pace: Pace,
    /// What observers know of a telling.
    pub sight: Sight,
}

/// Who tells next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// Any active peer (Algorithm 1; also the law of independent Poisson clocks).
    Steps,
    /// All active peers, round by round.
    Rounds,
}

/// What observers know of a telling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sight {
    /// The sender, and what was heard before it (Assumption 2).
    Senders,
    /// Also which of them was told, and at which step or round.
    Everything,
}

impl<'a> Setting<'a> {
    /// Refuses what cannot be attacked.
    pub fn check(&self) -> Result<()> {
        let (peers, curious) = (self.among.peers(), self.curious.peers());
        let remedy = format!("choose them among the {peers} peers of the graph");
        require(peers == curious, "curious", format_args!("among {curious} peers"), remedy)?;
        require(self.curious.count() != 0, "curious", 0, "nobody hears anything: choose one peer at least")?;
        Ok(self.among.check()?)
    }

    fn crowd(&self, source: usize, dice: Dice) -> Result<Crowd<'a>> {
        Ok(Crowd::new(self.among, self.rules, source, dice)?)
    }

    /// On a complete graph suspects who are all silent are all alike.
    fn is_symmetric(&self) -> bool {
        matches!(self.among, Among::Everyone(_))
    }

    /// Tellings after which an attacker gives up waiting: many times what it takes to inform everyone.
    fn patience(&self) -> u64 {
        let n = self.among.peers() as f64;
        (100.0 * n * (n.ln() + 1.0)) as u64
    }
}

#[cfg(test)]
mod tests;
