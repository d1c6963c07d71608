//! `sottovoce audit source`: who started this rumour?

use std::path::PathBuf;

use anyhow::bail;
use clap::{Args, ValueEnum};
use sottovoce::names::Names;
use sottovoce::rumor::{drawn, listeners};
use sottovoce_audit::source::{Pace, Setting, Sight, distinguish, precision, silence, vote, worst_pair};
use sottovoce_protocol::public::{Among, Rules};
use sottovoce_protocol::rumor::Start;
use sottovoce_topology::Graph;
use sottovoce_topology::io::Format;
use sottovoce_views::rumor::{Course, MOST_HONEST, OnGraph, Question, Rumor};

use sottovoce::experiment::graph::peer;

use super::Failed;
use super::source_table::{Bounds, Finding, Guess};
use crate::Global;
use crate::graph::source::{formats, read_graph};
use crate::graph::{count, real};

const EXAMPLES: &str = "Examples:
  sottovoce audit source --peers 1000 --curious 100 --muting 0.5
  sottovoce audit source --peers 1000 --curious 100 --muting 0.5 --suspects 2 --epsilon 0.5
  sottovoce audit source --graph friends.txt --curious-peers 3,17 --muting 0.2 --sees everything
  sottovoce audit source --peers 4000 --curious 2000 --muting 1 --delayed-start

Rumours are started many times, and three attackers listen with the curious peers: the first names the first suspect heard, the second
lets the first peers heard of several rumours vote, the third tells two sources apart. What the third achieves is a lower bound on
delta that holds with the stated confidence. It must not exceed the proven delta, which on a graph is computed for the two sources; where
no theorem applies (a clock, a delayed start, very large graphs) it is the answer. Exit code 0: the claims stand. 1: one does not.";

/// Arguments of `audit source`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(group = clap::ArgGroup::new("crowd").required(true).args(["nodes", "graph"]))]
#[command(group = clap::ArgGroup::new("listeners").required(true).args(["curious", "curious_peers"]))]
pub(crate) struct Source {
    /// Number of peers, everyone of whom can tell everyone.
    #[arg(long = "peers", value_name = "N", value_parser = count, allow_negative_numbers = true)]
    nodes: Option<usize>,
    /// Graph file: only neighbours tell each other; `-` is standard input.
    #[arg(long, value_name = "FILE")]
    graph: Option<PathBuf>,
    /// Format of the graph file; without it the extension tells.
    #[arg(long, value_name = "FORMAT", value_parser = formats(), requires = "graph")]
    format: Option<Format>,
    /// How many peers are curious; on a graph they are drawn at random.
    #[arg(long, value_name = "F", value_parser = count, allow_negative_numbers = true)]
    curious: Option<usize>,
    /// Which peers are curious, separated by commas.
    #[arg(long, value_name = "V,...", value_delimiter = ',')]
    curious_peers: Vec<String>,
    /// Probability to stay active after a telling: 0 is a walk, 1 is push.
    #[arg(long, value_name = "S", value_parser = real, allow_negative_numbers = true)]
    muting: f64,
    /// Number of suspects, one of whom is the source (default: everyone who is not curious).
    #[arg(long, value_name = "K", value_parser = count, allow_negative_numbers = true)]
    suspects: Option<usize>,
    /// Which peers are suspected, instead, separated by commas.
    #[arg(long, value_name = "V,...", value_delimiter = ',', conflicts_with = "suspects")]
    suspect_peers: Vec<String>,
    /// Rumours of one source on which the second attacker's vote rests.
    #[arg(long, value_name = "K", default_value = "3", value_parser = count, allow_negative_numbers = true)]
    rumors: usize,
    /// Of each rumour so many of the first peers heard have a vote.
    #[arg(long, value_name = "K", default_value = "10", value_parser = count, allow_negative_numbers = true)]
    first: usize,
    /// Epsilon at which delta is bounded.
    #[arg(long, value_name = "E", default_value = "0", value_parser = real, allow_negative_numbers = true)]
    epsilon: f64,
    /// Two sources to be told apart, separated by a comma (default: on a graph, the worst of some pairs).
    #[arg(long, value_name = "U,V", value_delimiter = ',')]
    pair: Vec<String>,
    /// Number of runs of each attack.
    #[arg(long, value_name = "R", default_value = "20000", value_parser = count, allow_negative_numbers = true)]
    runs: usize,
    /// Confidence of every bound.
    #[arg(long, value_name = "P", default_value = "0.999", value_parser = real, allow_negative_numbers = true)]
    confidence: f64,
    /// What observers know of what they hear.
    #[arg(long, value_enum, default_value = "senders")]
    sees: Sees,
    /// All active peers tell once in a round, instead of one at a time.
    #[arg(long)]
    rounds: bool,
    /// The source tells once and waits: not private, and here to be caught.
    #[arg(long)]
    delayed_start: bool,
    /// Probability that a telling is lost.
    #[arg(long, value_name = "P", default_value = "0", value_parser = real, allow_negative_numbers = true)]
    drop: f64,
    /// Tellers notice losses and try again.
    #[arg(long, requires = "drop")]
    repeated: bool,
}

