//! `sottovoce account walk`: what a walking token reveals.

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use clap::Args;
use serde::Serialize;
use sottovoce_privacy::{Standing, round_up};
use sottovoce_topology::Graph;
use sottovoce_views::walk::{Trajectory, negative_log, power_sums, trajectory};

use crate::cli::Global;
use crate::cli::graph::count;
use crate::cli::graph::source::{GraphSource, peer};

const EXAMPLES: &str = "Examples:
  sottovoce account walk --graph ring.txt --lazy 0.333 --steps 72 --observer 6
  sottovoce account walk --graph ring.txt --lazy 0.333 --steps 72 --observer 6 --trajectory holders.json
  sottovoce account walk --graph ring.txt --lazy 0.333 --steps 72 --matrix --json

A token goes from neighbour to neighbour, and every holder adds its contribution and fresh noise of deviation sigma. Losses are Rényi losses
of order alpha in units of alpha/(2 sigma²). A trajectory file is a JSON list of holders, such as [0,1,2,1]; what it reveals to the
observer is exact for linear losses, and a bound for convex ones with steps of at most 2/smoothness. The printed loss of a
contribution is a sum over all paths; it is refuted in general, and shown for comparison.";

/// Arguments of `account walk`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct WalkArgs {
    #[command(flatten)]
    source: GraphSource,
    /// Number of steps of the token.
    #[arg(long, value_name = "T", value_parser = count, allow_negative_numbers = true)]
    steps: usize,
    /// Who watches.
    #[arg(long, value_name = "V", required_unless_present = "matrix")]
    observer: Option<String>,
    /// File with the holders of the token, in order; `steps` must be their number.
    #[arg(long, value_name = "FILE", requires = "observer")]
    trajectory: Option<PathBuf>,
    /// The sums over all paths and the matrix logarithm, for all pairs.
    #[arg(long)]
    matrix: bool,
}

/// Everything asked for.
#[derive(Debug, Serialize)]
struct Walk {
    unit: &'static str,
    adversary: &'static str,
    protects: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    observer: Option<usize>,
    /// One contribution of each peer, as printed.
    #[serde(skip_serializing_if = "Option::is_none")]
    published: Option<Vec<f64>>,
    published_standing: Standing,
    #[serde(skip_serializing_if = "Option::is_none")]
    trajectory_loss_linear: Option<Vec<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trajectory_loss_convex: Option<Vec<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trajectory_standing: Option<Standing>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sum_powers_over_i: Option<Vec<Vec<f64>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    neg_log_matrix: Option<Vec<Vec<f64>>>,
}

impl WalkArgs {
    pub(crate) fn run(&self, global: &Global) -> anyhow::Result<()> {
        let Some(graph) = self.source.read()? else { bail!("`graph` is missing: give --graph FILE") };
        let mixing = self.source.mixing(&graph)?;
        let n = graph.nodes();
        let observer =
            self.observer.as_ref().map(|name| peer("observer", name, Some(&graph), n)).transpose()?;
        let path = match (&self.trajectory, observer) {
            (Some(file), Some(observer)) => Some(self.path(file, &graph, observer)?),
            _ => None,
        };
        let sums = power_sums(&mixing, self.steps)?;
        let rows = |all: &[f64]| all.chunks_exact(n).map(<[f64]>::to_vec).collect::<Vec<_>>();
        let logarithm = if self.matrix { Some(rows(&negative_log(&mixing)?)) } else { None };
        let convex =
            "convex, smooth losses and steps of at most 2/smoothness (the linear column: linear losses)";
        global.print(&Walk {
            unit: "alpha/(2 sigma²)",
            adversary: "the observer, who sees the token at its own visits",
            protects: "a peer's contributions, replaced within the sensitivity that sigma is relative to",
            observer,
            // One contribution loses alpha/sigma² times the sum.
            published: observer.map(|v| (0..n).map(|u| 2.0 * sums[u * n + v]).collect()),
            published_standing: Standing::Refuted,
            trajectory_standing: path.is_some().then(|| Standing::Conditional(vec![convex.to_owned()])),
            trajectory_loss_linear: path.as_ref().map(|path| path.linear.clone()),
            trajectory_loss_convex: path.map(|path| path.convex),
            sum_powers_over_i: self.matrix.then(|| rows(&sums)),
            neg_log_matrix: logarithm,
        })
    }

    fn path(&self, file: &Path, graph: &Graph, observer: usize) -> anyhow::Result<Trajectory> {
        let shown = file.display();
        let text = std::fs::read_to_string(file).map_err(|error| {
            anyhow!("`trajectory` is {shown}: it cannot be read ({error}); check the name")
        })?;
        let holders: Vec<usize> = serde_json::from_str(&text).with_context(|| {
            format!("`trajectory` is {shown}: give a JSON list of holders, such as [0,1,2,1]")
        })?;
        if holders.len() != self.steps {
            bail!(
                "`steps` is {}: the trajectory has {} holders; give that number",
                self.steps,
                holders.len()
            );
        }
        let strange = |pair: &&[usize]| pair[0] != pair[1] && !graph.has_edge(pair[0], pair[1]);
        let losses = trajectory(&holders, graph.nodes(), observer)?;
        if let Some(pair) = holders.windows(2).find(strange) {
            bail!(
                "`trajectory` goes from {} to {}: they are no neighbours; give a walk on this graph",
                pair[0],
                pair[1]
            );
        }
        Ok(losses)
    }
}

impl fmt::Display for Walk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Losses in units of {}, to {}, of {}\n", self.unit, self.adversary, self.protects)?;
        if let (Some(observer), Some(published)) = (self.observer, &self.published) {
            writeln!(f, "  peer    printed, a contribution   {}", self.heading())?;
            for (peer, loss) in published.iter().enumerate().filter(|(peer, _)| *peer != observer) {
                write!(f, "  {peer:<8}{:<26}", round_up(*loss))?;
                match (&self.trajectory_loss_linear, &self.trajectory_loss_convex) {
                    (Some(linear), Some(convex)) => {
                        writeln!(f, "{:<20}{}", round_up(linear[peer]), round_up(convex[peer]))?;
                    }
                    _ => writeln!(f)?,
                }
            }
            writeln!(f, "\n  printed: {}", self.published_standing)?;
        }
        if let Some(standing) = &self.trajectory_standing {
            writeln!(f, "  path:    {standing}")?;
        }
        if self.sum_powers_over_i.is_some() {
            writeln!(f, "  The matrices are printed with --json.")?;
        }
        Ok(())
    }
}

impl Walk {
    fn heading(&self) -> &'static str {
        if self.trajectory_loss_linear.is_some() { "this path, linear   this path, convex" } else { "" }
    }
}
