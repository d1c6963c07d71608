//! `sottovoce graph schedule`: who mixes with whom at each step, drawn beforehand.

use std::fmt;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::{Args, ValueEnum};
use serde::Serialize;
use sottovoce::experiment::GraphFile;
use sottovoce_report::store;
use sottovoce_topology::mixing::Weights;
use sottovoce_topology::schedule::{Schedule as Drawn, Step};

use super::source::said;
use super::{Global, count, real};
use crate::output;

const EXAMPLES: &str = "Example:
  sottovoce graph schedule --kind randomised --graph cube.txt --steps 500 --out edges.json
  sottovoce graph schedule --kind fresh --peers 64 --factor 2 --steps 20 --out fresh.json
  sottovoce account averaging --schedule edges.json --observers 0

A randomised schedule draws one edge in each step, with probability 2 W_vw/n: nobody mixes in a step with what peers keep for themselves.
A fresh one has a new Erdos-Renyi graph in each step, with edges of probability C ln(n)/n.";

/// Most steps of a schedule.
const MOST_STEPS: usize = 10_000_000;
/// Edges of all fresh graphs together, at most.
const MOST_EDGES: f64 = 5e7;

/// How a schedule is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// One edge of a graph in each step.
    Randomised,
    /// A new random graph in each step.
    Fresh,
}

/// Arguments of `graph schedule`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Schedule {
    /// How it is drawn.
    #[arg(long, value_name = "KIND")]
    kind: Kind,
    #[command(flatten)]
    graph: GraphFile,
    /// Number of peers of fresh graphs.
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true)]
    peers: Option<usize>,
    /// Edges of fresh graphs have the probability of this times ln(n)/n (default: 1.5).
    #[arg(long, value_name = "C", value_parser = real, allow_negative_numbers = true)]
    factor: Option<f64>,
    /// Number of steps.
    #[arg(long, value_name = "T", value_parser = count, allow_negative_numbers = true)]
    steps: usize,
    /// File to write; without it, or as `-`, the schedule goes to standard output.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Replace FILE if it exists.
    #[arg(long, requires = "out")]
    overwrite: bool,
}

impl Schedule {
    pub(crate) fn run(&self, global: &Global) -> anyhow::Result<()> {
        let out = self.out.as_deref().filter(|out| *out != Path::new("-"));
        if let Some(out) = out {
            store::check_file("out", out, self.overwrite)?;
        }
        // A whole step is written for each: longer files are of no use to anybody.
        if !(1..=MOST_STEPS).contains(&self.steps) {
            bail!("`steps` is {}: give a number from 1 to {MOST_STEPS}", self.steps);
        }
        let drawn = self.draw(global)?;
        let text = drawn.to_json()? + "\n";
        match out {
            None if global.json => bail!(
                "`json` is asked for without --out: the schedule itself goes to standard output, and is JSON; leave one out"
            ),
            None => output::write(text.as_bytes()),
            Some(out) => {
                store::write_file("out", out, self.overwrite, |file| {
                    Ok::<_, anyhow::Error>(file.write_all(text.as_bytes())?)
                })?;
                global.print(&Summary::new(&drawn, out))
            }
        }
    }

    fn draw(&self, global: &Global) -> anyhow::Result<Drawn> {
        match self.kind {
            Kind::Randomised => self.randomised(global),
            Kind::Fresh => self.fresh(global),
        }
    }

    fn randomised(&self, global: &Global) -> anyhow::Result<Drawn> {
        if let Some(peers) = self.peers {
            bail!("`peers` is {peers}: a randomised schedule draws edges of a graph; give --graph instead");
        }
        if let Some(factor) = self.factor {
            bail!("`factor` is {factor}: it is for fresh graphs; leave it out");
        }
        let graph = &self.graph;
        let Some(place) = graph.read(Path::new("."), global.seed)? else {
            bail!("`graph` is missing: a randomised schedule draws edges of a graph; give --graph FILE");
        };
        said(place.sha256.as_ref(), &place.notes);
        Ok(Drawn::randomised(&graph.exchanging(&place.graph)?, self.steps, global.seed)?)
    }

    fn fresh(&self, global: &Global) -> anyhow::Result<Drawn> {
        if self.graph != GraphFile::default() {
            bail!(
                "`graph` is given: fresh graphs are drawn; give --peers instead, and no weights: whoever reads the schedule chooses them"
            );
        }
        let Some(peers) = self.peers else {
            bail!("`peers` is missing: give the number of peers, --peers N")
        };
        let (n, factor) = (peers as f64, self.factor.unwrap_or(1.5));
        if peers < 2 {
            bail!("`peers` is {peers}: give at least 2");
        }
        let p = factor * n.ln() / n;
        // Also where it is not a number.
        if !(p > 0.0 && p <= 1.0) {
            bail!(
                "`factor` is {factor}: edges would have the probability {p}; give a number above 0 and at most {}",
                n / n.ln()
            );
        }
        let edges = self.steps as f64 * 0.5 * n * (n - 1.0) * p;
        if edges > MOST_EDGES {
            bail!(
                "`steps` is {}: fresh graphs would have {edges:.0} edges in all, and {MOST_EDGES:e} are feasible; give fewer steps or peers",
                self.steps
            );
        }
        Ok(Drawn::fresh_erdos_renyi(peers, p, Weights::default(), self.steps, global.seed)?)
    }
}

/// What was written.
#[derive(Serialize, schemars::JsonSchema)]
pub(crate) struct Summary {
    /// Number of peers.
    nodes: usize,
    /// Number of steps.
    steps: usize,
    /// Steps in which nobody mixes.
    idle: usize,
    /// The file that was written.
    out: PathBuf,
}

impl Summary {
    fn new(drawn: &Drawn, out: &Path) -> Self {
        let steps = drawn.period();
        let idle = (0..steps).filter(|&t| matches!(drawn.step(t), Some(Step::Idle))).count();
        Self { nodes: drawn.nodes(), steps, idle, out: out.into() }
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { nodes, steps, idle, out } = self;
        write!(f, "Schedule of {steps} steps for {nodes} peers, {idle} of them idle: {}", out.display())
    }
}
