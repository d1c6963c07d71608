//! The transcript of a rumour by messages as a file: which messages arrived, in the order of time, and who learned of it.
//!
//! Messages that were lost are not in it: nobody heard them. Whoever reads the whole file knows who began.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use sottovoce_protocol::Heard;
use sottovoce_protocol::rumor::{Contacts, Label, Note};
use sottovoce_simulator::rumor::{Curious, RumorTranscript};
use sottovoce_topology::Graph;

use super::{SCHEMA_VERSION, SHOWN, astray, differing};
use crate::experiment::graph::peer;
use crate::experiment::{self, Experiment, Place};
use crate::require;
use crate::rumor::{Networked, Run};
use crate::{Error, Result};

/// Messages of which all are kept: beyond, only the first and those that curious peers heard.
const MOST_MESSAGES: usize = 1_000_000;

/// A run, as a file has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Messages {
    pub(super) schema_version: u32,
    /// The program's version.
    pub version: String,
    /// The experiment, as its own file would have it.
    pub experiment: String,
    /// The seed of the run.
    pub seed: u64,
    /// Number of peers.
    pub peers: usize,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    names: Option<Vec<String>>,
    /// Who can tell whom; none where everyone can tell everyone.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    edges: Option<Vec<(usize, usize)>>,
    curious: Vec<usize>,
    muting: f64,
    /// Whether all messages are here, or only the first and those that the curious heard.
    complete: bool,
    transcript: RumorTranscript,
}

impl Messages {
    /// A run of an experiment.
    pub(crate) fn new(experiment: &Experiment, net: &Networked, run: &Run) -> Result<Self> {
        let mut transcript = run.outcome.transcript.clone();
        let complete = transcript.messages.len() <= MOST_MESSAGES;
        if !complete {
            let mut first = true;
            transcript.messages.retain(|heard| std::mem::take(&mut first) || net.curious.has(heard.to));
        }
        let graph = net.place.as_ref().map(|place| &place.graph);
        Ok(Self {
            schema_version: SCHEMA_VERSION,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            experiment: experiment.clone().with_seed(run.seed).to_toml()?,
            seed: run.seed,
            peers: net.peers,
            names: graph.and_then(Graph::labels).map(<[String]>::to_vec),
            edges: graph.map(|graph| graph.edges().collect()),
            curious: net.curious.members(),
            muting: net.muting,
            complete,
            transcript,
        })
    }

    fn asked(&self) -> Result<experiment::Rumor> {
        match Experiment::parse(&self.experiment)? {
            Experiment::Rumor(asked) => Ok(asked),
            _ => Err(Error::parameter("experiment", "no rumour", "the file is damaged; run again")),
        }
    }

    fn graph(&self) -> Result<Option<Graph>> {
        let Some(edges) = &self.edges else { return Ok(None) };
        let graph = Graph::from_edges(self.peers, edges.iter().copied())?;
        Ok(Some(match &self.names {
            Some(names) => graph.with_labels(names.clone())?,
            None => graph,
        }))
    }

    /// What was agreed on, by the experiment, on the graph of the run.
    pub(crate) fn network(&self) -> Result<Networked> {
        let place =
            |graph| Place { graph, schedule: None, sha256: None, notes: Vec::new(), name: String::new() };
        Networked::on(&self.asked()?, self.graph()?.map(place), self.seed)
    }

    /// Who began: whoever knew first.
    pub fn source(&self) -> Option<usize> {
        let learned = |(peer, note): &(usize, Note)| matches!(note, Note::Learned { .. }).then_some(*peer);
        self.transcript.notes.iter().find_map(learned)
    }

    /// The numbers of peers who are named.
    pub fn numbers(&self, names: &[String]) -> Result<Vec<usize>> {
        let graph = self.graph()?;
        names.iter().map(|name| peer("observers", name, graph.as_ref(), self.peers)).collect()
    }

    /// Who listened: those of the run, or others.
    pub(crate) fn listeners(&self, net: &Networked, others: &[usize]) -> Result<Curious> {
        if others.is_empty() {
            return Ok(net.curious.clone());
        }
        let told = Curious::new(others, self.peers)?;
        if let Some(source) = self.source().filter(|&source| told.has(source)) {
            let remedy = "the rumour began there; a source hides from others, not from itself: leave it out";
            return Err(Error::parameter("observers", net.names().of(source), remedy));
        }
        let remedy = "the transcript holds what the run's own curious peers heard; leave it out";
        require(self.complete, "observers", format_args!("{} peers", told.count()), remedy)?;
        Ok(told)
    }

