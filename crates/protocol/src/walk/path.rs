//! The path of one token as it is written down: who held it, and, in runs of equal visits, what they did.

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
}

impl TokenPath {
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
