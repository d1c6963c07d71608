//! Who adds up with whom on a ring, under masks that cancel.

use sottovoce_topology::{Graph, paths};

use super::check;
use crate::averaging::{Butterfly, Plan, Tree};
use crate::{Peer, Result};

/// Who adds up with whom.
#[derive(Debug, Clone, PartialEq)]
pub enum Sums {
    /// Everybody has the sum after `log2 n` rounds.
    Butterfly {
        /// The peer at each position: a permutation.
        positions: Vec<Peer>,
    },
    /// Along the shortest paths to a root, and back: few messages, and more rounds.
    Tree {
        /// Who can speak with whom.
        graph: Graph,
        /// The peer who adds up last.
        root: Peer,
    },
}

impl Sums {
    /// Number of peers.
    pub fn peers(&self) -> usize {
        match self {
            Self::Butterfly { positions } => positions.len(),
            Self::Tree { graph, .. } => graph.nodes(),
        }
    }

    /// The part of every peer.
    pub fn parts(&self) -> Result<Vec<Box<dyn Plan>>> {
        match self {
            Self::Butterfly { positions } => {
                check::permutation(positions)?;
                Ok(Butterfly::all(positions).map(|part| Box::new(part.summing()) as Box<dyn Plan>).collect())
            }
            Self::Tree { graph, root } => {
                graph.require_connected("peers in different parts never hear of each other; add edges")?;
                Ok(tree(graph, *root)?.into_iter().map(|part| Box::new(part) as Box<dyn Plan>).collect())
            }
        }
    }
}

/// Everybody's parent is the first of its neighbours that is nearer to the root.
fn tree(graph: &Graph, root: Peer) -> Result<Vec<Tree>> {
    let depths = paths::distances(graph, root)?;
    let neighbours = |peer: Peer| graph.neighbors(peer).iter().map(|&other| other as Peer);
    let parent = |peer: Peer| neighbours(peer).find(|&other| depths[other] < depths[peer]);
    let parents: Vec<Option<Peer>> = (0..graph.nodes()).map(parent).collect();
    let height = depths.iter().max().map_or(0, |&most| most as usize);
    let part = |peer: Peer| {
        let children: Vec<Peer> = neighbours(peer).filter(|&other| parents[other] == Some(peer)).collect();
        Tree::new(parents[peer], &children, depths[peer] as usize, height)
    };
    Ok((0..graph.nodes()).map(part).collect())
}
