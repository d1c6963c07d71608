//! The path of one token as it is written down: who held it, and, in runs of equal visits, what they did.
//!
//! A token whose sender heard no answer goes on in two copies, each with a path of its own: the second begins in the midst of the first, at a step that is written
//! down with both.

use serde::{Deserialize, Serialize};

use super::Visit;
use crate::Peer;

/// Who held a token in turn, and what each of them did.
///
/// ```
/// use sottovoce_protocol::walk::{TokenPath, Visit};
/// let path: TokenPath = [(3, Visit::Relayed), (1, Visit::Contributed), (0, Visit::Contributed)].into_iter().collect();
/// assert_eq!((path.len(), path.iter().last()), (3, Some((0, Visit::Contributed))));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TokenPath {
    holders: Vec<Peer>,
    /// What so many holders in a row did.
    visits: Vec<(Visit, usize)>,
    /// The step of the first holder: 0, but for a copy that took a detour.
    #[serde(default, skip_serializing_if = "is_first")]
    start: usize,
    /// Before which of its holders other copies left it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    forks: Vec<usize>,
    /// Whether it ended on its way: swallowed by someone who had seen a later copy, given up by its sender for one, or lost with its holder.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    lost: bool,
}

fn is_first(start: &usize) -> bool {
    *start == 0
}

impl TokenPath {
    /// A copy of a token that begins at this step.
    pub fn from_step(start: usize) -> Self {
        Self { start, ..Self::default() }
    }

    /// The step of the first holder.
    pub fn start(&self) -> usize {
        self.start
    }

    /// Another copy left this one before this step, which both make.
    pub fn fork(&mut self, step: usize) {
        self.forks.push(step.saturating_sub(self.start));
        self.forks.sort_unstable();
        self.forks.dedup();
    }

    /// Before which of the holders, counted from 0 and in order, other copies left it; their number for after the last.
    pub fn forks(&self) -> &[usize] {
        &self.forks
    }

    /// It ended on its way.
    pub fn lose(&mut self) {
        self.lost = true;
    }

    /// Whether it ended on its way, so that its last value is no result.
    pub fn is_lost(&self) -> bool {
        self.lost
    }

    /// The next holder, and what it did.
    pub fn push(&mut self, holder: Peer, visit: Visit) {
        self.holders.push(holder);
        match self.visits.last_mut() {
            Some((last, times)) if *last == visit => *times += 1,
            _ => self.visits.push((visit, 1)),
        }
    }

    /// Steps of the token.
    pub fn len(&self) -> usize {
        self.holders.len()
    }

    /// Whether the token never began.
    pub fn is_empty(&self) -> bool {
        self.holders.is_empty()
    }

    /// Holders and what they did, in order. Of a damaged file, as many as have both.
    pub fn iter(&self) -> impl Iterator<Item = (Peer, Visit)> + '_ {
        let visits = self.visits.iter().flat_map(|&(visit, times)| std::iter::repeat_n(visit, times));
        self.holders.iter().copied().zip(visits)
    }
}

impl FromIterator<(Peer, Visit)> for TokenPath {
    fn from_iter<I: IntoIterator<Item = (Peer, Visit)>>(visits: I) -> Self {
        let mut path = Self::default();
        visits.into_iter().for_each(|(holder, visit)| path.push(holder, visit));
        path
    }
}
