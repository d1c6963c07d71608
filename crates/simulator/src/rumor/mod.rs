//! Drivers for rumours.
//!
//! | file | what |
//! | --- | --- |
//! | `bits` | sets of peers |
//! | `crowd` | millions of peers and tellings on sets of bits: the next active peer at random, or round by round |
//! | `run` | what the event driver needs for tellers: their dice, who learned when |
//! | `curious` | what observers write down |
//! | `dice` | the randomness of both |
//!
//! Both decide on a telling by the same function, [`sottovoce_protocol::rumor::tell`]; a test drives state machines with the dice of a
//! crowd and sees the same tellings.

mod bits;
mod crowd;
mod curious;
mod dice;
mod run;

pub use crowd::{Crowd, Told};
pub use curious::{Curious, Seen};
pub use dice::Dice;
pub use run::{RumorOutcome, RumorRun, RumorTranscript, RumorWorld};

use sottovoce_protocol::rumor::{Contacts, Muting, Start};
use sottovoce_topology::{Graph, MOST_NODES};

use crate::{Error, Result};

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

    fn check(&self) -> Result<()> {
        if (0.0..1.0).contains(&self.drop) {
            return Ok(());
        }
        Err(Error::parameter("loss", self.drop, "give a probability from 0 to less than 1"))
    }
}

fn check_source(source: usize, peers: usize) -> Result<()> {
    if source < peers {
        return Ok(());
    }
    Err(Error::parameter("source", source, format!("there are {peers} peers, from 0")))
}
