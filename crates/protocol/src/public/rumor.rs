//! Who can tell whom a rumour, how everyone behaves, and who listens.

use sottovoce_topology::{Graph, MOST_NODES};

use crate::rumor::{Contacts, Muting, Start};
use crate::{Error, Result, require};

/// Who can tell whom.
#[derive(Debug, Clone, Copy)]
pub enum Among<'a> {
    /// So many peers, everyone everyone.
    Everyone(usize),
    /// Neighbours in a graph.
    Graph(&'a Graph),
}

impl<'a> Among<'a> {
    /// How many there are.
    pub fn peers(self) -> usize {
        match self {
            Self::Everyone(peers) => peers,
            Self::Graph(graph) => graph.nodes(),
        }
    }

    /// Whom a peer can tell.
    #[inline]
    pub fn contacts(self, peer: usize) -> Contacts<'a> {
        match self {
            Self::Everyone(peers) => Contacts::Everyone(peers),
            Self::Graph(graph) => Contacts::Only(graph.neighbors(peer)),
        }
    }

    /// Refuses what no rumour can fill: nobody, more peers than graphs have, or parts that do not touch.
    pub fn check(self) -> Result<()> {
        match self {
            Self::Everyone(peers) if !(2..=MOST_NODES).contains(&peers) => Err(Error::parameter(
                "peers",
                peers,
                format!("a rumour needs two peers at least, and {MOST_NODES} at most"),
            )),
            Self::Graph(graph) if graph.nodes() < 2 => Err(Error::parameter(
                "graph",
                format!("{} nodes", graph.nodes()),
                "a rumour needs two peers at least",
            )),
            Self::Graph(graph) => {
                Ok(graph.require_connected("add the missing edges, or spread a rumour in each part")?)
            }
            Self::Everyone(_) => Ok(()),
        }
    }
}

/// How everyone behaves, and what the network does to tellings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rules {
    /// Whether a teller stays active.
    pub muting: Muting,
    /// How the source begins.
    pub start: Start,
    /// Probability that a telling is dropped.
    pub drop: f64,
    /// Whether a teller notices, and tries again.
    pub repeated: bool,
}

impl Rules {
    /// Nothing is lost; the source does what everyone does.
    pub fn new(s: f64) -> Result<Self> {
        let muting = Muting::new(s).map_err(|_| {
            let remedy =
                "give a probability from 0 (a walk, the most private) to 1 (push, not private at all)";
            Error::parameter("muting", s, remedy)
        })?;
        Ok(Self { muting, start: Start::Alike, drop: 0.0, repeated: false })
    }

    /// Refuses a loss that is no probability.
    pub fn check(&self) -> Result<()> {
        if (0.0..1.0).contains(&self.drop) {
            return Ok(());
        }
        Err(Error::parameter("loss", self.drop, "give a probability from 0 to less than 1"))
    }
}

/// Refuses a source that does not exist.
pub fn check_source(source: usize, peers: usize) -> Result<()> {
    if source < peers {
        return Ok(());
    }
    Err(Error::parameter("source", source, format!("there are {peers} peers, from 0")))
}

/// A set of peers who follow the protocol and pool what they hear.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Curious {
    member: Vec<bool>,
    count: usize,
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
        check_source(source, self.peers())?;
        let remedy = "a curious source has nothing to hide from itself: choose another peer";
        require(!self.has(source), "source", format_args!("{source}, which is curious"), remedy)
    }
}
