//! What peers are called: by the names that a graph or a table gives them, else by their numbers.

use serde::Serialize;
use sottovoce_privacy::{Adversary, Guarantee};
use sottovoce_topology::Graph;

/// Names in a list, before it is cut short.
const SHOWN: usize = 20;

/// Names of all peers, or none: then numbers are names.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Names(Option<Vec<String>>);

impl Names {
    /// These names, one for each peer.
    pub fn new(names: Option<&[String]>) -> Self {
        Self(names.map(<[String]>::to_vec))
    }

    /// As a graph has them.
    pub fn of_graph(graph: &Graph) -> Self {
        Self::new(graph.labels())
    }

    /// These, or where there are none the others.
    pub fn or(self, others: impl FnOnce() -> Self) -> Self {
        if self.are_numbers() { others() } else { self }
    }

    /// Whether peers have no names but their numbers.
    pub fn are_numbers(&self) -> bool {
        self.0.is_none()
    }

    /// All of them, where there are any.
    pub fn all(&self) -> Option<&[String]> {
        self.0.as_deref()
    }

    /// What a peer is called.
    pub fn of(&self, peer: usize) -> String {
        let name = self.0.as_ref().and_then(|names| names.get(peer));
        name.cloned().unwrap_or_else(|| peer.to_string())
    }

    /// The names of these peers, where there are any: what stands beside their numbers.
    pub fn beside(&self, peers: &[usize]) -> Vec<String> {
        if self.are_numbers() { Vec::new() } else { peers.iter().map(|&peer| self.of(peer)).collect() }
    }

    /// The name in a column of this width: the end of one that is too long.
    pub fn cell(&self, peer: usize, width: usize) -> String {
        format!("{:<width$}", end(&self.of(peer), width))
    }

    /// All of these after each other.
    pub fn whole(&self, peers: &[usize]) -> String {
        peers.iter().map(|&peer| self.of(peer)).collect::<Vec<_>>().join(", ")
    }

    /// Some peers after each other: the first of them, and how many more there are.
    pub fn list(&self, peers: &[usize]) -> String {
        match peers.len() {
            0 => "nobody".into(),
            n if n > SHOWN => format!("{} and {} more", self.whole(&peers[..SHOWN]), n - SHOWN),
            _ => self.whole(peers),
        }
    }

    /// The same with the word before them: `peer a`, `peers a, b`.
    pub fn peers(&self, peers: &[usize]) -> String {
        match peers {
            [] => "nobody".into(),
            [one] => format!("peer {}", self.of(*one)),
            several => format!("peers {}", self.list(several)),
        }
    }

    /// Who attacks.
    pub fn adversary(&self, adversary: &Adversary) -> String {
        match adversary {
            Adversary::Peer(peer) => format!("peer {}", self.of(*peer)),
            // All of them: who is left out is not spoken of.
            Adversary::Coalition(peers) => format!("the coalition of peers {}", self.whole(peers)),
            Adversary::WireTapperWith(peers) => format!(
                "a wire-tapper who sees every message and holds the secrets of peers {}",
                self.whole(peers)
            ),
            other => other.to_string(),
        }
    }

    /// A guarantee in words.
    pub fn state(&self, guarantee: &Guarantee, delta: f64) -> sottovoce_privacy::Result<String> {
        let epsilon = guarantee.epsilon(delta)?;
        Ok(guarantee.state_against(&self.adversary(&guarantee.adversary), delta, epsilon))
    }
}

/// The end of a long name, which tells more than its beginning, so that it fits a column of this width.
pub fn end(name: &str, width: usize) -> String {
    match name.chars().count().checked_sub(width) {
        None | Some(0) => name.to_owned(),
        Some(more) => format!("…{}", name.chars().skip(more + 1).collect::<String>()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peers_have_names_or_numbers() {
        let some = Names::new(Some(&["ann".to_owned(), "bob".to_owned()]));
        let none = Names::default();
        assert_eq!((some.of(1), none.of(1)), ("bob".into(), "1".into()));
        assert_eq!(some.adversary(&Adversary::Coalition(vec![0, 1])), "the coalition of peers ann, bob");
        assert_eq!(
            none.adversary(&Adversary::Coalition(vec![0, 1])),
            Adversary::Coalition(vec![0, 1]).to_string()
        );
        assert_eq!(none.adversary(&Adversary::WireTapper), Adversary::WireTapper.to_string());
        assert_eq!((some.beside(&[1]), none.beside(&[1])), (vec!["bob".to_owned()], Vec::new()));
        assert_eq!(none.list(&(0..22).collect::<Vec<_>>()).split(' ').next_back(), Some("more"));
        assert_eq!((some.cell(0, 4), some.cell(0, 2)), ("ann ".into(), "…n".into()));
    }
}
