//! What curious peers write down.

use crate::{Error, Result, require};

/// A set of peers who follow the protocol and pool what they hear.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Curious {
    member: Vec<bool>,
    count: usize,
}

/// A telling that reached a curious peer.
///
/// In the model of the theorems (Assumption 2) observers know the senders in their order and nothing else; by whom it was heard and
/// when, only a stronger observer uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    /// Who told.
    pub sender: u32,
    /// Which curious peer was told.
    pub receiver: u32,
    /// How many tellings there had been, or rounds: a stronger observer's clock.
    pub time: u64,
}

impl Curious {
    /// These, among `peers`.
    pub fn new(curious: &[usize], peers: usize) -> Result<Self> {
        let mut member = vec![false; peers];
        for &peer in curious {
            match member.get_mut(peer) {
                Some(place) => *place = true,
                None => {
                    let remedy = format!("there are {peers} peers, from 0");
                    return Err(Error::parameter("curious", peer, remedy));
                }
            }
        }
        let count = member.iter().filter(|&&is| is).count();
        let value = format!("{count} of {peers} peers");
        require(count < peers, "curious", value, "someone must be left to be the source")?;
        Ok(Self { member, count })
    }

    /// The last `count` of `peers`: where everyone is alike, it does not matter which.
    pub fn last(count: usize, peers: usize) -> Result<Self> {
        let value = format!("{count} of {peers} peers");
        require(count < peers, "curious", value, "someone must be left to be the source")?;
        Ok(Self { member: (0..peers).map(|peer| peer >= peers - count).collect(), count })
    }

    /// Whether a peer is one of them.
    #[inline]
    pub fn has(&self, peer: usize) -> bool {
        self.member[peer]
    }

    /// Who they are, in increasing order.
    pub fn members(&self) -> Vec<usize> {
        (0..self.member.len()).filter(|&peer| self.member[peer]).collect()
    }

    /// Everyone else, in increasing order.
    pub fn honest(&self) -> Vec<usize> {
        (0..self.member.len()).filter(|&peer| !self.member[peer]).collect()
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Among how many.
    pub fn peers(&self) -> usize {
        self.member.len()
    }

    /// Refuses a source that is one of them: they would know.
    pub fn check_source(&self, source: usize) -> Result<()> {
        super::check_source(source, self.peers())?;
        let remedy = "a curious source has nothing to hide from itself: choose another peer";
        require(!self.has(source), "source", format_args!("{source}, which is curious"), remedy)
    }
}
