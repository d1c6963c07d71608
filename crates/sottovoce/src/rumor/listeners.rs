//! Who listens: so many, drawn where it matters which, or named.

use sottovoce_protocol::public::Curious;
use sottovoce_protocol::rumor::Chance;
use sottovoce_simulator::rumor::Dice;
use sottovoce_topology::Graph;

use crate::Result;
use crate::experiment::graph::peer;

/// The curious peers: named, or so many. On a graph they are drawn; where everyone can reach everyone they are the last.
pub fn listeners(
    named: &[String],
    count: usize,
    graph: Option<&Graph>,
    peers: usize,
    seed: u64,
) -> Result<Curious> {
    if !named.is_empty() {
        let named = named.iter().map(|name| peer("curious-peers", name, graph, peers));
        return Ok(Curious::new(&named.collect::<Result<Vec<_>>>()?, peers)?);
    }
    // Refused where there are too many, before any are drawn.
    let last = Curious::last(count, peers)?;
    match graph {
        Some(_) => Ok(Curious::new(&drawn(count, &(0..peers).collect::<Vec<_>>(), seed, 1), peers)?),
        None => Ok(last),
    }
}

/// So many of the peers, all equally likely.
pub fn drawn(count: usize, peers: &[usize], seed: u64, purpose: u64) -> Vec<usize> {
    let mut peers = peers.to_vec();
    let mut dice = Dice::new(seed, u64::MAX - purpose, purpose);
    for i in 0..count.min(peers.len()) {
        let other = i + dice.below(peers.len() - i);
        peers.swap(i, other);
    }
    peers.truncate(count);
    peers
}
