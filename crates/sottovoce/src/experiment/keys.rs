//! Who shares a secret with whom: the graph itself, everyone, so many partners drawn for each, or a graph of the same peers from a file.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sottovoce_protocol::public::Cancelling;
use sottovoce_topology::family::{Family, generate};
use sottovoce_topology::{Graph, GraphBuilder};

use super::NoiseSpec;
use super::graph::{peer, read_graph};
use super::memory::Memory;
use crate::learning::Secrets;
use crate::{Error, Result, require};

/// Peers up to which everyone may share a secret with everyone.
const MOST_COMPLETE: usize = 2000;

/// Who shares a secret with whom.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Keys {
    /// Each two neighbours of the graph.
    Graph,
    /// Each two peers.
    Complete,
    /// So many partners of each, drawn with the seed.
    Regular(usize),
    /// As a file says, by the peers' names.
    File(PathBuf),
}

impl fmt::Display for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Graph => f.write_str("graph"),
            Self::Complete => f.write_str("complete"),
            Self::Regular(partners) => write!(f, "regular:{partners}"),
            Self::File(path) => write!(f, "{}", path.display()),
        }
    }
}

impl From<Keys> for String {
    fn from(keys: Keys) -> Self {
        keys.to_string()
    }
}

impl FromStr for Keys {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text.split_once(':') {
            _ if text == "graph" => Ok(Self::Graph),
            _ if text == "complete" => Ok(Self::Complete),
            Some(("regular", partners)) => match partners.parse() {
                Ok(partners) if partners > 0 => Ok(Self::Regular(partners)),
                _ => Err(Error::parameter(
                    "keys",
                    text,
                    "give how many partners each peer has, as in regular:8",
                )),
            },
            _ => Ok(Self::File(text.into())),
        }
    }
}

impl TryFrom<String> for Keys {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl Keys {
    /// The file, where one tells.
    pub(crate) fn file(&mut self) -> Option<&mut PathBuf> {
        match self {
            Self::File(path) => Some(path),
            _ => None,
        }
    }

    /// The graph of secrets among the peers of `graph`. `folder` is where relative names begin.
    pub fn graph(&self, folder: &Path, graph: &Graph, seed: u64) -> Result<Graph> {
        match self {
            Self::File(file) => {
                let lent = Memory::default().of("keys", file, |lent| &lent.keys)?;
                read_keys(lent.as_deref().map(|(keys, _)| keys), &folder.join(file), graph)
            }
            _ => Ok(self.known(graph, seed)?.unwrap_or_else(|| graph.clone())),
        }
    }

    /// The same without a file; none where only a file tells.
    pub fn known(&self, graph: &Graph, seed: u64) -> Result<Option<Graph>> {
        let n = graph.nodes();
        Ok(Some(match self {
            Self::Graph => Graph::from_edges(n, graph.edges())?,
            Self::Complete => {
                let remedy = format!(
                    "{n} peers would keep {} secrets each; give regular:K for K partners each, or graph",
                    n.saturating_sub(1)
                );
                require(n <= MOST_COMPLETE, "keys", "complete", remedy)?;
                generate(&Family::Complete { n }, seed, false)?
            }
            Self::Regular(partners) => {
                let remedy = format!("there are {n} peers; give fewer partners, or complete");
                require(*partners < n, "keys", self, remedy)?;
                let remedy =
                    "an odd number of peers cannot have an odd number of partners each; give one more";
                require(n.is_multiple_of(2) || partners.is_multiple_of(2), "keys", self, remedy)?;
                generate(&Family::RandomRegular { n, degree: *partners }, seed, false)?
            }
            Self::File(_) => return Ok(None),
        }))
    }
}

impl NoiseSpec {
    /// The noise that cancels, if there is any.
    pub fn cancelling(&self, folder: &Path, graph: &Graph, seed: u64) -> Result<Option<Cancelling>> {
        let Some(kappa) = self.cancel else { return Ok(None) };
        let keys = self.keys().graph(folder, graph, seed)?;
        Ok(Some(Cancelling::new(keys, kappa)?))
    }

    /// Who shares secrets, where any are shared.
    pub fn keys(&self) -> &Keys {
        self.keys.as_ref().unwrap_or(&Keys::Complete)
    }
}

/// Refuses noises of pairs that are none, and what is said of pairs where nothing cancels. Those who may collude are at least one, since every peer holds secrets.
pub(super) fn check(cancel: Option<f64>, keys: Option<&Keys>, colluders: Option<usize>) -> Result<()> {
    if let Some(colluders) = colluders {
        let remedy = "without noise that cancels someone who sees every message learns all that there is, whoever helps; give --cancel KAPPA as well";
        require(cancel.is_some(), "colluders", colluders, remedy)?;
    }
    check_colluders(colluders)?;
    match (cancel, keys) {
        (Some(kappa), _) => Ok(Cancelling::check(kappa)?),
        (None, Some(keys)) => {
            let remedy = "no noise cancels; give --cancel KAPPA as well, or leave it out";
            Err(Error::parameter("keys", keys, remedy))
        }
        (None, None) => Ok(()),
    }
}

/// Those who may collude are at least one.
pub(super) fn check_colluders(colluders: Option<usize>) -> Result<()> {
    let remedy = "every peer holds its own secrets; give at least 1";
    require(colluders != Some(0), "colluders", 0, remedy)
}

/// What an experiment says of noise that cancels in learning.
#[derive(Debug, Clone, Copy)]
pub struct Pairing<'a> {
    /// How loud pairs are, in units of the own noise; none where nothing cancels.
    pub cancel: Option<f64>,
    /// Who shares secrets, where that is said.
    pub keys: Option<&'a Keys>,
    /// How many may collude, where that is said.
    pub colluders: Option<usize>,
}