    /// Tellings that reached one who listens from one who does not, in order: by whom.
    pub(crate) fn heard<'a>(&'a self, listeners: &'a Curious) -> impl Iterator<Item = usize> + 'a {
        let tellings = self.transcript.messages.iter().filter(|heard| matches!(heard.label, Label::Tell(_)));
        tellings.filter(|heard| listeners.has(heard.to) && !listeners.has(heard.from)).map(|heard| heard.from)
    }

    /// Where peers did not do what was agreed: none, or the account of the run is void.
    pub fn check(&self) -> Result<Vec<String>> {
        let asked = self.asked()?;
        let net = match self.network() {
            Ok(net) => net,
            Err(problem) => return Ok(vec![format!("its experiment cannot have been run so: {problem}")]),
        };
        let mut problems = differing(&[
            ("number of peers", self.edges.is_some() || asked.peers == self.peers),
            ("graph", asked.graph.is_some() == self.edges.is_some()),
            ("list of curious peers", net.curious.members() == self.curious),
            ("muting parameter", net.muting == self.muting),
            ("seed", asked.seed == Some(self.seed)),
            ("source", self.source() == Some(net.source(self.seed))),
        ]);
        if problems.is_empty() && self.complete {
            problems.extend(Course::new(self, &net).problem());
        }
        problems.truncate(SHOWN);
        Ok(problems)
    }

    /// Refuses a run in which peers did not do what was agreed.
    pub(crate) fn require_kept(&self) -> Result<()> {
        self.check()?.first().map_or(Ok(()), |problem| Err(astray(problem)))
    }
}

/// What is known of peers while messages are read one after the other.
struct Course<'a> {
    file: &'a Messages,
    net: &'a Networked,
    knows: Vec<bool>,
    /// How often each was told, the beginning included, and how often it told.
    woken: Vec<usize>,
    told: Vec<usize>,
    /// Tellings by their names.
    tellings: BTreeSet<(usize, usize, u64)>,
}

impl<'a> Course<'a> {
    fn new(file: &'a Messages, net: &'a Networked) -> Self {
        let begins = |peer| file.source() == Some(peer);
        let knows: Vec<bool> = (0..net.peers).map(begins).collect();
        let woken = knows.iter().map(|knows| usize::from(*knows)).collect();
        Self { file, net, knows, woken, told: vec![0; net.peers], tellings: BTreeSet::new() }
    }

    /// The first thing that was not agreed on.
    fn problem(mut self) -> Option<String> {
        let transcript = &self.file.transcript;
        if let Some(problem) = transcript.messages.iter().find_map(|heard| self.message(heard)) {
            return Some(problem);
        }
        let learned = |(peer, note): &(usize, Note)| matches!(note, Note::Learned { .. }).then_some(*peer);
        let learned: BTreeSet<usize> = transcript.notes.iter().filter_map(learned).collect();
        let other = (0..self.net.peers).find(|peer| self.knows[*peer] != learned.contains(peer))?;
        Some(match self.knows[other] {
            true => format!("peer {other} was told, and does not know"),
            false => format!("peer {other} knows, and was never told"),
        })
    }

    fn message(&mut self, heard: &Heard<Label>) -> Option<String> {
        let Heard { from, to, label } = *heard;
        if let Some(stranger) = [from, to].into_iter().find(|&peer| peer >= self.net.peers) {
            return Some(format!("a message of or to peer {stranger}, of whom there is none"));
        }
        let reached = match self.net.among().contacts(from) {
            Contacts::Everyone(_) => from != to,
            Contacts::Only(contacts) => contacts.binary_search(&(to as u32)).is_ok(),
        };
        if !reached {
            return Some(format!("peer {from} told peer {to}, whom it cannot reach"));
        }
        match label {
            Label::Tell(told) => self.telling(from, to, told.number),
            Label::Heard(_) if !self.net.acknowledge => {
                Some(format!("peer {from} answered peer {to}, where no answers were agreed on"))
            }
            Label::Heard(told) if !self.tellings.contains(&(to, from, told.number)) => {
                Some(format!("peer {from} answered peer {to}, who had not told it anything"))
            }
            Label::Heard(_) => None,
        }
    }

    fn telling(&mut self, from: usize, to: usize, number: u64) -> Option<String> {
        if !self.knows[from] {
            return Some(format!("peer {from} told without having been told"));
        }
        if !self.tellings.insert((from, to, number)) {
            let repeats = self.net.acknowledge;
            return (!repeats).then(|| format!("peer {from} repeated a telling, which was not agreed on"));
        }
        self.told[from] += 1;
        self.knows[to] = true;
        self.woken[to] += 1;
        // Whoever has told falls silent until it is told again.
        (self.net.muting == 0.0 && self.told[from] > self.woken[from])
            .then(|| format!("peer {from} told again without having been told again"))
    }
}