/// Most peers of a crowd in which everyone can tell everyone.
const MOST_PEERS: usize = 100_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Sees {
    /// Senders, in order (what the theorems assume).
    Senders,
    /// Also who was told, and when.
    Everything,
}

impl Source {
    pub(crate) fn run(&self, global: &Global) -> anyhow::Result<()> {
        self.check()?;
        let graph = self.graph.as_deref().map(|path| read_graph(path, self.format)).transpose()?;
        let among = graph.as_ref().map_or(Among::Everyone(self.nodes.unwrap_or(0)), Among::Graph);
        among.check()?;
        let count = self.curious.unwrap_or(0);
        let curious = listeners(&self.curious_peers, count, graph.as_ref(), among.peers(), global.seed)?;
        let setting = Setting {
            among,
            rules: self.rules()?,
            curious: &curious,
            pace: if self.rounds { Pace::Rounds } else { Pace::Steps },
            sight: if self.sees == Sees::Senders { Sight::Senders } else { Sight::Everything },
        };
        let finding = self.attack(&setting, graph.as_ref(), global)?;
        let failure = finding.failure();
        global.print(&finding)?;
        failure.map_or(Ok(()), |reason| Err(Failed(reason).into()))
    }

    fn check(&self) -> anyhow::Result<()> {
        if let (Some(format), None) = (self.format, &self.graph) {
            bail!("`format` is {format}: it is that of a graph file; give --graph, or leave it out");
        }
        if !(self.confidence > 0.5 && self.confidence < 1.0) {
            bail!("`confidence` is {}: give a probability between 0.5 and 1, such as 0.999", self.confidence);
        }
        if self.nodes.is_some_and(|peers| peers > MOST_PEERS) {
            bail!("`peers` is {}: give at most {MOST_PEERS}", self.nodes.unwrap_or_default());
        }
        if !(self.drop >= 0.0 && self.drop < 1.0) {
            bail!("`drop` is {}: give a probability from 0 to below 1", self.drop);
        }
        if !(self.epsilon >= 0.0 && self.epsilon.is_finite()) {
            bail!("`epsilon` is {}: give a finite number from 0 on", self.epsilon);
        }
        if self.runs < 8 {
            bail!("`runs` is {}: give 8 at least; thousands, for a bound worth having", self.runs);
        }
        Ok(())
    }

    fn rules(&self) -> anyhow::Result<Rules> {
        let start = if self.delayed_start { Start::Delayed } else { Start::Alike };
        Ok(Rules { start, drop: self.drop, repeated: self.repeated, ..Rules::new(self.muting)? })
    }

