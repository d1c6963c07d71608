//! `sottovoce graph inspect`.

use std::path::PathBuf;

use clap::Args;
use sottovoce_topology::Graph;
use sottovoce_topology::io::Format;
use sottovoce_topology::mixing::Weights;

use super::centrality::Centrality;
use super::report::{Hops, Inspection};
use super::source::{formats, read_graph};
use super::{Global, real};
use crate::output::note;

const EXAMPLES: &str = "Example:
  sottovoce graph inspect torus.graphml
  sottovoce graph inspect ring.txt --lazy 0.5 --distances
  sottovoce graph inspect ring.txt --centrality --verbose
  sottovoce graph generate --family davis | sottovoce graph inspect - --json

Reads edge lists (names in two columns, weights in a third; blanks, tabs, commas or semicolons between them; with or without a header), SNAP's files,
GraphML and node-link JSON, gzipped or not. An edge is there or not: weights are left out, which a note says.";

/// Arguments of `graph inspect`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Inspect {
    /// File to read; `-` is standard input.
    file: PathBuf,
    /// Format; without it the extension tells, and standard input is read as an edge list.
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    format: Option<Format>,
    /// What neighbours give to each other in one step; uniform needs equal degrees.
    #[arg(long, value_name = "WEIGHTS", default_value_t)]
    weights: Weights,
    /// Share of its own value that every node keeps in a step, from 0 to below 1.
    #[arg(long, value_name = "L", default_value = "0", value_parser = real, allow_negative_numbers = true)]
    lazy: f64,
    /// Also find diameter and average distance: one search per node, so slow above some ten thousand nodes.
    #[arg(long)]
    distances: bool,
    /// Also find who is central (Katz, eigenvector) and who is close to whom (communicability of the walk), for at most 2000 nodes.
    #[arg(long)]
    centrality: bool,
}

impl Inspect {
    pub(crate) fn run(&self, global: &Global) -> anyhow::Result<()> {
        let inspection = self.inspect(&read_graph(&self.file, self.format)?)?;
        global.print(&inspection)?;
        inspection.remarks().iter().for_each(|remark| note(remark));
        Ok(())
    }

    fn inspect(&self, graph: &Graph) -> anyhow::Result<Inspection> {
        let mut inspection =
            Inspection::new(self.file.display().to_string(), graph, self.weights, self.lazy)?;
        inspection.hops = self.distances.then(|| Hops::new(graph));
        inspection.centrality =
            self.centrality.then(|| Centrality::new(graph, self.weights, self.lazy)).transpose()?;
        Ok(inspection)
    }
}
