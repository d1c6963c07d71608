//! The graph of secrets without those who attack.

use serde::Serialize;
use sottovoce_topology::Graph;

/// What a coalition leaves of the graph of secrets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cut {
    /// Groups of honest peers whom secrets connect.
    pub groups: usize,
    /// The smallest of them. However loud the pairs, the coalition learns its sum: nobody in it loses less than one over its size.
    pub smallest: Vec<usize>,
}

/// Honest peers, their secrets and groups.
pub(crate) struct Honest<'a> {
    pub(super) keys: &'a Graph,
    /// In increasing order.
    pub(super) coalition: Vec<usize>,
    /// The group of each peer; none for the coalition.
    pub(crate) group: Vec<Option<usize>>,
    /// Peers in each group.
    pub(crate) sizes: Vec<usize>,
    /// Who is honest, in as little memory as can be: everybody's neighbours are looked up here.
    honest: Vec<bool>,
}

impl<'a> Honest<'a> {
    pub(crate) fn new(keys: &'a Graph, coalition: Vec<usize>) -> Self {
        let mut honest = vec![true; keys.nodes()];
        coalition.iter().for_each(|&member| honest[member] = false);
        let mut found = Self { keys, coalition, group: vec![None; keys.nodes()], sizes: Vec::new(), honest };
        for first in 0..keys.nodes() {
            if found.group[first].is_none() && found.is_honest(first) {
                found.flood(first);
            }
        }
        found
    }

    fn flood(&mut self, first: usize) {
        let (number, mut size, mut next) = (self.sizes.len(), 0, vec![first]);
        self.group[first] = Some(number);
        while let Some(peer) = next.pop() {
            size += 1;
            for &other in self.keys.neighbors(peer) {
                let other = other as usize;
                if self.group[other].is_none() && self.is_honest(other) {
                    self.group[other] = Some(number);
                    next.push(other);
                }
            }
        }
        self.sizes.push(size);
    }

    pub(super) fn is_honest(&self, peer: usize) -> bool {
        self.honest[peer]
    }

    /// Honest peers with whom this honest one shares a secret.
    #[inline]
    pub(super) fn others(&self, peer: usize) -> impl Iterator<Item = usize> + '_ {
        self.keys.neighbors(peer).iter().map(|&other| other as usize).filter(|&other| self.honest[other])
    }

    pub(super) fn cut(&self) -> Cut {
        let smallest = (0..self.sizes.len()).min_by_key(|&group| self.sizes[group]);
        let members =
            (0..self.group.len()).filter(|&peer| smallest.is_some() && self.group[peer] == smallest);
        Cut { groups: self.sizes.len(), smallest: members.collect() }
    }
}
