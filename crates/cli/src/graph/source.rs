//! Graphs of commands: read as experiments read them, their hash kept and their notes said. And an averaging that is asked about, and not run.

use std::path::Path;

use anyhow::bail;
use clap::Args;
use clap::builder::TypedValueParser;
use sottovoce::averaging::Question;
use sottovoce::experiment::graph::{self, Place};
use sottovoce::experiment::{AdversarySpec, Averaging, GraphSpec, MixingSpec, NoiseSpec, TargetSpec};
use sottovoce::names::Names;
use sottovoce::plan::Sums;
use sottovoce_topology::Graph;
use sottovoce_topology::io::Format;
use sottovoce_views::door::Setting;

use crate::output::note;
use crate::{Global, input};

/// Parses a file format by name.
pub(crate) fn formats() -> impl TypedValueParser<Value = Format> {
    graph::formats().try_map(|name| name.parse::<Format>())
}

/// Reads a graph from a file, or from standard input where the name is `-`.
pub(crate) fn read_graph(path: &Path, format: Option<Format>) -> anyhow::Result<Graph> {
    let found = graph::read_graph(path, format)?;
    said(Some(&found.sha256), &found.notes);
    Ok(found.graph)
}

/// Keeps the hash of a graph's file, and says what was noticed in it.
pub(crate) fn said(sha256: Option<&String>, notes: &[String]) {
    if let Some(hash) = sha256 {
        input::keep(input::GRAPH, hash.clone());
    }
    notes.iter().for_each(|text| note(text));
}

/// What an averaging reveals depends on these options of an experiment. Where it is not run, noise and sensitivity are 1 unless they are given, and
/// weights are plain Metropolis weights.
#[derive(Debug, Args)]
#[command(mut_args(|arg| match arg.get_id().as_str() {
    "sigma" => arg.help("Standard deviation of the noise on a private value (default: what --epsilon asks for, or else 1)"),
    "sensitivity" => arg.help("How far one person can move a peer's value (default: 1)"),
    "observers" => arg.help("Peers who pool what they hear, by name, separated by commas"),
    "epsilon" => arg.help("Epsilon that a peer's value may lose, instead of a noise"),
    "distance" | "metric" | "within" | "farther" => arg.hide(true),
    _ => arg,
}))]
pub(crate) struct Plan {
    #[command(flatten)]
    graph: GraphSpec,
    #[command(flatten)]
    protocol: MixingSpec,
    #[command(flatten)]
    noise: NoiseSpec,
    #[command(flatten)]
    adversary: AdversarySpec,
    #[command(flatten)]
    target: TargetSpec,
}

/// The same, read.
pub(crate) struct Planned {
    pub(crate) experiment: Averaging,
    pub(crate) graph: Graph,
    pub(crate) setting: Setting,
    pub(crate) question: Question,
}

impl Plan {
    /// The experiment.
    pub(crate) fn experiment(&self) -> Averaging {
        let mut experiment = Averaging {
            graph: self.graph.clone(),
            protocol: self.protocol.clone(),
            noise: self.noise.clone(),
            adversary: self.adversary.clone(),
            target: self.target.clone(),
            ..Averaging::default()
        };
        if self.noise.sigma.is_none() && self.target.epsilon.is_none() {
            experiment.noise.sigma = Some(1.0);
        }
        experiment
    }

    /// Reads what it names.
    pub(crate) fn read(&self, global: &Global) -> anyhow::Result<Planned> {
        if !self.target.by_distance.is_none() {
            bail!(
                "`distance` is given: classes of distance are shown by run averaging and for an experiment's file; leave it out here"
            );
        }
        let experiment = self.experiment();
        experiment.check()?;
        let place = experiment.graph.place(Path::new(""), global.seed)?;
        said(place.sha256.as_ref(), &place.notes);
        let mut setting = experiment.setting(&place, global.seed)?;
        setting.cancelling = experiment.noise.cancelling(Path::new(""), &place.graph, global.seed)?;
        let observers = experiment.adversary.peers(Some(&place.graph), place.graph.nodes())?;
        let sensitivity = experiment.noise.sensitivity.unwrap_or(1.0);
        let sums = Sums { width: 1, range: sensitivity, sensitivity };
        let bar = global.progress(place.graph.nodes(), "observers");
        let tapper = experiment.tapper(&observers);
        setting.masks = experiment.masks((Path::new(""), &place.graph, global.seed), sums, &tapper)?;
        let sigma = experiment.sigma(&setting, &tapper, sensitivity, None, &|_| bar.inc(1))?;
        bar.finish_and_clear();
        let Place { graph, .. } = place;
        let names = Names::of_graph(&graph);
        let question = Question {
            observers,
            tapped: false,
            colluders: experiment.adversary.colluders,
            sigma,
            sensitivity,
            delta: experiment.target.delta,
            names,
        };
        Ok(Planned { experiment, graph, setting, question })
    }
}
