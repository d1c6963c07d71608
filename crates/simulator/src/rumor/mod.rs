//! Drivers for rumours.
//!
//! | file | what |
//! | --- | --- |
//! | `bits` | sets of peers |
//! | `crowd` | millions of peers and tellings on sets of bits: the next active peer at random, or round by round |
//! | `events` | peers as state machines in virtual time: latencies, losses, crashes, churn |
//! | `curious` | what observers write down |
//! | `dice` | the randomness of both |
//!
//! Both decide on a telling by the same function, [`sottovoce_protocol::rumor::tell`]; a test drives state machines with the dice of a
//! crowd and sees the same tellings.

mod bits;
mod crowd;
mod curious;
mod dice;
mod events;

pub use crowd::{Crowd, Told};
pub use curious::{Curious, Seen};
pub use dice::Dice;
pub use events::{RumorOutcome, RumorRun};

use sottovoce_protocol::rumor::{Contacts, Muting, Start};
use sottovoce_topology::Graph;

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

    /// Refuses what no rumour can fill: nobody, more than four thousand million, or parts that do not touch.
    pub fn check(self) -> Result<()> {
        match self {
            Self::Everyone(peers) if !(2..=u32::MAX as usize).contains(&peers) => Err(Error::parameter(
                "peers",
                peers,
                "a rumour needs two peers at least, and 4294967295 at most",
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
    /// Probability that a telling is lost.
    pub loss: f64,
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
        Ok(Self { muting, start: Start::Alike, loss: 0.0, repeated: false })
    }

    fn check(&self) -> Result<()> {
        if (0.0..1.0).contains(&self.loss) {
            return Ok(());
        }
        Err(Error::parameter("loss", self.loss, "give a probability from 0 to less than 1"))
    }
}

fn check_source(source: usize, peers: usize) -> Result<()> {
    if source < peers {
        return Ok(());
    }
    Err(Error::parameter("source", source, format!("there are {peers} peers, from 0")))
}