    fn attack(
        &self,
        setting: &Setting<'_>,
        graph: Option<&Graph>,
        global: &Global,
    ) -> anyhow::Result<Finding> {
        let suspects = self.suspected(setting, graph, global.seed)?;
        let (runs, seed) = (self.runs as u64, global.seed);
        let bar = |what| global.progress(self.runs, what);
        let show = |bar: &indicatif::ProgressBar, done| bar.set_position(done);
        let (first_bar, vote_bar) = (bar("first suspect heard"), bar("votes"));
        let first = precision(setting, &suspects, runs, seed, |done| show(&first_bar, done))?;
        let votes = vote(setting, self.rumors, self.first, runs, seed, |done| show(&vote_bar, done))?;
        let silent = match self.delayed_start {
            true => Some(silence(setting, setting.among.peers() / 10 + 1, runs, seed, |_| ())?),
            false => None,
        };
        let pair = self.pair(setting, graph, &suspects, seed)?;
        let pair_bar = bar("telling two sources apart");
        let significance = 1.0 - self.confidence;
        // A seed apart from the one that chose the pair.
        let told = distinguish(setting, pair, self.epsilon, runs, significance, seed ^ 1 << 63, |done| {
            show(&pair_bar, done);
        })?;
        [first_bar, vote_bar, pair_bar].iter().for_each(indicatif::ProgressBar::finish_and_clear);
        let guess = |share| Guess::new(share, self.confidence);
        let names = graph.map(Names::of_graph).unwrap_or_default();
        let listeners: Vec<usize> =
            (0..setting.among.peers()).filter(|&peer| setting.curious.has(peer)).collect();
        let bounds = self.bounds(setting, graph, pair, suspects.len())?;
        Ok(Finding {
            suspects: suspects.len(),
            rumors: self.rumors,
            confidence: self.confidence,
            first: guess(first),
            vote: guess(votes),
            silence: silent.map(guess),
            distinguished: told,
            pair_names: names.beside(&[pair.0, pair.1]),
            lists: [&suspects, &listeners].map(|peers| names.whole(peers)),
            guarantees: bounds.iter().map(|bounds| bounds.stated(self.epsilon)).collect(),
            bounds,
            dies: self.drop > 0.0 && !self.repeated && self.muting == 0.0,
        })
    }

    /// The peers one of whom is the source.
    fn suspected(
        &self,
        setting: &Setting<'_>,
        graph: Option<&Graph>,
        seed: u64,
    ) -> anyhow::Result<Vec<usize>> {
        let honest = setting.curious.honest();
        if !self.suspect_peers.is_empty() {
            let peers = setting.among.peers();
            let named = self.suspect_peers.iter().map(|name| peer("suspect-peers", name, graph, peers));
            let mut suspects = named.collect::<Result<Vec<_>, _>>()?;
            suspects.sort_unstable();
            suspects.dedup();
            return Ok(suspects);
        }
        match self.suspects {
            Some(count) if count == 0 || count > honest.len() => {
                bail!(
                    "`suspects` is {count}: give a number from 1 to {}, the peers who are not curious",
                    honest.len()
                )
            }
            Some(count) => Ok(drawn(count, &honest, seed, 2)),
            None => Ok(honest),
        }
    }

    fn pair(
        &self,
        setting: &Setting<'_>,
        graph: Option<&Graph>,
        suspects: &[usize],
        seed: u64,
    ) -> anyhow::Result<(usize, usize)> {
        let peers = setting.among.peers();
        match (&self.pair[..], graph) {
            ([u, v], _) => Ok((peer("pair", u, graph, peers)?, peer("pair", v, graph, peers)?)),
            ([], None) if suspects.len() > 1 => Ok((suspects[0], suspects[1])),
            ([], _) => Ok(worst_pair(setting, 20, self.epsilon, 400.min(self.runs as u64), seed, |_| ())?),
            (names, _) => bail!("`pair` is {}: give two peers, such as 0,1", names.join(",")),
        }
    }

    /// What theorems promise here, if any does.
    fn bounds(
        &self,
        setting: &Setting<'_>,
        graph: Option<&Graph>,
        pair: (usize, usize),
        suspects: usize,
    ) -> anyhow::Result<Option<Bounds>> {
        let timed = setting.sight == Sight::Everything;
        if self.delayed_start {
            return Ok(None);
        }
        let Some(graph) = graph else {
            let rumor = Rumor::new(setting.among.peers(), setting.curious.count(), self.muting)?;
            let course = Course { rounds: self.rounds, timed, lossy: self.drop > 0.0 };
            return Ok(Some(Bounds::new(rumor.proven(self.epsilon, course)?, suspects)));
        };
        if timed || setting.curious.honest().len() > MOST_HONEST {
            return Ok(None);
        }
        // Who notices a loss and tries again has told nobody: that is no step at all.
        let drop = if self.repeated { 0.0 } else { self.drop };
        let rumor = OnGraph::new(graph, &setting.curious.members(), self.muting, drop)?;
        let ask = |epsilon, pair| rumor.hidden(&Question { epsilon, rounds: self.rounds, pair });
        // Two sources are told apart no better than they can be; any source, no better than the worst two, where there are not too many to compare.
        let worst = ask(0.0, None).map_or(1.0, |worst| worst.at_most);
        Ok(Some(Bounds::new(ask(self.epsilon, Some(pair))?.proven(worst), suspects)))
    }
}
