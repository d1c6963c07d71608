//! The transcript of a rumour by messages as a file: which messages arrived, in the order of time, and who learned of it.
//!
//! Messages that were lost are not in it: nobody heard them. Whoever reads the whole file knows who began.

use serde::{Deserialize, Serialize};
use sottovoce_protocol::public::Curious;
use sottovoce_protocol::rumor::{Label, Note};
use sottovoce_simulator::rumor::RumorTranscript;
use sottovoce_topology::Graph;

use super::{SCHEMA_VERSION, SHOWN, astray, differing, unlike};
use crate::experiment::graph::peer;
use crate::experiment::{self, Experiment, Place};
use crate::require;
use crate::rumor::{Networked, Run};
use crate::{Error, Result};

/// Messages of which all are kept: beyond, only the first and those that curious peers heard.
const MOST_MESSAGES: usize = 1_000_000;

/// What is kept of a run, and whether that is all.
fn kept(net: &Networked, mut transcript: RumorTranscript) -> (bool, RumorTranscript) {
    let complete = transcript.messages.len() <= MOST_MESSAGES;
    if !complete {
        let mut first = true;
        transcript.messages.retain(|heard| std::mem::take(&mut first) || net.curious.has(heard.to));
    }
    (complete, transcript)
}

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
        let (complete, transcript) = kept(net, run.outcome.transcript.clone());
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
        if problems.is_empty() {
            let (complete, again) = kept(&net, net.run(self.seed)?.outcome.transcript);
            let told = &self.transcript;
            problems.extend(unlike("the list of the", &[self.complete], &[complete]));
            problems.extend(unlike("release", &told.releases, &again.releases));
            problems.extend(unlike("message", &told.messages, &again.messages));
            problems.extend(unlike("note", &told.notes, &again.notes));
        }
        problems.truncate(SHOWN);
        Ok(problems)
    }

    /// Refuses a run in which peers did not do what was agreed.
    pub(crate) fn require_kept(&self) -> Result<()> {
        self.check()?.first().map_or(Ok(()), |problem| Err(astray(problem)))
    }
}