impl Pairing<'_> {
    fn keys(&self) -> &Keys {
        self.keys.unwrap_or(&Keys::Complete)
    }

    fn colluding(&self) -> usize {
        self.colluders.unwrap_or(1)
    }

    /// The noise that cancels among so many peers, if there is any.
    pub fn secrets(
        &self,
        folder: &Path,
        (graph, peers): (Option<&Graph>, usize),
        seed: u64,
    ) -> Result<Option<Secrets>> {
        check(self.cancel, self.keys, self.colluders)?;
        let Some(kappa) = self.cancel else { return Ok(None) };
        let keys = match (graph, self.keys()) {
            (None, Keys::Graph) => {
                let remedy = "the method has no graph; give complete, regular:K or a file";
                return Err(Error::parameter("keys", "graph", remedy));
            }
            (Some(graph), keys) => keys.graph(folder, graph, seed)?,
            (None, keys) => keys.graph(folder, &Graph::from_edges(peers, [])?, seed)?,
        };
        Ok(Some(Secrets::new(Cancelling::new(keys, kappa)?, self.colluding())?))
    }

    /// Whether these are the secrets that it says, of so many peers. What a file said is not known here, nor what is said of a graph that is not.
    pub fn names(
        &self,
        secrets: Option<&Secrets>,
        (graph, peers): (Option<&Graph>, usize),
        seed: u64,
    ) -> Result<bool> {
        let (Some(kappa), Some(secrets)) = (self.cancel, secrets) else {
            return Ok(self.cancel.is_none() && secrets.is_none());
        };
        let known = match (graph, self.keys()) {
            (None, Keys::Graph) => None,
            (Some(graph), keys) => keys.known(graph, seed)?,
            (None, keys) => keys.known(&Graph::from_edges(peers, [])?, seed)?,
        };
        let alike = |keys: Graph| keys.edges().eq(secrets.pairs().keys().edges());
        Ok(kappa == secrets.pairs().kappa()
            && secrets.colluders() == self.colluding()
            && secrets.pairs().peers() == peers
            && known.is_none_or(alike))
    }
}

/// Reads the graph of secrets among the peers of `graph`, who go by their names. Peers whom it does not name share no secret.
fn read_keys(lent: Option<&Graph>, path: &Path, graph: &Graph) -> Result<Graph> {
    if lent.is_none() && !path.exists() {
        let remedy = "there is no such file; give graph, complete, regular:K for K partners each, or a file with the pairs";
        return Err(Error::parameter("keys", path.display().to_string(), remedy));
    }
    let found =
        lent.map_or_else(|| Ok(read_graph(path, None)?.graph), |keys| Ok::<_, Error>(keys.clone()))?;
    let mut keys = GraphBuilder::new(graph.nodes())?;
    let number = |node: usize| peer("keys", &found.label(node), Some(graph), graph.nodes());
    for (u, v) in found.edges() {
        keys.edge(number(u)?, number(v)?)?;
    }
    keys.build().map_err(|problem| Error::refused(format!("{}: {problem}", path.display())))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_written_as_they_are_read() {
        for text in ["graph", "complete", "regular:8", "keys.txt", "folder/regular.txt"] {
            assert_eq!(text.parse::<Keys>().unwrap().to_string(), text);
        }
        for text in ["regular:0", "regular:", "regular:x", "regular:-3"] {
            assert!(text.parse::<Keys>().unwrap_err().to_string().contains("keys"), "{text}");
        }
    }

    #[test]
    fn everyone_has_the_partners_asked_for() {
        let ring = generate(&Family::Ring { n: 12 }, 0, true).unwrap();
        let degrees = |keys: Keys| {
            let keys = keys.graph(Path::new(""), &ring, 3).unwrap();
            (0..12).map(|v| keys.degree(v)).collect::<Vec<_>>()
        };
        assert_eq!(degrees(Keys::Graph), [2; 12]);
        assert_eq!(degrees(Keys::Complete), [11; 12]);
        assert_eq!(degrees(Keys::Regular(5)), [5; 12]);
        assert!(Keys::Regular(12).graph(Path::new(""), &ring, 3).is_err());
        let odd = generate(&Family::Ring { n: 11 }, 0, true).unwrap();
        assert!(Keys::Regular(5).graph(Path::new(""), &odd, 3).is_err());
    }
}
